"""``bddtorque sweep``: compiled models beside their true values in float64."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.sizes import counted
from bddtorque.cli import options as opt
from bddtorque.cli.console import say, write_json
from bddtorque.cli.progress import COMPILE, ShownProgress

if TYPE_CHECKING:
    from bddtorque.model.model import Model
    from bddtorque.sweeps import Sweep, Trajectory

BUILT_IN = ("quintic", "sine")
STEPS = {"preparing": 2.0, "sweeping": 6.0, "searching": 2.0, "measuring": 2.0}
"""What follows a compilation, and about how long each takes."""


@opt.takes(chosen=opt.CHOICES)
def sweep_command(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SPEC|FILE...", show_default=False, help="What `compile` takes, or .bdt files."),
    ],
    states: Annotated[
        int, typer.Option(metavar="N", help="Random states; a corner state is added for every eight.")
    ] = 100_000,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed gives the same states.")] = 0,
    search: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="States tried in search of the worst; default: one for every eight."),
    ] = None,
    trajectory: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE", help="Sweep along it: quintic, sine, or a .csv or .npy file of states."),
    ] = None,
    outputs: Annotated[
        bool, typer.Option("--outputs", help="Also the errors of each output: root mean square and percentiles.")
    ] = False,
    terms: Annotated[
        bool, typer.Option("--terms", help="Also the error of each term of the torques by itself.")
    ] = False,
    cost: Annotated[
        bool, typer.Option("--cost", help="Also size and speed; several models are always compared by them.")
    ] = False,
    csv_file: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write all figures there.")] = None,
    plot: opt.PlotOption = None,
    evaluator: Annotated[str, typer.Option(metavar="NAME", help="words (fast) or bits; the same words.")] = "words",
    bits: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=opt.PANEL, metavar="BITS", help="Word lengths to compare: 6:12 (to 12), or 6,8,12."
        ),
    ] = None,
    engine: opt.EngineOption = "auto",
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", help="Threads to measure, processes to compile; default: all processors."),
    ] = None,
    dask: opt.DaskOption = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Do not read or write the cache.")] = False,
    as_json: opt.JsonOption = False,
    *,
    chosen: dict[str, Any],
) -> None:
    """Compare compiled words with true values in float64 on random, corner and worst states, or along a trajectory.

    Exit code 1 if an error is found that is larger than the proved bound, or a true value beyond words that cannot
    saturate.
    """
    lengths = None if bits is None else opt.read_word_lengths(bits)
    opt.check_outputs({"--csv": csv_file, "--plot": plot}, [*sources, trajectory])
    _check_sources(sources, lengths, chosen)
    from bddtorque.sweeps import sweep

    several = len(sources) > 1 or len(lengths or ()) > 1
    stems = [Path(source).stem for source in sources]
    labels = stems if len(set(stems)) == len(stems) else sources
    variants = [{**chosen, "bits": length} for length in lengths or (None,)]
    jobs = [
        (label, source, variant)
        for label, source in zip(labels, sources, strict=True)
        for variant in (variants[:1] if opt.is_compiled(source) else variants)
    ]
    found: list[Sweep] = []
    steps = {**(COMPILE if any(not opt.is_compiled(source) for source in sources) else {}), **STEPS}
    with opt.cluster(dask) as executor, ShownProgress("sweep", steps) as progress:
        for place, (label, source, variant) in enumerate(jobs, 1):
            name = " ".join([label] * (len(sources) > 1) + [f"{variant['bits']} bits"] * (variant["bits"] is not None))
            progress.part(name or label, place, len(jobs))
            how = {"workers": workers, "executor": executor, "engine": engine}
            (model,) = opt.models(source, [variant], no_cache, progress, functions=True, **how)
            found.append(
                sweep(
                    model,
                    states,
                    seed,
                    evaluator=evaluator,
                    trajectory=_trajectory(trajectory, model),
                    searched=search,
                    terms=terms,
                    cost=cost or several,
                    label=label if len(sources) > 1 else "",
                    workers=workers,
                    executor=executor,
                    cache=None if no_cache else "default",
                    progress=progress,
                )
            )
        written = _written(found, csv_file, plot)
    if not as_json:
        from bddtorque.cli.sweep_tables import show_sweeps

        show_sweeps(found, written, outputs)
    _finish(found, as_json)


def _finish(found: Sequence[Sweep], as_json: bool) -> None:
    """Print JSON if asked for, and say which outputs refute their certificate: exit code 1 if any does."""
    exceeding = [(sweep, output) for sweep in found for output in sweep.exceeding]
    refuted = [(sweep, output) for sweep in found for output in sweep.refuted_ranges]
    if as_json:
        verdicts = {"exceeds": bool(exceeding), "range_refuted": bool(refuted)}
        write_json({**verdicts, "sweeps": [sweep.to_plain() for sweep in found]})
    for sweep, output in exceeding:
        say(
            f"found more than proved: {output.output} of {sweep.name} at {output.bits} bits, {output.found:.6g} units "
            f"found, {output.proved:.6g} proved, at the words {output.worst}"
        )
    for sweep, output in refuted:
        say(
            f"certified as unable to saturate, but it does: {output.output} of {sweep.name} at {output.bits} bits, "
            f"{counted(output.saturated, 'true_values')} out of range, by up to {output.overshoot:.6g} units, at the "
            f"words {output.overshoot_words}"
        )
    if exceeding or refuted:
        raise typer.Exit(1)


def _written(found: Sequence[Sweep], csv_file: Path | None, plot: Path | None) -> list[Path]:
    """Write the files that were asked for and return them."""
    written = []
    if csv_file is not None:
        from bddtorque.base.writing import write_whole
        from bddtorque.sweeps.figures import to_csv

        write_whole(csv_file, to_csv(found).encode())
        written.append(csv_file)
    if plot is not None:
        from bddtorque.sweeps.comparison_figures import figure_of
        from bddtorque.sweeps.drawing import save_figure
        from bddtorque.sweeps.error_figures import terms_figure

        save_figure(partial(figure_of, found), plot)
        written.append(plot)
        for sweep in (each for each in found if each.terms):
            mark = f"{sweep.name}-{sweep.bits}-" if len(found) > 1 else ""
            path = plot.with_name(f"{plot.stem}-{mark.replace(',', '_')}terms{plot.suffix}")
            save_figure(partial(terms_figure, sweep), path)
            written.append(path)
    return written


def _trajectory(wanted: str | None, model: Model) -> Trajectory | str | None:
    """Return a trajectory by name, or the states of a file."""
    if wanted is None or wanted in BUILT_IN:
        return wanted
    path = Path(wanted)
    if path.suffix.lower() not in (".csv", ".npy"):
        raise BddTorqueError(f"--trajectory must be quintic, sine, or a .csv or .npy file, got {wanted!r:.60}")
    from bddtorque.cli.state_files import read_arrays
    from bddtorque.sweeps import from_states

    return from_states(path.name, **read_arrays(path, model.formats))


def _check_sources(sources: Sequence[str], lengths: list[int] | None, chosen: dict[str, Any]) -> None:
    """Refuse, before any work, options for `compile` where something is compiled already, and what cannot be read."""
    compiled = [source for source in sources if opt.is_compiled(source)]
    if compiled:
        opt.refuse_choices(compiled[0], {**chosen, "bits": lengths})
    if len(sources) > 1:  # nobody wants to wait for the first to hear that the second is not there
        from bddtorque.spec.loading import spec_and_robot

        for source in sources:
            if source not in compiled:
                spec_and_robot(source, {name: value for name, value in chosen.items() if value is not None})
            elif not Path(source).is_file():
                raise BddTorqueError(f"{source}: there is no such file")

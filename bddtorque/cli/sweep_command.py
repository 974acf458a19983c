"""``bddtorque sweep``: compiled torques beside float Newton-Euler."""

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
    from bddtorque.sweeps import QuantitySweep, Sweep, Trajectory
    from bddtorque.sweeps.figures import JointSweep
    from bddtorque.sweeps.quantity_sweep import OutputSweep

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
    joints: Annotated[
        bool, typer.Option("--joints", help="Also the errors of each joint: root mean square and percentiles.")
    ] = False,
    terms: Annotated[bool, typer.Option("--terms", help="Also the error of each term by itself.")] = False,
    cost: Annotated[
        bool, typer.Option("--cost", help="Also size and speed; several models are always compared by them.")
    ] = False,
    csv_file: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write all figures there.")] = None,
    plot: opt.PlotOption = None,
    evaluator: Annotated[str, typer.Option(metavar="NAME", help="words (fast) or bits; the same torques.")] = "words",
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
    """Measure compiled torques against float Newton-Euler on random, corner and worst states, or along a trajectory.

    Other quantities, functions and measured data are compared with their true values on random and corner words. Exit
    code 1 if an error is found that is larger than the proved bound, or a true value beyond words that cannot saturate.
    """
    lengths = None if bits is None else opt.read_word_lengths(bits)
    opt.check_outputs({"--csv": csv_file, "--plot": plot}, [*sources, trajectory])
    _check_sources(sources, lengths, chosen)
    from bddtorque.sweeps import sweep, sweep_quantity

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
    others: list[QuantitySweep] = []
    steps = {**(COMPILE if any(not opt.is_compiled(source) for source in sources) else {}), **STEPS}
    with opt.cluster(dask) as executor, ShownProgress("sweep", steps) as progress:
        for place, (label, source, variant) in enumerate(jobs, 1):
            name = " ".join([label] * (len(sources) > 1) + [f"{variant['bits']} bits"] * (variant["bits"] is not None))
            progress.part(name or label, place, len(jobs))
            how = {"workers": workers, "executor": executor, "engine": engine}
            (model,) = opt.models(source, [variant], no_cache, progress, functions=True, **how)
            if model.named_arrays is not None or model.provenance.kind == "function":
                flags = {"trajectory": trajectory, "search": search, "terms": terms or None, "cost": cost or None}
                what = model.provenance.what if model.named_arrays else f"function '{model.name:.60}'"
                why = f"cannot be given for {what}, which is swept on random and corner words"
                opt.refuse_flags({**flags, "plot": plot}, why)
                others.append(sweep_quantity(model, states, seed, evaluator=evaluator, progress=progress))
                continue
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
        if found and not others:
            written = _written(found, csv_file, plot)
    if others:
        if found:
            raise BddTorqueError(
                "torques cannot be swept together with other quantities or functions: sweep them one by one"
            )
        _tell_quantities(others, csv_file, as_json)
        return
    if not as_json:
        from bddtorque.cli.sweep_tables import show_sweeps

        show_sweeps(found, written, joints)
    named = [(f"torque of '{joint.joint}' at {joint.bits} bits", joint) for each in found for joint in each.joints]
    _finish(found, named, as_json)


def _finish(
    found: Sequence[Sweep | QuantitySweep], outputs: Sequence[tuple[str, JointSweep | OutputSweep]], as_json: bool
) -> None:
    """Print JSON if asked for, and say which outputs, by name, refute their certificate: exit code 1 if any does."""
    exceeding = [(name, one) for name, one in outputs if one.exceeds]
    refuted = [(name, one) for name, one in outputs if one.range_refuted]
    if as_json:
        verdicts = {"exceeds": bool(exceeding), "range_refuted": bool(refuted)}
        write_json({**verdicts, "sweeps": [each.to_plain() for each in found]})
    for name, one in exceeding:
        say(
            f"found more than proved: {name}, {one.found:.6g} units found, {one.proved:.6g} proved, at the words "
            f"{one.worst}"
        )
    for name, one in refuted:
        say(
            f"certified as unable to saturate, but it does: {name}, {counted(one.saturated, 'true_values')} out of "
            f"range, by up to {one.overshoot:.6g} units, at the words {one.overshoot_words}"
        )
    if exceeding or refuted:
        raise typer.Exit(1)


def _tell_quantities(found: Sequence[QuantitySweep], csv_file: Path | None, as_json: bool) -> None:
    """Show or write what sweeps of quantities found."""
    if csv_file is not None:
        from bddtorque.base.writing import write_whole

        first, *rest = (each.to_csv() for each in found)
        write_whole(csv_file, (first + "".join(text.partition("\n")[2] for text in rest)).encode())
    if not as_json:
        from bddtorque.cli.sweep_tables import show_quantities

        show_quantities(found)
    _finish(found, [(f"{one.output} of {each.name}", one) for each in found for one in each.outputs], as_json)


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
        for each in (one for one in found if one.terms):
            mark = f"{each.name}-{each.bits}-" if len(found) > 1 else ""
            path = plot.with_name(f"{plot.stem}-{mark.replace(',', '_')}terms{plot.suffix}")
            save_figure(partial(terms_figure, each), path)
            written.append(path)
    return written


def _trajectory(wanted: str | None, model: Model) -> Trajectory | str | None:
    """Return a trajectory by name, or the states of a file."""
    if wanted is None or wanted in BUILT_IN:
        return wanted
    path = Path(wanted)
    if path.suffix.lower() not in (".csv", ".npy"):
        raise BddTorqueError(f"--trajectory must be quintic, sine, or a .csv or .npy file, got {wanted!r:.60}")
    import numpy as np

    from bddtorque.cli.state_files import read_states
    from bddtorque.sweeps import from_states

    joints = model.formats.q.labels
    read = [rows for _, rows in read_states(path, joints, words=False)]
    rows = np.concatenate(read) if read else np.empty((0, 3 * len(joints)))
    n = len(joints)
    return from_states(path.name, rows[:, :n], rows[:, n : 2 * n], rows[:, 2 * n :])


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

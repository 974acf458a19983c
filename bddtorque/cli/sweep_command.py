"""``bddtorque sweep``: compiled torques beside float Newton-Euler."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bddtorque.base.errors import BddTorqueError
from bddtorque.cli import sweep_options as opt
from bddtorque.cli.choices import PANEL, takes_choices
from bddtorque.cli.console import ShownProgress, say, write_json
from bddtorque.cli.outputs import refuse_overwriting

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from bddtorque.model.model import Model
    from bddtorque.sweep import Sweep, Trajectory

BUILT_IN = ("quintic", "sine")


@takes_choices
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
        typer.Option(metavar="N", help="States tried in search of the worst; one for every eight unless given."),
    ] = None,
    trajectory: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE", help="Sweep along it: quintic, sine, or a .csv or .npy file of states."),
    ] = None,
    terms: Annotated[bool, typer.Option("--terms", help="Also the error of each term by itself.")] = False,
    cost: Annotated[
        bool, typer.Option("--cost", help="Also size and speed; several models are always compared by them.")
    ] = False,
    csv_file: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write all figures there.")] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw a picture: .png, .pdf or .svg.")
    ] = None,
    evaluator: Annotated[str, typer.Option(metavar="NAME", help="words (fast) or bits; the same torques.")] = "words",
    bits: Annotated[
        str | None,
        typer.Option(rich_help_panel=PANEL, metavar="BITS", help="Word lengths to compare: 6:12 (to 12), or 6,8,12."),
    ] = None,
    engine: opt.EngineOption = "auto",
    workers: opt.WorkersOption = None,
    dask: opt.DaskOption = None,
    no_cache: opt.NoCacheOption = False,
    as_json: opt.JsonOption = False,
    *,
    chosen: dict[str, Any],
) -> None:
    """Measure compiled torques against float Newton-Euler on random, corner and worst states, or along a trajectory.

    Exit code 1 if an error is found that is larger than the proved bound.
    """
    lengths = None if bits is None else opt.read_word_lengths(bits)
    for path in (each for each in (csv_file, plot) if each is not None):
        if not path.parent.is_dir():
            raise BddTorqueError(f"{path}: a file in a folder that exists required, there is no '{path.parent}'")
    refuse_overwriting((csv_file, plot), [Path(each) for each in sources], "model")
    refuse_overwriting((csv_file, plot), [None if trajectory is None else Path(trajectory)], "trajectory")
    if plot is not None:
        from bddtorque.sweep.plots import check_plot

        check_plot(plot)
    _check_sources(sources, lengths, chosen)
    from bddtorque.sweep import sweep

    several = len(sources) > 1 or len(lengths or ()) > 1
    progress = ShownProgress()
    with opt.cluster(dask) as executor:
        found = [
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
            for label, model in _models(sources, lengths, chosen, engine, workers, executor, no_cache)
        ]
    written = _written(found, csv_file, plot)
    exceeding = [joint for each in found for joint in each.exceeding]
    if as_json:
        write_json({"exceeds": bool(exceeding), "sweeps": [each.to_plain() for each in found]})
    else:
        from bddtorque.cli.sweep_tables import show

        show(found, written)
    for joint in exceeding:
        say(
            f"found more than proved: torque of '{joint.joint}' at {joint.bits} bits, {joint.found:.6g} units found, "
            f"{joint.proved:.6g} proved, at the words {joint.worst}"
        )
    if exceeding:
        raise typer.Exit(1)


def _written(found: Sequence[Sweep], csv_file: Path | None, plot: Path | None) -> list[Path]:
    """Write the files that were asked for and return them."""
    written = []
    if csv_file is not None:
        from bddtorque.base.writing import write_whole
        from bddtorque.sweep.figures import to_csv

        write_whole(csv_file, to_csv(found).encode())
        written.append(csv_file)
    if plot is not None:
        from bddtorque.sweep.plots import draw, draw_terms

        draw(found, plot)
        written.append(plot)
        for each in (one for one in found if one.terms):
            mark = f"{each.name}-{each.bits}-" if len(found) > 1 else ""
            path = plot.with_name(f"{plot.stem}-{mark.replace(',', '_')}terms{plot.suffix}")
            draw_terms(each, path)
            written.append(path)
    return written


def _trajectory(wanted: str | None, model: Model) -> Trajectory | str | None:
    """Return a trajectory by name, or the states of a file."""
    if wanted is None or wanted in BUILT_IN:
        return wanted
    path = Path(wanted)
    if path.suffix.lower() not in (".csv", ".npy"):
        raise BddTorqueError(
            f"--trajectory: {', '.join(BUILT_IN)}, or a .csv or .npy file required, {wanted!r:.60} given"
        )
    import numpy as np

    from bddtorque.cli.state_files import read_states
    from bddtorque.sweep import from_states

    joints = model.formats.joint_names
    read = [rows for _, rows in read_states(path, joints, words=False)]
    rows = np.concatenate(read) if read else np.empty((0, 3 * len(joints)))
    n = len(joints)
    return from_states(path.name, rows[:, :n], rows[:, n : 2 * n], rows[:, 2 * n :])


def _check_sources(sources: Sequence[str], lengths: list[int] | None, chosen: dict[str, Any]) -> None:
    """Refuse, before any work, options for `compile` where something is compiled already, and what cannot be read."""
    flags = [name for name, value in {**chosen, "bits": lengths}.items() if value is not None]
    compiled = [source for source in sources if Path(source).suffix.lower() == ".bdt"]
    if flags and compiled:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in flags)
        raise BddTorqueError(f"{compiled[0]}: a specification required for {named}, this file is compiled already")
    if len(sources) > 1:  # nobody wants to wait for the first to hear that the second is not there
        from bddtorque.spec.loading import spec_and_robot

        for source in sources:
            if source not in compiled:
                spec_and_robot(source, {name: value for name, value in chosen.items() if value is not None})
            elif not Path(source).is_file():
                raise BddTorqueError(f"{source}: a .bdt file required, there is no such file")


def _models(
    sources: Sequence[str],
    lengths: list[int] | None,
    chosen: dict[str, Any],
    engine: str,
    workers: int | None,
    executor: Executor | None,
    no_cache: bool,
) -> Iterator[tuple[str, Model]]:
    """Give the models with their labels one after the other, so that only one is held at a time."""
    stems = [Path(source).stem for source in sources]
    labels = stems if len(set(stems)) == len(stems) else list(sources)
    for label, source in zip(labels, sources, strict=True):
        if Path(source).suffix.lower() == ".bdt":
            from bddtorque.model.bdt_file import load

            yield label, load(source)
            continue
        from bddtorque.compiler.compiling import compile as compile_model

        how: dict[str, Any] = {"workers": workers, "executor": executor, "engine": engine}
        how["cache"] = None if no_cache else "default"
        for length in lengths or (None,):
            yield label, compile_model(source, progress=ShownProgress(), **how, **chosen, bits=length)

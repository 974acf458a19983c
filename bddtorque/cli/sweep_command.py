"""``bddtorque sweep``: compiled torques beside float Newton-Euler."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bddtorque.base.errors import BddTorqueError
from bddtorque.cli import options as opt
from bddtorque.cli.console import ShownProgress, output, plain_table, say, write_json

if TYPE_CHECKING:
    from rich.table import Table

    from bddtorque.model.model import Model
    from bddtorque.sweeps import ErrorFigures, QuantitySweep, Sweep, Trajectory

BUILT_IN = ("quintic", "sine")
ERRORS = {
    "tables": "The tables, at the exact values of the input words: proved, and found",
    "inputs": "What the input words themselves cost, before any table",
    "total": "Both together: compiled torques against true ones at the states",
}


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
        typer.Option(metavar="N", min=0, help="States tried in search of the worst; one for every eight unless given."),
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
        typer.Option(metavar="N", help="Threads that measure, processes that compile; all processors unless given."),
    ] = None,
    dask: opt.DaskOption = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Neither read nor keep what was found, nor finished blocks.")
    ] = False,
    as_json: opt.JsonOption = False,
    *,
    chosen: dict[str, Any],
) -> None:
    """Measure compiled torques against float Newton-Euler on random, corner and worst states, or along a trajectory.

    Exit code 1 if an error is found that is larger than the proved bound.
    """
    lengths = None if bits is None else opt.read_word_lengths(bits)
    opt.check_outputs({"--csv": csv_file, "--plot": plot}, [*sources, trajectory])
    _check_sources(sources, lengths, chosen)
    from bddtorque.sweeps import sweep, sweep_quantity

    several = len(sources) > 1 or len(lengths or ()) > 1
    progress = ShownProgress()
    stems = [Path(source).stem for source in sources]
    labels = stems if len(set(stems)) == len(stems) else sources
    variants = [{**chosen, "bits": length} for length in lengths or (None,)]
    found: list[Sweep] = []
    others: list[QuantitySweep] = []
    with opt.cluster(dask) as executor:
        for label, source in zip(labels, sources, strict=True):
            for model in opt.models(source, variants, no_cache, workers=workers, executor=executor, engine=engine):
                if model.named_arrays is not None:
                    flags = {"trajectory": trajectory, "search": search, "terms": terms or None, "cost": cost or None}
                    why = f"cannot be given for {model.quantity_name}, which is swept on random and corner words"
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
    if others:
        if found:
            raise BddTorqueError("torques and other quantities cannot be swept together: sweep them one by one")
        _show_quantities(others, csv_file, as_json)
        return
    written = _written(found, csv_file, plot)
    exceeding = [joint for each in found for joint in each.exceeding]
    if as_json:
        write_json({"exceeds": bool(exceeding), "sweeps": [each.to_plain() for each in found]})
    else:
        _show(found, written)
    for joint in exceeding:
        say(
            f"found more than proved: torque of '{joint.joint}' at {joint.bits} bits, {joint.found:.6g} units found, "
            f"{joint.proved:.6g} proved, at the words {joint.worst}"
        )
    if exceeding:
        raise typer.Exit(1)


def _show_quantities(found: Sequence[QuantitySweep], csv_file: Path | None, as_json: bool) -> None:
    """Show or write what sweeps of quantities found; exit code 1 if anything is larger than proved."""
    if csv_file is not None:
        from bddtorque.base.writing import write_whole

        first, *rest = (each.to_csv() for each in found)
        write_whole(csv_file, (first + "".join(text.partition("\n")[2] for text in rest)).encode())
    exceeding = [(each, one) for each in found for one in each.exceeding]
    if as_json:
        write_json({"exceeds": bool(exceeding), "sweeps": [each.to_plain() for each in found]})
    else:
        for each in found:
            title = f"{each.name}, {each.quantity}: {each.states:,} random and {each.corners:,} corner states"
            columns = ("|output", ">bits", ">proved", ">found", ">rms", ">found", "unit", ">saturated")
            table = plain_table(f"{title}, seed {each.seed}; errors in units of the last bit", *columns)
            for one in each.outputs:
                figures = (f"{one.proved:.4f}", f"{one.found:.4f}", f"{one.rms:.4f}", f"{one.found * one.lsb:.3g}")
                table.add_row(one.output, str(one.bits), *figures, one.unit, f"{one.saturated:,}")
            output().print(table)
    for each, one in exceeding:
        say(
            f"found more than proved: {one.output} of {each.name}, {one.found:.6g} units found, {one.proved:.6g} "
            f"proved, at the words {one.worst}"
        )
    if exceeding:
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

    joints = model.formats.joint_names
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


def _show(found: Sequence[Sweep], files: Sequence[Path]) -> None:
    """Show what sweeps found: one table per kind of error, then terms, then size and speed."""
    first = found[0]
    console = output()
    names = ", ".join(dict.fromkeys(sweep.name for sweep in found))
    console.print(f"{names}: {_states(first)}, seed {first.seed}, against float Newton-Euler", soft_wrap=True)
    for kind, title in ERRORS.items():
        console.print()
        console.print(_errors(found, kind, title))
    for sweep in (each for each in found if each.terms):
        console.print()
        console.print(_terms(sweep))
    if any(each.cost for each in found):
        console.print()
        console.print(_costs(found))
    saturated = sum(joint.saturated for each in found for joint in each.joints)
    if saturated:
        console.print(f"{saturated:,} torques lay beyond the range of their words and were compared at its end")
    outside = sum(each.outside for each in found)
    if outside:
        console.print(f"values of the trajectory out of range: {outside:,} (angles wrap, others were saturated)")
    for path in files:
        console.print(f"written: {path}", soft_wrap=True)


def _states(sweep: Sweep) -> str:
    searched = f", {sweep.searched:,} more in search of the worst" if sweep.searched else ""
    if sweep.along:
        return f"{sweep.states:,} states of the trajectory {sweep.along}{searched}"
    return f"{sweep.states:,} random and {sweep.corners:,} corner states{searched}"


def _errors(found: Sequence[Sweep], kind: str, title: str) -> Table:
    """Return one kind of error, two rows per joint: in units of the last bit, and in N·m or N."""
    proved = kind == "tables"
    several = len({sweep.name for sweep in found}) > 1
    numbers = (">bits", *([">proved"] if proved else []), ">found", ">rms", ">p50", ">p99", ">p99.9")
    table = plain_table(title, "joint", *numbers, "|")
    for each in found:
        if several:
            table.add_row(f"{each.name}:")
        for joint in each.joints:
            figures: ErrorFigures = getattr(joint, kind)
            largest = joint.found if proved else figures.largest
            units = [
                *([joint.proved] if proved else []),
                largest,
                figures.rms,
                *(figures.to_plain()[name] for name in ("p50", "p99", "p99.9")),
            ]
            verdict = (", EXCEEDS" if joint.exceeds else ", within") if proved else ""
            table.add_row(joint.joint, str(joint.bits), *(f"{v:.3f}" for v in units), f"units{verdict}")
            table.add_row("", "", *(f"{value * joint.lsb:.2g}" for value in units), joint.unit)
    return table


def _terms(sweep: Sweep) -> Table:
    """Return the terms of each torque, the largest error first, and what rounding their sums adds."""
    table = plain_table(
        f"{sweep.name}, {sweep.bits} bits: error of each term by itself, in units of the torque's last bit",
        *("joint", "term", ">largest value", ">found", ">rms", ""),
    )
    for k, joint in enumerate(sweep.joints):
        own = sorted((term for term in sweep.terms if term.torque == k), key=lambda term: -term.largest)
        for place, term in enumerate(own):
            values = [f"{term.value:.2f}" if term.value else "", f"{term.largest:.4f}", f"{term.rms:.4f}"]
            table.add_row("" if place else joint.joint, term.name, *values, "dropped" if term.dropped else "")
    return table


def _costs(found: Sequence[Sweep]) -> Table:
    """Return one row per model: bound, what was found, size, speed."""
    table = plain_table(
        "Size and speed: worst torque; bytes; processor time of a state in a batch, and of float Newton-Euler's",
        *("model", ">bits", ">proved", ">found", ">file", ">tables", ">nodes", ">ns", ">of float"),
    )
    for each in found:
        if each.cost is not None:
            table.add_row(
                each.name,
                each.bits,
                f"{max(joint.proved for joint in each.joints):.4f}",
                f"{max(joint.found for joint in each.joints):.4f}",
                *(f"{number:,}" for number in (each.cost.file_bytes, each.cost.table_bytes, each.cost.nodes)),
                f"{each.cost.nanoseconds:,.0f}",
                f"{each.cost.ratio:.2f}",
            )
    return table

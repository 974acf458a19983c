"""``bddtorque sweep``: compiled torques beside float Newton-Euler."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bddtorque.cli import options as opt
from bddtorque.cli.choices import PANEL, takes_choices
from bddtorque.cli.console import ShownProgress, output, plain_table, say, write_json
from bddtorque.errors import BddTorqueError

if TYPE_CHECKING:
    from rich.table import Table

    from bddtorque.model import Model
    from bddtorque.sweep import ErrorFigures, Sweep

ERRORS = {
    "tables": "The tables, at the exact values of the input words: what is proved, and found",
    "inputs": "What the input words themselves cost, before any table",
    "total": "Both together: compiled torques against true ones at the states",
}


@takes_choices
def sweep_command(
    source_file: Annotated[
        str, typer.Argument(metavar="SPEC|FILE", show_default=False, help="What `compile` takes, or a .bdt file.")
    ],
    states: Annotated[
        int, typer.Option(metavar="N", help="Random states; a corner state is added for every eight.")
    ] = 100_000,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed gives the same states.")] = 0,
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
    no_cache: opt.NoCacheOption = False,
    as_json: opt.JsonOption = False,
    *,
    chosen: dict[str, Any],
) -> None:
    """Measure compiled torques against float Newton-Euler on random and corner states.

    Exit code 1 if an error is found that is larger than the proved bound.
    """
    lengths = None if bits is None else opt.read_word_lengths(bits)
    for path in (each for each in (csv_file, plot) if each is not None):
        if not path.parent.is_dir():
            raise BddTorqueError(f"{path}: a file in a folder that exists required, there is no '{path.parent}'")
    if plot is not None:
        from bddtorque.sweep.plots import check_plot  # noqa: PLC0415

        check_plot(plot)
    from bddtorque.sweep import sweep  # noqa: PLC0415

    progress = ShownProgress()
    found = [
        sweep(model, states, seed, evaluator=evaluator, workers=workers, progress=progress)
        for model in _models(source_file, lengths, chosen, engine, workers, no_cache)
    ]
    if csv_file is not None:
        from bddtorque.sweep.figures import to_csv  # noqa: PLC0415
        from bddtorque.writing import write_whole  # noqa: PLC0415

        write_whole(csv_file, to_csv(found).encode())
    if plot is not None:
        from bddtorque.sweep.plots import draw  # noqa: PLC0415

        draw(found, plot)
    exceeding = [joint for each in found for joint in each.exceeding]
    if as_json:
        write_json({"exceeds": bool(exceeding), "sweeps": [each.to_plain() for each in found]})
    else:
        _show(found, [path for path in (csv_file, plot) if path is not None])
    for joint in exceeding:
        say(
            f"found more than proved: torque of '{joint.joint}' at {joint.bits} bits, {joint.found:.6g} units found, "
            f"{joint.proved:.6g} proved, at the words {joint.worst}"
        )
    if exceeding:
        raise typer.Exit(1)


def _models(
    source: str, lengths: list[int] | None, chosen: dict[str, Any], engine: str, workers: int | None, no_cache: bool
) -> Iterator[Model]:
    """Give the models one after the other, so that only one is held at a time."""
    if Path(source).suffix.lower() == ".bdt":
        flags = [name for name, value in {**chosen, "bits": lengths}.items() if value is not None]
        if flags:
            named = ", ".join(f"--{name.replace('_', '-')}" for name in flags)
            raise BddTorqueError(f"{source}: a specification required for {named}, this file is compiled already")
        from bddtorque.artefact import load  # noqa: PLC0415

        yield load(source)
        return
    from bddtorque.compiler import compile as compile_model  # noqa: PLC0415

    cache = None if no_cache else "default"
    for length in lengths or (None,):
        yield compile_model(
            source, workers=workers, cache=cache, progress=ShownProgress(), engine=engine, **chosen, bits=length
        )


def _show(found: list[Sweep], files: list[Path]) -> None:
    first = found[0]
    console = output()
    console.print(
        f"{first.robot}: {first.states:,} random and {first.corners:,} corner states, seed {first.seed}, "
        "against float Newton-Euler",
        soft_wrap=True,
    )
    for kind, title in ERRORS.items():
        console.print()
        console.print(_table(found, kind, title))
    saturated = sum(joint.saturated for each in found for joint in each.joints)
    if saturated:
        console.print(f"{saturated:,} torques lay beyond the range of their words and were compared at its end")
    for path in files:
        console.print(f"written: {path}", soft_wrap=True)


def _table(found: list[Sweep], kind: str, title: str) -> Table:
    """Return one kind of error, two rows a joint: in units of the last bit, and in N·m or N."""
    proved = kind == "tables"
    table = plain_table(title)
    table.add_column("joint", overflow="fold")
    for name in ("bits", *(["proved"] if proved else []), "found", "rms", "p50", "p99", "p99.9"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for each in found:
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
            table.add_row(joint.joint, str(joint.bits), *(f"{value:.4f}" for value in units), f"units{verdict}")
            table.add_row("", "", *(f"{value * joint.lsb:.3g}" for value in units), joint.unit)
    return table

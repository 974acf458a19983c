"""What `sweep` shows: a summary first, then, where asked for, every output and term, and size and speed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bddtorque.base.sizes import counted
from bddtorque.cli.console import plain_table, show

if TYPE_CHECKING:
    from rich.table import Table

    from bddtorque.sweeps import ErrorFigures, OutputSweep, Sweep

ERRORS = {
    "tables": "The compiled words, at the exact values of the input words: proved, and found",
    "inputs": "What the input words themselves cost, before anything is computed",
    "total": "Both together: compiled outputs against true ones at the states",
}


def show_sweeps(found: Sequence[Sweep], files: Sequence[Path], outputs: bool) -> None:
    """Show what sweeps found: whether it is within what is proved, the largest errors, then what was asked for.

    `outputs` adds one table per kind of error with every figure of every output.
    """
    first = found[0]
    names = ", ".join(dict.fromkeys(sweep.name for sweep in found))
    show(f"{names}: {_states(first)}, seed {first.seed}, against true values in float64")
    _show_verdict([output for each in found for output in each.outputs])
    show()
    show(_summary(found))
    for kind, title in ERRORS.items() if outputs else ():
        show()
        show(_errors(found, kind, title))
    for sweep in (each for each in found if each.terms):
        show()
        show(_terms(sweep))
    if any(each.cost for each in found):
        show()
        show(_costs(found))
    saturated = sum(output.saturated for each in found for output in each.outputs)
    if saturated:
        show(f"{saturated:,} true values lay beyond the range of their words and were compared at its end")
    outside = sum(each.outside for each in found)
    if outside:
        show(f"values of the trajectory out of range: {outside:,} (angles wrap, others were saturated)")
    for path in files:
        show(f"written: {path}")
    if not outputs:
        show("--outputs shows every output with root mean square and percentiles")


def _show_verdict(outputs: Sequence[OutputSweep]) -> None:
    """Show whether all that was found agrees with the certificates."""
    exceeding, refuted = sum(each.exceeds for each in outputs), sum(each.range_refuted for each in outputs)
    every = counted(len(outputs), "outputs")
    if exceeding:
        show(f"{exceeding:,} of {every} EXCEED the proved bound")
    else:
        show(f"Every error found is within its proved bound ({every})")
    if refuted:
        show(f"{refuted:,} of {every} SATURATE, which their certificates exclude")


def _summary(found: Sequence[Sweep]) -> Table:
    """Return the largest errors: one row per output of one model, one row per model of several, with its worst output.

    The worst output is the one that comes nearest to its bound.
    """
    several = len(found) > 1
    table = plain_table(
        "Largest errors in units of the last bit: proved and found for the compiled words, found in its unit; what the "
        f"input words cost by themselves; both together{'. Of the output nearest to its bound' * several}",
        *(["model"] * several), "output", *(">bits", ">proved", ">found", ">", "|", ">inputs", ">both", "|"),
    )  # fmt: skip
    for each in found:
        nearest: list[OutputSweep] = [max(each.outputs, key=lambda output: output.found / (output.proved or 1.0))]
        for output in nearest if several else each.outputs:
            table.add_row(
                *([each.name] * several),
                output.output,
                str(output.bits),
                f"{output.proved:.3f}",
                f"{output.found:.3f}",
                f"{output.found * output.lsb:.2g}",
                output.unit,
                f"{output.inputs.largest:.3f}",
                f"{output.total.largest:.3f}",
                "EXCEEDS" if output.exceeds else "within",
            )
    return table


def _states(sweep: Sweep) -> str:
    searched = f", {sweep.searched:,} more in search of the worst" if sweep.searched else ""
    if sweep.along:
        return f"{sweep.states:,} states of the trajectory {sweep.along}{searched}"
    return f"{sweep.states:,} random and {sweep.corners:,} corner states{searched}"


def _errors(found: Sequence[Sweep], kind: str, title: str) -> Table:
    """Return one kind of error, two rows per output: in units of the last bit, and in its own unit."""
    proved = kind == "tables"
    several = len({sweep.name for sweep in found}) > 1
    numbers = (">bits", *([">proved"] if proved else []), ">found", ">rms", ">p50", ">p99", ">p99.9")
    table = plain_table(title, "output", *numbers, "|")
    for each in found:
        if several:
            table.add_row(f"{each.name}:")
        for output in each.outputs:
            figures: ErrorFigures = getattr(output, kind)
            largest = output.found if proved else figures.largest
            units = [
                *([output.proved] if proved else []),
                largest,
                figures.rms,
                *(figures.to_plain()[name] for name in ("p50", "p99", "p99.9")),
            ]
            verdict = (", EXCEEDS" if output.exceeds else ", within") if proved else ""
            table.add_row(output.output, str(output.bits), *(f"{v:.3f}" for v in units), f"units{verdict}")
            table.add_row("", "", *(f"{value * output.lsb:.2g}" for value in units), output.unit)
    return table


def _terms(sweep: Sweep) -> Table:
    """Return the terms of each torque, the largest error first, and what rounding their sums adds."""
    table = plain_table(
        f"{sweep.name}, {sweep.bits} bits: error of each term by itself, in units of the torque's last bit",
        *("output", "term", ">largest value", ">found", ">rms", ""),
    )
    for k, output in enumerate(sweep.outputs):
        own = sorted((term for term in sweep.terms if term.torque == k), key=lambda term: -term.largest)
        for place, term in enumerate(own):
            values = [f"{term.value:.2f}" if term.value else "", f"{term.largest:.4f}", f"{term.rms:.4f}"]
            table.add_row("" if place else output.output, term.name, *values, "dropped" if term.dropped else "")
    return table


def _costs(found: Sequence[Sweep]) -> Table:
    """Return one row per model: bound, what was found, size, speed."""
    table = plain_table(
        "Size and speed: worst output; bytes; processor time of a state in a batch, and of true values in float64",
        *("model", ">bits", ">proved", ">found", ">file", ">tables", ">nodes", ">ns", ">of float64"),
    )
    for each in found:
        if each.cost is not None:
            table.add_row(
                each.name,
                each.bits,
                f"{max(output.proved for output in each.outputs):.4f}",
                f"{max(output.found for output in each.outputs):.4f}",
                *(f"{number:,}" for number in (each.cost.file_bytes, each.cost.table_bytes, each.cost.nodes)),
                f"{each.cost.nanoseconds:,.0f}",
                f"{each.cost.ratio:.2f}",
            )
    return table

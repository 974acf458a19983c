"""What `sweep` shows: a summary first, then, where asked for, every joint and term, and size and speed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bddtorque.base.sizes import counted
from bddtorque.cli.console import plain_table, show

if TYPE_CHECKING:
    from rich.table import Table

    from bddtorque.sweeps import ErrorFigures, JointSweep, OutputSweep, QuantitySweep, Sweep

ERRORS = {
    "tables": "The tables, at the exact values of the input words: proved, and found",
    "inputs": "What the input words themselves cost, before any table",
    "total": "Both together: compiled torques against true ones at the states",
}


def show_quantities(found: Sequence[QuantitySweep]) -> None:
    """Show one table per swept quantity: proved and found of each output."""
    _show_verdict([one for each in found for one in each.outputs], "output")
    for each in found:
        title = f"{each.name}, {each.quantity}: {each.states:,} random and {each.corners:,} corner states"
        columns = ("|output", ">bits", ">proved", ">found", ">rms", ">found", "unit", ">saturated")
        table = plain_table(f"{title}, seed {each.seed}; errors in units of the last bit", *columns)
        for one in each.outputs:
            figures = (f"{one.proved:.4f}", f"{one.found:.4f}", f"{one.rms:.4f}", f"{one.found * one.lsb:.3g}")
            table.add_row(one.output, str(one.bits), *figures, one.unit, f"{one.saturated:,}")
        show()
        show(table)


def show_sweeps(found: Sequence[Sweep], files: Sequence[Path], joints: bool) -> None:
    """Show what sweeps found: whether it is within what is proved, the largest errors, then what was asked for.

    `joints` adds one table per kind of error with every figure of every joint.
    """
    first = found[0]
    names = ", ".join(dict.fromkeys(sweep.name for sweep in found))
    show(f"{names}: {_states(first)}, seed {first.seed}, against float Newton-Euler")
    torques = [joint for each in found for joint in each.joints]
    _show_verdict(torques, "torque")
    show()
    show(_summary(found))
    for kind, title in ERRORS.items() if joints else ():
        show()
        show(_errors(found, kind, title))
    for sweep in (each for each in found if each.terms):
        show()
        show(_terms(sweep))
    if any(each.cost for each in found):
        show()
        show(_costs(found))
    saturated = sum(joint.saturated for each in found for joint in each.joints)
    if saturated:
        show(f"{saturated:,} torques lay beyond the range of their words and were compared at its end")
    outside = sum(each.outside for each in found)
    if outside:
        show(f"values of the trajectory out of range: {outside:,} (angles wrap, others were saturated)")
    for path in files:
        show(f"written: {path}")
    if not joints:
        show("--joints shows every joint with root mean square and percentiles")


def _show_verdict(outputs: Sequence[JointSweep | OutputSweep], what: str) -> None:
    """Show whether all that was found agrees with the certificates."""
    exceeding, refuted = sum(one.exceeds for one in outputs), sum(one.range_refuted for one in outputs)
    every = counted(len(outputs), what + "s")
    if exceeding:
        show(f"{exceeding:,} of {every} EXCEED the proved bound")
    else:
        show(f"Every error found is within its proved bound ({every})")
    if refuted:
        show(f"{refuted:,} of {every} SATURATE, which their certificates exclude")


def _summary(found: Sequence[Sweep]) -> Table:
    """Return the largest errors: one row per joint of one model, one row per model of several, with its worst joint.

    The worst joint is the one that comes nearest to its bound.
    """
    several = len(found) > 1
    table = plain_table(
        "Largest errors in units of the last bit: proved and found for the compiled words, found in N·m or N; what the "
        f"input words cost by themselves; both together{'. Of the joint nearest to its bound' * several}",
        *(["model"] * several), "joint", *(">bits", ">proved", ">found", ">", "|", ">inputs", ">both", "|"),
    )  # fmt: skip
    for each in found:
        nearest: list[JointSweep] = [max(each.joints, key=lambda joint: joint.found / (joint.proved or 1.0))]
        for joint in nearest if several else each.joints:
            table.add_row(
                *([each.name] * several),
                joint.joint,
                str(joint.bits),
                f"{joint.proved:.3f}",
                f"{joint.found:.3f}",
                f"{joint.found * joint.lsb:.2g}",
                joint.unit,
                f"{joint.inputs.largest:.3f}",
                f"{joint.total.largest:.3f}",
                "EXCEEDS" if joint.exceeds else "within",
            )
    return table


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

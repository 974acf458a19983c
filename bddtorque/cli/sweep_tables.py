"""What `sweep` shows on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bddtorque.cli.console import output, plain_table

if TYPE_CHECKING:
    from rich.table import Table

    from bddtorque.sweep import ErrorFigures, Sweep

ERRORS = {
    "tables": "The tables, at the exact values of the input words: proved, and found",
    "inputs": "What the input words themselves cost, before any table",
    "total": "Both together: compiled torques against true ones at the states",
}


def show(found: Sequence[Sweep], files: Sequence[Path]) -> None:
    """Show what sweeps found: one table a kind of error, then terms, then size and speed."""
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
    """Return one kind of error, two rows a joint: in units of the last bit, and in N·m or N."""
    proved = kind == "tables"
    several = len({sweep.name for sweep in found}) > 1
    table = plain_table(title)
    table.add_column("joint", overflow="fold")
    for name in ("bits", *(["proved"] if proved else []), "found", "rms", "p50", "p99", "p99.9"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
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
        f"{sweep.name}, {sweep.bits} bits: error of each term by itself, in units of the torque's last bit"
    )
    table.add_column("joint", overflow="fold")
    table.add_column("term", overflow="fold")
    for name in ("largest value", "found", "rms"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for k, joint in enumerate(sweep.joints):
        own = sorted((term for term in sweep.terms if term.torque == k), key=lambda term: -term.largest)
        for place, term in enumerate(own):
            values = [f"{term.value:.2f}" if term.value else "", f"{term.largest:.4f}", f"{term.rms:.4f}"]
            table.add_row("" if place else joint.joint, term.name, *values, "dropped" if term.dropped else "")
    return table


def _costs(found: Sequence[Sweep]) -> Table:
    """Return one row a model: bound, what was found, size, speed."""
    table = plain_table(
        "Size and speed: worst torque; bytes; processor time of a state in a batch, and of float Newton-Euler's"
    )
    table.add_column("model", overflow="fold")
    for name in ("bits", "proved", "found", "file", "tables", "nodes", "ns", "of float"):
        table.add_column(name, justify="right", no_wrap=True)
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

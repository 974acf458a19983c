"""From a table to its diagram under a good variable order: dd reduces, and we check.

An engine of dd builds the diagram under a few start orders and sifts them; the smallest is read back and compared with
the table on every entry. The search is bounded by counts, never by the clock, so that the same table gives the same
diagram every time:

- at most 3 start orders, of which a start with more than `START_FACTOR` times the nodes of the smallest is not
  sifted, nor one with the very level widths of an earlier start (words that play the same part exchanged);
- at most `MAX_SIFTS` sifts a start, no second one when the first gains less than 1 %;
- starts are sifted smallest first, as long as their nodes together stay within the engine's `sift_limit`; the report
  says what was left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.engine import DEFAULT_MEMORY_LIMIT, Engine, EngineLimit, MemoryLimit, make_engine
from bddtorque.plan.table import Table

MAX_SIFTS = 2
MIN_GAIN = 0.01
START_FACTOR = 2.0


@dataclass(frozen=True)
class Reduction:
    """A diagram, and how it was found."""

    diagram: Diagram  # the smallest diagram found
    engine: str  # the engine it was read back from
    notes: tuple[str, ...]  # what was left out, in words for a summary


def start_orders(input_widths: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    """Return the orders to start from, at most 3 and all different, by name."""
    words, first = [], 0
    for width in input_widths:
        words.append(tuple(range(first, first + width)))
        first += width
    depths = range(max(input_widths))
    proposed = {
        "words": tuple(variable for word in words for variable in word),
        "interleaved": tuple(word[depth] for depth in depths for word in words if depth < len(word)),
        "reversed words": tuple(variable for word in reversed(words) for variable in word),
        "least significant first": tuple(variable for word in words for variable in reversed(word)),
    }
    kept: dict[str, tuple[int, ...]] = {}
    for name, order in proposed.items():
        if order not in kept.values() and len(kept) < 3:
            kept[name] = order
    return kept


def reduce(table: Table, engine: str = "auto", memory_limit: int = DEFAULT_MEMORY_LIMIT) -> Reduction:
    """Return the diagram of a table under the best order found, and how it was found; fit for a process pool.

    Parameters
    ----------
    table
        The truth table.
    engine
        ``"auto"``, ``"cudd"`` or ``"autoref"``.
    memory_limit
        Bytes that building may take.

    Raises
    ------
    BddTorqueError
        If memory would not do, or the engine's diagram differs from the table anywhere.
    """
    held: dict[str, Engine] = {}  # the starts that may still be the best
    notes: list[str] = []
    try:
        _build_starts(held, table, engine, memory_limit, notes)
        counts = {name: start.node_count() for name, start in held.items()}
        for name in _worth_sifting(held, dict(counts), notes):
            try:
                _sift(held[name])
                counts[name] = held[name].node_count()
            except EngineLimit as limit:
                notes.append(f"order '{name}' not sifted: {limit}")
                held[name].build(table, start_orders(table.input_widths)[name])
        best = min(counts, key=counts.__getitem__)  # of several the first
        for name in set(held) - {best}:
            held[name].close()
        diagram = held[best].read()
    finally:
        for start in held.values():
            start.close()
    check_diagram(diagram, table)
    return Reduction(diagram, held[best].name, tuple(notes))


def check_diagram(diagram: Diagram, table: Table) -> None:
    """Compare a diagram with its table on every entry; raise `BddTorqueError`, naming the first that differs."""
    values = diagram.expand()
    differs = values != table.values
    if differs.any():
        first = int(differs.argmax())
        raise BddTorqueError(
            f"diagram: index {first} must give {table.values[first]}, found {values[first]} "
            f"({int(differs.sum())} of {len(values)} differ)"
        )


def _build_starts(held: dict[str, Engine], table: Table, engine: str, memory_limit: int, notes: list[str]) -> None:
    """Build each start order in an engine of its own; note those that memory does not do for, and refuse if all are."""
    refusals = []
    for name, order in start_orders(table.input_widths).items():
        start = make_engine(engine, memory_limit)
        try:
            start.build(table, order)
            held[name] = start
        except MemoryLimit as limit:
            refusals.append(limit)
            notes.append(f"order '{name}' not built: {limit}")
    if not held:
        raise refusals[-1]


def _worth_sifting(held: dict[str, Engine], nodes: dict[str, int], notes: list[str]) -> list[str]:
    """Return the starts to sift, the smallest first, and note which are left out for the engine's limit."""
    by_size = sorted(held, key=nodes.__getitem__)
    seen: set[tuple[int, ...]] = set()
    kept: list[str] = []
    left = held[by_size[0]].sift_limit
    for name in by_size:
        engine = held[name]
        if nodes[name] > START_FACTOR * nodes[by_size[0]] or engine.level_widths in seen:
            continue
        seen.add(engine.level_widths)
        if nodes[name] <= left:
            kept.append(name)
            left -= nodes[name]
        else:
            notes.append(
                f"order '{name}' not sifted: {nodes[name]} nodes, {left} left of {engine.name}'s {engine.sift_limit}"
            )
    return kept


def _sift(engine: Engine) -> None:
    before = engine.node_count()
    for _ in range(MAX_SIFTS):
        engine.sift()
        after = engine.node_count()
        if before - after < MIN_GAIN * before:
            return
        before = after

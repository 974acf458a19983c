"""From a table to its diagram under a good variable order, built by an engine and read back from it.

Our own builder gives the engine its nodes, makes the diagram once more under the order that the engine found, and the
two must be equal, node for node. Only a diagram beyond the engine's limits is our builder's alone, and the report says
so.

The search is bounded by counts, never by the clock, so that the same table gives the same diagram every time:

- at most 3 start orders, of which a start with more than `START_FACTOR` times the nodes of the smallest is not
  sifted, nor one with the very level widths of an earlier start (words that play the same part exchanged);
- at most `MOST_SIFTS` sifts a start, no second one when the first gains less than 1 %;
- starts are sifted smallest first, as long as their nodes together stay within the engine's `sift_limit`, and nothing
  above its `load_limit` is loaded; the report says what was left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.bdd import Diagram, build
from bddtorque.plan.consing import DEFAULT_MEMORY_LIMIT
from bddtorque.plan.engine import Engine, EngineLimit, make_engine
from bddtorque.plan.table import Table

OWN_BUILDER = "bddtorque"
"""Who built a diagram that no engine did."""
MOST_SIFTS = 2
LEAST_GAIN = 0.01
START_FACTOR = 2.0


@dataclass(frozen=True)
class Reduction:
    """A diagram, and how it was found."""

    diagram: Diagram  # the smallest diagram found
    # who built `diagram`: the engine it was read back from, or `OWN_BUILDER` where it is beyond the engine's limits
    engine: str
    start: str  # name of the start order that led to `diagram`
    starts: tuple[tuple[str, int, int], ...]  # for each start order its name, the nodes at first and after sifting
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
        Bytes that building, and CUDD, may take each; never both at once.

    Raises
    ------
    BddTorqueError
        If memory would not do, or the engine's diagram differs from ours.
    """
    chosen = make_engine(engine, memory_limit)
    built = {name: build(table, order, memory_limit) for name, order in start_orders(table.input_widths).items()}
    counts = {name: diagram.node_count for name, diagram in built.items()}
    read: dict[str, Diagram] = {}  # of the best start so far
    notes: list[str] = []
    try:
        for name in _worth_sifting(built, chosen, notes):
            try:
                _load(chosen, built[name])
                _sift(chosen)
                # sifting makes no diagram larger; should an engine do so, what we had is better
                if chosen.node_count() <= counts[name]:
                    counts[name] = chosen.node_count()
                    if name == _smallest(counts):
                        read = {name: chosen.read()}
            except EngineLimit as limit:
                notes.append(f"order '{name}' not sifted: {limit}")
        best = _smallest(counts)
        if best not in read:
            try:
                _load(chosen, built[best])
                read = {best: chosen.read()}
            except EngineLimit as limit:
                notes.append(f"a diagram was built by bddtorque's own builder instead of dd: {limit}")
    finally:
        chosen.close()
    if best in read:
        _compare(read[best], built[best], table, chosen.name, memory_limit)
    return Reduction(
        diagram=read.get(best, built[best]),
        engine=chosen.name if best in read else OWN_BUILDER,
        start=best,
        starts=tuple((name, built[name].node_count, counts[name]) for name in built),
        notes=tuple(notes),
    )


def _smallest(counts: dict[str, int]) -> str:
    """Return the start with the fewest nodes, of several the first."""
    return min(counts, key=counts.__getitem__)


def _worth_sifting(built: dict[str, Diagram], engine: Engine, notes: list[str]) -> list[str]:
    """Return the starts to sift, the smallest first, and note which are left out for the engine's limit."""
    by_size = sorted(built, key=lambda name: built[name].node_count)
    smallest = built[by_size[0]].node_count
    seen: set[tuple[int, ...]] = set()
    kept: list[str] = []
    left = engine.sift_limit
    for name in by_size:
        nodes, widths = built[name].node_count, built[name].level_widths
        if nodes > START_FACTOR * smallest or widths in seen:
            continue
        seen.add(widths)
        if nodes <= left:
            kept.append(name)
            left -= nodes
        else:
            notes.append(
                f"order '{name}' not sifted: {nodes} nodes, {left} left of {engine.name}'s {engine.sift_limit}"
            )
    return kept


def _load(engine: Engine, diagram: Diagram) -> None:
    if diagram.node_count > engine.load_limit:
        raise EngineLimit(f"{diagram.node_count} nodes are more than the {engine.load_limit} that {engine.name} takes")
    engine.load(diagram)
    _check_count(engine, diagram)


def _sift(engine: Engine) -> None:
    before = engine.node_count()
    for _ in range(MOST_SIFTS):
        engine.sift()
        after = engine.node_count()
        if before - after < LEAST_GAIN * before:
            return
        before = after


def _compare(read: Diagram, start: Diagram, table: Table, engine: str, memory_limit: int) -> None:
    """Compare a diagram read from an engine with our own of the same table under the same order."""
    ours = start if read.order == start.order else build(table, read.order, memory_limit)
    if any(not np.array_equal(array, read.arrays()[name]) for name, array in ours.arrays().items()):
        raise BddTorqueError(
            f"diagram: bddtorque builds {ours.node_count} nodes under order {read.order}, engine '{engine}' "
            f"{read.node_count}, and they are not the same: one of the two is wrong, please report it"
        )


def _check_count(engine: Engine, diagram: Diagram) -> None:
    """Compare two independent counts of the nodes of the same functions under the same order."""
    if engine.order() != diagram.order or engine.node_count() != diagram.node_count:
        raise BddTorqueError(
            f"diagram: {diagram.node_count} nodes under order {diagram.order}, but engine '{engine.name}' counts "
            f"{engine.node_count()} under {engine.order()}: one of the two is wrong, please report it"
        )

"""From a table to its diagram under a good variable order.

The search is bounded by counts, never by the clock, so that the same table gives the same diagram every time:

- at most 3 start orders, of which a start with more than `START_FACTOR` times the nodes of the smallest is not
  sifted, nor one with the very level widths of an earlier start (words that play the same part exchanged);
- at most `MOST_SIFTS` sifts a start, no second one when the first gains less than 1 %;
- starts are sifted smallest first, as long as their nodes together stay within the engine's `sift_limit`, and nothing
  above its `load_limit` is loaded; the report says what was left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from bddtorque.base.errors import BddTorqueError
from bddtorque.diagrams.bdd import Diagram, build
from bddtorque.diagrams.consing import DEFAULT_MEMORY_LIMIT
from bddtorque.diagrams.engine import Engine, EngineLimit, make_engine
from bddtorque.plan.table import Table

MOST_SIFTS = 2
LEAST_GAIN = 0.01
START_FACTOR = 2.0


@dataclass(frozen=True)
class Reduction:
    """A diagram, and how it was found.

    Parameters
    ----------
    diagram
        The smallest diagram found.
    engine
        Name of the engine that sifted.
    start
        Name of the start order that led to `diagram`.
    starts
        For each start order its name, the nodes at first and after sifting.
    checked
        Whether the engine, holding the same functions under the same order, counted the same nodes.
    notes
        What was left out, in words for a summary.
    """

    diagram: Diagram
    engine: str
    start: str
    starts: tuple[tuple[str, int, int], ...]
    checked: bool
    notes: tuple[str, ...]


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
        If memory would not do, or the engine's node count differs from ours.
    """
    chosen = make_engine(engine, memory_limit)
    built = {name: build(table, order, memory_limit) for name, order in start_orders(table.input_widths).items()}
    found = dict(built)
    checked: set[str] = set()
    notes: list[str] = []
    try:
        for name in _worth_sifting(built, chosen, notes):
            try:
                found[name] = _sifted(table, built[name], chosen, memory_limit)
                checked.add(name)
            except EngineLimit as limit:
                notes.append(f"order '{name}' not sifted: {limit}")
        best = min(found, key=lambda name: found[name].node_count)
        if best not in checked:
            try:
                _load(chosen, found[best])
                checked.add(best)
            except EngineLimit as limit:
                notes.append(f"node count not checked: {limit}")
    finally:
        chosen.close()
    return Reduction(
        diagram=found[best],
        engine=chosen.name,
        start=best,
        starts=tuple((name, built[name].node_count, found[name].node_count) for name in built),
        checked=best in checked,
        notes=tuple(notes),
    )


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


def _sifted(table: Table, diagram: Diagram, engine: Engine, memory_limit: int) -> Diagram:
    """Return a diagram under the order that sifting finds, its node count checked before and after."""
    _load(engine, diagram)
    _sift(engine)
    if engine.order() == diagram.order:
        return diagram
    found = build(table, engine.order(), memory_limit)
    _check_count(engine, found)
    # sifting does not make a diagram larger, but should an engine do so, what we had is better
    return found if found.node_count <= diagram.node_count else diagram


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


def _check_count(engine: Engine, diagram: Diagram) -> None:
    """Compare two independent counts of the nodes of the same functions under the same order."""
    if engine.order() != diagram.order or engine.node_count() != diagram.node_count:
        raise BddTorqueError(
            f"diagram: {diagram.node_count} nodes under order {diagram.order}, but engine '{engine.name}' counts "
            f"{engine.node_count()} under {engine.order()}: one of the two is wrong, please report it"
        )

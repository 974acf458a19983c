"""Diagrams of tables under an order that a test chooses."""

from __future__ import annotations

from bddtorque.plan.bdd import Diagram
from bddtorque.plan.engine import DEFAULT_MEMORY_LIMIT, make_engine
from bddtorque.plan.reduction import check_diagram
from bddtorque.plan.table import Table


def build(
    table: Table, order: tuple[int, ...] | None = None, engine: str = "auto", memory_limit: int = DEFAULT_MEMORY_LIMIT
) -> Diagram:
    """Return the diagram of a table under an order, by default the table's own, most significant bit at the top.

    Raise `BddTorqueError` if `order` is no permutation of the variables, memory would not do, or the engine's diagram
    differs from the table anywhere.
    """
    chosen = make_engine(engine, memory_limit)
    try:
        chosen.build(table, order)
        diagram = chosen.read()
    finally:
        chosen.close()
    check_diagram(diagram, table)
    return diagram

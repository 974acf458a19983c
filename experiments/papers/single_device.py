"""Lathrop's single device: nodes with feedback that do every link, or every tier, one after another."""

from __future__ import annotations

from bddtorque.machines.lathrop.systolic import Naming
from bddtorque.machines.lathrop.vector_program import Operation


def one_node(operation: Operation) -> str:
    """Return the processor that does this step for every link: one node with feedback, the single device."""
    return f"{operation.place.split()[0]} {operation.step}"


def one_tier(nodes: int) -> Naming:
    """Return the processors of one tier of so many nodes with feedback, which do every tier and every leaf."""

    def name(operation: Operation) -> str:
        sweep, *_, number = operation.place.split()
        return f"{sweep} node {(int(number) - 1) % nodes + 1} {operation.step}"

    return name

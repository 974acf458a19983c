"""Which wires of a plan read which."""

from __future__ import annotations

from collections.abc import Iterable

from bddtorque.plan.plan import AngleSum, Input, Lookup, Plan, Product, Sum, Wire


def sources(wire: Wire) -> tuple[int, ...]:
    """Return the wires that a wire reads."""
    match wire:
        case Input():
            return ()
        case Lookup(wires=wires):
            return wires
        case Product(left=left, right=right):
            return left, right
        case AngleSum() | Sum():
            return tuple(part[0] for part in wire.parts)


def wires_needed(plan: Plan, wires: Iterable[int]) -> list[int]:
    """Return some wires with all that they are computed from, in the plan's order."""
    needed = set(wires)
    for place in range(len(plan.wires) - 1, -1, -1):
        if place in needed:
            needed.update(sources(plan.wires[place]))
    return sorted(needed)

"""Wires between the matrix-vector processors of a node (LAT section 7), counted from the programs.

A wire joins two processors, or an input from outside to a processor, point to point, and carries one vector; a result
that three processors read takes three wires. What a processor keeps for itself (constants of the link) takes none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from machines.lathrop.linear_program import Step

CONSTANTS = frozenset({"A", "A+", "p*", "r*", "s*", "J", "mass", "zeta", "z"})
"""Operands that a node holds for its link: they come with the state, not from another processor."""


def wires_by_group(steps: Iterable[Step]) -> dict[str, int]:
    """Return, for each variable of a node, the wires that end at its processors; the three of W or V count each."""
    counted: Counter[str] = Counter()
    for _, primitive, left, right, group in steps:
        if primitive.processors == 0:  # a shift is wiring itself
            continue
        counted[group] += primitive.processors * sum(operand not in CONSTANTS for operand in (left, right))
    return dict(counted)

"""What is known of a word while errors and ranges are carried through the cascade, in units of the word itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from .graph import COSINE, INPUT, SINE, Angle
from .plan import Plan

PARTS = ("dropped", "constants", "tables", "products", "sums")
UP = 1 + 1e-14
"""Every step is rounded up by so much: more than the float operations in it can lose."""

Errors = dict[str, float]
Turning = tuple[Angle, bool, int]
"""An angle up to quarter turns and sign, whether it is its sine, and with which sign."""


@dataclass(frozen=True)
class Known:
    """A word: its range, its errors, and those that are at most |sine or cosine| times `turned`.

    `ideal` is a range of the word before any rounding, which may be sharper than that of the word and its error.
    """

    low: int
    high: int
    errors: Errors = field(default_factory=dict)
    turned: Errors = field(default_factory=dict)
    turning: Turning | None = None
    ideal: tuple[float, float] = (-math.inf, math.inf)

    @property
    def most(self) -> float:
        """The largest magnitude of the word."""
        return float(max(abs(self.low), abs(self.high))) * UP

    @property
    def all_errors(self) -> Errors:
        """All errors by where they arose; a sine or cosine is at most 1."""
        both = {**self.errors, **self.turned}
        return {part: (self.errors.get(part, 0.0) + self.turned.get(part, 0.0)) * UP for part in both}

    @property
    def rounding(self) -> float:
        """What all roundings together can move the word by; left out are those of constants and dropped terms."""
        found = self.all_errors
        return sum(found.get(part, 0.0) for part in ("tables", "products", "sums")) * UP


def turning_of(plan: Plan, place: int, angles: dict[int, Angle]) -> Turning | None:
    """Return the angle of a wire that is ± its sine or cosine, over the unit of its table."""
    wire = plan.wires[place]
    if wire.kind != "lookup" or len(wire.wires) != 1 or wire.wires[0] not in angles:
        return None
    graph = plan.blocks[wire.block].graph
    if graph is None:
        return None
    node = graph.nodes[graph.output >> 1]
    if node.operation not in (SINE, COSINE) or graph.nodes[node.left >> 1].operation != INPUT:
        return None
    (argument,) = plan.blocks[wire.block].arguments
    if not argument.angle:
        return None
    angle = angles[wire.wires[0]]
    if argument.scale.denominator == 1:
        angle = angle.times(int(argument.scale))
    elif angle.is_variable:
        angle = Angle(((angle.multipliers[0][0], argument.scale),))
    else:
        return None
    angle = angle.plus(Angle(rest=argument.centre))
    sine, sign = node.operation == SINE, -1 if graph.output & 1 else 1
    sign = -sign if sine and node.left & 1 else sign
    if angle.multipliers and angle.multipliers[0][1] < 0:
        angle, sign = angle.times(-1), -sign if sine else sign
    quarters = angle.turns * 4
    whole = quarters.numerator // quarters.denominator
    left = Angle(angle.multipliers, angle.turns - Fraction(whole, 4), angle.rest)
    for _ in range(whole % 4):  # sin(x + 90°) = cos x, cos(x + 90°) = −sin x
        sine, sign = not sine, sign if sine else -sign
    return left, sine, sign

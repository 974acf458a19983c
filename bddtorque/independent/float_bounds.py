"""Ranges and errors of a plan in floats, operation by operation, by the rules of docs/certificate.md.

A wire stands for a real number: constants as the file has them, exact sines, nothing rounded. Its float is no further
from it than all errors together. Floats that hold ranges and errors are rounded outward after every operation.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from .bounds import Composition, OutputBound
from .findings import require
from .formats import ends_of_word
from .ieee import Precision, sine_error, up
from .plan import WORDS, Plan, Wire
from .tables import Facts

PARTS = ("constants", "tables", "arithmetic")
Errors = tuple[float, ...]
"""By part; or all of them as one, which is never more than the parts together."""


@dataclass(frozen=True)
class Turned:
    """A product with a sine or cosine of an angle: at most `most`, off by at most |sine or cosine|·errors + rest."""

    angle: Hashable
    cosine: bool
    most: float
    errors: Errors
    rest: Errors


@dataclass(frozen=True)
class Held:
    """A range of the number that a wire stands for, and how far its float can be from that number."""

    low: float
    high: float
    errors: Errors
    angle: tuple[Hashable, bool] | None = None
    turned: tuple[Turned, ...] = ()

    @property
    def most(self) -> float:
        """The largest magnitude of the number."""
        return max(abs(self.low), abs(self.high))

    @property
    def error(self) -> float:
        """All errors together."""
        total = 0.0
        for each in self.errors:
            total = _plus(total, each)
        return total

    def moved_by(self, errors: Errors) -> Held:
        """Return the same number, a float of which is further off by so much."""
        turned = tuple(replace(each, rest=_together(each.rest, errors)) for each in self.turned)
        return Held(self.low, self.high, _together(self.errors, errors), turned=turned)


def compose_floats(plan: Plan, facts: list[Facts]) -> Composition:
    """Carry ranges and errors to the outputs, twice: by part, and all errors as one, which is sharper."""
    precision: Any = plan.precision
    by_part, together = (_Bounds(plan, precision, facts, parts).wires() for parts in (len(PARTS), 1))
    outputs = []
    for output in plan.outputs:
        (place,) = output.wires
        held = by_part[place]
        parts = {"dropped": 0.0, **dict(zip(PARTS, held.errors, strict=True)), "products": 0.0, "sums": 0.0}
        low, high = _added((held.low, held.high), (-held.error, held.error))
        proved = _plus(together[place].error, 0.5)
        outputs.append(OutputBound({**parts, "final_rounding": 0.5}, low, high, proved))
    return Composition(outputs, {})


class _Bounds:
    def __init__(self, plan: Plan, precision: Precision, facts: list[Facts], parts: int) -> None:
        self.plan, self.precision, self.facts, self.parts = plan, precision, facts, parts

    def wires(self) -> list[Held]:
        held: list[Held] = []
        for place, wire in enumerate(self.plan.wires):
            bound = self._word(wire) if wire.kind in WORDS else self._float(wire, held)
            most = Fraction(bound.most) + Fraction(bound.error)
            if wire.kind in ("add", "multiply", "fused"):  # rounded
                fits = most < self.precision.largest
                require(fits, f"plan, wire {place}: expected values within the precision of the plan")
                bound = bound.moved_by(self._errors("arithmetic", up(self.precision.half_unit(most))))
            held.append(bound)
        return held

    def _errors(self, part: str, error: float) -> Errors:
        at = PARTS.index(part) % self.parts
        return tuple(error if k == at else 0.0 for k in range(self.parts))

    def _word(self, wire: Wire) -> Held:
        if wire.kind != "lookup":
            ends = ends_of_word(wire.bits, wire.signed)
            return Held(float(ends[0]), float(ends[1]), self._errors("tables", 0.0))
        fact = self.facts[wire.block]
        low, high = _added((float(fact.low), float(fact.high)), (-fact.error, fact.error))
        return Held(low, high, self._errors("tables", fact.error))

    def _float(self, wire: Wire, held: list[Held]) -> Held:
        if wire.kind == "number":
            return held[wire.wires[0]]
        if wire.kind == "constant":
            apart = abs(self.precision.nearest(wire.value) - wire.value)
            return Held(-up(-wire.value), up(wire.value), self._errors("constants", up(apart)))
        if wire.kind == "sine":
            word = wire.wires[0]
            error = sine_error(self.plan.bits_of(word), wire.rest, wire.cosine, self.precision)
            return Held(-1.0, 1.0, self._errors("tables", error), ((word, wire.rest), wire.cosine))
        left, right = held[wire.wires[0]], held[wire.wires[1]]
        if wire.kind == "add":
            exact = exact_sum(left, right, wire.signs[1])
        else:
            exact = exact_product(left, right, wire.wires[0] == wire.wires[1])
        if wire.kind == "fused":
            if wire.signs[0] < 0:
                exact = replace(exact, low=-exact.high, high=-exact.low)
            exact = exact_sum(exact, held[wire.wires[2]], wire.signs[1])
        return exact


def _plus(a: float, b: float) -> float:
    """Return a sum of numbers that are not negative, rounded up; exact where one is 0."""
    return a + b if a == 0.0 or b == 0.0 else math.nextafter(a + b, math.inf)


def _times(a: float, b: float) -> float:
    """Return a product of numbers that are not negative, rounded up; exact where one is 0."""
    return 0.0 if a == 0.0 or b == 0.0 else math.nextafter(a * b, math.inf)


def _hypot(a: float, b: float) -> float:
    """Return √(a² + b²) rounded up: `math.hypot` is within one unit in the last place."""
    return a + b if a == 0.0 or b == 0.0 else math.nextafter(math.nextafter(math.hypot(a, b), math.inf), math.inf)


def _together(first: Sequence[float], second: Sequence[float]) -> Errors:
    return tuple(_plus(a, b) for a, b in zip(first, second, strict=True))


def _scaled(errors: Errors, factor: float) -> Errors:
    return tuple(_times(each, factor) for each in errors)


def _added(first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
    low, high = first[0] + second[0], first[1] + second[1]
    return (
        low if 0.0 in (first[0], second[0]) else math.nextafter(low, -math.inf),
        high if 0.0 in (first[1], second[1]) else math.nextafter(high, math.inf),
    )


def exact_product(left: Held, right: Held, square: bool) -> Held:
    """Return an exact product: |ab − a'b'| <= |a|·e_b + |b|·e_a + e_a·e_b; a square is not negative."""
    ends = [(a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
    low = min(0.0 if 0.0 in pair else math.nextafter(pair[0] * pair[1], -math.inf) for pair in ends)
    high = max(0.0 if 0.0 in pair else math.nextafter(pair[0] * pair[1], math.inf) for pair in ends)
    if square:
        nearest = 0.0 if left.low <= 0.0 <= left.high else min(abs(left.low), abs(left.high))
        low = max(0.0, math.nextafter(nearest * nearest, -math.inf))
    turned = []
    for sine, other in ((left, right), (right, left)):
        if sine.angle is not None:
            rest = _scaled(sine.errors, _plus(other.most, other.error))
            turned.append(Turned(*sine.angle, other.most, other.errors, rest))
    crossed = _scaled(right.errors, _plus(left.most, left.error))
    return Held(low, high, _together(_scaled(left.errors, right.most), crossed), turned=tuple(turned))


def exact_sum(left: Held, right: Held, sign: int) -> Held:
    """Return an exact sum; cos φ·x + sin φ·y is at most √(x² + y²), and so are the errors of x and y."""
    low, high = _added((left.low, left.high), (right.low, right.high) if sign > 0 else (-right.high, -right.low))
    errors = _together(left.errors, right.errors)
    for first in left.turned:
        for second in right.turned:
            if first.angle == second.angle and first.cosine != second.cosine:
                reach = _hypot(first.most, second.most)
                low, high = max(low, -reach), min(high, reach)
                joined = tuple(_hypot(a, b) for a, b in zip(first.errors, second.errors, strict=True))
                sharper = _together(_together(first.rest, second.rest), joined)
                if sum(sharper) < sum(errors):
                    errors = sharper
    return Held(low, high, errors)

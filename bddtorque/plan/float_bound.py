"""The proved errors of operations on floats: forward running error analysis, by parts.

A wire stands for a real number: what its operations give without any rounding, constants as they were parsed, sines
exact. With every wire go a range that holds this number, and a bound on the distance of its float from it.

    constant        the distance of its float, exactly
    sine            proved on every word, or of the polynomial (`bddtorque.words.float_sine`)
    a·b             |a|·e_b + |b|·e_a + e_a·e_b, then one rounding
    a + b           e_a + e_b, then one rounding
    ±a·b ± c        the same, and one rounding for both
    rounding of x   half a unit in the last place of |x| + error at most, underflow included

Where c·x + s·y is a turn by an angle, c² + s² = 1, both the range and the errors of x and y count as √(X² + Y²). Floats
only ever round a bound up (`ROOM`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import Add, Algebra, Constant, Fused, Multiply, Number, Sine
from bddtorque.words.bounded import ROOM, TINY, Interval
from bddtorque.words.float_sine import sine_error
from bddtorque.words.integer_range import Range

FLOAT_PARTS = ("constants", "tables", "arithmetic")
"""Where an error can arise: constants rounded to floats, sines and tables, and the rounding of operations."""
Errors = tuple[float, float, float]
"""Bounds by part, in the order of `FLOAT_PARTS`."""
NONE: Errors = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class TurnedFloat:
    """A product with a sine or cosine: its error is at most |sine or cosine|·errors + rest."""

    angle: tuple[object, ...]  # what identifies the angle
    cosine: bool  # whether it is the cosine
    # magnitude, errors: of the other factor
    magnitude: float
    errors: Errors
    rest: Errors  # the errors of the sine or cosine itself, and of the product's rounding


@dataclass(frozen=True)
class FloatBound:
    """What is proved of a wire."""

    range: Interval  # holds the real number that the wire stands for
    errors: Errors = NONE  # how far its float can be from that number, by part
    # of a sine or cosine: what identifies its angle, and whether it is the cosine
    angle: tuple[tuple[object, ...], bool] | None = None
    turned: tuple[TurnedFloat, ...] = ()  # of a product with a sine or cosine: each way to read it

    @property
    def error(self) -> float:
        """All errors together."""
        return math.fsum(self.errors) * ROOM

    @property
    def magnitude(self) -> float:
        """The largest absolute value of the number itself."""
        return self.range.magnitude


class WordError(Protocol):
    """What is proved of a word: its range, and how far it can be off, both in units of its own."""

    @property
    def range(self) -> Range:
        """The range of the word."""

    @property
    def units_off(self) -> float:
        """How far it can be off."""


class FloatErrors(Algebra[Any]):
    """Ranges and errors of the floats of a plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def number(self, wire: Number, word: WordError) -> FloatBound:
        """Return what is known of the word, in its units: it is held exactly."""
        error = word.units_off
        held = Interval(float(word.range.low), float(word.range.high))
        return FloatBound(Interval(held.low - error, held.high + error), (0.0, error, 0.0))

    def constant(self, wire: Constant) -> FloatBound:
        """Return a constant as it was meant, and the distance of its float."""
        apart = abs(Fraction(self.plan.floats.nearest(wire.value)) - wire.value)
        value = float(wire.value)
        exact = Interval(math.nextafter(value, -math.inf), math.nextafter(value, math.inf))
        held = Interval(value, value) if Fraction(value) == wire.value else exact
        return FloatBound(held, (float(apart) * ROOM, 0.0, 0.0))

    def sine(self, wire: Sine, word: FloatBound) -> FloatBound:
        """Return the range of a sine, and how far the floats of all words can be off."""
        error = sine_error(self.plan.bits_of(wire.word), wire.rest, wire.cosine, self.plan.floats)
        return FloatBound(Interval(-1.0, 1.0), (0.0, error, 0.0), ((wire.word, wire.rest), wire.cosine))

    def add(self, wire: Add, left: FloatBound, right: FloatBound) -> FloatBound:
        """Return the range and the errors of a sum."""
        return self._rounded(_sum(left, right, wire.sign))

    def multiply(self, wire: Multiply, left: FloatBound, right: FloatBound) -> FloatBound:
        """Return the range and the errors of a product."""
        return self._rounded(_product(left, right, wire.left == wire.right))

    def fused(self, wire: Fused, left: FloatBound, right: FloatBound, addend: FloatBound) -> FloatBound:
        """Return the range and the errors of a product and a sum, rounded once."""
        product = _product(left, right, wire.left == wire.right)
        if wire.product_sign < 0:
            product = replace(product, range=-product.range)
        return self._rounded(_sum(product, addend, wire.addend_sign))

    def _rounded(self, exact: FloatBound) -> FloatBound:
        """Return what one rounding makes of a number."""
        most = (exact.magnitude + exact.error) * ROOM
        if not most < self.plan.floats.largest:
            raise BddTorqueError(
                f"plan: values reach {most:.3g}, beyond {self.plan.floats.name} precision: use narrower ranges"
            )
        rounding: Errors = (0.0, 0.0, self.plan.floats.rounding_error(most))
        turned = tuple(replace(each, rest=_added(each.rest, rounding)) for each in exact.turned)
        return FloatBound(exact.range, _added(exact.errors, rounding), turned=turned)


def _square(factor: Interval) -> Interval:
    least = 0.0 if factor.low <= 0.0 <= factor.high else min(abs(factor.low), abs(factor.high))
    return Interval(least**2 / ROOM, factor.magnitude**2 * ROOM)


def _added(left: Errors, right: Errors) -> Errors:
    a, b, c = ((x + y) * ROOM for x, y in zip(left, right, strict=True))
    return a, b, c


def _scaled(errors: Errors, factor: float) -> Errors:
    a, b, c = (error * factor * ROOM for error in errors)
    return a, b, c


def _product(left: FloatBound, right: FloatBound, square: bool) -> FloatBound:
    """Return an exact product: |ab − a'b'| is at most |a|·e_b + |b|·e_a + e_a·e_b."""
    turned = []
    for one, other in ((left, right), (right, left)):
        own = _added(_scaled(one.errors, other.magnitude + other.error), (0.0, 0.0, TINY))
        if one.angle is not None:
            turned.append(TurnedFloat(*one.angle, other.magnitude, other.errors, own))
    errors = _added(own, _scaled(left.errors, right.magnitude))
    return FloatBound(_square(left.range) if square else left.range * right.range, errors, turned=tuple(turned))


def _sum(left: FloatBound, right: FloatBound, sign: int) -> FloatBound:
    """Return an exact sum; of a turned vector's coordinate, the sharpest way to read it."""
    total = left.range + (right.range if sign > 0 else -right.range)
    errors = _added(left.errors, right.errors)
    for first in left.turned:
        for second in right.turned:
            if first.angle == second.angle and first.cosine != second.cosine:
                reach = math.hypot(first.magnitude, second.magnitude) * ROOM
                total = Interval(max(total.low, -reach), min(total.high, reach))
                a, b, c = (math.hypot(x, y) * ROOM for x, y in zip(first.errors, second.errors, strict=True))
                sharper = _added(_added(first.rest, second.rest), (a, b, c))
                errors = min(errors, sharper, key=sum)
    return FloatBound(total, errors)

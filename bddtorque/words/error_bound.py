"""`ErrorBound`: a number known by two bounds, over all states: where it lies, and how far it is from the true one.

    a + b        errors add up; in cos φ·x + sin φ·y those of x and y count as √(x² + y²) (`bddtorque.words.turning`)
    a·b          |a|·e_b + |b|·e_a + e_a·e_b
    constants    combining two, or one with a product that may hold another, is rounded: a unit in the last place

Newton-Euler run on such numbers bounds what constants that are a little off cost a torque; a plan in floats run on them
bounds what its roundings do. Floats only ever round a bound up (`ROUND_UP`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from bddtorque.words.bounded import ROUND_UP, TINY, ULP, Interval, Ring
from bddtorque.words.turning import Errors, SineOf, Turned, accumulate, rotated, rotations


@dataclass(frozen=True, slots=True)
class ErrorBound(Ring):
    """A number within a range, and its distance from the computed one.

    Attributes
    ----------
    range
        Holds the number.
    errors
        How far what is computed can be from it, by where that arose.
    constant
        Whether it is a constant in floats: then combining it with others is rounded.
    sine
        Of a sine or cosine: which one.
    turned
        Of a product with a sine or cosine: each way to read it.
    """

    range: Interval
    errors: Errors = field(default_factory=dict)
    constant: bool = False
    sine: SineOf | None = None
    turned: tuple[Turned, ...] = ()

    __array_ufunc__ = None  # NumPy leaves mixed arithmetic to us

    @property
    def error(self) -> float:
        """All errors together."""
        return math.fsum(self.errors.values()) * ROUND_UP

    @property
    def magnitude(self) -> float:
        """The largest absolute value of the number itself."""
        return self.range.magnitude

    def __neg__(self) -> ErrorBound:
        return replace(self, range=-self.range)

    def __add__(self, other: Any) -> ErrorBound:
        if not isinstance(other, ErrorBound):
            if other == 0.0:
                return self
            other = constant(other)
        total, errors = self.range + other.range, accumulate(self.errors, other.errors)
        if self.constant and other.constant:
            rounding = ULP * (self.magnitude + other.magnitude)
            return ErrorBound(total, accumulate(errors, {"constants": rounding}), constant=True)
        for x, y in rotations(self.turned, other.turned):
            total = total.within(rotated(x.magnitude, y.magnitude) * ROUND_UP)
            sharper = accumulate(accumulate(x.rest, y.rest), rotated(x.errors, y.errors), ROUND_UP)
            errors = min(errors, sharper, key=_sum)
        return ErrorBound(total, errors)

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, ErrorBound):
            if other in (1.0, -1.0):  # nothing is done
                return self if other > 0 else -self
            if other == 0.0:
                return 0.0
            other = constant(other)
        return self.times(other)

    def times(self, other: ErrorBound, square: bool = False) -> ErrorBound:
        """Return the product with another number, or with itself if it is a `square`."""
        rounding = {"constants": ULP * self.magnitude * other.magnitude} if self.constant or other.constant else {}
        turned = []
        for factor, rest in ((self, other), (other, self)):
            own = accumulate(
                accumulate({}, factor.errors, rest.magnitude + rest.error), {"arithmetic": TINY, **rounding}
            )
            if factor.sine is not None:
                turned.append(Turned(factor.sine, rest.magnitude, rest.errors, own))
        errors = accumulate(own, self.errors, other.magnitude)
        product = self.range.squared() if square else self.range * other.range
        return ErrorBound(product, errors, self.constant and other.constant, turned=tuple(turned))


def _sum(errors: Errors) -> float:
    return sum(errors.values())


def constant(value: float, radius: float = 0.0) -> ErrorBound:
    """Return a constant of this magnitude, of either sign, that is off by at most `radius`."""
    size = abs(float(value))
    return ErrorBound(Interval(-size, size), {"constants": radius}, constant=True)


def entry(value: float, radius: float) -> Any:
    """Return a number of a chain: as it is where it is 0 or ±1 exactly, for then the tracer does nothing with it."""
    return float(value) if radius == 0.0 and value in (0.0, 1.0, -1.0) else constant(value, radius)

"""`Charged`: a number known by two bounds, over all states: how large it is, and how far it is from the true one.

It stands for a number that is computed without rounding from constants that are a little off, or whose products were
rounded when they were folded. Newton-Euler run on charged numbers bounds what all of that costs a torque.

    a + b        errors add up; in cos φ·x + sin φ·y those of x and y count as √(x² + y²)
    a·b          |a|·e_b + |b|·e_a + e_a·e_b
    constants    combining two, or one with a product that may hold another, is rounded: a unit in the last place
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from bddtorque.words.bounded import ROOM, ULP, Ring


@dataclass(frozen=True, slots=True)
class _Turned:
    """A product with the sine or cosine of an angle: |it| is at most |sine or cosine|·magnitude, errors alike."""

    angle: int
    cosine: bool
    magnitude: float
    error: float
    rest: float


@dataclass(frozen=True, slots=True)
class Charged(Ring):
    """A number of at most `magnitude`, at most `error` from the true one.

    Attributes
    ----------
    constant
        Whether no input is in it.
    angle
        Of a sine or cosine: which angle it is of, and whether it is the cosine.
    turned
        Of a product with a sine or cosine.
    """

    magnitude: float
    error: float = 0.0
    constant: bool = False
    angle: tuple[int, bool] | None = None
    turned: _Turned | None = None

    __array_ufunc__ = None

    def __neg__(self) -> Charged:
        return self

    def __add__(self, other: Any) -> Charged:
        if not isinstance(other, Charged):
            if other == 0.0:
                return self
            other = constant(other)
        magnitude, error = self.magnitude + other.magnitude, self.error + other.error
        if self.constant and other.constant:
            return Charged(magnitude * ROOM, (error + ULP * magnitude) * ROOM, constant=True)
        x, y = self.turned, other.turned
        if x is not None and y is not None and x.angle == y.angle and x.cosine != y.cosine:
            magnitude = min(magnitude, math.hypot(x.magnitude, y.magnitude))
            error = min(error, math.hypot(x.error, y.error) + x.rest + y.rest)
        return Charged(magnitude * ROOM, error * ROOM)

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Charged):
            if other in (1.0, -1.0):  # nothing is done
                return self
            if other == 0.0:
                return 0.0
            other = constant(other)
        magnitude = self.magnitude * other.magnitude
        rounding = ULP * magnitude if self.constant or other.constant else 0.0
        error = self.magnitude * other.error + self.error * other.magnitude + self.error * other.error + rounding
        turned = None
        for sine, factor in ((self, other), (other, self)):
            if sine.angle is not None:
                rest = (sine.error * (factor.magnitude + factor.error) + rounding) * ROOM
                angle, cosine = sine.angle
                turned = _Turned(angle, cosine, factor.magnitude * ROOM, factor.error * ROOM, rest)
        return Charged(magnitude * ROOM, error * ROOM, self.constant and other.constant, turned=turned)


def constant(value: float, radius: float = 0.0) -> Charged:
    """Return a constant that is off by at most `radius`."""
    return Charged(abs(float(value)), radius, constant=True)


def entry(value: float, radius: float) -> Any:
    """Return a number of a chain: as it is where it is 0 or ±1 exactly, for then the tracer does nothing with it."""
    return float(value) if radius == 0.0 and value in (0.0, 1.0, -1.0) else constant(value, radius)

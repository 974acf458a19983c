"""Floats that know how far they can be off: arrays of float64 with a proved radius.

What is trusted: IEEE 754 arithmetic, each operation off by at most 2⁻⁵³ of its result, and NumPy's sine, cosine and
exponential within 4 units in the last place.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

ULP = 2.0**-52
HALF = 2.0**-53 * (1 + 2.0**-40)
"""Loss of one operation, relative to its result, and more than the radius loses itself."""
TINY = 1e-300
"""More than an underflow can lose."""
SINE_RADIUS = 2e-15
"""Of a sine or cosine of at most an eighth of a turn: π rounded, one product, 4 units in the last place, and room."""


LONGEST = 2000
"""Bits of a rational that is kept beside its float."""


class Ball:
    """An array of floats `value` with an array `radius`: what is meant lies within radius of value.

    A number that was made of rationals alone is kept as `exact`: constants that are the same cancel without a rest.
    """

    __slots__ = ("exact", "radius", "value")
    __array_ufunc__ = None

    def __init__(self, value: Any, radius: Any = 0.0, *, exact: Fraction | None = None) -> None:
        self.value = value
        self.radius = radius
        self.exact = exact

    def __neg__(self) -> Ball:
        return Ball(-self.value, self.radius, exact=None if self.exact is None else -self.exact)

    def __add__(self, other: Ball) -> Ball:
        if self.exact is not None and other.exact is not None:
            return ball_of(self.exact + other.exact)
        value = self.value + other.value
        return Ball(value, (self.radius + other.radius) * (1 + 8 * ULP) + HALF * np.abs(value) + TINY)

    def __sub__(self, other: Ball) -> Ball:
        return self + -other

    def __mul__(self, other: Ball) -> Ball:
        if self.exact is not None and other.exact is not None:
            return ball_of(self.exact * other.exact)
        value = self.value * other.value
        crossed = np.abs(self.value) * other.radius + (np.abs(other.value) + other.radius) * self.radius
        return Ball(value, crossed * (1 + 16 * ULP) + HALF * np.abs(value) + TINY)


def ball_of(value: Fraction) -> Ball:
    """Return a rational as a ball; exact where a float is."""
    near = float(value)
    short = value.numerator.bit_length() + value.denominator.bit_length() <= LONGEST
    radius = 0.0 if Fraction(near) == value else HALF * abs(near) + TINY
    return Ball(near, radius, exact=value if short else None)


def sine_and_cosine(numerator: npt.NDArray[np.int64], denominator: int, rest: Fraction) -> tuple[Ball, Ball]:
    """Return sine and cosine of 2π·numerator/denominator + rest; numerators below 2⁵⁸ in magnitude.

    The angle is reduced to an eighth of a turn in whole numbers; a quarter turn is exact.
    """
    whole = 8 * denominator
    eighths = (np.asarray(numerator) % denominator) * 8
    quarters = (eighths + denominator) // (2 * denominator)
    left = eighths - quarters * (2 * denominator)
    small = left * (2 * math.pi / whole)
    s, c = np.where(left == 0, 0.0, np.sin(small)), np.where(left == 0, 1.0, np.cos(small))
    k = quarters % 4
    radius = np.where(left == 0, 0.0, SINE_RADIUS)
    sine = Ball(np.choose(k, (s, c, -s, -c)), radius)
    cosine = Ball(np.choose(k, (c, -s, -c, s)), radius)
    if not rest:
        return sine, cosine
    near = float(rest)
    slack = SINE_RADIUS + ULP * abs(near)
    rest_sine, rest_cosine = Ball(math.sin(near), slack), Ball(math.cos(near), slack)
    return sine * rest_cosine + cosine * rest_sine, cosine * rest_cosine - sine * rest_sine

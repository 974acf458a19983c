"""Arithmetic that knows how far it can be off: arrays of float64 with a proved radius, intervals, and exact angles.

All serve `Graph.evaluate` as number types: the same graph gives floats, floats with bounds, or ranges.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

ULP = 2.0**-52
"""Twice the largest relative error of one float64 operation: the slack also covers the rounding of the radius."""
UP = 1 + 4 * ULP
"""More than a square, or a root of a sum of squares, can lose."""
ROUND_UP = 1 + 1e-12
"""Each composed bound is taken so much larger: more than the few float operations behind it can lose."""
TIE_WINDOW = 1e-9
"""Units; closer to a tie than this, extended precision decides how a value is rounded."""
MAX_TURN_BITS = 60
"""Bits of exact angles that arrays of int64 hold, those of the reduction to eighths of a turn included."""
TINY = 1e-290
"""More than any underflow can lose."""
SINE_RADIUS = 2e-15
"""Largest error of a sine of a reduced exact angle: π rounded, one product, and 4 units in the last place of the
function itself, which is what NumPy's vectorised sine promises; with room to spare."""


class Ring:
    """Differences, and operations with a plain number on the left, from negation, sum and product, which commute."""

    __slots__ = ()

    def __radd__(self: Any, other: Any) -> Any:
        return self + other

    def __sub__(self: Any, other: Any) -> Any:
        return self + -other

    def __rsub__(self: Any, other: Any) -> Any:
        return -self + other

    def __rmul__(self: Any, other: Any) -> Any:
        return self * other


class Bounded(Ring):
    """A float64 array `value` with an array `radius`: the true value lies within radius of value."""

    __slots__ = ("radius", "value")
    __array_ufunc__ = None  # NumPy leaves mixed arithmetic to us

    def __init__(self, value: Any, radius: Any = 0.0) -> None:
        self.value = value
        self.radius = radius

    def __neg__(self) -> Bounded:
        return Bounded(-self.value, self.radius)

    def __add__(self, other: Any) -> Bounded:
        if not isinstance(other, Bounded):
            if isinstance(other, float) and other == 0.0:
                return self
            other = Bounded(other)
        value = self.value + other.value
        return type(self)(value, (self.radius + other.radius) * (1 + 4 * ULP) + ULP * np.abs(value) + TINY)

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Bounded):
            if isinstance(other, float) and other == 0.0:
                return 0.0  # exactly nothing, whatever the error
            other = Bounded(other)
        value = self.value * other.value
        crossed = np.abs(self.value) * other.radius + (np.abs(other.value) + other.radius) * self.radius
        return type(self)(value, crossed * (1 + 4 * ULP) + ULP * np.abs(value) + TINY)


class Magnitude(Bounded):
    """The magnitudes of some numbers, no less than any of them, and how far off each can be: nothing cancels."""

    __slots__ = ()

    def __neg__(self) -> Bounded:
        return self


@dataclass(frozen=True)
class Turn(Ring):
    """Exact angles: 2π·numerator/2^bits + rest, numerators an integer or an array of them, rest a rational (rad)."""

    numerator: Any
    bits: int
    rest: Fraction = Fraction(0)

    def __neg__(self) -> Turn:
        return Turn(-self.numerator, self.bits, -self.rest)

    def __add__(self, other: Turn | float) -> Turn:
        if not isinstance(other, Turn):  # rad
            return Turn(self.numerator, self.bits, self.rest + Fraction(other))
        bits = max(self.bits, other.bits)
        total = (self.numerator << (bits - self.bits)) + (other.numerator << (bits - other.bits))
        return Turn(total, bits, self.rest + other.rest)

    def __mul__(self, factor: float | Fraction) -> Turn:
        """Return a multiple; by a fraction, the angle is taken to be the one of its numerator, not of any full turn."""
        exact = Fraction(factor)
        finer = exact.denominator.bit_length() - 1  # a float is an integer over a power of two
        numerator = self.numerator
        if self.bits + finer > MAX_TURN_BITS and isinstance(numerator, np.ndarray):
            numerator = numerator.astype(object)  # integers of any length
        return Turn(numerator * exact.numerator, self.bits + finer, self.rest * exact)

    def octant(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return quarter turns k (0 to 3) and numerators y with |y| <= 2^bits/8: the angle without rest is k/4 + y."""
        whole, quarter, bits = 1 << (self.bits + 3), 1 << (self.bits + 1), self.bits + 3  # in eighths, so it is exact
        numerator = (self.numerator << 3) & (whole - 1)
        k = (numerator + quarter // 2) >> (bits - 2)
        return np.asarray(k & 3, dtype=np.int64), numerator - (k << (bits - 2))


class BoundedArithmetic:
    """Sines and cosines of `Turn` angles as `Bounded` numbers."""

    def sin(self, angle: Turn) -> Bounded:
        """Return the sine of exact angles."""
        return self._sine_cosine(angle)[0]

    def cos(self, angle: Turn) -> Bounded:
        """Return the cosine of exact angles."""
        return self._sine_cosine(angle)[1]

    @staticmethod
    def _sine_cosine(angle: Turn) -> tuple[Bounded, Bounded]:
        k, y = angle.octant()
        finest = min(angle.bits + 3, MAX_TURN_BITS)  # what is cut off is nothing next to the radius
        small = np.asarray(y >> (angle.bits + 3 - finest), dtype=np.int64) * (2 * np.pi / (1 << finest))
        s, c = np.sin(small), np.cos(small)
        s, c = np.where(y == 0, 0.0, s), np.where(y == 0, 1.0, c)
        sines, cosines = np.choose(k, (s, c, -s, -c)), np.choose(k, (c, -s, -c, s))
        radius = np.where(y == 0, 0.0, SINE_RADIUS)
        sine, cosine = Bounded(sines, radius), Bounded(cosines, radius)
        if angle.rest == 0:
            return sine, cosine
        # the angle sum formula; the rest is a constant, its sine and cosine good to a few units in the last place
        rest = float(angle.rest)
        slack = SINE_RADIUS + ULP * abs(rest)
        rs, rc = Bounded(math.sin(rest), slack), Bounded(math.cos(rest), slack)
        return sine * rc + cosine * rs, cosine * rc - sine * rs


@dataclass(frozen=True)
class Interval(Ring):
    """All numbers from low to high; every operation rounds outward."""

    low: float
    high: float

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __add__(self, other: Interval | float) -> Interval:
        other = interval(other)
        return Interval(
            math.nextafter(self.low + other.low, -math.inf), math.nextafter(self.high + other.high, math.inf)
        )

    def __mul__(self, other: Interval | float) -> Interval:
        other = interval(other)
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(math.nextafter(min(ends), -math.inf), math.nextafter(max(ends), math.inf))

    def squared(self) -> Interval:
        """Return the range of the squares."""
        least = 0.0 if self.low <= 0.0 <= self.high else min(abs(self.low), abs(self.high))
        return Interval(least**2 / UP, self.magnitude**2 * UP)

    def within(self, most: float) -> Interval:
        """Return the numbers of at most this magnitude."""
        return Interval(max(self.low, -most), min(self.high, most))

    @property
    def magnitude(self) -> float:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))


def interval(number: Interval | float) -> Interval:
    """Return a number as an interval."""
    return number if isinstance(number, Interval) else Interval(number, number)

"""Numbers with a proved error: floats with a radius, and rationals between two ends for what floats cannot decide.

Of floats is trusted: IEEE 754 arithmetic, each operation off by at most 2⁻⁵³ of its result, and NumPy's sine, cosine
and exponential within 4 units in the last place. Nothing is trusted of whole numbers: π is Machin's, 16·arctan(1/5) −
4·arctan(1/239); sines are Taylor's series; all in Python's integers, `BITS` after the point, with every rounding
counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .graph import Angle

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


BITS = 320
ONE = 1 << BITS


@dataclass(frozen=True)
class Enclosure:
    """All numbers from low to high."""

    low: Fraction
    high: Fraction

    def __neg__(self) -> Enclosure:
        return Enclosure(-self.high, -self.low)

    def __add__(self, other: Enclosure) -> Enclosure:
        return Enclosure(self.low + other.low, self.high + other.high)

    def __mul__(self, other: Enclosure) -> Enclosure:
        if self.low == self.high and other.low == other.high:
            return exactly(self.low * other.low)
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Enclosure(min(ends), max(ends))


def exactly(value: Fraction) -> Enclosure:
    """Return a rational as an enclosure."""
    return Enclosure(value, value)


class ExactAlgebra:
    """Graphs in enclosures; an angle's variables are given in turns, as rationals."""

    def __init__(self, turns: dict[int, Fraction]) -> None:
        self.turns = turns

    @staticmethod
    def number(value: Fraction) -> Enclosure:
        """Return a rational as an enclosure."""
        return exactly(value)

    def wave(self, angle: Angle, cosine: bool) -> Enclosure:
        """Return the sine or cosine of an angle."""
        turns = sum((m * self.turns[variable] for variable, m in angle.multipliers), angle.turns)
        return sine_of_turns(turns + Fraction(cosine, 4), angle.rest)


@cache
def pi_fixed(bits: int = BITS) -> tuple[int, int]:
    """Return π·2^bits as a whole number, and how far that can be off."""
    guard = 32

    def arctangent(inverse: int) -> tuple[int, int]:
        power = (1 << bits + guard) // inverse
        total, sign, k = power, -1, 3
        while power:
            power //= inverse * inverse
            total += sign * (power // k)
            sign, k = -sign, k + 2
        return total, k  # each term is off by less than 2

    fifth, a = arctangent(5)
    other, b = arctangent(239)
    return (16 * fifth - 4 * other) >> guard, ((16 * a + 4 * b) >> guard) + 2


def sine_of_turns(turns: Fraction, rest: Fraction = Fraction(0)) -> Enclosure:
    """Return the sine of 2π·turns + rest."""
    turns %= 1
    if not rest and (4 * turns).denominator == 1:
        return exactly(Fraction((0, 1, 0, -1)[int(4 * turns)]))
    pi, off = pi_fixed()
    x = round(2 * pi * turns) + round(rest * ONE)
    slack = 2 * off + 2
    quarters = round(Fraction(2 * x, pi))
    x -= quarters * pi // 2
    slack += abs(quarters) * off + 1
    near, lost = _taylor(x, BITS, cosine=bool(quarters & 1))
    near = -near if quarters & 2 else near
    slack += lost
    return Enclosure(Fraction(near - slack, ONE), Fraction(near + slack, ONE))


def sine_and_cosine_of(x: int, bits: int) -> tuple[int, int]:
    """Return sine and cosine of x/2^bits, |x| at most 2^(bits + 34), in the same units, within 2^40 of them."""
    pi, _ = pi_fixed(bits)
    quarters = round(Fraction(2 * x, pi))
    x -= quarters * pi // 2
    s, c = (_taylor(x, bits, cosine)[0] for cosine in (False, True))
    return ((s, c), (c, -s), (-s, -c), (-c, s))[quarters % 4]


def _taylor(x: int, bits: int, cosine: bool) -> tuple[int, int]:
    """Return sine or cosine of x/2^bits, |x| about 1 at most, in the same units, and how far it can be off."""
    term, k = (1 << bits, 0) if cosine else (x, 1)
    total, count, square = term, 1, x * x >> bits
    while term:
        term = -(term * square >> bits) // ((k + 1) * (k + 2))
        total, k, count = total + term, k + 2, count + 1
        if term == -1:  # a floor that never reaches 0
            break
    return total, 4 * count


def exponential_of(x: Fraction) -> Enclosure:
    """Return e^−x of x >= 0."""
    if x == 0:
        return exactly(Fraction(1))
    if x > 1 << 12:
        return Enclosure(Fraction(0), Fraction(1, ONE))
    halvings = max(0, int(x).bit_length()) + 1
    small = round(x * ONE / (1 << halvings))
    term, total, k, count = ONE, ONE, 0, 1
    while abs(term) > 1:
        k, count = k + 1, count + 1
        term = -(term * small >> BITS) // k
        total += term
    slack = 4 * count + 1
    for _ in range(halvings):  # (t ± s)² = t² ± s(2t + s), t at most 1
        total, slack = total * total >> BITS, 2 * slack + (slack * slack >> BITS) + 2
    return Enclosure(Fraction(max(0, total - slack), ONE), Fraction(total + slack, ONE))


def nearest_word(units: Enclosure) -> tuple[int, Fraction]:
    """Return the nearest whole number, ties away from zero, and the largest distance from it.

    An enclosure of 2^-200 that still holds a tie is taken for one: then both neighbours are as far.
    """
    middle = (units.low + units.high) / 2
    size = abs(middle)
    below = size.numerator // size.denominator
    up = size - below >= Fraction(1, 2) - max(units.high - units.low, Fraction(0))
    word = (below + up) * (-1 if middle < 0 else 1)
    return word, max(abs(units.low - word), abs(units.high - word))

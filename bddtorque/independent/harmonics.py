"""Sums of waves with exact coefficients: traced functions and cascades of them, compared in rationals.

A term is a product of input words, each from −1 to 1, and a sine or cosine of a whole combination of angles. Products
of waves become sums of waves, so that equal functions have equal terms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from .balls import Ball
from .effort import work
from .fields import Field, Grid
from .findings import require
from .formats import Format, box_of
from .graph import Angle, short
from .ieee import up
from .peaks import enclosed
from .spans import Span

Key = tuple[tuple[int, ...], Angle | None, bool]
"""Words that are multiplied, by number; the angle of a wave or None; whether it is a sine."""
MAX_TERMS = 20_000
MAX_FACTORS = 1000
"""Words that are multiplied with each other."""
RATIONAL = 1000
"""Floats that take as long as a product of two terms."""


class Waves:
    """A sum of terms with rational coefficients."""

    __slots__ = ("terms",)

    def __init__(self, terms: dict[Key, Fraction]) -> None:
        self.terms = {key: each for key, each in terms.items() if each}
        require(len(self.terms) <= MAX_TERMS, f"the function has more than {MAX_TERMS:,} waves")

    def __neg__(self) -> Waves:
        return self.scaled(Fraction(-1))

    def __add__(self, other: Waves) -> Waves:
        total = dict(self.terms)
        for key, each in other.terms.items():
            total[key] = total.get(key, Fraction(0)) + each
        return Waves(total)

    def __sub__(self, other: Waves) -> Waves:
        return self + -other

    def __mul__(self, other: Waves) -> Waves:
        total: dict[Key, Fraction] = {}
        require(len(self.terms) * len(other.terms) <= 50 * MAX_TERMS, "the function has too many waves")
        work(RATIONAL * len(self.terms) * len(other.terms))
        for first, a in self.terms.items():
            for second, b in other.terms.items():
                for key, factor in _product(first, second):
                    total[key] = total.get(key, Fraction(0)) + short(a * b) * factor
        return Waves(total)

    def scaled(self, factor: Fraction) -> Waves:
        """Return the sum times a rational."""
        return Waves({key: each * factor for key, each in self.terms.items()})

    def largest(self, words: Mapping[int, Format], limit: float) -> float:
        """Return a bound on the magnitude for all words, by number; no closer than `limit` asks for."""
        low, high = self.enclosed(words, (-limit, limit))
        return max(-low, high)

    def enclosed(self, words: Mapping[int, Format], wanted: Span) -> Span:
        """Return a range for all words: the ranges of all terms together, exactly; more closely as `peaks` has it."""
        low = high = Fraction(0)
        for (numbers, angle, _), factor in self.terms.items():
            ends = [factor]
            for number, power in Counter(numbers).items():
                top = Fraction(words[number].highest, -words[number].lowest)
                own = (Fraction(0), Fraction(1)) if power % 2 == 0 else (Fraction(-1), top**power)
                ends = [one * other for one in ends for other in own]
            ends += [-each for each in ends] if angle is not None else []
            low, high = low + min(ends), high + max(ends)
        found = -up(-low), up(high)
        if wanted[0] <= found[0] and found[1] <= wanted[1]:
            return found
        return enclosed(self._field(words), box_of(words), wanted)

    def _field(self, words: Mapping[int, Format]) -> Field:
        """Return the sum on a grid of the angles, with rounded coefficients."""
        turning = {axis for _, angle, _ in self.terms if angle is not None for axis, _ in angle.multipliers}
        axes = range(max(turning, default=0) + 1)
        degrees = [1 + 2 * max(map(abs, of), default=0) for of in (self._multipliers(axis) for axis in axes)]
        grid = Grid(degrees)
        total = Field({})
        for (numbers, angle, sine), factor in self.terms.items():
            wave = grid.number(Fraction(1)) if angle is None else grid.sine(angle) if sine else grid.cosine(angle)
            total = total + wave.scaled(factor) * Field({numbers: Ball(1.0)})
        return total

    def _multipliers(self, axis: int) -> list[int]:
        return [dict(angle.multipliers).get(axis, 0) for _, angle, _ in self.terms if angle is not None]


class WaveAlgebra:
    """The kind of number of `Waves`."""

    @staticmethod
    def number(value: Fraction) -> Waves:
        """Return a constant."""
        return Waves({((), None, False): value})

    @staticmethod
    def motion(number: int, factor: Fraction) -> Waves:
        """Return a word times a factor."""
        return Waves({((number,), None, False): factor})

    @staticmethod
    def position(axis: int, low: int, high: int) -> Waves:
        """Return the word of a sliding joint."""
        return WaveAlgebra.motion(axis, Fraction(-low))

    @staticmethod
    def sine(angle: Angle) -> Waves:
        """Return the sine of an angle."""
        return _wave((), angle, True)

    @staticmethod
    def cosine(angle: Angle) -> Waves:
        """Return the cosine of an angle."""
        return _wave((), angle, False)


def _wave(words: tuple[int, ...], angle: Angle, sine: bool) -> Waves:
    key, sign = _canonical(words, angle, sine)
    return Waves({key: Fraction(sign)}) if sign else Waves({})


def _canonical(words: tuple[int, ...], angle: Angle, sine: bool) -> tuple[Key, int]:
    """Return the one key of a wave, and its sign: the first multiplier positive, quarter turns taken out."""
    sign = 1
    leading = angle.multipliers[0][1] if angle.multipliers else angle.rest
    if leading < 0:
        angle, sign = angle.times(-1), -1 if sine else 1
    quarters = angle.turns * 4
    whole = quarters.numerator // quarters.denominator
    left = Angle(angle.multipliers, angle.turns - Fraction(whole, 4), angle.rest)
    for _ in range(whole % 4):  # sin(x + 90°) = cos x, cos(x + 90°) = −sin x
        sine, sign = not sine, sign if sine else -sign
    if left == Angle():
        return (words, None, False), 0 if sine else sign
    return (words, left, sine), sign


def _product(first: Key, second: Key) -> list[tuple[Key, Fraction]]:
    words = tuple(sorted(first[0] + second[0]))
    require(len(words) <= MAX_FACTORS, f"expected products of at most {MAX_FACTORS:,} words")
    a, b = first[1], second[1]
    if a is None or b is None:
        return [((words, b if a is None else a, second[2] if a is None else first[2]), Fraction(1))]
    half = Fraction(1, 2)
    plus, minus = a.plus(b), a.plus(b.times(-1))
    if first[2] and second[2]:  # sin a sin b
        parts = [(minus, False, half), (plus, False, -half)]
    elif first[2]:  # sin a cos b
        parts = [(plus, True, half), (minus, True, half)]
    elif second[2]:  # cos a sin b
        parts = [(plus, True, half), (minus, True, -half)]
    else:
        parts = [(plus, False, half), (minus, False, half)]
    found = []
    for angle, sine, factor in parts:
        key, sign = _canonical(words, angle, sine)
        if sign:
            found.append((key, factor * sign))
    return found

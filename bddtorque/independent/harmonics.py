"""Sums of waves with exact coefficients: traced functions and cascades of them, compared in rationals.

A term is a product of input words, each from −1 to 1, and a sine or cosine of a whole combination of angles. Products
of waves become sums of waves, so that equal functions have equal terms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import TypeVar

from .circuits import Circuit, Term
from .enclosures import Ball
from .fields import Field, Grid
from .findings import require, work
from .formats import Format, box_of
from .graph import Angle, short
from .ieee import up
from .peaks import enclosed
from .ranges import Span, Terms, add_term

Key = tuple[tuple[int, ...], Angle | None, bool]
"""Words that are multiplied, by number; the angle of a wave or None; whether it is a sine."""
Name = TypeVar("Name")
MAX_TERMS = 20_000
MAX_FACTORS = 1000
"""Words that are multiplied with each other."""
RATIONAL = 1000
"""Floats that take as long as a product of two terms."""


class Waves(Terms):
    """A sum of terms with rational coefficients."""

    __slots__ = ()

    def __init__(self, terms: dict[Key, Fraction]) -> None:
        super().__init__({key: factor for key, factor in terms.items() if factor})
        require(len(self.terms) <= MAX_TERMS, f"the function has more than {MAX_TERMS:,} waves")

    def __mul__(self, other: Waves) -> Waves:
        total: dict[Key, Fraction] = {}
        require(len(self.terms) * len(other.terms) <= 50 * MAX_TERMS, "the function has too many waves")
        work(RATIONAL * len(self.terms) * len(other.terms))
        for first, a in self.terms.items():
            for second, b in other.terms.items():
                for key, factor in _product(first, second):
                    add_term(total, key, short(a * b) * factor)
        return Waves(total)

    def enclosed(self, words: Mapping[int, Format], wanted: Span) -> Span:
        """Return a range for all words, by number: that of all terms together, or closer, as `peaks` has it."""
        low = high = Fraction(0)
        for (numbers, angle, _), factor in self.terms.items():
            ends = [factor]
            for number, power in Counter(numbers).items():
                word = words[number]
                least, top = (Fraction(end, word.size) ** power for end in (word.lowest, word.highest))
                own = (Fraction(0), max(least, top)) if power % 2 == 0 else (least, top)
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
            wave = grid.number(Fraction(1)) if angle is None else grid.wave(angle, not sine)
            total = total + wave * grid.number(factor) * Field({numbers: Ball(1.0)})
        return total

    def _multipliers(self, axis: int) -> list[int]:
        return [dict(angle.multipliers).get(axis, 0) for _, angle, _ in self.terms if angle is not None]


def ranges_in_waves(
    circuit: Circuit, terms: Mapping[Name, Term], words: Mapping[int, Format], wanted: Mapping[Name, Span]
) -> tuple[dict[Name, Span], int]:
    """Return the ranges of terms over all words, by number, and how many waves the longest has."""
    waves = circuit.values(terms, WaveAlgebra())
    ranges = {key: each.enclosed(words, wanted[key]) for key, each in waves.items()}
    return ranges, max((len(each.terms) for each in waves.values()), default=0)


class WaveAlgebra:
    """Waves as the `Numbers` of circuits; a sliding position of axis k has the number −1 − k."""

    @staticmethod
    def number(value: Fraction) -> Waves:
        """Return a constant."""
        return Waves({((), None, False): value})

    @staticmethod
    def motion(number: int, factor: Fraction) -> Waves:
        """Return a word times a factor."""
        return Waves({((number,), None, False): factor})

    def position(self, axis: int, low: int, high: int) -> Waves:
        """Return the word of a sliding joint."""
        return self.motion(-1 - axis, Fraction(high + 1))

    @staticmethod
    def wave(angle: Angle, cosine: bool) -> Waves:
        """Return the sine or cosine of an angle."""
        key, sign = _canonical((), angle, not cosine)
        return Waves({key: Fraction(sign)}) if sign else Waves({})


def _canonical(words: tuple[int, ...], angle: Angle, sine: bool) -> tuple[Key, int]:
    """Return the one key of a wave, and its sign; 0 where it is nothing."""
    angle, sine, sign = angle.canonical(sine)
    if angle == Angle():
        return (words, None, False), 0 if sine else sign
    return (words, angle, sine), sign


def _product(first: Key, second: Key) -> list[tuple[Key, Fraction]]:
    words = tuple(sorted(first[0] + second[0]))
    require(len(words) <= MAX_FACTORS, f"expected products of at most {MAX_FACTORS:,} words")
    a, b = first[1], second[1]
    if a is None or b is None:
        return [((words, b if a is None else a, second[2] if a is None else first[2]), Fraction(1))]
    # cos a·cos b = (cos(a − b) + cos(a + b))/2, and so on
    half, sine = Fraction(1, 2), first[2] != second[2]
    plus = a.plus(b), -half if first[2] and second[2] else half
    minus = a.plus(b.times(-1)), -half if second[2] and not first[2] else half
    keys = [(*_canonical(words, angle, sine), factor) for angle, factor in (plus, minus)]
    return [(key, factor * sign) for key, sign, factor in keys if sign]

"""Ranges of polynomials in the motions over the box that their words span, at many positions at once.

A coefficient is an array of floats, one number a position. Two bounds are known. The sum of the ranges of all
monomials is cheap; it may be taken about the zero of the words or about that of the values they stand for. Bernstein's
coefficients, of which none that is a convex combination goes beyond, are exact for products of different motions, and
come as near as one likes where the box is cut into smaller ones.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from .enclosures import Floats
from .findings import CALL, work

Monomial = tuple[int, ...]
"""Motions that are multiplied, by number, ascending."""
Span = tuple[float, float]

FARTHEST = 4.0
"""Half ranges: how far from its range a motion may be measured."""
LOST = 1e-14
"""Relative to all summands: more than a few float operations lose in what follows."""
MAX_WORK = 300_000_000
"""Numbers that are worked through for the sake of one range, at most."""
MAX_COEFFICIENTS = 3000


@dataclass(frozen=True)
class Box:
    """The range of every motion, and where the value that it stands for is 0.

    `sliders` are motions that stand for sliding positions, by the axis of the position.
    """

    ends: Mapping[int, Span]
    zeros: Mapping[int, float]
    sliders: Mapping[int, int] = field(default_factory=dict)

    def about_zeros(self) -> tuple[dict[int, float], Box] | None:
        """Return the zeros that are near enough, and the box as seen from there; None if there are none."""
        used = {number: zero for number, zero in self.zeros.items() if 0.0 < abs(zero) <= FARTHEST}
        if not used:
            return None
        ends = dict(self.ends)
        for number, zero in used.items():
            low, high = ends[number]
            ends[number] = math.nextafter(low - zero, -math.inf), math.nextafter(high - zero, math.inf)
        return used, Box(ends, {})

    def span(self, monomial: Monomial) -> Span:
        """Return the range of a product of motions."""
        low = high = 1.0
        for number, power in Counter(monomial).items():
            first, last = self.ends[number]
            powers = [first**power, last**power, *([0.0] if first <= 0.0 <= last else [])]
            ends = [end * each for end in (low, high) for each in (min(powers), max(powers))]
            low, high = min(ends), max(ends)
        return low, high


def moved(terms: Mapping[Monomial, Any], zeros: Mapping[int, float], number: Any) -> dict[Monomial, Any]:
    """Return a polynomial in t as one in t − zero; `number` makes a factor of a coefficient of a float."""
    total: dict[Monomial, Any] = {}
    for monomial, coefficient in terms.items():
        expanded: dict[Monomial, Any] = {(): coefficient}
        for motion in monomial:
            step: dict[Monomial, Any] = {}
            for known, each in expanded.items():
                add_term(step, (*known, motion), each)
                if zeros.get(motion):
                    add_term(step, known, each * number(zeros[motion]))
            expanded = step
        for known, each in expanded.items():
            add_term(total, known, each)
    return total


def add_term(terms: dict[Any, Any], key: Any, coefficient: Any) -> None:
    """Add a coefficient to that of a key, which may be new."""
    terms[key] = terms[key] + coefficient if key in terms else coefficient


class Terms:
    """A sum of terms, each a coefficient by a key."""

    __slots__ = ("terms",)

    def __init__(self, terms: dict[Any, Any]) -> None:
        self.terms = terms

    def __neg__(self) -> Self:
        return type(self)({key: -coefficient for key, coefficient in self.terms.items()})

    def __add__(self, other: Self) -> Self:
        total = dict(self.terms)
        for key, coefficient in other.terms.items():
            add_term(total, key, coefficient)
        return type(self)(total)

    def __sub__(self, other: Self) -> Self:
        return self + -other


def by_monomials(terms: Mapping[Monomial, Floats], box: Box) -> tuple[Floats, Floats]:
    """Return ends of the range at every position: the ranges of all monomials together."""
    middle, reach, size = (np.zeros(()) for _ in range(3))
    for monomial, coefficient in terms.items():
        low, high = box.span(monomial)
        middle = middle + coefficient * ((low + high) / 2)
        reach = reach + np.abs(coefficient) * ((high - low) / 2)
        size = size + np.abs(coefficient) * max(abs(low), abs(high))
    reach = reach + (LOST + 2.0**-51 * len(terms)) * size
    return middle - reach, middle + reach


def by_bernstein(
    terms: Mapping[Monomial, Floats], box: Box, low: Floats | float, high: Floats | float
) -> tuple[Floats, Floats] | None:
    """Return ends of the range at every position, no closer than `low` and `high` ask for; None if that is too much.

    Motions that stand alone are exact as they are. The others are cut into smaller boxes, where need be.
    """
    shape = np.broadcast_shapes(*(np.shape(each) for each in terms.values()))
    joined = {number for monomial in terms if len(monomial) > 1 for number in monomial}
    alone = {monomial: each for monomial, each in terms.items() if not joined.intersection(monomial)}
    numbers = sorted(joined)
    degrees = [max(Counter(monomial)[number] for monomial in terms) for number in numbers]
    count = math.prod(degree + 1 for degree in degrees)
    points = math.prod(shape)
    if count > MAX_COEFFICIENTS or count * points > MAX_WORK // 4:
        return None
    below, above = (np.broadcast_to(each, shape).reshape(-1) for each in by_monomials(alone, box))
    power = np.zeros((*(degree + 1 for degree in degrees), points))
    for monomial, each in terms.items():
        if monomial not in alone:
            counts = Counter(monomial)
            power[tuple(counts[number] for number in numbers)] += np.broadcast_to(each, shape).reshape(-1)
    ends = [box.ends[number] for number in numbers]
    size = np.abs(power)
    for degree, (first, last) in zip(degrees, ends, strict=True):
        size = np.tensordot((max(-first, last) + last - first) ** np.arange(degree + 1), size, axes=(0, 0))
    lost = LOST * (1 + len(numbers)) * size
    asked = [np.broadcast_to(each, shape).reshape(-1) for each in (low, high)]
    least, most = _cut(power, ends, asked[0] - below + lost, asked[1] - above - lost)
    return (below + least - lost).reshape(shape), (above + most + lost).reshape(shape)


def _cut(power: Floats, ends: list[Span], low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return ends of the range at every position; boxes that leave low..high open are halved while there is hope."""
    coarse = _ends(power, ends)
    least, most = np.full_like(low, np.inf), np.full_like(high, -np.inf)
    waiting = [(ends, np.arange(len(low)))]
    done = 0
    while waiting:
        box, here = waiting.pop()
        lowest, highest = _ends(power[..., here], box)
        open_ = (lowest < low[here]) | (highest > high[here])
        least[here] = np.where(open_, least[here], np.minimum(least[here], lowest))
        most[here] = np.where(open_, most[here], np.maximum(most[here], highest))
        if not open_.any():
            continue
        numbers = ((power.size // len(low)) * len(here) + 2 * CALL) * (1 + len(ends))
        work(numbers)
        done += numbers
        here = here[open_]
        middle, _ = _ends(power[..., here], [((a + b) / 2, (a + b) / 2) for a, b in box])
        if done > MAX_WORK or not ends or np.any((middle < low[here]) | (middle > high[here])):
            return coarse
        # a motion that occurs to the first power alone is exact as it is, beside others
        widths = [(b - a) * (1.0 if count > 2 else 0.3) for (a, b), count in zip(box, power.shape, strict=False)]
        k = widths.index(max(widths))
        a, b = box[k]
        for half in ((a, (a + b) / 2), ((a + b) / 2, b)):
            waiting.append(([*box[:k], half, *box[k + 1 :]], here))
    return least, most


def _ends(power: Floats, box: list[Span]) -> tuple[Floats, Floats]:
    """Return the least and the greatest of Bernstein's coefficients over a box, at every position."""
    found = power
    for axis, (low, high) in enumerate(box):
        found = np.moveaxis(np.tensordot(_bernstein(power.shape[axis] - 1, low, high), found, axes=(1, axis)), 0, axis)
    found = found.reshape(-1, power.shape[-1])
    return found.min(axis=0), found.max(axis=0)


def _bernstein(degree: int, low: float, high: float) -> Floats:
    """Return the matrix that makes Bernstein's coefficients over low..high of those of powers."""
    shifted, bernstein = np.zeros((2, degree + 1, degree + 1))
    for i in range(degree + 1):
        for j in range(i + 1):
            shifted[j, i] = math.comb(i, j) * low ** (i - j) * (high - low) ** j
            bernstein[i, j] = math.comb(i, j) / math.comb(degree, j)
    matrix: Floats = bernstein @ shifted
    return matrix

"""Polynomials in the motions of the joints, with coefficients known on a grid of positions.

A torque is a polynomial in velocities and accelerations; every coefficient is a trigonometric polynomial in the
positions. `Field` holds the coefficients at the points of a grid, each a `Ball`, one axis a position: an array has
length 1 along positions that do not matter, so that little is computed twice.

A function of degree d in an angle is determined by 2d + 1 points. A position that is no angle is t = cos θ times half
its range: of degree d in it means degree d in θ, and all of its range is reached.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from .enclosures import Ball, ball_of, sine_and_cosine, sine_of_turns
from .findings import require, work
from .graph import Angle
from .ranges import Monomial, Terms, add_term

MAX_EXACT = 64
"""Different angles of a grid whose sines are computed in whole numbers."""


class Field(Terms):
    """A sum of monomials with coefficients on the grid."""

    __slots__ = ()

    def __mul__(self, other: Field) -> Field:
        total: dict[Monomial, Ball] = {}
        for first, a in self.terms.items():
            for second, b in other.terms.items():
                product = a * b
                work(np.size(product.value))
                add_term(total, tuple(sorted(first + second)), product)
        return Field(total)


def joined(parts: list[Field], axis: int, degrees: Shape) -> Field:
    """Return the field of this shape whose slices along one of its axes are given, each at one point of it."""
    monomials = {monomial for part in parts for monomial in part.terms}
    whole = {}
    for monomial in monomials:
        balls = [part.terms.get(monomial, Ball(np.float64(0.0))) for part in parts]
        if not degrees[monomial][axis]:  # the same at every point of the axis
            whole[monomial] = next(part.terms[monomial] for part in parts if monomial in part.terms)
            continue
        shapes = [np.shape(array) for ball in balls for array in (ball.value, ball.radius)]
        shape = np.broadcast_shapes(*shapes) or (1,) * len(degrees[monomial])
        values, radii = (
            np.concatenate([np.broadcast_to(getattr(ball, name), shape) for ball in balls], axis)
            for name in ("value", "radius")
        )
        whole[monomial] = Ball(values, radii)
    return Field(whole)


class Grid:
    """The positions at which fields are known; `Numbers` of circuits. Positions that are not on it stand at 0.

    Attributes
    ----------
    points
        How many along each axis, odd.
    axes
        The axis of each position that is on the grid; if none are given, the first ones are.
    slice
        An axis and the one point of it to look at; None for all points.
    """

    def __init__(
        self, points: list[int], positions: Sequence[int] | None = None, slice_: tuple[int, int] | None = None
    ) -> None:
        self.points = points
        self.axes = {position: axis for axis, position in enumerate(positions or range(len(points)))}
        self.slice = slice_
        self._known: dict[Angle, tuple[Ball, Ball]] = {}

    @staticmethod
    def number(value: Fraction) -> Field:
        """Return a constant."""
        return Field({(): ball_of(value)}) if value else Field({})

    @staticmethod
    def motion(number: int, factor: Fraction) -> Field:
        """Return a motion times a factor."""
        return Field({(number,): ball_of(factor)}) if factor else Field({})

    def position(self, axis: int, low: int, high: int) -> Field:
        """Return the word of a sliding joint: it goes from low to high as cos θ does."""
        wave = self.wave(Angle(((axis, 1),)), cosine=True)
        return wave * self.number(Fraction(high - low, 2)) + self.number(Fraction(high + low, 2))

    def wave(self, angle: Angle, cosine: bool) -> Field:
        """Return the sine or cosine of an angle at all points."""
        ball = self._both(angle)[cosine]
        if np.size(ball.value) == 1 and not np.any(ball.value) and not np.any(ball.radius):
            return Field({})
        return Field({(): ball})

    def _both(self, angle: Angle) -> tuple[Ball, Ball]:
        if angle not in self._known:
            used = [(self.axes[position], times) for position, times in angle.multipliers if position in self.axes]
            denominator = math.lcm(angle.turns.denominator, *(self.points[axis] for axis, _ in used))
            require(denominator <= 1 << 50, "expected angles of fewer bits")
            total: Any = np.full([1] * len(self.points), int(angle.turns * denominator), dtype=np.int64)
            for axis, multiplier in used:
                places = np.arange(self.points[axis], dtype=np.int64)
                if self.slice is not None and self.slice[0] == axis:
                    places = places[self.slice[1] : self.slice[1] + 1]
                steps = places * (multiplier * denominator // self.points[axis] % denominator)
                total = total + steps.reshape([-1 if axis == k else 1 for k in range(len(self.points))]) % denominator
            self._known[angle] = _exact_waves(total % denominator, denominator, angle.rest)
        return self._known[angle]


def _exact_waves(numerators: npt.NDArray[np.int64], denominator: int, rest: Fraction) -> tuple[Ball, Ball]:
    """Return sine and cosine of 2π·numerator/denominator + rest; of few different angles to the last digit."""
    different, places = np.unique(numerators, return_inverse=True)
    if len(different) > MAX_EXACT:
        return sine_and_cosine(numerators, denominator, rest)
    waves = []
    for quarter in (Fraction(0), Fraction(1, 4)):
        found = [sine_of_turns(Fraction(int(each), denominator) + quarter, rest) for each in different]
        near = [float(each.low) for each in found]
        off = [
            float(max(abs(a - Fraction(x)) for a in (each.low, each.high))) for each, x in zip(found, near, strict=True)
        ]
        arrays = (np.array(each)[places].reshape(numerators.shape) for each in (near, off))
        waves.append(Ball(next(arrays), next(arrays) * (1 + 1e-15)))
    return waves[0], waves[1]


MAX_FACTORS = 9
"""Of a product of motions: two velocities, a number of a payload, and the squares of three angles that slide."""
Shape = dict[Monomial, tuple[int, ...]]
"""The monomials of a field, and the degree of each in every position, at most."""


class Degrees:
    """An upper bound on the shape of a field; adds and multiplies."""

    __slots__ = ("shape",)

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        longest = max(map(len, shape), default=0)
        require(longest <= MAX_FACTORS and len(shape) <= 4096, "there are too many products of motions")

    def __neg__(self) -> Degrees:
        return self

    def __add__(self, other: Degrees) -> Degrees:
        return Degrees(highest(self.shape, other.shape))

    def __sub__(self, other: Degrees) -> Degrees:
        return self + other

    def __mul__(self, other: Degrees) -> Degrees:
        if [*other.shape] == [()] and not any(other.shape[()]):
            return self
        total: Shape = {}
        for first, a in self.shape.items():
            for second, b in other.shape.items():
                monomial = tuple(sorted(first + second))
                degrees = tuple(map(sum, zip(a, b, strict=True)))
                total[monomial] = tuple(map(max, total[monomial], degrees)) if monomial in total else degrees
        return Degrees(total)


def highest(first: Shape, second: Shape) -> Shape:
    """Return what holds two shapes."""
    total = dict(first)
    for monomial, degrees in second.items():
        total[monomial] = tuple(map(max, total[monomial], degrees)) if monomial in total else degrees
    return total


class DegreeAlgebra:
    """Degrees as the `Numbers` of circuits."""

    def __init__(self, axes: int) -> None:
        self.axes = axes

    def number(self, value: Fraction) -> Degrees:
        """Return the degrees of a constant."""
        return Degrees({(): (0,) * self.axes} if value else {})

    def motion(self, number: int, factor: Fraction) -> Degrees:
        """Return the degrees of a motion."""
        return Degrees({(number,): (0,) * self.axes})

    def position(self, axis: int, low: int, high: int) -> Degrees:
        """Return the degrees of a sliding position."""
        return self.wave(Angle(((axis, 1),)), cosine=True) + self.number(Fraction(1))

    def wave(self, angle: Angle, cosine: bool) -> Degrees:
        """Return the degrees of the sine or cosine of an angle."""
        own = dict(angle.multipliers)
        return Degrees({(): tuple(abs(own.get(axis, 0)) for axis in range(self.axes))})

"""Laws of samples: the interpolant of values on a grid, and the value of the nearest sample.

On a grid the interpolant is linear in each argument between neighbouring knots (multilinear); an argument that is an
angle goes round. Both laws are made of sums, products and comparisons of float64 alone, which every machine does alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from typing import Any, ClassVar

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.words.bounded import ULP, Bounded
from bddtorque.words.formats import TURN, Floats
from bddtorque.words.law import Law

MAX_ARGUMENTS = 4
NEAREST_AT_ONCE = 1 << 22
"""Distances that are looked at together."""


@dataclass(frozen=True)
class Interpolant(Law):
    """The multilinear interpolant of values on a grid."""

    kind: ClassVar[str] = "interpolant"
    # for each argument its knots, ascending; of an angle from −π up to, not including, π
    knots: tuple[tuple[float, ...], ...]
    values: tuple[float, ...]  # one a point of the grid, the last argument fastest
    around: tuple[bool, ...]  # for each argument, whether it is an angle, and goes round
    # whether the outermost values may be relied on beyond the knots; they hold there in any case, but planners refuse
    # words there otherwise
    hold: bool = False

    def __post_init__(self) -> None:
        if not 1 <= len(self.knots) <= MAX_ARGUMENTS or len(self.knots) != len(self.around):
            raise BddTorqueError(f"interpolant must have 1 to {MAX_ARGUMENTS} arguments, got {len(self.knots)}")
        for knots, around in zip(self.knots, self.around, strict=True):
            finite = bool(knots) and all(map(math.isfinite, knots))
            if not finite or not all(a < b for a, b in pairwise(knots)):
                raise BddTorqueError("interpolant: knots must be finite and ascending")
            if around and not (knots[0] >= -TURN / 2 and knots[-1] < TURN / 2):
                raise BddTorqueError("interpolant: knots of an angle must be from -π to below π")
        if len(self.values) != math.prod(map(len, self.knots)) or not all(map(math.isfinite, self.values)):
            raise BddTorqueError("interpolant must have one finite value per point of its grid")

    @cached_property
    def _axes(self) -> list[Floats]:
        """The knots, those of an angle with its neighbours a turn away."""
        axes = []
        for knots, around in zip(self.knots, self.around, strict=True):
            own = np.array(knots)
            axes.append(np.concatenate(([own[-1] - TURN], own, [own[0] + TURN])) if around else own)
        return axes

    @cached_property
    def _grid(self) -> Floats:
        """The values as an array, padded as the axes are."""
        grid = np.array(self.values).reshape(tuple(map(len, self.knots)))
        for axis, around in enumerate(self.around):
            if around:
                first, last = np.take(grid, [0], axis), np.take(grid, [-1], axis)
                grid = np.concatenate((last, grid, first), axis)
        return grid

    @cached_property
    def _slopes(self) -> list[float]:
        """The steepest slope along each argument."""
        slopes = []
        for axis, knots in enumerate(self._axes):
            if len(knots) == 1:
                slopes.append(0.0)
                continue
            widths = np.diff(knots).reshape([-1 if k == axis else 1 for k in range(len(self._axes))])
            slopes.append(float(np.abs(np.diff(self._grid, axis=axis) / widths).max()) * (1 + 8 * ULP))
        return slopes

    def bounded(self, values: Sequence[Bounded]) -> Bounded:
        """Return the interpolant at arguments known to a radius, which enters by the steepest slope."""
        cells, weights = [], []
        slack: Any = np.float64(0.0)
        for axis, (each, knots) in enumerate(zip(values, self._axes, strict=True)):
            x = np.asarray(each.value, dtype=np.float64)
            if self.around[axis]:
                x = x - TURN * np.floor((x + TURN / 2) / TURN)
            x = np.clip(x, knots[0], knots[-1])
            cell = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, max(len(knots) - 2, 0))
            cells.append(cell)
            above = np.minimum(cell + 1, len(knots) - 1)
            width = knots[above] - knots[cell]
            weights.append(np.clip((x - knots[cell]) / np.where(width > 0, width, 1.0), 0.0, 1.0))
            # what the argument is off, and what reducing a turn and taking the weight can lose, in the argument
            reach = np.abs(x) + np.abs(knots).max() + (TURN if self.around[axis] else 0.0)
            slack = slack + self._slopes[axis] * (np.asarray(each.radius) + 16 * ULP * reach)
        total: Any = np.zeros(np.broadcast_shapes(*(np.shape(weight) for weight in weights)))
        size = float(np.abs(self._grid).max())
        for corner in product((0, 1), repeat=len(cells)):
            place: list[Any] = []
            share: Any = np.float64(1.0)
            for side, cell, weight, knots in zip(corner, cells, weights, self._axes, strict=True):
                place.append(np.minimum(cell + side, len(knots) - 1))
                share = share * (weight if side else 1.0 - weight)
            total = total + share * self._grid[tuple(place)]
        return Bounded(total, slack * (1 + 8 * ULP) + 2 ** len(cells) * 16 * ULP * size)

    def formula(self) -> str:
        """Return the law in a few words."""
        sizes = "×".join(str(len(knots)) for knots in self.knots)
        return f"interpolant of {sizes} samples"


@dataclass(frozen=True)
class Nearest(Law):
    """The value of the nearest sample, distances counted in units of each argument; of two, the one listed first."""

    kind: ClassVar[str] = "nearest"
    points: tuple[tuple[float, ...], ...]  # the samples' arguments, a tuple a sample
    values: tuple[float, ...]  # one a sample
    units: tuple[float, ...]  # for each argument what counts as 1
    around: tuple[bool, ...]  # for each argument, whether it is an angle, and goes round

    def __post_init__(self) -> None:
        numbers = [*self.values, *self.units, *(each for point in self.points for each in point)]
        count = len(self.units)
        if not (1 <= count <= MAX_ARGUMENTS and len(self.around) == count and len(self.points) == len(self.values)):
            raise BddTorqueError(f"nearest sample: values must be as many as points of 1 to {MAX_ARGUMENTS} numbers")
        if not self.points or any(len(point) != count for point in self.points) or min(self.units) <= 0:
            raise BddTorqueError("nearest sample: points must have one number per unit, and units be above 0")
        if not all(map(math.isfinite, numbers)):
            raise BddTorqueError("nearest sample: all numbers must be finite")

    def bounded(self, values: Sequence[Bounded]) -> Bounded:
        """Return the values of the nearest samples. Which one is nearest is decided by floats: that is the law."""
        shape = np.broadcast_shapes(*(np.shape(each.value) for each in values))
        asked = [np.broadcast_to(each.value, shape).reshape(-1) for each in values]
        points, own = np.array(self.points), np.array(self.values)
        found = np.empty(len(asked[0]))
        step = max(1, NEAREST_AT_ONCE // len(own))
        for start in range(0, len(found), step):
            distance = np.zeros((len(found[start : start + step]), len(own)))
            for axis, x in enumerate(asked):
                off = x[start : start + step, None] - points[None, :, axis]
                if self.around[axis]:
                    off = off - TURN * np.floor((off + TURN / 2) / TURN)
                off = off / self.units[axis]
                distance = distance + off * off
            found[start : start + step] = own[distance.argmin(axis=1)]
        return Bounded(found.reshape(shape), np.float64(0.0))

    def formula(self) -> str:
        """Return the law in a few words."""
        return f"the nearest of {len(self.values)} samples"

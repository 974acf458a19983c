"""Laws of joints and samples: friction, the multilinear interpolant, the nearest sample (docs/format.md, Laws)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np

from .enclosures import TINY, ULP, Ball, Enclosure, Floats, ball_of, exactly, exponential_of
from .findings import RefusedError, require
from .reading import Reader, fields_of, flag, optional, real, several, text

TURN = 2.0 * math.pi
AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Friction:
    """viscous·v + s·(c + (b − c)·exp(−(v/width)²)), s the sign of v, 0 at a standstill; a pair for each side."""

    viscous: float
    coulomb: tuple[float, float]
    static: tuple[float, float] | None
    width: float | None
    standstill: float

    real_valued = True
    """Rounded exactly, as a function of the real numbers."""

    @property
    def dry(self) -> Friction | None:
        """The law without its viscous part; None if nothing else is left."""
        rest = replace(self, viscous=0.0)
        return rest if any((*self.coulomb, *(self.static or ()))) else None

    def values(self, arguments: list[Ball]) -> Ball:
        """Return the law at velocities; where the radius leaves the side of a jump open, the radius holds the jump."""
        (v,) = arguments
        moving = np.sign(v.value) * (np.abs(v.value) > self.standstill)
        total = Ball(self.viscous) * v
        for side, direction in enumerate((1.0, -1.0)):
            here = moving == direction
            dry = Ball(np.where(here, direction * self.coulomb[side], 0.0))
            if self.static is not None and self.width is not None:
                ratio = v * ball_of(1 / Fraction(self.width))
                square = ratio * ratio
                decay = np.exp(-square.value)
                spread = decay * (8 * ULP + np.expm1(np.minimum(square.radius, 1.0)) * (1 + 1e-9)) + TINY
                above = ball_of(Fraction(self.static[side]) - Fraction(self.coulomb[side]))
                part = Ball(np.where(here, direction * above.value, 0.0), np.where(here, above.radius, 0.0))
                dry = dry + part * Ball(decay, spread)
            total = total + dry
        undecided = (np.abs(np.abs(v.value) - self.standstill) <= v.radius) & (np.asarray(v.radius) > 0)
        jump = 2 * max(*self.coulomb, *(self.static or (0.0,)))
        return Ball(total.value, np.where(undecided, total.radius + jump, total.radius))

    def exact(self, velocity: Fraction) -> Enclosure:
        """Return the law at one rational velocity."""
        total = exactly(Fraction(self.viscous) * velocity)
        if abs(velocity) <= Fraction(self.standstill):
            return total
        side, direction = (0, 1) if velocity > 0 else (1, -1)
        low = Fraction(self.coulomb[side])
        dry = exactly(low)
        if self.static is not None and self.width is not None:
            decay = exponential_of((velocity / Fraction(self.width)) ** 2)
            dry = dry + exactly(Fraction(self.static[side]) - low) * decay
        return total + exactly(Fraction(direction)) * dry


@dataclass(frozen=True)
class Interpolant:
    """Values on a grid of knots, linear between neighbours in each argument; `around` tells which are angles."""

    knots: tuple[tuple[float, ...], ...]
    grid: tuple[float, ...]
    around: tuple[bool, ...]

    real_valued = False
    """Rounded as float64 computes it."""

    def values(self, arguments: list[Ball]) -> Ball:
        """Return the law in the float operations that docs/format.md lists, and how far they can be off."""
        axes, grid = self._padded()
        cells, weights = [], []
        slack: Any = 0.0
        for axis, (argument, knots) in enumerate(zip(arguments, axes, strict=True)):
            x = np.asarray(argument.value, dtype=np.float64)
            if self.around[axis]:
                x = x - TURN * np.floor((x + TURN / 2) / TURN)
            x = np.clip(x, knots[0], knots[-1])
            cell = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, max(len(knots) - 2, 0))
            width = knots[np.minimum(cell + 1, len(knots) - 1)] - knots[cell]
            cells.append(cell)
            weights.append(np.clip((x - knots[cell]) / np.where(width > 0, width, 1.0), 0.0, 1.0))
            reach = np.abs(x) + np.abs(knots).max() + (TURN if self.around[axis] else 0.0)
            slack = slack + _steepest(grid, knots, axis) * (np.asarray(argument.radius) + 16 * ULP * reach)
        total: Any = np.zeros(np.broadcast_shapes(*(each.shape for each in weights)))
        for corner in product((0, 1), repeat=len(cells)):
            share: Any = np.float64(1.0)
            place = []
            for side, cell, weight, knots in zip(corner, cells, weights, axes, strict=True):
                place.append(np.minimum(cell + side, len(knots) - 1))
                share = share * (weight if side else 1.0 - weight)
            total = total + share * grid[tuple(place)]
        rounding = 2 ** len(cells) * 16 * ULP * float(np.abs(grid).max())
        return Ball(total, slack * (1 + 8 * ULP) + rounding)

    def _padded(self) -> tuple[list[Floats], Floats]:
        """Return knots and values, those of an angle with its neighbours a turn away."""
        axes = []
        grid = np.array(self.grid).reshape([len(each) for each in self.knots])
        for axis, (knots, around) in enumerate(zip(self.knots, self.around, strict=True)):
            own = np.array(knots)
            if around:
                own = np.concatenate(([own[-1] - TURN], own, [own[0] + TURN]))
                grid = np.concatenate((np.take(grid, [-1], axis), grid, np.take(grid, [0], axis)), axis)
            axes.append(own)
        return axes, grid


@dataclass(frozen=True)
class Nearest:
    """The value of the nearest sample, distances in `units`; floats decide which one that is."""

    points: tuple[tuple[float, ...], ...]
    samples: tuple[float, ...]
    units: tuple[float, ...]
    around: tuple[bool, ...]

    real_valued = False
    """Rounded as float64 computes it."""

    def values(self, arguments: list[Ball]) -> Ball:
        """Return the value of the nearest sample; of two the first."""
        shape = np.broadcast_shapes(*(np.shape(each.value) for each in arguments))
        asked = [np.broadcast_to(each.value, shape).reshape(-1) for each in arguments]
        points, samples = np.array(self.points), np.array(self.samples)
        found = np.empty(len(asked[0]))
        step = max(1, AT_ONCE // len(samples))
        for start in range(0, len(found), step):
            distance: Any = 0.0
            for axis, x in enumerate(asked):
                off = x[start : start + step, None] - points[None, :, axis]
                if self.around[axis]:
                    off = off - TURN * np.floor((off + TURN / 2) / TURN)
                off = off / self.units[axis]
                distance = distance + off * off
            found[start : start + step] = samples[np.argmin(distance, axis=1)]
        return Ball(found.reshape(shape), 0.0)


Law = Friction | Interpolant | Nearest


_REALS, _FLAGS = several(real), several(flag)
LAWS: dict[str, dict[str, Reader]] = {
    "friction": {
        "viscous": real, "coulomb": several(real, 2), "static": optional(several(real, 2)),
        "stribeck_velocity": optional(real), "standstill": real,
    },
    "interpolant": {"knots": several(_REALS), "values": _REALS, "around": _FLAGS, "hold": flag},
    "nearest": {"points": several(_REALS), "values": _REALS, "units": _REALS, "around": _FLAGS},
}  # fmt: skip
"""The keys of every kind of law, after `kind`."""


def law_of(plain: Any, arguments: int, where: str) -> Law:
    """Return the law of a block or a joint; it must have so many arguments."""
    where = f"{where}, law"
    kind: Any = plain.get("kind") if isinstance(plain, dict) else None
    if kind not in LAWS:
        raise RefusedError(f"{where}: expected a known law, got {kind!r:.40}")
    _, *fields = fields_of(plain, {"kind": text, **LAWS[kind]}, where).values()
    law: Law
    count = 1
    if kind == "friction":
        viscous, coulomb, static, width, standstill = fields
        require((static is None) == (width is None), f"{where}: expected static friction and its width together")
        magnitudes = min(viscous, standstill, *coulomb, *(static or ())) >= 0 and (width is None or width > 0)
        require(magnitudes, f"{where}: expected magnitudes")
        law = Friction(viscous, coulomb, static, width, standstill)
    elif kind == "interpolant":
        law = Interpolant(*fields[:3])
        for knots, around in zip(law.knots, law.around, strict=False):
            require(bool(knots) and all(a < b for a, b in pairwise(knots)), f"{where}: expected ascending knots")
            within_turn = not around or (knots[0] >= -TURN / 2 and knots[-1] < TURN / 2)
            require(within_turn, f"{where}: expected angles as knots")
        require(math.prod(map(len, law.knots)) == len(law.grid), f"{where}: expected one value per point")
        count = len(law.knots)
        require(count == len(law.around), f"{where}: expected one flag per argument")
    else:
        law = Nearest(*fields)
        count = len(law.units)
        require(0 < len(law.points) == len(law.samples), f"{where}: expected one value per point")
        require(count > 0 and min(law.units) > 0 and len(law.around) == count, f"{where}: expected units above 0")
        require(all(len(point) == count for point in law.points), f"{where}: expected points of {count} numbers")
    require(1 <= count <= 4 and count == arguments, f"{where}: expected {count} arguments, got {arguments}")
    return law


def _steepest(grid: Floats, knots: Floats, axis: int) -> float:
    if len(knots) == 1:
        return 0.0
    shape = [1] * grid.ndim
    shape[axis] = -1
    return float(np.abs(np.diff(grid, axis=axis) / np.diff(knots).reshape(shape)).max()) * (1 + 8 * ULP)

"""Proofs that a field stays below a limit, by grids of positions: for torques, whose finest grids would be too large.

A field is a sum of waves a·e^(i·f·θ), with |f| ≤ 2 along each axis, times products of at most two motions. Along one
axis take a kernel K ≥ 0 of mean 1, of degree N − 3 or less: with its harmonic f a coefficient times 1/K̂_f, a field is a
mean of its values at N equidistant angles, weighted with K. Axis by axis, a field is a mean of fields at points of a
grid. Its largest value over all motions is convex in the coefficients, so that it is below a limit everywhere if it is
at all these points. Kernels are those of Fejér and Korovkin, K̂_f = Σ a_k·a_(k+f) / Σ a_k², a_k = sin((k+1)π/(N−1)).

Axes are taken one after the other, strongest first. What the others may still add is bounded by amplitudes: by Cauchy
and Schwarz waves of the same degrees add up to no more than the root of the sum of their squares. A point that is above
the limit says which axes need more angles.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from .enclosures import Floats
from .findings import work
from .ranges import Box, Monomial, by_bernstein

FAINT = 1e-7
"""Relative to the limit: waves that depend on a position and are together no more are counted by their amplitudes."""
LOST = 1e-10
"""Relative to all amplitudes, times their multipliers: more than the float operations here lose."""
POINTS = 5
SIZES = (5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 128, 192, 256, 384, 512)
"""Angles along an axis that are tried."""
ROUNDS = 60
MAX_NUMBERS = 6_000_000_000
"""Numbers that are worked through for one limit; then nothing is shown."""
AT_ONCE = 2_000_000
MAX_JOINED = 10
"""Motions that occur in products: so many have 1,024 corners."""
SHARE = 0.6
"""Of the room that a large value leaves: how much of it a grid may take up there."""


def stays_below(waves: Mapping[Monomial, tuple[Any, float]], box: Box, limit: float) -> bool:
    """Tell if a field is shown to be nowhere above a limit; its waves are given, and how far these are off."""
    monomials = list(waves)
    if not monomials or any(len(monomial) > 2 for monomial in monomials):
        return False
    motions = _Motions(monomials, box)
    if len(motions.joined) > MAX_JOINED:
        return False
    off, kept = 0.0, []
    for (own, own_off), weight in zip(waves.values(), motions.sizes.tolist(), strict=True):
        each, left = _trimmed(own, FAINT * abs(limit) / max(weight, 1e-300))
        kept.append(each)
        off += (own_off + left) * weight * (1 + 1e-12)
    field = _real(kept)  # (rows, 5, ..., 5)
    if not (np.isfinite(field).all() and math.isfinite(limit - off)):
        return False
    sizes = _by_degree(np.tensordot(motions.sizes, np.abs(field), axes=(0, 0)))
    strengths = [float(np.take(sizes, (1, 2), axis).sum()) for axis in range(sizes.ndim)]
    order = sorted(range(sizes.ndim), key=lambda axis: -strengths[axis])
    field, sizes = field.transpose(0, *(axis + 1 for axis in order)), sizes.transpose(order)
    search = _Search(field, motions, sizes, limit - off)
    return search.run()


@dataclass
class _Search:
    """A search for points of a grid above a limit: `field` (rows, 5, ..., 5), `sizes` all amplitudes by degree."""

    field: Floats
    motions: _Motions
    sizes: Floats
    limit: float
    done: int = 0

    def run(self) -> bool:
        """Tell if on some grid no point is above the limit."""
        axes = self.sizes.ndim
        at, large = [0] * axes, []
        for _ in range(ROUNDS):
            grids = [SIZES[k] for k in at]
            lost = LOST * _scaled(self.sizes, [_multipliers(points) for points in grids])
            angles = self._above(grids, self.limit - lost)
            if angles is None:
                return True
            amplitudes, value = self._around(angles)
            if value > self.limit - lost or self.done > MAX_NUMBERS:
                return False
            large.append((amplitudes, value + SHARE * (self.limit - lost - value)))
            closer = _enough(at, large)
            if closer == at:  # what is above the limit there is a bound on the motions
                closer = [min(k + 1, len(SIZES) - 1) for k in at]
            if closer == at:
                return False
            at = closer
        return False

    def _around(self, angles: Sequence[float]) -> tuple[Floats, float]:
        """Return what waves of each degree have of a large value at some angles, and that value."""
        here = self.field
        for angle in reversed(angles):
            here = here @ _functions(np.array([angle]))[0]
        weights = self.motions.best(here)
        waves = np.tensordot(weights, self.field, axes=(0, 0))
        for axis, angle in enumerate(angles):
            shape = [1] * waves.ndim
            shape[axis] = POINTS
            waves = waves * _functions(np.array([angle]))[0].reshape(shape)
        return _by_degree(waves), float(waves.sum())

    def _above(self, grids: list[int], room: float) -> list[float] | None:
        """Return the angles of a point of a grid that is not shown to be below the room; None if there is none."""
        rows, axes = len(self.field), len(grids)
        start = np.ascontiguousarray(np.moveaxis(self.field, 0, -1))[..., None]  # (5, ..., 5, rows, points)
        waiting = [(start, np.zeros((0, 1), dtype=np.int64))]
        while waiting:
            batch, places = waiting.pop()
            level, left = len(places), axes - len(places) - 1
            angles = 2 * math.pi * np.arange(grids[level]) / grids[level]
            table = _functions(angles) * np.repeat(_multipliers(grids[level]), (1, 2, 2))
            taken = table @ batch.reshape(POINTS, -1)
            taken = np.moveaxis(taken.reshape(grids[level], *batch.shape[1:]), 0, -1)
            taken = taken.reshape(*batch.shape[1:-1], -1)  # a point, then an angle
            self.done += 3 * taken.size
            work(3 * taken.size)
            within = np.vstack(
                (np.repeat(places, grids[level], axis=1), np.tile(np.arange(grids[level]), places.shape[1]))
            )
            centre = taken[(0,) * left]
            spread = (
                np.sqrt(_by_degree(taken * taken, left)).sum(axis=tuple(range(left))) - np.abs(centre) if left else None
            )
            bounds = self.motions.bounds(centre, spread)
            self.done += centre.size * len(self.motions.corners)
            open_ = np.flatnonzero(~(bounds <= room))
            open_ = open_[np.argsort(bounds[open_])]
            if not len(open_):
                continue
            if not left:
                occurs = self.motions.values(centre[:, open_])
                closer = occurs if occurs.max() > room else self.motions.closer_bounds(centre[:, open_], room)
                worst = int(closer.argmax())
                if not closer[worst] <= room:
                    return [2 * math.pi * int(k) / n for k, n in zip(within[:, open_[worst]], grids, strict=True)]
                continue
            if self.done > MAX_NUMBERS:
                return [2 * math.pi * int(k) / grids[j] for j, k in enumerate(within[:, open_[-1]])] + [0.0] * left
            count = max(1, AT_ONCE // (rows * POINTS ** (left - 1) * grids[level + 1]))
            for first in range(0, len(open_), count):  # those of the largest bounds are taken up first
                some = open_[first : first + count]
                waiting.append((np.ascontiguousarray(taken[..., some]), within[:, some]))
        return None


class _Motions:
    """Products of at most two motions over their ranges."""

    def __init__(self, monomials: list[Monomial], box: Box) -> None:
        self.monomials, self.box = monomials, box
        self.spans = np.array([box.span(monomial) for monomial in monomials])
        self.sizes = np.abs(self.spans).max(axis=1)
        self.joined = sorted({number for monomial in monomials if len(monomial) == 2 for number in monomial})
        self.mixed = [m for m, monomial in enumerate(monomials) if set(monomial) & set(self.joined)]
        self.alone = [m for m in range(len(monomials)) if m not in self.mixed]
        self.squares = [m for m in self.mixed if len(monomials[m]) == 2 and monomials[m][0] == monomials[m][1]]
        ends = [box.ends[number] for number in self.joined]
        at = {number: k for k, number in enumerate(self.joined)}
        corners = [*product(*ends)]
        self.corners = np.array(
            [[math.prod(corner[at[number]] for number in monomials[m]) for m in self.mixed] for corner in corners]
        ).reshape(len(corners), len(self.mixed))

    def bounds(self, centre: Floats, spread: Floats | None = None) -> Floats:
        """Bound a field at points, (rows, points), whose coefficients may differ by a spread.

        Of the motions in products, corners are enough if each square opens upward; those that do not count as 0 there.
        """
        spans = self.spans[self.alone]
        found: Floats = np.maximum(centre[self.alone] * spans[:, :1], centre[self.alone] * spans[:, 1:]).sum(axis=0)
        if spread is not None:
            found = found + self.sizes @ spread
        if self.mixed:
            upward = centre.copy()
            for m in self.squares:
                upward[m] = np.maximum(centre[m], 0.0)
                found = found + np.minimum(centre[m], 0.0) * self.spans[m, 0]
            found = found + (self.corners @ upward[self.mixed]).max(axis=0)
        return found

    def values(self, values: Floats) -> Floats:
        """Return large values of a field at points, (rows, points): at corners."""
        spans = self.spans[self.alone]
        found: Floats = np.maximum(values[self.alone] * spans[:, :1], values[self.alone] * spans[:, 1:]).sum(axis=0)
        return found + (self.corners @ values[self.mixed]).max(axis=0) if self.mixed else found

    def closer_bounds(self, values: Floats, room: float) -> Floats:
        """Bound a field at points, (rows, points), with the squares that open downward; no closer than the room.

        First with the peak of the one that bends most, then over smaller and smaller boxes.
        """
        found = self.bounds(values)
        if not self.squares:
            return found
        bends = values[self.squares]
        for which, m in enumerate(self.squares):
            here = np.flatnonzero((bends.argmin(axis=0) == which) & (bends[which] < 0.0) & (found > room))
            for first in range(0, len(here), 4096):
                some = here[first : first + 4096]
                found[some] = np.minimum(found[some], self._with_peak(values[:, some], self.monomials[m][0]))
        left = np.flatnonzero(found > room)
        for first in range(0, len(left), 64):
            some = left[first : first + 64]
            ranges = by_bernstein(dict(zip(self.monomials, values[:, some], strict=True)), self.box, -math.inf, room)
            if ranges is not None:
                found[some] = np.minimum(found[some], ranges[1])
            if found[some].max() > room:
                break
        return found

    def _with_peak(self, values: Floats, motion: int) -> Floats:
        """Bound a field at points where the square of a motion opens downward: at its peak, all others at corners."""
        low, high = self.box.ends[motion]
        end, upper = (high, 1) if abs(high) >= abs(low) else (low, 0)
        spans = self.spans[self.alone]
        total: Floats = np.maximum(values[self.alone] * spans[:, :1], values[self.alone] * spans[:, 1:]).sum(axis=0)
        power = [self.monomials[m].count(motion) for m in self.mixed]
        at = self.joined.index(motion)
        half = self.corners.reshape(*(2,) * len(self.joined), -1).take(upper, axis=at).reshape(-1, len(self.mixed))
        upward = values.copy()
        for m in self.squares:
            if motion not in self.monomials[m]:
                upward[m] = np.maximum(values[m], 0.0)
                total = total + np.minimum(values[m], 0.0) * self.spans[m, 0]
        rows = [[k for k, own in enumerate(power) if own == count] for count in range(3)]
        rest, slope = (
            half[:, own] / end**count @ upward[[self.mixed[k] for k in own]] for count, own in enumerate(rows[:2])
        )
        (square,) = upward[[self.mixed[k] for k in rows[2]]]
        peak = np.clip(-slope / (2.0 * square), low, high)
        found: Floats = total + (rest + peak * (slope + peak * square)).max(axis=0)
        return found

    def best(self, values: Floats) -> Floats:
        """Return what coefficients are multiplied with where a field is large: at a corner."""
        weights = np.where(values * self.spans[:, 0] > values * self.spans[:, 1], self.spans[:, 0], self.spans[:, 1])
        if self.mixed:
            weights[self.mixed] = self.corners[int((self.corners @ values[self.mixed]).argmax())]
        return weights


def _trimmed(waves: Any, faint: float) -> tuple[Any, float]:
    """Return the waves up to the second degree, without axes that hardly count, and how much was left out."""
    left = 0.0
    for axis, count in enumerate(waves.shape):
        steady = np.take(waves, [0], axis)
        kept = steady if float(np.abs(waves).sum() - np.abs(steady).sum()) <= faint else waves
        if kept is waves and count > POINTS:
            kept = np.take(waves, [0, 1, 2, -2, -1], axis)
        left += max(0.0, float(np.abs(waves).sum() - np.abs(kept).sum()))
        waves = kept
    return waves, left


def _real(waves: Sequence[Any]) -> Floats:
    """Return what 1, cos, sin, cos 2, sin 2 of each position that matters are multiplied with, (rows, 5, ..., 5)."""
    rank = max(each.ndim for each in waves)
    every = [each if each.ndim else each.reshape((1,) * rank) for each in waves]
    used = [axis for axis in range(rank) if any(each.shape[axis] > 1 for each in every)]
    found = np.zeros((len(waves), *(POINTS,) * max(1, len(used))))
    for row, each in enumerate(every):
        values = each
        for axis in used:
            count = each.shape[axis]
            turned = np.zeros((POINTS, count), dtype=np.complex128)
            for k, f in enumerate((np.arange(count) + count // 2) % count - count // 2):
                if f:
                    turned[2 * abs(f) - 1, k], turned[2 * abs(f), k] = 1.0, 1j if f > 0 else -1j
                else:
                    turned[0, k] = 1.0
            values = np.moveaxis(np.tensordot(turned, values, axes=(1, axis)), 0, axis)
        found[row] = np.broadcast_to(values.real.reshape([POINTS] * len(used) or [1]), found.shape[1:])
        if not used:
            found[row, 1:] = 0.0
    return found


def _functions(angles: Floats) -> Floats:
    """Return 1, cos, sin, cos 2, sin 2 of some angles, (N, 5)."""
    return np.stack((np.ones_like(angles), *(each(f * angles) for f in (1, 2) for each in (np.cos, np.sin))), axis=1)


@cache
def _multipliers(points: int) -> tuple[float, float, float]:
    """Return 1/K̂ of the degrees 0, 1 and 2 for so many angles."""
    a = [math.sin((k + 1) * math.pi / (points - 1)) for k in range(points - 2)]
    one, first, second = (math.fsum(map(math.prod, zip(a, a[degree:], strict=False))) for degree in range(3))
    return 1.0, one / first, one / second


def _by_degree(values: Floats, axes: int | None = None) -> Floats:
    """Return sums over functions of the same degrees along the first axes, of which there are five each."""
    for axis in range(values.ndim if axes is None else axes):
        parts = np.moveaxis(values, axis, 0)
        values = np.moveaxis(np.stack((parts[0], parts[1] + parts[2], parts[3] + parts[4])), 0, axis)
    return values


def _scaled(amplitudes: Floats, scales: Sequence[tuple[float, float, float]]) -> float:
    """Return the sum of amplitudes by degree, each times its multipliers."""
    for scale in reversed(scales):
        amplitudes = amplitudes @ np.array(scale)
    return float(amplitudes)


def _enough(at: list[int], large: list[tuple[Floats, float]]) -> list[int]:
    """Return sizes of a grid that keep large values below their goals, each as small as may be."""

    def beyond(sizes: list[int]) -> float:
        scales = [_multipliers(SIZES[k]) for k in sizes]
        return max(_scaled(amplitudes, scales) - goal for amplitudes, goal in large)

    at, now = list(at), beyond(at)
    while now > 0:
        gains = []
        for axis, k in enumerate(at):
            if k + 1 < len(SIZES):
                sizes = [*at[:axis], k + 1, *at[axis + 1 :]]
                rest = beyond(sizes)
                gains.append(((now - rest) / math.log(SIZES[k + 1] / SIZES[k]), rest, sizes))
        gain, rest, sizes = max(gains, default=(0.0, now, at))
        if gain <= 0:
            break
        at, now = sizes, rest
    return at

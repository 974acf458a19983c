"""Whether a field stays below a limit, by boxes of positions: for torques, whose grids would have to be too fine.

A field is a sum of waves a·e^(i·f·θ) times products of at most two motions. In a box of positions with centre c and
half widths r, a wave whose phase moves by at most ρ = |f|·r is within |a|·ρ²/2 of its value and slopes at c. What is
left is linear in the positions, so that it is largest at a corner of the box, whatever the motions are. At a corner it
is a polynomial of the second degree in the motions: one that stands alone is at an end of its range; of the others,
corners of their box are enough if every square opens upward. A square that opens downward is below its tangent; the one
that loses most by that has its peak looked at instead. Boxes that are not below the limit are halved.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from .balls import Floats
from .spans import Box, Monomial

MOST_BOXES = 2_000_000
AT_ONCE = 256
WEAK = 5e-4
"""Relative to the limit: waves that add up to no more are counted by their amplitudes."""
FAINT = 1e-9
"""Relative to the limit: a single wave that is not looked at, but counted."""
LOST = 1e-11
"""Relative to all amplitudes: more than the float operations here lose."""


@dataclass(frozen=True)
class _Sum:
    """A sum of waves, (M, P) complex amplitudes of M products of motions, and (P, d) frequencies.

    `left` is what is not in it; `weights` (M,) are the largest magnitudes of the products.
    """

    monomials: list[Monomial]
    amplitudes: Any
    frequencies: Floats
    weights: Floats
    left: float

    @cached_property
    def sizes(self) -> Floats:
        """How large each wave can be, (P,)."""
        found: Floats = self.weights @ np.abs(self.amplitudes)
        return found

    @cached_property
    def expanded(self) -> Floats:
        """What cosines and sines of all phases are multiplied with, (2P, (1 + d)·M): values, and slopes along axes."""
        slopes = [1j * self.frequencies[:, k, None] * self.amplitudes.T for k in range(self.frequencies.shape[1])]
        every = np.hstack([self.amplitudes.T, *slopes])
        found: Floats = np.vstack((every.real, -every.imag))
        return found


def stays_below(waves: Mapping[Monomial, tuple[Any, float]], box: Box, limit: float) -> bool:
    """Whether a field, its waves and how far these are off given, is shown to be nowhere above a limit."""
    whole = None if any(len(monomial) > 2 for monomial in waves) else _sum(waves, box, limit)
    if whole is None:
        return False
    joined = sorted({number for monomial in whole.monomials if len(monomial) == 2 for number in monomial})
    axes = whole.frequencies.shape[1]
    if not axes and not joined:  # nothing varies but motions that stand alone: amplitudes are exact
        return False
    ends = np.array([box.ends[number] for number in joined]).reshape(-1, 2)
    first = np.concatenate((np.zeros(axes), ends[:, 0])), np.concatenate((np.full(axes, 2 * math.pi), ends[:, 1]))
    waiting = [(first[0][None], first[1][None])]
    room = limit - whole.left - LOST * float(whole.sizes.sum())
    looked = 0
    while waiting:
        low, high = waiting.pop()
        if len(low) > AT_ONCE:
            waiting.append((low[AT_ONCE:], high[AT_ONCE:]))
            low, high = low[:AT_ONCE], high[:AT_ONCE]
        looked += len(low)
        bound, value, split = _bounds(whole, box, joined, low, high)
        open_ = bound > room
        if looked > MOST_BOXES or np.any(value > limit + whole.left):
            return False
        if open_.any():
            low, high, split = low[open_], high[open_], split[open_]
            every = np.arange(len(low))
            middle = (low[every, split] + high[every, split]) / 2
            lower, upper = high.copy(), low.copy()
            lower[every, split] = upper[every, split] = middle
            waiting.append((np.concatenate((low, upper)), np.concatenate((lower, high))))
    return True


def _sum(waves: Mapping[Monomial, tuple[Any, float]], box: Box, limit: float) -> _Sum | None:
    """Return the waves in one list, each with that of the opposite frequency, weak ones left out."""
    monomials = list(waves)
    weights = np.array([max(map(abs, box.span(monomial))) for monomial in monomials])
    shape = np.broadcast_shapes(*(each.shape for each, _ in waves.values()))
    rows: dict[tuple[int, ...], Any] = {}
    left = sum(off * weight for (_, off), weight in zip(waves.values(), weights, strict=True))
    for m, (each, _) in enumerate(waves.values()):
        counts = np.abs(each) * weights[m] > FAINT * abs(limit)
        left += 2 * float(np.abs(each[~counts]).sum()) * weights[m]  # each with its opposite, wherever that is
        for place in np.argwhere(counts):
            sizes = each.shape if each.ndim else ()
            frequency = tuple(int((k + n // 2) % n - n // 2) for k, n in zip(place, sizes, strict=True))
            frequency = frequency or (0,) * len(shape)
            leading = next((k for k in frequency if k), 0)
            if leading < 0:
                continue  # its opposite stands for both
            row = rows.setdefault(frequency, np.zeros(len(monomials), dtype=np.complex128))
            row[m] += each[tuple(place)] * (2 if leading else 1)
    if not rows:
        return None
    frequencies, amplitudes = (
        np.array(list(rows), dtype=np.float64).reshape(len(rows), -1),
        np.array([*rows.values()]).T,
    )
    sizes = weights @ np.abs(amplitudes)
    order = np.argsort(sizes)
    weak = order[np.cumsum(sizes[order]) <= WEAK * abs(limit)]
    kept = np.setdiff1d(np.arange(len(sizes)), weak)
    used = np.flatnonzero(np.abs(frequencies[kept]).any(axis=0))
    left += float(sizes[weak].sum())
    return _Sum(monomials, amplitudes[:, kept], frequencies[kept][:, used], weights, left * (1 + 1e-12))


def _bounds(whole: _Sum, box: Box, joined: list[int], low: Floats, high: Floats) -> tuple[Floats, Floats, Any]:
    """Return bounds of boxes (N, d + motions), values at their middles, and which side of each to halve."""
    axes = whole.frequencies.shape[1]
    centre, radius = (low + high)[:, :axes] / 2, (high - low)[:, :axes] / 2
    phases = centre @ whole.frequencies.T
    every = (np.hstack((np.cos(phases), np.sin(phases))) @ whole.expanded).reshape(len(low), 1 + axes, -1)
    values, slopes = every[:, 0], every[:, 1:] * radius[:, :, None]
    reach = radius @ np.abs(whole.frequencies).T
    sizes = whole.sizes
    curved = np.minimum(reach * reach / 2, 2 + reach) @ sizes
    signs = np.array([*product((-1.0, 1.0), repeat=axes)]).reshape(1 << axes, axes)
    corners = values[:, None, :] + signs @ slopes
    motions = low[:, axes:], high[:, axes:]
    lost = _losses(whole, joined, values[:, None, :], *motions)[:, 0]
    most, _ = _over_motions(whole, box, joined, corners, lost, *motions)
    _, value = _over_motions(whole, box, joined, values[:, None, :], lost, *motions)
    share = np.concatenate((((reach * sizes) @ np.abs(whole.frequencies)) * radius, lost), axis=1)
    if lost.shape[1]:  # the one that loses most has its peak
        share[np.arange(len(low)), axes + lost.argmax(axis=1)] = 0.0
    return most.max(axis=1) + curved, value.max(axis=1), share.argmax(axis=1)


def _losses(whole: _Sum, joined: list[int], coefficients: Floats, low: Floats, high: Floats) -> Floats:
    """Return what tangents of squares that open downward lose, for coefficients (N, C, M): (N, C, motions)."""
    found = np.zeros((*coefficients.shape[:2], len(joined)))
    for k, number in enumerate(joined):
        if (number, number) in whole.monomials:
            square = coefficients[:, :, whole.monomials.index((number, number))]
            found[:, :, k] = np.maximum(0.0, -square) * ((high - low)[:, None, k] / 2) ** 2
    return found


def _over_motions(
    whole: _Sum, box: Box, joined: list[int], coefficients: Floats, lost: Floats, low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """Return bounds over all motions and values that occur, (N, C), for coefficients (N, C, M)."""
    total = np.zeros(coefficients.shape[:2])
    for m, monomial in enumerate(whole.monomials):
        if not joined or not set(joined).intersection(monomial):
            first, last = box.span(monomial)
            total += np.maximum(coefficients[:, :, m] * first, coefficients[:, :, m] * last)
    if not joined:
        return total, total
    peaks = lost.argmax(axis=1)
    bound, value = total.copy(), total.copy()
    losses = _losses(whole, joined, coefficients, low, high)
    for peak in np.unique(peaks):
        here = np.flatnonzero(peaks == peak)
        others = [k for k in range(len(joined)) if k != peak]
        sides = np.array([*product((0, 1), repeat=len(others))], dtype=np.int64).reshape(1 << len(others), len(others))
        ends = np.stack((low[here], high[here]), axis=-1)
        corner = {joined[k]: ends[:, k, sides[:, i]] for i, k in enumerate(others)}  # (n, S) each
        one = np.ones((len(here), len(sides)))
        parts: list[list[Any]] = [[], [], []]
        places: list[list[int]] = [[], [], []]
        for m, monomial in enumerate(whole.monomials):
            if set(joined).intersection(monomial):
                power = monomial.count(joined[peak])
                factor = one
                for number in monomial:
                    factor = factor * corner[number] if number != joined[peak] else factor
                parts[power].append(factor)
                places[power].append(m)
        rest, slope, square = (
            coefficients[here][:, :, own] @ np.stack(each, axis=1)
            if own
            else np.zeros((len(here), coefficients.shape[1], len(sides)))
            for own, each in zip(places, parts, strict=True)
        )
        ends_ = low[here, peak][:, None, None], high[here, peak][:, None, None]
        best = np.maximum(*(x * (square * x + slope) for x in ends_))
        with np.errstate(divide="ignore", invalid="ignore"):
            at = np.where(square < 0, np.clip(-slope / (2 * square), *ends_), ends_[0])
        best = rest + np.maximum(best, at * (square * at + slope))
        value[here] += best.max(axis=2)
        bound[here] += best.max(axis=2) + losses[here][:, :, others].sum(axis=2)
    return bound, value

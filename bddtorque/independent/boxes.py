"""Proofs that a field stays below a limit, by boxes of positions: for torques, whose grids would be too fine.

A field is a sum of waves a·e^(i·f·θ), with |f| ≤ 2 along each axis, times products of at most two motions. On an arc of
half width r around c, θ = c + t, put x = sin((r − t)/2) and y = sin((r + t)/2), neither of which is negative there.
Then 1, cos t and sin t, times sin² r, are x² + 2·cos r·xy + y², cos r·(x² + y²) + 2xy and sin r·(y² − x²), so that a
sum of waves is a form of the fourth degree in x and y. Its coefficients over those of 1 are five control points, and
the sum is a mean of them. Axis by axis, in a box of positions a field is a mean of 5^d fields in which no position is
left; it is below a limit if all of these are. Each is a polynomial of the second degree in the motions: one that stands
alone is at an end of its range; of the others, corners of their box are enough if every square opens upward. A square
that opens downward is below its tangent; the one that loses most by that has its peak looked at instead. Boxes, of
positions and of motions, that are not below the limit are halved.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from .enclosures import Floats
from .findings import work
from .ranges import Box, Monomial

MAX_BOXES = 200_000
WIDEST = math.pi / 4
"""Half of the arcs that are looked at first."""
FAINT = 1e-7
"""Relative to the limit: waves that depend on a position and are together no more are counted by their amplitudes."""
LOST = 1e-10
"""Relative to all amplitudes: more than the float operations here lose."""
POINTS = 5


@dataclass(frozen=True)
class _Part:
    """A box: what is known of the fields in it, and which part of the motions it has.

    `fields` are arrays (rows, 5 or 1, ...) with the numbers of their rows; `widths` are half the arcs of axes that have
    control points, the first ones. The others have cosines and sines. `low` and `high` are ends of motions.
    """

    fields: tuple[tuple[tuple[int, ...], Floats], ...]
    widths: tuple[float, ...]
    low: Floats
    high: Floats


def stays_below(waves: Mapping[Monomial, tuple[Any, float]], box: Box, limit: float) -> bool:
    """Tell if a field is shown to be nowhere above a limit; its waves are given, and how far these are off."""
    monomials = list(waves)
    if not monomials or any(len(monomial) > 2 for monomial in monomials):
        return False
    weights = [max(map(abs, box.span(monomial))) for monomial in monomials]
    off = size = 0.0
    kept = []
    for (own, own_off), weight in zip(waves.values(), weights, strict=True):
        each, left = _trimmed(own, FAINT * abs(limit) / max(weight, 1e-300))
        kept.append(each)
        off += (own_off + left) * weight * (1 + 1e-12)
        size += float(np.abs(each).sum()) * weight
    room = limit - off - LOST * size
    joined = sorted({number for monomial in monomials if len(monomial) == 2 for number in monomial})
    ends = np.array([box.ends[number] for number in joined]).reshape(-1, 2)
    axes = np.broadcast_shapes(*(each.shape for each in kept))
    waiting = [_Part(tuple(_fields(kept, len(axes))), (), ends[:, 0], ends[:, 1])]
    looked = 0
    while waiting:
        part = waiting.pop()
        if len(part.widths) < len(axes):
            waiting += _arcs(part, axes[len(part.widths)] > 1)
            continue
        looked += 1
        if looked > MAX_BOXES:
            return False
        worst, value, split = _bounds(part, monomials, box, joined, room)
        if value > room:  # no box around this point will ever be below
            return False
        if not worst <= room:  # nor where numbers beyond floats leave neither
            if split is None:
                return False
            waiting += _halves(part, split)
    return True


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


def _fields(waves: Sequence[Any], axes: int) -> Iterator[tuple[tuple[int, ...], Floats]]:
    """Yield what 1, cos, sin, cos 2, sin 2 of all positions are multiplied with, rows of one shape at a time."""
    same: dict[tuple[int, ...], list[int]] = {}
    every = [np.asarray(each).reshape(each.shape or (1,) * axes) for each in waves]
    for m, each in enumerate(every):
        same.setdefault(each.shape, []).append(m)
    for shape, rows in same.items():
        field = np.stack([every[m] for m in rows])
        for axis, count in enumerate(shape, 1):
            if count > 1:
                frequencies = (np.arange(count) + count // 2) % count - count // 2
                turned = np.zeros((POINTS, count), dtype=np.complex128)
                for k, f in enumerate(frequencies):
                    if f:
                        turned[2 * abs(f) - 1, k], turned[2 * abs(f), k] = 1.0, 1j if f > 0 else -1j
                    else:
                        turned[0, k] = 1.0
                field = _along(turned, field, axis)
        yield tuple(rows), np.ascontiguousarray(field.real)


def _along(matrix: Any, field: Any, axis: int) -> Any:
    """Return the product of a matrix with one axis of an array."""
    return np.moveaxis(np.tensordot(matrix, field, axes=(1, axis)), 0, axis)


def _arcs(part: _Part, varies: bool) -> Iterator[_Part]:
    """Yield a box cut into arcs along the first axis that has no control points."""
    axis = len(part.widths)
    if not varies:
        yield replace(part, widths=(*part.widths, 0.0))
        return
    one = np.array([1.0, 2 * math.cos(WIDEST), 1.0])
    cosine = np.array([math.cos(WIDEST), 2.0, math.cos(WIDEST)])
    sine = np.array([-math.sin(WIDEST), 0.0, math.sin(WIDEST)])
    products = [(one, one), (cosine, one), (sine, one)]
    forms = [np.convolve(*pair) for pair in products]
    forms += [2 * np.convolve(cosine, cosine) - forms[0], 2 * np.convolve(sine, cosine)]
    points = np.stack([each / forms[0] for each in forms], axis=1)
    for centre in np.arange(WIDEST, 2 * math.pi, 2 * WIDEST):
        turned = np.zeros((POINTS, POINTS))
        turned[0, 0] = 1.0
        for f in (1, 2):
            c, s = math.cos(f * centre), math.sin(f * centre)
            turned[2 * f - 1 : 2 * f + 1, 2 * f - 1 : 2 * f + 1] = (c, s), (-s, c)
        fields = tuple(
            (rows, field if field.shape[1 + axis] == 1 else _along(points @ turned, field, 1 + axis))
            for rows, field in part.fields
        )
        yield replace(part, fields=fields, widths=(*part.widths, WIDEST))


def _halves(part: _Part, split: int) -> Iterator[_Part]:
    """Yield both halves of a box, along a position or along a motion."""
    if split >= len(part.widths):
        k = split - len(part.widths)
        middle = (part.low[k] + part.high[k]) / 2
        lower, upper = part.high.copy(), part.low.copy()
        lower[k] = upper[k] = middle
        yield replace(part, high=lower)
        yield replace(part, low=upper)
        return
    # x = 2·cos(r/2)·x' + y' and y = y' on the lower half: (4 - i choose 4 - k) of a coefficient i goes to the k-th
    one = np.array([1.0, 2 * math.cos(part.widths[split]), 1.0])
    weights = np.convolve(one, one)
    lower = np.array([[math.comb(4 - i, 4 - k) * weights[i] if i <= k else 0.0 for i in range(5)] for k in range(5)])
    lower /= lower.sum(axis=1, keepdims=True)
    widths = tuple(width / 2 if k == split else width for k, width in enumerate(part.widths))
    for matrix in (lower, lower[::-1, ::-1]):
        fields = tuple(
            (rows, field if field.shape[1 + split] == 1 else _along(matrix, field, 1 + split))
            for rows, field in part.fields
        )
        yield replace(part, fields=fields, widths=widths)


def _bounds(
    part: _Part, monomials: list[Monomial], box: Box, joined: list[int], room: float
) -> tuple[float, float, int | None]:
    """Return a bound of a box, a value that occurs, and what to halve; the bound is no closer than the room."""
    axes = len(part.widths)
    shape = np.broadcast_shapes(*(field.shape[1:] for _, field in part.fields))
    every = np.empty((len(monomials), *shape))
    work(every.size)
    for rows, field in part.fields:
        every[list(rows)] = field
    spans = [_span(monomial, joined, part, box) for monomial in monomials]
    rough = np.zeros(shape)
    for own, (least, most) in zip(every, spans, strict=True):
        rough += np.maximum(own * least, own * most)
    places = np.flatnonzero(rough.reshape(-1) > room)
    if not len(places):
        return float(rough.max(initial=-math.inf)), -math.inf, None
    coefficients = every.reshape(len(monomials), -1).T[None, places]
    work(coefficients.size << len(joined))
    motions = part.low[None], part.high[None]
    at = int(rough.reshape(-1)[places].argmax())
    lost = _losses(monomials, joined, coefficients[:, at : at + 1], *motions)[:, 0]
    bound, value = _over_motions(monomials, box, joined, coefficients, lost, *motions)
    worst = int(bound[0].argmax())
    if bound[0, worst] <= room:
        return float(bound[0, worst]), -math.inf, None
    share = _losses(monomials, joined, coefficients[:, worst : worst + 1], *motions)[0, 0]
    if len(joined):
        share[int(lost[0].argmax())] = 0.0  # has its peak
    place = np.unravel_index(places[worst], shape)
    bends = np.zeros(axes)
    for axis in range(axes):
        line = every[(slice(None), *(slice(None) if k == axis else place[k] for k in range(axes)))]
        if line.shape[1] > 2:
            bent = np.abs(np.diff(line, 2, axis=1))
            bends[axis] = float((bent.max(axis=1) * [max(map(abs, span)) for span in spans]).sum())
    corners = np.zeros(shape, dtype=np.bool_)  # whose control points are values of the fields themselves
    corners[np.ix_(*((0, size - 1) for size in shape))] = True
    occurs = float(value[0, corners.reshape(-1)[places]].max(initial=-math.inf))
    every_share = np.concatenate((bends, share))
    split = int(every_share.argmax()) if every_share.max(initial=0.0) > 0.0 else None
    return float(bound[0, worst]), occurs, split


def _span(monomial: Monomial, joined: list[int], part: _Part, box: Box) -> tuple[float, float]:
    """Return the range of a product of motions in a box."""
    own = {number: (float(part.low[k]), float(part.high[k])) for k, number in enumerate(joined)}
    return replace(box, ends={**box.ends, **own}).span(monomial)


def _losses(monomials: list[Monomial], joined: list[int], coefficients: Floats, low: Floats, high: Floats) -> Floats:
    """Return what tangents of squares that open downward lose, for coefficients (N, C, M): (N, C, motions)."""
    found = np.zeros((*coefficients.shape[:2], len(joined)))
    for k, number in enumerate(joined):
        if (number, number) in monomials:
            square = coefficients[:, :, monomials.index((number, number))]
            found[:, :, k] = np.maximum(0.0, -square) * ((high - low)[:, None, k] / 2) ** 2
    return found


def _over_motions(
    monomials: list[Monomial],
    box: Box,
    joined: list[int],
    coefficients: Floats,
    lost: Floats,
    low: Floats,
    high: Floats,
) -> tuple[Floats, Floats]:
    """Return bounds over all motions and values that occur, (N, C), for coefficients (N, C, M)."""
    total = np.zeros(coefficients.shape[:2])
    for m, monomial in enumerate(monomials):
        if not joined or not set(joined).intersection(monomial):
            first, last = box.span(monomial)
            total += np.maximum(coefficients[:, :, m] * first, coefficients[:, :, m] * last)
    if not joined:
        return total, total
    peaks = lost.argmax(axis=1)
    bound, value = total.copy(), total.copy()
    losses = _losses(monomials, joined, coefficients, low, high)
    for peak in np.unique(peaks):
        here = np.flatnonzero(peaks == peak)
        others = [k for k in range(len(joined)) if k != peak]
        sides = np.array([*product((0, 1), repeat=len(others))], dtype=np.int64).reshape(1 << len(others), len(others))
        ends = np.stack((low[here], high[here]), axis=-1)
        corner = {joined[k]: ends[:, k, sides[:, i]] for i, k in enumerate(others)}  # (n, S) each
        one = np.ones((len(here), len(sides)))
        parts: list[list[Any]] = [[], [], []]
        places: list[list[int]] = [[], [], []]
        for m, monomial in enumerate(monomials):
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
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            at = np.where(square < 0, np.clip(-slope / (2 * square), *ends_), ends_[0])
        best = rest + np.maximum(best, at * (square * at + slope))
        value[here] += best.max(axis=2)
        bound[here] += best.max(axis=2) + losses[here][:, :, others].sum(axis=2)
    return bound, value

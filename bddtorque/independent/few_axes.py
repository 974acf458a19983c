"""How far a field can go where no fine grid of all positions is small enough: points of a few, waves of the others.

With some positions held at points of a fine grid, a field is a sum of waves in the other positions, no further from its
mean than all their amplitudes together. That is less than all amplitudes of the field, since waves of one sign here
meet those of another there. Between the points it grows by no more than `peaks` says, position by position.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .effort import work
from .spans import Box, Monomial, Span, by_monomials

Waves = npt.NDArray[Any]

FINE = 12
"""Points along a position, in multiples of the degree: between them a field grows by 3.5 % of what varies."""
MAX_NUMBERS = 12_000_000
"""Points times waves of one monomial."""
DOUBLE = 1e-14
"""Relative to all amplitudes together: what a Fourier transform loses for every halving, and more."""
ADDED = 1e-9
"""Relative: far more than is lost where as many amplitudes are added up."""


def enclosed_on_few_axes(waves: Mapping[Monomial, Waves], off: float, box: Box, wanted: Span) -> Span:
    """Return a range of a sum of waves that is known but for `off`, no closer than `wanted` asks for.

    Positions are held one after another, each time the one that is seen to help most on a coarse grid.
    """
    rank = max(each.ndim for each in waves.values())
    waves = {monomial: each if each.ndim else each.reshape((1,) * rank) for monomial, each in waves.items()}
    counts = np.broadcast_shapes(*(each.shape for each in waves.values()))
    left = [axis for axis, count in enumerate(counts) if count > 1]
    held: list[int] = []
    best = -math.inf, math.inf

    def beyond(axis: int) -> float:
        (low, high), _ = _range(waves, {each: counts[each] for each in (*held, axis)}, box)
        return max(wanted[0] - low, high - wanted[1])

    while left:
        held.append(min(left, key=beyond))
        left.remove(held[-1])
        points = {axis: FINE * (counts[axis] // 2) for axis in held}
        if math.prod(points.values()) * math.prod(counts[axis] for axis in left) > MAX_NUMBERS:
            break
        (low, high), varying = _range(waves, points, box)
        fall = 1 / math.prod(math.cos(math.pi * (counts[axis] // 2) / n) for axis, n in points.items()) - 1
        slack = off + varying * fall * (1 + ADDED)
        best = max(best[0], low - slack), min(best[1], high + slack)
        if wanted[0] <= best[0] and best[1] <= wanted[1]:
            break
    return best


def _range(waves: Mapping[Monomial, Waves], points: Mapping[int, int], box: Box) -> tuple[Span, float]:
    """Return the range with some positions at points and the others anywhere, and what varies there at most."""
    means: dict[Monomial, Any] = {}
    varying: dict[Monomial, Any] = {}
    reach, amplitudes = np.zeros(()), 0.0
    for monomial, own in waves.items():
        most = max(map(abs, box.span(monomial)))
        amplitudes += float(np.abs(own).sum()) * most
        each = own
        for axis, n in points.items():
            each = along(each, axis, n)
        work(each.size)
        others = tuple(axis for axis in range(each.ndim) if axis not in points)
        first = tuple(slice(None) if axis in points else slice(1) for axis in range(each.ndim))
        means[monomial] = each[first].real
        varying[monomial] = means[monomial] - float(own.reshape(-1)[0].real)
        size = np.abs(each)
        size[first] = 0.0
        reach = reach + size.sum(axis=others, keepdims=True) * (most * (1 + ADDED))
    reach = reach + amplitudes * DOUBLE * (4 + math.log2(math.prod(points.values())))
    low, high = by_monomials(means, box)
    below, above = by_monomials(varying, box)
    apart = max(float(np.max(reach - below)), float(np.max(above + reach)))
    return (float(np.min(low - reach)), float(np.max(high + reach))), apart


def along(waves: Waves, axis: int, points: int) -> Waves:
    """Return a sum of waves at points along an axis, still as waves along the others."""
    count = waves.shape[axis] if waves.ndim else 1
    if count == 1:
        return waves
    degree = count // 2
    front = np.moveaxis(waves, axis, -1)
    padded = np.zeros((*front.shape[:-1], points), dtype=waves.dtype)
    padded[..., : degree + 1] = front[..., : degree + 1]
    padded[..., -degree:] = front[..., -degree:]
    return np.moveaxis(np.fft.ifft(padded, axis=-1) * points, -1, axis)

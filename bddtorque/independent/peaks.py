"""How large a field can be anywhere: by its amplitudes, and more closely by a fine grid.

Amplitudes of many waves, added up, can be several times what the waves ever reach together. On a fine grid of N points
an axis, of degree d: where a trigonometric polynomial is largest it falls off no faster than cos(d·x) (M. Riesz), and a
point of the grid is no further than π/N. So the largest value is at most that on the grid over cos(πd/N), axis by axis.
Which motions are worst may differ from point to point: for each choice of signs the sum of the terms is such a
polynomial, and the largest of all choices is the sum of their magnitudes. What does not depend on the positions at all
is set apart first, and counted as it is.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from .fields import Field

Waves = npt.NDArray[np.complex64]

FINER = (4, 5, 6, 8, 12, 16, 24)
"""Points of the fine grid along an axis, in multiples of the degree: each is tried until one is enough."""
MOST_POINTS = 40_000_000
TAIL = 0.02
"""Of what is left of the limit: waves of the highest degrees that add up to no more are counted by their amplitudes."""
SINGLE = 1e-5
"""Relative to all amplitudes together: far more than single precision loses on the fine grid."""


def largest(field: Field, limit: float) -> float:
    """Return a bound on the magnitude of a field for all positions and motions; no closer than `limit` asks for."""
    best = field.amplitude()
    if best <= limit or not field.terms:
        return best
    steady, off, waves = _apart(field)
    if not waves:
        return best
    waves, left_out = _shortened(waves, TAIL * max(0.0, limit - steady - off))
    off += left_out
    shape = np.broadcast_shapes(*(each.shape for each in waves))
    amplitudes = sum(float(np.abs(each).sum()) for each in waves)
    for factor in FINER:
        points = [factor * (count // 2) if count > 1 else 1 for count in shape]
        if math.prod(points) > MOST_POINTS:
            break
        room = math.prod(math.cos(math.pi * (count // 2) / n) for count, n in zip(shape, points, strict=True))
        found = steady + (_peak(waves, points) + SINGLE * amplitudes) / room + off
        best = min(best, found * (1 + 1e-9))
        if best <= limit:
            break
    return best


def _apart(field: Field) -> tuple[float, float, list[Waves]]:
    """Return the magnitude of all means, what the values may be off, and the amplitudes of all that varies."""
    steady, off, waves = 0.0, 0.0, []
    for each in field.terms.values():
        shape = np.broadcast_shapes(np.shape(each.value), np.shape(each.radius))
        value, radius = np.broadcast_to(each.value, shape), np.broadcast_to(each.radius, shape)
        off += float(np.sqrt(np.sum(radius * radius)))
        off += 1e-15 * (2 + math.log2(value.size)) * float(np.sqrt(np.sum(value * value)))
        found = np.fft.fftn(value) / value.size
        steady += abs(float(found.reshape(-1)[0].real))
        if value.size > 1:
            found.reshape(-1)[0] = 0.0
            waves.append(found.astype(np.complex64))
    return steady, off, waves


def _shortened(waves: list[Waves], allowed: float) -> tuple[list[Waves], float]:
    """Return the waves without those of the highest degrees, as far as these are weak, and what was left out."""
    left_out = 0.0
    for axis in range(waves[0].ndim):
        while (count := max(each.shape[axis] for each in waves)) > 1:
            degree = count // 2
            ends = (degree, degree + 1)  # the places of the frequencies degree and −degree
            weight = sum(float(np.abs(np.take(each, ends, axis)).sum()) for each in waves if each.shape[axis] == count)
            if left_out + weight > allowed:
                break
            left_out += weight
            waves = [np.delete(each, ends, axis) if each.shape[axis] == count else each for each in waves]
    return waves, left_out * (1 + 1e-6)


def _peak(waves: list[Waves], points: list[int]) -> float:
    """Return the largest sum of magnitudes on the fine grid; it is worked through in slices of its first long axis."""
    axis = next((k for k, n in enumerate(points) if n > 1), 0)
    everywhere: Any = np.float32(0.0)
    sliced = []
    for each in waves:
        if each.shape[axis] > 1:
            sliced.append(each)
        else:
            everywhere = everywhere + _magnitude(each, points, axis)
    peak = 0.0
    for k in range(points[axis]):
        total = everywhere
        for each in sliced:
            count = each.shape[axis]
            frequencies = (np.arange(count) + count // 2) % count - count // 2
            turned = np.exp(2j * np.pi * k / points[axis] * frequencies).astype(np.complex64)
            here = np.tensordot(turned, each, axes=(0, axis))
            total = total + _magnitude(np.expand_dims(here, axis), points, axis)
        peak = max(peak, float(np.max(total)))
    return peak


def _magnitude(waves: Any, points: list[int], done: int) -> npt.NDArray[np.float32]:
    """Return the magnitude of a sum of waves on the fine grid, along all axes but the one that is done."""
    for axis, n in enumerate(points):
        count = waves.shape[axis]
        if axis == done or count == 1:
            continue
        degree = count // 2
        front = np.moveaxis(waves, axis, -1)
        padded = np.zeros((*front.shape[:-1], n), dtype=np.complex64)
        padded[..., : degree + 1] = front[..., : degree + 1]
        padded[..., -degree:] = front[..., -degree:]
        waves = np.moveaxis(np.fft.ifft(padded, axis=-1) * np.float32(n), -1, axis)
    found: npt.NDArray[np.float32] = np.abs(waves.real).astype(np.float32)
    return found

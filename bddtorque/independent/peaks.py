"""Ranges of fields, for all positions and motions: by their amplitudes, and more closely by a fine grid.

Each coefficient is a sum of waves; no sum of waves is further from its mean than all their amplitudes together. That
can be several times what the waves ever reach. On a fine grid of N points an axis, of degree d: where a trigonometric
polynomial within ±r is largest it falls off no faster than r·cos(d·x) (M. Riesz), and a point of the grid is no further
than π/N. So no value is beyond those on the grid by more than r·(1/cos(πd/N) − 1), axis by axis, r being what varies on
the grid. For each choice of motions a field is such a polynomial; `ranges` knows the worst choice at every point.

Where no fine grid of all positions is small enough, some positions are held at points of one: there a field is a sum of
waves in the other positions, no further from its mean than all their amplitudes together. That is less than all
amplitudes of the field, since waves of one sign here meet those of another there.

A position that slides goes from its lowest to its highest word as t = cos θ does, so that a field of degree d in it is
Σ a_k·cos kθ = Σ a_k·T_k(t), k from 0 to d, with Chebyshev's polynomials T_k. What varies along a grid of θ can then be
bounded as a product of motions is, t being one more of them: exact where the position occurs to the first power.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .enclosures import Ball, sine_and_cosine
from .fields import Field
from .findings import work
from .grids import stays_below
from .ranges import Box, Monomial, Span, add_term, by_bernstein, by_monomials, moved

Waves = npt.NDArray[Any]

FINER = (4, 6, 8, 12, 16, 24, 48, 96, 192, 384)
"""Points of the fine grid along an axis, in multiples of the degree: each is tried until one is enough."""
MAX_POINTS = 40_000_000
AT_ONCE = 2_000_000
"""Points of a fine grid that are kept in double precision, and for all monomials together."""
SINGLE = 1e-5
"""Relative to all amplitudes together: far more than single precision loses on the fine grid."""
DOUBLE = 1e-14
"""Relative to all amplitudes together: what a Fourier transform loses for every halving, and more."""
FINE = 12
"""Points along a position, in multiples of the degree: between them a field grows by 3.5 % of what varies."""
MAX_ON_FEW_AXES = 12_000_000
"""Points times waves of one monomial."""
ADDED = 1e-9
"""Relative: far more than is lost where as many amplitudes are added up."""


def noise(field: Field, box: Box) -> float:
    """Return how much of what is known of a field is nothing but the rounding of floats."""
    return sum(_waves(ball)[1] * max(map(abs, box.span(monomial))) for monomial, ball in field.terms.items())


def enclosed(field: Field, box: Box, wanted: Span) -> Span:
    """Return a range of a field for all positions and motions; no closer than `wanted` asks for."""
    if not field.terms:
        return 0.0, 0.0
    ways = _ways(field, box)
    best = -math.inf, math.inf
    for terms, about in ways:
        best = common(best, _by_amplitudes(terms, about))
        if within(best, wanted):
            return best
    if box.sliders:
        ways.insert(0, (as_motions(field.terms, box.sliders), box))
    for terms, about in ways:
        best = common(best, _by_grids(terms, about, wanted))
        if within(best, wanted):
            break
    return best


def enclosed_by_boxes(field: Field, box: Box, wanted: Span) -> Span:
    """Return a range as `enclosed` does: by amplitudes, and by boxes where these are too coarse."""
    if not field.terms:
        return 0.0, 0.0
    low, high = _by_amplitudes(field.terms, box)
    for terms, about in _ways(field, box):
        low, high = common((low, high), _by_amplitudes(terms, about))
    waves = {monomial: _waves(ball) for monomial, ball in field.terms.items()}
    if high > wanted[1] and stays_below(waves, box, wanted[1]):
        high = wanted[1]
    if low < wanted[0]:
        opposite = {monomial: (-each, off) for monomial, (each, off) in waves.items()}
        low = wanted[0] if stays_below(opposite, box, -wanted[0]) else low
    return low, high


def _ways(field: Field, box: Box) -> list[tuple[Mapping[Monomial, Ball], Box]]:
    """Return a field about the zero of the words, and about that of the values they stand for."""
    seen = box.about_zeros()
    ways: list[tuple[Mapping[Monomial, Ball], Box]] = [(field.terms, box)]
    return ways if seen is None else [*ways, (moved(field.terms, seen[0], Ball), seen[1])]


def within(found: Span, wanted: Span) -> bool:
    """Tell if a range is as close as it was hoped to be."""
    return wanted[0] <= found[0] and found[1] <= wanted[1]


def common(first: Span, second: Span) -> Span:
    """Return what two ranges have in common."""
    return max(first[0], second[0]), min(first[1], second[1])


def _waves(ball: Ball) -> tuple[Waves, float]:
    """Return the amplitudes of all waves, and by how much at most the sum of them is off anywhere.

    The values on the grid may be off by r at each of N points. That moves the amplitudes together by at most √(Σ r²):
    the transform keeps sums of squares, and N numbers add up to at most √N times the root of theirs. It moves the sum
    of the waves by no more than the largest r times Lebesgue's constants of all axes. The transform itself loses a few
    units in the last place of each value, for every halving.
    """
    shape = np.broadcast_shapes(np.shape(ball.value), np.shape(ball.radius))
    value, radius = np.broadcast_to(ball.value, shape), np.broadcast_to(ball.radius, shape)
    together = float(np.sqrt(np.sum(radius * radius)))
    off = min(together, float(np.max(radius)) * math.prod(map(_lebesgue, shape))) * (1 + 1e-12)
    if value.size > 1:
        off += 1e-15 * (2 + math.log2(value.size)) * float(np.sqrt(np.sum(value * value)))
    return np.fft.fftn(value) / value.size if value.size > 1 else np.asarray(value, dtype=np.complex128), off


@cache
def _lebesgue(points: int) -> float:
    """Return how much larger than its values at an odd number of equidistant points a sum of waves can be."""
    return math.fsum(1 / math.sin((2 * k + 1) * math.pi / (2 * points)) for k in range(points)) / points * (1 + 1e-12)


def _by_amplitudes(terms: Mapping[Monomial, Ball], box: Box) -> Span:
    means: dict[Monomial, Any] = {}
    reach = 0.0
    for monomial, ball in terms.items():
        waves, off = _waves(ball)
        means[monomial] = np.float64(waves.reshape(-1)[0].real)
        varying = float(np.abs(waves.reshape(-1)[1:]).sum()) * (1 + 1e-12) + off
        reach += varying * max(map(abs, box.span(monomial))) * (1 + 1e-14)
    low, high = by_monomials(means, box)
    return float(low) - reach * (1 + 1e-12), float(high) + reach * (1 + 1e-12)


def _by_grids(terms: Mapping[Monomial, Ball], box: Box, wanted: Span) -> Span:
    """Return a range by points of a few positions where those of all are too many, then by finer and finer grids."""
    waves: dict[Monomial, Waves] = {}
    off = 0.0
    for monomial, ball in terms.items():
        waves[monomial], own = _waves(ball)
        off += own * max(map(abs, box.span(monomial)))
    best = -math.inf, math.inf
    if math.prod(_points(waves, FINER[0])) * len(waves) > AT_ONCE:
        best = enclosed_on_few_axes(waves, off, box, wanted)
    if not within(best, wanted):
        best = common(best, _by_waves(waves, off, box, wanted))
    if not within(best, wanted):  # by so little that only a grid of very many points along few positions tells
        best = common(best, enclosed_on_few_axes(waves, off, box, wanted, FINER[3:]))
    return best


def _by_waves(waves: dict[Monomial, Waves], off: float, box: Box, wanted: Span) -> Span:
    """Return a range of a sum of waves that is known but for `off`."""
    shape = np.broadcast_shapes(*(each.shape for each in waves.values()))
    best = -math.inf, math.inf
    for factor in FINER:
        points = _points(waves, factor)
        if math.prod(points) > MAX_POINTS:
            break
        fall = 1 / math.prod(math.cos(math.pi * (count // 2) / n) for count, n in zip(shape, points, strict=True)) - 1
        (low, high), varying = _on_grid(waves, points, box, wanted)
        beyond = off + varying * fall * (1 + 1e-9)
        best = common(best, (low - beyond, high + beyond))
        if within(best, wanted) or not within((low - off, high + off), wanted) or math.prod(points) == 1:
            break
    return best


def _points(waves: dict[Monomial, Waves], factor: int) -> list[int]:
    """Return how many points a fine grid has along each axis."""
    shape = np.broadcast_shapes(*(each.shape for each in waves.values()))
    return [factor * (count // 2) if count > 1 else 1 for count in shape]


def _on_grid(waves: dict[Monomial, Waves], points: list[int], box: Box, wanted: Span) -> tuple[Span, float]:
    """Return the range on the fine grid, and what varies there at most; slice by slice of its first long axis."""
    small = math.prod(points) * len(waves) <= AT_ONCE
    kind = np.complex128 if small else np.complex64
    amplitudes = sum(float(np.abs(each).sum()) * max(map(abs, box.span(monomial))) for monomial, each in waves.items())
    lost = amplitudes * (DOUBLE * (4 + math.log2(math.prod(points))) if small else SINGLE)
    work(math.prod(points) * len(waves))
    low, high, varying = math.inf, -math.inf, 0.0
    means = {monomial: float(each.reshape(-1)[0].real) for monomial, each in waves.items()}
    for here in _slices(waves, points, kind, all_at_once=small):
        least, most = by_monomials(here, box)
        if small and (np.min(least) - lost < wanted[0] or np.max(most) + lost > wanted[1]):
            closer = by_bernstein(here, box, wanted[0] + lost, wanted[1] - lost)
            if closer is not None:
                least, most = np.maximum(least, closer[0]), np.minimum(most, closer[1])
        low, high = min(low, float(np.min(least))), max(high, float(np.max(most)))
        apart = by_monomials({monomial: each - means[monomial] for monomial, each in here.items()}, box)
        varying = max(varying, float(-np.min(apart[0])), float(np.max(apart[1])))
    return (low - lost, high + lost), varying + lost


def _slices(
    waves: dict[Monomial, Waves], points: list[int], kind: Any, all_at_once: bool
) -> Iterator[dict[Monomial, Any]]:
    """Yield the coefficients on the fine grid: all at once, or one slice of its first long axis after another."""
    axis = next((k for k, n in enumerate(points) if n > 1), -1)
    if all_at_once or axis < 0:
        yield {monomial: _values(each.astype(kind), points, -1) for monomial, each in waves.items()}
        return
    steady = {
        monomial: _values(each.astype(kind), points, axis)
        for monomial, each in waves.items()
        if not each.ndim or each.shape[axis] == 1
    }
    for k in range(points[axis]):
        found = dict(steady)
        for monomial, each in waves.items():
            if monomial not in steady:
                count = each.shape[axis]
                frequencies = (np.arange(count) + count // 2) % count - count // 2
                turned = np.exp(2j * np.pi * k / points[axis] * frequencies)
                slice_ = np.expand_dims(np.tensordot(turned, each, axes=(0, axis)), axis)
                found[monomial] = _values(slice_.astype(kind), points, axis)
        yield found


def _values(waves: Waves, points: list[int], done: int) -> npt.NDArray[Any]:
    """Return a sum of waves on the fine grid, along all axes but the one that is done."""
    for axis, n in enumerate(points):
        if axis != done:
            waves = along(waves, axis, n)
    found: npt.NDArray[Any] = waves.real.astype(np.float64 if waves.dtype == np.complex128 else np.float32)
    return found


def enclosed_on_few_axes(
    waves: Mapping[Monomial, Waves], off: float, box: Box, wanted: Span, finer: Sequence[int] = (FINE,)
) -> Span:
    """Return a range of a sum of waves that is known but for `off`, no closer than `wanted` asks for.

    Positions are held one after another, each time the one that is seen to help most on a coarse grid; each time the
    points along them, in multiples of the degree, become `finer` while that can be enough.
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
        for factor in finer:
            points = {axis: factor * (counts[axis] // 2) for axis in held}
            if math.prod(points.values()) * math.prod(counts[axis] for axis in left) > MAX_ON_FEW_AXES:
                if factor == finer[0]:
                    return best
                break
            (low, high), varying = _range(waves, points, box)
            fall = 1 / math.prod(math.cos(math.pi * (counts[axis] // 2) / n) for axis, n in points.items()) - 1
            slack = off + varying * fall * (1 + ADDED)
            best = common(best, (low - slack, high + slack))
            if within(best, wanted):
                return best
            if not within((low - off, high + off), wanted):
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


def as_motions(terms: Mapping[Monomial, Ball], sliders: Mapping[int, int]) -> dict[Monomial, Ball]:
    """Return a field with sliding positions as motions, numbered by axis: no coefficient varies along these."""
    for axis, number in sliders.items():
        total: dict[Monomial, Any] = {}
        for monomial, ball in terms.items():
            shape = np.broadcast_shapes(np.shape(ball.value), np.shape(ball.radius))
            if not shape or shape[axis] == 1:
                add_term(total, monomial, ball)
                continue
            values, radii = np.broadcast_to(ball.value, shape), np.broadcast_to(ball.radius, shape)
            weights = _powers_of(shape[axis])
            for power in range(shape[axis] // 2 + 1):
                factor = weights.value[power], weights.radius[power]
                turned = [np.expand_dims(each, tuple(range(1, len(shape) - axis))) for each in factor]
                product = Ball(values, radii) * Ball(*turned)
                added = _along(product, axis)
                add_term(total, tuple(sorted((*monomial, *[number] * power))), added)
        terms = total
    return dict(terms)


def _along(ball: Ball, axis: int) -> Ball:
    """Return the sum along an axis, which is kept with length 1."""
    total = Ball(np.float64(0.0))
    for k in range(ball.value.shape[axis]):
        total = total + Ball(*(np.take(each, [k], axis) for each in (ball.value, ball.radius)))
    return total


@cache
def _powers_of(points: int) -> Ball:
    """Return what makes coefficients of powers of cos θ (rows) of the values at equidistant θ (columns)."""
    degree = points // 2
    rows = [Ball(np.zeros(points)) for _ in range(degree + 1)]
    for k in range(degree + 1):
        cosine = sine_and_cosine(k * np.arange(points, dtype=np.int64), points, Fraction(0))[1]
        wave = cosine * Ball((1.0 if k == 0 else 2.0) / points, 2.0**-52 / points)
        chebyshev = np.polynomial.chebyshev.cheb2poly([0.0] * k + [1.0])
        for power, coefficient in enumerate(chebyshev):
            rows[power] = rows[power] + wave * Ball(float(np.rint(coefficient)))
    return Ball(np.stack([row.value for row in rows]), np.stack([row.radius + np.zeros(points) for row in rows]))

"""Sliding positions as motions: a field that is known along cos θ, as a polynomial in cos θ.

A position that slides goes from its lowest to its highest word as t = cos θ does, so that a field of degree d in it is
Σ a_k·cos kθ = Σ a_k·T_k(t), k from 0 to d, with Chebyshev's polynomials T_k. What varies along a grid of θ can then be
bounded as a product of motions is, t being one more of them: exact where the position occurs to the first power.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from .balls import Ball, sine_and_cosine
from .spans import Monomial, add_term


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

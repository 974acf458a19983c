"""Control points of arcs: five for what is of the second degree in the sine and cosine of one angle.

Over an arc of half width r < π/2 such a function is a mean of its control points, weighted with

    w_i · sin^(4-i)((r - t)/2) · sin^i((r + t)/2) / sin⁴ r ,    w = 1, 4c, 2 + 4c², 4c, 1,  c = cos r ,

which are positive and add up to 1: the trigonometric Bernstein basis (J. Sánchez-Reyes, Computer Aided Geometric Design
15, 1998). A sliding position has c = 1, which is Bernstein's own basis. Halving an arc takes means of control points.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from bddtorque.words.portable import sine_cosine

Floats = npt.NDArray[np.float64]

POINTS = 5
"""Control points of an arc."""
KEPT = 4096
"""Arcs whose control points are kept: boxes have few arcs each, and share them."""
_CHOOSE = np.array([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 2, 1, 0, 0], [1, 3, 3, 1, 0], [1, 4, 6, 4, 1]], np.float64)


def _weights(c: float) -> Floats:
    return np.array([1.0, 4.0 * c, 2.0 + 4.0 * c * c, 4.0 * c, 1.0])


@lru_cache(maxsize=KEPT)
def arc_controls(low: float, high: float) -> Floats:
    """Return the control points (5, 5) of 1, cos q, sin q, cos 2q and sin 2q over an arc."""
    (s, centre_s), (c, centre_c) = sine_cosine(np.array([0.5 * (high - low), 0.5 * (low + high)]))
    w, sign = _weights(c), np.array([-1.0, -1.0, 0.0, 1.0, 1.0])
    cosine = np.array([c, 2.0 + 2.0 * c * c, 6.0 * c, 2.0 + 2.0 * c * c, c]) / w
    sine = sign * s * np.array([1.0, 2.0 * c, 0.0, 2.0 * c, 1.0]) / w
    square = np.array([c * c, 4.0 * c, 2.0 * c * c + 4.0, 4.0 * c, c * c]) / w
    product = sign * s * np.array([c, 2.0, 0.0, 2.0, c]) / w
    twice_c, twice_s = 2.0 * square - 1.0, 2.0 * product
    double_c, double_s = 2.0 * centre_c * centre_c - 1.0, 2.0 * centre_c * centre_s
    return np.stack(
        (
            np.ones(POINTS),
            centre_c * cosine - centre_s * sine,
            centre_s * cosine + centre_c * sine,
            double_c * twice_c - double_s * twice_s,
            double_s * twice_c + double_c * twice_s,
        ),
        axis=1,
    ).copy()


@lru_cache(maxsize=KEPT)
def slide_controls(low: float, high: float) -> Floats:
    """Return the control points (5, 5) of 1, x and x² between two ends; the last two are of nothing."""
    centre, radius, x = 0.5 * (low + high), 0.5 * (high - low), np.arange(-1.0, 1.5, 0.5)
    controls = np.zeros((POINTS, POINTS))
    controls[:, 0] = 1.0
    controls[:, 1] = centre + x * radius
    controls[:, 2] = centre * centre + 2.0 * x * centre * radius + (4.0 * x * x - 1.0) / 3.0 * radius * radius
    return controls


@lru_cache(maxsize=KEPT)
def halvings(radius: float) -> tuple[Floats, Floats]:
    """Return how control points of the halves of an arc are means of those of the arc, by its half width; 0: a slide.

    (5, 5) each, of the lower and of the upper half.
    """
    w = _weights(float(sine_cosine(np.array([radius]))[1][0]))
    lower = np.array([[_CHOOSE[4 - i, 4 - k] * w[i] for i in range(POINTS)] for k in range(POINTS)])
    lower /= lower.sum(axis=1, keepdims=True)
    return lower, lower[::-1, ::-1].copy()

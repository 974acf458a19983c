"""Control points of arcs: five for what is of the second degree in the sine and cosine of one angle.

Over an arc of half width r < π/2 such a function is a mean of its control points, weighted with

    w_i · sin^(4-i)((r - t)/2) · sin^i((r + t)/2) / sin⁴ r ,    w = 1, 4c, 2 + 4c², 4c, 1,  c = cos r ,

which are positive and add up to 1: the trigonometric Bernstein basis (J. Sánchez-Reyes, Computer Aided Geometric Design
15, 1998). A sliding position has c = 1, which is Bernstein's own basis. Halving an arc takes means of control points.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bddtorque.base.jit import njit

POINTS = 5
"""Control points of an arc."""
_CHOOSE = np.array([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 2, 1, 0, 0], [1, 3, 3, 1, 0], [1, 4, 6, 4, 1]], np.float64)


@njit
def _weights(c: float) -> Any:
    return np.array([1.0, 4.0 * c, 2.0 + 4.0 * c * c, 4.0 * c, 1.0])


@njit
def arc_controls(c: float, s: float, centre_c: float, centre_s: float, matrix: Any) -> None:
    """Fill in the control points (5, 5) of 1, cos q, sin q, cos 2q and sin 2q over an arc.

    Given are cosine and sine of its half width and of its centre.
    """
    w = _weights(c)
    double_c, double_s = 2.0 * centre_c * centre_c - 1.0, 2.0 * centre_c * centre_s
    for i in range(5):
        side = i if i < 3 else 4 - i
        sign = 0.0 if i == 2 else -1.0 if i < 2 else 1.0
        cosine = (c if side == 0 else 2.0 + 2.0 * c * c if side == 1 else 6.0 * c) / w[i]
        sine = sign * s * (1.0 if side == 0 else 2.0 * c) / w[i]
        square = (c * c if side == 0 else 4.0 * c if side == 1 else 2.0 * c * c + 4.0) / w[i]
        product = sign * s * (c if side == 0 else 2.0) / w[i]
        twice_c, twice_s = 2.0 * square - 1.0, 2.0 * product
        matrix[i, 0] = 1.0
        matrix[i, 1] = centre_c * cosine - centre_s * sine
        matrix[i, 2] = centre_s * cosine + centre_c * sine
        matrix[i, 3] = double_c * twice_c - double_s * twice_s
        matrix[i, 4] = double_s * twice_c + double_c * twice_s


@njit
def slide_controls(centre: float, radius: float, matrix: Any) -> None:
    """Fill in the control points (5, 5) of 1, x and x² between two ends."""
    matrix[:] = 0.0
    for i in range(5):
        x = 0.5 * (i - 2)
        matrix[i, 0] = 1.0
        matrix[i, 1] = centre + x * radius
        matrix[i, 2] = centre * centre + 2.0 * x * centre * radius + (4.0 * x * x - 1.0) / 3.0 * radius * radius


@njit
def halving(c: float, upper: bool, matrix: Any) -> None:
    """Fill in how control points of half an arc are means of those of the arc, c being the cosine of its half width."""
    w = _weights(c)
    for k in range(5):
        total = 0.0
        for i in range(k + 1):
            total += _CHOOSE[4 - i, 4 - k] * w[i]
        for i in range(5):
            share = _CHOOSE[4 - i, 4 - k] * w[i] / total if i <= k else 0.0
            if upper:
                matrix[4 - k, 4 - i] = share
            else:
                matrix[k, i] = share

"""Sines, cosines and sums that are the same floats on every machine.

NumPy's own sines differ in the last bit with the instructions that a processor has. That is far below any bound, but a
search that takes the larger of two torques may go another way for it, and end at another state.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from functools import reduce

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

QUARTER = math.pi / 2
QUARTER_HIGH = math.ldexp(math.floor(math.ldexp(QUARTER, 31)), -31)
"""The first 32 bits of a quarter turn: times a count of quarters it is exact."""
QUARTER_LOW = (QUARTER - QUARTER_HIGH) + 6.123233995736766e-17
"""The rest of it, what π/2 has beyond float64 included."""
SINE = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(1, 9))
COSINE = tuple((-1) ** k / math.factorial(2 * k) for k in range(2, 10))
"""Taylor's coefficients beyond x and 1 − x²/2: up to an eighth of a turn the first left out is below 1e-18."""


def sine_cosine(angle: Floats) -> tuple[Floats, Floats]:
    """Return sines and cosines of angles in rad, any shape, off by less than 1e-15 within a thousand turns.

    Additions and multiplications alone, one after the other, which every processor rounds alike.
    """
    quarters = np.rint(angle * (1 / QUARTER))
    rest = (angle - quarters * QUARTER_HIGH) - quarters * QUARTER_LOW
    square = rest * rest
    s = rest + rest * (square * _polynomial(SINE, square))
    c = (1.0 - square * 0.5) + square * (square * _polynomial(COSINE, square))
    place = quarters.astype(np.int64) & 3
    return np.choose(place, (s, c, -s, -c)), np.choose(place, (c, -s, -c, s))


def _polynomial(coefficients: tuple[float, ...], x: Floats) -> Floats:
    value = np.full_like(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        value = value * x + coefficient
    return value


def added(numbers: Iterable[float]) -> float:
    """Return the sum of floats, added from the first to the last.

    Python's own `sum` compensates for what it rounds, from version 3.12 on: its last bit depends on the version, and
    plans and certificates must not.
    """
    return reduce(operator.add, numbers, 0.0)

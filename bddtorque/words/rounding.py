"""The two rounding rules, and nothing else rounds.

Tables of real functions go to the nearest integer, ties away from zero, so that odd functions stay odd. Everything that
rounds an integer is floor(x + 1/2), which is what an addition and an arithmetic shift do in any hardware.

The functions `half_away` and `half_up_shift` are written so that the same source serves NumPy arrays and Numba scalars;
`bddtorque.words.kernels` holds them compiled.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError


def half_away(x: Any) -> Any:
    """Round floats to the nearest integer, ties away from zero; the result is still a float.

    floor(|x| + 1/2) would be wrong just below one half, where the addition itself rounds up; the difference to the
    truncated value is exact.
    """
    magnitude = np.abs(x)
    whole = np.trunc(magnitude)
    return np.copysign(whole + (magnitude - whole >= 0.5), x)


def half_up_shift(x: Any, shift: Any) -> Any:
    """Return floor(x / 2^shift + 1/2) of int64; no intermediate value overflows.

    With x = a·2^shift + b and 0 <= b < 2^shift, the result is a, and one more where bit shift-1 of x is set.
    """
    if shift == 0:
        return x
    return (x >> shift) + ((x >> (shift - 1)) & 1)


def half_up(number: Fraction) -> int:
    """Return floor(number + 1/2) of a rational."""
    return math.floor(number + Fraction(1, 2))


def nearest_words(low: float | Fraction, high: float | Fraction, lsb: Fraction) -> tuple[int, int]:
    """Return the lowest and the highest word that values from low to high can be rounded to, in units of `lsb`."""
    return -half_up(-Fraction(low) / lsb), half_up(Fraction(high) / lsb)


def round_half_away(x: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Round real numbers to the nearest integers, ties away from zero.

    Parameters
    ----------
    x
        Floats of any shape, finite, magnitude below 2^63.

    Returns
    -------
    int64 array of the same shape
    """
    values = np.asarray(x, dtype=np.float64)
    # not (|x| < 2^63) is also true of NaN
    bad = ~(np.abs(values) < 2.0**63)
    if bad.any():
        raise BddTorqueError(f"rounding: numbers must be below 2^63 in magnitude, got {values[bad].flat[0]}")
    rounded: npt.NDArray[np.int64] = np.asarray(half_away(values)).astype(np.int64)
    return rounded

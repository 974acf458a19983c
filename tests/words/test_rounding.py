"""The two rounding rules against exact rationals, in NumPy and in Numba."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bddtorque.base.errors import BddTorqueError
from bddtorque.words import kernels
from bddtorque.words.rounding import half_up_shift, round_half_away

INT64 = st.integers(-(2**63), 2**63 - 1)


def nearest_away(x: float) -> int:
    magnitude = math.floor(abs(Fraction(x)) + Fraction(1, 2))
    return -magnitude if x < 0 else magnitude


@given(st.floats(-(2.0**62), 2.0**62) | st.integers(-(2**40), 2**40).map(lambda i: i + 0.5))
def test_half_away_is_exact(x: float) -> None:
    assert round_half_away(x) == nearest_away(x)
    assert int(kernels.half_away(x)) == nearest_away(x)


@pytest.mark.parametrize(
    ("x", "rounded"),
    [
        *[(0.5, 1), (-0.5, -1), (1.5, 2), (-1.5, -2), (2.5, 3), (0.49999999999999994, 0), (-0.49999999999999994, 0)],
        *[(2.0**52 + 1, 2**52 + 1), (4503599627370495.5, 4503599627370496), (0.0, 0), (-0.0, 0), (5e-324, 0)],
    ],
)
def test_half_away_at_ties_and_beside_them(x: float, rounded: int) -> None:
    assert round_half_away(x) == rounded
    assert kernels.half_away(x) == rounded


@given(st.floats(-1e15, 1e15))
def test_half_away_is_odd(x: float) -> None:
    assert round_half_away(-x) == -round_half_away(x)


@given(INT64, st.integers(0, 63))
def test_half_up_shift_is_exact(x: int, shift: int) -> None:
    expected = math.floor(Fraction(x, 2**shift) + Fraction(1, 2))
    assert half_up_shift(np.int64(x), shift) == expected
    assert kernels.half_up_shift(np.int64(x), shift) == expected


def test_arrays_keep_their_shape() -> None:
    x = np.array([[-3, -2, -1], [1, 2, 3]])
    assert half_up_shift(x, 1).tolist() == [[-1, -1, 0], [1, 1, 2]]
    assert round_half_away(x / 2).tolist() == [[-2, -1, -1], [1, 1, 2]]


def test_refused_in_one_line() -> None:
    with pytest.raises(BddTorqueError, match=r"must be below 2\^63 in magnitude, got nan"):
        round_half_away([0.0, np.nan])

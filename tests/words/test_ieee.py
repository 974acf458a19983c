"""IEEE arithmetic in NumPy against exact rationals: every rounding, ties and subnormal numbers included."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from bddtorque.words.ieee import DOUBLE, PRECISIONS, SINGLE, Precision, fused


def finite(precision: Precision) -> st.SearchStrategy[float]:
    """Return floats of a precision: any, few bits (so that sums tie), and those near the smallest."""
    width = 32 if precision is SINGLE else 64
    few = st.builds(math.ldexp, st.integers(-15, 15), st.integers(-60, 60))
    small = st.integers(-(1 << 30), 1 << 30).map(lambda k: float(precision.dtype(k) * precision.dtype(precision.tiny)))
    large = float(precision.dtype(2.0 ** (precision.highest // 2 - 1)))
    return st.one_of(st.floats(-large, large, width=width), few, small)  # type: ignore[arg-type]


@pytest.mark.parametrize("precision", PRECISIONS.values(), ids=list(PRECISIONS))
@settings(max_examples=examples(600), deadline=None)
@given(data=st.data())
def test_fused_multiply_add_is_rounded_once(precision: Precision, data: st.DataObject) -> None:
    """The exact sum, rounded to nearest even; also where a product is almost cancelled."""
    a, b, c = (data.draw(finite(precision)) for _ in range(3))
    kind = precision.dtype
    with np.errstate(over="ignore"):
        near = -float(kind(a) * kind(b))
    for addend in (c, near if math.isfinite(near) else c, float(np.nextafter(kind(c), kind(0)))):
        exact = Fraction(a) * Fraction(b) + Fraction(addend)
        found = fused(kind(a), kind(b), kind(addend))
        assert found.dtype == kind
        assert float(found) == precision.nearest(exact)


def test_double_rounding_is_avoided() -> None:
    """2^36 + 1 = 4097 · 16773121: 1 + 2^-24 + 2^-60 rounds up; as a float64 first, it would tie and go to even."""
    one, left, right = np.float32(1), np.float32(4097 * 2.0**-30), np.float32(16773121 * 2.0**-30)
    assert np.float32(np.float64(left) * np.float64(right) + np.float64(one)) == one
    assert fused(left, right, one) == np.nextafter(one, np.float32(2))


@settings(max_examples=examples(600), deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_nearest_single_is_what_numpy_casts_to(number: float) -> None:
    """NumPy's cast of a float64 is correctly rounded, subnormal numbers and overflow included."""
    with np.errstate(over="ignore"):
        assert SINGLE.nearest(Fraction(number)) == float(np.float32(number))
    assert DOUBLE.nearest(Fraction(number)) == number


@pytest.mark.parametrize("precision", PRECISIONS.values(), ids=list(PRECISIONS))
@settings(max_examples=examples(300), deadline=None)
@given(st.fractions(-1000, 1000), st.integers(-160, 20))
def test_rounding_errors_are_bounded(precision: Precision, number: Fraction, power: int) -> None:
    """No number is further from its float than the bound of its magnitude, or of any larger one."""
    exact = number * Fraction(2) ** power
    error = abs(Fraction(precision.nearest(exact)) - exact)
    magnitude = math.nextafter(abs(float(exact)), math.inf)
    assert error <= Fraction(precision.rounding_error(magnitude))
    assert precision.rounding_error(magnitude) <= precision.rounding_error(3 * magnitude)

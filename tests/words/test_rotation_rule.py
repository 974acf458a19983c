"""The rotation rule and the numbers that use it, against brute force over angles and signs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bddtorque.words.bounded import ROUND_UP, UP, Interval
from bddtorque.words.error_bound import ErrorBound, constant
from bddtorque.words.turning import SineOf, Turned, accumulate, rotated, rotations

SIZES = st.floats(0.0, 1e6)
ERRORS = st.floats(0.0, 1e-3)
ANGLES = np.linspace(-np.pi, np.pi, 721)
COSINE, SINE = SineOf("a", True), SineOf("a", False)


@given(SIZES, SIZES, st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), max_size=5))
def test_no_rotated_coordinate_is_longer_than_the_vector(x: float, y: float, inside: list[tuple[float, float]]) -> None:
    most = rotated(x, y)
    for a, b in [(1.0, 1.0), (1.0, -1.0), *inside]:
        assert np.abs(np.cos(ANGLES) * a * x + np.sin(ANGLES) * b * y).max() <= most * (1 + 1e-15) + 1e-300
    angle = math.atan2(y, x)  # where it is reached
    assert most <= (math.cos(angle) * x + math.sin(angle) * y) * (1 + 1e-12)


@given(SIZES, SIZES)
def test_the_root_rounded_up_is_no_less_than_the_exact_one(x: float, y: float) -> None:
    assert Fraction(rotated(x, y) * UP) ** 2 >= Fraction(x) ** 2 + Fraction(y) ** 2 or max(x, y) < 1e-150


@given(st.lists(st.tuples(SIZES, SIZES), min_size=1, max_size=8))
def test_arrays_of_boxes_and_parts_of_errors_are_rotated_one_by_one(pairs: list[tuple[float, float]]) -> None:
    x, y = np.array(pairs).T
    each = [rotated(a, b) for a, b in pairs]
    np.testing.assert_allclose(rotated(x, y), each, rtol=1e-15)
    names = [f"p{k}" for k in range(len(pairs))]
    assert rotated(dict(zip(names, x.tolist(), strict=True)), dict(zip(names, y.tolist(), strict=True))) == dict(
        zip(names, each, strict=True)
    )


def test_a_part_that_only_one_error_has_counts() -> None:
    assert rotated({"a": 3.0}, {"b": 2.0}) == {"a": 3.0, "b": 2.0}
    assert accumulate({"a": 1.0}, {"b": 2.0}, 3.0) == {"a": 1.0, "b": 6.0 * ROUND_UP}


def test_only_a_sine_and_a_cosine_of_one_angle_make_a_rotation() -> None:
    others = [SineOf("a", True), SineOf("b", False)]
    assert COSINE.completes(SINE) and SINE.completes(COSINE)
    assert not any(COSINE.completes(each) for each in others)
    ways = [Turned(COSINE, 2.0), Turned(SINE, 5.0)], [Turned(SineOf("b", True), 1.0), Turned(SINE, 3.0)]
    assert [(x.magnitude, y.magnitude) for x, y in rotations(*ways)] == [(2.0, 3.0)]


@st.composite
def off_numbers(draw: st.DrawFn) -> tuple[ErrorBound, float, float]:
    """A bound, a true number and a computed one that keep to it."""
    low, high = sorted((draw(st.floats(-100, 100)), draw(st.floats(-100, 100))))
    true = low + draw(st.floats(0, 1)) * (high - low)
    true = min(max(true, low), high)
    error = draw(ERRORS)
    return ErrorBound(Interval(low, high), {"constants": error}), true, true + draw(st.floats(-1, 1)) * error


@given(off_numbers(), off_numbers(), st.floats(-math.pi, math.pi), ERRORS, st.sampled_from([1, -1]))
def test_rotated_numbers_keep_to_their_bounds(x, y, angle, off, sign) -> None:  # type: ignore[no-untyped-def]
    (x, true_x, near_x), (y, true_y, near_y) = x, y
    c, s = (ErrorBound(Interval(-1.0, 1.0), {"tables": off}, sine=each) for each in (COSINE, SINE))
    bound = c * x + (s * y if sign > 0 else -(s * y))
    plain = Interval(-1.0, 1.0) * x.range + Interval(-1.0, 1.0) * y.range
    true = math.cos(angle) * true_x + sign * math.sin(angle) * true_y
    near = (math.cos(angle) + off) * near_x + sign * (math.sin(angle) - off) * near_y
    slack = 1e-13 * (1 + bound.magnitude)
    assert bound.range.low - slack <= true <= bound.range.high + slack
    assert abs(near - true) <= bound.error + slack
    assert bound.magnitude <= math.hypot(x.magnitude, y.magnitude) * (1 + 1e-11) and bound.range.high <= plain.high


@given(off_numbers(), off_numbers())
def test_sums_products_and_squares_keep_to_their_bounds(x, y) -> None:  # type: ignore[no-untyped-def]
    (x, true_x, near_x), (y, true_y, near_y) = x, y
    for bound, true, near in (
        (x + y, true_x + true_y, near_x + near_y),
        (x - y, true_x - true_y, near_x - near_y),
        (x * y, true_x * true_y, near_x * near_y),
        (x.times(x, square=True), true_x**2, near_x**2),
    ):
        slack = 1e-15 * (1 + abs(true)) * 100
        assert bound.range.low - slack <= true <= bound.range.high + slack
        assert abs(near - true) <= bound.error + slack


def test_constants_are_rounded_where_they_meet_and_exact_ones_do_nothing() -> None:
    x = ErrorBound(Interval(-3.0, 3.0))
    assert x + 0.0 is x and x * 1.0 is x and x * 0.0 == 0.0 and x * -1.0 == -x
    assert (x * 0.3).error > 0.0 and (x + 0.3).error == 0.0
    assert (constant(0.1) + constant(0.2)).error > 0.0 and (constant(0.1) + constant(0.2)).constant
    assert constant(-0.5, 0.25).magnitude == 0.5 and constant(-0.5, 0.25).error >= 0.25

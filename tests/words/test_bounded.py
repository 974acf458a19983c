"""Numbers with a radius, exact angles and intervals against mpmath: the truth is never outside."""

import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bddtorque.words.bounded import Bounded, BoundedArithmetic, Interval, Turn

magnitudes = st.floats(-1e6, 1e6, allow_subnormal=False) | st.floats(-1e-6, 1e-6) | st.sampled_from([0.0, 1.0, -1.0])


def grown(seed: int, numbers: list, combine: int):
    """Return a number grown from others by sums, differences and products at random: the same for any number type."""
    rng = random.Random(seed)
    pool = list(numbers)
    for _ in range(combine):
        a, b = rng.choice(pool), rng.choice(pool)
        pool.append([a + b, a - b, a * b, -a + b * 0.1, 3.7 * a][rng.randrange(5)])
    return pool[-1]


@given(st.lists(magnitudes, min_size=2, max_size=4), st.integers(0, 2**32), st.integers(1, 10))
def test_the_truth_lies_within_the_radius(values, seed, combine):
    with mpmath.workdps(400):
        # each number is off by a known part of its value, and the radius says so
        true = [mpmath.mpf(v) * (1 + mpmath.mpf(2) ** -40) for v in values]
        start = [Bounded(np.array([v]), np.array([abs(v) * 2.0**-39])) for v in values]
        found, expected = grown(seed, start, combine), grown(seed, true, combine)
        assume(np.isfinite(found.radius).all() and abs(expected) <= mpmath.mpf("1e300"))
        assert abs(expected - mpmath.mpf(float(found.value[0]))) <= mpmath.mpf(float(found.radius[0]))


@given(st.lists(magnitudes, min_size=2, max_size=4), st.integers(0, 2**32), st.integers(1, 10))
def test_exact_numbers_only_lose_their_rounding(values, seed, combine):
    with mpmath.workdps(400):
        found = grown(seed, [Bounded(np.array([v])) for v in values], combine)
        expected = grown(seed, [mpmath.mpf(v) for v in values], combine)
        reach = grown(seed, [mpmath.mpf(abs(v)) for v in values], combine)
        assume(np.isfinite(found.radius).all() and abs(expected) <= mpmath.mpf("1e300"))
        assert abs(expected - mpmath.mpf(float(found.value[0]))) <= mpmath.mpf(float(found.radius[0]))
        # and the radius is no excuse: what cancels still counts
        largest = 1 + sum(mpmath.mpf(abs(v)) for v in values)
        assert mpmath.mpf(float(found.radius[0])) <= mpmath.mpf(1e-13) * (abs(reach) + largest) * 10**combine


def test_radii_that_cancelled_values_leave_are_not_rounded_down():
    # 1 − 1 = 0 leaves nothing but the radii: their sum must not be rounded below the true sum
    rng = np.random.default_rng(1)
    a, b = rng.random(100_000), rng.random(100_000)
    found = Bounded(np.zeros(100_000), a) + Bounded(np.zeros(100_000), b)
    true = a.astype(np.longdouble) + b.astype(np.longdouble)
    assert (found.radius.astype(np.longdouble) >= true).all()


@pytest.mark.parametrize("bits", range(1, 11))
def test_octants_are_exact(bits):
    numerators = np.arange(-(3 << bits), (3 << bits) + 1)
    k, y = Turn(numerators, bits).octant()
    assert ((k >= 0) & (k <= 3)).all()
    eighth = 1 << bits  # 2^(bits+3) parts of a turn, and an eighth of it
    assert (np.abs(y) <= eighth).all()
    parts = k * (2 << bits) + y
    assert ((parts - (numerators << 3)) % (8 << bits) == 0).all()


@pytest.mark.parametrize("rest", [0, Fraction(1, 3), Fraction(-40.25), Fraction(1.0e-3)])
@pytest.mark.parametrize("bits", [1, 2, 3, 4, 5, 8])
def test_sines_of_all_angle_words(bits, rest):
    words = np.arange(-(1 << (bits - 1)), 1 << (bits - 1)) * 3
    angle = Turn(words, bits, Fraction(rest))
    arithmetic = BoundedArithmetic()
    with mpmath.workdps(50):
        for found, function in ((arithmetic.sin(angle), mpmath.sin), (arithmetic.cos(angle), mpmath.cos)):
            for word, value, radius in zip(words, found.value, np.broadcast_to(found.radius, words.shape), strict=True):
                phase = 2 * mpmath.pi * int(word) / (1 << bits) + mpmath.mpf(rest.numerator) / rest.denominator
                assert abs(function(phase) - mpmath.mpf(float(value))) <= mpmath.mpf(float(radius)) + mpmath.mpf(1e-45)
                assert radius < 2e-14


def test_quarter_turns_have_exact_sines():
    found = BoundedArithmetic().sin(Turn(np.arange(-8, 8) * 4, 4))
    assert set(found.value.tolist()) <= {0.0, 1.0, -1.0} and not found.radius.any()


def test_angles_combine_exactly():
    a, b = Turn(np.array([1]), 3, Fraction(1, 7)), Turn(np.array([5]), 5)
    total = 2.0 * a - b
    assert (total.bits, total.numerator.tolist(), total.rest) == (5, [2 * 4 - 5], Fraction(2, 7))
    half = b * -1.5
    assert (half.bits, half.numerator.tolist(), half.rest) == (6, [-15], 0)


@given(st.integers(2, 24), st.floats(-20, 20), st.integers(0, 2**32))
def test_fractions_of_angles_are_within_their_radius(bits, factor, seed):
    words = np.random.default_rng(seed).integers(-(1 << bits - 1), 1 << bits - 1, 8)
    turn, arithmetic = Turn(words, bits) * factor, BoundedArithmetic()
    with mpmath.workdps(60):
        for function, found in ((mpmath.sin, arithmetic.sin(turn)), (mpmath.cos, arithmetic.cos(turn))):
            for word, value, radius in zip(words, found.value, np.broadcast_to(found.radius, (8,)), strict=True):
                phase = 2 * mpmath.pi * int(word) / (1 << bits) * mpmath.mpf(factor)
                assert abs(function(phase) - mpmath.mpf(float(value))) <= mpmath.mpf(float(radius)) + mpmath.mpf(1e-45)


intervals = st.tuples(magnitudes, magnitudes).map(lambda ends: sorted(end + 0.0 for end in ends))  # no −0.0 above 0.0


@given(st.lists(intervals, min_size=2, max_size=4), st.integers(0, 2**32), st.integers(1, 8), st.data())
def test_intervals_hold_every_value(ends, seed, combine, data):
    inside = [data.draw(st.floats(low, high)) for low, high in ends]
    with mpmath.workdps(400):
        found = grown(seed, [Interval(low, high) for low, high in ends], combine)
        expected = grown(seed, [mpmath.mpf(v) for v in inside], combine)
        assume(np.isfinite([found.low, found.high]).all())
        assert mpmath.mpf(found.low) <= expected <= mpmath.mpf(found.high)
        assert abs(expected) <= mpmath.mpf(found.magnitude)


def test_a_square_is_not_negative_but_a_product_of_equal_ranges_is():
    x = Interval(-2.0, 3.0)
    assert x.squared().low == 0.0 and 9.0 <= x.squared().high <= 9.0 + 1e-14
    assert 4.0 - 1e-14 <= Interval(-3.0, -2.0).squared().low <= 4.0
    assert (x * x).low <= -6.0

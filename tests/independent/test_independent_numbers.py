"""The checker's own arithmetic, against mpmath, NumPy and dense sampling."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from compiled import arm, random_words, reference
from examples_tried import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bddtorque.independent import peaks
from bddtorque.independent.bounds import _parabola
from bddtorque.independent.cascade import run
from bddtorque.independent.comparison import WaveAlgebra
from bddtorque.independent.enclosures import (
    BITS,
    Enclosure,
    ball_of,
    exponential_of,
    nearest_word,
    pi_fixed,
    sine_and_cosine,
    sine_of_turns,
)
from bddtorque.independent.fields import Field, Grid
from bddtorque.independent.graph import Angle
<<<<<<< HEAD
=======
from bddtorque.independent.grids import stays_below
from bddtorque.independent.harmonics import WaveAlgebra
>>>>>>> main
from bddtorque.independent.ieee import PRECISIONS, sine_error, sine_of_word, single_sines
from bddtorque.independent.peaks import as_motions, enclosed, enclosed_by_boxes, enclosed_on_few_axes
from bddtorque.independent.plan import plan_of
from bddtorque.independent.ranges import Box, by_bernstein, by_monomials, moved
from bddtorque.words import float_sine
from bddtorque.words.ieee import PRECISIONS as PACKAGE

fractions = st.fractions(min_value=-50, max_value=50, max_denominator=10**6)


def inside(found: Enclosure, wanted: mpmath.mpf, width: float = 1e-60) -> bool:
    low, high = (mpmath.mpf(end.numerator) / end.denominator for end in (found.low, found.high))
    room = mpmath.mpf(10) ** -90  # mpmath rounds, too
    return low - room <= wanted <= high + room and high - low < width


def test_pi():
    with mpmath.workdps(120):
        value, off = pi_fixed()
        assert abs(mpmath.mpf(value) / mpmath.mpf(2) ** BITS - mpmath.pi) <= mpmath.mpf(off) / mpmath.mpf(2) ** BITS
        assert off < 100


@given(fractions, fractions)
def test_sines_in_whole_numbers(turns, rest):
    with mpmath.workdps(120):
        angle = 2 * mpmath.pi * turns.numerator / turns.denominator + mpmath.mpf(rest.numerator) / rest.denominator
        assert inside(sine_of_turns(turns, rest), mpmath.sin(angle))


@pytest.mark.parametrize("quarters", range(-5, 6))
def test_quarter_turns_are_exact(quarters):
    found = sine_of_turns(Fraction(quarters, 4))
    assert found.low == found.high == (0, 1, 0, -1)[quarters % 4]


@given(st.fractions(min_value=0, max_value=3000, max_denominator=10**6))
def test_exponentials_in_whole_numbers(x):
    with mpmath.workdps(120):
        found = exponential_of(x)
        assert inside(found, mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator))


def test_ties_go_away_from_zero():
    half = Fraction(1, 2)
    assert nearest_word(Enclosure(half, half)) == (1, half)
    assert nearest_word(Enclosure(-half - 3, -half - 3)) == (-4, half)
    tiny = Fraction(1, 2**200)
    assert nearest_word(Enclosure(half - tiny, half + tiny))[0] == 1
    assert nearest_word(Enclosure(Fraction(2, 5), Fraction(2, 5))) == (0, Fraction(2, 5))


@given(st.integers(-(2**20), 2**20), st.integers(1, 2**20), fractions)
def test_balls_hold_sines(numerator, denominator, rest):
    with mpmath.workdps(50):
        angle = 2 * mpmath.pi * numerator / denominator + mpmath.mpf(rest.numerator) / rest.denominator
        for ball, wanted in zip(
            sine_and_cosine(np.array([numerator]), denominator, rest),
            (mpmath.sin(angle), mpmath.cos(angle)),
            strict=True,
        ):
            radius = float(np.broadcast_to(ball.radius, (1,))[0])
            assert abs(mpmath.mpf(float(ball.value[0])) - wanted) <= radius + 1e-40 and radius < 1e-12


@given(st.lists(st.fractions(max_denominator=10**9), min_size=2, max_size=8))
def test_balls_hold_sums_and_products(numbers):
    exact, ball = numbers[0], ball_of(numbers[0])
    for k, number in enumerate(numbers[1:]):
        exact = exact * number if k % 2 else exact - number
        ball = ball * ball_of(number) if k % 2 else ball - ball_of(number)
    assert abs(Fraction(float(ball.value)) - exact) <= Fraction(float(ball.radius))


waves = st.lists(
    st.tuples(st.floats(-3, 3), st.integers(-2, 2), st.integers(-2, 2), st.booleans(), st.integers(0, 2)),
    min_size=1,
    max_size=8,
)


def field_of(terms: list) -> Field:
    grid = Grid([5, 5])
    total = Field({})
    for size, a, b, sine, motion in terms:
        angle = Angle(tuple((axis, m) for axis, m in enumerate((a, b)) if m))
        wave = grid.wave(angle, not sine) * grid.number(Fraction(size))
        total = total + (wave * grid.motion(motion, Fraction(1)) if motion else wave)
    return total


def sampled(terms: list) -> np.ndarray:
    """The sum at many positions, motions at their worst."""
    x, y = np.meshgrid(*[np.linspace(0, 2 * np.pi, 120)] * 2)
    by_motion = [np.zeros_like(x) for _ in range(3)]
    for size, a, b, sine, motion in terms:
        by_motion[motion] += size * (np.sin if sine else np.cos)(a * x + b * y)
    return by_motion[0], np.abs(by_motion[1]) + np.abs(by_motion[2])


BOX = Box({1: (-1.0, 1.0), 2: (-1.0, 1.0)}, {})
ANYTHING = (-math.inf, math.inf)
"""What is hoped for: amplitudes are enough."""


def largest(field: Field, limit: float) -> float:
    """Return a bound on the magnitude, no closer than a limit asks for."""
    return max(map(abs, enclosed(field, BOX, (-limit, limit))))


@settings(max_examples=examples(60))
@given(waves)
def test_no_sum_of_waves_exceeds_what_is_said(terms):
    plain, moved = sampled(terms)
    found = field_of(terms)
    low, high = enclosed(found, BOX, ANYTHING)
    assert low <= (plain - moved).min() + 1e-9 and high >= (plain + moved).max() - 1e-9
    reached = float((np.abs(plain) + moved).max())
    closer = largest(found, 0.0)
    assert reached - 1e-4 * (1 + reached) <= closer <= max(-low, high)
    near = largest(found, 1.02 * reached)
    assert reached - 1e-4 * (1 + reached) <= near <= 1.02 * reached + 1e-9


def test_a_fine_grid_is_closer_than_amplitudes():
    terms = [(1.0, 1, 0, False, 0), (1.0, 0, 1, False, 1), (-1.0, 1, 1, False, 0), (1.0, 1, -1, True, 1)]
    plain, moved = sampled(terms)
    reached = float((np.abs(plain) + moved).max())
    assert reached - 1e-3 <= largest(field_of(terms), 1.01 * reached) <= 1.01 * reached
    assert max(map(abs, enclosed(field_of(terms), BOX, ANYTHING))) > 1.05 * reached


@settings(max_examples=examples(60))
@given(waves)
def test_a_few_positions_at_points_hold_every_value(terms):
    plain, moved = sampled(terms)
    wave_sums = {monomial: peaks._waves(ball)[0] for monomial, ball in field_of(terms).terms.items()}
    assume(any(each.size > 1 for each in wave_sums.values()))
    by_amplitudes = sum(float(np.abs(each).sum()) for each in wave_sums.values())
    hopeless = (plain.min(), plain.min())  # so that all positions are held in the end
    low, high = enclosed_on_few_axes(wave_sums, 0.0, BOX, hopeless)
    room = 1e-9 * (1 + by_amplitudes)
    assert low <= (plain - moved).min() + room and high >= (plain + moved).max() - room
    # 1/cos²(π/12) of what varies on points that are dense enough, and no motion is worse than at its ends
    assert max(-low, high) <= (np.abs(plain) + moved).max() + 0.08 * by_amplitudes + room
    assert enclosed_on_few_axes(wave_sums, 1.0, BOX, hopeless) == pytest.approx((low - 1.0, high + 1.0))


def test_one_position_at_points_is_closer_than_amplitudes(monkeypatch):
    """Waves of the first position whose weights are a sine and a cosine of the second: never both at once."""
    terms = [(1.0, 1, 1, False, 1), (1.0, 1, -1, False, 1), (1.0, 2, 1, True, 2), (-1.0, 2, -1, True, 2)]
    plain, moved = sampled(terms)
    reached = float((np.abs(plain) + moved).max())
    found = field_of(terms)
    assert max(map(abs, enclosed(found, BOX, ANYTHING))) > 1.25 * reached
    monkeypatch.setattr(peaks, "AT_ONCE", 0)
    monkeypatch.setattr(peaks, "_by_waves", lambda *args: ANYTHING)  # no grid of all positions
    assert reached <= largest(found, 1.06 * reached) <= 1.06 * reached


def test_very_many_points_along_one_position_tell_a_little_from_nothing(monkeypatch):
    """A cosine of the first position, and a thousandth of its sine times that of the second: never both at once."""
    found = field_of([(1.0, 1, 0, False, 1), (0.0005, 1, 1, False, 2), (-0.0005, 1, -1, False, 2)])
    monkeypatch.setattr(peaks, "MAX_POINTS", 5000)  # as for many positions, of which each has few points
    assert 1.0 < largest(found, 1.0003) <= 1.0003


@settings(max_examples=examples(40))
@given(waves, st.tuples(st.floats(-3, 3), st.floats(-3, 3), st.floats(-3, 3)))
def test_grids_prove_what_is_so_and_nothing_else(terms, forms):
    """Waves times motions, and a quadratic form of two motions that the second angle turns."""
    grid = Grid([5, 5])
    speeds = [grid.motion(k, Fraction(1)) for k in (1, 2)]
    turn = grid.wave(Angle(((1, 1),)), cosine=True)
    total = field_of(terms)
    for factor, (a, b) in zip(forms, ((0, 0), (0, 1), (1, 1)), strict=True):
        total = total + speeds[a] * speeds[b] * turn * grid.number(Fraction(factor))
    x, y = np.meshgrid(*[np.linspace(0, 2 * np.pi, 60)] * 2)
    reached = -math.inf
    for u, v in np.stack(np.meshgrid(*[np.linspace(-1, 1, 9)] * 2), axis=-1).reshape(-1, 2):
        at = (forms[0] * u * u + forms[1] * u * v + forms[2] * v * v) * np.cos(y)
        for size, a, b, sine, motion in terms:
            at = at + size * (np.sin if sine else np.cos)(a * x + b * y) * (1, u, v)[motion]
        reached = max(reached, float(at.max()))
    wave_sums = {monomial: peaks._waves(ball) for monomial, ball in total.terms.items()}
    room = 0.05 * (1 + abs(reached))
    assert enclosed_by_boxes(total, BOX, (-math.inf, reached + room))[1] <= reached + room
    assert not stays_below(wave_sums, BOX, reached - 1e-6 * (1 + abs(reached)))


sliding = st.lists(st.tuples(st.floats(-3, 3), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=5)


@settings(max_examples=examples(60))
@given(sliding, st.floats(-math.pi, math.pi), st.floats(-1, 1), st.floats(-1, 1))
def test_sliding_positions_are_motions_too(terms, turn, place, speed):
    grid, number = Grid([5, 5]), 9
    total, value = Field({}), 0.0
    for size, power, m in terms:
        wave = grid.wave(Angle(((0, m),) if m else ()), cosine=True) * grid.motion(1, Fraction(size))
        for _ in range(power):
            wave = wave * grid.position(1, -1, 1)
        total, value = total + wave, value + size * place**power * math.cos(m * turn) * speed
    found = as_motions(total.terms, {1: number})
    at = 0.0
    for monomial, ball in found.items():
        assert np.ndim(ball.value) == 0 or ball.value.shape[1] == 1
        waves = np.fft.fft(np.broadcast_to(ball.value, (5, 1))[:, 0]) / 5
        coefficient = sum((waves[k] * np.exp(1j * k * turn)).real for k in (0, 1, 2, -1, -2))
        at += coefficient * place ** monomial.count(number) * speed ** monomial.count(1)
    assert at == pytest.approx(value, abs=1e-12)


def test_the_ends_of_a_sliding_position_are_exact():
    """x·t − x − t is least at ends of both, which a grid of cos θ alone only comes near."""
    grid = Grid([3])
    slide, speed = grid.position(0, -1, 1), grid.motion(1, Fraction(1))
    field, ends_ = slide * speed - slide - speed, {1: (-1.0, 1.0), 9: (-1.0, 1.0)}
    wanted = -1.00001, 3.00001
    assert enclosed(field, Box(ends_, {}, {0: 9}), wanted) == pytest.approx((-1.0, 3.0), abs=1e-9)
    assert enclosed(field, Box(ends_, {}), wanted)[0] < wanted[0]


ends = st.tuples(st.floats(-1, 0.9), st.floats(0.05, 1)).map(lambda pair: (pair[0], min(1.0, pair[0] + pair[1])))
polynomials = st.dictionaries(
    st.lists(st.integers(0, 2), max_size=4).map(lambda each: tuple(sorted(each))),
    st.floats(-3, 3),
    min_size=1,
    max_size=6,
)


@settings(max_examples=examples(100))
@given(polynomials, st.tuples(ends, ends, ends), st.floats(-2, 2))
def test_ranges_of_polynomials_hold_every_value_and_come_near(terms, ranges, zero):
    box = Box(dict(enumerate(ranges)), {0: zero})
    axes = np.meshgrid(*(np.linspace(*each, 17) for each in ranges))
    values = sum(factor * np.prod([axes[k] for k in monomial], axis=0) for monomial, factor in terms.items())
    low, high = float(np.min(values)), float(np.max(values))
    coefficients = {monomial: np.array([factor, -factor]) for monomial, factor in terms.items()}
    room = 1e-12 * (1 + sum(map(abs, terms.values())))
    least, most = by_monomials(coefficients, box)
    assert least[0] <= low + room and high - room <= most[0]
    assert least[1] <= -high + room and -low - room <= most[1]
    wider = 0.05 * (high - low) + 1e-3
    asked = np.array([low - wider, -high - wider]), np.array([high + wider, -low + wider])
    least, most = by_bernstein(coefficients, box, *asked)
    assert least[0] <= low + room and high - room <= most[0]
    assert np.all(asked[0] <= least) and np.all(most <= asked[1])
    hopeless = by_bernstein(coefficients, box, (low + high) / 2, (low + high) / 2)
    assert hopeless[0][0] <= low + room and high - room <= hopeless[1][0]
    zeros, about = box.about_zeros() or ({}, box)
    moved_terms = moved(coefficients, zeros, float)
    least, most = by_monomials(moved_terms, about)
    room *= 5.0**4
    assert least[0] <= low + room and high - room <= most[0]


@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(-2, 2), st.booleans()), min_size=1, max_size=5), fractions)
def test_waves_multiply_as_functions_do(terms, rest):
    algebra = WaveAlgebra()
    total, value = algebra.number(Fraction(1)), 1.0
    for factor, m, sine in terms:
        angle = Angle(((0, m),) if m else (), Fraction(1, 8), rest)
        wave = algebra.wave(angle, not sine)
        total = total * (wave * algebra.number(Fraction(factor)) + algebra.motion(1, Fraction(2)))
        place = 0.7 * m + math.pi / 4 + float(rest)
        value *= factor * (math.sin(place) if sine else math.cos(place)) + 2 * 0.3
    found = 0.0
    for (words, angle, sine), coefficient in total.terms.items():
        place = 0.0 if angle is None else dict(angle.multipliers).get(0, 0) * 0.7
        place += 0.0 if angle is None else 2 * math.pi * float(angle.turns) + float(angle.rest)
        found += float(coefficient) * 0.3 ** len(words) * (math.sin(place) if sine else math.cos(place))
    assert found == pytest.approx(value, abs=1e-7 * (1 + abs(value)))


@given(st.floats(-5, 5), st.floats(-5, 5), st.floats(0, 5), st.floats(-5, 5), st.floats(0, 5))
def test_parabolas(a, b, width, low, span):
    least, most = _parabola(a, (b, b + width), (low, low + span))
    x = np.linspace(low, low + span, 50)[:, None]
    values = a * x * x + np.linspace(b, b + width, 9)[None, :] * x
    assert least <= values.min() + 1e-9 and values.max() - 1e-9 <= most


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("cosine", [False, True])
@pytest.mark.parametrize("rest", [Fraction(0), Fraction(7, 10), Fraction(-2, 3)])
def test_sines_of_words_are_the_floats_of_the_plan(precision, cosine, rest):
    """Every word of 9 bits, against the compiler's own; and against the truth, with the error that was proved."""
    kind, words = PRECISIONS[precision], np.arange(-256, 256)
    found = [sine_of_word(int(word), 9, rest, cosine, kind) for word in words]
    turn = float_sine.turn_on_grid(rest, PACKAGE[precision])
    expected = float_sine.float_sines(words, 9, turn, cosine, PACKAGE[precision])
    assert [float(each) for each in found] == expected.tolist()
    if precision == "single":
        assert single_sines(words, 9, rest, cosine).tolist() == expected.tolist()
    with mpmath.workdps(60):
        angles = [2 * mpmath.pi * int(word) / 512 + mpmath.mpf(rest.numerator) / rest.denominator for word in words]
        true = [mpmath.cos(angle) if cosine else mpmath.sin(angle) for angle in angles]
        worst = max(abs(float(x) - y) for x, y in zip(found, true, strict=True))
    proved = sine_error(9, rest, cosine, kind)
    assert worst <= proved
    assert proved <= float_sine.sine_error(9, rest, cosine, PACKAGE[precision])
    if precision == "single":
        assert proved <= worst * (1 + 1e-14)


def test_beyond_20_bits_the_polynomial_is_proved():
    kind = PRECISIONS["single"]
    words = np.arange(-(1 << 21), 1 << 21, 1001)
    true = np.sin(words * (2 * np.pi / (1 << 22)))
    proved = sine_error(22, Fraction(0), False, kind)
    assert np.abs(single_sines(words, 22, Fraction(0), False) - true).max() <= proved
    ours = float_sine.sine_error(22, Fraction(0), False, PACKAGE["single"])
    assert proved <= ours <= proved * (1 + 1e-8)


@pytest.mark.parametrize("precision", ["single", "double"])
def test_states_run_in_rationals(precision):
    model = arm(8, target="float", precision=precision)
    plan = plan_of(model.plan.to_plain())
    states = random_words(model, 12)
    names = [f"{kind}{j}" for kind in ("q", "qd", "qdd") for j in (1, 2)]
    for row, expected in zip(np.concatenate(states, axis=1).tolist(), reference(model, states).tolist(), strict=True):
        found = run(plan, [], dict(zip(names, row, strict=True)))
        held = [min(max(word, out.low), out.high) for word, out in zip(found, plan.outputs, strict=True)]
        assert held == expected

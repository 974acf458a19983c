"""Units that spare factors: what is spared stays spared, and what can be spared is."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bddtorque.targets.integer.integer_units import INPUT, Equation, spare_factors


def factors(equations, units):
    for equation in equations:
        logarithm = equation.logarithm + sum(units.get(word, 0.0) for word in equation.words if word != INPUT)
        yield logarithm - units.get(equation.total, 0.0)


def spared(equations, units):
    return sum(
        equation.weight
        for equation, factor in zip(equations, factors(equations, units), strict=True)
        if abs(factor) < 1e-9
    )


equations = st.builds(
    Equation,
    st.integers(0, 6),
    st.lists(st.sampled_from([INPUT, 0, 1, 2, 3, 4, 5, 6]), min_size=1, max_size=2).map(tuple),
    st.floats(-8, 8).map(lambda x: round(x, 3)) | st.just(0.0),
)


@given(st.lists(equations, max_size=12))
def test_never_fewer_factors_are_spared_than_at_the_start(given):
    assert spared(given, spare_factors(given, range(7), ())) >= spared(given, {}) - 1e-9


@given(st.lists(equations, max_size=10), st.integers(0, 6))
def test_units_that_are_whole_stay_whole_and_others_given_stay(given, whole):
    units = spare_factors(given, (), (whole,))
    assert set(units) <= {whole} and all(float(unit).is_integer() for unit in units.values())


def test_a_unit_of_time_is_found_for_all_velocities_at_once():
    # ω1 = c·q̇1, ω2 = 1·ω1 + c·q̇2·..., a = ω1·ω2: only all together can lose the factor c
    c = math.log2(0.0015)
    some = [
        Equation(0, (9, INPUT), c),
        Equation(1, (9, 0), 0.0),
        Equation(1, (9, INPUT), c),
        Equation(2, (0, 1), 0.0),
        Equation(2, (1, 1), 0.0),
        Equation(3, (9, 2), 0.0),
    ]
    units = spare_factors(some, range(4), ())
    assert spared(some, units) == pytest.approx(6.0)
    assert units[0] == pytest.approx(c) and units[2] == pytest.approx(2 * c)


def test_a_factor_that_nothing_can_spare_is_left():
    some = [Equation(0, (INPUT, INPUT), 1.5), Equation(0, (INPUT, INPUT), 0.25)]
    assert spared(some, spare_factors(some, range(1), ())) == 1.0

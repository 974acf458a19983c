"""Arithmetic that compiled code calls gives the floats of plain Python, to the last bit."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bddtorque.base.jit import arithmetic

NUMBERS = st.floats(-1e3, 1e3)


@arithmetic
def mixture(rows, i, first, pair, x):
    """Do everything that arithmetic may do."""
    (a, b), c = pair
    rows[i, first + 1] = 0.5 * a - (x - 2.0) * rows[i, 2 * first]
    rows[i, first] = 3
    kept = rows[i, first + 1], (1.0 - b, b + c, 0.25 + x)
    return kept, -(a * b), 1.0


@numba.njit
def compiled(rows, i, pair, x):
    """Call it."""
    return mixture(rows, i, 1, pair, x)


@given(st.lists(NUMBERS, min_size=4, max_size=4), st.integers(0, 3), st.booleans())
def test_compiled_arithmetic_is_that_of_python(numbers, i, strided):
    a, b, c, x = numbers
    rows = np.random.default_rng(i).uniform(-1, 1, (4, 6))
    own, other = (np.array(rows)[:, ::2] if strided else np.array(rows[:, ::2]) for _ in range(2))
    assert compiled(own, i, ((a, b), c), x) == mixture(other, i, 1, ((a, b), c), x)
    assert np.array_equal(own, other) and own[i, 1] == 3.0


def test_what_returns_nothing_is_a_statement():
    @arithmetic
    def negate(vector, k):
        vector[k] = -vector[k]

    @numba.njit
    def negate_all(vector):
        for k in range(len(vector)):
            negate(vector, k)

    vector = np.array([1.0, -0.0, np.inf])
    negate_all(vector)
    assert vector.tobytes() == np.array([-1.0, 0.0, -np.inf]).tobytes()


def test_numbers_decide_nothing():
    @arithmetic
    def larger(x, y):
        return x if x > y else y

    with pytest.raises(TypeError):
        numba.njit(lambda x, y: larger(x, y) + 0.0)(1.0, 2.0)

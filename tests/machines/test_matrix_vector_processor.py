"""The matrix-vector processor of LAT section 7: right values within its units, a dot product in three steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bddtorque as bt
from machines.lathrop.matrix_vector_processor import (
    CROSS_PRODUCT,
    DOT_PRODUCT,
    MICROPROGRAMS,
    UnitOperation,
    check_step,
    initiation_steps,
    run_module,
    run_processor,
)
from machines.lathrop.vector_program import MV, SV, VA, VC, Times

numbers = st.integers(-50, 50)
vectors = st.tuples(numbers, numbers, numbers)


@given(st.tuples(vectors, vectors, vectors), vectors, vectors, numbers)
def test_values(matrix: tuple, u: tuple, v: tuple, factor: int) -> None:
    assert run_processor("MV", matrix, v)[0] == tuple(np.array(matrix) @ v)
    assert run_processor("VC", u, v)[0] == tuple(np.cross(u, v))
    assert run_processor("VA", u, v)[0] == tuple(np.add(u, v))
    assert run_processor("SV", factor, v)[0] == tuple(factor * np.array(v))


def test_steps_are_the_primitive_times() -> None:
    for primitive in (MV, VC, VA, SV):
        assert len(MICROPROGRAMS[primitive.name]) == Times(1, 1).of(primitive)
    assert [len(step) for step in DOT_PRODUCT] == [2, 2, 1]  # two products; a product and a sum; the last sum
    assert initiation_steps(DOT_PRODUCT) == 2
    assert initiation_steps(CROSS_PRODUCT) == 1


def test_more_units_than_there_are_is_refused() -> None:
    product = UnitOperation("multiply", "a", "u0", "v0")
    with pytest.raises(bt.BddTorqueError, match="2 products"):
        check_step([product, product, product])
    with pytest.raises(bt.BddTorqueError, match="1 sum"):
        run_module(
            ((UnitOperation("add", "a", "u0", "v0"), UnitOperation("add", "out", "u0", "v0")),), {"u0": 1, "v0": 2}
        )
    with pytest.raises(KeyError):  # a sum cannot read a product of the same step
        run_module(((product, UnitOperation("add", "out", "a", "u0")),), {"u0": 1, "v0": 2})

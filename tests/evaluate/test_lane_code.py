"""Statements in vector lanes: rows taken apart and put together, and the words of a plan on vectors of any length."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from compiled import arm, random_words, reference
from numba.extending import intrinsic

from bddtorque.evaluate import float_straight
from bddtorque.evaluate.float_straight import TILE
from bddtorque.evaluate.llvm_code import emitted_in_lanes, lane_step


@pytest.mark.parametrize("joints", [1, 2, 3, 5, 6, 7])
def test_rows_are_taken_apart_and_put_together(joints: int) -> None:
    """Each vector has one joint of all states, in one order for all joints; back again it is what it was."""
    lanes = 8
    vectors, names = (", ".join(f"{letter}{k}" for k in range(joints)) for letter in "va")
    text = "\n".join(f"v{k} = given[{lanes * k}]" for k in range(joints))
    text += f"\n{names}, = apart({lane_step(joints, lanes)}, {vectors})\nback[0] = together({names})\n"
    text += "\n".join(f"taken[{lanes * k}] = a{k}" for k in range(joints))

    def run(typing: Any, given: Any, taken: Any, back: Any) -> Any:
        return emitted_in_lanes(text, (), np.float32, {"given": given, "taken": taken, "back": back}, lanes)

    given = np.arange(joints * lanes, dtype=np.float32)
    taken, back = np.zeros_like(given), np.zeros_like(given)
    call: Any = intrinsic(run)
    numba.njit(lambda a, b, c: call(a, b, c))(given, taken, back)  # noqa: PLW0108
    rows = taken.reshape(joints, lanes).T  # a state in each
    assert np.array_equal(back, given)
    assert sorted(rows.tolist()) == given.reshape(lanes, joints).tolist()


@pytest.mark.parametrize("bytes_of_vector", [16, pytest.param(32, marks=pytest.mark.everything)])
def test_shorter_vectors_give_the_same_words(monkeypatch: pytest.MonkeyPatch, bytes_of_vector: int) -> None:
    """As on processors without AVX-512, or without AVX; words out of range and angles beyond limits are counted."""
    monkeypatch.setattr(
        float_straight, "vector_lanes", lambda dtype: bytes_of_vector // np.dtype(dtype).itemsize, raising=True
    )
    model = arm(8, target="float", position=((-1.0, 1.0), (2.0, 4.0)))
    words = random_words(model, TILE + 9)
    for each in words:
        each[[3, 40]] *= 3
    expected = reference(model, words)
    rows, columns = model.evaluator(), model.evaluator()
    assert np.array_equal(rows.torque_words(*words), expected)
    assert np.array_equal(columns.torque_words(*map(np.asfortranarray, words)), expected)
    assert rows.out_of_range.any(axis=1).all()
    assert np.array_equal(rows.out_of_range, columns.out_of_range)

"""Every quantity, words at run time and functions, on every target: all evaluators and calls give the plan's words."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError
from small_models import small_function, small_quantity

import bddtorque as bt
from bddtorque.dynamics.quantities import QUANTITIES
from bddtorque.evaluate.float_straight import TILE
from bddtorque.plan.reference import run_plan
from bddtorque.targets import TARGETS

SUBJECTS = (*QUANTITIES, "payload", "function")
STATES = 2 * TILE + 5


def model_of(subject: str, target: str, shape: str = "arm") -> bt.Model:
    if subject == "function":
        return small_function(target)
    quantity, given = ("gravity", "payload") if subject == "payload" else (subject, "")
    return small_quantity(quantity, target, shape, given)


def wild_words(model: bt.Model, seed: int = 0) -> dict[str, np.ndarray]:
    """Return words (N, n) by array, or (N,) for numbers; some tiles have words beyond their formats."""
    rng, words = np.random.default_rng(seed), {}
    for array in model.formats.inputs:
        rows = rng.integers(array.lowest, array.highest, (STATES, len(array)), endpoint=True)
        rows[:3] *= 3
        words[array.name] = rows if array.shape else rows[:, 0]
    return words


def expected_words(model: bt.Model, words: dict[str, np.ndarray]) -> np.ndarray:
    """Return the output words (N, outputs) by the plain interpreter."""
    columns = {}
    for array in model.formats.inputs:
        rows = array.held(words[array.name].reshape(STATES, -1))
        columns |= dict(zip(array.word_names, rows.T, strict=True))
    found = run_plan(model.plan, model.tables, columns)
    return np.stack([np.broadcast_to(column, STATES) for column in found], axis=1)


def flat(model: bt.Model, results: Any) -> np.ndarray:
    """Return what `words` or `value` gave as one array (N, outputs)."""
    arrays = results if isinstance(results, tuple) else (results,)
    columns = []
    for array, result in zip(model.formats.outputs, arrays, strict=True):
        entries = np.asarray(result).reshape(STATES, -1)
        if len(array) != entries.shape[1]:  # a symmetric matrix
            entries = np.asarray(result)[:, *np.triu_indices(array.shape[0])]
        columns.append(entries)
    return np.concatenate(columns, axis=1)


def check_calls(model: bt.Model, evaluator: bt.Evaluator) -> None:
    words = wild_words(model)
    expected = expected_words(model, words)
    assert np.array_equal(evaluator.output_words(**words), expected)
    outside = evaluator.out_of_range.copy()
    assert outside.any() or all(word.kind == "angle" for word in model.formats.words.values())
    assert np.array_equal(flat(model, evaluator.words(*words.values())), expected)
    assert np.array_equal(evaluator.out_of_range, 2 * outside)
    columns = {name: np.asfortranarray(rows) for name, rows in words.items()}
    assert np.array_equal(flat(model, evaluator.words(**columns)), expected)
    by_array = evaluator.out_of_range_by_array
    assert [by_array[array.name].shape for array in model.formats.inputs] == [
        each.shape for each in model.formats.inputs
    ]
    for state in (0, 1, STATES - 1):
        single = evaluator.words(*(rows[state] for rows in words.values()))
        batch = evaluator.words(*(rows[state : state + 1] for rows in words.values()))
        for one, row in zip(*(each if isinstance(each, tuple) else (each,) for each in (single, batch)), strict=True):
            assert np.array_equal(one, row[0])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_straight_code_gives_the_words_of_the_plan(subject: str, target: str) -> None:
    model = model_of(subject, target)
    check_calls(model, model.evaluator("words", "straight", on_range="saturate"))


@pytest.mark.parametrize("kind", [("words", "dense"), ("bits", "bits"), ("parallel", "lockstep")], ids=str)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_programs_give_them_too(subject: str, kind: tuple[str, str]) -> None:
    model = model_of(subject, "tables")
    check_calls(model, model.evaluator(*kind, on_range="saturate"))


@pytest.mark.parametrize("subject", QUANTITIES)
def test_and_so_it_is_for_a_tree(subject: str) -> None:
    model = model_of(subject, "float", "tree")
    check_calls(model, model.evaluator(on_range="saturate"))


@pytest.mark.parametrize("target", ["tables", "float"])
@pytest.mark.parametrize("subject", SUBJECTS)
def test_values_go_through_the_words(subject: str, target: str) -> None:
    model = model_of(subject, target)
    evaluator = model.evaluator("words", "straight", on_range="saturate")
    words, values = {}, {}
    for array in model.formats.inputs:
        rows = array.held(wild_words(model)[array.name].reshape(STATES, -1))
        floats = array.dequantise(rows)
        words[array.name], values[array.name] = (each if array.shape else each[:, 0] for each in (rows, floats))
    outputs = [word for array in model.formats.outputs for word in array]
    found = expected_words(model, words)
    expected = np.stack([word.dequantise(found[:, k]) for k, word in enumerate(outputs)], axis=1)
    assert np.array_equal(evaluator.output_values(**values), expected)
    assert np.array_equal(flat(model, evaluator.value(**values)), expected)
    single = evaluator.value(*(rows[7] for rows in values.values()))
    first = single[0] if isinstance(single, tuple) else single
    assert np.ravel(first)[0] == expected[7, 0]


@pytest.mark.parametrize("target", ["tables", "float"])
@pytest.mark.parametrize("subject", [each for each in SUBJECTS if each != "function"])
def test_kernels_take_the_arrays(subject: str, target: str) -> None:
    model = model_of(subject, target)
    kernel, words = model.evaluator("words", "straight").kernel, wild_words(model)
    expected = expected_words(model, words)
    out = np.zeros_like(expected)
    kernel(*words.values(), out)
    assert np.array_equal(out, expected)
    kernel(*(rows[4] for rows in words.values()), out[0])
    assert np.array_equal(out[0], expected[4])
    with pytest.raises(ValueError, match="kernel: arrays must have shape"):
        kernel(*words.values(), np.zeros((STATES, out.shape[1] + 1), dtype=np.int64))
    with pytest.raises(TypingError, match=rf"kernel takes {len(words) + 1} arrays"):
        kernel(*words.values())


@pytest.mark.parametrize("form", ["straight", "dense"])
def test_the_kernel_of_a_function_takes_numbers(form: str) -> None:
    model = model_of("function", "tables")
    kernel = model.evaluator("words", form).kernel
    words = wild_words(model)

    @numba.njit
    def loop(x: Any, y: Any, out: Any) -> None:
        for k in range(len(x)):
            out[k, 0] = kernel(x[k], y[k])

    out = np.zeros((STATES, 1), dtype=np.int64)
    loop(words["x"], words["y"], out)
    assert np.array_equal(out, expected_words(model, words))
    large = np.uint64(2**63 + 5)  # beyond int64: as high as any word, but an angle keeps its low bits
    assert kernel(large, large) == model.words(2**40, 5)
    with pytest.raises(TypingError, match="kernel: y must be an integer"):
        kernel(1, 1.5)
    with pytest.raises(TypingError, match="kernel takes 2 words"):
        kernel(1)


def test_torques_have_every_call() -> None:
    model = model_of("torque", "float")
    words = list(wild_words(model).values())
    assert np.array_equal(model.words(*words), model.torque_words(*words))
    floats = [array.dequantise(array.held(rows)) for array, rows in zip(model.formats.inputs, words, strict=True)]
    assert np.array_equal(model.value(*floats), model.torque(*floats))
    for subject in ("bias", "computed_torque", "function"):
        with pytest.raises(bt.BddTorqueError, match="not"):
            model_of(subject, "float").torque_words([0, 0], [0, 0], [0, 0])

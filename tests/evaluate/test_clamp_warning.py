"""The first number that an evaluator clamps gives a warning that names the joint and its range; no other does."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from compiled import Later

import bddtorque as bt

MODELS = Later(
    {
        "tables": lambda: bt.compile("planar2r", bits=4),
        "float": lambda: bt.compile("planar2r", bits=6, target="float"),
    }
)
SAID = r"velocity of joint 'elbow' is beyond its range, -2.* to 1.* rad/s, and was clamped"
ZERO = np.zeros(2, dtype=np.int64)


@pytest.fixture(params=list(MODELS))
def model(request: pytest.FixtureRequest) -> bt.Model:
    return MODELS[request.param]


def velocity(model: bt.Model) -> np.ndarray:
    return np.array([0.0, 3 * model.formats.qd["elbow"].high])


@pytest.mark.parametrize("rows", [None, 3])
def test_floats(model: bt.Model, rows: int | None) -> None:
    evaluator = model.evaluator()
    fast = velocity(model) if rows is None else np.tile(velocity(model), (rows, 1))
    evaluator.torque(np.zeros_like(fast), fast * 0)
    with pytest.warns(bt.ClampWarning, match="velocity of joint 'elbow' is beyond its range") as caught:
        tau = evaluator.torque(np.zeros_like(fast), fast)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert evaluator.out_of_range[1].tolist() == [0, rows or 1]
    silent(lambda: np.testing.assert_array_equal(evaluator.torque(np.zeros_like(fast), fast), tau))
    assert evaluator.out_of_range[1].tolist() == [0, 2 * (rows or 1)]


@pytest.mark.parametrize("make", [np.array, list, lambda words: np.array([words] * 4)])
def test_words(model: bt.Model, make: object) -> None:
    evaluator = model.evaluator()
    fast = make([0, int(model.formats.qd["elbow"].highest) + 1])  # type: ignore[operator]
    still = make([0, 0])  # type: ignore[operator]
    silent(lambda: evaluator.torque_words(still, still, still))
    with pytest.warns(bt.ClampWarning, match="velocity of joint 'elbow'"):
        tau = evaluator.torque_words(still, fast, still)
    silent(lambda: np.testing.assert_array_equal(evaluator.torque_words(still, fast, still), tau))
    assert evaluator.out_of_range[1, 1] == 2 * (1 if np.ndim(fast) == 1 else 4)


def test_angles_wrap_and_give_none(model: bt.Model) -> None:
    evaluator = model.evaluator()
    silent(lambda: evaluator.torque(np.array([100.0, -100.0])))
    silent(lambda: evaluator.torque_words(np.array([1 << 20, -(1 << 20)])))


def test_each_evaluator_has_its_own(model: bt.Model) -> None:
    for evaluator in (model.evaluator(), pickle.loads(pickle.dumps(model.evaluator())), model.evaluator("parallel")):
        with pytest.warns(bt.ClampWarning):
            evaluator.torque(np.zeros(2), velocity(model))


def test_silence_and_refusal(model: bt.Model) -> None:
    silent(lambda: model.evaluator(on_range="saturate").torque(np.zeros(2), velocity(model)))
    with pytest.raises(bt.BddTorqueError, match="velocity of joint 'elbow' must be between"):
        model.evaluator(on_range="raise").torque(np.zeros(2), velocity(model))
    with pytest.raises(bt.BddTorqueError, match="on_range must be 'warn', 'saturate' or 'raise', got 'warm'; did you"):
        model.evaluator(on_range="warm")  # type: ignore[arg-type]


def test_functions() -> None:
    model = bt.compile_function(lambda x: x * x, inputs={"x": (6, 1.0)}, output=(6, 1.0))
    with pytest.warns(bt.ClampWarning, match="x is beyond its range"):
        model.value(3.0)
    silent(lambda: model.value(3.0))


def silent(call: object) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call()  # type: ignore[operator]

"""Single states of quantities and functions: one compiled call gives what the ordinary way gives, or leaves it."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from compiled import compiled

import bddtorque as bt
from bddtorque.base.errors import ClampWarning
from bddtorque.evaluate.state_arrays import StateArrays

CASES = [
    ("gravity", "tables"),
    ("bias", "float"),
    ("mass_matrix", "integer"),
    ("kinematics", "float"),
    ("computed_torque", "float"),
]


def model_of(quantity: str, target: str) -> bt.Model:
    if quantity == "computed_torque":
        gains = {"kp": 30.0, "kv": 8.0}
        return bt.compile("planar2r", quantity=quantity, target=target, bits=6, gains=gains, workers=1)
    return compiled("planar2r", quantity=quantity, target=target, bits=6)


def flat(results: Any) -> list[Any]:
    return [each.tolist() for each in (results if isinstance(results, tuple) else (results,))]


@pytest.mark.parametrize(("quantity", "target"), CASES)
def test_a_single_state_is_the_row_of_a_batch(quantity: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(quantity, target)
    one, many = model.evaluator(on_range="saturate"), model.evaluator(on_range="saturate")
    rng = np.random.default_rng(1)
    arrays = model.formats.inputs
    values = {array.name: rng.normal(0, 4, (20, len(array))) for array in arrays}  # some beyond their ranges
    words = {
        array.name: rng.integers(
            [2 * word.lowest for word in array], [2 * word.highest for word in array], (20, len(array))
        )
        for array in arrays
    }
    batch, batch_words = many.value(**values), many.words(**words)
    monkeypatch.setattr(StateArrays, "rows", None)  # what the ordinary way begins with
    for k in range(20):
        wanted = flat(tuple(each[k] for each in (batch if isinstance(batch, tuple) else (batch,))))
        assert flat(one.value(*(each[k] for each in values.values()))) == wanted
        wanted = flat(tuple(each[k] for each in (batch_words if isinstance(batch_words, tuple) else (batch_words,))))
        assert flat(one.words(**{name: each[k].tolist() for name, each in words.items()})) == wanted
    assert one.out_of_range.tolist() == many.out_of_range.tolist()
    first = [each[0] for each in values.values()]
    for alike in (
        [each.tolist() for each in first],
        [tuple(each) for each in first],
        [each[::-1][::-1] for each in first],
    ):
        assert flat(one.value(*alike)) == flat(one.value(*first))
    again = pickle.loads(pickle.dumps(one))
    assert flat(again.value(*first)) == flat(one.value(*first))


def test_what_the_compiled_call_does_not_take_is_refused_as_ever() -> None:
    model = model_of("bias", "float")
    q = [0.1, 0.2]
    for given, named, message in (
        (([0.1, np.nan], q), {}, "finite"),
        ((q,), {"q": q}, "given twice"),
        ((q,), {}, "'qd' is missing"),
        ((q, q, q), {}, "takes 2 arrays"),
        ((q, [1.0]), {}, r"qd must have shape \(2,\)"),
        ((q, ["a", "b"]), {}, "real numbers"),
        ((q, [[1.0], [2.0, 3.0]]), {}, "ragged"),
    ):
        with pytest.raises(bt.BddTorqueError, match=message):
            model.value(*given, **named)
    with pytest.raises(bt.BddTorqueError, match="integer words"):
        model.words(q, [1, 2])
    with pytest.raises(bt.BddTorqueError, match="quantity 'bias'"):
        model.torque(q, q, q)
    assert (
        model.words([1, 2], np.array([1, 2**63 + 5], dtype=np.uint64)).tolist()
        == model.words([1, 2], [1, 2**40]).tolist()
    )


def test_the_first_clamped_number_warns_and_more_are_counted() -> None:
    evaluator = model_of("bias", "float").evaluator()
    for call, beyond in ((evaluator.value, [99.0, 0.0]), (model_of("bias", "float").evaluator().words, [99, 0])):
        with pytest.warns(ClampWarning, match="velocity of joint 'shoulder'"):
            call([0, 0], beyond)
        call([0, 0], beyond)
        assert call.__self__.out_of_range.tolist() == [[0, 0], [2, 0]]
    strict = model_of("bias", "float").evaluator(on_range="raise")
    with pytest.raises(bt.BddTorqueError, match="velocity of joint 'shoulder' must be between"):
        strict.value([0, 0], [99.0, 0.0])


def test_numbers_of_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    square = bt.compile_function(lambda x, y: x * x - y, inputs={"x": (8, (1.0, 3.0)), "y": (8, 1.0)}, output=(8, 12.0))
    x, y = np.linspace(1, 3, 9), np.linspace(-1, 1, 9)
    values, words = square.value(x, y), square.words(np.arange(9), np.arange(9))
    monkeypatch.setattr(StateArrays, "rows", None)
    assert [square.value(float(a), float(b)) for a, b in zip(x, y, strict=True)] == values.tolist()
    found = [square.words(k, k) for k in range(9)]
    assert found == words.tolist() and {type(word) for word in found} == {int}
    assert type(square.value(2, 0)) is float

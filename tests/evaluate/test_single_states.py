"""Single states go through one compiled call: the same words, counts and errors, whatever it takes or leaves."""

import copy
import pickle

import numpy as np
import pytest
from compiled import arm, random_words
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import bddtorque as bt

KINDS = [("words", "straight"), ("words", "dense"), ("bits", None), ("parallel", "straight")]
ANGLES = st.one_of(st.floats(-8, 8), st.sampled_from([np.pi, -np.pi, 3 * np.pi, -0.0, 1e7]))
VALUES = st.floats(-1.5, 1.5)


@pytest.fixture(scope="module", params=KINDS, ids=str)
def pair(request):
    """An evaluator for single states, and one for batches: the ordinary way."""
    model = arm(6, workers=1)
    return model.evaluator(*request.param), model.evaluator(*request.param)


def compared(pair, call, state):
    single, batch = pair
    single.out_of_range[:] = batch.out_of_range[:] = 0
    found = getattr(single, call)(*state)
    expected = getattr(batch, call)(*(each[np.newaxis] for each in state))
    assert found.shape == (2,) and found.dtype == expected.dtype
    assert np.array_equal(found, expected[0])
    assert np.array_equal(single.out_of_range, batch.out_of_range)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=6, max_size=6))
def test_words(pair, words):
    compared(pair, "torque_words", np.array(words, dtype=np.int64).reshape(3, 2))


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(ANGLES, min_size=2, max_size=2), st.lists(VALUES, min_size=4, max_size=4))
def test_floats(pair, angles, values):
    compared(pair, "torque", np.array([*angles, *values]).reshape(3, 2))


def test_inputs_that_no_torque_reads_are_counted_once():
    robot = bt.load_robot("scara")  # nothing depends on its first position
    model = bt.compile(robot, bits=3, position=0.5, velocity=1.0, acceleration=1.0, torque=300.0, workers=1)
    single, batch = model.evaluator(), model.evaluator()
    rng = np.random.default_rng(5)
    words = rng.integers(-9, 9, (200, 3, 4))
    for state in words:
        single.torque_words(*state)
    batch.torque_words(*words.transpose(1, 0, 2))
    assert single.out_of_range[0, 0] > 0
    assert np.array_equal(single.out_of_range, batch.out_of_range)
    single.torque(np.full(4, 1.0), np.zeros(4), np.zeros(4))
    batch.torque(np.full((1, 4), 1.0), np.zeros(4), np.zeros(4))
    assert np.array_equal(single.out_of_range, batch.out_of_range)


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("other", [np.int32, np.uint64, "reversed", "list", "rows", "locked"])
def test_words_given_otherwise(place, other):
    evaluator = arm(6, workers=1).evaluator()
    state = [each[0] for each in random_words(evaluator.model, 1)]
    expected = evaluator.torque_words(*state)
    given_arrays = list(state)
    word = np.abs(state[place])
    changes = {"reversed": lambda: word[::-1].copy()[::-1], "list": word.tolist, "rows": lambda: word[np.newaxis]}
    if other == "locked":
        given_arrays[place] = word.copy()
        given_arrays[place].flags.writeable = False
    else:
        given_arrays[place] = changes[other]() if other in changes else word.astype(other)
    plain = list(state)
    plain[place] = word
    for _ in range(2):  # the second time it is known that arrays may differ
        found = evaluator.torque_words(*given_arrays)
        assert np.array_equal(found.reshape(-1), evaluator.torque_words(*plain))
    assert found.ndim == (2 if other == "rows" else 1)
    assert np.array_equal(evaluator.torque_words(*state), expected)


class Row(list):
    """A list of one's own: it goes the ordinary way."""


LIKE = {
    "list": np.ndarray.tolist,
    "tuple": lambda x: tuple(x.tolist()),
    "list of NumPy's numbers": list,
    "own list": lambda x: Row(x.tolist()),
    "float32": lambda x: x.astype(np.float32),
    "big-endian": lambda x: x.astype(">f8"),
    "strided": lambda x: np.stack([x, x])[:, ::-1].T[::-1, 0],
    "integers": lambda x: np.rint(x).astype(np.int16),
    "list of integers": lambda x: np.rint(x).astype(int).tolist(),
    "masked": np.ma.array,
}


@pytest.mark.parametrize("target", ["tables", "float"])
@pytest.mark.parametrize("like", LIKE)
def test_floats_given_otherwise(like, target):
    """The same torques and the same counts as from the arrays they stand for, whichever of the three they are."""
    model = arm(6, workers=1, target=target)
    one, other = model.evaluator(), model.evaluator()
    for k, state in enumerate(np.random.default_rng(2).uniform(-1.2, 1.2, (9, 3, 2)) * [[[3.0], [1.0], [1.0]]]):
        given_state = [LIKE[like](each) if k % 4 in (place, 3) else each for place, each in enumerate(state)]
        meant = [np.asarray(each, dtype=np.float64)[np.newaxis] for each in given_state]
        assert np.array_equal(one.torque(*given_state), other.torque(*meant)[0])
    assert np.array_equal(one.out_of_range, other.out_of_range)
    assert one.out_of_range.any()


def test_lists_are_refused_as_arrays_are():
    evaluator = arm(6, workers=1).evaluator(on_range="raise")
    fine = [0.0, 0.1]
    evaluator.torque(fine, fine, fine)
    for bad, said in (
        ([0.0, float("nan")], "finite"),
        ([0.0], "shape"),
        ([0.0, 0.1, 0.2], "shape"),
        (["0.0", "0.1"], "real numbers"),
        ([True, False], "real numbers"),
        ([0.0, None], "real numbers"),
        ([0.0, [0.1]], "ragged"),
        ([0.0, 9.0], "must be between"),
    ):
        for state in ((fine, bad, fine), (tuple(fine), fine, tuple(bad))):
            with pytest.raises(bt.BddTorqueError, match=said):
                evaluator.torque(*state)
    for bad, said in (
        ([0, 1.5], "integer words"),
        ([0], "shape"),
        ([], "integer words"),
        (["0", "1"], "integer words"),
    ):
        with pytest.raises(bt.BddTorqueError, match=said):
            evaluator.torque_words(bad, [0, 0], [0, 0])
    assert evaluator.torque(fine, 0.0, 0).shape == (2,) and evaluator.torque([fine, fine], fine, fine).shape == (2, 2)
    assert not evaluator.out_of_range.any()


@pytest.mark.parametrize("on_range", ["saturate", "raise"])
def test_the_same_errors(on_range):
    evaluator = arm(6, workers=1).evaluator(on_range=on_range)
    zero, words = np.zeros(2), np.zeros(2, dtype=np.int64)
    evaluator.torque(zero, zero, zero)
    for bad in (np.nan, np.inf):
        with pytest.raises(bt.BddTorqueError, match=r"velocit.*finite"):
            evaluator.torque(zero, np.array([0.0, bad]), zero)
    with pytest.raises(bt.BddTorqueError, match="turns"):
        evaluator.torque(np.array([0.0, 1e12]), zero, zero)
    with pytest.raises(bt.BddTorqueError, match=r"shape \(2,\)"):
        evaluator.torque_words(words, np.zeros(3, dtype=np.int64), words)
    with pytest.raises(bt.BddTorqueError, match="integer words, got float64"):
        evaluator.torque_words(zero, words, words)
    if on_range == "raise":
        with pytest.raises(bt.BddTorqueError, match=r"^acceleration of joint 'elbow' must be .* rad/s², got 9$"):
            evaluator.torque(zero, zero, np.array([0.0, 9.0]))
    assert not evaluator.out_of_range.any()


def test_copies_have_counts_and_arrays_of_their_own():
    evaluator = arm(6, workers=1).evaluator("words", "dense")
    wild = np.full(2, 1000)
    first = evaluator.torque_words(wild, wild, wild)
    twin = copy.deepcopy(evaluator)
    assert np.array_equal(twin.torque_words(wild, wild, wild), first)
    assert (twin.out_of_range[1:] == 2).all() and (evaluator.out_of_range[1:] == 1).all()


def test_a_model_that_was_used_can_be_pickled():
    model = bt.compile("planar2r", bits=4, workers=1)
    zero = np.zeros(2, dtype=np.int64)
    tau = model.torque_words(zero, zero, zero)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.torque_words(zero, zero, zero), tau)


@pytest.mark.parametrize("form", ["straight", "dense"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_torques_of_a_batch_in_an_array_at_hand(form, order):
    evaluator = arm(6, workers=1).evaluator("words", form)
    words = random_words(evaluator.model, 100)
    expected = evaluator.torque_words(*words)
    given_words = [np.asarray(each, order=order) for each in words]
    wide = np.zeros((100, 4), dtype=np.int64)
    for out in (np.empty((100, 2), dtype=np.int64), np.empty((100, 2), dtype=np.int64, order="F"), wide[:, ::2]):
        out[:] = 0
        assert evaluator.torque_words(*given_words, out) is out
        assert np.array_equal(out, expected)
    assert not wide[:, 1::2].any()
    one = np.empty(2, dtype=np.int64)
    assert evaluator.torque_words(*(each[3] for each in words), out=one) is one and np.array_equal(one, expected[3])
    for bad in (np.empty((100, 2)), np.empty((99, 2), dtype=np.int64), [0, 0], np.empty(2, dtype=np.int64)):
        with pytest.raises(bt.BddTorqueError, match="out must be a writable int64 array of shape"):
            evaluator.torque_words(*words, bad)

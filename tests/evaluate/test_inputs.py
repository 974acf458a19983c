"""What evaluators take: wild words, any integer type, shapes and batches, floats out of range, NaN."""

import numpy as np
import pytest
from compiled import arm, random_words, reference

import bddtorque as bt
from bddtorque.words.formats import Format, limits

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
KINDS = [("words", "dense"), ("words", "straight"), ("bits", None)]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_wild_words_of_any_type_are_masked_and_clamped(kind, dtype):
    model = arm(6, workers=1)
    rng = np.random.default_rng(3)
    info = np.iinfo(dtype)
    wild = [rng.integers(info.min, info.max, (3000, 2), dtype=dtype, endpoint=True) for _ in range(3)]
    for each in wild:
        each[0], each[1], each[2] = info.min, info.max, info.max // 2 + 1
    held = [formats.held(each) for formats, each in zip(model.formats.inputs, wild, strict=True)]
    evaluator = model.evaluator(*kind)
    tau = evaluator.torque_words(*wild)
    assert np.array_equal(tau, reference(model, held)) and np.array_equal(tau, reference(model, wild))
    for k, (formats, each) in enumerate(zip(model.formats.inputs, wild, strict=True)):
        for j, word in enumerate(formats):
            low, high = (word.lowest, word.highest) if k else limits(word)
            seen = word.held(each[:, j]) if k == 0 else each[:, j].astype(object)
            assert evaluator.out_of_range[k, j] == np.count_nonzero((seen < low) | (seen > high))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_ends_of_int64_read_nothing_outside(kind):
    evaluator = arm(6, workers=1).evaluator(*kind)
    ends = np.array(
        [[np.iinfo(np.int64).min, np.iinfo(np.int64).max], [np.iinfo(np.int64).max, np.iinfo(np.int64).min]]
    )
    tau = evaluator.torque_words(ends, ends, ends)
    held = [formats.held(ends) for formats in evaluator.model.formats.inputs]
    assert np.array_equal(tau, evaluator.torque_words(*held))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_an_arm_is_at_rest_unless_motion_is_given(kind):
    model = arm(6, workers=1, velocity=((-0.5, 1.5),) * 2)  # the word 0 is no velocity of 0
    still = np.zeros(2)
    rest = [formats.quantise(still) for formats in (model.formats.qd, model.formats.qdd)]
    assert rest[0].any()
    evaluator = model.evaluator(*kind)
    words = random_words(model, 50)[0]
    values = model.formats.q.dequantise(words)
    for q, word in ((values, words), (values[3], words[3]), (values[3].tolist(), words[3].tolist())):
        expected = evaluator.torque_words(word, *rest)
        assert np.array_equal(evaluator.torque_words(word), expected)
        assert np.array_equal(evaluator.torque_words(word, rest[0]), expected)
        assert np.array_equal(evaluator.torque_words(word, qdd=rest[1]), expected)
        torques = model.formats.tau.dequantise(expected)
        for motion in ((), (0,), (0, 0), (0.0, 0.0), (still, 0), (0, still)):
            assert np.array_equal(evaluator.torque(q, *motion), torques)
    assert not evaluator.out_of_range.any()
    with pytest.raises(bt.BddTorqueError, match=r"qd must have shape \(2,\) or \(N, 2\)"):
        evaluator.torque(values, 1.0)


def test_shapes_follow_the_input_and_single_states_are_repeated():
    model = arm(6, workers=1)
    q, qd, qdd = random_words(model, 7)
    whole = model.torque_words(q, qd, qdd)
    assert whole.shape == (7, 2) and whole.dtype == np.int64
    assert np.array_equal(model.torque_words(q[3], qd[3], qdd[3]), whole[3])
    assert model.torque_words(q[3].tolist(), qd[3].tolist(), qdd[3].tolist()).shape == (2,)
    assert np.array_equal(model.torque_words(q, qd[0], qdd[:1]), model.torque_words(q, qd[[0] * 7], qdd[[0] * 7]))
    assert model.torque_words(q[:1], qd[0], qdd[0]).shape == (1, 2)
    assert model.torque_words(q[:0], qd[:0], qdd[:0]).shape == (0, 2)
    assert model.torque_words(q[:0], qd[0], qdd[0]).shape == (0, 2)
    assert np.array_equal(model.torque_words(q[::-2], qd[::-2], qdd[::-2]), whole[::-2])
    strided = np.asfortranarray(q)
    assert np.array_equal(model.torque_words(strided, qd, qdd), whole)
    assert model.torque(np.zeros((0, 2)), np.zeros((0, 2)), np.zeros(2)).shape == (0, 2)
    floats = [kind.dequantise(each) for kind, each in zip(model.formats.inputs, (q, qd, qdd), strict=True)]
    assert np.array_equal(model.torque(floats[0], floats[1][0], floats[2][0]).shape, (7, 2))


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ((np.zeros((3, 2)), [0, 0], [0, 0]), "q must be integer words, got float64"),
        (([0, 0], np.zeros(2, np.float32), [0, 0]), "qd must be integer words"),
        (([0, 0], [0, 0], [True, False]), "qdd must be integer words, got bool"),
        (([0, 0, 0], [0, 0], [0, 0]), r"q must have shape \(2,\) or \(N, 2\), got \(3,\)"),
        (([0, 0], [[[0, 0]]], [0, 0]), r"qd must have shape \(2,\) or \(N, 2\)"),
        (([0, 0], 0, [0, 0]), "qd must have shape"),
        (([[0, 0]] * 3, [[0, 0]] * 2, [0, 0]), r"the same number of rows, got \[3, 2, 1\]"),
    ],
)
def test_what_are_no_words_is_refused(given, match):
    with pytest.raises(bt.BddTorqueError, match=match):
        arm(6, workers=1).torque_words(*given)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("on_range", ["saturate", "raise"])
def test_nan_and_infinity_raise(bad, place, on_range):
    state = [np.zeros((4, 2)) for _ in range(3)]
    state[place][2, 1] = bad
    with pytest.raises(bt.BddTorqueError, match="finite"):
        arm(6, workers=1).evaluator(on_range=on_range).torque(*state)


def test_out_of_range_saturates_and_is_counted_once():
    model = arm(6, workers=1)
    evaluator = model.evaluator()
    q, qd, qdd = np.zeros((5, 2)), np.zeros((5, 2)), np.zeros((5, 2))
    qd[1, 0], qd[2, 0], qdd[3, 1], qdd[4, 1], q[0, 1] = 9.0, -1.5, 2.0, -2.0, 4.0
    tau = evaluator.torque(q, qd, qdd)
    assert evaluator.out_of_range.tolist() == [[0, 1], [2, 0], [0, 2]]
    clipped = [np.clip(qd, -1, model.formats.qd[0].span[1]), np.clip(qdd, -1, model.formats.qdd[0].span[1])]
    assert np.array_equal(tau, model.evaluator().torque(q, *clipped))
    evaluator.torque(q, qd, qdd)
    assert evaluator.out_of_range.tolist() == [[0, 2], [4, 0], [0, 4]]  # and they add up
    assert not model.evaluator().out_of_range.any()  # every evaluator has its own


def test_a_value_within_half_a_unit_above_the_top_word_is_in_range():
    evaluator = arm(6, workers=1).evaluator(on_range="raise")
    top = evaluator.model.formats.qd[0]
    evaluator.torque([0, 0], [top.span[1] + 0.499 * top.lsb, 0], [0, 0])
    with pytest.raises(bt.BddTorqueError, match=r"-1 and 1 rad/s \(its words end at -1 and 0.96875\), got 0.984"):
        evaluator.torque([0, 0], [top.span[1] + 0.501 * top.lsb, 0], [0, 0])
    assert not evaluator.out_of_range.any()


def test_raising_names_the_limits_of_the_joint_and_not_the_ends_of_its_words():
    model = bt.compile("planar2r", bits=4, position=[[2.0, 4.5], [-0.5, 0.5]], workers=1, cache=None)
    evaluator = model.evaluator(on_range="raise")
    for q, message in (
        ([[3.0, 0.6], [3.0, -0.7]], "^position of joint 'elbow' must be between -0.5 and 0.5 rad, got -0.7$"),
        ([5.0, 0.0], "^position of joint 'shoulder' must be between 2 and 4.5 rad, got 5$"),
    ):
        with pytest.raises(bt.BddTorqueError, match=message):
            evaluator.torque(q, [0.0, 0.0], [0.0, 0.0])


@pytest.mark.parametrize("bad", ["nan", "rows", "shape"])
def test_states_that_are_refused_are_not_counted(bad):
    evaluator = arm(6, workers=1).evaluator()
    wild = np.full((4, 2), 3.5)
    last = {"nan": np.full((4, 2), np.nan), "rows": np.zeros((3, 2)), "shape": np.zeros((4, 3))}[bad]
    with pytest.raises(bt.BddTorqueError):
        evaluator.torque(wild, wild, last)
    assert not evaluator.out_of_range.any()


@pytest.mark.parametrize("kind", [("words", "dense"), ("words", "straight"), ("parallel", "straight")], ids=str)
@pytest.mark.parametrize("place", range(3))
def test_out_may_overlap_what_goes_in(kind, place):
    model = arm(6, workers=1, source="recursive")
    words = random_words(model, 1000)
    expected = reference(model, words)
    evaluator = model.evaluator(*kind)
    for ahead, behind in ((1, 0), (0, 1), (0, 0)):  # whole rows on, and back, and in place
        memory = np.zeros((1001, 2), dtype=np.int64)
        overlapping = list(words)
        overlapping[place] = memory[behind : behind + 1000]
        overlapping[place][:] = words[place]
        out = memory[ahead : ahead + 1000]
        assert evaluator.torque_words(*overlapping, out=out) is out
        assert np.array_equal(out, expected)


@pytest.mark.parametrize(
    ("low", "high", "inside"),
    [
        (-np.pi, np.pi, range(-8, 8)),
        (0.0, 2 * np.pi, range(-8, 8)),
        (-1.6, 1.6, range(-4, 5)),
        (np.pi / 2, 3 * np.pi / 2, [4, 5, 6, 7, -8, -7, -6, -5, -4]),  # across half a turn
        (-7.0, -5.5, [-1, 0, 1]),  # a turn away: −17..−15 sixteenths
        (0.05, 0.1, []),  # between two words
        (-10.0, 10.0, range(-8, 8)),
    ],
)
def test_angle_words_count_against_the_limits_of_the_joint_modulo_a_turn(low, high, inside):
    word = Format("angle", 4, low, high)
    first, last = limits(word)
    counted = [w for w in range(-8, 8) if ((first <= w <= last) if first <= last else (w >= first or w <= last))]
    assert counted == sorted(inside)


def test_positions_wrap_and_are_only_counted():
    model = bt.compile("planar2r", bits=4, position=[[2.0, 4.5], [-0.5, 0.5]], workers=1)
    evaluator = model.evaluator()
    words = np.arange(-8, 8)
    q = np.stack([words, np.zeros(16, np.int64)], axis=1)
    tau = evaluator.torque_words(q, [0, 0], [0, 0])
    lsb = 2 * np.pi / 16
    within = [any(2.0 <= w * lsb + turn <= 4.5 for turn in (-2 * np.pi, 0, 2 * np.pi)) for w in words]
    assert evaluator.out_of_range[0].tolist() == [16 - sum(within), 0]
    assert np.array_equal(tau, arm(4, workers=1).torque_words(q, [0, 0], [0, 0]))  # nothing else changes
    fresh = model.evaluator()
    fresh.torque([3.0, 1.5], [0.0, 0.0], [0.0, 0.0])  # a value and its word are both outside, and count once
    assert fresh.out_of_range[0].tolist() == [0, 1]

"""Batches of floats: the words, torques and counts of single formats, whatever is given."""

import math

import numpy as np
import pytest
from compiled import arm
from hypothesis import given
from hypothesis import strategies as st

import bddtorque as bt
from bddtorque.evaluate import float_batches
from bddtorque.evaluate.float_batches import float_calls, pattern_of
from bddtorque.words.formats import MAX_TURNS, TURN, Format
from bddtorque.words.interface import word_vector
from bddtorque.words.kernels import pack

ANGLES = st.builds(
    lambda bits, low, width, sign, offset: Format("angle", bits, low, low + width, sign, offset),
    st.integers(2, 31), st.floats(-4, 1), st.floats(0.5, 5), st.sampled_from([1, -1]), st.sampled_from([0.0, 0.7]),
)  # fmt: skip
RANGES = st.builds(
    lambda bits, low, width, sign: Format("range", bits, low, low + width, sign),
    st.integers(2, 31), st.floats(-9, 3), st.floats(1, 9), st.sampled_from([1, -1]),
)  # fmt: skip


def values_of(word, seed):
    """Return values near the ends, ties and limits of a format, and anywhere."""
    rng = np.random.default_rng(seed)
    units = np.concatenate([rng.integers(word.lowest - 2, word.highest + 3, 20), [word.lowest, word.highest, 0]])
    units = units[:, None] + np.array([0.0, 0.5, -0.5])
    values = word.value(units.ravel())
    ends = [end for end in (word.low, word.high, TURN / 2, -TURN / 2, 3 * TURN) if word.kind == "angle"]
    values = np.concatenate([values, word.sign * np.array(ends) + word.offset, rng.uniform(-40, 40, 20)])
    near = np.concatenate([values, np.nextafter(values, -math.inf), np.nextafter(values, math.inf)])
    return near[np.abs(near) <= 1e6]


@given(st.lists(ANGLES | RANGES, min_size=1, max_size=4), st.integers(0, 1000))
def test_words_and_counts_are_those_of_the_formats(words, seed):
    formats = word_vector("q", [f"q{k}" for k in range(len(words))], words)
    columns = [values_of(word, seed) for word in words]
    values = np.stack([np.resize(each, max(map(len, columns))) for each in columns], axis=1)
    expected, outside = formats.quantise_counted(values)
    found, counts = np.empty_like(expected), np.zeros(len(words), dtype=np.int64)
    quantise, dequantise = float_calls()
    assert quantise(values, found, pattern_of(formats), pack(formats), counts)
    assert np.array_equal(found, expected) and np.array_equal(counts, outside)
    back = np.empty_like(values)
    dequantise(found, back, pattern_of(formats))
    assert np.array_equal(back, formats.dequantise(expected))


@pytest.mark.parametrize("kind", ["angle", "range"])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 2.1 * MAX_TURNS * math.pi])
@pytest.mark.parametrize("place", [0, 69])
def test_what_has_no_word_is_refused(kind, bad, place):
    formats = word_vector("q", ["q1"], (Format(kind, 8, -1.0, 1.0),))
    values = np.zeros((70, 1))
    values[place] = bad
    counts = np.zeros(1, dtype=np.int64)
    taken = float_calls()[0](values, np.empty((70, 1), dtype=np.int64), pattern_of(formats), pack(formats), counts)
    assert taken == (kind == "range" and math.isfinite(bad))


def states(model, count, wild=1.0):
    rng = np.random.default_rng(1)
    return [wild * rng.uniform(*np.array([word.span for word in kind]).T, (count, 2)) for kind in model.formats.inputs]


def ordinary(monkeypatch, evaluator, *given):
    with monkeypatch.context() as patch:
        patch.setattr(evaluator._floats, "possible", False)
        return evaluator.torque(*given)


@pytest.mark.parametrize("kind", ["words", "parallel"])
@pytest.mark.parametrize("target", ["tables", "float"])
@pytest.mark.parametrize("wild", [1.0, 1.5])
def test_torques_and_counts_are_those_of_the_ordinary_way(monkeypatch, kind, target, wild):
    monkeypatch.setattr(float_batches, "PIECE", 300)
    model = arm(8, target=target)
    given = states(model, 1500, wild)
    fast, slow = (model.evaluator(kind, on_range="saturate") for _ in range(2))
    expected = ordinary(monkeypatch, slow, *given)
    assert np.array_equal(fast.torque(*given), expected)
    assert np.array_equal(fast.out_of_range, slow.out_of_range) and fast.out_of_range[1:].any() == (wild > 1)
    fortran = [np.asfortranarray(each) for each in given]
    assert np.array_equal(fast.torque(*fortran), expected)
    single = [each.astype(np.float32) for each in given]
    assert np.array_equal(fast.torque(*single), ordinary(monkeypatch, slow, *single))


@pytest.mark.parametrize("shapes", [((0, 2), (0, 2), (2,)), ((5, 2), (1, 2), (2,)), ((2,), (70, 2), (70, 2))])
def test_single_states_are_repeated_beside_many(monkeypatch, shapes):
    model = arm(8, target="float")
    given = [np.full(shape, 0.1 + 0.2 * k) for k, shape in enumerate(shapes)]
    evaluator = model.evaluator()
    assert np.array_equal(evaluator.torque(*given), ordinary(monkeypatch, evaluator, *given))
    assert np.array_equal(evaluator.torque(given[0]), ordinary(monkeypatch, evaluator, given[0]))


def test_a_batch_that_is_refused_says_what_is_wrong_and_counts_nothing():
    model = arm(8, target="float")
    given = states(model, 100)
    given[1][60, 1] = 1e3
    strict = model.evaluator(on_range="raise")
    with pytest.raises(bt.BddTorqueError, match=r"^velocity of joint .* got 1000$"):
        strict.torque(*given)
    given[1][60, 1] = math.nan
    with pytest.raises(bt.BddTorqueError, match=r"must be finite, got nan at \[60\]$"):
        strict.torque(*given)
    with pytest.raises(bt.BddTorqueError, match=r"^q must have shape"):
        strict.torque(np.zeros((100, 3)), given[1], given[2])
    assert not strict.out_of_range.any()

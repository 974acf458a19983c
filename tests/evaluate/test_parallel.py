"""The evaluator `parallel`: the words and the counts of the others whatever the number of processors, and refusals."""

import threading
from itertools import pairwise

import numpy as np
import pytest
from compiled import arm, random_words, reference, some_words
from hypothesis import given
from hypothesis import strategies as st

import bddtorque as bt
from bddtorque.evaluate import evaluator as evaluator_module
from bddtorque.evaluate.parallel import FEWEST_STATES, Spread, checked_processors, pieces


@pytest.fixture
def eight_cores(monkeypatch):
    """Let the evaluator believe in eight cores, so that pieces are made wherever the tests run."""
    monkeypatch.setattr(evaluator_module, "usable_processors", lambda: 8)


@pytest.mark.parametrize("form", [None, "dense", "multi_terminal", "straight", "bits"])
def test_the_same_words_and_counts_for_any_number_of_processors(form, eight_cores):
    model = arm(6, workers=1)
    words = [2 * each for each in some_words(model, 20_000)]  # half of them out of range
    alone = model.evaluator()
    expected = alone.torque_words(*words)
    assert np.array_equal(expected, reference(model, words)) and alone.out_of_range.any()
    for processors in (1, 2, 3, 8, 1000):
        many = model.evaluator("parallel", form, processors=processors)
        assert np.array_equal(many.torque_words(*words), expected)
        assert np.array_equal(many.out_of_range, alone.out_of_range)


@pytest.mark.parametrize("options", [{"target": "host"}, {"source": "recursive"}, {"accuracy": "paper"}])
def test_every_kind_of_plan(options, eight_cores):
    model = arm(6, workers=1, **options)
    words = some_words(model, 5000)
    assert np.array_equal(model.evaluator("parallel", processors=5).torque_words(*words), reference(model, words))


def test_single_states_and_floats(eight_cores):
    model = arm(6, workers=1)
    many = model.evaluator("parallel", processors=4)
    one = [each[0] for each in random_words(model, 1)]
    assert np.array_equal(many.torque_words(*one), model.torque_words(*one))
    q, qd, qdd = np.random.default_rng(0).uniform(-0.9, 0.9, (3, 4000, 2))
    assert np.array_equal(many.torque(q, qd, qdd), model.torque(q, qd, qdd))
    assert not many.out_of_range.any()


def test_a_large_batch_runs_in_several_threads_at_once():
    """Every piece waits for the others: this ends only if each has a thread of its own."""
    meeting, seen = threading.Barrier(4, timeout=20), set()

    class Meeting:
        def run(self, q, qd, qdd, tau, counts):
            meeting.wait()
            seen.add(threading.get_ident())
            tau[:] = q + qd + qdd
            counts += len(q)

        def kernel(self, joints):
            return f"kernel of {joints} joints"

    words = np.arange(3 * 4 * FEWEST_STATES * 2).reshape(3, -1, 2)
    tau, counts = np.zeros_like(words[0]), np.ones((3, 2), dtype=np.int64)
    spread = Spread(Meeting(), 4)
    spread.run(*words, tau, counts)
    assert spread.kernel(2) == "kernel of 2 joints"  # one state is nothing to spread
    assert np.array_equal(tau, words.sum(axis=0)) and (counts == 1 + len(tau)).all() and len(seen) == 4


def test_an_error_in_a_thread_is_raised_to_the_caller():
    class Failing:
        def run(self, q, qd, qdd, tau, counts):
            if q[0, 0] != 0:
                raise ArithmeticError("in a thread")

    words = np.arange(4 * FEWEST_STATES).reshape(-1, 1)
    with pytest.raises(ArithmeticError, match="in a thread"):
        Spread(Failing(), 4).run(words, words, words, words.copy(), np.zeros((3, 1), dtype=np.int64))


@given(st.integers(0, 10**6), st.integers(1, 64), st.integers(1, 1000))
def test_pieces_cover_all_states_once_and_are_almost_equal(states, threads, fewest):
    parts = pieces(states, threads, fewest)
    assert parts[0].start == 0 and parts[-1].stop == states
    assert all(left.stop == right.start for left, right in pairwise(parts))
    lengths = [part.stop - part.start for part in parts]
    assert len(parts) <= threads and max(lengths) - min(lengths) <= 1
    assert len(parts) == 1 or min(lengths) >= fewest


@pytest.mark.parametrize("wrong", [0, -1, 2.5, 2.0, "x", True, float("nan"), [2], np.float64(2)])
def test_what_is_no_number_of_processors_is_refused_in_one_line(wrong):
    with pytest.raises(
        bt.BddTorqueError, match=r"processors a whole number of 1 or more required, .* given"
    ) as problem:
        arm(4, workers=1).evaluator("parallel", processors=wrong)
    assert "\n" not in str(problem.value)


def test_processors_are_for_parallel_only_and_default_to_the_cores():
    with pytest.raises(bt.BddTorqueError, match="evaluator words: no processors required, 4 given"):
        arm(4, workers=1).evaluator(processors=4)
    assert checked_processors(None) >= 1 and checked_processors(np.int8(3)) == 3
    assert arm(4, workers=1).evaluator("parallel").processors == checked_processors(None)
    with pytest.raises(bt.BddTorqueError, match=r"evaluator parallel: form .* required, 'denser' given"):
        arm(4, workers=1).evaluator("parallel", "denser")

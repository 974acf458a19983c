"""The evaluator `parallel`: the words and the counts of the others whatever the number of processors, and refusals."""

import copy
import os
import pickle
import signal
import threading
from itertools import pairwise

import numpy as np
import pytest
from compiled import arm, reference, some_words
from hypothesis import given
from hypothesis import strategies as st

import bddtorque as bt
from bddtorque.base.system import checked_processors
from bddtorque.evaluate import runners as kinds_module
from bddtorque.evaluate.runners import MIN_STATES, CodeRunner, pieces


@pytest.fixture
def eight_cores(monkeypatch):
    """Let the evaluator believe in eight cores, so that pieces are made wherever the tests run."""
    monkeypatch.setattr(kinds_module, "usable_processors", lambda: 8)


@pytest.mark.parametrize("form", [None, "dense", "straight", "bits"])
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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own(eight_cores):
    model = arm(6, workers=1)
    words = some_words(model, 5000)
    many = model.evaluator("parallel", processors=4)
    expected = many.torque_words(*words)  # the threads of this process are started
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(many.torque_words(*words), expected) else 1)
    guard = threading.Timer(120, os.kill, (child, signal.SIGKILL))  # only ever reached by a child that hangs
    guard.start()
    _, status = os.waitpid(child, 0)
    guard.cancel()
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.parametrize("form", ["straight", "dense"])
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda used: pickle.loads(pickle.dumps(used))])
def test_a_used_evaluator_can_be_copied_and_pickled(form, copied, eight_cores):
    model = arm(6, workers=1)
    words = [2 * each for each in some_words(model, 5000)]
    used = model.evaluator("parallel", form, "raise", processors=4)
    expected = used.torque_words(*words)
    twin = copied(used)
    assert (twin.kind, twin.form, twin.on_range, twin.processors) == ("parallel", form, "raise", 4)
    assert np.array_equal(twin.torque_words(*words), expected)
    assert used.out_of_range.any() and np.array_equal(twin.out_of_range, 2 * used.out_of_range)


@pytest.mark.parametrize("call", ["torque", "torque_words"])
def test_threads_that_share_an_evaluator_lose_no_counts(call):
    evaluator = arm(6, workers=1).evaluator()
    q, wild = np.zeros((2000, 2)), np.full((2000, 2), 99.0)
    states = (q, wild, wild) if call == "torque" else [each.astype(np.int64) for each in (q, wild, wild)]
    meeting = threading.Barrier(4)

    def run():
        meeting.wait()
        for _ in range(20):
            getattr(evaluator, call)(*states)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert evaluator.out_of_range.tolist() == [[0, 0], [4 * 20 * 2000] * 2, [4 * 20 * 2000] * 2]


def test_a_large_batch_runs_in_several_threads_at_once():
    """Every piece waits for the others: this ends only if each has a thread of its own."""
    meeting, seen = threading.Barrier(4, timeout=600), set()

    def run(arrays, tau, counts):
        meeting.wait()
        seen.add(threading.get_ident())
        tau[:] = sum(arrays)
        counts += len(tau)
        return True

    words = np.arange(3 * 4 * MIN_STATES * 2).reshape(3, -1, 2)
    tau, counts = np.zeros_like(words[0]), np.ones(6, dtype=np.int64)
    assert CodeRunner(arm(4, workers=1), threads=4).spread(run, words, tau, counts)
    assert np.array_equal(tau, words.sum(axis=0)) and (counts == 1 + len(tau)).all() and len(seen) == 4


def test_an_error_in_a_thread_is_raised_to_the_caller():
    def run(arrays, out, counts):
        if arrays[0][0, 0] != 0:
            raise ArithmeticError("in a thread")

    words = np.arange(4 * MIN_STATES).reshape(-1, 1)
    runner = CodeRunner(arm(4, workers=1), threads=4)
    with pytest.raises(ArithmeticError, match="in a thread"):
        runner.spread(run, [words] * 3, words.copy(), np.zeros(3, dtype=np.int64))


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
    with pytest.raises(bt.BddTorqueError, match=r"processors must be an integer of at least 1, got .*") as problem:
        arm(4, workers=1).evaluator("parallel", processors=wrong)
    assert "\n" not in str(problem.value)


def test_processors_are_for_parallel_only_and_default_to_the_cores():
    with pytest.raises(bt.BddTorqueError, match=r"^processors is only valid for the evaluator 'parallel'$"):
        arm(4, workers=1).evaluator(processors=4)
    assert checked_processors(None) >= 1 and checked_processors(np.int8(3)) == 3
    assert arm(4, workers=1).evaluator("parallel").processors == checked_processors(None)
    with pytest.raises(
        bt.BddTorqueError, match=r"^form of the evaluator 'parallel' must be .*, got 'denser'; did you mean 'dense'\?$"
    ):
        arm(4, workers=1).evaluator("parallel", "denser")

"""The search for the worst state: it climbs, it stays within the bound, and it finds a fault that chance does not."""

from dataclasses import replace

import numpy as np
import pytest
from compiled import values_of

import bddtorque as bt
from bddtorque.sweeps import sweep
from bddtorque.sweeps.measuring import measure_subject, subject_of
from bddtorque.sweeps.searching import CANDIDATES, climb
from bddtorque.sweeps.states import Batch

START = np.zeros(6, dtype=np.int64)


def error_at(model, state, joint):
    """The error of the tables at one state, the plain way, in units."""
    truth = bt.inverse_dynamics(model.robot, *values_of(model, state))[joint] / model.formats.tau[joint].lsb
    return abs(int(model.torque_words(*state)[joint]) - truth)


def test_it_beats_chance_and_never_the_bound(model):
    """Begun at the worst of as many random states it comes to a worse one, on every torque."""
    subject = subject_of(model)
    random = measure_subject(subject, 9, (Batch(False, 0, 10_000),))
    for joint in range(2):
        found = climb(subject, 0, joint, random["worst_states"][joint], 10_000)
        assert random["worst"][joint] < found["worst"] <= subject.proved[joint]
        assert found["worst"] == pytest.approx(error_at(model, found["worst_state"].reshape(3, 2), joint), abs=1e-9)


@pytest.mark.parametrize("budget", [1, 2, CANDIDATES + 1, 3 * CANDIDATES])
def test_it_tries_as_many_states_as_it_may(model, budget):
    subject = subject_of(model)
    seen = []
    counting = replace(subject, run=lambda *words: seen.append(len(words[0])) or subject.run(*words))
    assert climb(counting, 0, 0, START, budget)["tried"] == sum(seen) == budget


def test_all_words_it_tries_are_words_of_the_formats(model):
    subject = subject_of(model)
    seen = []
    climb(replace(subject, run=lambda *words: seen.append(words) or subject.run(*words)), 0, 0, START, 5_000)
    for quantity, kind in enumerate(model.formats.inputs):
        tried = np.concatenate([words[quantity] for words in seen])
        assert (kind.held(tried) == tried).all()
        assert (tried.min(axis=0) == kind.lowest).all()
        assert (tried.max(axis=0) == kind.highest).all()


def test_it_finds_a_fault_that_few_states_show(model):
    """One state of 7·10^10 is worst by far, at the end of a slope: the more words are right, the larger the error."""
    subject = subject_of(model)
    hidden = np.array([[5, -9], [17, 3], [-20, 11]])

    def faulty(*words):
        alike = sum((each == row).sum(axis=1) for each, row in zip(words, hidden, strict=True))
        return subject.run(*words) + 2 * alike[:, None]

    found = climb(replace(subject, run=faulty), 0, 0, START, 60_000)
    assert (found["worst_state"].reshape(3, 2) == hidden).all()
    assert found["worst"] > 11


def test_a_sweep_begins_at_the_worst_it_knows_and_keeps_the_worse(model):
    without = sweep(model, 2_000, searched=0)
    found = sweep(model, 2_000, searched=4_001)
    assert (without.searched, found.searched) == (0, 4_001)
    for before, joint in zip(without.outputs, found.outputs, strict=True):
        assert before.search_largest == 0
        assert before.tables == joint.tables
        assert joint.search_largest >= before.found
        assert joint.search_largest == joint.found <= joint.proved
        words = [np.array(each) for each in joint.worst.values()]
        assert error_at(model, words, found.outputs.index(joint)) == pytest.approx(joint.found, abs=1e-9)


def test_the_same_seed_finds_the_same(model):
    assert sweep(model, 500, seed=3, searched=3_000) == sweep(model, 500, seed=3, searched=3_000)
    assert sweep(model, 500, searched=None).searched == 63

"""Answers keep their limit of time, and hold when it is over or somebody interrupts."""

import itertools
import sys
import time

import numpy as np
import pytest
from compiled import arm
from every_state import every_state, small
from hypothesis import given
from hypothesis import strategies as st

from bddtorque.questions import counting, enumeration, equality, largest_error, saturating, subject, values
from bddtorque.questions import largest_error as errors
from bddtorque.questions.separation import separated

ASKED = {name: subject(small(name), "tau1") for name in ("direct", "products")}
PARTED = {name: separated(asked) for name, asked in ASKED.items()}


def sums(name):
    read = {wire.name for wire in ASKED[name].inputs}
    return ASKED[name].total({key: words for key, words in every_state(name).items() if key in read})


def interrupts_after(calls):
    left = iter(range(calls))

    def told(_):
        if next(left, None) is None:
            raise KeyboardInterrupt

    return told


class Clock:
    """A clock that goes on by a second whenever somebody looks at it."""

    def __init__(self):
        self.monotonic = itertools.count().__next__


@given(st.sampled_from(sorted(ASKED)), st.floats(0.2, 0.8), st.integers(0, 60), st.booleans())
def test_counts_by_groups_that_are_cut_short_still_bracket(name, at, when, interrupted):
    parted, total = PARTED[name], sums(name)
    threshold = int(np.quantile(total, at))
    expected = int(np.count_nonzero(total >= threshold))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "HOPELESS", float("inf"))
        if not interrupted:
            patch.setattr(counting, "time", Clock())
        told = interrupts_after(when) if interrupted else lambda _: None
        found = counting._by_groups(parted, threshold, 1e6 if interrupted else float(when), told)
    assert found.low << parted.subject.unread <= expected <= found.high << parted.subject.unread
    if found.low < found.high:
        assert found.interrupted == interrupted
        assert found.detail.endswith("interrupted") == interrupted


@given(st.sampled_from(sorted(ASKED)), st.floats(0.2, 0.8))
def test_states_that_were_not_run_may_be_on_either_side(name, at):
    asked, total = ASKED[name], sums(name)
    threshold = int(np.quantile(total, at))
    expected = int(np.count_nonzero(total >= threshold))
    found = counting._enumerated(asked, threshold, 1e6, interrupts_after(0))
    assert found.interrupted and found.low << asked.unread <= expected <= found.high << asked.unread


def test_the_limit_is_kept_by_groups():
    asked = subject(arm(12), "tau2")
    parted = separated(asked)
    threshold = asked.least_total(200)  # the middle of the range: long lists matter for every state held still
    started = time.monotonic()
    found = counting._by_groups(parted, threshold, 0.5, lambda _: None)
    assert time.monotonic() - started < 3.0
    assert found is None or (found.low < found.high and "limit" in found.detail)


def test_groups_with_too_long_lists_are_left_to_boxes(monkeypatch):
    asked = subject(arm(12), "tau2")
    monkeypatch.setattr(counting._Lists, "seconds_for", lambda *_: 1e5)
    found = counting.states_at_least(asked, asked.least_total(200), 1.0)
    assert found.way == "branch and bound" and 0 < found.low < found.high


def test_groups_are_not_looked_for_longer_than_there_is_time():
    asked = subject(arm(12), "tau1")
    assert separated(asked, seconds=1.0) is None  # two velocities of 12 bits are 2^24 states
    assert separated(subject(arm(12), "tau2"), seconds=1.0) is not None


def test_an_interrupted_count_of_saturation_does_not_go_on_with_the_other_end(monkeypatch):
    calls = []

    def stopped(asked, threshold, seconds, told):
        calls.append(threshold)
        return counting.Counts(3, 10, "conditioning", "stopped; interrupted", True)

    monkeypatch.setattr(values, "states_at_least", stopped)
    found = saturating(small("narrow"), "tau1")
    assert len(calls) == 1 and found.interrupted
    assert (found.low, found.high) == (3, found.states)
    assert found.to_plain()["interrupted"]


@pytest.mark.parametrize("of", ["tau1", "J11"])
def test_errors_that_are_not_compared_in_time_are_a_bracket(of, monkeypatch):
    model = small("direct")
    whole = largest_error(model, of)
    monkeypatch.setattr(errors, "PIECE_BITS", 4)
    found = largest_error(model, of, limit=0.0)
    assert whole.exact and not found.exact and " of " in found.detail
    assert found.found <= whole.found <= whole.bound <= found.bound


def test_equality_that_is_not_decided_in_time_says_what_it_tried(monkeypatch):
    first, second = small("direct"), small("products")
    pieces = enumeration.pieces
    module = sys.modules["bddtorque.questions.equality"]  # the function of that name hides it
    monkeypatch.setattr(module, "pieces", lambda inputs: pieces(inputs, 6))
    for whole, found in zip(equality(first, second), equality(first, second, limit=0.0), strict=True):
        assert whole.differing is not None and not whole.sampled
        assert found.sampled and found.to_plain()["sampled"] and found.differing is None
        assert found.largest <= whole.largest and " of " in found.detail
        assert found.equal in (None, whole.equal)

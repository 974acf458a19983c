"""Answers hold when work or time is over, or somebody interrupts; nothing looks at a clock unless it is asked to."""

import sys
from functools import cache

import numpy as np
import pytest
from every_state import arm, every_state, small
from hypothesis import given
from hypothesis import strategies as st

import bddtorque as bt
from bddtorque.questions import (
    Work,
    counting,
    enumeration,
    equality,
    largest,
    largest_error,
    reaching,
    saturating,
    separation,
    subject,
    values,
    word_errors,
)
from bddtorque.questions.separation import separated


@cache
def asked_of(name):
    return subject(small(name), "tau1")


@cache
def parted_of(name):
    return separated(asked_of(name), Work())


def sums(name):
    read = {wire.name for wire in asked_of(name).inputs}
    return asked_of(name).total({key: words for key, words in every_state(name).items() if key in read})


def interrupts_after(calls):
    left = iter(range(calls))

    def told(_):
        if next(left, None) is None:
            raise KeyboardInterrupt

    return told


class Clock:
    """A clock that goes on by a second whenever somebody looks at it."""

    def __init__(self):
        self.looks = 0

    def __call__(self):
        self.looks += 1
        return self.looks


def no_clock():
    raise AssertionError("somebody looked at the clock")


def test_no_clock_is_looked_at_without_a_limit():
    model = arm(6)
    for ask in (largest, saturating, largest_error):
        ask(model, "tau1", work=Work(10, clock=no_clock))
    reaching(model, "tau1", 20.0, work=Work(10, clock=no_clock))
    equality(model, arm(6, source="recursive"), work=Work(10, clock=no_clock))
    with pytest.raises(AssertionError, match="clock"):
        largest(model, "tau1", work=Work(10, limit=1.0, clock=no_clock))


@cache
def exactly():
    """Return how many states have a first torque of 20 N·m or more."""
    return reaching(arm(6), "tau1", 20.0).low


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_a_limit_of_time_is_kept_and_told(limit):
    model = arm(6)
    clock = Clock()
    found = reaching(model, "tau1", 20.0, work=Work(limit=limit, clock=clock))
    assert not found.exact and found.stopped == "time" and found.detail.endswith("stopped by the time limit")
    assert clock.looks <= limit + 4
    assert found.low <= exactly() <= found.high
    assert found.to_plain()["stopped"] == "time" and not found.to_plain()["interrupted"]


def test_parts_of_work_are_counted_in_the_whole():
    spent = []
    work = Work(10, on_spend=spent.append)
    part = work.part(0.25)
    part.part(0.5).spend(1e6)
    assert (work.left, part.left, sum(spent)) == (9e6, 1.5e6, 1e6)
    part.spend(2e6)
    assert not part.goes_on() and part.stopped == "work" and work.goes_on()
    with work.part(0.5).interruptible():
        raise KeyboardInterrupt
    assert work.stopped == "interrupt" and not work.goes_on() and work.again().goes_on()


@given(
    st.sampled_from(["direct", "products"]), st.floats(0.2, 0.8), st.integers(0, 60), st.floats(0, 0.3), st.booleans()
)
def test_counts_by_groups_that_are_cut_short_still_bracket(name, at, when, millions, interrupted):
    parted, total = parted_of(name), sums(name)
    threshold = int(np.quantile(total, at))
    expected = int(np.count_nonzero(total >= threshold))
    work = Work(on_spend=interrupts_after(when)) if interrupted else Work(millions)
    found = counting._by_groups(parted, threshold, work)
    if found is None:  # not even work for the lists
        assert millions < 0.1 and not interrupted
        return
    assert found.low * parted.subject.unread <= expected <= found.high * parted.subject.unread


@given(st.sampled_from(["direct", "products"]), st.floats(0.2, 0.8), st.integers(0, 3))
def test_states_that_were_not_run_may_be_on_either_side(name, at, pieces_run):
    asked, total = asked_of(name), sums(name)
    threshold = int(np.quantile(total, at))
    expected = int(np.count_nonzero(total >= threshold))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(enumeration, "EASY_BITS", 0)
        small_pieces = enumeration.pieces
        patch.setattr(enumeration, "pieces", lambda inputs, **_: small_pieces(inputs, 12))
        work = Work(on_spend=interrupts_after(pieces_run))
        found = counting._enumerated(asked, threshold, work)
    assert work.stopped == "interrupt"
    assert found.low * asked.unread <= expected <= found.high * asked.unread


def test_groups_with_too_long_lists_are_left_to_boxes(monkeypatch):
    asked = subject(arm(6), "tau2")
    threshold = asked.least_total(5)
    exact = counting.states_at_least(asked, threshold, Work())
    assert exact.way == "conditioning" and exact.low == exact.high
    monkeypatch.setattr(separation.Group, "list_steps", 10**12)
    found = counting.states_at_least(asked, threshold, Work(20))
    assert found.way == "branch and bound" and 0 < found.low < exact.low < found.high


def test_groups_are_not_looked_for_beyond_the_work():
    asked = subject(arm(12), "tau1")
    assert separated(asked, Work(100)) is None  # two velocities of 12 bits are 2^24 states
    assert separated(subject(arm(12), "tau2"), Work(100)) is not None


def test_an_interrupted_count_of_saturation_does_not_go_on_with_the_other_end(monkeypatch):
    calls = []

    def stopped(asked, threshold, work):
        calls.append(threshold)
        with work.interruptible():
            raise KeyboardInterrupt
        return counting.Counts(3, 10, "conditioning", "stopped")

    monkeypatch.setattr(values, "states_at_least", stopped)
    found = saturating(small("narrow"), "tau1")
    assert len(calls) == 1 and found.interrupted and found.detail.endswith("interrupted")
    assert (found.low, found.high) == (3, found.states)
    assert found.to_plain()["interrupted"]


@pytest.mark.parametrize("of", ["tau1", "J11"])
@pytest.mark.parametrize("work", [Work(0), Work(on_spend=interrupts_after(2))])
def test_errors_of_some_states_are_a_bracket(of, work, monkeypatch):
    model = small("direct")
    whole = largest_error(model, of)
    monkeypatch.setattr(word_errors, "PIECE_BITS", 2)
    found = largest_error(model, of, work=work.again())
    assert whole.exact and not found.exact and " of " in found.detail and found.stopped
    assert found.found <= whole.found <= whole.bound <= found.bound


@pytest.mark.parametrize("interrupted", [False, True])
def test_equality_that_is_not_decided_says_what_it_tried(interrupted, monkeypatch):
    first, second = small("direct"), small("products")
    pieces = enumeration.pieces
    whole = equality(first, second)
    monkeypatch.setattr(sys.modules["bddtorque.questions.equal_words"], "pieces", lambda inputs, **_: pieces(inputs, 6))
    cut = equality(first, second, work=Work(on_spend=interrupts_after(3)) if interrupted else Work(0))
    assert len(cut) == (1 if interrupted else 2)
    for one, found in zip(whole, cut, strict=False):
        assert one.differing is not None and not one.sampled
        assert found.sampled and found.to_plain()["sampled"] and found.differing is None
        assert found.largest <= one.largest and " of " in found.detail
        assert found.equal in (None, one.equal) and found.stopped == ("interrupt" if interrupted else "work")


def test_a_search_keeps_to_the_limit_of_time():
    for of in ("tau1", "C1_12"):  # a ten-thousandth of a second is left for the search
        found = largest_error(arm(12), of, work=Work(limit=1.0001, clock=Clock()))
        assert found.stopped == "time" and found.detail.startswith("1 ")


def test_random_states_fit_in_memory(monkeypatch):
    monkeypatch.setattr(word_errors, "MAX_TRIED", 10)
    found = largest_error(arm(12), "C1_12")
    assert found.detail.startswith("10 ")


@pytest.mark.parametrize("early", ["bounding.good_state", "sharpening.torque_search", "sharpening.good_state"])
def test_ctrl_c_before_the_first_box_leaves_a_bracket(monkeypatch, early):
    """These took a second in which Ctrl-C ended the command without an answer."""

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    model = bt.compile("ur5", bits=8, target="float", workers=1)
    whole = largest(model, "tau1")
    monkeypatch.setattr(f"bddtorque.questions.{early}", interrupted)
    answer = largest(model, "tau1")
    assert answer.interrupted and answer.word <= whole.bound_word <= answer.bound_word


def test_ctrl_c_ends_all_that_the_work_is_a_part_of():
    work = Work()
    part = work.part(0.5).part(0.5)
    with part.part(0.5).interruptible():
        raise KeyboardInterrupt
    assert part.stopped == work.stopped == "interrupt"

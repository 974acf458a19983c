"""Counted processors: the schedules carry themselves out to the torque words, and their figures are what was done."""

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from carried_out import run_schedule
from compiled import arm, reference, some_words
from hypothesis import given
from hypothesis import strategies as st

import bddtorque as bt
from bddtorque.evaluate.operations import (
    BIT_SERIAL,
    WORD_STEPS,
    StepCosts,
    WordView,
    operations_of,
    output_owner,
    shifted,
    signed_digits,
    wrapped,
)
from bddtorque.evaluate.scheduling import Placement, Schedule, TimedTask, earliest_ends, longest_path
from bddtorque.evaluate.spreading import delayed, schedule_model, spread_bits, tasks_of
from bddtorque.plan.wires import AngleSum, Lookup, Product
from bddtorque.words.integer_range import Range, wrap

PLANS = {
    "terms": {"bits": 6},
    "recursive": {"bits": 6, "source": "recursive"},
    "partial": {"bits": 6, "block_bits": 6},
    "paper": {"bits": 5, "accuracy": "paper"},
    "direct": {"bits": 4, "accuracy": "paper", "block_bits": 18},
}


def adder_depth(operations, torque):
    """Return the most additions, one after another, in the last sum of a torque (clamping not counted)."""
    (last,) = (each for each in operations if each.output == torque)
    depth = {}
    for each in operations:
        if each.owner == last.owner and each.kind == "add":
            depth[each.name] = 1 + max((depth.get(name, 0) for name in each.predecessors), default=0)
    return max(depth.values(), default=0)


@cache
def model(plan: str) -> bt.Model:
    return arm(workers=1, **PLANS[plan])


def by_name(words):
    n = words[0].shape[1]
    names = [f"{kind}{j + 1}" for kind in ("q", "qd", "qdd") for j in range(n)]
    return dict(zip(names, (column for each in words for column in each.T), strict=True))


@pytest.mark.parametrize("way", ["bits", "terms"])
@pytest.mark.parametrize("plan", PLANS)
def test_a_schedule_carried_out_gives_the_words_of_every_evaluator(plan, way):
    compiled = model(plan)
    words = some_words(compiled, 200, seed=3)
    expected = reference(compiled, words)
    for processors in (1, 2, 7, 400):
        spreading = schedule_model(compiled, processors, way)
        spreading.schedule.check(tasks_of(spreading.operations))
        run = run_schedule(spreading.operations, spreading.schedule, compiled.diagrams, by_name(words))
        assert np.array_equal(run.torques, expected), (plan, way, processors)
        assert run.messages == spreading.messages
        walked = sum(each.tests for each in spreading.operations)
        assert 0 < run.tests.max() <= walked  # no state takes more tests than the longest paths together


def test_every_method_of_multiplying_is_among_the_plans():
    methods = {w.method for plan in PLANS for w in model(plan).plan.wires if isinstance(w, Product)}
    assert methods == {"squares", "partial", "blocks"}


@pytest.mark.parametrize("plan", PLANS)
def test_figures_keep_the_laws_of_schedules(plan):
    compiled = model(plan)
    operations = operations_of(compiled.plan, compiled.diagrams)
    one = spread_bits(operations, 1)
    assert one.time == one.serial == one.schedule.work and one.speed_up == 1 and one.messages == 0
    before = one.time
    for processors in (2, 5, 30, 3000):
        some = spread_bits(operations, processors)
        # no list schedule is longer than Graham's bound, and none shorter than the longest path or an equal share
        assert max(some.longest, some.serial / processors) <= some.time <= some.serial / processors + some.longest
        assert some.time <= before and some.recomputed == 0
        before = some.time
    assert some.time == some.longest  # a processor for everything


def test_what_no_torque_needs_is_not_computed():
    compiled = model("terms")
    wire = next(each for each in compiled.plan.wires if isinstance(each, Lookup))
    longer = replace(compiled.plan, wires=(*compiled.plan.wires, replace(wire, name="unread")))
    assert operations_of(longer, compiled.diagrams) == operations_of(compiled.plan, compiled.diagrams)


def test_direct_terms_need_no_communication_but_the_final_sums():
    compiled = model("direct")
    operations = operations_of(compiled.plan, compiled.diagrams)
    walks = [TimedTask(each.name, float(each.tests > 0), each.predecessors) for each in operations]
    assert longest_path(walks) == 1  # no look-up waits for another
    for processors in range(1, 12):
        spreading = schedule_model(compiled, processors, "terms")
        busy = {each.processor for each in spreading.schedule.placements}
        # at most one partial sum of each torque from every processor but one
        assert spreading.messages <= 2 * (len(busy) - 1)
        sums = {each.name for each in spreading.operations if each.owner in (output_owner(0), output_owner(1))}
        place = {each.task: each.processor for each in spreading.schedule.placements}
        crossing = [
            (name, each.name) for each in spreading.operations for name in each.predecessors
            if place[name] != place[each.name]
        ]  # fmt: skip
        assert all(reader in sums for _, reader in crossing)


def test_terms_bend_at_their_number_and_bits_go_further():
    compiled = model("direct")
    summands = {wire for output in compiled.plan.outputs for wire, _ in output.parts}
    limit = schedule_model(compiled, len(summands), "terms").time
    assert schedule_model(compiled, 10 * len(summands), "terms").time == limit
    assert schedule_model(compiled, 10 * len(summands), "bits").time < limit


def test_adder_trees_are_as_deep_as_the_logarithm_of_the_terms():
    compiled = model("direct")  # the paper's words: no factors, and a constant for rounding
    together = operations_of(compiled.plan, compiled.diagrams, StepCosts(test=0.0))  # all words are ready at once
    apart = operations_of(compiled.plan, compiled.diagrams)
    ends = earliest_ends(tasks_of(apart))
    for torque, output in enumerate(compiled.plan.outputs):
        assert all(abs(factor) == 1 for _, factor in output.parts)
        levels = len(output.parts).bit_length()  # of as many words and a constant: ceil(log2(p + 1))
        assert adder_depth(together, torque) == levels
        assert sum(each.owner == output_owner(torque) and each.kind == "add" for each in together) == len(output.parts)
        # those that are ready first are added first: never later than a balanced tree on the last of them
        walks = {
            name for each in apart if each.owner == output_owner(torque) for name in each.predecessors if "." in name
        }
        last = next(each for each in apart if each.output == torque)
        assert ends[last.name] <= max(ends[name] for name in walks) + levels + 1


def test_an_operation_too_early_is_noticed():
    compiled = model("paper")
    operations = operations_of(compiled.plan, compiled.diagrams)
    spreading = spread_bits(operations, 3)
    late = next(each for each in operations if each.output == 0)
    moved = [
        Placement(each.task, each.processor, 0.0, each.end - each.start) if each.task == late.name else each
        for each in spreading.schedule.placements
    ]
    with pytest.raises(bt.BddTorqueError, match=f"must end before '{late.name}' starts"):
        inputs = by_name(some_words(compiled, 5))
        run_schedule(operations, Schedule(tuple(moved), 3), compiled.diagrams, inputs)


@pytest.mark.parametrize("processors", [1, 2, 3])
def test_schedules_that_expect_latency_are_lawful_and_lose_less_to_it(processors):
    compiled = model("direct")
    operations = operations_of(compiled.plan, compiled.diagrams)
    plain, ready = (spread_bits(operations, processors, grain="wire", latency=latency) for latency in (0.0, 30.0))
    ready.schedule.check(tasks_of(operations))
    assert delayed(ready, 30.0).makespan <= ready.time + 1e-9  # what is sent has 30 steps, wherever it is read
    assert delayed(ready, 30.0).makespan <= delayed(plain, 30.0).makespan
    assert ready.messages <= plain.messages
    if processors == 1:
        assert ready.time == plain.time
    words = some_words(compiled, 20)
    run = run_schedule(operations, ready.schedule, compiled.diagrams, by_name(words))
    assert np.array_equal(run.torques, reference(compiled, words))


def test_latency_delays_what_waits_for_a_message_and_nothing_else():
    spreading = schedule_model(model("terms"), 8)
    same = delayed(spreading, 0.0)
    assert same.makespan <= spreading.time
    times = [delayed(spreading, latency).makespan for latency in (0, 1, 5, 20)]
    assert all(first < second for first, second in itertools.pairwise(times))
    assert delayed(schedule_model(model("terms"), 1), 1000.0).makespan == schedule_model(model("terms"), 1).time


def test_additions_of_single_bits_cost_their_width():
    compiled = model("paper")
    operations = operations_of(compiled.plan, compiled.diagrams)
    tests = sum(each.tests for each in operations)
    others = [each for each in operations if each.kind != "walk"]
    assert sum(map(WORD_STEPS.duration, operations)) == tests + len(others)
    assert sum(map(BIT_SERIAL.duration, operations)) == tests + sum(each.bits for each in others)
    for each in others:  # the width that is charged holds every value; only the low bits of an angle sum are read
        wire = compiled.plan.wires[int(each.owner[1:])] if each.owner.startswith("w") else None
        if isinstance(wire, AngleSum):
            assert each.bits <= wire.bits
        else:
            assert each.bits == Range(each.low, each.high).bits


def test_a_value_beyond_the_ends_it_was_charged_for_is_noticed():
    compiled = model("paper")
    operations = operations_of(compiled.plan, compiled.diagrams)
    narrow = [replace(each, high=0) if each.name == "y0+1" else each for each in operations]
    inputs = by_name(some_words(compiled, 500))
    with pytest.raises(bt.BddTorqueError, match=r"'y0\+1' must be .* to 0, got"):
        run_schedule(narrow, spread_bits(operations, 1).schedule, compiled.diagrams, inputs)


@given(st.integers(-(2**40), 2**40))
def test_signed_digits_are_the_factor_and_never_stand_side_by_side(factor):
    digits = signed_digits(factor)
    assert sum(sign << power for power, sign in digits) == factor
    assert all(second - first >= 2 for (first, _), (second, _) in itertools.pairwise(digits))
    assert len(digits) <= abs(factor).bit_count()


@given(st.integers(-1000, 1000), st.lists(st.integers(-6, 6), max_size=5))
def test_shifts_lose_what_they_shift_out(value, shifts):
    word, expected = WordView(low=value, high=value), value
    for shift in shifts:
        word = shifted(word, shift)
        expected = expected >> shift if shift > 0 else expected << -shift
    assert word.low == word.high == expected == (value >> word.shift) << word.scale


@given(st.integers(-1000, 1000), st.integers(2, 8), st.lists(st.integers(-6, 6), max_size=5))
def test_shifts_of_words_that_wrap_keep_their_sign(value, bits, shifts):
    word, expected = wrapped(WordView(low=-1000, high=1000), bits), wrap(value, bits)
    for shift in shifts:
        word = shifted(word, shift)
        expected = expected >> shift if shift > 0 else expected << -shift
    assert wrap((value >> word.shift) << word.scale, word.wrap) == expected
    assert word.low <= expected <= word.high


@pytest.mark.parametrize(
    ("given_", "match"), [((0,), "processors must be"), ((2, "words"), "must be 'bits' or 'terms', got")]
)
def test_refusals(given_, match):
    with pytest.raises(bt.BddTorqueError, match=match):
        schedule_model(model("paper"), *given_)

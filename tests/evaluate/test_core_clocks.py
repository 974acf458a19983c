"""One-bit cores, counted: their words are the model's, and their clocks those of their operations."""

import numpy as np
import pytest
from carried_out import run_schedule
from compiled import arm, random_words, reference

from bddtorque.evaluate.operations import CORE_CLOCKS, clamp_clocks
from bddtorque.evaluate.spreading import schedule_model
from bddtorque.export.one_bit_program import BEGIN, SEND, Function, count_clocks, spread_over_cores
from bddtorque.export.one_bit_steps import StepMaker

PLANS = {
    "terms": {"bits": 6},
    "squares": {"bits": 6, "block_bits": 12},
    "partial": {"bits": 6, "block_bits": 6},
    "paper": {"bits": 4, "accuracy": "paper"},
    "clamped": {"bits": 4, "torque": 20.0},
}


def machine_of(model, processors, spread):
    names = [f"{kind}{j + 1}" for kind in ("q", "qd", "qdd") for j in range(2)]
    words = [word for formats in model.formats.inputs for word in formats]
    inputs = {name: word.bits for name, word in zip(names, words, strict=True)}
    outputs = {f"tau{j + 1}": word.bits for j, word in enumerate(model.formats.tau)}
    return spread_over_cores(Function(model.plan, model.diagrams), inputs, outputs, processors, spread)


@pytest.mark.parametrize("plan", PLANS)
def test_words_are_those_of_the_model_on_any_number_of_cores(plan):
    model = arm(workers=1, **PLANS[plan])
    words = random_words(model, 60)
    states, expected = np.concatenate(words, axis=1), reference(model, words)
    for processors, spread in ((1, "bits"), (3, "terms"), (40, "bits")):
        counted = count_clocks(machine_of(model, processors, spread), states)
        assert np.array_equal(counted.words, expected)


@pytest.mark.parametrize("plan", PLANS)
def test_one_core_takes_the_clocks_of_its_operations(plan):
    """A clock per test and per added bit, what the schedule charges; copies and empty steps on top."""
    model = arm(workers=1, **PLANS[plan])
    words = random_words(model, 60)
    machine = machine_of(model, 1, "bits")
    counted = count_clocks(machine, np.concatenate(words, axis=1))
    names = [f"{kind}{j + 1}" for kind in ("q", "qd", "qdd") for j in range(2)]
    columns = dict(zip(names, (column for each in words for column in each.T), strict=True))
    run = run_schedule(machine.spreading.operations, machine.spreading.schedule, model.diagrams, columns)
    assert np.array_equal(run.torques, counted.words)
    assert np.array_equal(run.tests, counted.tests)
    sums = sum(CORE_CLOCKS.duration(each) for each in machine.spreading.operations if each.kind != "walk")
    maker = StepMaker(machine.spreading, model.diagrams, machine.inputs, list(machine.outputs.values()))
    steps = maker.cores()[0]
    constant = sum(each.kind == "walk" and each.tests == 0 for each in machine.spreading.operations)
    copies = sum(step.target is not None and step.target.kind == "window" for step in steps)
    empty = len(machine.cores[0].code) - 1 - len(steps)
    assert np.array_equal(counted.clocks, run.tests + sums + constant + copies + empty + BEGIN)
    assert (copies == 0) == (plan in ("paper", "clamped"))
    assert counted.clocks.max() <= machine.spreading.time + copies + empty + BEGIN


def test_clamping_happens_at_both_ends():
    operations = schedule_model(arm(workers=1, **PLANS["clamped"]), 1).operations
    assert all(min(clamp_clocks(each)[:2]) > 0 for each in operations if each.kind == "clamp")


def test_more_cores_take_fewer_clocks_until_they_do_not():
    model = arm(workers=1, **PLANS["paper"])
    states = np.concatenate(random_words(model, 60), axis=1)
    clocks = [count_clocks(machine_of(model, P, "bits"), states).clocks.mean() for P in (1, 2, 4)]
    assert clocks[0] > 1.7 * clocks[1] > 1.7 * 1.3 * clocks[2]


def test_a_bit_that_nobody_sends_is_waited_for_in_vain():
    machine = machine_of(arm(workers=1, **PLANS["paper"]), 2, "bits")
    for core in machine.cores:
        core.code[:, SEND] = 0
    with pytest.raises(ValueError, match="waits forever"):
        count_clocks(machine, np.zeros((1, 6), np.int64))

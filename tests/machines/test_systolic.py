"""The systolic pipeline: right values, one torque set every 1m + 3a, latency as the longest path says (F09)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle import random_states

import bddtorque as bt
from machines.lathrop.lathrop_torques import float_state
from machines.lathrop.linear_program import linear_program, program_inputs
from machines.lathrop.logarithmic_program import logarithmic_program
from machines.lathrop.systolic import one_node, own_processor, pipeline, simulate
from machines.lathrop.vector_program import Times, duration

STATES = 9


def stream(robot: bt.Robot) -> tuple[list[dict], np.ndarray]:
    """Return the inputs of some states, and the torques that must come out (drives are no part of the machine)."""
    q, qd, qdd = random_states(robot, STATES, 7)
    inputs = [program_inputs(float_state(robot, q[k], qd[k], qdd[k])) for k in range(STATES)]
    drives = np.array([joint.rotor_inertia for joint in robot.joints]) * qdd
    return inputs, bt.inverse_dynamics(robot, q, qd, qdd) - drives


@pytest.mark.parametrize("times", [Times(1, 1), Times(3, 1)], ids=["m=a", "m=3a"])
@pytest.mark.parametrize("form", ["linear", "logarithmic"])
@pytest.mark.parametrize("name", ["puma560", "stanford"])
def test_one_torque_set_every_interval(name: str, form: str, times: Times) -> None:
    robot = bt.load_robot(name)
    kinds = [joint.kind.turns for joint in robot.joints]
    program = (linear_program if form == "linear" else logarithmic_program)(kinds, end_to_end=True)
    inputs, expected = stream(robot)
    machine = pipeline(program, times)
    outputs = [f"tau[{i + 1}]" for i in range(6)]
    interval = int(times.sum(1, 3))  # F09
    ran = simulate(machine, inputs, outputs, interval)
    found = np.array([[np.squeeze(values[each]) for each in outputs] for values in ran.values])
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()
    assert ran.done[0] == machine.latency() == duration(program, times)
    assert set(np.diff(ran.done)) == {interval}
    assert machine.smallest_interval() == times.sum(1, 2)  # a processor's longest operation: MV
    with pytest.raises(bt.BddTorqueError, match="busy"):
        simulate(machine, inputs[:2], outputs, int(times.sum(1, 2)) - 1)


def test_one_node_with_feedback_has_the_same_latency_and_a_longer_interval() -> None:
    robot = bt.load_robot("puma560")
    program = linear_program([True] * 6, end_to_end=True)
    inputs, expected = stream(robot)
    outputs = [f"tau[{i + 1}]" for i in range(6)]
    single, systolic = pipeline(program, Times(), one_node), pipeline(program, Times(), own_processor)
    assert single.latency() == systolic.latency() == 62
    assert single.processors * 6 == systolic.processors
    interval = single.smallest_interval()
    assert interval >= 6 * 3  # each processor does its operation for six links
    alone, piped = simulate(single, inputs, outputs, interval), simulate(systolic, inputs, outputs, 4)
    for ran in (alone, piped):
        found = np.array([[np.squeeze(values[each]) for each in outputs] for values in ran.values])
        assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()
    assert alone.buffers < piped.buffers


def test_a_start_before_the_operands_are_there_is_refused() -> None:
    robot = bt.load_robot("planar2r")
    inputs, _ = stream(robot)
    machine = pipeline(linear_program([True, True], end_to_end=True), Times())
    hasty = replace(machine, starts={**machine.starts, "n[1]": machine.starts["n[1]"] - 1})
    with pytest.raises(bt.BddTorqueError, match="not there"):
        simulate(hasty, inputs, ["tau[1]"], 4)


def test_whole_steps_are_required() -> None:
    with pytest.raises(bt.BddTorqueError, match="whole steps"):
        pipeline(linear_program([True]), Times(1.5, 1))

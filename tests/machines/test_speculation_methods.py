"""Ages as data: iterations to exactness, time steps, predictions (F29, F30), each predicted from data and measured."""

from __future__ import annotations

import numpy as np
import pytest
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import random_states
from strategies import random_robot, robots, seeds

from bddtorque.base.errors import BddTorqueError
from bddtorque.robots import load_robot
from bddtorque.robots.robot import Robot
from machines.hamilton.hamilton_equations import HAMILTON
from machines.hamilton.speculation_equations import LATHROP, Operand
from machines.hamilton.speculation_machine import SpeculativeMachine
from machines.hamilton.speculation_methods import (
    BINDER_HERZOG,
    FIRST_ORDER,
    METHODS,
    NEW,
    NEWBOX,
    SERIAL,
    YAMAKITA,
    Method,
    Reading,
    ages,
    iterations_to_exact,
    mixed,
)
from machines.hamilton.speculation_steps import blocks, levels, time_steps, variable_steps

ALL = (*METHODS, BINDER_HERZOG.with_output_prediction(), mixed("f", "t"), mixed("ae"), mixed("w", "wd", base=NEW))


def measured_iterations(robot: Robot, method: Method, recursion, seed: int) -> int:
    """Return the first iteration on a frozen state from which torques stay those of the serial recursion."""
    q, qd, qdd = random_states(robot, 4, seed)
    machine = SpeculativeMachine(robot, method, recursion)
    machine.start(q[:3], qd[:3], qdd[:3])
    frozen = [np.repeat(rows[3:], 40, axis=0) for rows in (q, qd, qdd)]
    exact = SpeculativeMachine(robot, SERIAL, recursion).step(q[3], qd[3], qdd[3])
    wrong = np.abs(machine.step(*frozen) - exact).max(axis=1) > 1e-11 * np.abs(exact).max()
    assert not wrong[-1]
    return int(np.flatnonzero(wrong).max(initial=-1)) + 2


@pytest.mark.parametrize("n", range(1, 7))
def test_iterations_until_the_torque_is_exact(n: int) -> None:
    """F29: 2n−1 for bh, 2n+1 for newbox, 2n+2 for new; from the data, and on a machine with random links."""
    robot = random_robot(["revolute"] * n, ["general"] * n, n)
    kinds = ["revolute"] * n
    for method, expected in ((SERIAL, 1), (BINDER_HERZOG, 2 * n - 1), (NEWBOX, 2 * n + 1), (NEW, 2 * n + 2)):
        assert iterations_to_exact(HAMILTON, method, kinds) == expected
        assert measured_iterations(robot, method, HAMILTON, n) == expected
    assert iterations_to_exact(HAMILTON, FIRST_ORDER, kinds) == 4 * n - 3  # two iterations a hop
    assert iterations_to_exact(HAMILTON, YAMAKITA, kinds) == 2 * n + 3


@settings(max_examples=examples(30))
@given(robots(most=5), st.sampled_from(ALL), seeds)
def test_no_machine_takes_longer_than_its_ages_say(robot: Robot, method: Method, seed: int) -> None:
    """Joints of both kinds; special geometries may be exact earlier, never later."""
    kinds = [joint.kind.name for joint in robot.joints]
    assert measured_iterations(robot, method, LATHROP, seed) <= iterations_to_exact(LATHROP, method, kinds)


def test_time_steps_of_a_loop() -> None:
    """F30 and HAM figures 1 to 3: 6, 2 and 1 steps for three links; 2n, 2 and 1 for n."""
    assert [time_steps(HAMILTON, method, ["revolute"] * 3) for method in (SERIAL, BINDER_HERZOG, NEW)] == [6, 2, 1]
    for n in range(1, 8):
        kinds = ["revolute"] * n
        assert [time_steps(HAMILTON, method, kinds) for method in (SERIAL, BINDER_HERZOG, NEW)] == [2 * n, 2, 1]
    waits = blocks(HAMILTON, SERIAL, ["revolute"] * 3)
    assert waits["F", 2] == {("F", 1)} and waits["B", 2] == {("F", 2), ("B", 3)}
    assert all(not each for each in blocks(HAMILTON, NEW, ["revolute"] * 3).values())


def test_steps_of_single_variables() -> None:
    """HAM figures 4 and 5: bh goes w and wd, then al, ae and ac, then f, then t; in new all go at once."""
    steps = variable_steps(HAMILTON, BINDER_HERZOG, ["revolute"] * 3)
    assert [steps[variable, 2] for variable in HAMILTON.variables] == [1, 1, 2, 2, 2, 3, 4]
    assert set(variable_steps(HAMILTON, NEW, ["revolute"] * 3).values()) == {1}
    with pytest.raises(BddTorqueError, match="waits for itself"):
        levels({("a", 1): {("b", 1)}, ("b", 1): {("a", 1)}})


def test_ages_grow_along_the_chain() -> None:
    """In bh, acceleration j reaches torque i through link k after (k−j)+(k−i) samples: an impulse shows it."""
    robot = load_robot("planar3r_b").with_gravity((0.0, 0.0, 0.0))
    n, q = 3, np.array([0.3, 0.5, 0.7])
    assert max(ages(HAMILTON, BINDER_HERZOG, ["revolute"] * n).values()) == 2 * n - 2
    for j in range(n):
        machine = SpeculativeMachine(robot, BINDER_HERZOG, HAMILTON)
        rows, impulse = np.tile(q, (8, 1)), np.zeros((8, n))
        impulse[0, j] = 1.0
        arrivals = np.abs(machine.step(rows, np.zeros((8, n)), impulse)) > 1e-12
        for i in range(n):
            expected = {(k - j) + (k - i) for k in range(max(i, j), n)}
            assert set(np.flatnonzero(arrivals[:, i]).tolist()) == expected


def test_readings_by_class_set_and_exception() -> None:
    neighbour, own, unboxed = Operand("w", -1), Operand("w"), Operand("al", boxed=False)
    readings = {m.name: [m.reading("t", each) for each in (neighbour, own, unboxed)] for m in METHODS}
    current, previous, extrapolated = Reading.CURRENT, Reading.PREVIOUS, Reading.EXTRAPOLATED
    assert readings["serial"] == [current] * 3
    assert readings["bh"] == [previous, current, current]
    assert readings["bh first order"] == [extrapolated, current, current]
    assert readings["newbox"] == [previous, previous, current]
    assert readings["new"] == [previous] * 3
    assert readings["yamakita"] == [previous, previous, Reading.BEFORE_PREVIOUS]
    assert mixed("w").reading("t", neighbour) is current
    assert mixed("f").reading("t", neighbour) is previous
    both = mixed(*HAMILTON.variables, base=NEW)
    assert iterations_to_exact(HAMILTON, both, ["revolute"] * 4) == 1


@settings(max_examples=examples(20))
@given(seeds)
def test_where_all_is_old_the_order_of_computation_does_not_matter(seed: int) -> None:
    """HAM Table 7: any order, any processor."""
    from machines.hamilton.speculation_machine import compute, set_motion, shift

    robot = load_robot("planar3r_b")
    q, qd, qdd = random_states(robot, 4, seed)
    usual, shuffled = SpeculativeMachine(robot, NEW, HAMILTON), SpeculativeMachine(robot, NEW, HAMILTON)
    for machine in (usual, shuffled):
        machine.start(q[:3], qd[:3], qdd[:3])
    usual.step(q[3], qd[3], qdd[3])
    set_motion(shuffled.arm, np.sin(q[3]), np.cos(q[3]), q[3], qd[3], qdd[3], shuffled.scratch)
    shift(shuffled.store)
    order = [(link, v) for link in range(1, 4) for v in range(len(HAMILTON.variables))]
    for k in np.random.default_rng(seed).permutation(len(order)):
        link, v = order[k]
        compute(shuffled.arm, shuffled.program, shuffled.readings, shuffled.store, shuffled.scratch, link, v)
    assert np.allclose(usual.store, shuffled.store, rtol=1e-14, atol=1e-14)


def test_first_order_extrapolates_motions_that_change_evenly() -> None:
    """At rest, with an even ramp of accelerations, every variable is linear in time: first order is then exact."""
    robot = load_robot("planar3r_a")
    q, ramp = np.tile([0.2, 0.4, -0.3], (30, 1)), np.outer(np.arange(30), [1.0, -2.0, 0.5])
    machine, exact = (SpeculativeMachine(robot, each, HAMILTON) for each in (FIRST_ORDER, SERIAL))
    error = np.abs(machine.step(q, 0 * q, ramp) - exact.step(q, 0 * q, ramp)).max(axis=1)
    assert error[0] > 1.0 and error[9:].max() < 1e-9


def test_output_prediction_extrapolates_the_torques() -> None:
    robot = load_robot("planar3r_a")
    q, qd, qdd = random_states(robot, 12, 5)
    plain = SpeculativeMachine(robot, BINDER_HERZOG, HAMILTON)
    predicted = SpeculativeMachine(robot, BINDER_HERZOG.with_output_prediction(), HAMILTON)
    for machine in (plain, predicted):
        machine.start(q[:3], qd[:3], qdd[:3])
    before = plain.last
    tau = plain.step(q[3:], qd[3:], qdd[3:])
    expected = 2 * tau - np.vstack([before, tau[:-1]])
    found = np.array([predicted.step(*state) for state in zip(q[3:], qd[3:], qdd[3:], strict=True)])
    assert np.allclose(found, expected, rtol=0, atol=1e-12)

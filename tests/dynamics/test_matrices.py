"""Mass matrix, bias, gravity and forward dynamics against pinocchio; energies against what defines them."""

from __future__ import annotations

import numpy as np
import pytest
from energies import kinetic_energy, potential_energy
from examples_tried import examples
from hypothesis import given, settings
from oracle import aba, crba, pinocchio_model, random_states, rnea
from strategies import random_robot, relative_error, robots, seeds

import bddtorque as bt
from bddtorque.robots.parts import Joint, Link

TOLERANCE = 1e-10


@settings(max_examples=examples(80))
@given(robots(), seeds)
def test_all_are_pinocchios(robot: bt.Robot, seed: int) -> None:
    model = pinocchio_model(robot)
    q, qd, tau = random_states(robot, 6, seed)
    still = np.zeros_like(q)
    mass = bt.mass_matrix(robot, q)
    assert np.abs(mass - crba(model, q)).max() < TOLERANCE * np.abs(mass).max()
    assert relative_error(bt.bias(robot, q, qd), rnea(model, q, qd, still)) < TOLERANCE
    assert relative_error(bt.gravity_torque(robot, q), rnea(model, q, still, still)) < TOLERANCE
    assert relative_error(bt.forward_dynamics(robot, q, qd, tau), aba(model, q, qd, tau)) < TOLERANCE


@settings(max_examples=examples(40))
@given(robots(), seeds)
def test_forward_dynamics_undoes_inverse_dynamics(robot: bt.Robot, seed: int) -> None:
    q, qd, qdd = random_states(robot, 6, seed)
    tau = bt.inverse_dynamics(robot, q, qd, qdd)
    assert relative_error(bt.forward_dynamics(robot, q, qd, tau), qdd) < TOLERANCE


def test_shapes_follow_the_inputs() -> None:
    robot = random_robot(["revolute", "prismatic"], ["general"] * 2, seed=1)
    q, qd, tau = random_states(robot, 5)
    assert bt.mass_matrix(robot, q).shape == (5, 2, 2)
    for result, shape in (
        (bt.mass_matrix(robot, q[2]), (2, 2)),
        (bt.bias(robot, q[2], qd[2]), (2,)),
        (bt.gravity_torque(robot, q[2]), (2,)),
        (bt.forward_dynamics(robot, q[2], qd[2], tau[2]), (2,)),
    ):
        assert np.shape(result) == shape
    np.testing.assert_array_equal(bt.mass_matrix(robot, q[2]), bt.mass_matrix(robot, q)[2])
    np.testing.assert_array_equal(
        bt.forward_dynamics(robot, q, qd[0], tau)[0], bt.forward_dynamics(robot, q[0], qd[0], tau[0])
    )


def test_a_falling_slider_by_hand() -> None:
    # 2 kg and a drive of 3 kg on a vertical rail: weight 2 g, inertia 5 kg, height q + 0.5
    slider = bt.Robot("slider", (Joint("rail", "prismatic", rotor_inertia=3),), (Link("mass", 2, (0, 0, 0.5)),))
    assert bt.mass_matrix(slider, [0.3]) == pytest.approx(np.array([[5.0]]))
    assert bt.gravity_torque(slider, [0.3]) == pytest.approx([2 * 9.81])
    assert bt.forward_dynamics(slider, [0.3], [1.0], [0.0]) == pytest.approx([-2 * 9.81 / 5])
    assert kinetic_energy(slider, [0.3], [2.0]) == pytest.approx(0.5 * 5 * 4)
    assert potential_energy(slider, [0.3]) == pytest.approx(2 * 9.81 * 0.8)


def test_a_joint_that_moves_nothing_is_refused() -> None:
    empty = bt.Robot(
        "empty", (Joint("a", "revolute"), Joint("b", "revolute")), (Link("one", 1, (1, 0, 0)), Link("two"))
    )
    with pytest.raises(bt.BddTorqueError, match=r"robot 'empty': the mass matrix is singular"):
        bt.forward_dynamics(empty, [0, 0], [0, 0], [0, 0])


def test_a_robot_may_be_given_by_name() -> None:
    robot, q, rest = bt.load_robot("scara"), [0.1, -0.4, 0.05, 0.3], [0.0] * 4
    for find in (bt.gravity_torque, bt.mass_matrix):
        assert np.array_equal(find("scara", q), find(robot, q))
    for find in (bt.inverse_dynamics, bt.forward_dynamics):
        assert np.array_equal(find("scara", q, rest, rest), find(robot, q, rest, rest))
    assert np.array_equal(bt.bias("scara", q, rest), bt.bias(robot, q, rest))
    assert bt.trace_torques("scara").counts() == bt.trace_torques(robot).counts()
    assert len(bt.terms_of("scara").terms) == len(bt.terms_of(robot).terms)
    with pytest.raises(bt.BddTorqueError, match="did you mean 'scara'"):
        bt.gravity_torque("scar", q)

"""Lathrop's linear and logarithmic forms: equal to pinocchio, to our Newton-Euler and to each other (F01 to F04)."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import inertia, pinocchio_model, random_states, rnea
from strategies import BUILT_IN, KINDS, about_z, random_robot, relative_error, robots, seeds

import bddtorque as bt
from bddtorque.base.plain import matrix, vector
from bddtorque.robots.parts import Frame, Joint, Link
from bddtorque.robots.robot import Robot
from machines.lathrop.arm import ArmState, BaseMotion, TipWrench
from machines.lathrop.lathrop_torques import Form, float_state, lathrop_torques
from machines.lathrop.linear import LinkQuantities, linear_recursion
from machines.lathrop.logarithmic import (
    IntervalLoad,
    IntervalMotion,
    combine_load,
    combine_motion,
    load_leaf_halves,
    load_leaves,
    logarithmic_recursion,
    motion_leaf_halves,
    motion_leaves,
    prefixes,
    serial,
    trace_lathrop,
    transposed,
)
from machines.vectors import add, cross, float_triple, matrix_times

FORMS: tuple[Form, ...] = (linear_recursion, logarithmic_recursion)


def random_ends(seed: int) -> tuple[BaseMotion, TipWrench]:
    """Return a base that turns and accelerates, and a wrench at the tip."""
    numbers = np.random.default_rng(seed).uniform(-2, 2, (5, 3))
    return BaseMotion(*map(float_triple, numbers[:3])), TipWrench(*map(float_triple, numbers[3:]))


def random_state(robot: bt.Robot, seed: int, count: int = 4) -> ArmState:
    return float_state(robot, *random_states(robot, count, seed), *random_ends(seed))


def difference(found: object, expected: object) -> float:
    """Return the largest relative difference of two equal structures of numbers and arrays."""
    if isinstance(found, LinkQuantities):
        return max(difference(getattr(found, name), getattr(expected, name)) for name in found.__dataclass_fields__)
    if isinstance(found, tuple | list):
        return max(difference(one, other) for one, other in zip(found, expected, strict=True))
    return float(np.max(np.abs(found - expected) / np.maximum(np.abs(expected), 10.0)))


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=examples(40))
@given(robot=robots(), seed=seeds)
def test_torques_are_those_of_pinocchio_and_of_our_newton_euler(form: Form, robot: bt.Robot, seed: int) -> None:
    q, qd, qdd = random_states(robot, 5, seed)
    found = lathrop_torques(robot, q, qd, qdd, form)
    assert relative_error(found, rnea(pinocchio_model(robot), q, qd, qdd)) < 1e-12  # F01
    assert relative_error(found, bt.inverse_dynamics(robot, q, qd, qdd)) < 1e-12


@pytest.mark.parametrize("kinds", [("revolute",), ("prismatic",), KINDS], ids=["turning", "sliding", "mixed"])
@pytest.mark.parametrize("n", range(1, 10))
def test_every_length_and_kind_of_arm_in_denavit_hartenberg_frames(n: int, kinds: tuple[str, ...]) -> None:
    robot = random_robot([kinds[i % len(kinds)] for i in range(n)], ["tilted"] * n, seed=n)
    q, qd, qdd = random_states(robot, 20, n)
    expected = rnea(pinocchio_model(robot), q, qd, qdd)
    for form in FORMS:
        assert relative_error(lathrop_torques(robot, q, qd, qdd, form), expected) < 1e-12


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_built_in_arm_as_floats_and_as_a_graph(name: str) -> None:
    robot = bt.load_robot(name)
    q, qd, qdd = random_states(robot, 20, 3)
    expected = rnea(pinocchio_model(robot), q, qd, qdd)
    inputs = {
        f"{kind}{i + 1}": row[i] for kind, row in (("q", q.T), ("qd", qd.T), ("qdd", qdd.T)) for i in range(len(row))
    }
    for form in FORMS:
        assert relative_error(lathrop_torques(robot, q, qd, qdd, form), expected) < 1e-12
        graph = trace_lathrop(robot, form)
        assert relative_error(np.stack(graph.evaluate(inputs), axis=-1), expected) < 1e-12
    assert lathrop_torques(robot, q[0], qd[0], qdd[0]).shape == (robot.degrees_of_freedom,)


def test_denavit_hartenberg_constants_are_those_of_the_paper() -> None:
    a, alpha, d, centre = 0.3, 0.4, 0.5, np.array([0.1, -0.2, 0.15])
    c, s = np.cos(alpha), np.sin(alpha)
    R = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])  # Rz(theta)·[Tz(d) Tx(a) Rx(alpha)]: O_1 in the moving frame
    moments = np.diag([0.02, 0.03, 0.04])
    body = Link("link", 2.0, vector(R @ centre + [a, 0, d], "c"), matrix(R @ moments @ R.T, "J"))
    tip = Frame(matrix(R, "R"), (a, 0.0, d))
    robot = Robot("dh", (Joint("joint", "revolute"),), (body,), tip=tip)
    state = float_state(robot, [0.7], [0.0], [0.0])
    A = stacked_matrix(state.rotation[1])[0]
    assert np.allclose(A, about_z(0.7) @ R)  # A = Rz(theta) Rx(alpha)
    assert np.allclose(stacked(state.arm_vector[1]), [a, d * s, d * c])
    assert np.allclose(state.arm.axis[0], [0.0, s, c])
    assert np.allclose(state.arm.centre[0], centre)
    assert np.allclose(state.arm.inertia[0], moments)


def moving_base_torques(robot: bt.Robot, state: tuple[np.ndarray, ...], base: BaseMotion, tip: TipWrench) -> np.ndarray:
    """Return pinocchio's torques with the base on a free joint that is driven, and a force on the last body."""
    model = pin.Model()
    model.gravity = pin.Motion.Zero()  # it is in the acceleration of the base
    parent = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    for joint, body in zip(robot.joints, robot.bodies, strict=True):
        kind = pin.JointModelRZ() if joint.kind.turns else pin.JointModelPZ()
        parent = model.addJoint(
            parent, kind, pin.SE3(np.array(joint.rotation), np.array(joint.translation)), joint.name
        )
        model.appendBodyToJoint(parent, inertia(body), pin.SE3.Identity())
    at_tip = pin.SE3(np.array(robot.tip.rotation), np.array(robot.tip.translation))
    forces = [pin.Force.Zero() for _ in range(model.njoints)]
    forces[-1] = at_tip.act(pin.Force(-np.array(tip.force), -np.array(tip.moment)))
    q, qd, qdd = state
    tau = pin.rnea(
        model,
        model.createData(),
        np.concatenate([[0, 0, 0, 0, 0, 0, 1], q]),
        np.concatenate([[0, 0, 0], base.rate, qd]),
        np.concatenate([base.acceleration, base.rate_change, qdd]),
        forces,
    )
    return tau[6:] + np.array([joint.rotor_inertia for joint in robot.joints]) * qdd


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=examples(30))
@given(robot=robots(), seed=seeds)
def test_a_moving_base_and_a_wrench_at_the_tip(form: Form, robot: bt.Robot, seed: int) -> None:
    base, tip = random_ends(seed)
    q, qd, qdd = (rows[0] for rows in random_states(robot, 1, seed))
    found = lathrop_torques(robot, q, qd, qdd, form, base, tip)
    expected = moving_base_torques(robot, (q, qd, qdd), base, tip)
    assert np.abs(found - expected).max() <= 1e-12 * max(1.0, np.abs(expected).max())


@settings(max_examples=examples(40))
@given(robots(), seeds)
def test_both_forms_agree_in_every_quantity(robot: bt.Robot, seed: int) -> None:
    state = random_state(robot, seed)
    linear = linear_recursion(state)
    assert difference(logarithmic_recursion(state), linear) < 1e-12  # F02: w, wd, pdd, rdd, F, N, f, n, tau
    one_by_one = serial(robot.degrees_of_freedom + 1)
    assert difference(logarithmic_recursion(state, one_by_one, one_by_one), linear) < 1e-12


@settings(max_examples=examples(30))
@given(robots(most=6), seeds)
def test_what_intervals_mean(robot: bt.Robot, seed: int) -> None:
    """W, R, Q and S of [0, i] against products and sums taken in the base frame, one link after another."""
    state = random_state(robot, seed)
    found = prefixes(motion_leaves(state), combine_motion)
    W, R = np.eye(3)[None], np.zeros((1, 3))
    sliding, turning = np.zeros((1, 3)), np.zeros((1, 3))
    w = np.zeros((1, 3))
    for i, motion in enumerate(found):
        rotation, p = stacked_matrix(state.rotation[i]), stacked(state.arm_vector[i])
        if i == 0:
            w = np.array([state.base.rate])
        else:
            axis = W[:, :, 2]
            rate = np.asarray(state.velocity[i - 1])[:, None]
            w = w + axis * rate if robot.joints[i - 1].kind.turns else w
            sliding = sliding if robot.joints[i - 1].kind.turns else sliding + axis * rate
        W = W @ rotation
        R = R + np.einsum("nij,nj->ni", W, p)
        turning = turning + np.cross(w, np.einsum("nij,nj->ni", W, p))
        assert np.allclose(stacked_matrix(motion.W), W)
        for name, expected in (("w", w), ("R", R), ("Q", sliding), ("S", turning)):
            assert np.allclose(np.einsum("nij,nj->ni", W, stacked(getattr(motion, name))), expected), name


def stacked(v: tuple[object, ...]) -> np.ndarray:
    return np.stack(np.broadcast_arrays(*[np.atleast_1d(np.asarray(each, dtype=float)) for each in v]), axis=-1)


def stacked_matrix(M: tuple[tuple[object, ...], ...]) -> np.ndarray:
    return np.stack(np.broadcast_arrays(*[stacked(row) for row in M]), axis=-2)


def bracketed(leaves: list, combine: object, random: np.random.Generator) -> object:
    """Combine the leaves in order, under brackets chosen at random."""
    if len(leaves) == 1:
        return leaves[0]
    cut = int(random.integers(1, len(leaves)))
    return combine(bracketed(leaves[:cut], combine, random), bracketed(leaves[cut:], combine, random))


@settings(max_examples=examples(40))
@given(robots(), seeds, st.integers(0, 1000))
def test_any_bracketing_gives_the_same(robot: bt.Robot, seed: int, brackets: int) -> None:
    state, random = random_state(robot, seed, 2), np.random.default_rng(brackets)
    motions = motion_leaves(state)
    found = bracketed(motions, combine_motion, random)
    assert difference(found, prefixes(motions, combine_motion, serial(len(motions)))[-1]) < 1e-12  # F04
    linear = linear_recursion(state)
    loads = load_leaves(state, linear.F, linear.N)
    whole = bracketed(loads, combine_load, random)
    assert difference((whole.f, whole.n), (linear.f[0], linear.n[0])) < 1e-12


@given(robots(most=5), seeds)
def test_the_empty_interval_changes_nothing(robot: bt.Robot, seed: int) -> None:
    state = random_state(robot, seed, 1)
    motion = motion_leaves(state)[1]
    linear = linear_recursion(state)
    load = load_leaves(state, linear.F, linear.N)[0]
    for found, leaf in (
        (combine_motion(IntervalMotion(), motion), motion),
        (combine_motion(motion, IntervalMotion()), motion),
        (combine_load(IntervalLoad(), load), load),
        (combine_load(load, IntervalLoad()), load),
    ):
        assert difference(found, leaf) < 1e-15


@given(robots(most=6), seeds)
def test_leaves_are_combinations_too(robot: bt.Robot, seed: int) -> None:
    """LAT Appendix B: a leaf is joint motion combined with link geometry."""
    state = random_state(robot, seed, 2)
    leaves, linear = motion_leaves(state), linear_recursion(state)
    loads = load_leaves(state, linear.F, linear.N)
    for i in range(1, robot.degrees_of_freedom + 1):
        assert difference(combine_motion(*motion_leaf_halves(state, i)), leaves[i]) < 1e-13
        made = combine_load(*load_leaf_halves(state, i, linear.F[i - 1], linear.N[i - 1]))
        assert difference((made.V, made.f, made.n), loads[i - 1][:3]) < 1e-13


def misread(left: IntervalMotion, right: IntervalMotion) -> IntervalMotion:
    """Combine as the scanned text reads: 2S + Q for 2(S + Q)."""
    correct = combine_motion(left, right)
    without = cross(matrix_times(transposed(right.W), left.w), right.Q)
    return correct._replace(pdd=add(correct.pdd, tuple(-each for each in without)))


def test_the_misread_bracket_fails_once_a_joint_slides() -> None:
    turning = random_robot(["revolute"] * 5, ["general"] * 5, seed=2)
    sliding = random_robot(["revolute", "prismatic", "revolute", "revolute", "prismatic"], ["general"] * 5, seed=2)
    errors = []
    for robot in (turning, sliding):
        state = random_state(robot, 2)
        wrong = [motion.pdd for motion in prefixes(motion_leaves(state), misread)]
        errors.append(float(np.max(np.abs(stacked(wrong[-1]) - stacked(linear_recursion(state).pdd[-1])))))
    assert errors[0] < 1e-12
    assert errors[1] > 1.0  # F03

"""Fijany and Bejczy's equations, serial and on the array, against pinocchio (F16, F17); the printed ones fail."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from examples_tried import examples
from hypothesis import given, settings
from oracle import aba, crba, pinocchio_model, random_states, rnea
from strategies import random_robot, relative_error, robots, seeds

import bddtorque as bt
from machines.fijany.forward_array import run_array, trace_array
from machines.fijany.links import arm_constants
from machines.forward.serial_forward import ProjectedArm, bias_vector, inertia_matrix, project, solve
from machines.generic_arms import generic_arm

TOLERANCE = 1e-12
REVOLUTE_ARMS = ("planar2r", "planar3r_a", "planar3r_b", "puma560", "ur5", "panda")
revolute_robots = robots(most=9, kinds=("revolute",))


def projected(robot: bt.Robot, q: np.ndarray) -> ProjectedArm:
    return project(arm_constants(robot), list(np.sin(q)), list(np.cos(q)))


def with_tip_wrench(robot: bt.Robot, algorithm, q, qd, last, wrench) -> np.ndarray:
    """Return pinocchio's answer when the hand exerts the wrench: its surroundings exert the opposite on link n."""
    model = pinocchio_model(robot)
    tip = pin.SE3(np.array(robot.tip.rotation), np.array(robot.tip.translation))
    external = pin.StdVec_Force([pin.Force.Zero() for _ in range(model.njoints)])
    external[model.njoints - 1] = tip.act(pin.Force(-wrench[:3], -wrench[3:]))
    return algorithm(model, model.createData(), q, qd, last, external).copy()


@settings(max_examples=examples(40))
@given(revolute_robots, seeds)
def test_serial_and_parallel_inertia_matrix_is_pinocchios(robot: bt.Robot, seed: int) -> None:  # F16
    q, qd, tau = random_states(robot, 3, seed)
    expected = crba(pinocchio_model(robot), q)
    on_array = run_array(robot, q, qd, tau).inertia
    serial = np.array([inertia_matrix(projected(robot, row)) for row in q])
    for found in (on_array, serial):
        assert np.abs(found - expected).max() < TOLERANCE * np.abs(expected).max()


@settings(max_examples=examples(40))
@given(revolute_robots, seeds)
def test_forward_dynamics_with_tip_wrench_is_pinocchios(robot: bt.Robot, seed: int) -> None:  # F17
    q, qd, tau = (each[0] for each in random_states(robot, 1, seed))
    wrench = np.random.default_rng(seed).uniform(-20, 20, 6)
    run = run_array(robot, q, qd, tau, wrench)
    arm = projected(robot, q)
    bias = bias_vector(arm, qd, tuple(wrench[:3]), tuple(wrench[3:]))
    still = np.zeros_like(q)
    expected_bias = with_tip_wrench(robot, pin.rnea, q, qd, still, wrench)
    scale = np.abs(expected_bias).max() + 1.0
    assert np.abs(run.bias - expected_bias).max() < TOLERANCE * scale
    assert np.abs(np.array(bias) - expected_bias).max() < TOLERANCE * scale
    # a solution is as exact as the matrix is well conditioned: what is asked for is that it solves the equation
    expected = with_tip_wrench(robot, pin.aba, q, qd, tau, wrench)
    condition = np.linalg.cond(run.inertia)
    serial = solve(inertia_matrix(arm), [t - b for t, b in zip(tau, bias, strict=True)])
    for found in (run.accelerations, np.array(serial)):
        assert np.abs(found - expected).max() < 1e-14 * condition * (1 + np.abs(expected).max())


@pytest.mark.parametrize("n", range(1, 10))
def test_no_errors_but_those_of_floats_on_ordinary_chains(n: int) -> None:  # F16, F17: below 1e-12, chains of 1 to 9
    for robot in (random_robot(["revolute"] * n, ["general"] * n, n, rotors=False), generic_arm(n, n)):
        model = pinocchio_model(robot)
        q, qd, tau = random_states(robot, 12, n)
        run = run_array(robot, q, qd, tau)
        assert np.abs(run.inertia - crba(model, q)).max() < TOLERANCE * np.abs(run.inertia).max()
        assert relative_error(run.bias, rnea(model, q, qd, np.zeros_like(q))) < TOLERANCE
        assert relative_error(run.accelerations, aba(model, q, qd, tau)) < TOLERANCE


@pytest.mark.parametrize("name", REVOLUTE_ARMS)
def test_built_in_arms(name: str) -> None:
    robot = bt.load_robot(name)
    q, qd, tau = random_states(robot, 20, 1)
    run = run_array(robot, q, qd, tau)
    model = pinocchio_model(robot)
    assert np.abs(run.inertia - crba(model, q)).max() < TOLERANCE * np.abs(run.inertia).max()
    assert relative_error(run.bias, rnea(model, q, qd, np.zeros_like(q))) < TOLERANCE
    assert relative_error(run.accelerations, aba(model, q, qd, tau)) < 1e-10


def test_many_states_at_once_are_the_states_one_by_one() -> None:
    robot = generic_arm(4, 7)
    q, qd, tau = random_states(robot, 5, 2)
    together = run_array(robot, q, qd, tau)
    for k in range(5):
        alone = run_array(robot, q[k], qd[k], tau[k])
        assert alone.accelerations.shape == (4,)
        assert alone.inertia.shape == (4, 4)
        np.testing.assert_array_equal(alone.accelerations, together.accelerations[k])
        assert alone.phases["solve"].path == together.phases["solve"].path


@pytest.mark.parametrize("name", ["planar2r", "puma560", "ur5"])
def test_the_traced_array_is_the_array(name: str) -> None:
    robot = bt.load_robot(name)
    n = robot.degrees_of_freedom
    q, qd, _ = random_states(robot, 4, 3)
    graph = trace_array(robot)
    inputs = {f"{kind}{j + 1}": each[:, j] for kind, each in (("q", q), ("qd", qd)) for j in range(n)}
    found = dict(zip(graph.output_names, graph.evaluate(inputs), strict=True))
    A, b = crba(pinocchio_model(robot), q), rnea(pinocchio_model(robot), q, qd, np.zeros_like(q))
    for j in range(n):
        assert np.abs(found[f"b{j + 1}"] - b[:, j]).max() < TOLERANCE * np.abs(b).max()
        for i in range(j + 1):
            assert np.abs(found[f"a{j + 1},{i + 1}"] - A[:, j, i]).max() < TOLERANCE * np.abs(A).max()
    run = run_array(robot, q, qd, np.zeros_like(q))
    work = sum(sum(record.work) for name, record in run.phases.items() if name != "solve")
    counts = graph.counts()
    assert counts["sums"] + counts["products"] < work  # what rows compute alike is there once


def test_what_the_array_cannot_take_is_refused() -> None:
    with pytest.raises(bt.BddTorqueError, match="every joint must be revolute"):
        run_array(bt.load_robot("stanford"), np.zeros(6), np.zeros(6), np.zeros(6))
    with pytest.raises(bt.BddTorqueError, match="qd: expected 2 numbers per state, got shape"):
        run_array(bt.load_robot("planar2r"), np.zeros(2), np.zeros(3), np.zeros(2))
    with pytest.raises(bt.BddTorqueError, match="tip wrench: expected 6 numbers"):
        run_array(bt.load_robot("planar2r"), np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(3))


def inertia_by_print(arm: ProjectedArm, *, eq10_as_printed: bool = False, eq13_as_printed: bool = False) -> np.ndarray:
    """Return the matrix by eqs. (7) to (13) in NumPy, with either misprint left in."""
    links, n = arm.links, len(arm.links)
    Z, P, H = (np.array([getattr(link, name) for link in links], dtype=float) for name in ("Z", "P", "H"))
    K, M = np.array([link.K for link in links], dtype=float), [link.mass for link in links]
    A = np.zeros((n, n))
    for i in range(n):
        V, F, N = np.zeros((n, 3)), np.zeros((n + 2, 3)), np.zeros((n + 2, 3))
        for j in range(i + 1, n):
            V[j] = V[j - 1] + np.cross(Z[i], P[j - 1])
        for j in range(n - 1, i - 1, -1):
            own = K[j] @ Z[i] + (0.0 if eq10_as_printed else np.cross(H[j], V[j]))
            N[j] = own + N[j + 1] + np.cross(P[j], F[j + 1])
            F[j] = M[j] * V[j] + np.cross(Z[i], H[j]) + F[j + 1]
            A[j, i] = A[i, j] = Z[j] @ N[j + 1 if eq13_as_printed else j]
    return A


@pytest.mark.parametrize("seed", range(8))
def test_equations_10_and_13_as_printed_are_wrong(seed: int) -> None:
    n = 3 + seed % 5
    robot = random_robot(["revolute"] * n, ["general"] * n, seed, rotors=False)
    q = random_states(robot, 1, seed)[0][0]
    arm, expected = projected(robot, q), crba(pinocchio_model(robot), q)
    largest = np.abs(expected).max()
    assert np.abs(inertia_by_print(arm) - expected).max() < TOLERANCE * largest
    assert np.abs(inertia_by_print(arm, eq10_as_printed=True) - expected).max() > 1e-3 * largest
    assert np.abs(inertia_by_print(arm, eq13_as_printed=True) - expected).max() > 0.1 * largest
    # row n of (13) as printed would read N(n+1, n+1, i), which is zero: the last joint would have no inertia at all
    assert not inertia_by_print(arm, eq13_as_printed=True)[n - 1].any()

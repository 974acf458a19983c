"""Serial forward dynamics in O(n), O(n²), O(n³): right on floats and as graphs, and how many operations they take."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import aba, crba, pinocchio_model, random_states
from strategies import robots, seeds

import bddtorque as bt
from bddtorque.dynamics.chain import chain_of
from machines.fijany.owned_words import ArrayCosts
from machines.forward.composite_body import composite_inertia
from machines.forward.conjugate_gradient import conjugate_gradient
from machines.forward.forward_counts import METHODS, ForwardGraph, trace_forward
from machines.forward.link_axes import turned_about
from machines.generic_arms import generic_arm

revolute_robots = robots(most=8, kinds=("revolute",))


@cache
def graph_of(name: str, n: int) -> ForwardGraph:
    return trace_forward(METHODS[name], generic_arm(n, 3))


def operations(name: str, n: int) -> int:
    return sum(graph_of(name, n).cost)


@settings(max_examples=examples(50))
@given(revolute_robots, st.sampled_from(sorted(set(METHODS) - {"conjugate gradient"})), seeds)
def test_accelerations_are_pinocchios(robot: bt.Robot, name: str, seed: int) -> None:
    q, qd, tau = (each[0] for each in random_states(robot, 1, seed))
    model = pinocchio_model(robot)
    found = METHODS[name](robot, np.sin(q), np.cos(q), qd, tau, lambda d: 1.0 / d)
    expected = aba(model, q, qd, tau)
    condition = np.linalg.cond(crba(model, q))
    assert np.abs(np.array(found) - expected).max() < 1e-14 * condition * (1 + np.abs(expected).max())


@pytest.mark.parametrize("n", range(1, 8))
def test_conjugate_gradients_end_after_n_iterations(n: int) -> None:
    robot = generic_arm(n, n)
    model = pinocchio_model(robot)
    for q, qd, tau in zip(*random_states(robot, 5, n), strict=True):
        found = METHODS["conjugate gradient"](robot, np.sin(q), np.cos(q), qd, tau, lambda d: 1.0 / d)
        error = np.array(found) - aba(model, q, qd, tau)
        A = crba(model, q)
        # what conjugate gradients make small is the energy norm of the error
        size = aba(model, q, qd, tau)
        assert error @ A @ error < 1e-8 * (size @ A @ size)


def test_one_iteration_less_is_not_enough() -> None:
    A = np.diag([1.0, 2.0, 5.0, 9.0])
    gamma = [1.0, -2.0, 3.0, 1.0]
    exact = np.linalg.solve(A, gamma)
    done = [
        np.abs(conjugate_gradient(lambda v: A @ v, gamma, lambda d: 1.0 / d, iterations=k) - exact).max()
        for k in (1, 2, 3, 4)
    ]
    assert done[3] < 1e-14
    assert 1e-3 < done[2] < done[1] < done[0]


@settings(max_examples=examples(30))
@given(revolute_robots, seeds)
def test_composite_bodies_give_pinocchios_inertia(robot: bt.Robot, seed: int) -> None:
    q = random_states(robot, 1, seed)[0][0]
    expected = crba(pinocchio_model(robot), q)
    found = np.array(composite_inertia(chain_of(robot), np.sin(q), np.cos(q)))
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("n", (2, 3, 5))
def test_graphs_compute_what_the_functions_do(name: str, n: int) -> None:
    """The graph, given the reciprocals that the function took on floats, gives its accelerations and its divisors."""
    robot = generic_arm(n, 3)
    q, qd, tau = (each[0] for each in random_states(robot, 1, n))
    divisors: list[float] = []

    def reciprocal(d: float) -> float:
        if d not in divisors:
            divisors.append(d)
        return 1.0 / d

    expected = METHODS[name](robot, np.sin(q), np.cos(q), qd, tau, reciprocal)
    traced = graph_of(name, n)
    inputs = {f"{kind}{j + 1}": each[j] for kind, each in (("q", q), ("qd", qd), ("tau", tau)) for j in range(n)}
    # divisors that are constants of the arm are folded in the graph: the last joint's inertia
    constants = len(divisors) - traced.reciprocals
    assert constants in (0, 1)
    moving = [d for d in divisors if not (constants and np.isclose(d, divisors[0]))] if constants else divisors
    inputs |= {f"1/d{k + 1}": 1.0 / d for k, d in enumerate(moving)}
    outputs = np.array(traced.graph.evaluate(inputs))
    np.testing.assert_allclose(outputs[:n], np.array(expected, dtype=float), rtol=1e-9)
    np.testing.assert_allclose(outputs[n:], moving, rtol=1e-9)


def test_orders_of_growth() -> None:
    sizes = range(4, 10)
    growth = {name: np.array([operations(name, n) for n in sizes]) for name in METHODS}
    assert not np.diff(growth["articulated body"], 2).any()  # O(n)
    assert not np.diff(growth["conjugate gradient"], 3).any()  # O(n²)
    assert np.diff(growth["conjugate gradient"], 2).all()
    for name in ("composite rigid body", "VNEB"):  # O(n³), by a third difference of 1/6 · 6 products and as many sums
        assert (np.diff(growth[name], 3) == 2).all()


def test_where_they_cross() -> None:
    """FIJ quotes 12; with the articulated body as found here, composite bodies lose their lead earlier, at nine."""
    best = {n: min(METHODS, key=lambda name, n=n: operations(name, n)) for n in range(2, 12)}
    assert [n for n, name in best.items() if name == "composite rigid body"] == list(range(2, 9))
    assert {best[n] for n in range(9, 12)} == {"articulated body"}
    assert all(operations("VNEB", n) > operations("composite rigid body", n) for n in range(2, 12))


def test_the_articulated_body_takes_less_than_fij_quotes() -> None:
    per_joint = np.subtract(graph_of("articulated body", 9).cost, graph_of("articulated body", 8).cost)
    assert tuple(per_joint[:2]) == (212, 204)  # quoted: 380 and 302


def test_parallelism_of_the_articulated_body_is_bounded() -> None:
    """FIJ section II: more processors speed up the O(n) way by a constant factor only, the O(n³) way by ever more."""
    sizes = (4, 6, 8, 12)

    def gain(name: str, n: int) -> float:
        return sum(graph_of(name, n).cost) / graph_of(name, n).longest_path()

    paths = [graph_of("articulated body", n).longest_path() for n in range(4, 10)]
    assert len(set(np.diff(paths))) == 1
    assert operations("articulated body", 9) - operations("articulated body", 8) < 13 * (paths[-1] - paths[-2])
    for name in ("composite rigid body", "VNEB"):
        gains = [gain(name, n) for n in sizes]
        assert gains == sorted(gains)
        assert gains[-1] > 1.5 * gains[0]


def test_a_longest_path_runs_through_reciprocals() -> None:
    def method(robot, sine, cosine, qd, tau, one_over):
        d = qd[0] * qd[0] + 1.0  # 1 product, 1 sum, then the reciprocal, then 1 product
        return [tau[0] * one_over(d)]

    traced = trace_forward(method, generic_arm(1))
    assert traced.cost == (3, 1, 0)
    assert traced.longest_path() == 4.0
    assert traced.longest_path(ArrayCosts(5.0, 1.0)) == 16.0


@given(st.sampled_from([0, 1, 2]), st.floats(-3, 3), seeds)
def test_matrices_turn_about_axes(axis: int, angle: float, seed: int) -> None:
    M = np.random.default_rng(seed).normal(size=(3, 3))
    c, s = np.cos(angle), np.sin(angle)
    R = np.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[i, i] = R[j, j] = c
    R[i, j], R[j, i] = -s, s
    rows = tuple(tuple(row) for row in M)
    np.testing.assert_allclose(turned_about(axis, s, c, rows), R @ M @ R.T, atol=1e-13)

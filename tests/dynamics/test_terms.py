"""Terms: how many there are, that they sum to the torques, and that each says truly which joints it depends on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from examples_tried import examples
from hypothesis import given, settings
from oracle import random_states
from strategies import random_robot, relative_error, robots, seeds, tapered

import bddtorque as bt
from bddtorque.dynamics.terms import Terms


@pytest.mark.parametrize(
    ("name", "terms", "harmonics", "phases"),
    [
        ("planar2r", 8, 11, 3),
        ("planar3r_a", 21, 41, 6),
        ("planar3r_b", 21, 41, 6),
        ("scara", 20, 37, 3),
        ("stanford", 84, 795, 62),
        ("puma560", 107, 1035, 70),
        ("ur5", 117, 726, 45),
        pytest.param("panda", 202, 114_934, 6_628, marks=pytest.mark.everything),
    ],
)
def test_known_counts(name: str, terms: int, harmonics: int, phases: int) -> None:
    # phases other than zero: with the constant one they are the 46 of the UR5 and the 6,629 of the Panda
    assert bt.terms_of(bt.load_robot(name)).counts() == {"terms": terms, "harmonics": harmonics, "phases": phases}


def sum_of_terms(robot: bt.Robot, q: Any, qd: Any, qdd: Any) -> Any:
    motion = {f"{kind}{j + 1}": row for kind, rows in (("qd", qd), ("qdd", qdd)) for j, row in enumerate(rows.T)}
    tau = np.zeros(q.shape)
    for term in bt.terms_of(robot).terms:
        for torque, names in term.summands():
            tau[:, torque] += term.expansion(q) * np.prod([motion[name] for name in names], axis=0)
    return tau


@settings(max_examples=examples(40))
@given(robots(most=5), seeds)
def test_their_sum_is_newton_euler(robot: bt.Robot, seed: int) -> None:
    states = random_states(robot, 10, seed)
    found = sum_of_terms(robot, *states)
    assert relative_error(found, bt.inverse_dynamics(robot, *states)) < 1e-10


@pytest.mark.parametrize("name", ["stanford", "puma560", "ur5", pytest.param("panda", marks=pytest.mark.everything)])
def test_their_sum_is_newton_euler_on_real_arms(name: str) -> None:
    robot = bt.load_robot(name)
    states = random_states(robot, 2)
    found = sum_of_terms(robot, *states)
    assert relative_error(found, bt.inverse_dynamics(robot, *states)) < 1e-10


@pytest.mark.parametrize(("mass", "length"), [(0.1, 0.3), (0.01, 0.1)])
def test_a_light_wrist_keeps_its_terms(mass: float, length: float) -> None:
    # noise is judged by what a coefficient is summed from, not by the largest coefficient of the arm
    for seed, kinds in enumerate((["revolute"] * 4, ["revolute", "prismatic", "revolute", "revolute"])):
        robot = tapered(random_robot(kinds, ["general", "perpendicular", "tilted", "parallel"], seed), mass, length)
        states = random_states(robot, 10)
        found = sum_of_terms(robot, *states)
        assert relative_error(found, bt.inverse_dynamics(robot, *states), least=1e-300) < 1e-10


def test_weight_along_the_axes_is_no_term() -> None:
    """A planar arm that lies flat, on a base turned anyhow: its gravity terms are rounding noise and nothing else."""
    flat = random_robot(["revolute"] * 3, ["general", "parallel", "parallel"], seed=8)
    axis = np.array(flat.joints[0].rotation)[:, 2]
    flat = flat.with_gravity(tuple(9.81 * axis))
    assert np.abs(bt.gravity_torque(flat, random_states(flat, 50)[0])).max() > 0
    assert {term.kind for term in bt.terms_of(flat).terms} == {"inertial", "centripetal", "coriolis"}


@pytest.fixture(scope="module")
def two() -> Terms:
    return bt.terms_of(bt.load_robot("planar2r"))


def test_closed_form_of_the_planar_arm(two: Terms) -> None:
    """F44: each coefficient by its own formula."""
    q = random_states(two.robot, 50)[0]
    C1, C2, S2, C12 = np.cos(q[:, 0]), np.cos(q[:, 1]), np.sin(q[:, 1]), np.cos(q.sum(axis=1))
    g = 9.81
    expected = {
        "J11": 15.75 + 10 * C2,
        "J12": 4 + 5 * C2,
        "J22": np.full(50, 9.0),
        "C1_22": -5 * S2,
        "C1_12": -10 * S2,
        "C2_11": 5 * S2,
        "G1": g * 6.75 * C1 + g * 5 * C12,
        "G2": g * 5 * C12,
    }
    found = {term.name: term.expansion(q) for term in two.terms}
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=0, atol=1e-12, err_msg=name)


def test_where_a_term_enters(two: Terms) -> None:
    entries = {term.name: (term.kind, term.summands(), term.expansion.depends_on) for term in two.terms}
    assert entries == {
        "J11": ("inertial", [(0, ("qdd1",))], (1,)),
        "J12": ("inertial", [(0, ("qdd2",)), (1, ("qdd1",))], (1,)),
        "J22": ("inertial", [(1, ("qdd2",))], ()),
        "C1_22": ("centripetal", [(0, ("qd2", "qd2"))], (1,)),
        "C2_11": ("centripetal", [(1, ("qd1", "qd1"))], (1,)),
        "C1_12": ("coriolis", [(0, ("qd1", "qd2"))], (1,)),
        "G1": ("gravity", [(0, ())], (0, 1)),
        "G2": ("gravity", [(1, ())], (0, 1)),
    }


def test_a_batch_of_any_length_is_the_same_rows(two: Terms) -> None:
    q = np.random.default_rng(0).uniform(-3, 3, (200_000, 2))  # more than is evaluated at once
    for term in two.terms:
        values = term.expansion(q)
        assert values.shape == (200_000,)
        np.testing.assert_allclose(values[-3:], term.expansion(q[-3:]), rtol=0, atol=1e-13 * np.abs(values).max())


def test_harmonics_are_in_their_one_form() -> None:
    terms = bt.terms_of(random_robot(["revolute", "prismatic", "revolute"], ["general"] * 3, seed=2))
    assert any(term.expansion.powers.any() for term in terms.terms)
    for term in terms.terms:
        m, power = term.expansion.multipliers, term.expansion.powers
        assert not m[:, 1].any()
        assert not power[:, [0, 2]].any()
        assert np.abs(m).max() <= 2
        assert power.min() >= 0
        assert power.max() <= 2
        for row in m[m.any(axis=1)]:
            assert row[np.flatnonzero(row)[0]] > 0
        assert len(np.unique(np.hstack([m, power]), axis=0)) == len(term.expansion)
        assert not term.expansion.sine[~m.any(axis=1)].any()  # the sine of no angle is nothing


def coefficient(robot: bt.Robot, kind: str, joint: int, motion: tuple[int, ...], q: np.ndarray) -> np.ndarray:
    """Return a coefficient by another road than the expansion: mass matrix, gravity, differences of the bias."""
    floating = robot.with_gravity((0, 0, 0))
    unit = np.eye(robot.degrees_of_freedom)
    if kind == "inertial":
        return bt.mass_matrix(robot, q)[:, joint, motion[0]]
    if kind == "gravity":
        return bt.gravity_torque(robot, q)[:, joint]
    j, k = motion
    if kind == "centripetal":
        return bt.bias(floating, q, unit[j])[:, joint]
    # qd_j qd_k is what changes when one of the two turns round
    both, against = bt.bias(floating, q, unit[j] + unit[k]), bt.bias(floating, q, unit[j] - unit[k])
    return (both - against)[:, joint] / 2


@settings(max_examples=examples(40))
@given(robots(most=4), seeds)
def test_each_depends_on_what_it_says(robot: bt.Robot, seed: int) -> None:
    q = random_states(robot, 12, seed)[0]
    moved = random_states(robot, 12, seed ^ 1)[0]
    for term in bt.terms_of(robot).terms:
        key = (term.kind, term.joint, term.motion)
        here = coefficient(robot, *key, q)
        scale = max(1.0, np.abs(here).max())
        np.testing.assert_allclose(term.expansion(q), here, rtol=0, atol=1e-10 * scale, err_msg=term.name)
        depends = np.isin(np.arange(robot.degrees_of_freedom), term.expansion.depends_on)
        others = coefficient(robot, *key, np.where(depends, q, moved))
        np.testing.assert_allclose(others, here, rtol=0, atol=1e-10 * scale, err_msg=f"{term.name}: the other joints")
        for j in np.flatnonzero(depends):
            one = q.copy()
            one[:, j] = moved[:, j]
            assert np.abs(coefficient(robot, *key, one) - here).max() > 1e-12 * scale, f"{term.name}: joint {j + 1}"


@settings(max_examples=examples(40))
@given(robots(most=4), seeds)
def test_what_is_left_out_is_zero(robot: bt.Robot, seed: int) -> None:
    q, n = random_states(robot, 12, seed)[0], robot.degrees_of_freedom
    kept = {(term.kind, term.joint, term.motion) for term in bt.terms_of(robot).terms}
    keys = [("inertial", i, (j,)) for i in range(n) for j in range(i, n)]
    keys += [("gravity", i, ()) for i in range(n)]
    keys += [
        ("centripetal" if j == k else "coriolis", i, (j, k)) for i in range(n) for j in range(n) for k in range(j, n)
    ]
    assert kept <= set(keys)
    for key in set(keys) - kept:
        assert np.abs(coefficient(robot, *key, q)).max() < 1e-10, key


@pytest.mark.parametrize("n", [8, 9])
def test_more_joints_are_refused_with_the_count(n: int) -> None:
    robot = random_robot(["revolute"] * n, ["general"] * n, seed=0)
    with pytest.raises(bt.BddTorqueError, match=rf"at most 7 joints, got {n} \(5\^{n} = {5**n:,} samples"):
        bt.terms_of(robot)

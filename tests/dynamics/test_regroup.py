"""Regrouping: other frames and other bodies, the same torques, on the chains where its rules meet their limits."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import pinocchio_model, random_states, rnea
from strategies import (
    BUILT_IN,
    GEOMETRIES,
    KINDS,
    about_x,
    about_z,
    random_robot,
    relative_error,
    robots,
    seeds,
    tapered,
)

import bddtorque as bt
from bddtorque.base.plain import matrix
from bddtorque.dynamics.batch import torques
from bddtorque.dynamics.chain import chain_of
from bddtorque.dynamics.regroup import regrouped
from bddtorque.dynamics.robot_trace import trace_torques
from bddtorque.robots.parts import Joint, Link
from bddtorque.robots.robot import Robot

TOLERANCE = 1e-10


def regrouped_torques(robot: Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    chain, offset = regrouped(chain_of(robot))
    assert not offset[~chain.turns].any()
    return torques(chain, q + offset, qd, qdd)


def error(robot: Robot, seed: int = 0, least: float = 1e-3) -> float:
    """Return how far the torques of the regrouped chain are from pinocchio's."""
    states = random_states(robot, 10, seed)
    return relative_error(regrouped_torques(robot, *states), rnea(pinocchio_model(robot), *states), least)


@settings(max_examples=examples(200))
@given(robots(), seeds)
def test_torques_stay(robot: Robot, seed: int) -> None:
    assert error(robot, seed) < TOLERANCE


@settings(max_examples=examples(50))
@given(robots(most=6), seeds)
def test_the_traced_graph_has_the_same_torques(robot: Robot, seed: int) -> None:
    q, qd, qdd = random_states(robot, 4, seed)
    names = {f"{k}{i + 1}": x[:, i] for k, x in (("q", q), ("qd", qd), ("qdd", qdd)) for i in range(q.shape[1])}
    expected = bt.inverse_dynamics(robot, q, qd, qdd)
    for regroup in (True, False):
        outputs = trace_torques(robot, regroup).evaluate(names)
        found = np.stack([np.broadcast_to(value, 4) for value in outputs], axis=1)
        assert relative_error(found, expected) < TOLERANCE


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_arms(name: str) -> None:
    assert error(bt.load_robot(name), least=1e-6) < 1e-12


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("kinds", list(product(KINDS, repeat=3)), ids=lambda kinds: "".join(kind[0] for kind in kinds))
def test_sliding_joints_in_every_place(kinds: tuple, geometry: str) -> None:  # type: ignore[type-arg]
    assert error(random_robot(kinds, [geometry] * 3, seed=7, payload=True)) < 1e-12


def leaning(robot: Robot, tilt: float, seed: int) -> Robot:
    """Return the robot with every joint axis tilted a little, in a random direction."""
    random = np.random.default_rng(seed)
    joints = []
    for joint in robot.joints:
        lean = about_z(random.uniform(-3, 3)) @ about_x(tilt * random.uniform(0.5, 1.0))
        joints.append(replace(joint, rotation=matrix(lean @ np.array(joint.rotation), "rotation")))
    return replace(robot, joints=tuple(joints))


@settings(max_examples=examples(200))
@given(
    robots(fewest=2, most=6, geometries=("parallel", "coincident", "general")),
    st.floats(-13.0, -1.0).map(lambda exponent: 10.0**exponent),
    seeds,
)
def test_nearly_parallel_axes(robot: Robot, tilt: float, seed: int) -> None:
    """Their common normal may be miles away: origins must not follow it, nor may the tilt be forgotten."""
    assert error(leaning(robot, tilt, seed), seed) < TOLERANCE


@pytest.mark.parametrize("tilt", [10.0**-k for k in range(1, 14)] + [1.5e-6, 3e-6])
def test_origins_stay_within_reach(tilt: float) -> None:
    robot = leaning(random_robot(["revolute"] * 5, ["general"] + ["parallel"] * 4, seed=2), tilt, seed=3)
    longest = max(np.abs(joint.translation).max() for joint in robot.joints)
    chain, _ = regrouped(chain_of(robot))
    assert np.abs(chain.translation).max() < 50 * longest
    assert error(robot) < TOLERANCE


@pytest.mark.parametrize(("mass", "length"), [(0.1, 0.3), (0.01, 0.1)])
def test_a_light_wrist_keeps_its_numbers(mass: float, length: float) -> None:
    for seed in range(5):
        robot = tapered(random_robot(["revolute"] * 6, ["general"] * 6, seed), mass, length)
        assert error(robot, least=1e-300) < TOLERANCE


def test_an_angle_of_its_own_becomes_an_offset() -> None:
    """A joint that stands 0.3 rad aside costs one sum, not a rotation; a right angle costs nothing."""
    aside = arm(0.3)
    offset = regrouped(chain_of(aside)).offset
    assert np.count_nonzero(offset) == 1
    assert error(aside) < 1e-12
    assert error(arm(np.pi / 2)) < 1e-12
    straight, turned, right = (trace_torques(robot).counts() for robot in (arm(0.0), aside, arm(np.pi / 2)))
    assert turned == straight | {"sums": straight["sums"] + 1}
    assert right == straight


def arm(angle: float) -> Robot:
    """Return three perpendicular turns; the zero of the one between stands `angle` aside."""
    turns = [np.eye(3), about_x(np.pi / 2) @ about_z(angle), about_x(-np.pi / 2)]
    joints = [
        Joint(f"joint {i}", "revolute", matrix(turn, "turn"), (0.4 if i else 0.0, 0.0, 0.0))
        for i, turn in enumerate(turns)
    ]
    return Robot("arm", tuple(joints), tuple(Link(f"link {i}", 1.0, (0.2, 0.1, 0.0)) for i in range(3)))


def test_nothing_given_is_changed() -> None:
    chain = chain_of(random_robot(["revolute", "prismatic", "revolute"], ["general"] * 3, seed=4))
    before = [np.array(array) for array in chain]
    regrouped(chain)
    for array, kept in zip(chain, before, strict=True):
        np.testing.assert_array_equal(array, kept)


def test_bodies_keep_their_base_parameters_only() -> None:
    """After regrouping a turning link has no mass and nothing along its axis, a sliding one no second moments."""
    chain, _ = regrouped(
        chain_of(random_robot(["revolute", "revolute", "prismatic", "revolute"], ["general"] * 4, seed=6))
    )
    for body, turns in list(zip(chain.body, chain.turns, strict=True))[1:]:
        assert not (body[2:, 2:] if turns else body[:3, :3]).any()
        np.testing.assert_allclose(body, body.T, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(chain.body[0][1:3, :3], 0.0)  # the first turns about one axis, and feels one moment
    assert chain.rotor[0] == 0
    for rotation in chain.rotation:
        np.testing.assert_allclose(rotation.T @ rotation, np.eye(3), rtol=0, atol=1e-14)


def test_frames_stand_on_common_normals() -> None:
    """As in Khalil and Kleinfinger: a turn α about x and a shift along x, then a shift along the next axis, no more."""
    chain, _ = regrouped(chain_of(random_robot(["revolute"] * 6, ["general"] * 6, seed=1)))
    for rotation, translation in list(zip(chain.rotation, chain.translation, strict=True))[1:]:
        np.testing.assert_allclose(rotation[0], [1.0, 0.0, 0.0], rtol=0, atol=1e-14)
        np.testing.assert_allclose(rotation[:, 0], [1.0, 0.0, 0.0], rtol=0, atol=1e-14)
        assert abs((rotation.T @ translation)[1]) < 1e-12

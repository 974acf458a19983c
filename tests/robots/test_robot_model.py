"""`Robot` refuses what no robot is, cannot be changed, and joins bodies as mechanics has it."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import crba, inertia, pinocchio_model, random_states, rnea

from bddtorque.base.errors import BddTorqueError
from bddtorque.robots import Frame, Joint, Link, Robot, load_robot

UNIT = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: Joint("a", "ball"), "joint 'a': kind must be "),
        (
            lambda: Joint("a", "revolute", rotation=((1, 0, 0), (0, 1, 0), (0, 0, 2))),
            "rotation must be orthonormal with determinant 1",
        ),
        (
            lambda: Joint("a", "revolute", rotation=((1, 0, 0), (0, 1, 0), (0, 0, -1))),
            "rotation must be orthonormal with determinant 1",
        ),
        (
            lambda: Joint("a", "revolute", rotation=((1, 0, 0), (0, 1, 0))),
            "rotation must be 3 rows of 3 finite numbers",
        ),
        (
            lambda: Joint("a", "revolute", translation=(0, math.nan, 0)),
            "translation must be 3 finite numbers, got (0, nan, 0)",
        ),
        (lambda: Joint("a", "revolute", translation=(0, 1)), "translation must be 3 finite numbers, got (0, 1)"),
        (lambda: Joint("a", "revolute", translation="abc"), "translation must be 3 finite numbers, got 'abc'"),
        (
            lambda: Joint("a", "revolute", rotor_inertia=-1.0),
            "rotor_inertia must be a finite number of at least 0, got -1.0",
        ),
        (lambda: Joint("a", "revolute", rotor_inertia=math.nan), "rotor_inertia must be"),
        (lambda: Joint("a", "revolute", lower=1.0, upper=1.0), "lower limit must be below the upper"),
        (lambda: Joint("a", "revolute", lower=math.nan), "lower limit must be below the upper"),
        (lambda: Joint("a", "revolute", velocity=0.0), "velocity limit must be above 0"),
        (lambda: Joint("a", "revolute", effort=math.nan), "effort limit must be above 0"),
        (lambda: Link("b", -1.0), "link 'b': mass must be a finite number of kg of at least 0, got -1.0"),
        (lambda: Link("b", math.inf), "mass must be a finite"),
        (lambda: Link("b", 1.0, (0, 0, math.inf)), "link 'b': centre_of_mass must be 3 finite numbers"),
        (lambda: Link("b", 1.0, inertia=3.0), "link 'b': inertia must be 3 rows of 3 finite numbers, got 3.0"),
        (lambda: Link("b", 1e300, (1e300, 0, 0)), "mass times distance squared must be finite"),
        (lambda: Robot("c", (), ()), "robot 'c' must have at least one moving joint"),
        (lambda: Robot("c", (Joint("a", "revolute"),), ()), "got 1 joints and 0 links"),
        (lambda: Robot("c", (Joint("a", "revolute"),) * 2, (Link("b"),) * 2), "joint names must differ, 'a'"),
        (
            lambda: Robot("c", (Joint("a", "revolute"),), (Link("b"),), gravity=(0, 0)),
            "gravity must be 3 finite numbers",
        ),
    ],
)
def test_refusals(make: object, expected: str) -> None:
    with pytest.raises(BddTorqueError) as error:
        make()
    assert expected in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("moments", "expected"),
    [
        (((1, 0.1, 0), (0, 1, 0), (0, 0, 1)), "inertia must be symmetric"),
        (((-1, 0, 0), (0, 1, 0), (0, 0, 1)), "positive semi-definite"),
        (((1, 0, 0), (0, 1, 0), (0, 0, 2.1)), "triangle inequality"),
    ],
)
def test_inertias_that_no_body_has(moments: object, expected: str) -> None:
    joints, links = (Joint("a", "revolute"),), (Link("heavy", 1.0, inertia=moments),)
    with pytest.raises(BddTorqueError, match=expected) as error:
        Robot("c", joints, links)
    assert "link 'heavy'" in str(error.value)
    assert Robot("c", joints, links, allow_unphysical=True).allow_unphysical
    with pytest.raises(BddTorqueError, match="link 'payload'"):
        Robot("c", joints, (Link("b", 1.0),)).with_payload(1.0, inertia=moments)


def test_nothing_can_be_changed() -> None:
    robot = load_robot("ur5")
    with pytest.raises(FrozenInstanceError):
        robot.name = "other"
    with pytest.raises(FrozenInstanceError):
        robot.joints[0].lower = 0.0
    assert hash(robot) == hash(replace(robot))


def test_flat_gravity_and_payload() -> None:
    robot = load_robot("panda").with_gravity((1.0, 2.0, 3.0)).with_payload(0.7, (0.1, 0.0, 0.2), UNIT)
    q, qd, qdd = random_states(robot, 10)
    joined = replace(robot, links=robot.bodies, payload=None)
    theirs, ours = pinocchio_model(robot), pinocchio_model(joined)
    np.testing.assert_allclose(rnea(ours, q, qd, qdd), rnea(theirs, q, qd, qdd), atol=1e-12)
    np.testing.assert_allclose(crba(ours, q), crba(theirs, q), atol=1e-12)
    assert load_robot("panda").bodies == load_robot("panda").links


@given(st.integers(0, 10_000))
def test_joining_bodies(seed: int) -> None:
    random = np.random.default_rng(seed)
    bodies = [
        Link(
            "a",
            random.uniform(0, 3),
            tuple(random.uniform(-1, 1, 3)),
            tuple(map(tuple, np.diag(random.uniform(1, 1.5, 3)))),
        )
        for _ in range(2)
    ]
    rotation = np.linalg.qr(random.normal(size=(3, 3)))[0]
    rotation *= np.sign(np.linalg.det(rotation))
    frame = Frame(tuple(map(tuple, rotation)), tuple(random.uniform(-1, 1, 3)))

    placed = pin.SE3(rotation, np.array(frame.translation)).act(inertia(bodies[1]))
    expected = inertia(bodies[0]) + placed
    found = inertia(bodies[0].joined(bodies[1], frame.rotation, frame.translation))
    assert found.isApprox(expected, 1e-10)
    np.testing.assert_allclose(bodies[0].inertia_about_origin, inertia(bodies[0]).matrix()[3:, 3:], atol=1e-12)
    np.testing.assert_allclose(bodies[0].first_moment, bodies[0].mass * np.array(bodies[0].centre_of_mass))

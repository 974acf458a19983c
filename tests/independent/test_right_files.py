"""Right files that the checker once refused: each is at the edge of what a proof in floats can tell."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from mutations import both_prove
from strategies import random_robot, random_tree

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.base.plain import matrix
from bddtorque.model.model import to_bytes
from bddtorque.robots.parts import Joint, Link
from bddtorque.robots.robot import Robot

QUICK: dict[str, Any] = {"workers": 1, "cache": None}


def test_rotations_that_are_orthogonal_to_nine_digits() -> None:
    """Regrouping takes them to be exact, and the certificate counts what that loses as arithmetic."""
    rng = np.random.default_rng(0)
    robot = random_robot(["revolute"] * 3, ["tilted", "general", "general"], 1)
    joints = [
        replace(joint, rotation=matrix(np.array(joint.rotation) + 3e-10 * rng.uniform(-1, 1, (3, 3)), "rotation"))
        for joint in robot.joints
    ]
    options = {"velocity": 1.0, "acceleration": 2.0, "bits": 12, "target": "float", "source": "recursive"}
    both_prove(to_bytes(bt.compile(replace(robot, joints=tuple(joints)), accuracy=2.0, **options, **QUICK)))


def test_sliding_joints_far_from_zero() -> None:
    robot = random_robot(["prismatic", "revolute", "prismatic"], ["tilted"] * 3, 4)
    position = [(7.3, 8.0), (-3.0, 3.0), (4.9, 5.4)]
    options: dict[str, Any] = {"velocity": 1.0, "acceleration": 2.0, "bits": 9, "target": "float", "source": "terms"}
    both_prove(to_bytes(bt.compile(robot, position=position, accuracy=2.0, **options, **QUICK)))


@pytest.mark.parametrize("target", ["tables", "float"])
def test_nothing_but_friction(target: str) -> None:
    """No floats are rounded on the way to this torque, and the certificate says so."""
    robot = random_robot(["revolute"], ["parallel"], 2, gravity=False)
    robot = robot.with_friction({"joint 1": bt.Friction(0.3, (1.0, 1.2))})
    both_prove(to_bytes(bt.compile(robot, quantity="bias", velocity=1.3, bits=7, target=target, accuracy=2.0, **QUICK)))


def test_nothing_at_all_in_words_off_centre() -> None:
    """The word of 0 is a constant, which is the same on both sides."""
    joints = (Joint("turn", "revolute"), Joint("slide", "prismatic"))
    links = (Link("upper", 2.0, (0.3, 0.0, 0.0)), Link("lower"))
    options: dict[str, Any] = {"position": [3.0, (0.1, 0.7)], "velocity": 1.0, "acceleration": 2.0, "bits": 8}
    torque = [(-40.0, 30.0), (-1.1, 0.7)]
    robot = Robot("half empty", joints, links)
    both_prove(
        to_bytes(bt.compile(robot, torque=torque, target="float", source="recursive", accuracy=2.0, **options, **QUICK))
    )


def test_a_torque_that_no_position_matters_to() -> None:
    """All axes are parallel and vertical: what a grid would round cancels here, the compiler has rounded it."""
    robot = random_robot(["prismatic", "revolute", "revolute"], ["parallel"] * 3, 5, gravity=False, payload=True)
    robot = replace(robot, gravity=(0.0, 0.0, -9.81))
    options: dict[str, Any] = {"position": [(2.9, 3.2), 3.0, 3.0], "velocity": 1.0, "acceleration": 2.0, "bits": 4}
    both_prove(to_bytes(bt.compile(robot, source="terms", **options, **QUICK)))


@pytest.mark.parametrize("output", [(5, (15.0, 25.0)), (5, (-9.0, -3.0)), (5, (0.5, 1.5))])
def test_given_words_beyond_the_output(output: tuple[int, tuple[float, float]]) -> None:
    """A word one beyond an end stands for whatever lies beyond it."""
    both_prove(to_bytes(bt.compile_function(np.exp, inputs={"x": (5, 2.0)}, output=output, trace="float")))


@pytest.mark.parametrize("velocity", [(-2.553472921786192, 0.0), (0.0, 1.7), (-0.7, 2.1)])
@pytest.mark.parametrize("friction", [bt.Friction(0.3, (0.0, 1.0), standstill=0.0), bt.Friction(1.0, 1.0, 2.0, 0.3)])
def test_a_velocity_at_the_jump_of_friction(velocity: tuple[float, float], friction: bt.Friction) -> None:
    """On which side it lies is decided exactly, so that the jump is no error of the table."""
    model = bt.compile_function(friction, inputs={"v": (5, velocity)}, output=(9, 4.0))
    assert model.certificate.parts.tables < 0.5 + 2**-19
    both_prove(to_bytes(model))
    standing = replace(friction, standstill=abs(float(model.formats.v[0].value(3))))
    both_prove(to_bytes(bt.compile_function(standing, inputs={"v": (5, velocity)}, output=(9, 4.0))))


@pytest.mark.parametrize("quantity", ["torque", "bias"])
@pytest.mark.parametrize("velocity", [(0.0, 2.0), (-0.1, 1.5)])
def test_friction_that_acts_one_way(quantity: str, velocity: tuple[float, float]) -> None:
    """It is between the ends of its table, not within the farther one on either side."""
    robot = random_robot(["prismatic", "revolute"], ["tilted"] * 2, 13)
    robot = robot.with_friction({"joint 2": bt.Friction(0.4, (3.8, 2.7))})
    options: dict[str, Any] = {"velocity": [1.0, velocity], "position": [1.0, (-3.1, 3.1)], "torque": "auto", "bits": 5}
    options |= {"acceleration": 2.0} if quantity == "torque" else {}
    both_prove(to_bytes(bt.compile(robot, quantity=quantity, **options, **QUICK)))


def test_a_joint_that_feels_nothing_of_what_it_carries() -> None:
    """Its torque is summed from numbers that cancel, and what they are rounded by is charged."""
    torque = [120.0, 180.0, 140.0, 5.0, 5.0, 0.5]
    data = to_bytes(
        bt.compile("stanford", quantity="gravity", bits=6, target="integer", torque=torque, source="terms", **QUICK)
    )
    both_prove(data)


@pytest.mark.parametrize("seed", [1, 4])
def test_jacobians_of_rotations_that_are_a_little_off(seed: int) -> None:
    """The velocity of the tip is the cross product of an axis with the way to the tip, with the numbers of the file."""
    robot = random_tree(["revolute"] * 3, [0, 1, 2], [0, 2, -1] if seed % 2 else [0, 0, 0], seed, 1e-11)
    last = [*robot.joints, *(each.joint for each in robot.followers)][-1].name
    robot = replace(robot, tip=replace(robot.tip, parent=last)) if robot.followers else robot
    both_prove(to_bytes(bt.compile(robot, quantity="jacobian", bits=4, target="float", accuracy=2.0, **QUICK)))


def test_friction_is_of_no_angle() -> None:
    with pytest.raises(BddTorqueError, match="takes words with a range as inputs, got an angle"):
        bt.compile_function(bt.Friction(1.0, 1.0), inputs={"v": (5, "angle")}, output=(9, 4.0))

"""What words are worth: the largest torque is between what is reached and what is proved; wide ranges are told of."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from compiled import arm, compiled, rubbing_arm

import bddtorque as bt
from bddtorque.compiler.range_facts import TorqueRange, range_notes, torque_ranges
from bddtorque.robots import load_robot
from bddtorque.robots.robot import Joint, Link, Robot
from bddtorque.spec import Spec
from bddtorque.spec.loading import spec_and_robot
from bddtorque.spec.resolve import placeholder_notes


def facts(model: bt.Model) -> list[TorqueRange]:
    return torque_ranges(model.robot_source(), model.certificate)


def test_the_largest_torque_lies_between_both_figures() -> None:
    model = arm(4)
    words = [np.arange(word.lowest, word.highest + 1) for kind in model.formats.inputs for word in kind]
    ends = [all_of if k < 2 else all_of[[0, -1]] for k, all_of in enumerate(words)]  # it is linear or convex in motion
    states = np.array(list(product(*ends)))
    values = [
        kind.dequantise(each) for kind, each in zip(model.formats.inputs, np.split(states, 3, axis=1), strict=True)
    ]
    largest = np.abs(bt.inverse_dynamics(model.robot, *values)).max(axis=0)
    for found, true, proved in zip(facts(model), largest, model.certificate.torques, strict=True):
        assert 0.97 * true <= found.reached <= true * (1 + 1e-12)
        assert true <= found.at_most <= proved.largest
        assert 2.0**found.effective_bits == pytest.approx(found.reached / proved.bound_si)


def test_the_search_counts_friction() -> None:
    rubbing, smooth = facts(rubbing_arm()), facts(arm(8, target="float"))
    assert rubbing[0].reached > smooth[0].reached + 5.0
    for found in rubbing:
        assert found.reached <= found.at_most <= found.high


def test_what_the_dynamics_exclude_is_not_left_open_by_a_plan() -> None:
    model = compiled("planar2r", bits=8, target="float", torque="auto")
    (shoulder, elbow) = facts(model)
    assert (shoulder.at_most, elbow.at_most) < (170.0, 73.0)
    assert model.certificate.torques[0].largest > 170.0  # by the ranges of its floats


def test_ranges_far_above_the_torques_are_told_in_a_line() -> None:
    model = arm(8, target="float")
    assert range_notes(model.robot_source(), model.certificate) == model.report["notes"] == []
    (note,) = compiled("planar2r", bits=8, target="float", torque=(-1000.0, 1000.0)).report["notes"]
    assert note == (
        "joints 'shoulder', 'elbow': torque ranges are 6.06 to 13.9 times what the arm can need: use torque = \"auto\""
    )
    (note,) = bt.compile("planar2r", bits=8, target="float", torque={"elbow": 1e6}, workers=1).report["notes"]
    assert note == (
        "joint 'elbow': torque range ±1e+06 N·m is 13,879 times what the arm can need (±72 N·m): use torque = \"auto\""
    )


def test_limits_that_look_like_placeholders_are_told() -> None:
    body = Link("body", 1.0)
    joints = (
        Joint("a", "revolute", velocity=100.0, acceleration=10.0),
        Joint("b", "prismatic", lower=0.0, upper=1.0, velocity=5.0, acceleration=1e6),
        Joint("c", "revolute", velocity=100.0, acceleration=10.0),
    )
    robot = Robot("arm", joints, (body,) * 3)
    velocity, acceleration = placeholder_notes(Spec("arm"), robot)
    assert velocity.startswith("joints 'a', 'c': the velocity limit of 100 rad/s looks like a placeholder")
    assert velocity.endswith("give the velocity that is used (velocity=, --velocity)")
    assert acceleration.startswith("joint 'b': the acceleration limit of 1e+06 m/s² looks like a placeholder")
    assert placeholder_notes(Spec("arm").with_options(velocity=100.0, acceleration={"b": 1e6}), robot) == ()
    assert velocity in spec_and_robot(robot, {})[2]
    fast = replace(load_robot("planar2r").joints[0], velocity=59.0)
    assert placeholder_notes(Spec("arm"), Robot("arm", (fast,), (body,))) == ()

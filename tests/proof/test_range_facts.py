"""What words are worth: the largest torque is between what is reached and what is proved; wide ranges are told of."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from compiled import arm, compiled, rubbing_arm
from examples_tried import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import robots, seeds

import bddtorque as bt
from bddtorque.compiler.robot_draft import range_notes
from bddtorque.model.model import from_bytes, to_bytes
from bddtorque.proof import torque_extents
from bddtorque.proof.proved_bound import Parts, ProvedBound, TorqueRange
from bddtorque.proof.torque_extents import torque_ranges
from bddtorque.robots import load_robot
from bddtorque.robots.parts import Joint, Link
from bddtorque.robots.robot import Robot
from bddtorque.spec import JointSpec, Spec
from bddtorque.spec.resolve import placeholder_notes
from bddtorque.spec.spec_files import spec_and_robot
from bddtorque.words.formats import Format, limit_run


def facts(model: bt.Model) -> tuple[TorqueRange, ...]:
    return model.certificate.ranges


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
    assert model.certificate.torques[0].largest < 170.0  # by the ranges of its floats alone it would be 185
    shown = str(model.certificate)
    assert str(shoulder.extent) in shown and str(elbow.extent) in shown
    assert f"{model.certificate.torques[0].largest:.4g}" not in shown


def test_ranges_far_above_the_torques_are_told_in_a_line() -> None:
    model = arm(8, target="float")
    assert range_notes(model.robot, model.formats) == model.report["notes"] == []
    (note,) = compiled("planar2r", bits=8, target="float", torque=(-1000.0, 1000.0)).report["notes"]
    assert note == (
        "joints 'shoulder', 'elbow': torque ranges are 6.56 to 14.5 times the largest torques found: "
        'use torque = "auto" (--torque auto)'
    )
    (note,) = bt.compile("planar2r", bits=8, target="float", torque={"elbow": 1e6}, workers=1).report["notes"]
    assert note == (
        "joint 'elbow': torque range ±1e+06 N·m is 14,468 times the largest torque found (±69.1 N·m): "
        'use torque = "auto" (--torque auto)'
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


def states_within(robot: Robot, words: dict[str, Format], inside: bool, seed: int) -> np.ndarray:
    """Return torques of random states, half of them at the ends of the motion; of angles those within the limits."""
    rng = np.random.default_rng(seed)
    columns = []
    for name, word in words.items():
        first, last = (inside and limit_run(word)) or (word.lowest, word.highest)
        own = rng.integers(first, last, 3000, endpoint=True)
        if not name.startswith("q") or name[1] == "d":
            own[::2] = rng.choice([first, last], 1500)
        columns.append(word.dequantise(word.held(own)))
    return bt.inverse_dynamics(robot, *np.split(np.stack(columns, axis=1), 3, axis=1))


@given(robots(most=3), seeds, st.booleans())
@settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_state_within_the_limits_needs_more(robot: Robot, seed: int, boxes: bool) -> None:
    rng = np.random.default_rng(seed)
    middles, halves = rng.uniform(-3, 3, robot.degrees_of_freedom), rng.uniform(0.1, 3.5, robot.degrees_of_freedom)
    said = tuple(
        JointSpec(joint.name, (m - h, m + h), (-v, v), (-a, a), (-1e4, 1e4))
        for joint, m, h, v, a in zip(robot.joints, middles, halves, *rng.uniform(0.1, 3, (2, 9)), strict=False)
    )
    formats = Spec("arm", bits=7, joints=said).resolve(robot).formats(robot)
    words = formats.words
    nothing = Parts(*[0.5] * 7)
    outputs = [ProvedBound(joint.name, "N·m", 1.0, nothing, -1e9, 1e9, "not excluded") for joint in robot.joints]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torque_extents, "MAX_JOINTS_IN_TERMS", 6 if boxes else 0)
        ranges = torque_ranges(robot, formats, outputs)
    limited = any(limit_run(word) for word in words.values())
    for inside in (False, True) if limited else (False,):
        tau = states_within(robot, words, inside, seed)
        for j, known in enumerate(ranges):
            extent = known.within_limits if inside else known.extent
            assert extent is not None
            assert extent.low <= tau[:, j].min() and tau[:, j].max() <= extent.high
            assert extent.low <= extent.low_reached <= extent.high_reached <= extent.high
            assert known.extent.reached >= extent.reached and known.extent.at_most >= extent.at_most
            for state, reached in ((extent.low_state, extent.low_reached), (extent.high_state, extent.high_reached)):
                values = [word.dequantise(own) for word, own in zip(words.values(), state, strict=True)]
                assert bt.inverse_dynamics(robot, *np.split(np.array(values), 3))[j] == pytest.approx(reached)
                if inside:
                    assert all(is_within(word, own) for word, own in zip(words.values(), state, strict=True))


def is_within(word: Format, own: int) -> bool:
    first, last = limit_run(word) or (word.lowest, word.highest)
    return first <= own <= last or first <= own + (1 << word.bits) <= last


def test_limits_of_joints_lower_the_largest_torque() -> None:
    """The arm is stretched out sideways only where its shoulder may turn far enough."""
    robot = bt.load_robot("planar2r")
    upright = tuple(
        replace(joint, lower=low, upper=high)
        for joint, low, high in zip(robot.joints, (1.3, -0.3), (1.8, 0.3), strict=True)
    )
    model = bt.compile(replace(robot, joints=upright), bits=8, target="float", workers=1)
    for known in model.certificate.ranges:
        assert known.within_limits is not None
        assert known.within_limits.at_most < 0.8 * known.reached
        assert known.within_limits.reached > 0.95 * known.within_limits.at_most
        assert str(known.within_limits) in str(model.certificate)
        assert str(known.within_limits) in model.certificate._repr_html_()
    again = from_bytes(to_bytes(model))
    assert again.certificate.ranges == model.certificate.ranges
    assert "within_limits" not in json.dumps(model.certificate.to_plain())  # it follows from the file

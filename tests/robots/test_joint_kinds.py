"""A joint kind is one record: what every kind must say, and that no other file of the package names one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.measures import measure
from bddtorque.dynamics.tip import tip_pose
from bddtorque.robots.frames import Pose, identity
from bddtorque.robots.joint_kinds import JOINT_KINDS, JointKind, joint_kind, kinds_called
from bddtorque.robots.parts import Follower, Joint, Link
from bddtorque.robots.robot import Robot
from bddtorque.robots.robot_data import robot_from_plain, robot_to_plain
from bddtorque.robots.toml_reader import from_toml
from bddtorque.robots.urdf_tree import moved_by

QUARTER = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
BODY = Link("body", 2.0, (0.1, -0.05, 0.2), ((0.03, 0.0, 0.0), (0.0, 0.02, 0.0), (0.0, 0.0, 0.025)))


def example(kind: type[JointKind]) -> JointKind:
    """Return a kind with some number for each of its keys."""
    return joint_kind(kind.name, "joint", dict.fromkeys(kind.readers(), 0.25))


def arm(kind: JointKind) -> Robot:
    """Return an arm whose second joint is of some kind, with a follower of the same kind."""
    joints = (Joint("first", joint_kind("revolute", "first")), Joint("own", kind, QUARTER, (0.1, 0.2, 0.3)))
    follower = Follower(Joint("other", kind, QUARTER, (0.3, 0.0, 0.1), parent="own"), replace(BODY, name="z"), "own", 2)
    return Robot("arm", joints, (BODY, replace(BODY, name="last")), followers=(follower,))


every_kind = pytest.mark.parametrize("kind", [example(kind) for kind in JOINT_KINDS.values()], ids=str)


@every_kind
def test_a_kind_says_all_that_is_asked_of_it(kind: JointKind) -> None:
    assert JOINT_KINDS[kind.name] is type(kind)
    assert len(kind.symbol) == 1
    assert kind.about
    assert set(kind.placeholders) == {"velocity", "acceleration"}
    assert set(kind.units) == {"position", "velocity", "acceleration", "torque"}
    for quantity, unit in kind.units.items():  # units that specifications may be written in
        assert measure(f"2 {unit}", "limit", quantity, kind.turns) == 2.0
    assert kind.motions[-1].factor == 1.0
    assert kind.motions[-1].turns == kind.turns
    assert all(motion.turns == kind.turns for motion in kind.motions) or kind.one_turn


def test_no_two_kinds_have_a_name_or_a_symbol_in_common() -> None:
    assert len({kind.symbol for kind in JOINT_KINDS.values()}) == len(JOINT_KINDS)
    for others in ("urdf", "mujoco", "pinocchio"):
        names = [name for kind in JOINT_KINDS.values() for name in kind.aliases.get(others, ())]
        assert sorted(kinds_called(others)) == sorted(names)


@every_kind
def test_robots_are_written_and_read_back(kind: JointKind) -> None:
    robot = arm(kind)
    plain = robot_to_plain(robot)
    assert plain["joints"][1]["kind"] == kind.name
    assert robot_from_plain(plain) == robot
    for key in kind.readers():
        with pytest.raises(BddTorqueError, match=key):
            robot_from_plain(
                plain | {"joints": [{name: each[name] for name in each if name != key} for each in plain["joints"]]}
            )


@every_kind
def test_members_only_turn_or_only_slide(kind: JointKind) -> None:
    robot = arm(kind)
    members = robot.members
    assert len(members) == 1 + 2 * len(kind.motions)
    assert all(len(member.joint.kind.motions) == 1 for member in members)
    own = members[1 : 1 + len(kind.motions)]
    assert [member.multiplier for member in own] == [motion.factor for motion in kind.motions]
    assert [member.link.mass for member in own] == [0.0] * (len(own) - 1) + [BODY.mass]
    assert [member.parent for member in own] == list(range(len(own)))
    assert [member.multiplier for member in members[-len(own) :]] == [2 * motion.factor for motion in kind.motions]
    assert robot.coupled


@every_kind
def test_a_joint_moves_as_readers_lock_it(kind: JointKind) -> None:
    q = np.array([[0.3, 0.7]])
    robot = replace(arm(kind), followers=())
    pose, position = identity(), {"first": 0.3, "own": 0.7}
    for joint in robot.joints:
        placed = Pose(np.array(joint.rotation), np.array(joint.translation))
        pose = moved_by(pose @ placed, joint.kind, np.array([0.0, 0.0, 1.0]), position[joint.name])
    place, rotation, _ = tip_pose(robot, q)
    np.testing.assert_allclose(place[0], pose.translation, atol=1e-15)
    np.testing.assert_allclose(rotation[0], pose.rotation, atol=1e-15)


@every_kind
def test_toml_names_the_kind_and_its_keys(kind: JointKind) -> None:
    keys = "\n".join(f"{key} = {value}" for key, value in kind.to_plain().items())
    text = f"""name = "one"
[[joint]]
type = "{kind.name}"
{keys}
link = {{ mass = 1.0, centre_of_mass = [0, 0, 0.1], inertia = [0.1, 0.1, 0.1] }}
"""
    assert from_toml(text).joints[0].kind == kind
    with pytest.raises(BddTorqueError, match="unknown key 'pich'"):
        from_toml(text.replace("link =", "pich = 1\nlink ="))
    assert math.isinf(from_toml(text).joints[0].upper)

"""Robots as plain data and back, for files that carry their robot with them."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

from bddtorque.base.plain import listed, matrix, of_type, plain_of, real, table, vector
from bddtorque.robots.joint_kinds import JOINT_KINDS, joint_kind
from bddtorque.robots.parts import Follower, Frame, Joint, Link
from bddtorque.robots.robot import Robot
from bddtorque.words.joint_friction import joint_friction

_SAID = {"joint": ("friction", "parent"), "robot": ("followers",), "tip": ("parent",)}
"""Fields that are written only where they hold something."""
_LINK, _FOLLOWER = (tuple(field.name for field in fields(kind)) for kind in (Link, Follower))
_ROBOT = tuple(field.name for field in fields(Robot) if field.name not in _SAID["robot"])
_JOINT = tuple(field.name for field in fields(Joint) if field.name not in _SAID["joint"])
_LIMITS = {"lower": -math.inf, "upper": math.inf, "velocity": math.inf, "acceleration": math.inf, "effort": math.inf}


def robot_to_plain(robot: Robot) -> dict[str, Any]:
    """Return floats, text, lists and dicts only; infinite limits are None.

    Integers and NumPy numbers become floats here, as they are when read: equal robots have equal plain data.
    """
    plain: dict[str, Any] = plain_of(robot)
    followers = [each["joint"] for each in plain["followers"]]
    joints = (*robot.joints, *(each.joint for each in robot.followers))
    for own, joint in zip(joints, (*plain["joints"], *followers), strict=True):
        joint |= {"kind": own.kind.name, **own.kind.to_plain()}
        joint["rotor_inertia"] = float(joint["rotor_inertia"])
        joint |= {key: None if math.isinf(joint[key]) else float(joint[key]) for key in _LIMITS}
        for key in _SAID["joint"]:
            if joint[key] is None:
                del joint[key]
    if not plain["followers"]:
        del plain["followers"]
    if robot.tip.parent is None:
        del plain["tip"]["parent"]
    return plain | {"allow_unphysical": bool(robot.allow_unphysical)}


def robot_from_plain(plain: object, where: str = "robot") -> Robot:
    """Return the robot that `robot_to_plain` wrote; every field is checked."""
    given = table(plain, _ROBOT, where, _SAID["robot"])
    tip = table(given["tip"], ("rotation", "translation"), f"{where}, tip", _SAID["tip"])
    if "parent" in tip:
        of_type(tip["parent"], str, f"{where}, tip")
    payload, followers = given["payload"], listed(given.get("followers", []), where)
    return Robot(
        of_type(given["name"], str, f"{where}, name"),
        tuple(_joint(each, f"{where}, joint {i}") for i, each in enumerate(listed(given["joints"], where), 1)),
        tuple(_link(each, f"{where}, link {i}") for i, each in enumerate(listed(given["links"], where), 1)),
        vector(given["gravity"], f"{where}, gravity"),
        Frame(matrix(tip["rotation"], f"{where}, tip"), vector(tip["translation"], f"{where}, tip"), tip.get("parent")),
        None if payload is None else _link(payload, f"{where}, payload"),
        of_type(given["source"], str, f"{where}, source"),
        of_type(given["allow_unphysical"], bool, f"{where}, allow_unphysical"),
        tuple(_follower(each, f"{where}, follower {i}") for i, each in enumerate(followers, 1)),
    )


def _joint(plain: object, where: str) -> Joint:
    kind = plain.get("kind") if isinstance(plain, dict) else None
    keys = JOINT_KINDS[kind].readers() if isinstance(kind, str) and kind in JOINT_KINDS else ()
    given = table(plain, (*_JOINT, *keys), where, _SAID["joint"])
    of_type(given["name"], str, f"{where}, name")
    given["kind"] = joint_kind(given["kind"], where, {key: given.pop(key) for key in keys})
    for key, open_ in _LIMITS.items():
        given[key] = open_ if given[key] is None else real(given[key], f"{where}, {key}")
    if "friction" in given:
        given["friction"] = joint_friction(given["friction"], f"{where}, friction")
    if "parent" in given:
        of_type(given["parent"], str, f"{where}, parent")
    return Joint(**given | {"rotor_inertia": real(given["rotor_inertia"], f"{where}, rotor_inertia")})


def _link(plain: object, where: str) -> Link:
    given = table(plain, _LINK, where)
    of_type(given["name"], str, f"{where}, name")
    return Link(**given)


def _follower(plain: object, where: str) -> Follower:
    given = table(plain, _FOLLOWER, where)
    leader = of_type(given["leader"], str, f"{where}, leader")
    multiplier, offset = (real(given[key], f"{where}, {key}") for key in ("multiplier", "offset"))
    return Follower(_joint(given["joint"], where), _link(given["link"], where), leader, multiplier, offset)

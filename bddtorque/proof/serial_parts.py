"""A torque of a tree as a sum of torques of chains, each of which carries some of the links.

A torque is a sum over links, and what a link adds depends on the joints on its way to the base alone. So every path
from the base to a last link beyond the joint is a chain of its own. Links that several paths have in common are carried
by the first of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from bddtorque.robots.parts import Frame, Link
from bddtorque.robots.robot import Robot


@dataclass(frozen=True)
class SerialPart:
    """A chain that makes a part of a torque: `joints` of the whole robot, one of which, at `place`, has the torque."""

    robot: Robot
    joints: tuple[int, ...]
    place: int


def serial_parts(robot: Robot, place: int) -> list[SerialPart]:
    """Return chains whose torques at one joint add up to that of a robot without followers; friction is left out."""
    if robot.serial:
        return [SerialPart(robot, tuple(range(len(robot.joints))), place)]
    members = robot.members
    carriers = [member.parent for member in members]
    loaded = robot.tip_member("a payload") if robot.payload is not None else -1
    taken: set[int] = set()
    parts = []
    for last in sorted(set(range(len(members))) - set(carriers)):
        path = [last]
        while carriers[path[-1]] >= 0:
            path.append(carriers[path[-1]])
        path.reverse()
        if place not in path:
            continue
        own = {k for k in path[path.index(place) :] if k not in taken}
        taken |= own
        joints = []
        for name, k in zip((None, *path), path, strict=False):
            rotor = robot.joints[k].rotor_inertia if k == place and k in own else 0.0
            parent = "" if name is None else robot.joints[name].name
            joints.append(replace(robot.joints[k], parent=parent, rotor_inertia=rotor))
        links = [robot.links[k] if k in own else Link(robot.links[k].name) for k in path]
        carried: dict[str, Any] = {"tip": Frame(), "payload": None}
        if loaded in own:
            carried = {"tip": replace(robot.tip, parent=robot.joints[loaded].name)}
        chain = replace(robot, joints=tuple(joints), links=tuple(links), allow_unphysical=True, **carried)
        parts.append(SerialPart(chain, tuple(path), path.index(place)))
    return parts

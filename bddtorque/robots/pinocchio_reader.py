"""Robots from `pinocchio.Model` objects: trees of joints on a fixed base.

Links are named after the joints that carry them, the root ``universe``. Armature is inertia of the rotor, as in
pinocchio's own algorithms; damping and friction, which these leave out, are part of the torques unless ignored.
"""

from __future__ import annotations

from math import inf, isfinite
from typing import Any, Unpack

import numpy as np

from bddtorque.base.errors import BddTorqueError, refusals_in
from bddtorque.base.plain import name_of, vector
from bddtorque.robots.frames import Array, Pose, snap_rotation, unit
from bddtorque.robots.joint_kinds import JointKind, kinds_called
from bddtorque.robots.parts import Link
from bddtorque.robots.robot import Robot
from bddtorque.robots.segments import as_matrix
from bddtorque.robots.tree_robot import TreeOptions, check_options, robot_of_tree, snap_of
from bddtorque.robots.urdf_tree import UNLIMITED, Tree, UrdfJoint
from bddtorque.words.friction import Friction

_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
_KINDS = kinds_called("pinocchio")


def from_pinocchio(model: Any, where: str = "pinocchio.Model", **options: Unpack[TreeOptions]) -> Robot:
    """Return the robot that a `pinocchio.Model` holds; `where` begins every error, the options as in `load_urdf`."""
    check_options(options)
    with refusals_in(where), np.errstate(all="ignore"):
        tree = pinocchio_tree(model, where, snap_of(options, where))
        gravity = vector([float(each) for each in model.gravity.linear], "gravity")
        return robot_of_tree(tree, "pinocchio.Model", options, gravity)


def pinocchio_tree(model: Any, where: str, snap: float) -> Tree:
    """Return what a `pinocchio.Model` holds as a tree of links and joints."""
    names = [name_of(str(name), "joint name") for name in model.names]
    links: dict[str, Link | None] = {names[0]: None}
    joints: dict[str, UrdfJoint] = {}
    for i in range(1, int(model.njoints)):
        if names[i] in joints:
            raise BddTorqueError(f"joint '{names[i]}' occurs twice; names must differ")
        joints[names[i]] = _joint(model, i, names, snap)
        links[names[i]] = _link(model.inertias[i], names[i])
    return Tree(name_of(str(model.name) or "pinocchio", "model name"), links, joints, where)


def _link(inertia: Any, name: str) -> Link | None:
    mass, moments = float(inertia.mass), np.array(inertia.inertia, dtype=float)
    if mass == 0.0 and not moments.any():
        return None
    lever = vector([float(each) for each in inertia.lever], f"link '{name}': centre of mass")
    return Link(name, mass, lever, as_matrix((moments + moments.T) / 2, f"link '{name}': inertia")).without_noise()


def _joint(model: Any, i: int, names: list[str], snap: float) -> UrdfJoint:
    joint, place, name = model.joints[i], model.jointPlacements[i], names[i]
    pose = Pose(snap_rotation(np.array(place.rotation), snap), np.array(place.translation, dtype=float))
    called, motion, axis = _motion(joint, snap)
    parent = names[int(model.parents[i])]
    if axis is None or motion is None:
        return UrdfJoint(name, called, parent, name, pose, None, {})
    # joints without limits stand at a point of a circle, which is two numbers
    kind = motion.name if int(joint.nq) == int(joint.nv) else UNLIMITED
    v, q = int(joint.idx_v), int(joint.idx_q)
    damping, dry = (_at(model, array, v) for array in ("damping", "friction"))
    friction: Friction | str | None = Friction(damping, dry) if damping > 0 or dry > 0 else None
    if damping < 0 or dry < 0:
        friction = f"damping and friction must be at least 0, got {damping:g} and {dry:g}"
    limits = {
        key: _limit(_at(model, array, v)) for key, array in (("velocity", "velocityLimit"), ("effort", "effortLimit"))
    }
    if kind != UNLIMITED:
        low, high = float(model.lowerPositionLimit[q]), float(model.upperPositionLimit[q])
        if isfinite(low) and isfinite(high) and low < high and abs(low) < 1e300 and abs(high) < 1e300:
            limits |= {"lower": low, "upper": high}
    return UrdfJoint(
        name, kind, parent, name, pose, axis, limits, friction=friction, rotor_inertia=_at(model, "armature", v),
        motion=motion,
    )  # fmt: skip


def _at(model: Any, array: str, place: int) -> float:
    """Return what a vector of the model says of a joint; 0 where this pinocchio has no such vector."""
    values = getattr(model, array, None)
    return 0.0 if values is None or len(values) <= place else float(values[place])


def _limit(value: float) -> float:
    """Return a largest magnitude; pinocchio says zero, infinity or the largest float where it knows none."""
    return value if 0.0 < value < 1e300 else inf


def _motion(joint: Any, snap: float) -> tuple[str, JointKind | None, Array | None]:
    """Return what pinocchio calls a joint, how it moves, and its axis; neither for joints that are not read."""
    kind = str(joint.shortname()).removeprefix("JointModel")
    own = joint.extract() if hasattr(joint, "extract") else joint
    if kind in _KINDS and hasattr(own, "axis"):
        return kind, _KINDS[kind].from_pinocchio(own), unit(np.array(own.axis, dtype=float).reshape(-1), snap)
    if kind[:-1] in _KINDS and kind[-1] in _AXES:
        return kind, _KINDS[kind[:-1]].from_pinocchio(own), np.array(_AXES[kind[-1]])
    return kind, None, None

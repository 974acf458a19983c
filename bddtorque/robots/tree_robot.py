"""From a tree of links and joints, whatever file or object it was read from, to a `Robot`: what all readers share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError, unknown
from bddtorque.base.plain import Vector, vector
from bddtorque.robots.frames import identity, snap_rotation, times
from bddtorque.robots.parts import STANDARD_GRAVITY
from bddtorque.robots.robot import Robot
from bddtorque.robots.segments import build_robot
from bddtorque.robots.urdf_chain import Choice, Lock, body_of, carrier_of, choose, segments
from bddtorque.robots.urdf_tree import Tree
from bddtorque.robots.xacro_expansion import XacroArguments

DEFAULT_SNAP, LARGEST_SNAP = 1e-9, 1e-3


class TreeOptions(TypedDict, total=False):
    """Options of the readers of robot files and models; None counts as not given.

    Attributes
    ----------
    base
        The link that is held still; by default the root of the tree.
    tip
        The last link: only the chain from `base` to `tip` moves. Without it, all joints beyond the base move.
    frame
        The link that is the tip: whose pose and Jacobian are compiled, and that carries a payload. By default the end
        of a chain; a tree has none.
    lock
        Joints to hold still, by name with their positions in rad or m; the bodies they carry are fixed there.
        ``"others"`` holds every joint off the chain at zero. Joints that mimic a locked joint follow it.
    gravity
        Free fall in m/s², x, y and z in the axes of `base`; by default that of the file, or 9.81 along -z of the
        root if it states none.
    snap
        Rotations that carry a coordinate axis onto another to within this are made exact (default 1e-9); 0 leaves all
        as they are.
    ignore_friction
        Leave damping and friction out of the torques.
    allow_massless
        Accept moving bodies that have no inertial element or zero inertia.
    allow_unphysical
        Accept inertias that no rigid body has.
    xacro_args
        Arguments of a xacro file by name; those not given have their defaults.
    """

    base: str | None
    tip: str | None
    frame: str | None
    lock: Lock
    gravity: Sequence[float] | npt.NDArray[Any] | None
    snap: float | None
    ignore_friction: bool | None
    allow_massless: bool | None
    allow_unphysical: bool | None
    xacro_args: XacroArguments | None


def check_options(options: Iterable[str]) -> None:
    """Refuse names that are not options of the reader."""
    for option in options:
        if option not in TreeOptions.__annotations__:
            raise BddTorqueError(unknown("option", option, TreeOptions.__annotations__))


def refuse_xacro_args(options: TreeOptions, where: str) -> None:
    """Refuse arguments of a xacro file where there is none."""
    if options.get("xacro_args") is not None:
        raise BddTorqueError(f"{where}: xacro_args is only for .xacro files")


def snap_of(options: TreeOptions, where: str) -> float:
    """Return the tolerance within which rotations are made exact."""
    given = options.get("snap")
    snap = DEFAULT_SNAP if given is None else given
    if not isinstance(snap, int | float) or not 0.0 <= snap <= LARGEST_SNAP:
        raise BddTorqueError(f"{where}: snap must be between 0 and {LARGEST_SNAP}, got {snap!r}")
    return snap


def robot_of_tree(tree: Tree, source: str, options: TreeOptions, gravity: Vector = STANDARD_GRAVITY) -> Robot:
    """Return the robot that the options choose from a tree; `gravity` is that of its root, unless they state one."""
    refuse_xacro_args(options, tree.where)
    for fault in tree.faults():
        raise BddTorqueError(fault)
    base, tip, frame = options.get("base"), options.get("tip"), options.get("frame")
    snap = snap_of(options, tree.where)
    base = tree.root if base is None else tree.link(base, "base")
    choice = choose(tree, base, None if tip is None else tree.link(tip, "tip"), options.get("lock"))
    allow_massless, allow_unphysical = bool(options.get("allow_massless")), bool(options.get("allow_unphysical"))
    bodies = [body_of(choice, joint, allow_massless, allow_unphysical) for joint in choice.joints]
    found, tip_pose = segments(choice, bodies, ignore_friction=bool(options.get("ignore_friction")))
    tip_parent = None
    if frame is not None:
        tip_parent, tip_pose = carrier_of(choice, tree.link(frame, "frame"))
    return build_robot(
        tree.name,
        found,
        tip_pose,
        snap,
        tip_parent,
        gravity=_gravity(choice, base, options.get("gravity"), gravity, snap),
        source=source,
        allow_unphysical=allow_unphysical,
    )


def _gravity(choice: Choice, base: str, given: object, at_root: Vector, snap: float) -> Vector:
    """Return gravity in base axes: as given, or that of the root turned into them."""
    tree = choice.tree
    if given is not None:
        return vector(given, f"{tree.where}: gravity")
    pose = identity()
    for joint in tree.path(tree.root, base):
        if not choice.rigid(joint):
            raise BddTorqueError(
                f"{tree.where}: gravity in the axes of base '{base}' is not known, as joint '{joint.name}' between it "
                f"and root '{tree.root}' moves; give gravity, or lock the joint"
            )
        pose = pose @ choice.pose(joint)
    turned = times(snap_rotation(pose.rotation, snap).T, np.array(at_root))
    return vector((turned + 0.0).tolist(), "gravity")  # + 0.0: no negative zeros

"""The links and joints of a URDF as a tree, and the paths through it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bddtorque.base.errors import BddTorqueError, unknown
from bddtorque.robots.frames import Array, Pose, rotation_about
from bddtorque.robots.joint_kinds import JointKind, kinds_called
from bddtorque.robots.parts import Link
from bddtorque.robots.segments import Mimic
from bddtorque.words.friction import Friction

URDF_KINDS = kinds_called("urdf")
"""The types of URDF joints that move."""
UNLIMITED = "continuous"
"""The type of joints that turn without limits."""


@dataclass(frozen=True, slots=True, eq=False)
class UrdfJoint:
    """A joint as the file states it, of a URDF or of any other.

    Attributes
    ----------
    kind
        What the file calls it.
    motion
        How it moves; None for one that is fixed, or of a kind that is not read.
    origin
        Pose of the child's frame, at position zero, in the parent's frame.
    axis
        Unit vector in the child's frame, shape (3,); None where none is needed.
    limits
        Those of `Joint` that are known.
    fault
        What is missing for this joint to move in a chain; joints elsewhere need not be complete.
    friction
        What ``<dynamics>`` says: a law, or what is wrong with it; None where it says nothing.
    ignored
        What the file says of the dynamics of this joint besides, which no reader takes.
    """

    name: str
    kind: str
    parent: str
    child: str
    origin: Pose
    axis: Array | None
    limits: dict[str, Any]
    fault: str = ""
    friction: Friction | str | None = None
    mimic: Mimic | None = None
    rotor_inertia: float = 0.0
    motion: JointKind | None = None
    ignored: tuple[str, ...] = ()

    @property
    def moves(self) -> bool:
        """True if it turns or slides."""
        return self.motion is not None

    def pose_at(self, position: float) -> Pose:
        """Return the pose of the child's frame in the parent's at a position in rad or m."""
        if position == 0.0 or self.axis is None or self.motion is None:
            return self.origin
        return moved_by(self.origin, self.motion, self.axis, position)


def moved_by(pose: Pose, kind: JointKind, axis: Array, position: float) -> Pose:
    """Return the pose of a joint's frame after its motions to a position in rad or m, from that at position zero."""
    for motion in kind.motions:
        way = position * motion.factor
        step = Pose(rotation_about(axis, way), np.zeros(3)) if motion.turns else Pose(np.eye(3), way * axis)
        pose = pose @ step
    return pose


@dataclass(frozen=True)
class Tree:
    """All links (None: without inertial) and joints; without `faults`, one root, every other link with one parent.

    `frames` are links between two joints of one body, which have no mass and need none.
    """

    name: str
    links: dict[str, Link | None]
    joints: dict[str, UrdfJoint]
    where: str
    frames: frozenset[str] = frozenset()

    def faults(self) -> Iterator[str]:
        """Yield why links and joints are no tree."""
        parents: dict[str, str] = {}
        sound = True
        for joint in self.joints.values():
            for link in (joint.parent, joint.child):
                if link not in self.links:
                    sound = False
                    yield f"{self.where}, joint '{joint.name}': {unknown('link', link, self.links)}"
            if joint.child in parents:
                sound = False
                yield (
                    f"{self.where}, link '{joint.child}' must be the child of one joint, got "
                    f"'{parents[joint.child]}' and '{joint.name}'"
                )
            parents[joint.child] = joint.name
        if not sound:
            return
        roots = [link for link in self.links if link not in parents]
        if len(roots) != 1:
            given = " and ".join(f"'{root}'" for root in roots[:3]) or ("a loop" if self.links else "no links")
            yield f"{self.where}: there must be one root link, got {given}"
            return
        reached = set(self.below(roots[0]))
        lost = next((link for link in self.links if link not in reached), None)
        if lost is not None:
            yield f"{self.where}: links must form a tree, link '{lost}' is part of a loop"

    @cached_property
    def parent_joint(self) -> dict[str, UrdfJoint]:
        """The joint that carries each link but the root."""
        return {joint.child: joint for joint in self.joints.values()}

    @cached_property
    def child_joints(self) -> dict[str, list[UrdfJoint]]:
        """The joints that hang from each link, in the order of the file."""
        hanging: dict[str, list[UrdfJoint]] = {link: [] for link in self.links}
        for joint in self.joints.values():
            hanging[joint.parent].append(joint)
        return hanging

    @cached_property
    def root(self) -> str:
        """The link that no joint carries."""
        return next(link for link in self.links if link not in self.parent_joint)

    def below(self, link: str) -> list[str]:
        """Return a link and all that hang from it."""
        found, waiting = [], [link]
        while waiting:
            found.append(waiting.pop())
            waiting.extend(joint.child for joint in self.child_joints[found[-1]])
        return found

    def path(self, start: str, end: str) -> list[UrdfJoint]:
        """Return the joints from one link down to another, or refuse if it does not hang from it."""
        joints: list[UrdfJoint] = []
        link = end
        while link != start:
            if link not in self.parent_joint:
                raise BddTorqueError(f"{self.where}: tip must hang from base '{start}', link '{end}' does not")
            joints.append(self.parent_joint[link])
            link = joints[-1].parent
        return joints[::-1]

    def link(self, name: str, what: str) -> str:
        """Return the name of a link of this tree, or refuse and suggest the nearest."""
        if name not in self.links:
            raise BddTorqueError(f"{self.where}: {what}: {unknown('link', name, self.links)}")
        return name

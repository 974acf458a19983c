"""From segments, as a file states them (any frame, any axis), to a `Robot`, whose joints all move about or along z."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bddtorque.base.plain import Matrix, matrix, vector
from bddtorque.robots.frames import Array, Pose, align_z, snap_rotation, times
from bddtorque.robots.parts import Follower, Frame, Joint, Link
from bddtorque.robots.robot import Robot
from bddtorque.robots.tree_order import BASE


@dataclass(frozen=True, slots=True)
class Mimic:
    """The leader of a joint: position = multiplier · (position of `leader`) + offset."""

    leader: str
    multiplier: float
    offset: float


@dataclass(frozen=True, slots=True)
class Segment:
    """A joint and the body it carries.

    Attributes
    ----------
    joint
        All of it but where it sits on its parent.
    origin
        Pose of this segment's frame, at position zero, in the frame of the segment that carries it.
    axis
        Unit vector about or along which the joint moves, in this segment's frame, shape (3,).
    body
        Mass, centre of mass and inertia in this segment's frame.
    mimic
        The joint it follows, if any.
    """

    joint: Joint
    origin: Pose
    axis: Array
    body: Link
    mimic: Mimic | None = None


def moved(body: Link, pose: Pose) -> Link:
    """Return a body given in one frame as seen from another, in which `pose` is that frame."""
    R = pose.rotation
    inertia, where = times(times(R, np.array(body.inertia)), R.T), f"link '{body.name}'"
    return Link(
        body.name,
        body.mass,
        vector((times(R, np.array(body.centre_of_mass)) + pose.translation + 0.0).tolist(), f"{where}: centre_of_mass"),
        as_matrix((inertia + inertia.T) / 2, f"{where}: inertia"),  # symmetric to the last bit
    )


def as_matrix(array: Array, what: str) -> Matrix:
    """Return an array (3, 3) as the tuples that a `Robot` holds, or refuse infinities and name `what`."""
    return matrix((array + 0.0).tolist(), what)  # + 0.0: no negative zeros


def build_robot(
    name: str,
    segments: Sequence[Segment],
    tip: Pose,
    snap: float = 0.0,
    tip_parent: str | None = None,
    **rest: Any,
) -> Robot:
    """Return the robot made of `segments`, each frame turned so that its joint moves about or along z.

    Parameters
    ----------
    segments
        Each after the one that carries it.
    tip
        Pose of the tip frame in the frame of the segment that carries it.
    snap
        Rotations that keep an axis to within this are made exact, see `frames.snap_rotation`.
    tip_parent
        The joint of that segment; None: the last.
    rest
        What else a `Robot` has.
    """
    joints, links, followers = list[Joint](), list[Link](), list[Follower]()
    turned = {BASE: np.eye(3)}  # the z-aligned frame of each segment, in the frame that the file gave it
    last = BASE
    for segment in segments:
        to_axis, where = align_z(segment.axis), f"joint '{segment.joint.name}', origin"
        carrier = turned[last if segment.joint.parent is None else segment.joint.parent]
        translation = vector((times(carrier.T, segment.origin.translation) + 0.0).tolist(), where)
        turn = times(times(carrier.T, segment.origin.rotation), to_axis)
        rotation = as_matrix(snap_rotation(turn, snap), where)
        joint = replace(segment.joint, rotation=rotation, translation=translation)
        link = moved(segment.body, Pose(to_axis.T, np.zeros(3)))
        if segment.mimic is None:
            joints.append(joint)
            links.append(link)
        else:
            followed = segment.mimic
            followers.append(Follower(joint, link, followed.leader, followed.multiplier, followed.offset))
        turned[joint.name] = to_axis
        last = joint.name
    carrier = turned[last if tip_parent is None else tip_parent]
    frame = Frame(
        as_matrix(snap_rotation(times(carrier.T, tip.rotation), snap), "tip"),
        vector((times(carrier.T, tip.translation) + 0.0).tolist(), "tip"),
        tip_parent,
    )
    return Robot(name, tuple(joints), tuple(links), tip=frame, followers=tuple(followers), **rest)

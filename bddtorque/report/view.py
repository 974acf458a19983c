"""The state that a page begins with, where the joints of an arm are, and from where a drawing looks at them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.robots.frames import Pose, identity
from bddtorque.robots.robot import Robot
from bddtorque.words.formats import Format
from bddtorque.words.interface import Interface

Array = npt.NDArray[np.float64]

FLOOR = 0.4
"""Radius of the floor under an arm, as a share of how far the arm reaches where the page begins."""
AZIMUTH, ELEVATION = math.radians(-52.0), math.radians(20.0)
"""From where an arm in space is looked at: from the front and somewhat above."""
SHARES = ((0.09, -0.17, 0.21, -0.12, 0.15, -0.08, 0.11), (0.3, -0.22, 0.26, -0.31, 0.19), (-0.24, 0.29, 0.2, -0.27))
"""Of the whole of each word's range, joint after joint: positions, velocities, accelerations; bent, and moving."""


@dataclass(frozen=True)
class Placed:
    """One joint at a position: its frame before and after its own motion, in base axes."""

    fixed: Pose
    moved: Pose
    turns: bool  # or slides
    start: Array  # where the link that carries it has its origin
    number: int  # of the drive that moves it, from 1
    end: Array | None = None  # where a link ends that carries no other joint, in a tree; else None

    @property
    def points(self) -> list[Array]:
        """The corners of the stick from the link that carries it to where its own is."""
        return [self.start, self.fixed.translation, self.moved.translation, *([] if self.end is None else [self.end])]


@dataclass(frozen=True)
class View:
    """A parallel projection, and what a picture must show at least."""

    axes: Array  # (3, 3), two level directions and the one against gravity, in base axes, as rows
    # azimuth, elevation: where the eye is, rad
    azimuth: float
    elevation: float
    floor: float  # radius of the floor, m
    box: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)  # left, top, right, bottom of the first state, m

    def screen(self, points: npt.ArrayLike) -> Array:
        """Return points (..., 3) in base axes as (right, down, towards the eye), in m."""
        level = np.asarray(points) @ self.axes.T
        sine, cosine = math.sin(self.azimuth), math.cos(self.azimuth)
        out = cosine * level[..., 0] + sine * level[..., 1]
        right = cosine * level[..., 1] - sine * level[..., 0]
        up = math.cos(self.elevation) * level[..., 2] - math.sin(self.elevation) * out
        near = math.sin(self.elevation) * level[..., 2] + math.cos(self.elevation) * out
        return np.stack([right, -up, near], axis=-1)

    def ring(self) -> Array:
        """Return the rim of the floor, in base axes."""
        return ring(np.zeros(3), self.axes[0], self.axes[1], self.floor, 48)

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for the page."""
        return {**vars(self), "axes": self.axes.tolist()}


def ring(centre: Array, across: Array, beside: Array, radius: float, corners: int) -> Array:
    """Return the corners of a regular polygon about a point."""
    angles = (np.arange(corners) + 0.5) * (2 * math.pi / corners)
    found: Array = centre + radius * (np.outer(np.cos(angles), across) + np.outer(np.sin(angles), beside))
    return found


def ends_in_tip(robot: Robot) -> bool:
    """Whether a robot is drawn as one line from the base to its tip; others as trees without one."""
    return robot.serial and robot.tip.parent is None


def placed_joints(robot: Robot, q: Sequence[float]) -> tuple[list[Placed], Pose]:
    """Return all joints at positions q (rad or m) of the drives, and the pose of the tip, in base axes."""
    found: list[Placed] = []
    members, pose = robot.members, identity()
    ends = set(range(len(members))) - {member.parent for member in members}
    for k, member in enumerate(members):
        joint, position = member.joint, member.multiplier * q[member.drive] + member.offset
        carrier = found[member.parent].moved if member.parent >= 0 else identity()
        fixed = carrier @ Pose(np.array(joint.rotation), np.array(joint.translation))
        if member.turns:
            cosine, sine = math.cos(position), math.sin(position)
            motion = Pose(np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]]), np.zeros(3))
        else:
            motion = Pose(np.eye(3), np.array([0.0, 0.0, position]))
        pose = fixed @ motion
        end = None
        if not ends_in_tip(robot) and k in ends:  # a tree has no tip: its sticks end in the middle of the last bodies
            end = pose.translation + pose.rotation @ np.array(member.link.centre_of_mass)
        found.append(Placed(fixed, pose, member.turns, carrier.translation, member.drive + 1, end))
    return found, pose @ Pose(np.array(robot.tip.rotation), np.array(robot.tip.translation))


def sticks_of(robot: Robot, joints: Sequence[Placed], tip: Pose) -> list[Array]:
    """Return the corners of the stick figure: one line from the base to the tip of a chain, in a tree one per joint."""
    if ends_in_tip(robot):
        middle = [pose.translation for joint in joints for pose in (joint.fixed, joint.moved)]
        return [np.array([np.zeros(3), *middle, tip.translation])]
    return [np.array(joint.points) for joint in joints]


def view_of(robot: Robot, q: Sequence[float]) -> View:
    """Return how to look at an arm that stands at positions q (rad or m).

    Along its axes if it moves in an upright plane, else from the front and above. The script looks from farther away
    where the arm would leave the picture.
    """
    joints, tip = placed_joints(robot, q)
    points = np.concatenate(sticks_of(robot, joints, tip))
    floor = FLOOR * (float(np.linalg.norm(points, axis=1).max()) or 1.0)
    directions = np.array([joint.fixed.rotation[:, 2] for joint in joints])
    up, first = _up(robot), directions[0]
    if np.allclose(np.abs(directions @ first), 1.0, atol=1e-6) and abs(float(first @ up)) < 1e-6:
        view = View(_level_axes(up, first), 0.0, 0.0, floor)
    else:
        view = View(_level_axes(up, np.eye(3)[int(np.argmin(np.abs(up)))]), AZIMUTH, ELEVATION, floor)
    seen = view.screen(np.concatenate([points, view.ring()]))[:, :2]
    (left, top), (right, bottom) = seen.min(axis=0).tolist(), seen.max(axis=0).tolist()
    return replace(view, box=(left, top, right, bottom))


def _up(robot: Robot) -> Array:
    gravity = np.array(robot.gravity)
    size = float(np.linalg.norm(gravity))
    return -gravity / size if size > 0 else np.array([0.0, 0.0, 1.0])


def _level_axes(up: Array, along: Array) -> Array:
    first = along - up * float(along @ up)
    first = first / np.linalg.norm(first)
    return np.array([first, np.cross(up, first), up])


def start_words(formats: Interface) -> list[list[int]]:
    """Return q, qd and qdd words of the state that a page begins with, which shows something of everything."""
    return [
        [_within(word, round(share * (1 << word.bits))) for word, share in zip(kind, cycle(shares), strict=False)]
        for kind, shares in zip(formats.inputs, SHARES, strict=True)
    ]


def _within(word: Format, place: int) -> int:
    """Return a word within the limits that an angle may have."""
    low, high = word.lowest, word.highest
    if word.kind == "angle":
        low = max(low, math.ceil(word.low / word.lsb)) if word.low > -math.pi else low
        high = min(high, math.floor(word.high / word.lsb)) if word.high < math.pi else high
    return min(max(place, low), high)

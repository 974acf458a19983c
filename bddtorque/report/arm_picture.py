"""The arm as a picture: where its joints are, from where it is seen, and the sticks that are drawn.

It serves pages without script, and is the first that others show; `page/arm.js` moves it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.report.markup import Markup, element, number
from bddtorque.robots.frames import Pose, identity
from bddtorque.robots.robot import Robot

Array = npt.NDArray[np.float64]
Point = tuple[float, float]
Segment = tuple[Point, Point, float]
"""A line that labels keep clear of: both ends, and half its width."""

HALF_WIDTH, HALF_HEIGHT = 200.0, 135.0
"""Of the picture, in its own units, which all lengths below have."""
ROOM = 32.0
"""Between the arm and the frame: for joints, axes and labels."""
JOINT, AXIS, TIP, LINK, SHADOW = 10.0, 20.0, 18.0, 4.5, 2.5
"""Radius of a joint, half the length of its axis, length of the tip's axes; half the width of a link, of a shadow."""
CORNERS = {True: 28, False: 4}
"""Of the polygon that stands for a joint, by whether it turns: a disc or a square across the axis."""
APART = 24.0
"""Joints nearer to each other than this share one label."""
LETTER, LINE = 3.3, 6.0
"""Half the width of a letter of a label, half the height of the label."""
CLEAR = 3.0
"""Between a label and everything else; where nothing is left for that, labels go where most is left."""
PLACES = tuple(
    (turn * math.pi / 8, far) for far in (1.0, 1.5, 2.0, 2.5) for turn in (-2, -6, 2, 6, 0, 8, -4, 4, -1, -7, -3, -5)
)
"""Places of labels that are tried around a joint: directions, clockwise from the right, and how far."""
FLOOR = 0.4
"""Radius of the floor under an arm, as a share of how far the arm reaches where the page begins."""
AZIMUTH, ELEVATION = math.radians(-52.0), math.radians(20.0)
"""From where an arm in space is looked at: from the front and somewhat above."""


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
    """Tell if a robot is drawn as one line from the base to its tip; others as trees without one."""
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


class Projection:
    """A view at the scale at which all of some points, and the arm where the page begins, are in the picture."""

    def __init__(self, view: View, points: Array) -> None:
        seen = view.screen(points)[:, :2]
        low, high = np.minimum(view.box[:2], seen.min(axis=0)), np.maximum(view.box[2:], seen.max(axis=0))
        room = np.array([HALF_WIDTH - ROOM, HALF_HEIGHT - ROOM])
        self.view, self.centre = view, (low + high) / 2
        self.scale = float((2 * room / np.maximum(high - low, 1e-9)).min())

    def __call__(self, points: npt.ArrayLike) -> list[Point]:
        """Return points (N, 3) in base axes as (right, down) from the middle of the picture."""
        seen = (self.view.screen(points)[..., :2] - self.centre) * self.scale
        return [(right, down) for right, down in seen.tolist()]


def arm_picture(robot: Robot, q: Sequence[float], view: View) -> Markup:
    """Return the arm at positions q (rad or m) as SVG."""
    joints, tip = placed_joints(robot, q)
    sticks = sticks_of(robot, joints, tip)
    project = Projection(view, np.concatenate([*sticks, view.ring()]))
    shapes = [_polygon(project(view.ring()), "floor")]
    taken: list[Segment] = []
    for points in sticks:
        shadow = project(points - np.outer(points @ view.axes[2], view.axes[2]))
        shapes.append(_polyline(shadow, "shadow"))
        taken.extend((start, end, SHADOW) for start, end in pairwise(shadow))
    for first, points in enumerate(sticks):
        for k in range(len(points) - 1):
            slides = k % 2 == 1 and not joints[first + k // 2].turns
            if k % 2 == 0 or slides:
                start, end = project(points[k : k + 2])
                shapes.append(_polyline([start, end], "rod" if slides else "link"))
                taken.append((start, end, LINK))
    for joint in joints:
        across, beside, along = joint.fixed.rotation.T
        origin = joint.fixed.translation
        rim = project(ring(origin, across, beside, JOINT / project.scale, CORNERS[joint.turns]))
        start, end = project(origin + np.outer([-1, 1], along) * AXIS / project.scale)
        shapes.append(_polyline([start, end], "axis"))
        shapes.append(_polygon(rim, "joint turning" if joint.turns else "joint sliding"))
        taken.append((start, end, 0.5))
        taken.extend((corner, corner, 1.0) for corner in rim)
    if ends_in_tip(robot):
        for axis, class_ in zip(tip.rotation.T, ("tip tip-x", "tip tip-y", "tip tip-z"), strict=True):
            start, end = project([tip.translation, tip.translation + TIP / project.scale * axis])
            shapes.append(_polyline([start, end], class_))
            taken.append((start, end, 1.0))
    shapes += _labels(joints, project, taken)
    return element(
        "svg",
        element("g", *shapes, id="arm-shapes"),
        id="arm",
        viewbox=f"{-HALF_WIDTH:g} {-HALF_HEIGHT:g} {2 * HALF_WIDTH:g} {2 * HALF_HEIGHT:g}",
        role="img",
        aria_label=f"The arm {robot.name}, {len(joints)} joints, drawn as sticks. Arrow keys turn the view.",
        tabindex="0",
    )


def _labels(joints: Sequence[Placed], project: Projection, taken: list[Segment]) -> list[Markup]:
    """Return the numbers of the joints, of followers their leaders'; joints that are close together share a label."""
    groups: list[tuple[Point, list[int]]] = []
    for joint in joints:
        (at,) = project(joint.fixed.translation[None])
        near = next((numbers for place, numbers in groups if math.dist(place, at) < APART), None)
        if near is None:
            groups.append((at, [joint.number]))
        elif joint.number not in near:
            near.append(joint.number)
    made = []
    for at, numbers in groups:
        text = ", ".join(map(str, numbers))
        x, y = place_label(at, LETTER * len(text), taken)
        made.append(element("text", text, x=x, y=y, class_="joint-name"))
    return made


def place_label(at: Point, half: float, taken: list[Segment]) -> Point:
    """Return where the middle of a label beside a point goes, clear of what is taken, and take that place too."""
    places = [
        (at[0] + far * math.cos(turn) * (JOINT + CLEAR + half), at[1] + far * math.sin(turn) * (JOINT + CLEAR + LINE))
        for turn, far in PLACES
    ]
    x, y = max(places, key=lambda place: min(CLEAR, clearance(place, half, taken)))
    taken.append(((x - half, y), (x + half, y), LINE))
    return x, y


def clearance(place: Point, half: float, taken: Sequence[Segment]) -> float:
    """Return how far a label in the middle of which is `place` stays from the frame and from all that is taken."""
    x, y = place
    free = min(HALF_WIDTH - abs(x) - half, HALF_HEIGHT - abs(y) - LINE)
    for start, end, width in taken:
        across, down = end[0] - start[0], end[1] - start[1]
        length = across * across + down * down or 1.0
        for share in (-1.0, -0.5, 0.0, 0.5, 1.0):  # points of the middle line of the label
            right, below = x + share * half - start[0], y - start[1]
            along = min(max((right * across + below * down) / length, 0.0), 1.0)
            free = min(free, math.hypot(right - along * across, below - along * down) - width - LINE)
    return free


def _polygon(points: Sequence[Point], class_: str, kind: str = "polygon") -> Markup:
    return element(kind, points=" ".join(f"{number(x)},{number(y)}" for x, y in points), class_=class_)


def _polyline(points: Sequence[Point], class_: str) -> Markup:
    return _polygon(points, class_, "polyline")

"""The arm as a picture, for pages without script, and the first that others show; `page/arm.js` moves it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from bddtorque.report.markup import Markup, element, number
from bddtorque.report.view import Placed, View, ends_in_tip, placed_joints, ring, sticks_of
from bddtorque.robots.robot import Robot

Array = npt.NDArray[np.float64]
Point = tuple[float, float]
Segment = tuple[Point, Point, float]
"""What labels keep clear of: both ends, and half its width."""

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
"""Where labels are tried around a joint: directions, clockwise from the right, and how far."""


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

"""The arm as a picture, for pages without script, and the first that others show; `page/arm.js` moves it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bddtorque.report.markup import Markup, element, number
from bddtorque.report.view import Placed, View, ends_in_tip, placed_joints, sticks_of
from bddtorque.robots.robot import Robot

Array = npt.NDArray[np.float64]

SIDE = 200.0
"""Half the side of the picture, in its own units: one reach."""
FLOOR, JOINT, AXIS = 0.55, 0.05, 0.1
"""Radius of the floor and of a joint, half the length of its axis: in reaches."""
APART = 24.0
"""Joints whose numbers would be nearer than this share one label, in the picture's units."""
CORNERS = {True: 28, False: 4}
"""Of the polygon that stands for a joint, by whether it turns: a disc or a square across the axis."""


def arm_picture(robot: Robot, q: Sequence[float], view: View) -> Markup:
    """Return the arm at positions q (rad or m) as SVG."""
    joints, tip = placed_joints(robot, q)
    sticks = sticks_of(robot, joints, tip)
    shapes = [_polygon(_ring(np.zeros(3), view.axes[0], view.axes[1], FLOOR * view.reach, 48), view, "floor")]
    for points in sticks:
        shapes.append(_polyline(points - np.outer(points @ view.axes[2], view.axes[2]), view, "shadow"))
    for first, points in enumerate(sticks):
        for k in range(len(points) - 1):
            slides = k % 2 == 1 and not joints[first + k // 2].revolute
            if k % 2 == 0 or slides:
                shapes.append(_polyline(points[k : k + 2], view, "rod" if slides else "link"))
    shapes += [shape for joint in joints for shape in _joint(joint, view)]
    for axis, class_ in zip(tip.rotation.T, ("tip tip-x", "tip tip-y", "tip tip-z"), strict=True):
        if ends_in_tip(robot):
            shapes.append(_polyline([tip.translation, tip.translation + 0.9 * AXIS * view.reach * axis], view, class_))
    shapes += _labels(joints, view)
    above, below = view.sides
    return element(
        "svg",
        element("g", *shapes, id="arm-shapes"),
        id="arm",
        viewbox=f"{-SIDE:g} {-SIDE * above:g} {2 * SIDE:g} {SIDE * (above + below):g}",
        role="img",
        aria_label=f"The arm {robot.name}, {len(joints)} joints, drawn as sticks. Arrow keys turn the view.",
        tabindex="0",
    )


def _labels(joints: Sequence[Placed], view: View) -> list[Markup]:
    """Return the numbers of the joints, of followers their leaders'; those that would hide each other share a label."""
    groups: list[tuple[float, float, list[int]]] = []
    for joint in joints:
        right, down, _ = (view.screen(joint.fixed.translation) * SIDE).tolist()
        near = next((group for group in groups if math.hypot(group[0] - right, group[1] - down) < APART), None)
        if near is None:
            groups.append((right, down, [joint.number]))
        else:
            near[2].append(joint.number)
    return [
        element("text", ", ".join(map(str, places)), x=right + 15.0, y=down - 14.0, class_="joint-name")
        for right, down, places in groups
    ]


def _joint(joint: Placed, view: View) -> list[Markup]:
    across, beside, along = joint.fixed.rotation.T
    origin = joint.fixed.translation
    ring = _ring(origin, across, beside, JOINT * view.reach, CORNERS[joint.revolute])
    ends = [origin - AXIS * view.reach * along, origin + AXIS * view.reach * along]
    return [
        _polyline(ends, view, "axis"),
        _polygon(ring, view, "joint revolute" if joint.revolute else "joint prismatic"),
    ]


def _ring(centre: Array, across: Array, beside: Array, radius: float, corners: int) -> Array:
    angles = (np.arange(corners) + 0.5) * (2 * math.pi / corners)
    found: Array = centre + radius * (np.outer(np.cos(angles), across) + np.outer(np.sin(angles), beside))
    return found


def _polygon(points: npt.ArrayLike, view: View, class_: str, kind: str = "polygon") -> Markup:
    places = " ".join(f"{number(x)},{number(y)}" for x, y, _ in (view.screen(points) * SIDE).tolist())
    return element(kind, points=places, class_=class_)


def _polyline(points: npt.ArrayLike, view: View, class_: str) -> Markup:
    return _polygon(points, view, class_, "polyline")

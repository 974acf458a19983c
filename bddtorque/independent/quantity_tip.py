"""The tip of a robot: its pose, and its Jacobian."""

from __future__ import annotations

from typing import Any

from .dynamics import Vector, added, cross, frames_of, tip_frame
from .ranges import Span
from .robots import ZERO, Robot
from .subjects import ANY, CheckedQuantity, Output, Scene, Subject

ROWS = ("vx", "vy", "vz", "wx", "wy", "wz")


class Kinematics(CheckedQuantity):
    """Position and rotation matrix of the tip, in base axes."""

    name = "kinematics"
    inputs = ("q",)
    torques = False
    needs_tip = in_rationals = True
    compared_with = "the robot's kinematics"

    def outputs(self, robot: Robot) -> list[Output]:
        """Return position and rotation."""
        entries = tuple(f"r{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3))
        return [Output("position", (3,), ("x", "y", "z"), ("m",) * 3), Output("rotation", (3, 3), entries, ("",) * 9)]

    def truth(self, scene: Scene) -> list[Any]:
        """Return position, then rotation row by row."""
        frames = frames_of(scene.robot, scene.at_rest, scene.algebra, scene.robot.tip_path)
        place, columns = tip_frame(scene.robot, frames, scene.algebra)
        return [*place, *(columns[k][i] for i in range(3) for k in range(3))]

    def known_span(self, subject: Subject, place: int) -> Span:
        """Return that no entry of a rotation is longer than its axis."""
        return (-subject.axis_length, subject.axis_length) if place >= 3 else ANY


class Jacobian(CheckedQuantity):
    """Velocity, then angular velocity of the tip, in base axes, for a velocity of each joint."""

    name = "jacobian"
    inputs = ("q",)
    torques = False
    needs_tip = in_rationals = True
    compared_with = "the robot's kinematics"

    def outputs(self, robot: Robot) -> list[Output]:
        """Return six rows."""
        turns = [joint.turns for joint in robot.joints]
        labels = tuple(f"{row}{j}" for row in ROWS for j in range(1, len(turns) + 1))
        units = tuple("m" if row < 3 and turn else "" for row in range(6) for turn in turns)
        return [Output("jacobian", (6, len(turns)), labels, units)]

    def truth(self, scene: Scene) -> list[Any]:
        """Return the entries row by row: the axis of each joint, and its cross product with the way to the tip."""
        robot, algebra = scene.robot, scene.algebra
        frames = frames_of(robot, scene.at_rest, algebra, robot.tip_path)
        tip, _ = tip_frame(robot, frames, algebra)
        zero: Vector = [algebra.number(ZERO)] * 3
        twists: list[Vector] = [[*zero, *zero] for _ in robot.joints]
        for i in robot.tip_path:
            member, (place, (_, _, axis)) = robot.members[i], frames[i]
            arm = [a - b for a, b in zip(tip, place, strict=True)]
            own = [*cross(axis, arm), *axis] if member.joint.turns else [*axis, *zero]
            twists[member.drive] = added(twists[member.drive], [each.scaled(member.multiplier) for each in own])
        return [twist[row] for row in range(6) for twist in twists]

    def known_span(self, subject: Subject, place: int) -> Span:
        """Return how long an angular velocity can be: the sum of all turning axes of a drive on the way to the tip.

        Each counts as many times as it turns with the drive: the triangle inequality.
        """
        row, drive = divmod(place, len(subject.robot.joints))
        path = [subject.robot.members[i] for i in subject.robot.tip_path]
        times = sum((abs(each.multiplier) for each in path if each.joint.turns and each.drive == drive), ZERO)
        limit = float(times) * subject.axis_length
        return (-limit, limit) if row >= 3 else ANY


RECORDS = (Kinematics(), Jacobian())

"""The tip of a robot: its pose, and its Jacobian."""

from __future__ import annotations

from typing import Any

from .dynamics import Vector, added, combined, frames_of, tip_frame
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
        """Return the entries row by row: what each joint makes of the tip, from the tip inward."""
        robot, state, algebra = scene.robot, scene.at_rest, scene.algebra
        frames = frames_of(robot, state, algebra, robot.tip_path)
        zero: Vector = [algebra.number(ZERO)] * 3
        twists: list[Vector] = [[*zero, *zero] for _ in robot.joints]
        arm: Vector = [algebra.number(each) for each in robot.tip_translation]
        for i in reversed(robot.tip_path):
            member, (x, y, z) = robot.members[i], frames[i][1]
            joint, drive = member.joint, member.drive
            if joint.turns:
                own = [*(b * arm[0] - a * arm[1] for a, b in zip(x, y, strict=True)), *z]
                c, s = state.cosine[i], state.sine[i]
                arm = [c * arm[0] - s * arm[1], s * arm[0] + c * arm[1], arm[2]]
            else:
                own = [*z, *zero]
                arm = [arm[0], arm[1], arm[2] + state.q[i]]
            twists[drive] = added(twists[drive], [each.scaled(member.multiplier) for each in own])
            rows = [[algebra.number(each) for each in row] for row in joint.rotation]
            arm = added(combined([*zip(*rows, strict=True)], arm), [algebra.number(each) for each in joint.translation])
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

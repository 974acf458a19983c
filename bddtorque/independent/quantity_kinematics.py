"""The pose of the tip."""

from __future__ import annotations

from typing import Any

from .checked_quantity import ANY, CheckedQuantity, Output
from .poses import frames_of, tip_frame
from .robots import Robot
from .spans import Span
from .subjects import Scene, Subject


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


RECORD = Kinematics()

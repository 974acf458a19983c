"""`kinematics`: the pose of the tip."""

from __future__ import annotations

from typing import Any

from bddtorque.dynamics.quantity import ANY, Arm, Asked, OutputArray, Quantity
from bddtorque.dynamics.tip import largest_entry
from bddtorque.robots.robot import Robot
from bddtorque.words.bounded import Interval

ROTATION = tuple(f"r{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3))


class Kinematics(Quantity):
    """Position and rotation matrix of the tip, in base axes."""

    name = "kinematics"
    about = "the pose of the tip of a robot arm"
    inputs = ("q",)
    outputs = (
        OutputArray("position", lambda robot: ("x", "y", "z"), lambda robot: ["m"] * 3, lambda robot: (3,)),
        OutputArray("rotation", lambda robot: ROTATION, lambda robot: [""] * 9, lambda robot: (3, 3)),
    )
    needs_tip = True

    def compute(self, arm: Arm) -> list[Any]:
        """Return position, then rotation row by row."""
        position, rotation = arm.pose()
        return [*position, *(entry for row in rotation for entry in row)]

    def known_ranges(self, asked: Asked, robot: Robot) -> list[Interval] | None:
        """Return that no entry of a rotation is above 1."""
        one = largest_entry(robot)
        return [*[ANY] * 3, *[Interval(-one, one)] * 9]


RECORD = Kinematics()

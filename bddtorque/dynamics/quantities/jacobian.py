"""`jacobian`: the geometric Jacobian of the tip."""

from __future__ import annotations

import math
from typing import Any

from bddtorque.dynamics.quantity import ANY, Arm, Asked, OutputArray, Quantity
from bddtorque.dynamics.tip import largest_entry
from bddtorque.robots.robot import Robot
from bddtorque.words.bounded import Interval

ROWS = ("vx", "vy", "vz", "wx", "wy", "wz")


def entry_labels(robot: Robot) -> list[str]:
    """Return the names of the entries, row by row: vx1, vx2, ..., wz1, ..."""
    return [f"{row}{j}" for row in ROWS for j in range(1, robot.degrees_of_freedom + 1)]


def entry_units(robot: Robot) -> list[str]:
    """Return the unit of each entry: m for a velocity per rad/s."""
    return ["m" if joint.kind.turns and row < 3 else "" for row in range(6) for joint in robot.joints]


class Jacobian(Quantity):
    """Velocity of the tip, then angular velocity, in base axes, per velocity of each joint."""

    name = "jacobian"
    about = "the Jacobian of the tip of a robot arm"
    inputs = ("q",)
    outputs = (OutputArray("jacobian", entry_labels, entry_units, lambda robot: (6, robot.degrees_of_freedom)),)
    needs_tip = True

    def compute(self, arm: Arm) -> list[Any]:
        """Return the entries, row by row."""
        return [entry for row in arm.jacobian() for entry in row]

    def known_ranges(self, asked: Asked, robot: Robot) -> list[Interval] | None:
        """Return how large the angular entries can be: a column is the sum of multiplier · axis over all that turns.

        A joint with followers moves several axes at once, so that its column can be longer than 1.
        """
        turning: list[list[float]] = [[] for _ in robot.joints]
        members = robot.members
        for i in robot.tip_path:
            if members[i].turns:
                turning[members[i].drive].append(abs(members[i].multiplier))
        one = largest_entry(robot)  # its room covers the two roundings below
        angular = [Interval(-limit, limit) for limit in (math.fsum(factors) * one for factors in turning)]
        return [*[ANY] * (3 * len(turning)), *angular * 3]


RECORD = Jacobian()

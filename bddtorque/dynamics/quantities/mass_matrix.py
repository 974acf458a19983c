"""`mass_matrix`: the joint-space inertia, on and above its diagonal."""

from __future__ import annotations

from typing import Any

from bddtorque.dynamics.quantity import Arm, OutputArray, Quantity
from bddtorque.robots.robot import Robot

UNITS = {2: "kg·m²", 1: "kg·m", 0: "kg"}
"""Of an entry, by how many of its two joints have angles as positions."""


def upper_triangle(n: int) -> list[tuple[int, int]]:
    """Return the places on and above the diagonal of a matrix, row by row."""
    return [(i, j) for i in range(n) for j in range(i, n)]


def entry_labels(robot: Robot) -> list[str]:
    """Return the names of the entries: M1_1, M1_2, ..."""
    return [f"M{i + 1}_{j + 1}" for i, j in upper_triangle(robot.degrees_of_freedom)]


def entry_units(robot: Robot) -> list[str]:
    """Return the unit of each entry."""
    turns = [joint.kind.turns for joint in robot.joints]
    return [UNITS[turns[i] + turns[j]] for i, j in upper_triangle(len(turns))]


class MassMatrix(Quantity):
    """M(q), rotor inertias included: column j is the torque of a unit acceleration of joint j without gravity."""

    name = "mass_matrix"
    about = "the mass matrix of a robot arm"
    inputs = ("q",)
    outputs = (OutputArray("mass", entry_labels, entry_units, lambda robot: (robot.degrees_of_freedom,) * 2),)
    accepts = ("payload",)
    from_torques = weightless = True

    def compute(self, arm: Arm) -> list[Any]:
        """Return the entries, from columns of unit accelerations."""
        n = arm.robot.degrees_of_freedom
        columns = [arm.torques(arm.still, [float(j == k) for k in range(n)], weightless=True) for j in range(n)]
        return [columns[j][i] for i, j in upper_triangle(n)]


RECORD = MassMatrix()

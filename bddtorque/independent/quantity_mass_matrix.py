"""The joint-space inertia, on and above its diagonal."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .checked_quantity import CheckedQuantity, Output
from .robots import Robot
from .subjects import Scene

UNITS = ("kg", "kg·m", "kg·m²")
"""Of an entry, by how many of its two joints turn."""


class MassMatrix(CheckedQuantity):
    """M(q): column j holds the torques of a unit acceleration of joint j, without gravity."""

    name = "mass_matrix"
    inputs = ("q",)
    accepts = ("payload",)
    torques = False

    def outputs(self, robot: Robot) -> list[Output]:
        """Return the upper triangle, row by row."""
        n, turns = len(robot.joints), [joint.revolute for joint in robot.joints]
        pairs = [(i, j) for i in range(n) for j in range(i, n)]
        labels = tuple(f"M{i + 1}_{j + 1}" for i, j in pairs)
        return [Output("mass", (n, n), labels, tuple(UNITS[turns[i] + turns[j]] for i, j in pairs))]

    def truth(self, scene: Scene) -> list[Any]:
        """Return the entries."""
        n = len(scene.still)
        units = [[scene.algebra.number(Fraction(k == j)) for k in range(n)] for j in range(n)]
        columns = [scene.torques(scene.still, unit, weightless=True) for unit in units]
        return [columns[j][i] for i in range(n) for j in range(i, n)]


RECORD = MassMatrix()

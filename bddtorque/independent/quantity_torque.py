"""Inverse dynamics."""

from __future__ import annotations

from typing import Any

from .checked_quantity import CheckedQuantity
from .subjects import Scene


class Torque(CheckedQuantity):
    """M(q) q̈ + C(q, q̇) q̇ + G(q) + friction(q̇)."""

    name = "torque"
    inputs = ("q", "qd", "qdd")
    accepts = ("gravity", "payload")
    friction = by_boxes = True

    def truth(self, scene: Scene) -> list[Any]:
        """Return the torques of the motion."""
        return scene.torques(scene.values["qd"], scene.values["qdd"])


RECORD = Torque()

"""The torques at zero acceleration."""

from __future__ import annotations

from typing import Any

from .checked_quantity import CheckedQuantity
from .subjects import Scene


class Bias(CheckedQuantity):
    """C(q, q̇) q̇ + G(q) + friction(q̇)."""

    name = "bias"
    inputs = ("q", "qd")
    accepts = ("gravity", "payload")
    friction = True

    def truth(self, scene: Scene) -> list[Any]:
        """Return the torques of a motion without acceleration."""
        return scene.torques(scene.values["qd"], scene.still)


RECORD = Bias()

"""The torques that hold a robot still."""

from __future__ import annotations

from typing import Any

from .checked_quantity import CheckedQuantity
from .subjects import Scene


class Gravity(CheckedQuantity):
    """G(q)."""

    name = "gravity"
    inputs = ("q",)
    accepts = ("gravity", "payload")
    at_rest = True

    def truth(self, scene: Scene) -> list[Any]:
        """Return the torques at rest."""
        return scene.torques(scene.still, scene.still)


RECORD = Gravity()

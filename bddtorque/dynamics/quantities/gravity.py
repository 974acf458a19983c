"""`gravity`: the torques that hold an arm still."""

from __future__ import annotations

from typing import Any

from bddtorque.dynamics.quantity import Arm, Quantity


class Gravity(Quantity):
    """G(q)."""

    name = "gravity"
    about = "the torques that hold a robot arm against gravity"
    inputs = ("q",)
    accepts = ("gravity", "payload")
    at_rest = from_torques = True

    def compute(self, arm: Arm) -> list[Any]:
        """Return the torques at rest."""
        return arm.torques(arm.still, arm.still)


RECORD = Gravity()

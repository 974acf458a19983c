"""`bias`: the torques at zero acceleration."""

from __future__ import annotations

from typing import Any

from bddtorque.dynamics.quantity import Arm, Quantity


class Bias(Quantity):
    """C(q, q̇) q̇ + G(q) + friction(q̇)."""

    name = "bias"
    about = "the Coriolis, centripetal, gravity and friction torques of a robot arm"
    inputs = ("q", "qd")
    accepts = ("gravity", "payload")
    friction = from_torques = True

    def compute(self, arm: Arm) -> list[Any]:
        """Return the torques of a motion without acceleration."""
        return arm.torques(arm.input("qd"), arm.still)


RECORD = Bias()

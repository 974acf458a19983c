"""`torque`: inverse dynamics."""

from __future__ import annotations

from typing import Any

from bddtorque.dynamics.quantity import Arm, Quantity


class Torque(Quantity):
    """M(q) q̈ + C(q, q̇) q̇ + G(q) + friction(q̇)."""

    name = "torque"
    about = "the inverse dynamics of a robot arm"
    inputs = ("q", "qd", "qdd")
    accepts = ("gravity", "payload")
    friction = from_torques = inverse_dynamics = True

    def compute(self, arm: Arm) -> list[Any]:
        """Return the torques of the motion."""
        return arm.torques(arm.input("qd"), arm.input("qdd"))


RECORD = Torque()

"""`computed_torque`: the computed-torque law, from the state and the desired motion."""

from __future__ import annotations

from typing import Any

from bddtorque.dynamics.feedback import FeedbackLaw
from bddtorque.dynamics.quantity import DESIRED, Arm


class ComputedTorque(FeedbackLaw):
    """The torques of q̈ = q̈_desired + kv (q̇_desired − q̇) + kp (q_desired − q)."""

    name = "computed_torque"
    about = "the computed-torque law of a robot arm"
    inputs = ("q", "qd", *DESIRED)
    gain_units = "1/s² and 1/s"
    friction = from_torques = True

    def compute(self, arm: Arm) -> list[Any]:
        """Return the torques of the accelerations that the law asks for."""
        return arm.torques(arm.input("qd"), self.with_feedback(arm, arm.input("qdd_desired")))


RECORD = ComputedTorque()

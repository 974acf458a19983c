"""`pd_gravity`: joint control in proportion to the errors of position and velocity, with the weight fed forward."""

from __future__ import annotations

from typing import Any

from bddtorque.dynamics.feedback import FeedbackLaw
from bddtorque.dynamics.quantity import DESIRED, Arm


class PdGravity(FeedbackLaw):
    """τ = kp (q_desired − q) + kv (q̇_desired − q̇) + G(q), without friction."""

    name = "pd_gravity"
    about = "joint PD control with gravity compensation of a robot arm"
    inputs = ("q", "qd", *DESIRED[:2])
    gain_units = "N·m/rad and N·m·s/rad"

    def compute(self, arm: Arm) -> list[Any]:
        """Return the torques that the law asks for."""
        return self.with_feedback(arm, arm.torques(arm.still, arm.still))


RECORD = PdGravity()

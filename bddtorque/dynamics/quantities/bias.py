"""`bias`: the torques at zero acceleration."""

from __future__ import annotations

from bddtorque.dynamics.float_arm import FloatArm
from bddtorque.dynamics.quantity import Floats, Quantity
from bddtorque.dynamics.traced_arm import TracedArm
from bddtorque.dynamics.tracer import Number


class Bias(Quantity):
    """C(q, q̇) q̇ + G(q) + friction(q̇)."""

    name = "bias"
    about = "the Coriolis, centripetal, gravity and friction torques of a robot arm"
    inputs = ("q", "qd")
    accepts = ("gravity", "payload")
    friction = from_torques = True

    def trace(self, arm: TracedArm) -> list[Number]:
        """Return the torques of a motion without acceleration."""
        return arm.torques(arm.input("qd"), arm.still)

    def values(self, arm: FloatArm) -> Floats:
        """Return the torques of a motion without acceleration."""
        return arm.torques(arm.arrays["qd"], arm.still) + arm.friction(arm.arrays["qd"])


RECORD = Bias()

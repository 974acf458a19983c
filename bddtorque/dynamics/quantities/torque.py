"""`torque`: inverse dynamics."""

from __future__ import annotations

from bddtorque.dynamics.float_arm import FloatArm
from bddtorque.dynamics.quantity import Floats, Quantity
from bddtorque.dynamics.traced_arm import TracedArm
from bddtorque.dynamics.tracer import Number


class Torque(Quantity):
    """M(q) q̈ + C(q, q̇) q̇ + G(q) + friction(q̇)."""

    name = "torque"
    about = "the inverse dynamics of a robot arm"
    inputs = ("q", "qd", "qdd")
    accepts = ("gravity", "payload")
    friction = from_torques = inverse_dynamics = True

    def trace(self, arm: TracedArm) -> list[Number]:
        """Return the torques of the motion."""
        return arm.torques(arm.input("qd"), arm.input("qdd"))

    def values(self, arm: FloatArm) -> Floats:
        """Return the torques of the motion."""
        return arm.torques(arm.arrays["qd"], arm.arrays["qdd"]) + arm.friction(arm.arrays["qd"])


RECORD = Torque()

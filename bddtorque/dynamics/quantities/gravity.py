"""`gravity`: the torques that hold an arm still."""

from __future__ import annotations

from bddtorque.dynamics.float_arm import FloatArm
from bddtorque.dynamics.quantity import Floats, Quantity
from bddtorque.dynamics.traced_arm import TracedArm
from bddtorque.dynamics.tracer import Number


class Gravity(Quantity):
    """G(q)."""

    name = "gravity"
    about = "the torques that hold a robot arm against gravity"
    inputs = ("q",)
    accepts = ("gravity", "payload")
    at_rest = from_torques = True

    def trace(self, arm: TracedArm) -> list[Number]:
        """Return the torques at rest."""
        return arm.torques(arm.still, arm.still)

    def values(self, arm: FloatArm) -> Floats:
        """Return the torques at rest."""
        return arm.torques(arm.still, arm.still)


RECORD = Gravity()

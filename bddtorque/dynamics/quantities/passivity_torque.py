"""`passivity_torque`: the torque of passivity-based control, from the state and a reference motion."""

from __future__ import annotations

from bddtorque.dynamics.passive_recursion import passive_torques
from bddtorque.dynamics.quantity import Quantity
from bddtorque.dynamics.recursion import JointRecursion


class PassivityTorque(Quantity):
    """M(q) q̈r + C(q, q̇) q̇r + G(q) + friction(q̇), with Ṁ − 2C skew-symmetric (Slotine and Li 1987)."""

    name = "passivity_torque"
    about = "the torques of passivity-based control of a robot arm"
    inputs = ("q", "qd", "qd_reference", "qdd_reference")
    accepts = ("gravity", "payload")
    friction = True
    recursion = JointRecursion(passive_torques, inputs[1:])


RECORD = PassivityTorque()

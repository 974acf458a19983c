"""`passivity_torque`: the torque of passivity-based control, from the state and a reference motion."""

from __future__ import annotations

import numpy as np

from bddtorque.dynamics.float_arm import FloatArm
from bddtorque.dynamics.passive_recursion import passive_torques
from bddtorque.dynamics.quantity import Floats, Quantity
from bddtorque.dynamics.recursion import Recursion


class PassivityTorque(Quantity):
    """M(q) q̈r + C(q, q̇) q̇r + G(q) + friction(q̇), with Ṁ − 2C skew-symmetric (Slotine and Li 1987)."""

    name = "passivity_torque"
    about = "the torques of passivity-based control of a robot arm"
    inputs = ("q", "qd", "qd_reference", "qdd_reference")
    accepts = ("gravity", "payload")
    friction = True
    recursion = Recursion(passive_torques, inputs[1:])

    def values(self, arm: FloatArm) -> Floats:
        """Return the torques from the Coriolis matrix."""
        qd, reference, acceleration = (arm.arrays[name] for name in self.inputs[1:])
        moved: Floats = np.einsum("rij,rj->ri", arm.coriolis(), reference)
        return arm.torques(arm.still, acceleration) + moved + arm.friction(qd)


RECORD = PassivityTorque()

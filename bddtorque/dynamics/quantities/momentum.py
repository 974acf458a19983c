"""`momentum`: the generalised momentum of the joints."""

from __future__ import annotations

from typing import Any

from bddtorque.dynamics.quantity import Arm, OutputArray, Quantity, joint_shape
from bddtorque.robots.robot import Robot


def momentum_labels(robot: Robot) -> list[str]:
    """Return the names of the components: p1, p2, ..."""
    return [f"p{j}" for j in range(1, robot.degrees_of_freedom + 1)]


def momentum_units(robot: Robot) -> list[str]:
    """Return the unit of each component."""
    return ["kg·m²/s" if joint.kind.turns else "kg·m/s" for joint in robot.joints]


class Momentum(Quantity):
    """p = M(q) q̇, rotors included: the torque of an acceleration as large as the velocity, without gravity."""

    name = "momentum"
    about = "the generalised momentum of a robot arm"
    inputs = ("q", "qd")
    outputs = (OutputArray("momentum", momentum_labels, momentum_units, joint_shape),)
    accepts = ("payload",)
    from_torques = weightless = True

    def compute(self, arm: Arm) -> list[Any]:
        """Return the momentum of each joint."""
        return arm.torques(arm.still, arm.input("qd"), weightless=True)


RECORD = Momentum()

"""The momentum of the joints, and its rate."""

from __future__ import annotations

from typing import Any

from .dynamics import kinetic_energy
from .robots import ZERO, Robot
from .slopes import Pairs
from .subjects import CheckedQuantity, Output, Scene


class Momentum(CheckedQuantity):
    """M(q) q̇: the torques of accelerations q̇, without gravity."""

    name = "momentum"
    inputs = ("q", "qd")
    accepts = ("payload",)
    torques = False

    def outputs(self, robot: Robot) -> list[Output]:
        """Return one number for each joint."""
        n = len(robot.joints)
        units = tuple("kg·m²/s" if joint.turns else "kg·m/s" for joint in robot.joints)
        return [Output("momentum", (n,), tuple(f"p{j}" for j in range(1, n + 1)), units)]

    def truth(self, scene: Scene) -> list[Any]:
        """Return the momentum of each joint."""
        return scene.torques(scene.still, scene.values["qd"], weightless=True)


class MomentumRate(CheckedQuantity):
    """C(q, q̇)ᵀ q̇ − G(q): the derivative of the kinetic energy by each position, less the weight."""

    name = "momentum_rate"
    inputs = ("q", "qd")
    accepts = ("gravity", "payload")
    torques = False
    compared_with = "the energies of all bodies"

    def outputs(self, robot: Robot) -> list[Output]:
        """Return one number for each joint, in the unit of its torque."""
        n = len(robot.joints)
        units = tuple("N·m" if joint.turns else "N" for joint in robot.joints)
        return [Output("beta", (n,), tuple(f"beta{j}" for j in range(1, n + 1)), units)]

    def truth(self, scene: Scene) -> list[Any]:
        """Return the slopes of the energy, less the torques at rest."""
        robot, pairs = scene.robot, Pairs(scene.algebra)
        state, world, rates = scene.state(scene.values["qd"], scene.still), pairs.world(scene.world), []
        for j, weight in enumerate(scene.torques(scene.still, scene.still)):
            turns = [member.multiplier if member.drive == j else ZERO for member in robot.members]
            rates.append(pairs.slope(kinetic_energy(robot, pairs.moved(state, turns), pairs, world)) - weight)
        return rates


RECORDS = (Momentum(), MomentumRate())

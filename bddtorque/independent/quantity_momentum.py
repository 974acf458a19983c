"""The momentum of the joints."""

from __future__ import annotations

from typing import Any

from .robots import Robot
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


RECORDS = (Momentum(),)

"""The torques of passivity-based control."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from .dynamics import State, torques
from .robots import Robot
from .slopes import Pair, Pairs, plain
from .subjects import CheckedQuantity, Output, Scene

HALF = Fraction(1, 2)


class PassivityTorque(CheckedQuantity):
    """M(q) q̈r + C(q, q̇) q̇r + G(q) + friction(q̇), C of Christoffel's symbols.

    With c(q̇) = C(q, q̇) q̇, a quadratic form, C(q, q̇) q̇r is c(q̇/2 + q̇r/2) − c(q̇/2 − q̇r/2).
    """

    name = "passivity_torque"
    inputs = ("q", "qd", "qd_reference", "qdd_reference")
    accepts = ("gravity", "payload")
    friction = True

    def truth(self, scene: Scene) -> list[Any]:
        """Return the torques of half the sum of both velocities, less those of half their difference."""
        values = scene.values
        both = list(zip(values["qd"], values["qd_reference"], strict=True))
        total = scene.torques([(a + b).scaled(HALF) for a, b in both], values["qdd_reference"])
        apart = scene.torques([(a - b).scaled(HALF) for a, b in both], scene.still, weightless=True)
        return [a - b for a, b in zip(total, apart, strict=True)]


class Coriolis(CheckedQuantity):
    """C(q, q̇) of Christoffel's symbols: half the slope of C(q, q̇) q̇ by each velocity."""

    name = "coriolis"
    inputs = ("q", "qd")
    accepts = ("payload",)
    torques = False

    def outputs(self, robot: Robot) -> list[Output]:
        """Return all entries, row by row."""
        n, turns = len(robot.joints), [joint.turns for joint in robot.joints]
        labels = tuple(f"C{i}_{j}" for i in range(1, n + 1) for j in range(1, n + 1))
        units = tuple(("kg/s", "kg·m/s", "kg·m²/s")[row + column] for row in turns for column in turns)
        return [Output("coriolis", (n, n), labels, units)]

    def truth(self, scene: Scene) -> list[Any]:
        """Return the entries."""
        robot, pairs, columns = scene.robot, Pairs(scene.algebra), []
        still = scene.state(scene.values["qd"], scene.still)
        world = pairs.world(replace(scene.world, gravity=scene.still[:1] * 3))
        state = State(*(plain(row) for row in (still.q, still.sine, still.cosine, still.qd, still.qdd)))
        for j in range(len(robot.joints)):
            moved = [Pair(each.value, scene.algebra.number(member.multiplier * HALF) if member.drive == j else None)
                     for each, member in zip(state.qd, robot.members, strict=True)]  # fmt: skip
            columns.append([*map(pairs.slope, torques(robot, replace(state, qd=moved), pairs, world))])
        return [column[i] for i in range(len(columns)) for column in columns]


RECORDS = (PassivityTorque(), Coriolis())

"""`energy`: kinetic and potential energy."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from bddtorque.dynamics.quantity import ANY, Arm, Asked, OutputArray, Quantity
from bddtorque.robots.parts import Link
from bddtorque.robots.robot import Robot
from bddtorque.words.bounded import Interval


def _can_exist(body: Link) -> bool:
    """Tell if the kinetic energy of a body cannot be negative: decided without rounding."""
    given = [[Fraction(entry) for entry in row] for row in body.inertia]
    a, b, c, d, e, f = ((given[i][j] + given[j][i]) / 2 for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
    minors = (a, b, c, a * b - d * d, a * c - e * e, b * c - f * f)
    determinant = a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e)
    return body.mass >= 0 and min(*minors, determinant) >= 0


class Energy(Quantity):
    """½ q̇ᵀ M(q) q̇, rotors included, and −Σ m g · c: the potential is 0 with all masses at the base's origin."""

    name = "energy"
    about = "the kinetic and the potential energy of a robot arm"
    inputs = ("q", "qd")
    outputs = (
        OutputArray("kinetic", lambda robot: ("kinetic",), lambda robot: ("J",), lambda robot: (), signed=False),
        OutputArray("potential", lambda robot: ("potential",), lambda robot: ("J",), lambda robot: ()),
    )
    accepts = ("gravity", "payload")

    def compute(self, arm: Arm) -> list[Any]:
        """Return both energies."""
        qd = arm.input("qd")
        momentum = arm.torques(arm.still, qd, weightless=True)
        kinetic: Any = 0.0
        for velocity, own in zip(qd, momentum, strict=True):
            kinetic = kinetic + velocity * own
        return [kinetic * 0.5, arm.potential()]

    def known_ranges(self, asked: Asked, robot: Robot) -> list[Interval] | None:
        """Return that kinetic energy is never negative, where all bodies are such as can exist.

        Words of a payload at run time can stand for bodies that cannot: a mass far out without the inertia of one.
        """
        bodies = [member.link for member in robot.members] + ([] if robot.payload is None else [robot.payload])
        if getattr(asked.payload, "runtime", False) or not all(map(_can_exist, bodies)):
            return None
        return [Interval(0.0, math.inf), ANY]


RECORD = Energy()

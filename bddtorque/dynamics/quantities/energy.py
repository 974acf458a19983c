"""`energy`: kinetic and potential energy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bddtorque.dynamics.float_arm import FloatArm
from bddtorque.dynamics.quantity import ANY, Floats, OutputArray, Quantity
from bddtorque.dynamics.traced_arm import TracedArm
from bddtorque.dynamics.tracer import Exact, Number
from bddtorque.robots.robot import Robot
from bddtorque.words.bounded import Interval


class Energy(Quantity):
    """½ q̇ᵀ M(q) q̇, rotors included, and −Σ m g · c: the potential is 0 with all masses at the base's origin."""

    name = "energy"
    about = "the kinetic and the potential energy of a robot arm"
    inputs = ("q", "qd")
    outputs = (
        OutputArray("kinetic", lambda robot: ("kinetic",), lambda robot: ("J",), lambda robot: ()),
        OutputArray("potential", lambda robot: ("potential",), lambda robot: ("J",), lambda robot: ()),
    )
    accepts = ("gravity", "payload")

    def trace(self, arm: TracedArm) -> list[Number]:
        """Return both energies."""
        qd = arm.input("qd")
        momentum = arm.torques(arm.still, qd, weightless=True)
        kinetic: Any = 0.0
        for velocity, own in zip(qd, momentum, strict=True):
            kinetic = kinetic + velocity * own
        return [kinetic * Exact(0.5), arm.potential()]

    def values(self, arm: FloatArm) -> Floats:
        """Return both energies."""
        qd = arm.arrays["qd"]
        kinetic = 0.5 * np.sum(qd * arm.torques(arm.still, qd, without_weight=True), axis=1)
        return np.stack([kinetic, arm.potential()], axis=1)

    def known_ranges(self, robot: Robot) -> list[Interval] | None:
        """Return that kinetic energy is never negative."""
        return [Interval(0.0, math.inf), ANY]


RECORD = Energy()

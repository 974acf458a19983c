"""`computed_torque`: the computed-torque law, from the state and the desired motion."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.float_arm import FloatArm
from bddtorque.dynamics.quantity import DESIRED, Asked, Floats, Quantity
from bddtorque.dynamics.traced_arm import TracedArm
from bddtorque.dynamics.tracer import Exact, Number
from bddtorque.robots.robot import Robot
from bddtorque.words.argument import Argument
from bddtorque.words.interface import Derived, WordArray


def gains_of(asked: Asked, robot: Robot) -> list[tuple[float, float]]:
    """Return kp and kv of each joint."""
    if asked.gains is None:
        raise BddTorqueError(
            "quantity 'computed_torque' needs gains in 1/s² and 1/s, such as gains = { kp = 100, kv = 20 } or "
            f"--gains kp=100,kv=20 ({asked.where})",
            option="quantity",
        )
    n, both = robot.degrees_of_freedom, []
    for name in ("kp", "kv"):
        given = getattr(asked.gains, name)
        each = given if isinstance(given, tuple) else (given,) * n
        if len(each) != n:
            number = f"one number, or one per joint ({n} in robot '{robot.name}')"
            raise asked.refusal(f"gains, {name} must be {number}, got {len(each)}", "gains")
        both.append(each)
    return list(zip(*both, strict=True))


def error_name(joint: int) -> str:
    """Return the name of the position error of a joint that turns, a word made of two angle words."""
    return f"q_error{joint}"


class ComputedTorque(Quantity):
    """The torques of q̈ = q̈_desired + kv (q̇_desired − q̇) + kp (q_desired − q); angles differ the short way round."""

    name = "computed_torque"
    about = "the computed-torque law of a robot arm"
    inputs = ("q", "qd", *DESIRED)
    accepts = ("gravity", "payload")
    keys = ("gains",)
    friction = from_torques = True

    def check(self, asked: Asked, robot: Robot) -> None:
        """Refuse missing gains."""
        gains_of(asked, robot)

    def derived(self, robot: Robot, arrays: Mapping[str, WordArray]) -> tuple[Derived, ...]:
        """Return the differences of two angle words, which wrap."""
        made = []
        for j, joint in enumerate(robot.joints, 1):
            if joint.kind.turns:
                word = arrays["q"][j - 1]
                argument = Argument("word", word.bits, word.sign * Fraction(word.lsb))
                made.append(Derived(error_name(j), ((f"q_desired{j}", 1), (f"q{j}", -1)), argument))
        return tuple(made)

    def trace(self, arm: TracedArm) -> list[Number]:
        """Return the torques of the accelerations that the law asks for."""
        accelerations = []
        for j, (kp, kv) in enumerate(gains_of(arm.asked, arm.robot), 1):
            position: Any = arm.tracer.input(error_name(j))
            if not arm.robot.joints[j - 1].kind.turns:
                position = arm.tracer.input(f"q_desired{j}") - arm.tracer.input(f"q{j}")
            velocity: Any = arm.tracer.input(f"qd_desired{j}") - arm.tracer.input(f"qd{j}")
            accelerations.append(arm.tracer.input(f"qdd_desired{j}") + velocity * Exact(kv) + position * Exact(kp))
        return arm.torques(arm.input("qd"), accelerations)

    def values(self, arm: FloatArm) -> Floats:
        """Return the torques of the accelerations that the law asks for."""
        gains, given = np.array(gains_of(arm.asked, arm.robot)), arm.arrays
        error = given["q_desired"] - given["q"]
        for j in range(error.shape[1]):
            if (name := error_name(j + 1)) in arm.derived:
                error[:, j] = arm.derived[name]
        rate = given["qd_desired"] - given["qd"]
        qdd = given["qdd_desired"] + gains[:, 1] * rate + gains[:, 0] * error
        return arm.torques(given["qd"], qdd) + arm.friction(given["qd"])


RECORD = ComputedTorque()

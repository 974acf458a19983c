"""`computed_torque`: the computed-torque law, from the state and the desired motion."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.quantity import DESIRED, Arm, Asked, Quantity
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

    def compute(self, arm: Arm) -> list[Any]:
        """Return the torques of the accelerations that the law asks for."""
        accelerations = []
        for j, (kp, kv) in enumerate(gains_of(arm.asked, arm.robot), 1):
            turns = arm.robot.joints[j - 1].kind.turns
            position = arm.word(error_name(j)) if turns else arm.word(f"q_desired{j}") - arm.word(f"q{j}")
            velocity = arm.word(f"qd_desired{j}") - arm.word(f"qd{j}")
            accelerations.append(arm.word(f"qdd_desired{j}") + velocity * kv + position * kp)
        return arm.torques(arm.input("qd"), accelerations)


RECORD = ComputedTorque()

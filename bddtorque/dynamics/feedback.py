"""`FeedbackLaw`: what control laws have in common: gains, and the errors of position and velocity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.quantity import Arm, Asked, Quantity
from bddtorque.robots.robot import Robot
from bddtorque.words.argument import Argument
from bddtorque.words.interface import Derived, WordArray


def error_name(joint: int) -> str:
    """Return the name of the position error of a joint that turns, a word made of two angle words."""
    return f"q_error{joint}"


class FeedbackLaw(Quantity):
    """A quantity with kv (q̇_desired − q̇) + kp (q_desired − q) in it; angles differ the short way round."""

    gain_units: ClassVar[str]
    """The units of kp and kv, for people."""
    accepts = ("gravity", "payload")
    keys = ("gains",)

    def check(self, asked: Asked, robot: Robot) -> None:
        """Refuse missing gains."""
        self.gains_of(asked, robot)

    def derived(self, robot: Robot, arrays: Mapping[str, WordArray]) -> tuple[Derived, ...]:
        """Return the differences of two angle words, which wrap."""
        made = []
        for j, joint in enumerate(robot.joints, 1):
            if joint.kind.turns:
                word = arrays["q"][j - 1]
                argument = Argument("word", word.bits, word.sign * Fraction(word.lsb))
                made.append(Derived(error_name(j), ((f"q_desired{j}", 1), (f"q{j}", -1)), argument))
        return tuple(made)

    def with_feedback(self, arm: Arm, forward: Sequence[Any]) -> list[Any]:
        """Return what is fed forward for each joint, and the feedback."""
        total = []
        for j, (own, (kp, kv)) in enumerate(zip(forward, self.gains_of(arm.asked, arm.robot), strict=True), 1):
            turns = arm.robot.joints[j - 1].kind.turns
            position = arm.word(error_name(j)) if turns else arm.word(f"q_desired{j}") - arm.word(f"q{j}")
            velocity = arm.word(f"qd_desired{j}") - arm.word(f"qd{j}")
            total.append(own + velocity * kv + position * kp)
        return total

    def gains_of(self, asked: Asked, robot: Robot) -> list[tuple[float, float]]:
        """Return kp and kv of each joint."""
        if asked.gains is None:
            raise BddTorqueError(
                f"quantity '{self.name}' needs gains in {self.gain_units}, such as gains = {{ kp = 100, kv = 20 }} or "
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

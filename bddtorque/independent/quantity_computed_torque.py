"""The computed-torque law."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from .checked_quantity import CheckedQuantity
from .reading import list_of, object_of, real
from .robots import Robot
from .subjects import Scene, Subject


class ComputedTorque(CheckedQuantity):
    """The torques of q̈ = q̈_desired + kv (q̇_desired − q̇) + kp (q_desired − q); angles differ the short way round."""

    name = "computed_torque"
    inputs = ("q", "qd", "q_desired", "qd_desired", "qdd_desired")
    accepts = ("gravity", "payload")
    keys = ("gains",)
    friction = True

    def check(self, spec: Mapping[str, Any], robot: Robot) -> None:
        """Refuse gains that are no numbers."""
        _gains(spec, len(robot.joints))

    def differences(self, subject: Subject) -> dict[str, tuple[str, str]]:
        """Return the errors of the positions that turn."""
        turning = [k for k, word in enumerate(subject.arrays["q"], 1) if word.angle]
        return {f"q_error{k}": (f"q_desired{k}", f"q{k}") for k in turning}

    def truth(self, scene: Scene) -> list[Any]:
        """Return the torques of the acceleration that the law asks for."""
        words, values = scene.subject.arrays["q"], scene.values
        accelerations = []
        for j, ((kp, kv), word) in enumerate(zip(_gains(scene.subject.spec, len(words)), words, strict=True)):
            if word.angle:
                error = scene.inputs[f"q_error{j + 1}"].scaled(word.sign * Fraction(word.lsb))
            else:
                error = values["q_desired"][j] - values["q"][j]
            speed = values["qd_desired"][j] - values["qd"][j]
            accelerations.append(values["qdd_desired"][j] + speed.scaled(kv) + error.scaled(kp))
        return scene.torques(values["qd"], accelerations)


def _gains(spec: Mapping[str, Any], n: int) -> list[tuple[Fraction, Fraction]]:
    """Return kp and kv of every joint."""
    given = object_of(spec.get("gains"), ("kp", "kv"), "spec, gains")
    rows = [list_of(each, "spec, gains", n) if type(each) is list else [each] * n for each in given.values()]
    kp, kv = ([Fraction(real(value, "spec, gains")) for value in row] for row in rows)
    return list(zip(kp, kv, strict=True))


RECORD = ComputedTorque()

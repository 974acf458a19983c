"""Torques of motions: inverse dynamics, gravity, bias, mass matrix, computed torque."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

from .reading import list_of, object_of, real
from .robots import Robot
from .subjects import CheckedQuantity, Output, Scene, Subject

UNITS = ("kg", "kg·m", "kg·m²")
"""Of an entry, by how many of its two joints turn."""


class Torque(CheckedQuantity):
    """M(q) q̈ + C(q, q̇) q̇ + G(q) + friction(q̇)."""

    name = "torque"
    inputs = ("q", "qd", "qdd")
    accepts = ("gravity", "payload")
    unnamed = friction = by_boxes = True

    def truth(self, scene: Scene) -> list[Any]:
        """Return the torques of the motion."""
        return scene.torques(scene.values["qd"], scene.values["qdd"])


class Gravity(CheckedQuantity):
    """G(q)."""

    name = "gravity"
    inputs = ("q",)
    accepts = ("gravity", "payload")
    at_rest = by_boxes = True

    def truth(self, scene: Scene) -> list[Any]:
        """Return the torques at rest."""
        return scene.torques(scene.still, scene.still)


class Bias(CheckedQuantity):
    """C(q, q̇) q̇ + G(q) + friction(q̇)."""

    name = "bias"
    inputs = ("q", "qd")
    accepts = ("gravity", "payload")
    friction = by_boxes = True

    def truth(self, scene: Scene) -> list[Any]:
        """Return the torques of a motion without acceleration."""
        return scene.torques(scene.values["qd"], scene.still)


class MassMatrix(CheckedQuantity):
    """M(q): column j holds the torques of a unit acceleration of joint j, without gravity."""

    name = "mass_matrix"
    inputs = ("q",)
    accepts = ("payload",)
    torques = False

    def outputs(self, robot: Robot) -> list[Output]:
        """Return the upper triangle, row by row."""
        n, turns = len(robot.joints), [joint.turns for joint in robot.joints]
        pairs = [(i, j) for i in range(n) for j in range(i, n)]
        labels = tuple(f"M{i + 1}_{j + 1}" for i, j in pairs)
        return [Output("mass", (n, n), labels, tuple(UNITS[turns[i] + turns[j]] for i, j in pairs))]

    def truth(self, scene: Scene) -> list[Any]:
        """Return the entries."""
        n = len(scene.still)
        units = [[scene.algebra.number(Fraction(k == j)) for k in range(n)] for j in range(n)]
        columns = [scene.torques(scene.still, unit, weightless=True) for unit in units]
        return [columns[j][i] for i in range(n) for j in range(i, n)]


class ComputedTorque(CheckedQuantity):
    """The torques of q̈ = q̈_desired + kv (q̇_desired − q̇) + kp (q_desired − q); angles differ the short way round."""

    name = "computed_torque"
    inputs: ClassVar[tuple[str, ...]] = ("q", "qd", "q_desired", "qd_desired", "qdd_desired")
    accepts = ("gravity", "payload")
    keys = ("gains",)
    friction = by_boxes = True

    def check(self, spec: Mapping[str, Any], robot: Robot) -> None:
        """Refuse gains that are no numbers."""
        _gains(spec, len(robot.joints))

    def differences(self, subject: Subject) -> dict[str, tuple[str, str]]:
        """Return the errors of the positions that turn."""
        turning = [k for k, word in enumerate(subject.arrays["q"], 1) if word.angle]
        return {f"q_error{k}": (f"q_desired{k}", f"q{k}") for k in turning}

    def truth(self, scene: Scene) -> list[Any]:
        """Return the torques of the acceleration that the law asks for."""
        return scene.torques(scene.values["qd"], _with_feedback(scene, scene.values["qdd_desired"]))


class PdGravity(ComputedTorque):
    """kp (q_desired − q) + kv (q̇_desired − q̇) + G(q)."""

    name = "pd_gravity"
    inputs = ("q", "qd", "q_desired", "qd_desired")
    friction = False

    def truth(self, scene: Scene) -> list[Any]:
        """Return the torques at rest, and the feedback."""
        return _with_feedback(scene, scene.torques(scene.still, scene.still))


def _with_feedback(scene: Scene, forward: list[Any]) -> list[Any]:
    """Return what is fed forward, and kv (q̇_desired − q̇) + kp (q_desired − q) of every joint."""
    words, values, total = scene.subject.arrays["q"], scene.values, list[Any]()
    for j, ((kp, kv), word) in enumerate(zip(_gains(scene.subject.spec, len(words)), words, strict=True)):
        if word.angle:
            error = scene.inputs[f"q_error{j + 1}"].scaled(word.sign * Fraction(word.lsb))
        else:
            error = values["q_desired"][j] - values["q"][j]
        speed = values["qd_desired"][j] - values["qd"][j]
        total.append(forward[j] + speed.scaled(kv) + error.scaled(kp))
    return total


def _gains(spec: Mapping[str, Any], n: int) -> list[tuple[Fraction, Fraction]]:
    """Return kp and kv of every joint."""
    given = object_of(spec.get("gains"), ("kp", "kv"), "spec, gains")
    rows = [list_of(each, "spec, gains", n) if type(each) is list else [each] * n for each in given.values()]
    kp, kv = ([Fraction(real(value, "spec, gains")) for value in row] for row in rows)
    return list(zip(kp, kv, strict=True))


RECORDS = (Torque(), Gravity(), Bias(), MassMatrix(), ComputedTorque(), PdGravity())

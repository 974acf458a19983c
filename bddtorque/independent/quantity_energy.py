"""Kinetic and potential energy."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .dynamics import combined, frames_of, inner, kinetic_energy, tip_frame
from .ranges import Span
from .robots import ZERO, Matrix, Robot
from .subjects import ANY, CheckedQuantity, Output, Scene, Subject


class Energy(CheckedQuantity):
    """½ Σ (m·v² + w·K·w) over all bodies, rotors included; and −Σ m g·c, c in the axes of the base."""

    name = "energy"
    inputs = ("q", "qd")
    accepts = ("gravity", "payload")
    torques = False
    compared_with = "the energies of all bodies"

    def outputs(self, robot: Robot) -> list[Output]:
        """Return two numbers."""
        kinetic, potential = "kinetic", "potential"
        return [Output(kinetic, (), (kinetic,), ("J",), (kinetic,)), Output(potential, (), (potential,), ("J",))]

    def truth(self, scene: Scene) -> list[Any]:
        """Return both energies."""
        kinetic = kinetic_energy(scene.robot, scene.state(scene.values["qd"], scene.still), scene.algebra, scene.world)
        return [kinetic, self._potential(scene)]

    def _potential(self, scene: Scene) -> Any:
        robot, load, algebra = scene.robot, scene.world.load, scene.algebra
        frames = frames_of(robot, scene.at_rest, algebra, range(len(robot.members)))
        total = algebra.number(ZERO)
        for i, member in enumerate(robot.members):
            place, columns = frames[i]
            for body in member.bodies:
                away = combined(columns, [algebra.number(each) for each in body.centre])
                total = total + inner(scene.world.gravity, place).scaled(body.mass)
                total = total + inner(scene.world.gravity, away).scaled(body.mass)
        if load is not None:
            place, columns = tip_frame(robot, frames, algebra)
            total = total + inner(scene.world.gravity, place) * load.mass
            total = total + inner(scene.world.gravity, combined(columns, load.moments))
        return -total

    def degrees(self, subject: Subject) -> list[int] | None:
        """Return nothing: velocities of bodies are of the first degree in each position as they are computed."""
        return None

    def known_span(self, subject: Subject, place: int) -> Span:
        """Return that kinetic energy is not negative: a sum of squares, where masses and inertias are not negative.

        The words of a payload may be those of no body, so that nothing is known with them.
        """
        robot = subject.robot
        bodies = [body for member in robot.members for body in member.bodies]
        sound = all(body.mass >= 0 and is_semidefinite(body.inertia) for body in bodies)
        sound = sound and all(member.joint.rotor >= 0 for member in robot.members)
        alone = not any(each.at_tip for each in subject.run_time)
        return (0.0, ANY[1]) if place == 0 and sound and alone else ANY


def is_semidefinite(matrix: Matrix) -> bool:
    """Tell if a symmetric matrix has no negative eigenvalue: none of its principal minors is negative."""
    (a, d, e), (_, b, f), (_, _, c) = matrix
    pairs = (a * b - d * d, a * c - e * e, b * c - f * f)
    whole: Fraction = a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e)
    return min(a, b, c, *pairs, whole) >= 0


RECORDS = (Energy(),)

"""Input of Lathrop's machines: the constants of an arm in frames at the far ends of its links, and one state of it.

Lathrop uses standard Denavit-Hartenberg frames: joint i moves about or along z of frame O_{i-1}, and O_i is fixed to
link i at its far end. Only that is needed, not the common normals: O_{i-1} may be *any* frame of link i-1 whose z is
the axis of joint i. A `Robot` has exactly such frames (each joint's own before it moves), so every arm can be given to
the machines as it is. With E_i and t_i the fixed rotation and translation of joint i on link i-1 (i = n+1: the tip),

    A_i  = Rz(q_i) E_{i+1}                       (rotational)       A_i = E_{i+1}   (translational)
    p*_i = E_{i+1}ᵀ (t_{i+1} [+ z q_i])          from O_{i-1} to O_i, in the axes of O_i
    r*_i = E_{i+1}ᵀ (c_i − t_{i+1})              centre of mass from O_i
    zeta_i = E_{i+1}ᵀ z                          the joint axis, in the axes of O_i: constant

In DH frames E_{i+1} = Rx(alpha_i) and t_{i+1} = [a_i, 0, d_i], so that p*_i = [a_i, d_i sin alpha_i, d_i cos alpha_i].
The base is a link with number 0: A_0 = E_1, p*_0 = E_1ᵀ t_1.

Numbers may be floats, arrays (one entry a state) or traced: only +, − and · are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bddtorque.robots.robot import Robot
from machines.serial_arm import require_serial
from machines.vectors import (
    ZERO,
    Rows,
    Triple,
    add,
    float_rows,
    float_triple,
    matrix_times,
    transposed,
)


class BaseMotion(NamedTuple):
    """Motion of the base, in base axes: rate (rad/s), its derivative, and acceleration minus gravity (m/s²)."""

    rate: Triple = ZERO
    rate_change: Triple = ZERO
    acceleration: Triple = ZERO


class TipWrench(NamedTuple):
    """Wrench of the hand on the environment: force (N) and moment about the tip (N·m), in the axes of the tip."""

    force: Triple = ZERO
    moment: Triple = ZERO


@dataclass(frozen=True)
class DistalArm:
    """The constants of an arm of n joints, numbers of any type."""

    revolute: tuple[bool, ...]  # whether joint i turns
    fixed_rotation: tuple[Rows, ...]  # n + 1 of them: E_1 .. E_{n+1}, the last being the tip's
    fixed_translation: tuple[Triple, ...]  # n + 1 of them: t_1 .. t_{n+1} in m, in the axes of the link they belong to
    # mass, centre, inertia: of link i: kg, r*_i in m, and J_i about the centre of mass in kg·m², in the axes of O_i
    mass: tuple[Any, ...]
    centre: tuple[Triple, ...]
    inertia: tuple[Rows, ...]
    rotor: tuple[Any, ...]  # inertia of the drives seen at the joints, kg·m² or kg; no part of Lathrop's equations
    gravity: Triple  # of free fall, m/s² in base axes

    @property
    def joints(self) -> int:
        """The number of joints, n."""
        return len(self.revolute)

    @property
    def axis(self) -> tuple[Triple, ...]:
        """The constant zeta_1 .. zeta_n: joint axes in the axes of O_i."""
        return tuple(rotation[2] for rotation in self.fixed_rotation[1:])

    def resting_base(self) -> BaseMotion:
        """Return a base at rest: gravity enters as its upward acceleration, pdd_0 = −g."""
        return BaseMotion(acceleration=(-self.gravity[0], -self.gravity[1], -self.gravity[2]))


@dataclass(frozen=True)
class ArmState:
    """One state of an arm (or many, where numbers are arrays): geometry that depends on q, and the motion."""

    arm: DistalArm
    rotation: tuple[Rows, ...]  # A_0 .. A_n, from the axes of O_i to those of O_{i-1}
    arm_vector: tuple[Triple, ...]  # p*_0 .. p*_n
    centre_arm: tuple[Triple, ...]  # s*_0 .. s*_n, from O_{i-1} to the centre of mass of link i (of the base: p*_0)
    # velocity, acceleration: q̇_i and q̈_i, n each
    velocity: tuple[Any, ...]
    acceleration: tuple[Any, ...]
    # base, tip: what happens at the two ends
    base: BaseMotion
    tip: TipWrench


def distal_arm(robot: Robot) -> DistalArm:
    """Return the constants of a robot, its payload joined to the last link."""
    require_serial(robot, "this machine")
    joints, bodies = robot.joints, robot.bodies
    rotations = [np.array(joint.rotation) for joint in joints] + [np.array(robot.tip.rotation)]
    translations = [np.array(joint.translation) for joint in joints] + [np.array(robot.tip.translation)]
    beyond = list(zip(bodies, rotations[1:], translations[1:], strict=True))
    return DistalArm(
        tuple(joint.kind.turns for joint in joints),
        tuple(float_rows(E) for E in rotations),
        tuple(float_triple(t) for t in translations),
        tuple(body.mass for body in bodies),
        tuple(float_triple(E.T @ (np.array(body.centre_of_mass) - t)) for body, E, t in beyond),
        tuple(float_rows(E.T @ np.array(body.inertia) @ E) for body, E, _ in beyond),
        tuple(joint.rotor_inertia for joint in joints),
        float_triple(np.array(robot.gravity)),
    )


def arm_state(
    arm: DistalArm,
    sine: Sequence[Any],
    cosine: Sequence[Any],
    q: Sequence[Any],
    qd: Sequence[Any],
    qdd: Sequence[Any],
    base: BaseMotion | None = None,
    tip: TipWrench | None = None,
) -> ArmState:
    """Return a state; `sine` and `cosine` are those of q (not read for sliding joints). The base rests if not given."""
    rotation = [arm.fixed_rotation[0]]
    arm_vector = [matrix_times(transposed(arm.fixed_rotation[0]), arm.fixed_translation[0])]
    for i, turns in enumerate(arm.revolute):
        E, t = arm.fixed_rotation[i + 1], arm.fixed_translation[i + 1]
        rotation.append(_turned(E, sine[i], cosine[i]) if turns else E)
        arm_vector.append(matrix_times(transposed(E), t if turns else (t[0], t[1], t[2] + q[i])))
    centre_arm = [arm_vector[0], *map(add, arm_vector[1:], arm.centre)]
    return ArmState(
        arm,
        tuple(rotation),
        tuple(arm_vector),
        tuple(centre_arm),
        tuple(qd),
        tuple(qdd),
        base or arm.resting_base(),
        tip or TipWrench(),
    )


def _turned(E: Rows, s: Any, c: Any) -> Rows:
    """Return Rz(q) E."""
    upper = tuple(c * E[0][k] - s * E[1][k] for k in range(3))
    lower = tuple(s * E[0][k] + c * E[1][k] for k in range(3))
    return (upper[0], upper[1], upper[2]), (lower[0], lower[1], lower[2]), E[2]

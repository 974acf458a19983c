"""Knowledge of link j in the processors of row j before anything moves (FIJ section III.C).

FIJ's frame j + 1 is fixed to link j and has the axis of joint j + 1 for its z; frame n + 1 is the tip. With
Denavit-Hartenberg parameters R(j+1, j) = Rx(alpha)ᵀ Rz(theta)ᵀ takes 4 multiplications. Any constant frame between two
joints will do: nothing in the equations asks for more than that the joint turns about z, and every arm of revolute
joints is taken as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.robots.frames import times
from bddtorque.robots.robot import Robot
from machines.serial_arm import serial_chain_of
from machines.vectors import Rows, Triple, float_rows, float_triple


@dataclass(frozen=True)
class LinkConstants:
    """Link j in the axes of frame j + 1, moments about O_j."""

    rotation: Rows  # E, frame j + 1 in the frame that turns with joint j, so that R(j+1, j) = Eᵀ Rz(q_j)ᵀ
    position: Triple  # P(j+1, j), from O_j to O_{j+1}, m
    first_moment: Triple  # H(j), kg·m
    second_moment: Rows  # K(j), kg·m²
    mass: float  # M(j), kg
    rotor: float  # inertia of the drive seen at joint j, kg·m²; no part of FIJ, added to a_jj


@dataclass(frozen=True)
class ArmConstants:
    """All links, and what the base feels instead of gravity: -g in the axes of frame 1, m/s²."""

    links: tuple[LinkConstants, ...]
    base_acceleration: Triple


def arm_constants(robot: Robot) -> ArmConstants:
    """Return the constants of an arm of revolute joints; its tip frame becomes frame n + 1, a payload joins link n."""
    for joint in robot.joints:
        if not joint.kind.turns:
            raise BddTorqueError(
                f"triangular array, robot '{robot.name}': every joint must be revolute, but '{joint.name}' is prismatic"
            )
    chain, n = serial_chain_of(robot), robot.degrees_of_freedom
    links = []
    for j in range(n):
        last = j == n - 1
        E = np.array(robot.tip.rotation) if last else chain.rotation[j + 1]
        p = np.array(robot.tip.translation) if last else chain.translation[j + 1]
        P, h = chain.body[j][:3, :3], chain.body[j][:3, 3]
        K = np.trace(P) * np.eye(3) - P  # the pseudo-inertia holds P = tr(K)/2 − K
        links.append(
            LinkConstants(
                float_rows(E),
                float_triple(times(E.T, p)),
                float_triple(times(E.T, h)),
                float_rows(times(times(E.T, K), E)),
                float(chain.body[j][3, 3]),
                float(chain.rotor[j]),
            )
        )
    return ArmConstants(tuple(links), float_triple(times(chain.rotation[0].T, chain.base_acceleration)))


def joint_rotation(E: Rows, sine: Any, cosine: Any) -> Rows:
    """Return R(j+1, j) = Eᵀ Rz(q_j)ᵀ (FIJ eq. 16): 4 multiplications where E is a twist about x."""
    columns = zip(*E, strict=True)  # of E: the rows of Eᵀ
    first, second, third = ((x * cosine - y * sine, x * sine + y * cosine, z) for x, y, z in columns)
    return first, second, third

"""What the processors of row j know of link j before anything moves (FIJ section III.C).

FIJ's frame j + 1 is fixed to link j and has the axis of joint j + 1 for its z; frame n + 1 is the tip. With
Denavit-Hartenberg parameters R(j+1, j) = Rx(alpha)ᵀ Rz(theta)ᵀ takes 4 multiplications. Any constant frame between two
joints will do: nothing in the equations asks for more than that the joint turns about z, and every arm of revolute
joints is taken as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.chain import serial_chain_of
from bddtorque.robots.frames import times
from bddtorque.robots.robot import Robot

Triple = tuple[Any, Any, Any]
Square = tuple[Triple, Triple, Triple]
"""A 3×3 matrix by its rows."""

UNIT: Square = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
ZERO: Triple = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class LinkConstants:
    """Link j in the axes of frame j + 1, moments about O_j."""

    rotation: Square  # E, frame j + 1 in the frame that turns with joint j, so that R(j+1, j) = Eᵀ Rz(q_j)ᵀ
    position: Triple  # P(j+1, j), from O_j to O_{j+1}, m
    first_moment: Triple  # H(j), kg·m
    second_moment: Square  # K(j), kg·m²
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
        if not joint.revolute:
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
                square(E),
                triple(times(E.T, p)),
                triple(times(E.T, h)),
                square(times(times(E.T, K), E)),
                float(chain.body[j][3, 3]),
                float(chain.rotor[j]),
            )
        )
    return ArmConstants(tuple(links), triple(times(chain.rotation[0].T, chain.base_acceleration)))


def triple(vector: npt.NDArray[Any]) -> Triple:
    """Return three numbers as plain floats."""
    x, y, z = (float(each) for each in vector)
    return x, y, z


def square(matrix: npt.NDArray[Any]) -> Square:
    """Return a 3×3 matrix as plain floats, by rows."""
    first, second, third = (triple(row) for row in matrix)
    return first, second, third


def joint_rotation(E: Square, sine: Any, cosine: Any) -> Square:
    """Return R(j+1, j) = Eᵀ Rz(q_j)ᵀ (FIJ eq. 16): 4 multiplications where E is a twist about x."""
    columns = zip(*E, strict=True)  # of E: the rows of Eᵀ
    first, second, third = ((x * cosine - y * sine, x * sine + y * cosine, z) for x, y, z in columns)
    return first, second, third


def product(A: Square, B: Square) -> Square:
    """Return A B, 27 multiplications and 18 additions."""
    x, y, z = transposed(B)
    first, second, third = ((dot(row, x), dot(row, y), dot(row, z)) for row in A)
    return first, second, third


def transposed(A: Square) -> Square:
    """Return Aᵀ."""
    first, second, third = zip(*A, strict=True)
    return first, second, third


def dot(u: Any, v: Any) -> Any:
    """Return u · v."""
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


def scaled(factor: Any, v: Triple) -> Triple:
    """Return factor · v."""
    return factor * v[0], factor * v[1], factor * v[2]

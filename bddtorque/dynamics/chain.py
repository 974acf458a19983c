"""`Chain`: the numbers of a robot as arrays, in the form the recursion reads.

A body is its 4×4 *pseudo-inertia* about the origin of the link frame,

    Σ = ∫ [r; 1][r; 1]ᵀ dm = [[P, h], [hᵀ, m]]

with mass m, first moment h = m·c and second moment P = ½ tr(K)·I − K, K being the inertia about the origin. Moving a
body to another frame is Σ → T Σ Tᵀ for the homogeneous transform T, and joining bodies is adding: that makes payloads,
folding and regrouping one line each. It is linear in the parameters of the robot, as the torques are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bddtorque.base.plain import Matrix, Vector
from bddtorque.robots.frames import times
from bddtorque.robots.parts import Link
from bddtorque.robots.robot import Robot

Array = npt.NDArray[Any]  # of floats, or of traced numbers


class Chain(NamedTuple):
    """A robot as arrays over its k joints, driven and following; Numba reads it as it is.

    Attributes
    ----------
    turns
        (k,) bool: whether it turns, else it slides.
    rotation
        (k, 3, 3), orientation of joint frame i at q = 0 in the frame of the link that carries it.
    translation
        (k, 3), m.
    body
        (k, 4, 4), pseudo-inertia of link i about the origin of its frame: kg·m², kg·m, kg.
    rotor
        (k,), kg·m² or kg.
    base_acceleration
        (3,), minus gravity, m/s².
    parent
        (k,), which link carries joint i: below i, or -1 for the base.
    drive
        (k,), which of the n driven joints moves joint i.
    multiplier, offset
        (k,), the position of joint i is multiplier · q[drive] + offset.
    """

    turns: npt.NDArray[np.bool_]
    rotation: Array
    translation: Array
    body: Array
    rotor: Array
    base_acceleration: Array
    parent: npt.NDArray[np.int64]
    drive: npt.NDArray[np.int64]
    multiplier: Array
    offset: Array

    @property
    def driven(self) -> int:
        """The number of driven joints, n."""
        return int(self.drive.max()) + 1

    @property
    def angles(self) -> npt.NDArray[np.bool_]:
        """True if the position of each driven joint is an angle, (n,): something turns by it."""
        angles = np.zeros(self.driven, dtype=np.bool_)
        angles[self.drive[self.turns]] = True
        return angles

    @property
    def coupled(self) -> bool:
        """True if one position moves several joints, or they stand in another order than their drives."""
        return not np.array_equal(self.drive, np.arange(len(self.drive)))


def transform(rotation: Matrix | Array, translation: Vector | Array, dtype: Any = np.float64) -> Array:
    """Return the 4×4 homogeneous transform, of floats or of any other number type."""
    T = np.eye(4).astype(dtype)
    T[:3, :3] = rotation
    T[:3, 3] = translation
    return T


def pseudo_inertia(link: Link) -> npt.NDArray[np.float64]:
    """Return the 4×4 pseudo-inertia of a body about the origin of its frame."""
    K = link.inertia_about_origin
    body = np.zeros((4, 4))
    body[:3, :3] = np.trace(K) / 2 * np.eye(3) - (K + K.T) / 2
    body[:3, 3] = body[3, :3] = link.first_moment
    body[3, 3] = link.mass
    return body


def chain_of(robot: Robot) -> Chain:
    """Return the arrays of a robot, its payload joined to the link that carries the tip."""
    members = robot.members
    bodies = [pseudo_inertia(member.link) for member in members]
    if robot.payload is not None:
        T = transform(robot.tip.rotation, robot.tip.translation)
        place = robot.tip_member("a payload")
        bodies[place] = bodies[place] + times(times(T, pseudo_inertia(robot.payload)), T.T)
    return Chain(
        np.array([member.turns for member in members]),
        np.array([member.joint.rotation for member in members], dtype=np.float64),
        np.array([member.joint.translation for member in members], dtype=np.float64),
        np.array(bodies),
        np.array([member.joint.rotor_inertia for member in members], dtype=np.float64),
        -np.array(robot.gravity),
        np.array([member.parent for member in members], dtype=np.int64),
        np.array([member.drive for member in members], dtype=np.int64),
        np.array([member.multiplier for member in members], dtype=np.float64),
        np.array([member.offset for member in members], dtype=np.float64),
    )

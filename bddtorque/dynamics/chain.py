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
from bddtorque.robots.robot import Link, Robot

Array = npt.NDArray[Any]  # of floats, or of traced numbers


class Chain(NamedTuple):
    """A robot as arrays over its n joints; Numba reads it as it is.

    Attributes
    ----------
    revolute : (n,) bool
    rotation : (n, 3, 3), orientation of joint frame i at q = 0 in link frame i-1
    translation : (n, 3), m
    body : (n, 4, 4), pseudo-inertia of link i about the origin of its frame: kg·m², kg·m, kg
    rotor : (n,), kg·m² or kg
    base_acceleration : (3,), minus gravity, m/s²
    """

    revolute: npt.NDArray[np.bool_]
    rotation: Array
    translation: Array
    body: Array
    rotor: Array
    base_acceleration: Array


def transform(rotation: Matrix | Array, translation: Vector | Array) -> npt.NDArray[np.float64]:
    """Return the 4×4 homogeneous transform."""
    T = np.eye(4)
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
    """Return the arrays of a robot, its payload joined to the last link."""
    bodies = [pseudo_inertia(link) for link in robot.links]
    if robot.payload is not None:
        T = transform(robot.tip.rotation, robot.tip.translation)
        bodies[-1] = bodies[-1] + times(times(T, pseudo_inertia(robot.payload)), T.T)
    return Chain(
        np.array([joint.revolute for joint in robot.joints]),
        np.array([joint.rotation for joint in robot.joints], dtype=np.float64),
        np.array([joint.translation for joint in robot.joints], dtype=np.float64),
        np.array(bodies),
        np.array([joint.rotor_inertia for joint in robot.joints], dtype=np.float64),
        -np.array(robot.gravity),
    )

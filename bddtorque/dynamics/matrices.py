"""Quantities that follow from inverse dynamics: mass matrix, bias, gravity, forward dynamics; float64, in batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.batch import Floats, inverse_dynamics, like_given, states, torques
from bddtorque.dynamics.chain import Chain, chain_of
from bddtorque.robots.library import RobotLike, load_robot


def weightless(chain: Chain) -> Chain:
    """Return the chain without gravity."""
    return chain._replace(base_acceleration=np.zeros(3))


def mass_matrix(robot: RobotLike, q: Any) -> Floats:
    """Return the mass matrix J(q), rotor inertias included.

    Parameters
    ----------
    robot
        A `Robot`, or what `load_robot` takes.
    q
        Positions, rad or m, shape (n,) or (N, n).

    Returns
    -------
    array of float64
        Shape (n, n) or (N, n, n), kg·m² or kg.
    """
    robot = load_robot(robot)
    (rows,) = states(robot, q=q)
    count, n = rows.shape
    # row j is the torque of a unit acceleration of joint j without gravity
    units = torques(
        weightless(chain_of(robot)), np.repeat(rows, n, axis=0), np.zeros(n), np.tile(np.eye(n), (count, 1))
    )
    mass = units.reshape(count, n, n)
    mass = (mass + mass.transpose(0, 2, 1)) / 2  # symmetric to the last bit; rounding alone makes it differ
    return like_given(mass, q)


def bias(robot: RobotLike, q: Any, qd: Any) -> Floats:
    """Return the torques at zero acceleration: Coriolis, centripetal, gravity and friction.

    Parameters
    ----------
    robot
        A `Robot`, or what `load_robot` takes.
    q
        Positions, rad or m, shape (n,) or (N, n).
    qd
        Velocities, rad/s or m/s.

    Returns
    -------
    array of float64
        Torques, N·m or N, shape (n,) or (N, n).
    """
    robot = load_robot(robot)
    return inverse_dynamics(robot, q, qd, np.zeros(robot.degrees_of_freedom))


def gravity_torque(robot: RobotLike, q: Any) -> Floats:
    """Return the torques that hold the arm still, G(q).

    Parameters
    ----------
    robot
        A `Robot`, or what `load_robot` takes.
    q
        Positions, rad or m, shape (n,) or (N, n).

    Returns
    -------
    array of float64
        Torques, N·m or N, shape (n,) or (N, n).
    """
    robot = load_robot(robot)
    return bias(robot, q, np.zeros(robot.degrees_of_freedom))


def forward_dynamics(robot: RobotLike, q: Any, qd: Any, tau: Any) -> Floats:
    """Return the accelerations that torques cause: J⁻¹ (tau − bias).

    Parameters
    ----------
    robot
        A `Robot`, or what `load_robot` takes.
    q
        Positions, rad or m, shape (n,) or (N, n).
    qd
        Velocities, rad/s or m/s.
    tau
        Torques, N·m or N.

    Returns
    -------
    array of float64
        Accelerations, rad/s² or m/s², shape (n,) or (N, n).
    """
    robot = load_robot(robot)
    positions, velocities, torques = states(robot, q=q, qd=qd, tau=tau)
    drift = bias(robot, positions, velocities)
    mass = mass_matrix(robot, positions)
    try:
        accelerations = np.linalg.solve(mass, (torques - drift)[..., None])[..., 0].astype(np.float64)
    except np.linalg.LinAlgError:
        raise BddTorqueError(
            f"forward dynamics of robot '{robot.name}': the mass matrix is singular here; every joint must move some "
            "mass or rotor"
        ) from None
    return like_given(accelerations, q, qd, tau)

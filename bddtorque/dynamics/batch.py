"""Inverse dynamics of one state or of many, in float64."""

from __future__ import annotations

from typing import Any, SupportsFloat

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.chain import Chain, chain_of
from bddtorque.dynamics.coupling import drive_torques, member_motion, member_positions
from bddtorque.dynamics.newton_euler import WRENCH, torque_rows
from bddtorque.robots.library import RobotLike, load_robot
from bddtorque.robots.robot import Robot
from bddtorque.words.portable import sine_cosine

Floats = npt.NDArray[np.float64]


def states(robot: Robot, **named: Any) -> tuple[Floats, ...]:
    """Return the named arrays as finite, read-only float64 of one shape (N, n), or refuse with one line.

    Each may be (n,) or (N, n); one-row arrays are repeated to the length of the longest.
    """
    n = robot.degrees_of_freedom
    arrays: list[Floats] = []
    for name, given in named.items():
        array = _numbers(name, given)
        if array.ndim not in (1, 2) or array.shape[-1] != n:
            raise BddTorqueError(f"{name} must have shape ({n},) or (N, {n}) for '{robot.name}', got {array.shape}")
        if not np.isfinite(array).all():
            row, column = np.argwhere(~np.isfinite(np.atleast_2d(array)))[0]
            value = np.atleast_2d(array)[row, column]
            raise BddTorqueError(
                f"{name} must be finite, got {value} at state {row} (from 0), "
                f"joint {column + 1} ('{robot.joint_names[column]}')"
            )
        arrays.append(np.atleast_2d(array))
    rows = {len(array) for array in arrays} - {1}
    if len(rows) > 1:
        lengths = ", ".join(f"{name} {len(array)}" for name, array in zip(named, arrays, strict=True))
        raise BddTorqueError(f"states must have the same number of rows, got {lengths}")
    shape = (rows.pop() if rows else 1, n)
    return tuple(np.broadcast_to(array, shape) for array in arrays)


def _numbers(name: str, given: Any) -> Floats:
    """Return what was given as float64; refuse what NumPy would turn into numbers without a word (text, complex)."""
    try:
        array = np.asarray(given)
    except ValueError:
        raise BddTorqueError(f"{name} must have rows of one length, got a ragged {type(given).__name__}") from None
    given_type = {"U": "text", "S": "text", "O": "objects"}.get(array.dtype.kind, array.dtype.name)
    if array.dtype.kind == "O" and all(isinstance(item, SupportsFloat) for item in array.flat):  # fractions, decimals
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            given_type = f"objects ({error})"
    if array.dtype.kind not in "iuf":
        raise BddTorqueError(f"{name} must be an array of real numbers, got {given_type}")
    return array.astype(np.float64, copy=False)


def like_given(result: Floats, *given: Any) -> Floats:
    """Drop the row axis of a batch result again where every input was a single state."""
    return result if any(np.ndim(array) == 2 for array in given) else result[0]


def torques(chain: Chain, q: Floats, qd: Floats, qdd: Floats, turned: tuple[Floats, Floats] | None = None) -> Floats:
    """Return the torques of a chain at positions (N, n); `qd` and `qdd` may also be one row for all.

    `turned` gives sines and cosines of q (N, n) to be used instead of NumPy's, whose last bit may differ by machine.
    """
    if chain.coupled:
        q, qd, qdd = member_positions(chain, q), member_motion(chain, qd), member_motion(chain, qdd)
        turned = None if turned is None else sine_cosine(q)
    sine, cosine = turned or (np.sin(q), np.cos(q))
    rows = [_frozen(np.broadcast_to(array, q.shape)) for array in (sine, cosine, q, qd, qdd)]
    tau = np.empty(q.shape)
    torque_rows(chain, rows[0], rows[1], rows[2], rows[3], rows[4], tau, np.empty((q.shape[1], WRENCH)))
    return drive_torques(chain, tau)


def _frozen(array: Floats) -> Floats:
    """Return the rows in memory order and read-only, always: Numba compiles anew for every mixture of the two."""
    rows = np.ascontiguousarray(array).view()
    rows.flags.writeable = False
    return rows


def inverse_dynamics(robot: RobotLike, q: Any, qd: Any, qdd: Any) -> Floats:
    """Return the joint torques for accelerations `qdd` at positions `q` and velocities `qd`, friction included.

    This is float64 Newton-Euler, the reference that `sweep` compares with. Arguments have shape (n,) for one state or
    (N, n) for many; a single row is used for all states.

    Parameters
    ----------
    robot
        A `Robot`, or what `load_robot` takes.
    q
        Positions, rad or m.
    qd
        Velocities, rad/s or m/s.
    qdd
        Accelerations, rad/s² or m/s².

    Returns
    -------
    array of float64
        Torques, N·m or N, shape (n,) or (N, n).
    """
    robot = load_robot(robot)
    positions, velocities, accelerations = states(robot, q=q, qd=qd, qdd=qdd)
    tau = torques(chain_of(robot), positions, velocities, accelerations)
    return like_given(tau + friction(robot, velocities) if robot.has_friction else tau, q, qd, qdd)


def friction(robot: Robot, qd: Floats) -> Floats:
    """Return the friction of every joint, N·m or N, at velocities (N, n), rad/s or m/s."""
    columns = [
        np.zeros(len(qd)) if joint.friction is None else joint.friction(qd[:, j])
        for j, joint in enumerate(robot.joints)
    ]
    return np.stack(columns, axis=1)

"""From the driven joints of a robot to all its joints and back: followers move with the joints that lead them."""

from __future__ import annotations

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.chain import Array, Chain
from bddtorque.robots.robot import Robot


def member_positions(chain: Chain, q: Array) -> Array:
    """Return the positions (..., k) of all joints from those of the driven ones, (..., n)."""
    return q[..., chain.drive] * chain.multiplier + chain.offset if chain.coupled else q


def member_motion(chain: Chain, rate: Array) -> Array:
    """Return velocities or accelerations (..., k) of all joints from those of the driven ones, (..., n)."""
    return rate[..., chain.drive] * chain.multiplier if chain.coupled else rate


def drive_torques(chain: Chain, tau: Array) -> Array:
    """Return the torques (..., n) of the drives from those of all joints, (..., k): followers load their leaders."""
    if not chain.coupled:
        return tau
    drives = np.zeros((chain.driven, *tau.shape[:-1]), dtype=tau.dtype)
    for drive, multiplier, own in zip(chain.drive.tolist(), chain.multiplier.tolist(), tau.T, strict=True):
        drives[drive] = drives[drive] + own * multiplier
    return drives.T


def refuse_uncompilable(robot: Robot) -> None:
    """Refuse followers whose angle is no whole multiple of their leader's, since words of angles wrap."""
    for member in robot.members:
        leader = robot.joints[member.drive]
        where = f"robot '{robot.name}', joint '{member.joint.name}' follows '{leader.name}'"
        if member.joint.kind != leader.kind:
            raise BddTorqueError(f"{where}: both must turn or both slide to be compiled; lock it")
        if member.joint.revolute and member.multiplier != int(member.multiplier):
            raise BddTorqueError(
                f"{where} with multiplier {member.multiplier:g}: words of positions wrap after a turn, so the "
                "multiplier must be an integer; lock it"
            )

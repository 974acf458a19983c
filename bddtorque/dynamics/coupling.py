"""From the driven joints of a robot to all its joints and back: followers move with the joints that lead them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.chain import Array, Chain
from bddtorque.robots.robot import Robot
from bddtorque.words.formats import Format


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
    """Refuse followers that turn while their leader slides, or the other way round."""
    for member in robot.members:
        leader = robot.joints[member.drive]
        if member.joint.kind != leader.kind:
            where = f"robot '{robot.name}', joint '{member.joint.name}' follows '{leader.name}'"
            raise BddTorqueError(f"{where}: both must turn or both slide to be compiled; lock it")


def refuse_ambiguous_turns(robot: Robot, positions: Sequence[Format]) -> None:
    """Refuse followers by a fraction of an angle whose turn is not known, since words of angles wrap after a turn.

    The word of the leader is taken for the position within half a turn of its offset, and so its limits must be there.
    """
    for member in robot.members:
        word, leader = positions[member.drive], robot.joints[member.drive]
        if not member.joint.revolute or member.multiplier == int(member.multiplier):
            continue
        if -math.pi <= word.low and word.high < (word.highest + 0.5) * word.lsb:
            continue
        ends = sorted(word.value(end) for end in (word.low / word.lsb, word.high / word.lsb))
        known = "no limits" if math.isinf(word.high - word.low) else f"{ends[0]:.6g} to {ends[1]:.6g} rad"
        low, high = word.span
        raise BddTorqueError(
            f"robot '{robot.name}', joint '{member.joint.name}' follows '{leader.name}' with multiplier "
            f"{member.multiplier:g}: words of '{leader.name}' hold one turn, {low:.6g} to {high:.6g} rad, and its "
            f"position must stay within it, got {known}: give position, or an offset in the middle of its range"
        )

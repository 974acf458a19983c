"""From the driven joints of a robot to all that turns and slides, and back: followers move with those that lead them.

What slides while its leader turns, as the nut of a screw does, reads the leader's angle as a number. That number is a
word of its own (`angle_words`), equal to the leader's: its sine needs no number, and its value no sine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.chain import Array, Chain, chain_of
from bddtorque.dynamics.tracer import Tracer, traced_inputs
from bddtorque.robots.robot import Robot
from bddtorque.words.argument import Argument
from bddtorque.words.formats import Format
from bddtorque.words.interface import Derived, WordArray


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
    joints = np.moveaxis(tau, -1, 0)
    for drive, multiplier, own in zip(chain.drive.tolist(), chain.multiplier.tolist(), joints, strict=True):
        drives[drive] = drives[drive] + own * multiplier
    return np.moveaxis(drives, 0, -1)


def angle_name(joint: int) -> str:
    """Return the name of the angle of a joint, counted from 1, as a number that something slides by."""
    return f"q_angle{joint}"


def sliding_drives(chain: Chain) -> list[int]:
    """Return the driven joints, counted from 0, by whose angle something slides."""
    slides = set(chain.drive[~chain.turns & (chain.multiplier != 0)].tolist())
    return sorted(slides & set(np.flatnonzero(chain.angles).tolist()))


def angle_words(robot: Robot, positions: WordArray) -> tuple[Derived, ...]:
    """Return the angles that something slides by, as numbers: the joint's own words, which hold one turn."""
    made = []
    for j in sliding_drives(chain_of(robot)) if robot.coupled else ():
        word = positions[j]
        argument = Argument("word", word.bits, word.sign * Fraction(word.lsb), Fraction(word.offset))
        made.append(Derived(angle_name(j + 1), ((positions.word_names[j], 1),), argument))
    return tuple(made)


def traced_positions(chain: Chain, tracer: Tracer) -> Array:
    """Return what moves each joint under trace, (k,): the input of its drive, or its angle as a number."""
    inputs = traced_inputs(tracer, "q", chain.driven)
    angles, moved = chain.angles, np.empty(len(chain.drive), dtype=object)
    for i, (drive, turns) in enumerate(zip(chain.drive.tolist(), chain.turns.tolist(), strict=True)):
        moved[i] = tracer.input(angle_name(drive + 1)) if angles[drive] and not turns else inputs[drive]
    return moved


def refuse_uncompilable(robot: Robot) -> None:
    """Refuse followers that turn while their leader slides."""
    for member in robot.members:
        leader = robot.joints[member.drive]
        if member.turns and not leader.kind.turns:
            where = f"robot '{robot.name}', joint '{member.joint.name}' follows '{leader.name}'"
            raise BddTorqueError(f"{where}: it must slide as its leader does to be compiled; lock it")


def refuse_ambiguous_turns(robot: Robot, positions: Sequence[Format]) -> None:
    """Refuse what slides by an angle, or turns by a fraction of it, unless its turn is known: words of angles wrap.

    The word of the leader is taken for the position within half a turn of its offset, and so its limits must be there.
    """
    for member in robot.members:
        word, leader = positions[member.drive], robot.joints[member.drive]
        if not leader.kind.turns or member.multiplier == (int(member.multiplier) if member.turns else 0.0):
            continue
        if -math.pi <= word.low and word.high < (word.highest + 0.5) * word.lsb:
            continue
        ends = sorted(word.value(end) for end in (word.low / word.lsb, word.high / word.lsb))
        known = "no limits" if math.isinf(word.high - word.low) else f"{ends[0]:.6g} to {ends[1]:.6g} rad"
        low, high = word.span
        moves = f"joint '{member.joint.name}' follows '{leader.name}' with multiplier {member.multiplier:g}"
        if leader.kind.one_turn:
            moves = f"{leader.kind} joint '{leader.name}'"
        raise BddTorqueError(
            f"robot '{robot.name}', {moves}: words of '{leader.name}' hold one turn, {low:.6g} to {high:.6g} rad, and "
            f"its position must stay within it, got {known}: give position, or an offset in the middle of its range"
        )

"""Frames of links, and pose and Jacobian of the tip, in float64: what kinematics is compared with."""

from __future__ import annotations

import math

import numpy as np

from bddtorque.dynamics.batch import Floats
from bddtorque.dynamics.chain import Chain, chain_of
from bddtorque.dynamics.coupling import member_positions
from bddtorque.robots.robot import Robot
from bddtorque.words.bounded import ROUND_UP
from bddtorque.words.portable import sine_cosine


def largest_entry(robot: Robot) -> float:
    """Return a limit of the entries of any product of the first of the rotations on the way to the tip.

    Rotations are orthonormal up to rounding. One that shortens vectors does not shorten the axes before it.
    """
    largest = 1.0
    members = robot.members
    for rotation in (*(members[i].joint.rotation for i in robot.tip_path), robot.tip.rotation):
        R = np.array(rotation)
        largest *= max(1.0, math.sqrt(float(np.abs(R.T @ R).sum(axis=1).max()))) * ROUND_UP
    return largest


def link_frames(robot: Robot, q: Floats) -> list[tuple[Floats, Floats]]:
    """Return the origin (N, 3) and the rotation (N, 3, 3) of the frame of each link, in base axes."""
    chain: Chain = chain_of(robot)
    q = member_positions(chain, q)
    sine, cosine = sine_cosine(q)
    base = np.zeros((len(q), 3)), np.tile(np.eye(3), (len(q), 1, 1))
    frames: list[tuple[Floats, Floats]] = []
    for i, carrier in enumerate(chain.parent.tolist()):
        p, R = base if carrier < 0 else frames[carrier]
        p = p + R @ chain.translation[i]
        R = R @ chain.rotation[i]
        if chain.turns[i]:
            x, y = R[:, :, 0].copy(), R[:, :, 1].copy()
            s, c = sine[:, i : i + 1], cosine[:, i : i + 1]
            R[:, :, 0], R[:, :, 1] = x * c + y * s, y * c - x * s
        else:
            p = p + R[:, :, 2] * q[:, i : i + 1]
        frames.append((p, R))
    return frames


def tip_pose(robot: Robot, q: Floats) -> tuple[Floats, Floats, list[tuple[Floats, Floats]]]:
    """Return position (N, 3) and rotation (N, 3, 3) of the tip, and place and axis of the joints up to it.

    All in base axes.
    """
    frames = link_frames(robot, q)
    joints = [(frames[i][0], frames[i][1][:, :, 2]) for i in robot.tip_path]
    p, R = frames[robot.tip_path[-1]]
    return p + R @ np.array(robot.tip.translation), R @ np.array(robot.tip.rotation), joints


def tip_jacobian(robot: Robot, q: Floats) -> Floats:
    """Return the Jacobian (N, 6, n) of the tip: its velocity, then its angular velocity, in base axes."""
    tip, _, joints = tip_pose(robot, q)
    jacobian, members = np.zeros((len(q), 6, robot.degrees_of_freedom)), robot.members
    for i, (place, axis) in zip(robot.tip_path, joints, strict=True):
        member = members[i]
        turns = member.turns
        moved = np.cross(axis, tip - place) if turns else axis
        own = np.concatenate([moved, axis if turns else np.zeros_like(axis)], axis=1)
        jacobian[:, :, member.drive] += member.multiplier * own
    return jacobian

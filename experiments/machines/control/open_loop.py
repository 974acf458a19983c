"""Torques with old data along a prescribed motion: how far they are from the exact ones, per joint.

Nothing is controlled here: the motion is given, the machine follows it sample by sample, and its torques are compared
with those of the serial recursion at the same samples. Binder and Herzog, and Vuskovic, judged their methods so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bddtorque.robots.robot import Robot
from machines.hamilton.hamilton_equations import HAMILTON
from machines.hamilton.speculation_equations import Recursion
from machines.hamilton.speculation_machine import SpeculativeMachine
from machines.hamilton.speculation_methods import SERIAL, Method, iterations_to_exact
from machines.hamilton.speculation_program import Floats

MIN_LEFT_OUT = 8
"""Samples at the beginning that are never compared."""


@dataclass(frozen=True)
class Motion:
    """Samples of a motion: positions, rates, accelerations (K, n) at intervals of `period` s."""

    period: float
    q: Floats
    qd: Floats
    qdd: Floats


def quintic(start: Any, end: Any, duration: float, period: float) -> Motion:
    """Return the polynomial of fifth degree from rest at `start` to rest at `end` (n,) within `duration` s."""
    q0, way = np.asarray(start, dtype=np.float64), np.subtract(end, start).astype(np.float64)
    s = (np.arange(round(duration / period) + 1) * (period / duration))[:, None]
    return Motion(
        period,
        q0 + way * (10 * s**3 - 15 * s**4 + 6 * s**5),
        way * (30 * s**2 - 60 * s**3 + 30 * s**4) / duration,
        way * (60 * s - 180 * s**2 + 120 * s**3) / duration**2,
    )


@dataclass(frozen=True)
class TorqueErrors:
    """Torques of a method along a motion beside the exact ones, both (K, n), N·m or N.

    The first `left_out` samples are not compared: until then the store still holds what was before the motion.
    """

    tau: Floats
    exact: Floats
    left_out: int

    @property
    def largest(self) -> Floats:
        """The largest error of each joint after the first samples, (n,)."""
        largest: Floats = np.abs(self.tau - self.exact)[self.left_out :].max(axis=0)
        return largest


def torque_errors(robot: Robot, method: Method, motion: Motion, recursion: Recursion = HAMILTON) -> TorqueErrors:
    """Return the torques of a method along a motion; the store starts with the serial values of the first sample."""
    machine, serial = SpeculativeMachine(robot, method, recursion), SpeculativeMachine(robot, SERIAL, recursion)
    machine.start(*(np.repeat(rows[:1], 3, axis=0) for rows in (motion.q, motion.qd, motion.qdd)))
    filled = iterations_to_exact(recursion, method, [joint.kind.name for joint in robot.joints])
    state = motion.q, motion.qd, motion.qdd
    return TorqueErrors(machine.step(*state), serial.step(*state), max(MIN_LEFT_OUT, filled))

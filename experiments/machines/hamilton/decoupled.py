"""Vuskovic's decoupled recursion: one processor a link, each going round at its own speed, none waiting for another.

A processor takes the joint data and its neighbours' latest published values when its round begins, and publishes its
own when the round ends. With rounds of one length that is Binder and Herzog's zero-order prediction; with rounds of
different lengths the ages of what is read vary, and reach two rounds where one processor just misses the other.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.robots.robot import Robot
from machines.hamilton.hamilton_equations import HAMILTON
from machines.hamilton.speculation_equations import Recursion
from machines.hamilton.speculation_machine import SpeculativeMachine, compute, read_torques, set_motion
from machines.hamilton.speculation_methods import BINDER_HERZOG, SERIAL, Reading
from machines.hamilton.speculation_program import Floats

MotionAt = Callable[[float], tuple[Floats, Floats, Floats]]
"""Positions, rates and accelerations (n,) at a time in s."""

_PUBLISH, _BEGIN = 0, 1  # what ends at a time is published before what begins at that time reads


@dataclass(frozen=True)
class Rounds:
    """The rounds of one processor: begin of each (K,), s; its torque and the exact one at that time (K,), N·m or N."""

    time: Floats
    tau: Floats
    exact: Floats

    def largest_error(self, after: float) -> float:
        """Return the largest error of rounds that begin at `after` (s) or later."""
        return float(np.abs(self.tau - self.exact)[self.time >= after].max())


def decoupled_torques(
    robot: Robot, motion: MotionAt, rounds: Sequence[float], duration: float, recursion: Recursion = HAMILTON
) -> list[Rounds]:
    """Return what the processor of each link computes along a motion; `rounds` are the lengths of their rounds, s.

    All start together, with the serial values of the first state published.
    """
    n = robot.degrees_of_freedom
    if len(rounds) != n or not all(length > 0 for length in rounds):
        raise BddTorqueError(f"rounds: robot '{robot.name}' needs {n} lengths above 0 s, got {list(rounds)}")
    machine, serial = (
        SpeculativeMachine(robot, BINDER_HERZOG, recursion),
        SpeculativeMachine(robot, SERIAL, recursion),
    )
    machine.start(*motion(0.0))
    current, published = machine.store[Reading.CURRENT], machine.store[Reading.PREVIOUS]
    published[:] = current
    events = [(0.0, _BEGIN, link) for link in range(1, n + 1)]
    found: list[list[tuple[float, float, float]]] = [[] for _ in range(n)]
    counts, tau = [0] * n, np.zeros(n)
    while events:
        now, kind, link = heapq.heappop(events)
        if kind == _PUBLISH:
            published[link] = current[link]
            continue
        q, qd, qdd = motion(now)
        set_motion(machine.arm, np.sin(q), np.cos(q), q, qd, qdd, machine.scratch)
        for v in range(len(recursion.variables)):
            compute(machine.arm, machine.program, machine.readings, machine.store, machine.scratch, link, v)
        read_torques(machine.arm, machine.program, machine.store, machine.scratch, tau)
        found[link - 1].append((now, float(tau[link - 1]), float(serial.step(q, qd, qdd)[link - 1])))
        counts[link - 1] += 1
        end = counts[link - 1] * rounds[link - 1]  # a product, so that equal rounds end at equal times
        if end <= duration:
            heapq.heappush(events, (end, _PUBLISH, link))
            heapq.heappush(events, (end, _BEGIN, link))
    return [Rounds(*(np.array(column) for column in zip(*rows, strict=True))) for rows in found]

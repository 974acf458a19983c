"""The interpreter of recursions with operands of different ages, for Numba and for any number type.

A recursion becomes a `RecursionProgram`, rows of integers, one vector operation per row. `iterate` runs it once, a
control iteration, on a `store` that holds this iteration's variables and those of the two before. It is plain Python on
scalars: compiled code calls it on floats, the tracer on traced numbers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bddtorque.base.jit import jitable, njit
from bddtorque.robots.robot import Robot
from machines.hamilton.speculation_equations import CONSTANTS, SCALARS, Recursion, VectorOp
from machines.hamilton.speculation_methods import SERIAL, Method, Reading
from machines.hamilton.speculation_program import (
    Arm,
    Floats,
    Integers,
    RecursionProgram,
    arm_of,
    program_of,
    readings_of,
)

Array = npt.NDArray[Any]

ITERATIONS = 3
"""Iterations a store holds: this one, the previous one, the one before."""

# Numba wants plain numbers
_READ, _CONSTANT, _AXIS, _INTO, _OUT, _CROSS, _ADD, _SUBTRACT, _SCALE, _INERTIA = map(int, VectorOp)
_CURRENT, _PREVIOUS, _BEFORE, _EXTRAPOLATED = map(int, Reading)


class Scratch(NamedTuple):
    """Working space of `iterate`: rotations (n+2, 3, 3), vectors and scalars a link, intermediate vectors."""

    turn: Array
    vectors: Array
    scalars: Array
    registers: Array


def scratch_for(program: RecursionProgram, n: int, dtype: Any = np.float64) -> Scratch:
    """Return working space for n joints, zero."""
    shapes = (n + 2, 3, 3), (n + 2, len(CONSTANTS), 3), (n + 2, len(SCALARS)), (program.longest, 3)
    return Scratch(*(np.zeros(shape, dtype=dtype) for shape in shapes))


def store_for(arm: Arm, program: RecursionProgram, dtype: Any = np.float64) -> Array:
    """Return an empty store (ITERATIONS, n+2, V, 3): rows 0 and n+1 are base and tip."""
    store = np.zeros((ITERATIONS, len(arm.mass) + 2, program.spans.shape[1], 3), dtype=dtype)
    if program.base >= 0:
        store[:, 0, program.base] = -arm.gravity
    return store


@jitable
def set_motion(arm: Arm, sine: Array, cosine: Array, q: Array, qd: Array, qdd: Array, scratch: Scratch) -> None:
    """Write what follows from joint data alone: rotations, vectors of the links, gravity in their axes, rates."""
    n = len(arm.mass)
    for axis in range(3):
        scratch.vectors[0, 3, axis] = arm.gravity[axis]
    for i in range(n):
        link = i + 1
        for row in range(3):
            x, y = arm.rotation[i, row, 0], arm.rotation[i, row, 1]
            if arm.revolute[i]:  # R = rotation · Rz(q)
                scratch.turn[link, row, 0] = x * cosine[i] + y * sine[i]
                scratch.turn[link, row, 1] = y * cosine[i] - x * sine[i]
            else:
                scratch.turn[link, row, 0] = x
                scratch.turn[link, row, 1] = y
            scratch.turn[link, row, 2] = arm.rotation[i, row, 2]
        for axis in range(3):
            scratch.vectors[link, 0, axis] = arm.to_next[i, axis]
            scratch.vectors[link, 1, axis] = arm.centre[i, axis]
            scratch.vectors[link, 2, axis] = arm.centre[i, axis] - arm.to_next[i, axis]
            scratch.vectors[link, 3, axis] = (
                scratch.turn[link, 0, axis] * scratch.vectors[i, 3, 0]
                + scratch.turn[link, 1, axis] * scratch.vectors[i, 3, 1]
                + scratch.turn[link, 2, axis] * scratch.vectors[i, 3, 2]
            )
        if not arm.revolute[i]:  # O_{i-1} stays behind as the link slides along z
            scratch.vectors[link, 0, 2] = arm.to_next[i, 2] + q[i]
            scratch.vectors[link, 1, 2] = arm.centre[i, 2] + q[i]
        scratch.scalars[link, 0] = qd[i]
        scratch.scalars[link, 1] = qdd[i]
        scratch.scalars[link, 2] = arm.mass[i]
        scratch.scalars[link, 3] = 2.0


@jitable
def compute(
    arm: Arm, program: RecursionProgram, readings: Array, store: Array, scratch: Scratch, link: int, v: int
) -> None:
    """Compute variable v of one link (from 1) and write it into the store."""
    kind = 0 if arm.revolute[link - 1] else 1
    first, end = program.spans[kind, v, 0], program.spans[kind, v, 1]
    registers, turn = scratch.registers, scratch.turn
    for k in range(first, end):
        op, a, b, to = program.rows[k, 0], program.rows[k, 1], program.rows[k, 2], k - first
        for x in range(3):
            y, z = (x + 1) % 3, (x + 2) % 3
            if op == _READ:
                reading, at = readings[program.rows[k, 3]], link + b
                if reading == _EXTRAPOLATED:
                    registers[to, x] = 2.0 * store[_PREVIOUS, at, a, x] - store[_BEFORE, at, a, x]
                else:
                    registers[to, x] = store[reading, at, a, x]
            elif op == _CONSTANT:
                registers[to, x] = scratch.vectors[link, a, x]
            elif op == _AXIS:
                registers[to, x] = 1.0 if x == 2 else 0.0
            elif op == _INTO:
                R, u = turn[link], registers[a]
                registers[to, x] = R[0, x] * u[0] + R[1, x] * u[1] + R[2, x] * u[2]
            elif op == _OUT:
                R, u = turn[link + 1], registers[a]
                registers[to, x] = R[x, 0] * u[0] + R[x, 1] * u[1] + R[x, 2] * u[2]
            elif op == _CROSS:
                registers[to, x] = registers[a, y] * registers[b, z] - registers[a, z] * registers[b, y]
            elif op == _ADD:
                registers[to, x] = registers[a, x] + registers[b, x]
            elif op == _SUBTRACT:
                registers[to, x] = registers[a, x] - registers[b, x]
            elif op == _SCALE:
                registers[to, x] = registers[a, x] * scratch.scalars[link, b]
            else:
                J, u = arm.inertia[link - 1], registers[a]
                registers[to, x] = J[x, 0] * u[0] + J[x, 1] * u[1] + J[x, 2] * u[2]
    for x in range(3):
        store[_CURRENT, link, v, x] = registers[end - first - 1, x]


@jitable
def shift(store: Array) -> None:
    """Begin an iteration: what was current becomes previous."""
    for link in range(1, store.shape[1] - 1):
        for v in range(store.shape[2]):
            for x in range(3):
                store[_BEFORE, link, v, x] = store[_PREVIOUS, link, v, x]
                store[_PREVIOUS, link, v, x] = store[_CURRENT, link, v, x]


@jitable
def read_torques(arm: Arm, program: RecursionProgram, store: Array, scratch: Scratch, tau: Array) -> None:
    """Write b_i · t_i, or b_i · f_i, with the rotors' share, into tau (n,)."""
    for i in range(len(arm.mass)):
        v = program.moment if arm.revolute[i] else program.force
        tau[i] = store[_CURRENT, i + 1, v, 2] + arm.rotor[i] * scratch.scalars[i + 1, 1]


@jitable
def iterate(arm: Arm, program: RecursionProgram, readings: Array, store: Array, scratch: Scratch, tau: Array) -> None:
    """Run one control iteration on the motion set, in serial order (any order gives the same where all is old)."""
    n = len(arm.mass)
    shift(store)
    for link in range(1, n + 1):
        for v in range(program.outward):
            compute(arm, program, readings, store, scratch, link, v)
    for link in range(n, 0, -1):
        for v in range(program.outward, program.spans.shape[1]):
            compute(arm, program, readings, store, scratch, link, v)
    read_torques(arm, program, store, scratch, tau)


@njit
def control_iteration(
    arm: Arm, program: RecursionProgram, readings: Integers, store: Floats, scratch: Scratch, q: Floats, qd: Floats,
    qdd: Floats, tau: Floats,
) -> None:  # fmt: skip
    """Run one control iteration at a state (n,) and write the torques (n,); compiled once for all loops around it."""
    set_motion(arm, np.sin(q), np.cos(q), q, qd, qdd, scratch)
    iterate(arm, program, readings, store, scratch, tau)


@njit
def run_states(
    arm: Arm, program: RecursionProgram, readings: Integers, store: Floats, scratch: Scratch, q: Floats, qd: Floats,
    qdd: Floats, tau: Floats,
) -> None:  # fmt: skip
    """Run one iteration a row of q, qd, qdd (N, n), in their order, and write the torques into tau (N, n)."""
    for k in range(q.shape[0]):
        control_iteration(arm, program, readings, store, scratch, q[k], qd[k], qdd[k], tau[k])


class SpeculativeMachine:
    """A recursion run with a method on a robot, one control iteration a call.

    Joints must be of kinds that the recursion has equations for: any, for `LATHROP`.
    """

    def __init__(self, robot: Robot, method: Method, recursion: Recursion) -> None:
        for joint in robot.joints:
            recursion.of(joint.kind.name)
        self.robot, self.method, self.recursion = robot, method, recursion
        self.arm, self.program = arm_of(robot), program_of(recursion)
        self.readings, self.serial = readings_of(recursion, method), readings_of(recursion, SERIAL)
        self.scratch = scratch_for(self.program, robot.degrees_of_freedom)
        # (3, n+2, V, 3), the variables of this iteration and the two before, in the axes of their links
        self.store: Floats = store_for(self.arm, self.program)
        self.last: Floats | None = None

    def start(self, q: Any, qd: Any, qdd: Any) -> Floats:
        """Fill the store with serial values of the states (n,) or (N, n), oldest first; return the last torques."""
        last: Floats = self._run(self.serial, q, qd, qdd, predicted=False)[-1]
        return last

    def step(self, q: Any, qd: Any, qdd: Any) -> Floats:
        """Run one control iteration on a state (n,), or one per row of (N, n); return the torques, same shape."""
        tau = self._run(self.readings, q, qd, qdd, predicted=self.method.output_prediction)
        single: Floats = tau[0]
        return tau if np.ndim(q) == 2 else single

    def _run(self, readings: Integers, q: Any, qd: Any, qdd: Any, *, predicted: bool) -> Floats:
        rows = [np.ascontiguousarray(np.atleast_2d(np.asarray(given, dtype=np.float64))) for given in (q, qd, qdd)]
        tau = np.empty(rows[0].shape)
        run_states(self.arm, self.program, readings, self.store, self.scratch, rows[0], rows[1], rows[2], tau)
        before = np.vstack([tau[:1] if self.last is None else self.last, tau[:-1]])
        self.last = tau[-1].copy()
        return 2 * tau - before if predicted else tau

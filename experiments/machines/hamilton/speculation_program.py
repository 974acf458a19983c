"""Robots and recursions as arrays: what the interpreter of `speculation_machine` reads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bddtorque.robots.robot import Robot
from machines.hamilton.speculation_equations import CONSTANTS, SCALARS, Kind, Operand, Recursion, VectorOp
from machines.hamilton.speculation_methods import Method
from machines.serial_arm import require_serial

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

KINDS: tuple[Kind, ...] = ("revolute", "prismatic")


class Arm(NamedTuple):
    """The numbers of a robot as the recursions want them, joints i = 0..n-1."""

    revolute: npt.NDArray[np.bool_]  # (n,) bool
    rotation: Floats  # (n, 3, 3), of joint frame i at q = 0 in link i-1
    to_next: Floats  # (n, 3), from the origin of link i to that of joint i+1 (zero for the last), m
    centre: Floats  # (n, 3), from the origin of link i to its centre of mass, m
    mass: Floats  # (n,), kg
    inertia: Floats  # (n, 3, 3), about the centre of mass in the axes of link i, kg·m²
    rotor: Floats  # (n,), kg·m² or kg; always times the current acceleration
    gravity: Floats  # (3,), free fall in base axes, m/s²


class RecursionProgram(NamedTuple):
    """A recursion as whole numbers."""

    # (K, 4): operation, two arguments (row numbers within the variable, or indices), number of the operand
    rows: Integers
    spans: Integers  # (2, V, 2): first row and end of each variable, for revolute and prismatic joints
    outward: int  # how many of the V variables belong to the outward sweep
    # force, moment, base: indices of variables; base is −1 where gravity is a term of its own
    force: int
    moment: int
    base: int
    longest: int  # rows of the longest variable


def arm_of(robot: Robot) -> Arm:
    """Return the arrays of a robot."""
    require_serial(robot, "this machine")
    joints, bodies = robot.joints, robot.bodies
    to_next = np.array([*(joint.translation for joint in joints[1:]), (0.0, 0.0, 0.0)])
    return Arm(
        np.array([joint.kind.turns for joint in joints]),
        np.array([joint.rotation for joint in joints], dtype=np.float64),
        to_next,
        np.array([body.centre_of_mass for body in bodies], dtype=np.float64),
        np.array([body.mass for body in bodies], dtype=np.float64),
        np.array([body.inertia for body in bodies], dtype=np.float64),
        np.array([joint.rotor_inertia for joint in joints], dtype=np.float64),
        np.array(robot.gravity, dtype=np.float64),
    )


def operand_numbers(recursion: Recursion) -> dict[tuple[str, Operand], int]:
    """Return a number for each operand of each equation; `readings_of` has one entry for each."""
    found = {
        (variable, operand): None
        for equations in recursion.equations.values()
        for variable, expression in equations.items()
        for operand in expression.operands()
    }
    return {each: number for number, each in enumerate(found)}


def readings_of(recursion: Recursion, method: Method) -> Integers:
    """Return the reading of every operand, in the order of `operand_numbers`."""
    return np.array([method.reading(*each) for each in operand_numbers(recursion)], dtype=np.int64)


def program_of(recursion: Recursion) -> RecursionProgram:
    """Return a recursion as rows of whole numbers."""
    numbers, places = operand_numbers(recursion), {name: k for k, name in enumerate(recursion.variables)}
    rows: list[tuple[int, int, int, int]] = []
    spans = np.zeros((len(KINDS), len(places), 2), dtype=np.int64)
    for kind, equations in recursion.equations.items():
        for variable, expression in equations.items():
            first, at = len(rows), {}
            for node in expression.nodes():
                at[node] = len(rows) - first
                parts = [at[part] for part in node.parts] + [0, 0]
                match node.op:
                    case VectorOp.READ:
                        assert node.operand is not None
                        operand = places[node.operand.variable], node.operand.offset, numbers[variable, node.operand]
                        rows.append((int(node.op), *operand))
                    case VectorOp.CONSTANT:
                        rows.append((int(node.op), CONSTANTS.index(node.name), 0, 0))
                    case VectorOp.SCALE:
                        rows.append((int(node.op), parts[0], SCALARS.index(node.name), 0))
                    case _:
                        rows.append((int(node.op), parts[0], parts[1], 0))
            spans[KINDS.index(kind), places[variable]] = first, len(rows)
    return RecursionProgram(
        np.array(rows, dtype=np.int64),
        spans,
        len(recursion.outward),
        places[recursion.force],
        places[recursion.moment],
        places.get(recursion.base_acceleration, -1),
        int((spans[:, :, 1] - spans[:, :, 0]).max()),
    )

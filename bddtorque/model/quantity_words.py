"""The words of a quantity: what its arrays hold, in which order, in which units."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.exact_trace import PAYLOAD_LABELS, STATIC_LABELS
from bddtorque.robots.robot import Robot
from bddtorque.spec import Spec
from bddtorque.spec.quantities import PAYLOAD, QUANTITIES
from bddtorque.spec.records import PayloadBox
from bddtorque.spec.resolve import motion_formats
from bddtorque.words.formats import Format
from bddtorque.words.interface import WordArray

PAYLOAD_UNITS = {"m": "kg·m", "I": "kg·m²"}
TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")
"""The rows of a Jacobian."""
MASS_UNITS = {2: "kg·m²", 1: "kg·m", 0: "kg"}
"""Of an entry of the mass matrix, by how many of its two joints turn."""


def upper_triangle(n: int) -> list[tuple[int, int]]:
    """Return the places on and above the diagonal of a matrix, row by row."""
    return [(i, j) for i in range(n) for j in range(i, n)]


def difference_names(robot: Robot) -> dict[str, tuple[str, str]]:
    """Return the differences of two angle words that a law is computed from, by name: desired and actual."""
    turning = (j for j, joint in enumerate(robot.joints, 1) if joint.revolute)
    return {f"q_error{j}": (f"q_desired{j}", f"q{j}") for j in turning}


def law_gains(spec: Spec, robot: Robot) -> list[tuple[float, float]]:
    """Return kp and kv of each joint."""
    if spec.gains is None:
        raise BddTorqueError(
            "quantity 'law' needs gains in 1/s² and 1/s, such as gains = { kp = 100, kv = 20 } or --gains kp=100 "
            f"--gains kv=20 ({spec.where})"
        )
    n, both = robot.degrees_of_freedom, []
    for name in ("kp", "kv"):
        given = getattr(spec.gains, name)
        each = given if isinstance(given, tuple) else (given,) * n
        if len(each) != n:
            raise BddTorqueError(
                f"gains, {name} must be one number, or one per joint ({n} in robot '{robot.name}'), got {len(each)}"
                f"{spec.at('gains')}"
            )
        both.append(each)
    return list(zip(*both, strict=True))


def input_arrays(spec: Spec, robot: Robot) -> tuple[WordArray, ...]:
    """Return the arrays that go in, for a resolved spec."""
    arrays = []
    for name in QUANTITIES[spec.quantity].inputs:
        arrays.append(motion_formats(spec, robot, name))
    if isinstance(spec.payload, PayloadBox):
        arrays.append(_payload_array(spec, spec.payload))
    return tuple(arrays)


def payload_ranges(spec: Spec, box: PayloadBox) -> dict[str, tuple[float, float]]:
    """Return the ranges of the numbers of a payload, by label; those that are always 0, or do not matter, are left out.

    First moments and inertias are those of every mass and every centre in the box.
    """
    moments = [[mass * end for mass in box.mass for end in ends] for ends in box.centre_of_mass]
    farthest = math.hypot(*(max(map(abs, ends)) for ends in box.centre_of_mass))
    inertia = box.mass[1] * farthest**2 if box.inertia is None else box.inertia
    ranges = [box.mass, *((min(ends), max(ends)) for ends in moments)]
    ranges += [(0.0 if a == b else -inertia, inertia) for a, b in upper_triangle(3)]
    known = dict(zip(PAYLOAD_LABELS, ranges, strict=True))
    used = STATIC_LABELS if spec.quantity == "gravity" else PAYLOAD_LABELS
    return {label: known[label] for label in used if known[label][0] < known[label][1]}


def _payload_array(spec: Spec, box: PayloadBox) -> WordArray:
    """Return the words of a payload: the ends of each range are words themselves."""
    bits = max((spec.bits,) if isinstance(spec.bits, int) else spec.bits)
    words = {}
    for label, (low, high) in payload_ranges(spec, box).items():
        end = low + (high - low) * ((1 << bits) / ((1 << bits) - 1))
        unit = "kg" if label == "mass" else PAYLOAD_UNITS[label[0]]
        words[label] = Format("range", bits, low, end, name=f"{label} of the payload", unit=unit)
    return WordArray(PAYLOAD, (len(words),), tuple(words), tuple(words.values()))


def rotation_labels() -> list[str]:
    """Return the names of the entries of a rotation, row by row."""
    return [f"r{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)]


def jacobian_labels(n: int) -> list[str]:
    """Return the names of the entries of a Jacobian, row by row."""
    return [f"{row}{j}" for row in TWIST for j in range(1, n + 1)]


def output_labels(spec: Spec, robot: Robot) -> list[str]:
    """Return the names of the output words, in order."""
    n = robot.degrees_of_freedom
    match spec.quantity:
        case "mass_matrix":
            return [f"M{i + 1}_{j + 1}" for i, j in upper_triangle(n)]
        case "kinematics":
            return [*"xyz", *rotation_labels()]
        case "jacobian":
            return jacobian_labels(n)
    return list(robot.joint_names)


def output_units(spec: Spec, robot: Robot) -> list[str]:
    """Return the units of output words that are not torques, in order."""
    turns = [joint.revolute for joint in robot.joints]
    match spec.quantity:
        case "mass_matrix":
            return [MASS_UNITS[turns[i] + turns[j]] for i, j in upper_triangle(len(turns))]
        case "kinematics":
            return [*["m"] * 3, *[""] * 9]
    return [("m" if turning else "") if row < 3 else "" for row in range(6) for turning in turns]


def output_arrays(spec: Spec, robot: Robot, highs: Sequence[float]) -> tuple[WordArray, ...]:
    """Return the arrays that come out, for a resolved spec; `highs` are the ends of words that are not torques."""
    n, names = robot.degrees_of_freedom, QUANTITIES[spec.quantity].outputs
    labels = output_labels(spec, robot)
    if names == ("tau",):
        return (motion_formats(spec, robot, "tau"),)
    if not isinstance(spec.bits, int):
        raise TypeError("a resolved spec has one word length here")
    words = [
        Format("range", spec.bits, -high, high, name=label, unit=unit)
        for label, unit, high in zip(labels, output_units(spec, robot), highs, strict=True)
    ]
    shapes = {"mass": (n, n), "position": (3,), "rotation": (3, 3), "jacobian": (6, n)}
    arrays, first = [], 0
    for name in names:
        count = len(words) if len(names) == 1 else math.prod(shapes[name])
        own = slice(first, first + count)
        arrays.append(WordArray(name, shapes[name], tuple(labels[own]), tuple(words[own])))
        first += count
    return tuple(arrays)

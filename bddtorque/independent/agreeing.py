"""Constants near those of a circuit with which it is 0, to the last of many bits: Newton's method in long numbers.

How they are found need not be trusted: `nearby` bounds how far they are from the circuit's own, and tries them at
points that are drawn afterwards. Only `draw_points` and `LongNumbers` serve there, too.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from .circuits import Circuit, Variable, gradient, run
from .effort import work
from .exact import pi_fixed, sine_and_cosine_of
from .findings import RefusedError
from .graph import Angle

STEPS = 1 << 20
"""Points that each angle is drawn from."""
CELLS = 1 << 160
"""Cells that the range of each motion is cut into."""
ROOM = 160
"""Bits beyond those that the growth of D takes."""
GUARD = 64
"""Bits that waves have beyond the others."""
MAX_ROUNDS, MAX_SOLVED = 200, 6
SLOW = 16
"""Bits: where a round gains no more, the derivatives are taken anew."""
LONG = 50
"""Floats that take as long as a long number."""
FLOAT_BITS = 44
"""Bits after the point that angles have, with room for how they were computed."""
SMALL = 1e-11
"""Singular values, relative to the largest, that are taken for 0."""
Points = dict[Variable, npt.NDArray[Any]]
"""For each variable, which of the STEPS or CELLS of it every point has."""


def agreeing_constants(circuit: Circuit, outputs: list[int], variables: list[Variable], bits: int) -> list[int]:
    """Return constants, in units of 2^-bits, near those of a circuit, with which all outputs are 0 to the last bits.

    Equal constants are moved alike first: entries of one rotation, or of two like links, that stay equal. If a rotation
    nearby has others, each is moved by itself.
    """
    count = 24 + 3 * len(circuit.constants) // len(outputs)
    points = draw_points(variables, count, random.Random(0).randrange)
    numbers = LongNumbers(circuit, points, bits)
    start, alike = _start(circuit, bits)
    for groups in (alike, list(range(len(alike)))):
        near = _moved(circuit, outputs, points, numbers, start, np.array(groups, dtype=np.int64))
        if near is not None:
            return near
    raise RefusedError(
        "no constants near those of the plan make it agree with the robot: it is wrong, or leaves terms out "
        "('dropped'), which is proved on a grid only, for fewer joints in one torque",
        "dynamics",
    )


def _start(circuit: Circuit, bits: int) -> tuple[list[int], list[int]]:
    """Return all constants, and for each the first that is equal to it.

    The rests of two angles that are right angles apart, as far as floats tell, are taken to be so: sines and cosines of
    both are the same functions then, and of the sum of such only the sum is known, so that no method would find it.
    """
    quarter = pi_fixed(bits)[0] >> 1
    rests = {node.left for node in circuit.nodes if node.kind == "wave" and node.left >= 0}
    start, alike, equal, first = [], [], dict[int, int](), dict[int, int]()
    for k, value in enumerate(circuit.constants):
        near = round(value * (1 << bits))
        if k in rests:
            turns = (2 * near + quarter) // (2 * quarter)
            rest = near - turns * quarter
            rest = next((each for each in first if abs(each - rest) >> (bits - FLOAT_BITS) == 0), rest)
            near, place = turns * quarter + rest, first.setdefault(rest, k)
        else:
            place = equal.setdefault(near, k)
        start.append(near)
        alike.append(place)
    return start, alike


def _moved(
    circuit: Circuit,
    outputs: list[int],
    points: Points,
    numbers: LongNumbers,
    near: list[int],
    groups: npt.NDArray[np.int64],
) -> list[int] | None:
    """Return constants with which all outputs are 0 at some points, by Newton's method; None where there are none.

    `groups` has the same number for constants that are moved alike.
    """
    bits, count = numbers.bits, numbers.count
    inverse = np.empty((0, 0))
    solved, last, anew = 0, 0, False
    for _ in range(MAX_ROUNDS):
        found = numbers.values(near)
        off = np.concatenate([np.broadcast_to(found[place], (count,)) for place in outputs]).tolist()
        most = max(map(abs, off)).bit_length()
        if most <= ROOM // 2:
            return near
        if anew and most >= last:  # not even the derivatives at this very place lead further
            return None
        anew = not solved or (last - most < SLOW and solved < MAX_SOLVED)
        if anew:
            floats = [float(Fraction(each, 1 << bits)) for each in near]
            inverse, solved = _inverse(circuit, outputs, floats, points, groups), solved + 1
        elif most >= last:
            return None
        last, shift = most, max(0, most - 900)
        step = (inverse @ np.array([float(each >> shift) for each in off]))[groups]
        near = [each - (round(by) << shift) for each, by in zip(near, step.tolist(), strict=True)]
    return None


def _inverse(
    circuit: Circuit, outputs: list[int], constants: list[float], points: Points, groups: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Return what makes steps of constants of the outputs at points, in floats: the shortest ones."""
    leaves, slopes = float_leaves(circuit, constants, points)
    count = len(outputs) * max(map(len, points.values()), default=1)
    work((len(circuit.nodes) + len(constants) * min(count, len(constants))) * count)
    values = run(circuit, leaves, np.multiply)
    each = np.concatenate([gradient(circuit, values, slopes, place) for place in outputs], axis=1)
    alike = np.zeros_like(each)
    np.add.at(alike, groups, each)
    columns = np.maximum(np.abs(constants), 1.0)
    scaled = alike.T * columns
    scales = np.abs(scaled).max(axis=1, initial=1e-30)
    u, s, v = np.linalg.svd(scaled / scales[:, None], full_matrices=False)
    used = s > SMALL * s.max(initial=0.0)
    found: npt.NDArray[np.float64] = ((v[used].T / s[used]) @ u[:, used].T) * columns[:, None] / scales
    return found


def float_leaves(circuit: Circuit, constants: list[float], points: Points) -> tuple[dict[int, Any], dict[int, Any]]:
    """Return the leaves of a circuit in floats, and the derivatives of waves by their angles."""
    leaves: dict[int, Any] = {}
    slopes: dict[int, Any] = {}
    for place, node in enumerate(circuit.nodes):
        if node.kind == "constant":
            leaves[place] = constants[node.left]
        elif node.kind == "motion":
            t = (points[False, node.variable] / CELLS).astype(np.float64) * 2 - 1
            leaves[place] = t * float(node.factor) + float(node.middle)
        elif node.kind == "wave":
            steps = sum(m * points[True, axis].astype(np.float64) for axis, m in node.angle.multipliers)
            turns = float(node.angle.turns) + steps / STEPS
            angle = 2 * math.pi * turns + (constants[node.left] if node.left >= 0 else 0.0)
            leaves[place] = np.cos(angle) if node.cosine else np.sin(angle)
            slopes[place] = -np.sin(angle) if node.cosine else np.cos(angle)
    return leaves, slopes


def draw_points(variables: list[Variable], count: int, below: Callable[[int], int]) -> Points:
    """Return points that a source of random numbers chooses."""
    return {each: _array([below(STEPS if each[0] else CELLS) for _ in range(count)]) for each in variables}


class LongNumbers:
    """A circuit at points, in units of 2^-bits: each product is rounded down, and leaves are off by less than 1."""

    def __init__(self, circuit: Circuit, points: Points, bits: int) -> None:
        self.circuit, self.bits = circuit, bits
        self.count = max(map(len, points.values()), default=1)
        self.motions: dict[int, Any] = {}
        self.waves: dict[Angle, list[tuple[int, int]]] = {}
        turn = 2 * pi_fixed(bits + GUARD)[0]
        for place, node in enumerate(circuit.nodes):
            if node.kind == "motion":
                factor, middle = node.factor * (1 << bits), node.middle * (1 << bits)
                steps = points[False, node.variable].tolist()
                self.motions[place] = _array(
                    [round(factor * Fraction(2 * k + 1 - CELLS, CELLS) + middle) for k in steps]
                )
            elif node.kind == "wave" and node.angle not in self.waves:
                parts = [(points[True, axis].tolist(), m) for axis, m in node.angle.multipliers]
                steps = [sum(each) for each in zip(*([m * k for k in own] for own, m in parts), strict=True)] or [0]
                angles = [round(turn * ((Fraction(k, STEPS) + node.angle.turns) % 1)) for k in steps]
                self.waves[node.angle] = [sine_and_cosine_of(each, bits + GUARD) for each in angles]

    def values(self, constants: list[int]) -> list[Any]:
        """Return the values of all nodes, each an array of the points or one number."""
        bits, wide = self.bits, self.bits + GUARD
        work(LONG * len(self.circuit.nodes) * self.count)
        leaves = dict(self.motions)
        turned: dict[tuple[Angle, int], tuple[Any, Any]] = {}
        for place, node in enumerate(self.circuit.nodes):
            if node.kind == "constant":
                leaves[place] = constants[node.left]
            elif node.kind == "wave":
                key = node.angle, node.left
                if key not in turned:
                    s, c = sine_and_cosine_of(constants[node.left] << GUARD if node.left >= 0 else 0, wide)
                    own = self.waves[node.angle]
                    sines = [(a * c + b * s) >> (wide + GUARD) for a, b in own]
                    turned[key] = _array(sines), _array([(b * c - a * s) >> (wide + GUARD) for a, b in own])
                leaves[place] = turned[key][node.cosine]
        return run(self.circuit, leaves, lambda a, b: a * b >> bits)


def _array(numbers: list[int]) -> npt.NDArray[Any]:
    """Return long numbers as an array of objects."""
    found = np.empty(len(numbers), dtype=object)
    found[:] = numbers
    return found

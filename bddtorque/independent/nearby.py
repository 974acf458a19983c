"""Distance of a plan from the truth where no grid is small enough: by way of a nearby pair that agrees exactly.

A plan P with the constants c, and Newton-Euler T with the parameters p, are two circuits that differ because constants
were rounded. Next to them there are constants c* and parameters p* with which both are the same function; Newton's
method finds these, in long numbers. Then |P(c) − T(p)| <= |P(c) − P(c*)| + |P(c*) − T(p*)| + |T(p*) − T(p)|. The first
and the last are bounded operation by operation, since constants moved by a known amount. The one in the middle, D, is
evaluated at random points, drawn when c* and p* are fixed.

Why that is enough. Let M be the largest magnitude of D, and draw the angles first, the motions standing where D is
largest, one angle after another, each from N equidistant points. D has a degree d in an angle. If as many as (2d + 1)·s
of its points had values below M/L, then 2d + 1 of them, no two closer than s steps, would determine all values
(Lagrange), each of the 2d + 1 summands being at most M/L·Π N/(2ts) squared, t from 1 to d: so L, what is here called
the growth, is 2d + 1 times that product of squares. With (2d + 1)·s at most N/4V, an angle of V is drawn badly with a
probability of at most 1/4V, and any of them with at most 1/4.

Then the n motions are drawn, from the cube that they span. D has a degree k in all of them together. By Brudnyi and
Ganzburg, a polynomial that is below M/L on a part λ of a convex body is nowhere larger than T_k(2/μ − 1)·M/L, where
μ = 1 − (1 − λ)^(1/n) >= λ/n and T_k(y) <= (2y)^k is Chebyshev's polynomial: with λ = 1/4 and L = (16n)^k that is below
M, so motions are drawn badly with a probability of at most 1/4. A motion is drawn as the centre of one of many small
cells, no further than 1/CELLS from any point of it. By Markov, D changes by at most n·k²/CELLS of its largest value
over that, half of what L leaves: so L is doubled.

So at a random point |D| is at least M over the product of all L with a probability of 1/2, and the largest of r points
is below that with one of 2^−r.

How c* and p* are found need not be trusted (`_agreeing_constants` and all that follows it).
"""

from __future__ import annotations

import math
import random
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from .circuits import Circuit, Term, Variable, degrees_of, gradient, ranges_of, run
from .enclosures import pi_fixed, sine_and_cosine_of
from .findings import RefusedError, require, work
from .float_bounds import Held
from .graph import Angle
from .ieee import up

SURE = 100
"""A false claim passes with a probability of at most 2^−SURE."""
UNIT = 2.0**-60
"""In place of the last bit of long numbers, where errors are counted: they grow with it at least in proportion."""
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


@dataclass(frozen=True)
class Nearby:
    """The distance of nodes of a circuit from 0, the ranges of all nodes, and how many points were drawn."""

    differences: list[float]
    held: list[Held]
    points: int

    def range(self, term: Term) -> tuple[float, float]:
        """Return a range of a term."""
        if term.place < 0:
            return 0.0, 0.0
        low, high = self.held[term.place].low, self.held[term.place].high
        return (low, high) if term.sign > 0 else (-high, -low)


def compare_nearby(circuit: Circuit, outputs: Sequence[int]) -> Nearby:
    """Bound nodes that are differences of two functions; the node −1 is 0."""
    variables, degrees = degrees_of(circuit)
    kept = sorted({place for place in outputs if place >= 0})
    if not kept:
        return Nearby([0.0 for _ in outputs], ranges_of(circuit, [0.0] * len(circuit.constants)), 0)
    *turning, moving = degrees[kept].max(axis=0).tolist()
    growth = _motion_growth(moving, len(variables) - len(turning)) * math.prod(
        _growth(degree, len(turning)) for degree in turning
    )
    bits = math.ceil(growth).bit_length() + ROOM
    near = _agreeing_constants(circuit, kept, variables, bits)
    moved = [up(abs(Fraction(each, 1 << bits) - value)) for each, value in zip(near, circuit.constants, strict=True)]
    held, rounded = ranges_of(circuit, moved), ranges_of(circuit, moved, UNIT)
    count = SURE + len(kept).bit_length()
    drawn = draw_points(variables, count, secrets.randbelow)
    values = LongNumbers(circuit, drawn, bits).values(near)
    found = []
    for place in outputs:
        if place < 0:
            found.append(0.0)
            continue
        most = max(abs(each) for each in np.broadcast_to(values[place], (count,)).tolist())
        seen = (most + Fraction(rounded[place].error) / Fraction(UNIT)) / (1 << bits)
        found.append(up(min(Fraction(held[place].error) + seen * growth, Fraction(10**300))))
    return Nearby(found, held, count)


def _growth(degree: int, angles: int) -> Fraction:
    """Return L of an angle."""
    if not degree:
        return Fraction(1)
    apart = STEPS // (4 * angles * (2 * degree + 1))
    require(apart > 0, "there are too many angles, or degrees", "dynamics")
    each = (Fraction(STEPS, 2 * t * apart) ** 2 for t in range(1, degree + 1))
    return math.prod(each, start=Fraction(2 * degree + 1))


def _motion_growth(degree: int, motions: int) -> int:
    """Return L of all motions."""
    growth = (16 * motions) ** degree
    require(2 * growth * motions * degree**2 <= CELLS, "there are too many motions, or degrees", "dynamics")
    return 2 * growth if degree else 1


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


def _agreeing_constants(circuit: Circuit, outputs: list[int], variables: list[Variable], bits: int) -> list[int]:
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

"""How far a plan is from the truth where no grid is small enough: by way of a nearby pair that agrees exactly.

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
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .agreeing import CELLS, ROOM, STEPS, LongNumbers, agreeing_constants, draw_points
from .circuits import Circuit, Term, degrees_of, ranges_of
from .findings import require
from .float_bounds import Held
from .ieee import up

SURE = 100
"""A false claim passes with a probability of at most 2^−SURE."""
UNIT = 2.0**-60
"""In place of the last bit of long numbers, where errors are counted: they grow with it at least in proportion."""


@dataclass(frozen=True)
class Nearby:
    """How far from 0 nodes of a circuit can be, what is known of all nodes, and how many points were drawn."""

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
    near = agreeing_constants(circuit, kept, variables, bits)
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

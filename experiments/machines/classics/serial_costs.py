"""LAT Table 1: multiplications and additions of inverse dynamics as the literature prints them, n joints.

Formulas and printed values are the paper's, kept to be compared with; what our own programs take is measured elsewhere
(`lathrop.operation_counts`, `graph`), and the baseline of the table, Newton-Euler, is priced here from its vector
operations. The fractions of Uicker/Kahn and Waters come from a damaged scan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from machines.lathrop.linear_program import (
    CARRIED_STEPS,
    INWARD_STEPS,
    LOAD_STEPS,
    ROTATIONAL_STEPS,
    TRANSLATIONAL_STEPS,
    Step,
)
from machines.lathrop.vector_program import DOT, VA

Formula = Callable[[int], Fraction]


@dataclass(frozen=True)
class SerialCost:
    """A row of the table: the formulas, and what is printed for six joints."""

    method: str
    multiplications: Formula
    additions: Formula
    printed: tuple[int, int]

    def at(self, joints: int) -> tuple[Fraction, Fraction]:
        """Return the formulas' values: multiplications, additions."""
        return self.multiplications(joints), self.additions(joints)


def polynomial(*coefficients: Fraction | int | str) -> Formula:
    """Return the polynomial in n with these coefficients, highest power first."""
    exact = [Fraction(each) for each in coefficients]

    def value(n: int) -> Fraction:
        total = Fraction(0)
        for coefficient in exact:
            total = total * n + coefficient
        return total

    return value


def logarithm(slope: int, constant: int) -> Formula:
    """Return slope · ⌈log2(n + 1)⌉ + constant."""
    return lambda n: Fraction(slope * n.bit_length() + constant)


TABLE_1: tuple[SerialCost, ...] = (
    SerialCost(
        "Uicker/Kahn",
        polynomial("65/2", "1037/12", "685/4", "160/3", -128),
        polynomial(25, "199/3", "259/2", "127/3", -96),
        (66_271, 51_548),
    ),
    SerialCost("Waters", polynomial("320/3", "1241/2", -512), polynomial(82, 514, -384), (7_051, 5_652)),
    SerialCost("Hollerbach 4x4", polynomial(830, -592), polynomial(675, -464), (4_388, 3_586)),
    SerialCost("Hollerbach 3x3", polynomial(412, -277), polynomial(320, -201), (2_195, 1_719)),
    SerialCost("Luh-Walker-Paul Newton-Euler", polynomial(150, -48), polynomial(131, -48), (852, 738)),
    SerialCost("Horn-Raibert look-up", polynomial(2, 1, 0, 0), polynomial(1, 1, 2, 0), (468, 264)),
    SerialCost("Luh-Lin, scheduled", polynomial(57, -18), polynomial(50, -18), (323, 280)),
    SerialCost("Lathrop linear", polynomial(2, 3), polynomial(6, 7), (15, 43)),
    SerialCost("Lathrop logarithmic", logarithm(2, 5), logarithm(6, 10), (11, 28)),
    SerialCost("Lathrop systolic", polynomial(1), polynomial(3), (1, 3)),
)
"""All rows, the parallel ones as times of one multiplication and one addition after another."""

PRICES = {"VA": (0, 3), "VC": (6, 3), "MV": (9, 6), "MTV": (9, 6), "SV": (3, 0), "DOT": (3, 2), "TWICE": (0, 0)}
"""Multiplications and additions of whole vector operations: no zero is known, doubling is a shift."""


def priced_newton_euler(joints: int) -> tuple[int, int]:
    """Return what Newton-Euler takes if every vector operation of LAT Table 2 is charged whole, for either joint.

    A joint may turn or slide: the terms of both are computed. What reads the base at rest (w and wd of the first link)
    and the free tip (f and n of the last) costs nothing.
    """
    turning = (*ROTATIONAL_STEPS, *CARRIED_STEPS, ("pdd", VA, "T10", "T11", "pdd"))
    sliding = (*(step for step in TRANSLATIONAL_STEPS if step[4] == "pdd"), ("pdd", VA, "carried", "sliding", "pdd"))
    torque = ("tau", DOT, "zeta", "n", "tau")
    each = _price((*turning, *sliding, *LOAD_STEPS, *INWARD_STEPS, torque))
    own = ("T20", "T21")  # of the link itself, so that its last one has them too
    ends = _price((*ROTATIONAL_STEPS, *(step for step in INWARD_STEPS if step[0] not in own)))
    return joints * each[0] - ends[0], joints * each[1] - ends[1]


def _price(steps: Iterable[Step]) -> tuple[int, int]:
    prices = [PRICES[primitive.name] for _, primitive, *_ in steps]
    return sum(m for m, _ in prices), sum(a for _, a in prices)


LUH_LIN_CONCURRENCY = 2.64
"""Speed-up that Luh and Lin reached on the Stanford arm; their row of the table is Newton-Euler divided by it."""

"""Rotations that are so only to the precision of floats, and what that can change of a torque.

A matrix R whose R·Rᵀ − 1 has the norm g is no further than g from a true rotation Q (that of its polar decomposition:
each singular value differs from 1 by at most g). Torques of the arm with the rotations Q are of the second degree in
every position, and differ from those of the arm in the file by what is carried along here, in norms of vectors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

Matrix = tuple[tuple[Fraction, ...], ...]
UP = 1 + 1e-12
"""More than the float operations of one step lose."""


def gram(rotation: Matrix) -> list[list[Fraction]]:
    """Return R·Rᵀ − 1."""
    return [
        [
            sum((a * b for a, b in zip(rotation[i], rotation[j], strict=True)), Fraction(-1 if i == j else 0))
            for j in range(3)
        ]
        for i in range(3)
    ]


def is_rotation(rotation: Matrix) -> bool:
    """Whether a matrix turns, to float precision, and does not mirror."""
    (a, b, c), (d, e, f), (g, h, i) = rotation
    determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    return max(abs(each) for row in gram(rotation) for each in row) < Fraction(1, 10**6) and determinant > 0


def off_rotation(rotation: Matrix) -> float:
    """Return how far a matrix can be from a true rotation; 0 where it is one."""
    squares = sum((each * each for row in gram(rotation) for each in row), Fraction(0))
    return math.sqrt(float(squares)) * UP


def apart(rotation: Matrix) -> tuple[tuple[float, ...], ...]:
    """Return how far every entry can be from that of a true rotation: an axis that is carried onto an axis stays so."""
    off = off_rotation(rotation)
    columns = [tuple(row[k] for row in rotation) for k in range(3)]
    kept = [
        (i, j) for i in range(3) for j in range(3) if rotation[i][j] and _is_axis(rotation[i]) and _is_axis(columns[j])
    ]
    rows, places = {i for i, _ in kept}, {j for _, j in kept}
    return tuple(tuple(0.0 if i in rows or j in places else off for j in range(3)) for i in range(3))


def _is_axis(row: Sequence[Fraction]) -> bool:
    return sorted(map(abs, row)) == [0, 0, 1]


@dataclass(frozen=True)
class Norm:
    """A bound on the length of a vector, or the size of a number, and on what true rotations change of it."""

    size: float
    change: float = 0.0

    def __add__(self, other: Norm) -> Norm:
        return Norm((self.size + other.size) * UP, (self.change + other.change) * UP)

    def __mul__(self, other: Norm) -> Norm:
        crossed = self.size * other.change + (other.size + other.change) * self.change
        return Norm(self.size * other.size * UP, crossed * UP)

    def turned(self, off: float) -> Norm:
        """Return the norm of a vector that is turned by a matrix so far from a rotation."""
        return Norm(self.size * (1 + off) * UP, (self.change * (1 + off) + self.size * off) * UP)


def length(vector: Sequence[Fraction]) -> Norm:
    """Return the length of a known vector."""
    return Norm(math.sqrt(float(sum((each * each for each in vector), Fraction(0)))) * UP)

"""Rotations of a file: exact, or so to the precision of floats."""

from __future__ import annotations

import math
from fractions import Fraction

Matrix = tuple[tuple[Fraction, ...], ...]


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
    return math.sqrt(float(squares)) * (1 + 1e-12)

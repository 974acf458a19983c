"""Vectors of three numbers and 3×3 matrices by their rows, over any number type: floats, arrays, traced or counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from bddtorque.dynamics.newton_euler import Triple, add, cross, matrix_times

Rows = tuple[Triple, Triple, Triple]
"""A 3×3 matrix by its rows."""

ZERO: Triple = (0.0, 0.0, 0.0)
Z_AXIS: Triple = (0.0, 0.0, 1.0)
IDENTITY: Rows = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

__all__ = [
    "IDENTITY", "ZERO", "Z_AXIS", "Rows", "Triple", "add", "cross", "dot", "float_rows", "float_triple",
    "matrix_product", "matrix_times", "rows", "scaled", "transposed",
]  # fmt: skip


def scaled(factor: Any, v: Triple) -> Triple:
    """Return factor · v."""
    return factor * v[0], factor * v[1], factor * v[2]


def dot(u: Any, v: Any) -> Any:
    """Return u · v."""
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


def transposed(M: Rows) -> Rows:
    """Return Mᵀ."""
    return (M[0][0], M[1][0], M[2][0]), (M[0][1], M[1][1], M[2][1]), (M[0][2], M[1][2], M[2][2])


def matrix_product(L: Rows, M: Rows) -> Rows:
    """Return L M: 27 multiplications and 18 additions."""
    x, y, z = transposed(M)
    first, second, third = ((dot(row, x), dot(row, y), dot(row, z)) for row in L)
    return first, second, third


def rows(matrix: Sequence[Sequence[Any]]) -> Rows:
    """Return nine numbers, three rows of three, as a matrix."""
    first, second, third = ((row[0], row[1], row[2]) for row in matrix)
    return first, second, third


def float_triple(vector: npt.NDArray[Any]) -> Triple:
    """Return an array of three as plain floats."""
    x, y, z = (float(each) for each in vector)
    return x, y, z


def float_rows(matrix: npt.NDArray[Any]) -> Rows:
    """Return a (3, 3) array as plain floats, by rows."""
    return float_triple(matrix[0]), float_triple(matrix[1]), float_triple(matrix[2])

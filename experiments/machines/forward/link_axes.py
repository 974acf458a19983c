"""Vectors and 3×3 matrices carried from the axes of link i to those of link i-1, written for few operations.

Matrices are triples of rows. A matrix that is symmetric is written out in full: the tracer finds that its two halves
are the same nodes, so that symmetry costs no code here and no operation there.
"""

from __future__ import annotations

from typing import Any

from bddtorque.dynamics.chain import Chain
from bddtorque.dynamics.newton_euler import out_of_joint, turn
from machines.vectors import Rows, Triple, float_rows, matrix_product, rows, transposed


def vector_to_parent(chain: Chain, i: int, sine: Any, cosine: Any, v: Triple) -> Triple:
    """Return E_i Rz(q_i) v."""
    return out_of_joint(chain.rotation, i, turn(v, sine, cosine))


def matrix_to_parent(chain: Chain, i: int, sine: Any, cosine: Any, M: Rows) -> Rows:
    """Return (E_i Rz(q_i)) M (E_i Rz(q_i))ᵀ; where E_i is a twist about x, as in Denavit-Hartenberg, for less."""
    E = float_rows(chain.rotation[i])
    turned = turned_about(2, sine, cosine, M)
    if E[0] == (1.0, 0.0, 0.0):
        return turned_about(0, E[2][1], E[1][1], turned)
    return matrix_product(matrix_product(E, turned), transposed(E))


def turned_about(axis: int, sine: Any, cosine: Any, M: Rows) -> Rows:
    """Return R M Rᵀ for a rotation R about a coordinate axis: 12 multiplications instead of 54.

    The antisymmetric part of the 2×2 block across the axis does not change, and the rest of it follows from
    w = s (M_ii - M_jj) + c (M_ij + M_ji).
    """
    k = axis
    i, j = (k + 1) % 3, (k + 2) % 3
    w = sine * (M[i][i] - M[j][j]) + cosine * (M[i][j] + M[j][i])
    R: list[list[Any]] = [[0.0] * 3 for _ in range(3)]
    R[i][i], R[j][j], R[k][k] = M[i][i] - sine * w, M[j][j] + sine * w, M[k][k]
    R[i][j], R[j][i] = cosine * w - M[j][i], cosine * w - M[i][j]
    R[i][k], R[j][k] = cosine * M[i][k] - sine * M[j][k], sine * M[i][k] + cosine * M[j][k]
    R[k][i], R[k][j] = cosine * M[k][i] - sine * M[k][j], sine * M[k][i] + cosine * M[k][j]
    return rows(R)


def plus(A: Rows, B: Rows) -> Rows:
    """Return A + B."""
    return rows([[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(A, B, strict=True)])


def position(chain: Chain, i: int) -> Triple:
    """Return the origin of joint i in the axes of link i-1 as plain floats, m."""
    return float(chain.translation[i, 0]), float(chain.translation[i, 1]), float(chain.translation[i, 2])

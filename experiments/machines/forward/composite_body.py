"""The inertia matrix by composite rigid bodies (Walker and Orin; the second class of FIJ section III.A).

Seen from joint i, all links outside it are one body: its pseudo-inertia (see `dynamics.chain`) is added up from tip to
base, and the force and moment of a unit acceleration of joint i are carried from link to link to the base.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bddtorque.dynamics.chain import Chain
from machines.forward.link_axes import matrix_to_parent, plus, position, vector_to_parent
from machines.vectors import Triple, add, cross, rows, scaled


def composite_inertia(chain: Chain, sine: Sequence[Any], cosine: Sequence[Any]) -> list[list[Any]]:
    """Return A(Q) of a chain of revolute joints, kg·m², n rows of n; rotors on the diagonal."""
    n = len(chain.turns)
    A: list[list[Any]] = [[0.0] * n for _ in range(n)]
    P, h, mass = rows(((0.0,) * 3,) * 3), (0.0, 0.0, 0.0), 0.0
    for i in range(n - 1, -1, -1):
        body = chain.body[i].tolist()
        P, h, mass = plus(P, rows(body[:3])), add(h, (body[0][3], body[1][3], body[2][3])), mass + body[3][3]
        A[i][i] = P[0][0] + P[1][1] + float(chain.rotor[i])  # z · K z = P_xx + P_yy
        m: Triple = (-P[0][2], -P[1][2], P[0][0] + P[1][1])  # K z, about the origin of link i
        f: Triple = (-h[1], h[0], 0.0)  # z × h
        for j in range(i, 0, -1):
            f = vector_to_parent(chain, j, sine[j], cosine[j], f)
            m = add(vector_to_parent(chain, j, sine[j], cosine[j], m), cross(position(chain, j), f))
            A[i][j - 1] = A[j - 1][i] = m[2]
        if i > 0:
            p = position(chain, i)
            h = vector_to_parent(chain, i, sine[i], cosine[i], h)
            u = add(h, scaled(mass / 2, p))
            P = matrix_to_parent(chain, i, sine[i], cosine[i], P)
            P = plus(P, rows([[u[r] * p[c] + p[r] * u[c] for c in range(3)] for r in range(3)]))
            h = add(h, scaled(mass, p))
    return A

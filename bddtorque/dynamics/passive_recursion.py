"""Newton-Euler for two velocities: q̇ of the robot, and q̇r of a reference; M(q) q̈r + C(q, q̇) q̇r + G(q).

C is that of Christoffel's symbols, C_ij = Σ_k ½ (∂M_ij/∂q_k + ∂M_ik/∂q_j − ∂M_jk/∂q_i) q̇_k, with which Ṁ − 2C is
skew-symmetric. It is Σ m Jᵀ J̇ over all points of mass, J being the Jacobian of a point: the generalised force of the
accelerations that q̇r, followed along q̇, and q̈r stand for. So the recursion is that of the torques (`newton_euler`),
but with wr × (w × r) in place of w × (w × r), and no matrix is formed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bddtorque.dynamics.chain import Array, Chain
from bddtorque.dynamics.newton_euler import (
    Triple,
    add,
    cross,
    into_joint,
    matrix_times,
    out_of_joint,
    row,
    turn,
    turn_back,
)

STILL: Triple = (0.0, 0.0, 0.0)


def passive_torques(
    chain: Chain, sine: Array, cosine: Array, q: Array,
    qd: Array, qd_reference: Sequence[Any] | Array, qdd_reference: Sequence[Any] | Array,
) -> Array:  # fmt: skip
    """Return M(q) q̈r + C(q, q̇) q̇r + G(q) of all joints (k,), in any numbers."""
    base = (chain.base_acceleration[0], chain.base_acceleration[1], chain.base_acceleration[2])
    motions: list[tuple[Triple, Triple, Triple, Triple]] = []  # w, wr, ẇr and the acceleration of the origin
    wrenches: list[tuple[Triple, Triple]] = []
    for i, carrier in enumerate(chain.parent.tolist()):
        w, wr, dw, a = motions[carrier] if carrier >= 0 else (STILL, STILL, STILL, base)
        if carrier >= 0:
            a = add(a, matrix_times(reference_field(w, wr, dw), row(chain.translation, i)))
        w, wr, dw, a = (into_joint(chain.rotation, i, each) for each in (w, wr, dw, a))
        if chain.turns[i]:
            w, wr, dw, a = (turn_back(each, sine[i], cosine[i]) for each in (w, wr, dw, a))
            dw = (dw[0] + w[1] * qd_reference[i], dw[1] - w[0] * qd_reference[i], dw[2] + qdd_reference[i])
            w, wr = (w[0], w[1], w[2] + qd[i]), (wr[0], wr[1], wr[2] + qd_reference[i])
        else:  # the origin slides along z: U [0,0,q] + z q̈r + w × z q̇r + wr × z q̇
            U = reference_field(w, wr, dw)
            a = add(a, (U[0][2] * q[i], U[1][2] * q[i], U[2][2] * q[i] + qdd_reference[i]))
            across = [w[axis] * qd_reference[i] + wr[axis] * qd[i] for axis in (0, 1)]
            a = add(a, (across[1], -across[0], 0.0))
        motions.append((w, wr, dw, a))
        wrenches.append(_wrench(chain.body[i], reference_field(w, wr, dw), a))
    tau = np.empty(len(q), dtype=object)
    for i in range(len(q) - 1, -1, -1):  # inward, as in `newton_euler`
        f, m = wrenches[i]
        tau[i] = (m[2] if chain.turns[i] else f[2]) + chain.rotor[i] * qdd_reference[i]
        if chain.turns[i]:
            f, m = turn(f, sine[i], cosine[i]), turn(m, sine[i], cosine[i])
        else:
            m = (m[0] - q[i] * f[1], m[1] + q[i] * f[0], m[2])
        f = out_of_joint(chain.rotation, i, f)
        m = add(out_of_joint(chain.rotation, i, m), cross(row(chain.translation, i), f))
        if (carrier := int(chain.parent[i])) >= 0:
            wrenches[carrier] = add(wrenches[carrier][0], f), add(wrenches[carrier][1], m)
    return tau


def reference_field(w: Triple, wr: Triple, dw: Triple) -> tuple[Triple, Triple, Triple]:
    """Return the rows of U = [ẇr]× + [wr]×[w]×, the field of acceleration of a body; [a]×[b]× is b aᵀ − a·b."""
    xx, yy, zz = wr[0] * w[0], wr[1] * w[1], wr[2] * w[2]
    return (
        (-(yy + zz), w[0] * wr[1] - dw[2], w[0] * wr[2] + dw[1]),
        (w[1] * wr[0] + dw[2], -(xx + zz), w[1] * wr[2] - dw[0]),
        (w[2] * wr[0] - dw[1], w[2] * wr[1] + dw[0], -(xx + yy)),
    )


def _wrench(body: Array, U: tuple[Triple, Triple, Triple], a: Triple) -> tuple[Triple, Triple]:
    """Return F = m a + U h and N = h × a + (U P)∨ of a body about the origin of its link."""
    h, mass = (body[0, 3], body[1, 3], body[2, 3]), body[3, 3]

    def entry(i: int, j: int) -> Any:
        return U[i][0] * body[0, j] + U[i][1] * body[1, j] + U[i][2] * body[2, j]

    turning = entry(2, 1) - entry(1, 2), entry(0, 2) - entry(2, 0), entry(1, 0) - entry(0, 1)
    return add((mass * a[0], mass * a[1], mass * a[2]), matrix_times(U, h)), add(cross(h, a), turning)

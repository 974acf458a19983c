"""Newton-Euler (Luh, Walker, Paul; LAT Table 2), written once over any number type.

`newton_euler` below is plain Python on triples of scalars. Run as it is, it works for traced numbers, intervals or
extended precision; called from compiled code on float64 arrays it is the batch evaluator. Zeros cost nothing in the
traced form, because the tracer drops them, so no case is treated apart here.

The equations are those of LAT Table 2 in frames at the near end of each link. With U = [ẇ]× + [w]×[w]×, the field of
acceleration of a body whose origin accelerates at a is r̈ = a + U r, so that force and moment about the origin are

    F = m a + U h          N = h × a + (U P)∨ ,   (X)∨ = [X₃₂ − X₂₃, X₁₃ − X₃₁, X₂₁ − X₁₂]

with Σ = [[P, h], [hᵀ, m]] the pseudo-inertia (see `chain`). This equals K ẇ + w × K w and needs fewer products.
"""

from __future__ import annotations

from typing import Any

from bddtorque.base.jit import jitable, njit_without_refcounts
from bddtorque.dynamics.chain import Array, Chain

WRENCH = 15
"""Numbers kept for each link: force and moment about the origin, in the axes of the link, between the sweeps; then its
turning, the rate of it, and the acceleration of the origin, for the joints that it carries."""

Triple = tuple[Any, Any, Any]


@jitable
def newton_euler(
    chain: Chain, sine: Array, cosine: Array, q: Array, qd: Array, qdd: Array, tau: Array, wrench: Array
) -> None:
    """Write the torques (k,) of all joints of one state into `tau`, those of followers apart.

    `sine` and `cosine` hold those of q for joints that turn (others are not read); `wrench` is scratch space
    (k, WRENCH) of the same number type. Positions in rad or m, torques in N·m or N.
    """
    n = len(tau)
    w = dw = (0.0, 0.0, 0.0)  # the base is at rest; gravity enters as its acceleration
    a = (chain.base_acceleration[0], chain.base_acceleration[1], chain.base_acceleration[2])
    for i in range(n):  # outward; a joint mostly sits on the link before it
        carrier = chain.parent[i]
        if carrier != i - 1:
            w = dw = (0.0, 0.0, 0.0)
            a = (chain.base_acceleration[0], chain.base_acceleration[1], chain.base_acceleration[2])
            if carrier >= 0:
                w, dw, a = kept(wrench, carrier, 6), kept(wrench, carrier, 9), kept(wrench, carrier, 12)
        if carrier >= 0:
            a = add(a, matrix_times(acceleration_field(w, dw), row(chain.translation, i)))
        w, dw, a = into_joint(chain.rotation, i, w), into_joint(chain.rotation, i, dw), into_joint(chain.rotation, i, a)
        if chain.turns[i]:
            w, dw, a = (
                turn_back(w, sine[i], cosine[i]),
                turn_back(dw, sine[i], cosine[i]),
                turn_back(a, sine[i], cosine[i]),
            )
            dw = (dw[0] + w[1] * qd[i], dw[1] - w[0] * qd[i], dw[2] + qdd[i])  # + (Rᵀw) × z q̇ + z q̈
            w = (w[0], w[1], w[2] + qd[i])
        else:  # the origin slides along z: U [0,0,q] + z q̈ + 2 w × z q̇
            U = acceleration_field(w, dw)
            a = add(a, (U[0][2] * q[i], U[1][2] * q[i], U[2][2] * q[i] + qdd[i]))
            a = add(a, (w[1] * (qd[i] + qd[i]), -(w[0] * (qd[i] + qd[i])), 0.0))
        store_wrench(chain.body, i, w, dw, a, wrench)
        keep(wrench, i, 6, w)
        keep(wrench, i, 9, dw)
        keep(wrench, i, 12, a)
    f = m = (0.0, 0.0, 0.0)  # what the links outside ask of link i, in its axes and about its origin
    for i in range(n - 1, -1, -1):  # inward
        f, m = add(kept(wrench, i, 0), f), add(kept(wrench, i, 3), m)
        tau[i] = (m[2] if chain.turns[i] else f[2]) + chain.rotor[i] * qdd[i]
        if chain.turns[i]:
            f, m = turn(f, sine[i], cosine[i]), turn(m, sine[i], cosine[i])
        else:  # the origin stands q along z of the joint frame
            m = (m[0] - q[i] * f[1], m[1] + q[i] * f[0], m[2])
        f = out_of_joint(chain.rotation, i, f)
        m = add(out_of_joint(chain.rotation, i, m), cross(row(chain.translation, i), f))
        carrier = chain.parent[i]
        if carrier != i - 1:
            if carrier >= 0:
                keep(wrench, carrier, 0, add(kept(wrench, carrier, 0), f))
                keep(wrench, carrier, 3, add(kept(wrench, carrier, 3), m))
            f = m = (0.0, 0.0, 0.0)


@njit_without_refcounts
def torque_rows(
    chain: Chain, sine: Array, cosine: Array, q: Array, qd: Array, qdd: Array, tau: Array, wrench: Array
) -> None:
    """Write the torques of N states (N, k) into `tau`, same shape; all else as for `newton_euler`.

    It stands here because Numba's cache notices changes of the file a compiled function is in, and of no other.
    """
    for row in range(q.shape[0]):
        newton_euler(chain, sine[row], cosine[row], q[row], qd[row], qdd[row], tau[row], wrench)


@jitable
def acceleration_field(w: Triple, dw: Triple) -> tuple[Triple, Triple, Triple]:
    """Return the rows of U = [ẇ]× + [w]×[w]×."""
    xx, yy, zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    return (
        (-(yy + zz), xy - dw[2], xz + dw[1]),
        (xy + dw[2], -(xx + zz), yz - dw[0]),
        (xz - dw[1], yz + dw[0], -(xx + yy)),
    )


@jitable
def store_wrench(body: Array, i: int, w: Triple, dw: Triple, a: Triple, wrench: Array) -> None:
    """Write F = m a + U h and N = h × a + (U P)∨ of link i, about its origin."""
    h, mass = (body[i, 0, 3], body[i, 1, 3], body[i, 2, 3]), body[i, 3, 3]
    Pxx, Pyy, Pzz = body[i, 0, 0], body[i, 1, 1], body[i, 2, 2]
    Pxy, Pxz, Pyz = body[i, 0, 1], body[i, 0, 2], body[i, 1, 2]
    U = acceleration_field(w, dw)
    F = add((mass * a[0], mass * a[1], mass * a[2]), matrix_times(U, h))
    xx, yy, zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    x = Pyy * U[2][1] - Pzz * U[1][2] + Pxy * U[2][0] - Pxz * U[1][0] + Pyz * (zz - yy)
    y = Pzz * U[0][2] - Pxx * U[2][0] + Pyz * U[0][1] - Pxy * U[2][1] + Pxz * (xx - zz)
    z = (Pxx + Pyy) * dw[2] + (Pxx - Pyy) * (w[0] * w[1])  # = Pxx·Uyx − Pyy·Uxy with no need of U
    z = z + Pxz * U[1][2] - Pyz * U[0][2] + Pxy * (yy - xx)
    N = add(cross(h, a), (x, y, z))
    keep(wrench, i, 0, F)
    keep(wrench, i, 3, N)


@jitable
def keep(wrench: Array, i: int, first: int, v: Triple) -> None:
    """Write three of the numbers that are kept for link i."""
    wrench[i, first], wrench[i, first + 1], wrench[i, first + 2] = v[0], v[1], v[2]


@jitable
def kept(wrench: Array, i: int, first: int) -> Triple:
    """Return three of the numbers that are kept for link i."""
    return wrench[i, first], wrench[i, first + 1], wrench[i, first + 2]


@jitable
def row(array: Array, i: int) -> Triple:
    """Return row i of an (n, 3) array."""
    return array[i, 0], array[i, 1], array[i, 2]


@jitable
def add(u: Triple, v: Triple) -> Triple:
    """Return u + v."""
    return u[0] + v[0], u[1] + v[1], u[2] + v[2]


@jitable
def cross(u: Triple, v: Triple) -> Triple:
    """Return u × v."""
    return u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]


@jitable
def matrix_times(M: tuple[Triple, Triple, Triple], v: Triple) -> Triple:
    """Return M v for a matrix given by its rows."""
    return (
        M[0][0] * v[0] + M[0][1] * v[1] + M[0][2] * v[2],
        M[1][0] * v[0] + M[1][1] * v[1] + M[1][2] * v[2],
        M[2][0] * v[0] + M[2][1] * v[1] + M[2][2] * v[2],
    )


@jitable
def into_joint(E: Array, i: int, v: Triple) -> Triple:
    """Return Eᵢᵀ v: from the axes of link i-1 to those of joint i before it moves."""
    return (
        E[i, 0, 0] * v[0] + E[i, 1, 0] * v[1] + E[i, 2, 0] * v[2],
        E[i, 0, 1] * v[0] + E[i, 1, 1] * v[1] + E[i, 2, 1] * v[2],
        E[i, 0, 2] * v[0] + E[i, 1, 2] * v[1] + E[i, 2, 2] * v[2],
    )


@jitable
def out_of_joint(E: Array, i: int, v: Triple) -> Triple:
    """Return Eᵢ v: from the axes of joint i to those of link i-1."""
    return (
        E[i, 0, 0] * v[0] + E[i, 0, 1] * v[1] + E[i, 0, 2] * v[2],
        E[i, 1, 0] * v[0] + E[i, 1, 1] * v[1] + E[i, 1, 2] * v[2],
        E[i, 2, 0] * v[0] + E[i, 2, 1] * v[1] + E[i, 2, 2] * v[2],
    )


@jitable
def turn_back(v: Triple, s: Any, c: Any) -> Triple:
    """Return Rz(q)ᵀ v."""
    return c * v[0] + s * v[1], c * v[1] - s * v[0], v[2]


@jitable
def turn(v: Triple, s: Any, c: Any) -> Triple:
    """Return Rz(q) v."""
    return c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]

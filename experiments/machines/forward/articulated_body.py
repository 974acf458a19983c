"""Forward dynamics by articulated bodies, in time proportional to n (Featherstone 1983; FIJ's serial peer).

The force and moment about the origin of link i that give it the accelerations dw (angular) and a (of the origin) are

    [moment]   [K  G] [dw]
    [force ] = [Gᵀ M] [a ]  +  bias

when all joints outside are free to turn. Accelerations are those of points, not spatial ones, so that velocities enter
by w alone, as in Newton-Euler. Link axes, joints about z.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bddtorque.dynamics.chain import Chain
from bddtorque.dynamics.newton_euler import WRENCH, acceleration_field, into_joint, store_wrench, turn_back
from machines.forward.link_axes import matrix_to_parent, plus, position, vector_to_parent
from machines.vectors import ZERO, Rows, Triple, add, cross, dot, float_triple, matrix_times, rows, scaled, transposed


@dataclass(frozen=True)
class ArticulatedBody:
    """K, G, M (kg·m², kg·m, kg) and the bias moment and force (N·m, N) of a link and all that hangs on it."""

    K: Rows
    G: Rows
    M: Rows
    moment: Triple
    force: Triple


@dataclass(frozen=True)
class Hinge:
    """Values that a joint keeps for the outward sweep: U/D without its z, U_z/D, and u/D (see `through_joint`)."""

    angular: tuple[Any, Any]
    along: Any
    linear: Triple
    drive: Any


def articulated_body(
    chain: Chain,
    sine: Sequence[Any],
    cosine: Sequence[Any],
    qd: Sequence[Any],
    tau: Sequence[Any],
    reciprocal: Callable[[Any], Any] = lambda d: 1.0 / d,
) -> list[Any]:
    """Return the accelerations (n,), rad/s², of a chain of revolute joints driven by tau, N·m."""
    n = len(chain.turns)
    velocities, turns, wrench = _velocities(chain, sine, cosine, qd)
    hinges: list[Hinge] = []
    carried: ArticulatedBody | None = None
    for i in range(n - 1, -1, -1):  # inward
        body = _own_body(chain, i, wrench)
        if carried is not None:
            body = _joined(body, carried)
        hinge, seen = through_joint(body, float(chain.rotor[i]), tau[i], turns[i], reciprocal)
        hinges.append(hinge)
        if i > 0:
            carried = to_parent(chain, i, sine[i], cosine[i], seen, _centripetal(velocities[i - 1], chain, i))
    hinges.reverse()
    accelerations: list[Any] = []
    dw: Triple = ZERO
    a: Triple = float_triple(chain.base_acceleration)
    for i in range(n):  # outward
        if i > 0:
            a = add(a, add(cross(dw, position(chain, i)), _centripetal(velocities[i - 1], chain, i)))
        dw = add(turn_back(into_joint(chain.rotation, i, dw), sine[i], cosine[i]), (*turns[i], 0.0))
        a = turn_back(into_joint(chain.rotation, i, a), sine[i], cosine[i])
        hinge = hinges[i]
        along = hinge.along * dw[2] + hinge.angular[0] * dw[0] + hinge.angular[1] * dw[1] + dot(hinge.linear, a)
        accelerations.append(hinge.drive - along)
        dw = (dw[0], dw[1], dw[2] + accelerations[i])
    return accelerations


def _velocities(
    chain: Chain, sine: Sequence[Any], cosine: Sequence[Any], qd: Sequence[Any]
) -> tuple[list[Triple], list[tuple[Any, Any]], Any]:
    """Return w of every link, the x and y of (Rᵀ w) × z qd, and force and moment of velocities alone, (n, 6)."""
    n = len(chain.turns)
    velocities, turns = [], []
    wrench = np.zeros((n, WRENCH), dtype=object)
    w: Triple = ZERO
    for i in range(n):
        w = turn_back(into_joint(chain.rotation, i, w), sine[i], cosine[i])
        turns.append((w[1] * qd[i], -(w[0] * qd[i])))
        w = (w[0], w[1], w[2] + qd[i])
        velocities.append(w)
        store_wrench(chain.body, i, w, ZERO, ZERO, wrench)
    return velocities, turns, wrench


def _centripetal(w: Triple, chain: Chain, i: int) -> Triple:
    """Return w × (w × p) of the origin of joint i on link i-1."""
    return matrix_times(acceleration_field(w, ZERO), position(chain, i))


def _own_body(chain: Chain, i: int, wrench: Any) -> ArticulatedBody:
    P, m = chain.body[i][:3, :3], float(chain.body[i, 3, 3])
    x, y, z = (float(each) for each in chain.body[i][:3, 3])
    inertia = np.trace(P) * np.eye(3) - P
    return ArticulatedBody(
        rows(inertia.tolist()),
        ((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)),  # the moment of an acceleration a is h × a
        ((m, 0.0, 0.0), (0.0, m, 0.0), (0.0, 0.0, m)),
        (wrench[i, 3], wrench[i, 4], wrench[i, 5]),
        (wrench[i, 0], wrench[i, 1], wrench[i, 2]),
    )


def _joined(own: ArticulatedBody, carried: ArticulatedBody) -> ArticulatedBody:
    return ArticulatedBody(
        plus(own.K, carried.K),
        plus(own.G, carried.G),
        plus(own.M, carried.M),
        add(own.moment, carried.moment),
        add(own.force, carried.force),
    )


def through_joint(
    body: ArticulatedBody, rotor: float, tau: Any, turn: tuple[Any, Any], reciprocal: Callable[[Any], Any]
) -> tuple[Hinge, ArticulatedBody]:
    """Return what the joint keeps, and the body as felt on its other side: free about z, driven by tau.

    U = (K z, Gᵀ z), D = U_z + rotor, u = tau - z · moment; felt are K - U Uᵀ/D and bias + (...)·turn + U u/D.
    """
    inverse = reciprocal(body.K[2][2] + rotor)
    U, V = (body.K[0][2], body.K[1][2], body.K[2][2]), body.G[2]
    over = scaled(inverse, V)
    angular = (inverse * U[0], inverse * U[1])
    along = 1.0 if rotor == 0 else inverse * U[2]  # without a rotor z feels nothing: its row vanishes
    u = tau - body.moment[2]
    hinge = Hinge(angular, along, over, u * inverse)
    whole = (*angular, along)
    bare = rotor == 0
    K = rows(
        [[0.0 if bare and 2 in (r, c) else body.K[r][c] - _pair(whole, U, r, c) for c in range(3)] for r in range(3)]
    )
    G = rows([[0.0 if bare and r == 2 else body.G[r][c] - whole[r] * V[c] for c in range(3)] for r in range(3)])
    M = rows([[body.M[r][c] - _pair(over, V, r, c) for c in range(3)] for r in range(3)])
    moment = add(body.moment, add(matrix_times(K, (*turn, 0.0)), scaled(u, whole)))
    if bare:
        moment = (moment[0], moment[1], tau)
    force = add(body.force, add(matrix_times(transposed(G), (*turn, 0.0)), scaled(u, over)))
    return hinge, ArticulatedBody(K, G, M, moment, force)


def _pair(over: Triple, U: Triple, r: int, c: int) -> Any:
    """Return U_r U_c / D with the same two factors for (r, c) as for (c, r)."""
    return over[min(r, c)] * U[max(r, c)]


def to_parent(
    chain: Chain, i: int, sine: Any, cosine: Any, body: ArticulatedBody, centripetal: Triple
) -> ArticulatedBody:
    """Return the body in the axes and about the origin of link i-1, which moves O_i by a + dw × p + centripetal."""
    K, G, M = (matrix_to_parent(chain, i, sine, cosine, each) for each in (body.K, body.G, body.M))
    p = position(chain, i)
    half = scaled(0.5, p)
    columns = transposed(M)
    shifted = plus(G, transposed((cross(p, columns[0]), cross(p, columns[1]), cross(p, columns[2]))))  # G + [p] M
    both = plus(G, shifted)
    levers = [cross(half, row) for row in both]  # K + ([p] Bᵀ + its transpose)/2, B = 2 G + [p] M
    K = rows([[K[r][c] + (levers[c][r] + levers[r][c]) for c in range(3)] for r in range(3)])
    force = add(vector_to_parent(chain, i, sine, cosine, body.force), matrix_times(M, centripetal))
    moment = add(vector_to_parent(chain, i, sine, cosine, body.moment), matrix_times(G, centripetal))
    return ArticulatedBody(K, shifted, M, add(moment, cross(p, force)), force)

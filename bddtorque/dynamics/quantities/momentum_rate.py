"""`momentum_rate`: what the generalised momentum changes by besides torques, for momentum observers."""

from __future__ import annotations

from typing import Any

import numpy as np

from bddtorque.dynamics.chain import Array, Chain
from bddtorque.dynamics.newton_euler import Triple, add, cross, into_joint, out_of_joint, row, turn, turn_back
from bddtorque.dynamics.quantity import OutputArray, Quantity, joint_shape, torque_units
from bddtorque.dynamics.recursion import JointRecursion
from bddtorque.robots.robot import Robot

STILL: Triple = (0.0, 0.0, 0.0)


def rate_labels(robot: Robot) -> list[str]:
    """Return the names of the components: beta1, beta2, ..."""
    return [f"beta{j}" for j in range(1, robot.degrees_of_freedom + 1)]


def momentum_rates(chain: Chain, sine: Array, cosine: Array, q: Array, qd: Array) -> Array:
    """Return C(q, q̇)ᵀ q̇ − G(q) of all joints (k,), in any numbers: the slope of the Lagrangian in each position.

    With the velocity (w, v) of the frame of a link, and the momentum p and angular momentum L, about its origin, of all
    that it carries, a turn by dq about z changes the kinetic energy by −(w × L + v × p)_z dq and a slide by
    −(w × p)_z dq. The weight is that of the mass and the first moment of all that it carries.
    """
    base = (chain.base_acceleration[0], chain.base_acceleration[1], chain.base_acceleration[2])
    motions: list[tuple[Triple, Triple, Triple]] = []  # w, v, and the acceleration that holds against gravity
    for i, carrier in enumerate(chain.parent.tolist()):
        w, v, a = motions[carrier] if carrier >= 0 else (STILL, STILL, base)
        if carrier >= 0:
            v = add(v, cross(w, row(chain.translation, i)))
        w, v, a = (into_joint(chain.rotation, i, each) for each in (w, v, a))
        if chain.turns[i]:
            w, v, a = (turn_back(each, sine[i], cosine[i]) for each in (w, v, a))
            w = (w[0], w[1], w[2] + qd[i])
        else:
            v = (v[0] + w[1] * q[i], v[1] - w[0] * q[i], v[2] + qd[i])
        motions.append((w, v, a))
    carried = [_carried_by_link(chain.body[i], w, v) for i, (w, v, _) in enumerate(motions)]
    rates = np.empty(len(q), dtype=object)
    for i in range(len(q) - 1, -1, -1):
        (w, v, a), (p, L, h, mass) = motions[i], carried[i]
        if chain.turns[i]:
            rates[i] = (w[1] * L[0] - w[0] * L[1]) + (v[1] * p[0] - v[0] * p[1]) + (h[1] * a[0] - h[0] * a[1])
            p, L, h = (turn(each, sine[i], cosine[i]) for each in (p, L, h))
        else:
            rates[i] = (w[1] * p[0] - w[0] * p[1]) - mass * a[2]
            L = (L[0] - q[i] * p[1], L[1] + q[i] * p[0], L[2])
            h = (h[0], h[1], h[2] + mass * q[i])
        if (carrier := int(chain.parent[i])) >= 0:
            p, L, h = (out_of_joint(chain.rotation, i, each) for each in (p, L, h))
            way = row(chain.translation, i)
            own = carried[carrier]
            L, h = add(L, cross(way, p)), add(h, (mass * way[0], mass * way[1], mass * way[2]))
            carried[carrier] = add(own[0], p), add(own[1], L), add(own[2], h), own[3] + mass
    return rates


def _carried_by_link(body: Array, w: Triple, v: Triple) -> tuple[Triple, Triple, Triple, Any]:
    """Return momentum and angular momentum of a body about the origin of its link, its first moment and its mass."""
    h, mass = (body[0, 3], body[1, 3], body[2, 3]), body[3, 3]
    xx, yy, zz = body[0, 0], body[1, 1], body[2, 2]
    xy, xz, yz = body[0, 1], body[0, 2], body[1, 2]
    turning = (
        (yy + zz) * w[0] - xy * w[1] - xz * w[2],
        (xx + zz) * w[1] - xy * w[0] - yz * w[2],
        (xx + yy) * w[2] - xz * w[0] - yz * w[1],
    )
    return add((mass * v[0], mass * v[1], mass * v[2]), cross(w, h)), add(turning, cross(h, v)), h, mass


class MomentumRate(Quantity):
    """β = C(q, q̇)ᵀ q̇ − G(q): the momentum p = M(q) q̇ changes by ṗ = τ + β, where τ is without friction."""

    name = "momentum_rate"
    about = "the rate of the generalised momentum of a robot arm, torques apart"
    inputs = ("q", "qd")
    outputs = (OutputArray("beta", rate_labels, torque_units, joint_shape),)
    accepts = ("gravity", "payload")
    recursion = JointRecursion(momentum_rates, inputs[1:])


RECORD = MomentumRate()

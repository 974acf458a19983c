"""Lathrop's linear recursion (LAT Table 2): Newton-Euler link by link, both joint types, moving base, tip wrench.

LAT calls the sweep from base to tip *backward* and the other *forward*; here they are outward and inward. Vectors of
link i are in the axes of O_i; n_i is the moment about O_{i-1}.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from machines.lathrop.arm import ArmState
from machines.vectors import Z_AXIS, Triple, add, cross, dot, matrix_times, scaled, transposed


@dataclass(frozen=True)
class LinkQuantities:
    """Every quantity of LAT Table 2; tuples over links, the outward ones from the base (index 0) to n."""

    # w, wd, pdd: rate (rad/s), its derivative and the acceleration of O_i (m/s²), links 0 to n
    w: tuple[Triple, ...]
    wd: tuple[Triple, ...]
    pdd: tuple[Triple, ...]
    # rdd, F, N: acceleration of the centre of mass, force (N) and moment (N·m) on link i, links 1 to n
    rdd: tuple[Triple, ...]
    F: tuple[Triple, ...]
    N: tuple[Triple, ...]
    # f, n: force and moment that link i-1 exerts on link i, links 1 to n
    f: tuple[Triple, ...]
    n: tuple[Triple, ...]
    tau: tuple[Any, ...]  # joint torques in N·m, forces in N, drives not included


def linear_recursion(state: ArmState) -> LinkQuantities:
    """Return all quantities of one state, outward sweep first."""
    w, wd, pdd = outward_sweep(state)
    loads = [link_loads(state, i, w[i], wd[i], pdd[i]) for i in range(1, state.arm.joints + 1)]
    rdd, F, N = zip(*loads, strict=True)
    f, n = inward_sweep(state, F, N)
    return LinkQuantities(w, wd, pdd, rdd, F, N, f, n, joint_torques(state, f, n))


def outward_sweep(state: ArmState) -> tuple[tuple[Triple, ...], tuple[Triple, ...], tuple[Triple, ...]]:
    """Return w, wd and pdd of links 0 to n."""
    w, wd, pdd = ([each] for each in base_link(state))
    for i, turns in enumerate(state.arm.revolute, start=1):
        AT, qd, qdd = transposed(state.rotation[i]), state.velocity[i - 1], state.acceleration[i - 1]
        if turns:
            spin = scaled(qd, Z_AXIS)
            wd.append(matrix_times(AT, add(add(wd[-1], scaled(qdd, Z_AXIS)), cross(w[-1], spin))))  # the old w
            w.append(matrix_times(AT, add(w[-1], spin)))
        else:
            wd.append(matrix_times(AT, wd[-1]))
            w.append(matrix_times(AT, w[-1]))
        acceleration = add(matrix_times(AT, pdd[-1]), _carried(w[-1], wd[-1], state.arm_vector[i]))
        if not turns:
            zeta = state.arm.axis[i - 1]
            sliding = add(scaled(qdd, zeta), scaled(2.0, cross(w[-1], scaled(qd, zeta))))
            acceleration = add(acceleration, sliding)
        pdd.append(acceleration)
    return tuple(w), tuple(wd), tuple(pdd)


def base_link(state: ArmState) -> tuple[Triple, Triple, Triple]:
    """Return w, wd and pdd of link 0: the motion of the base, at O_0 and in its axes."""
    AT, base = transposed(state.rotation[0]), state.base
    w, wd = matrix_times(AT, base.rate), matrix_times(AT, base.rate_change)
    return w, wd, add(matrix_times(AT, base.acceleration), _carried(w, wd, state.arm_vector[0]))


def link_loads(state: ArmState, i: int, w: Triple, wd: Triple, pdd: Triple) -> tuple[Triple, Triple, Triple]:
    """Return rdd, F and N of link i (1 to n) from the motion of its frame."""
    arm = state.arm
    rdd = add(_carried(w, wd, arm.centre[i - 1]), pdd)
    J = arm.inertia[i - 1]
    return rdd, scaled(arm.mass[i - 1], rdd), add(matrix_times(J, wd), cross(w, matrix_times(J, w)))


def inward_sweep(
    state: ArmState, F: tuple[Triple, ...], N: tuple[Triple, ...]
) -> tuple[tuple[Triple, ...], tuple[Triple, ...]]:
    """Return f and n of links 1 to n; A_{n+1} is the identity, the tip frame being O_n."""
    f, n = [state.tip.force], [state.tip.moment]
    for i in range(state.arm.joints, 0, -1):
        last = i == state.arm.joints
        beyond_f = f[-1] if last else matrix_times(state.rotation[i + 1], f[-1])
        beyond_n = n[-1] if last else matrix_times(state.rotation[i + 1], n[-1])
        own = add(N[i - 1], cross(state.centre_arm[i], F[i - 1]))
        n.append(add(add(beyond_n, own), cross(state.arm_vector[i], beyond_f)))
        f.append(add(F[i - 1], beyond_f))
    return tuple(f[:0:-1]), tuple(n[:0:-1])


def joint_torques(state: ArmState, f: tuple[Triple, ...], n: tuple[Triple, ...]) -> tuple[Any, ...]:
    """Return tau_i = zeta_i · n_i (rotational) or zeta_i · f_i (translational)."""
    arm = state.arm
    return tuple(dot(arm.axis[i], n[i] if turns else f[i]) for i, turns in enumerate(arm.revolute))


def _carried(w: Triple, wd: Triple, arm: Triple) -> Triple:
    """Return wd × arm + w × (w × arm): the acceleration of a point of a turning body, seen from its origin."""
    return add(cross(wd, arm), cross(w, cross(w, arm)))

"""Lathrop's logarithmic form (LAT Table 5, Appendices A and B): an associative operator on intervals of joints.

`IntervalMotion` belongs to an interval [a, b] of links and describes O_b relative to O_{a-1}, in the axes of O_b;
`IntervalLoad` is what the links of [a, b] ask of link a-1. Combining [a, k] with [k+1, b] gives [a, b] whatever the
bracketing, so that prefixes (outward) and suffixes (inward) come out of a network of ⌈log2⌉ tiers. The prefix [0, i],
with the base as leaf 0, is exactly what the linear recursion has at link i.

Vector identity used in the proof: a × (b × c) + (b × a) × c = b × (a × c).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.tracer import Tracer
from bddtorque.robots.robot import Robot
from machines.lathrop.arm import ArmState, distal_arm
from machines.lathrop.lathrop_torques import Form, traced_state
from machines.lathrop.linear import LinkQuantities, joint_torques, linear_recursion, link_loads
from machines.lathrop.prefix import Combination, Tiers, sklansky
from machines.vectors import (
    IDENTITY,
    Z_AXIS,
    ZERO,
    Rows,
    Triple,
    add,
    cross,
    matrix_product,
    matrix_times,
    scaled,
    transposed,
)

T = TypeVar("T")


class IntervalMotion(NamedTuple):
    """Outward quantities of an interval [a, b].

    W maps O_b to O_{a-1}; w, wd and pdd are the motion of O_b relative to O_{a-1}; R is the way from O_{a-1} to O_b; Q
    and S are the parts of its relative velocity due to sliding and to turning.
    """

    W: Rows = IDENTITY
    w: Triple = ZERO
    wd: Triple = ZERO
    Q: Triple = ZERO
    R: Triple = ZERO
    S: Triple = ZERO
    pdd: Triple = ZERO


class IntervalLoad(NamedTuple):
    """Inward quantities of an interval [a, b].

    V = A_{a+1} .. A_{b+1}; f and n are force and moment, in the axes of O_a and about O_{a-1}; arm is
    R' = A_{b+1}ᵀ R_ab, the way from O_{a-1} to O_b in the axes of O_{b+1}. Carrying it closes the operator, where LAT
    writes A_{k+1}ᵀ R_ak.
    """

    V: Rows = IDENTITY
    f: Triple = ZERO
    n: Triple = ZERO
    arm: Triple = ZERO


def combine_motion(left: IntervalMotion, right: IntervalMotion) -> IntervalMotion:
    """Return the motion of [a, b] from [a, k] and [k+1, b].

    The factor 2 in pdd stands before both S and Q: the scanned text reads 2S + Q, which is right for rotational arms
    only.
    """
    T = transposed(right.W)
    Tw, Twd = matrix_times(T, left.w), matrix_times(T, left.wd)
    swept = cross(Tw, right.R)
    relative = add(swept, scaled(2.0, add(right.S, right.Q)))
    turning = add(cross(Twd, right.R), cross(Tw, relative))
    return IntervalMotion(
        matrix_product(left.W, right.W),
        add(Tw, right.w),
        add(add(Twd, cross(Tw, right.w)), right.wd),
        add(matrix_times(T, left.Q), right.Q),
        add(matrix_times(T, left.R), right.R),
        add(add(matrix_times(T, left.S), swept), right.S),
        add(add(matrix_times(T, left.pdd), right.pdd), turning),
    )


def combine_load(left: IntervalLoad, right: IntervalLoad) -> IntervalLoad:
    """Return the load of [a, b] from [a, k] and [k+1, b]."""
    moment = add(cross(left.arm, right.f), right.n)
    return IntervalLoad(
        matrix_product(left.V, right.V),
        add(left.f, matrix_times(left.V, right.f)),
        add(left.n, matrix_times(left.V, moment)),
        add(matrix_times(transposed(right.V), left.arm), right.arm),
    )


def motion_leaves(state: ArmState) -> list[IntervalMotion]:
    """Return the leaves 0 (the base) to n of LAT Table 5."""
    leaves = [base_leaf(state)]
    for i, turns in enumerate(state.arm.revolute, start=1):
        zeta, p = state.arm.axis[i - 1], state.arm_vector[i]
        along, along_change = scaled(state.velocity[i - 1], zeta), scaled(state.acceleration[i - 1], zeta)
        if turns:
            swept = cross(along, p)
            pdd = add(cross(along_change, p), cross(along, swept))
            leaves.append(IntervalMotion(state.rotation[i], along, along_change, ZERO, p, swept, pdd))
        else:
            leaves.append(IntervalMotion(state.rotation[i], ZERO, ZERO, along, p, ZERO, along_change))
    return leaves


def base_leaf(state: ArmState) -> IntervalMotion:
    """Return leaf 0: the motion of the base seen in the axes of O_0, which stands at the first joint."""
    AT, p = transposed(state.rotation[0]), state.arm_vector[0]
    w, wd = matrix_times(AT, state.base.rate), matrix_times(AT, state.base.rate_change)
    swept = cross(w, p)
    pdd = add(matrix_times(AT, state.base.acceleration), add(cross(wd, p), cross(w, swept)))
    return IntervalMotion(state.rotation[0], w, wd, ZERO, p, swept, pdd)


def motion_leaf_halves(state: ArmState, i: int) -> tuple[IntervalMotion, IntervalMotion]:
    """Return joint motion and link geometry of link i >= 1: combined, they are its leaf (LAT Appendix B)."""
    along, along_change = scaled(state.velocity[i - 1], Z_AXIS), scaled(state.acceleration[i - 1], Z_AXIS)
    moved = (
        IntervalMotion(w=along, wd=along_change)
        if state.arm.revolute[i - 1]
        else IntervalMotion(Q=along, pdd=along_change)
    )
    return moved, IntervalMotion(W=state.rotation[i], R=state.arm_vector[i])


def load_leaves(state: ArmState, F: tuple[Triple, ...], N: tuple[Triple, ...]) -> list[IntervalLoad]:
    """Return the leaves 1 to n, and the tip wrench as one more."""
    leaves = []
    for i in range(1, state.arm.joints + 1):
        onward = next_rotation(state, i)
        moment = add(N[i - 1], cross(state.centre_arm[i], F[i - 1]))
        leaves.append(IntervalLoad(onward, F[i - 1], moment, matrix_times(transposed(onward), state.arm_vector[i])))
    return [*leaves, IntervalLoad(IDENTITY, state.tip.force, state.tip.moment)]


def load_leaf_halves(state: ArmState, i: int, F: Triple, N: Triple) -> tuple[IntervalLoad, IntervalLoad]:
    """Return the two operands whose combination has the f and n of leaf i (LAT Appendix B)."""
    return IntervalLoad(arm=state.centre_arm[i]), IntervalLoad(V=next_rotation(state, i), f=F, n=N)


def next_rotation(state: ArmState, i: int) -> Rows:
    """Return A_{i+1}; A_{n+1} is the identity."""
    return state.rotation[i + 1] if i < state.arm.joints else IDENTITY


def logarithmic_recursion(state: ArmState, outward: Tiers | None = None, inward: Tiers | None = None) -> LinkQuantities:
    """Return all quantities of LAT Table 2 by prefix networks (Sklansky's unless others are given).

    `outward` is a network of n + 1 leaves (base and links), `inward` one of n + 1 leaves (links and tip wrench).
    """
    motions = prefixes(motion_leaves(state), combine_motion, outward)
    loads = [link_loads(state, i, m.w, m.wd, m.pdd) for i, m in enumerate(motions) if i > 0]
    rdd, F, N = zip(*loads, strict=True)
    held = suffixes(load_leaves(state, F, N), combine_load, inward)[:-1]
    f, n = tuple(load.f for load in held), tuple(load.n for load in held)
    w, wd, pdd = (tuple(getattr(m, name) for m in motions) for name in ("w", "wd", "pdd"))
    return LinkQuantities(w, wd, pdd, rdd, F, N, f, n, joint_torques(state, f, n))


def serial(leaves: int) -> Tiers:
    """Return the network that combines one leaf after another: the linear recursion as a prefix network."""
    return tuple((Combination(i - 1, i),) for i in range(1, leaves))


def prefixes(leaves: Sequence[T], combine: Callable[[T, T], T], tiers: Tiers | None = None) -> list[T]:
    """Return X_0∘..∘X_i for every i; by the Sklansky network unless another one is given."""
    values = list(leaves)
    for tier in sklansky(len(leaves)) if tiers is None else tiers:
        before = list(values)  # the nodes of a tier work at the same time
        for left, right in tier:
            values[right] = combine(before[left], before[right])
    return values


def suffixes(leaves: Sequence[T], combine: Callable[[T, T], T], tiers: Tiers | None = None) -> list[T]:
    """Return X_i∘..∘X_last for every i: the network mirrored."""
    return prefixes(leaves[::-1], lambda left, right: combine(right, left), tiers)[::-1]


def trace_lathrop(robot: Robot, form: Form = linear_recursion) -> Graph:
    """Return the graph of the torques as the machine computes them, customised to the robot; names as `trace_torques`.

    Constants are folded and zeros dropped by the tracer; frames are the robot's own, not regrouped.
    """
    tracer, arm = Tracer(), distal_arm(robot)
    state = traced_state(arm, tracer)
    tau = [
        torque + rotor * qdd for torque, rotor, qdd in zip(form(state).tau, arm.rotor, state.acceleration, strict=True)
    ]
    return tracer.graph(tau, [f"tau{i + 1}" for i in range(arm.joints)])

"""Torques by Newton and Euler over any kind of number, on a tree of joints.

Frames, vectors and inertias as docs/robots.md has them: a joint turns about, or slides along, z of its frame, which
stands at `rotation`, `translation` in that of the link that carries it. Forces and moments are taken about the centres
of mass and carried inward, as in the textbook (Luh, Walker, Paul).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .robots import BASE, ZERO, Link, Member, Robot
from .rotations import Matrix, Norm, apart, length, off_rotation

Vector = list[Any]


@dataclass(frozen=True)
class State:
    """Of all members: positions (of sliding ones, sines and cosines of turning ones), velocities, accelerations."""

    q: list[Any]
    sine: list[Any]
    cosine: list[Any]
    qd: list[Any]
    qdd: list[Any]


def torques(robot: Robot, state: State, algebra: Any) -> list[Any]:
    """Return the torque of every drive, friction left out; rotations are within `apart` of those of the file."""
    zero = algebra.number(ZERO)
    still: Vector = [zero] * 3
    motions: list[tuple[Vector, Vector, Vector]] = []
    wrenches: list[tuple[Vector, Vector]] = []
    for i, member in enumerate(robot.members):
        joint = member.joint
        if member.carrier == BASE:  # where the base stands does not matter
            w, dw, a = still, still, [algebra.number(-each) for each in robot.gravity]
        else:
            w, dw, a = motions[member.carrier]
            a = _added(a, _carried(w, dw, [algebra.number(each) for each in joint.translation]))
        w, dw, a = (_turned_in(joint.rotation, each) for each in (w, dw, a))
        if joint.revolute:
            w, dw, a = (_rotated(each, state.cosine[i], -state.sine[i]) for each in (w, dw, a))
            dw = _added(dw, [w[1] * state.qd[i], -(w[0] * state.qd[i]), state.qdd[i]])
            w = [w[0], w[1], w[2] + state.qd[i]]
        else:
            a = _added(a, _carried(w, dw, [zero, zero, state.q[i]]))
            twice = state.qd[i] + state.qd[i]
            a = _added(a, [w[1] * twice, -(w[0] * twice), state.qdd[i]])
        motions.append((w, dw, a))
        f, m = still, still
        for body in member.bodies:
            force, moment = _wrench(body, w, dw, a, algebra)
            f, m = _added(f, force), _added(m, moment)
        wrenches.append((f, m))
    taus: list[Any] = [zero] * len(robot.joints)
    for i, member in reversed([*enumerate(robot.members)]):
        joint, (f, m) = member.joint, wrenches[i]
        own = (m[2] if joint.revolute else f[2]) + state.qdd[i].scaled(joint.rotor)
        own = own if member.multiplier == 1 else own.scaled(member.multiplier)
        taus[member.drive] = taus[member.drive] + own
        if member.carrier == BASE:
            continue
        if joint.revolute:
            f, m = (_rotated(each, state.cosine[i], state.sine[i]) for each in (f, m))
        else:
            m = _added(m, [-(state.q[i] * f[1]), state.q[i] * f[0], zero])
        f, m = (_turned_out(joint.rotation, each) for each in (f, m))
        m = _added(m, _cross([algebra.number(each) for each in joint.translation], f))
        force, moment = wrenches[member.carrier]
        wrenches[member.carrier] = _added(force, f), _added(moment, m)
    return taus


def _wrench(body: Link, w: Vector, dw: Vector, a: Vector, algebra: Any) -> tuple[Vector, Vector]:
    """Return force and moment, about the origin of the link, that move a body."""
    centre = [algebra.number(each) for each in body.centre]
    force = [each.scaled(body.mass) for each in _added(a, _carried(w, dw, centre))]
    spin = [_dot(row, w) for row in body.inertia]
    moment = _added([_dot(row, dw) for row in body.inertia], _cross(w, spin))
    return force, _added(moment, _cross(centre, force))


def _dot(row: tuple[Fraction, ...], v: Vector, off: tuple[float, ...] = (0.0, 0.0, 0.0)) -> Any:
    """Return the sum of factor·number; each factor may be `off` by so much."""
    parts = [each.scaled(factor, slack) for factor, each, slack in zip(row, v, off, strict=True)]
    return parts[0] + parts[1] + parts[2]


def _carried(w: Vector, dw: Vector, r: Vector) -> Vector:
    """Return how much more a point at r accelerates than the origin: ẇ × r + w × (w × r)."""
    return _added(_cross(dw, r), _cross(w, _cross(w, r)))


def _added(u: Vector, v: Vector) -> Vector:
    return [a + b for a, b in zip(u, v, strict=True)]


def _cross(u: Vector, v: Vector) -> Vector:
    return [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]


def _turned_in(rotation: Matrix, v: Vector) -> Vector:
    off = apart(rotation)
    return [_dot(tuple(row[k] for row in rotation), v, tuple(row[k] for row in off)) for k in range(3)]


def _turned_out(rotation: Matrix, v: Vector) -> Vector:
    return [_dot(row, v, off) for row, off in zip(rotation, apart(rotation), strict=True)]


def _rotated(v: Vector, c: Any, s: Any) -> Vector:
    """Return v turned about z by the angle of cosine c and sine s."""
    return [c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]]


def torque_changes(robot: Robot, q: list[float], qd: list[float], qdd: list[float]) -> list[float]:
    """Return, for each torque, how far it can be from that of the same arm with true rotations.

    Parameters are the largest magnitudes of every drive: positions of sliding ones, velocities, accelerations. The
    steps are those of `torques`, in lengths of vectors.
    """
    still = Norm(0.0)
    motions: list[tuple[Norm, Norm, Norm]] = []
    wrenches: list[tuple[Norm, Norm]] = []
    for member in robot.members:
        joint, gain = member.joint, Norm(abs(float(member.multiplier)))
        speed, rate = Norm(qd[member.drive]) * gain, Norm(qdd[member.drive]) * gain
        w, dw, a = motions[member.carrier] if member.carrier != BASE else (still, still, length(robot.gravity))
        a = a + (dw + w * w) * length(joint.translation)
        w, dw, a = (each.turned(off_rotation(joint.rotation)) for each in (w, dw, a))
        if joint.revolute:
            w, dw = w + speed, dw + w * speed + rate
        else:
            a = a + (dw + w * w) * _farthest(member, q) + w * speed + w * speed + rate
        motions.append((w, dw, a))
        f = m = still
        for body in member.bodies:
            force = (a + (dw + w * w) * length(body.centre)) * Norm(abs(float(body.mass)))
            moment = (dw + w * w) * length([each for row in body.inertia for each in row])
            f, m = f + force, m + moment + force * length(body.centre)
        wrenches.append((f, m))
    changes = [still] * len(robot.joints)
    for i, member in reversed([*enumerate(robot.members)]):
        joint, (f, m) = member.joint, wrenches[i]
        own = (m if joint.revolute else f) * Norm(abs(float(member.multiplier)))
        changes[member.drive] = changes[member.drive] + own
        if member.carrier != BASE:
            m = m if joint.revolute else m + f * _farthest(member, q)
            f, m = (each.turned(off_rotation(joint.rotation)) for each in (f, m))
            force, moment = wrenches[member.carrier]
            wrenches[member.carrier] = force + f, moment + m + f * length(joint.translation)
    return [each.change for each in changes]


def _farthest(member: Member, q: list[float]) -> Norm:
    """Return the largest magnitude of the position of a sliding member."""
    return Norm((abs(float(member.multiplier)) * q[member.drive] + abs(float(member.offset))) * (1 + 1e-14))

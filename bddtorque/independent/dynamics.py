"""Torques by Newton and Euler, energies and frames, over any kind of number, on a tree of joints.

Frames, vectors and inertias as docs/robots.md has them: a joint turns about, or slides along, z of its frame, which
stands at `rotation`, `translation` in that of the link that carries it. Forces and moments are taken about the centres
of mass and carried inward, as in the textbook (Luh, Walker, Paul).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .robots import BASE, ZERO, Link, Matrix, Robot

Vector = list[Any]
Frame = tuple[Vector, list[Vector]]
"""The origin of a frame, and its axes, each a column."""


@dataclass(frozen=True)
class State:
    """Of all members: positions (of sliding ones, sines and cosines of turning ones), velocities, accelerations."""

    q: list[Any]
    sine: list[Any]
    cosine: list[Any]
    qd: list[Any]
    qdd: list[Any]


@dataclass(frozen=True)
class Load:
    """A payload in the axes of the tip, as numbers: mass, first moments and inertia about the origin of the tip."""

    mass: Any
    moments: Vector
    inertia: list[Vector]


@dataclass(frozen=True)
class World:
    """Free fall in base axes, and a load at the tip of a robot."""

    gravity: Vector
    load: Load | None = None


def world_of(robot: Robot, algebra: Any) -> World:
    """Return the robot's own gravity, and no load."""
    return World([algebra.number(each) for each in robot.gravity])


def torques(robot: Robot, state: State, algebra: Any, world: World | None = None) -> list[Any]:
    """Return the torque of every drive, friction left out."""
    return drive_torques(robot, state, loads(robot, state, algebra, world), algebra)


def drive_torques(robot: Robot, state: State, carried: Sequence[tuple[Vector, Vector]], algebra: Any) -> list[Any]:
    """Return the torque of every drive from the `loads` of all members."""
    taus: list[Any] = [algebra.number(ZERO)] * len(robot.joints)
    for member, (f, m), qdd in zip(robot.members, carried, state.qdd, strict=True):
        own = (m[2] if member.joint.turns else f[2]) + qdd.scaled(member.joint.rotor)
        taus[member.drive] = taus[member.drive] + own.scaled(member.multiplier)
    return taus


def loads(robot: Robot, state: State, algebra: Any, world: World | None = None) -> list[tuple[Vector, Vector]]:
    """Return the force that every member carries and its moment about the origin of its frame, in axes of that."""
    world = world or world_of(robot, algebra)
    load, zero = world.load, algebra.number(ZERO)
    still: Vector = [zero] * 3
    motions: list[tuple[Vector, Vector, Vector]] = []
    wrenches: list[tuple[Vector, Vector]] = []
    for i, member in enumerate(robot.members):
        joint = member.joint
        if member.carrier == BASE:  # where the base stands does not matter
            w, dw, a = still, still, [-each for each in world.gravity]
        else:
            w, dw, a = motions[member.carrier]
            a = added(a, _carried(w, dw, [algebra.number(each) for each in joint.translation]))
        w, dw, a = (_turned_in(joint.rotation, each) for each in (w, dw, a))
        if joint.turns:
            w, dw, a = (_rotated(each, state.cosine[i], -state.sine[i]) for each in (w, dw, a))
            dw = added(dw, [w[1] * state.qd[i], -(w[0] * state.qd[i]), state.qdd[i]])
            w = [w[0], w[1], w[2] + state.qd[i]]
        else:
            a = added(a, _carried(w, dw, [zero, zero, state.q[i]]))
            twice = state.qd[i] + state.qd[i]
            a = added(a, [w[1] * twice, -(w[0] * twice), state.qdd[i]])
        motions.append((w, dw, a))
        f, m = still, still
        for body in member.bodies:
            force, moment = _wrench(body, w, dw, a, algebra)
            f, m = added(f, force), added(m, moment)
        if load is not None and i == robot.tip:
            force, moment = _load_wrench(robot, load, w, dw, a, algebra)
            f, m = added(f, force), added(m, moment)
        wrenches.append((f, m))
    for i, member in reversed([*enumerate(robot.members)]):
        joint, (f, m) = member.joint, wrenches[i]
        if member.carrier == BASE:
            continue
        if joint.turns:
            f, m = (_rotated(each, state.cosine[i], state.sine[i]) for each in (f, m))
        else:
            m = added(m, [-(state.q[i] * f[1]), state.q[i] * f[0], zero])
        f, m = (_turned_out(joint.rotation, each) for each in (f, m))
        m = added(m, cross([algebra.number(each) for each in joint.translation], f))
        force, moment = wrenches[member.carrier]
        wrenches[member.carrier] = added(force, f), added(moment, m)
    return wrenches


def kinetic_energy(robot: Robot, state: State, algebra: Any, world: World) -> Any:
    """Return ½ Σ (m·v² + w·K·w) of all bodies at their centres of mass, rotors and the load included."""
    zero = algebra.number(ZERO)
    twice, motions = zero, list[tuple[Vector, Vector]]()
    for i, member in enumerate(robot.members):
        joint, (w, v) = member.joint, ([zero] * 3, [zero] * 3)
        if member.carrier != BASE:
            w, v = motions[member.carrier]
            v = added(v, cross(w, [algebra.number(each) for each in joint.translation]))
        w, v = (_turned_in(joint.rotation, each) for each in (w, v))
        if joint.turns:
            w, v = (_rotated(each, state.cosine[i], -state.sine[i]) for each in (w, v))
            w = [w[0], w[1], w[2] + state.qd[i]]
        else:
            v = added(v, cross(w, [zero, zero, state.q[i]]))
            v = [v[0], v[1], v[2] + state.qd[i]]
        motions.append((w, v))
        twice = twice + (state.qd[i] * state.qd[i]).scaled(joint.rotor)
        for body in member.bodies:
            centre = added(v, cross(w, [algebra.number(each) for each in body.centre]))
            twice = twice + inner(centre, centre).scaled(body.mass) + inner(w, [_dot(row, w) for row in body.inertia])
        if world.load is not None and i == robot.tip:
            v = added(v, cross(w, [algebra.number(each) for each in robot.tip_translation]))
            w, v = (_turned_in(robot.tip_rotation, each) for each in (w, v))
            across = inner(v, cross(w, world.load.moments))
            twice = twice + inner(v, v) * world.load.mass + across + across
            twice = twice + inner(w, [inner(row, w) for row in world.load.inertia])
    return twice.scaled(Fraction(1, 2))


def _wrench(body: Link, w: Vector, dw: Vector, a: Vector, algebra: Any) -> tuple[Vector, Vector]:
    """Return force and moment, about the origin of the link, that move a body."""
    centre = [algebra.number(each) for each in body.centre]
    force = [each.scaled(body.mass) for each in added(a, _carried(w, dw, centre))]
    spin = [_dot(row, w) for row in body.inertia]
    moment = added([_dot(row, dw) for row in body.inertia], cross(w, spin))
    return force, added(moment, cross(centre, force))


def _load_wrench(robot: Robot, load: Load, w: Vector, dw: Vector, a: Vector, algebra: Any) -> tuple[Vector, Vector]:
    """Return force and moment, about the origin of the link that carries it, that move a payload at the tip."""
    arm = [algebra.number(each) for each in robot.tip_translation]
    a = added(a, _carried(w, dw, arm))
    w, dw, a = (_turned_in(robot.tip_rotation, each) for each in (w, dw, a))
    force = added([each * load.mass for each in a], _carried(w, dw, load.moments))
    spin, gain = ([inner(row, v) for row in load.inertia] for v in (w, dw))
    moment = added(added(gain, cross(w, spin)), cross(load.moments, a))
    force, moment = (_turned_out(robot.tip_rotation, each) for each in (force, moment))
    return force, added(moment, cross(arm, force))


def _sum(numbers: Vector) -> Any:
    return numbers[0] + numbers[1] + numbers[2]


def _dot(row: tuple[Fraction, ...], v: Vector) -> Any:
    return _sum([each.scaled(factor) for factor, each in zip(row, v, strict=True)])


def inner(u: Vector, v: Vector) -> Any:
    """Return the inner product."""
    return _sum([a * b for a, b in zip(u, v, strict=True)])


def _carried(w: Vector, dw: Vector, r: Vector) -> Vector:
    """Return how much more a point at r accelerates than the origin: ẇ × r + w × (w × r)."""
    return added(cross(dw, r), cross(w, cross(w, r)))


def added(u: Vector, v: Vector) -> Vector:
    """Return the sum of two vectors."""
    return [a + b for a, b in zip(u, v, strict=True)]


def cross(u: Vector, v: Vector) -> Vector:
    """Return the cross product."""
    return [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]


def _turned_in(rotation: Matrix, v: Vector) -> Vector:
    return [_dot(tuple(row[k] for row in rotation), v) for k in range(3)]


def _turned_out(rotation: Matrix, v: Vector) -> Vector:
    return [_dot(row, v) for row in rotation]


def _rotated(v: Vector, c: Any, s: Any) -> Vector:
    """Return v turned about z by the angle of cosine c and sine s."""
    return [c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]]


def frames_of(robot: Robot, state: State, algebra: Any, members: Iterable[int]) -> dict[int, Frame]:
    """Return the frames of members, each listed after the one that carries it."""
    base: Frame = [algebra.number(ZERO)] * 3, [[algebra.number(Fraction(i == k)) for i in range(3)] for k in range(3)]
    found: dict[int, Frame] = {}
    for i in members:
        joint, carrier = robot.members[i].joint, robot.members[i].carrier
        place, columns = moved(base if carrier == BASE else found[carrier], joint.rotation, joint.translation, algebra)
        x, y, z = columns
        if joint.turns:
            c, s = state.cosine[i], state.sine[i]
            x, y = (
                [c * a + s * b for a, b in zip(x, y, strict=True)],
                [c * b - s * a for a, b in zip(x, y, strict=True)],
            )
        else:
            place = added(place, [each * state.q[i] for each in z])
        found[i] = place, [x, y, z]
    return found


def tip_frame(robot: Robot, frames: dict[int, Frame], algebra: Any) -> Frame:
    """Return the frame of the tip."""
    return moved(frames[robot.tip_path[-1]], robot.tip_rotation, robot.tip_translation, algebra)


def moved(frame: Frame, rotation: Sequence[Sequence[Fraction]], way: Sequence[Fraction], algebra: Any) -> Frame:
    """Return a frame that stands in another at a rotation and a translation."""
    place, columns = frame
    turned = [combined(columns, [algebra.number(row[k]) for row in rotation]) for k in range(3)]
    return added(place, combined(columns, [algebra.number(each) for each in way])), turned


def combined(columns: Sequence[Sequence[Any]], numbers: Sequence[Any]) -> Vector:
    """Return the sum of columns times numbers."""
    parts = [[each * number for each in column] for column, number in zip(columns, numbers, strict=True)]
    return added(added(parts[0], parts[1]), parts[2])

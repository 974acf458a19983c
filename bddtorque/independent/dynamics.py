"""The arm of a file, and its torques by Newton and Euler over any kind of number.

Frames, vectors and inertias as docs/robots.md has them: joint i turns about, or slides along, z of its frame, which
stands at `rotation`, `translation` in that of the link before. Forces and moments are taken about the centres of mass
and carried inward, as in the textbook (Luh, Walker, Paul).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .findings import require
from .laws import Law, law_of
from .reading import flag, list_of, matrix, object_of, real, text, vector
from .rotations import Matrix, Norm, apart, is_rotation, length, off_rotation

Row = tuple[float, float, float]
Vector = list[Any]

ZERO = Fraction(0)
UNPHYSICAL = 1e-6
"""Of the trace of an inertia: how far it may be from that of a body, since files round."""


@dataclass(frozen=True)
class Link:
    """Mass, centre of mass and inertia about it, in the frame of the link (of the tip, for a payload)."""

    mass: Fraction
    centre: tuple[Fraction, ...]
    inertia: Matrix


@dataclass(frozen=True)
class Joint:
    """One joint; `friction` is a law of its velocity, or None."""

    name: str
    revolute: bool
    rotation: Matrix
    translation: tuple[Fraction, ...]
    rotor: Fraction
    friction: Law | None


@dataclass(frozen=True)
class Robot:
    """A serial arm."""

    name: str
    joints: tuple[Joint, ...]
    links: tuple[Link, ...]
    gravity: tuple[Fraction, ...]
    tip_rotation: Matrix
    tip_translation: tuple[Fraction, ...]
    payload: Link | None


def robot_of(plain: Any) -> Robot:
    """Return the robot of a header."""
    keys = ("name", "joints", "links", "gravity", "tip", "payload", "source", "allow_unphysical")
    given = object_of(plain, keys, "robot")
    joints = tuple(_joint(each, f"robot, joint {k}") for k, each in enumerate(list_of(given["joints"], "robot"), 1))
    links = tuple(_link(each, f"robot, link {k}") for k, each in enumerate(list_of(given["links"], "robot"), 1))
    require(1 <= len(joints) == len(links), "robot: expected a link a joint")
    tip = object_of(given["tip"], ("rotation", "translation"), "robot, tip")
    text(given["source"], "robot, source")
    payload = None if given["payload"] is None else _link(given["payload"], "robot, payload")
    if not flag(given["allow_unphysical"], "robot, allow_unphysical"):
        for body in (*given["links"], *([] if given["payload"] is None else [given["payload"]])):
            _check_physical(body, f"robot, '{body['name']:.40}'")
    rotation = _exact_rows(matrix(tip["rotation"], "robot, tip"))
    gravity, translation = (_exact(vector(each, "robot")) for each in (given["gravity"], tip["translation"]))
    rotations = [*(joint.rotation for joint in joints), rotation]
    require(all(is_rotation(each) for each in rotations), "robot: expected rotations")
    return Robot(text(given["name"], "robot"), joints, links, gravity, rotation, translation, payload)


def _joint(plain: Any, where: str) -> Joint:
    keys: tuple[str, ...] = ("name", "kind", "rotation", "translation", "rotor_inertia")
    keys += ("lower", "upper", "velocity", "acceleration", "effort")
    friction = ("friction",) if isinstance(plain, dict) and "friction" in plain else ()
    given = object_of(plain, (*keys, *friction), where)
    require(given["kind"] in ("revolute", "prismatic"), f"{where}: expected revolute or prismatic")
    for key in ("lower", "upper", "velocity", "acceleration", "effort"):
        require(given[key] is None or real(given[key], where) is not None, where)
    law = law_of(given["friction"], 1, where) if friction else None
    rotation = _exact_rows(matrix(given["rotation"], where))
    translation = _exact(vector(given["translation"], where))
    rotor = Fraction(real(given["rotor_inertia"], where))
    return Joint(text(given["name"], where), given["kind"] == "revolute", rotation, translation, rotor, law)


def _link(plain: Any, where: str) -> Link:
    given = object_of(plain, ("name", "mass", "centre_of_mass", "inertia"), where)
    text(given["name"], where)
    K = _exact_rows(matrix(given["inertia"], where))
    inertia = tuple(tuple((K[i][j] + K[j][i]) / 2 for j in range(3)) for i in range(3))  # symmetric, to the last digit
    return Link(Fraction(real(given["mass"], where)), _exact(vector(given["centre_of_mass"], where)), inertia)


def _check_physical(body: dict[str, Any], where: str) -> None:
    """Refuse what no rigid body has: negative masses or moments, asymmetry, a broken triangle inequality."""
    inertia = np.array(matrix(body["inertia"], where))
    allowed = UNPHYSICAL * max(abs(float(np.trace(inertia))), 1e-12)
    require(real(body["mass"], where) >= 0, f"{where}: expected a mass of at least 0")
    require(float(np.abs(inertia - inertia.T).max()) <= allowed, f"{where}: expected a symmetric inertia")
    small, middle, large = np.linalg.eigvalsh((inertia + inertia.T) / 2).tolist()
    require(small >= -allowed and large <= small + middle + allowed, f"{where}: expected the inertia of a body")


def _exact(row: Row) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, row))


def _exact_rows(rows: tuple[Row, ...]) -> Matrix:
    return tuple(_exact(row) for row in rows)


def bodies_of(robot: Robot, joint: int) -> list[Link]:
    """Return the bodies that move with a joint, in the frame of its link: the payload is one more on the last."""
    bodies = [robot.links[joint]]
    if robot.payload is not None and joint == len(robot.joints) - 1:
        R = robot.tip_rotation
        load = robot.payload
        centre = tuple(
            p + sum((r * c for r, c in zip(row, load.centre, strict=True)), ZERO)
            for row, p in zip(R, robot.tip_translation, strict=True)
        )
        turned = tuple(
            tuple(
                sum((R[i][k] * load.inertia[k][m] * R[j][m] for k in range(3) for m in range(3)), ZERO)
                for j in range(3)
            )
            for i in range(3)
        )
        bodies.append(Link(load.mass, centre, turned))
    return bodies


def torques(robot: Robot, state: State, algebra: Any) -> list[Any]:
    """Return the torque of every joint, friction left out; rotations are within `apart` of those of the file."""
    zero = algebra.number(ZERO)
    w: Vector = [zero] * 3
    dw: Vector = [zero] * 3
    a: Vector = [algebra.number(-each) for each in robot.gravity]
    wrenches = []
    for i, joint in enumerate(robot.joints):
        arm = joint.translation if i else (ZERO, ZERO, ZERO)  # where the base stands does not matter
        a = _added(a, _carried(w, dw, [algebra.number(each) for each in arm]))
        w, dw, a = (_turned_in(joint.rotation, each) for each in (w, dw, a))
        if joint.revolute:
            w, dw, a = (_rotated(each, state.cosine[i], -state.sine[i]) for each in (w, dw, a))
            dw = _added(dw, [w[1] * state.qd[i], -(w[0] * state.qd[i]), state.qdd[i]])
            w = [w[0], w[1], w[2] + state.qd[i]]
        else:
            a = _added(a, _carried(w, dw, [zero, zero, state.q[i]]))
            twice = state.qd[i] + state.qd[i]
            a = _added(a, [w[1] * twice, -(w[0] * twice), state.qdd[i]])
        wrenches.append([_wrench(body, w, dw, a, algebra) for body in bodies_of(robot, i)])
    taus: list[Any] = [zero] * len(robot.joints)
    f: Vector = [zero] * 3
    m: Vector = [zero] * 3
    for i in reversed(range(len(robot.joints))):
        joint = robot.joints[i]
        for force, moment in wrenches[i]:
            f, m = _added(f, force), _added(m, moment)
        taus[i] = (m[2] if joint.revolute else f[2]) + state.qdd[i].scaled(joint.rotor)
        if joint.revolute:
            f, m = (_rotated(each, state.cosine[i], state.sine[i]) for each in (f, m))
        else:
            m = _added(m, [-(state.q[i] * f[1]), state.q[i] * f[0], zero])
        f, m = (_turned_out(joint.rotation, each) for each in (f, m))
        m = _added(m, _cross([algebra.number(each) for each in joint.translation], f))
    return taus


@dataclass(frozen=True)
class State:
    """Positions (of sliding joints, and sines and cosines of turning ones), velocities and accelerations."""

    q: list[Any]
    sine: list[Any]
    cosine: list[Any]
    qd: list[Any]
    qdd: list[Any]


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

    Parameters are the largest magnitudes of every joint: positions of sliding ones, velocities, accelerations. The
    steps are those of `torques`, in lengths of vectors.
    """
    w = dw = Norm(0.0)
    a = length(robot.gravity)
    offs = [off_rotation(joint.rotation) for joint in robot.joints]
    wrenches = []
    for i, joint in enumerate(robot.joints):
        speed, gain = Norm(qd[i]), Norm(qdd[i])
        a = a + (dw + w * w) * length(joint.translation)
        w, dw, a = (each.turned(offs[i]) for each in (w, dw, a))
        if joint.revolute:
            w, dw = w + speed, dw + w * speed + gain
        else:
            a = a + (dw + w * w) * Norm(q[i]) + w * speed + w * speed + gain
        for body in bodies_of(robot, i):
            force = (a + (dw + w * w) * length(body.centre)) * Norm(abs(float(body.mass)))
            moment = (dw + w * w) * length([each for row in body.inertia for each in row])
            wrenches.append((i, force, moment + force * length(body.centre)))
    changes = []
    f = m = Norm(0.0)
    for i, joint in reversed([*enumerate(robot.joints)]):
        for place, force, moment in wrenches:
            if place == i:
                f, m = f + force, m + moment
        changes.append((m if joint.revolute else f).change)
        if not joint.revolute:
            m = m + f * Norm(q[i])
        f, m = f.turned(offs[i]), m.turned(offs[i])
        m = m + f * length(joint.translation)
    return changes[::-1]

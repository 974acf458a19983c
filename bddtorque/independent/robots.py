"""The robot of a file: a tree of joints on a fixed base, some of which may follow others (docs/format.md, robot)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from .findings import RefusedError, require
from .joint_kinds import KINDS, Motion
from .laws import Law, law_of
from .reading import (
    Reader,
    exact_matrix,
    exact_vector,
    fields_of,
    flag,
    list_of,
    matrix,
    object_of,
    optional,
    real,
    several,
    text,
)  # fmt: skip

Matrix = tuple[tuple[Fraction, ...], ...]

ZERO = Fraction(0)
BASE = -1
IDENTITY: Matrix = tuple(tuple(Fraction(i == k) for i in range(3)) for k in range(3))
UNPHYSICAL = 1e-6
"""Of the trace of an inertia: how far it may be from that of a body, since files round."""
LIMITS = ("lower", "upper", "velocity", "acceleration", "effort")
SAID: dict[str, Reader] = {"friction": lambda plain, where: plain, "parent": text}
"""Keys of a joint that it need not have; a law is read apart."""


@dataclass(frozen=True)
class Link:
    """Mass, centre of mass and inertia about it, in the frame of the link (of the tip, for a payload)."""

    mass: Fraction
    centre: tuple[Fraction, ...]
    inertia: Matrix


@dataclass(frozen=True)
class Joint:
    """One joint; `friction` is a law of its velocity, or None, as the file says it; `parent` is what carries it.

    `motions` are those it is made of, `turns` tells if it turns in the last of them.
    """

    name: str
    turns: bool
    rotation: Matrix
    translation: tuple[Fraction, ...]
    rotor: Fraction
    friction: Law | None
    friction_said: Any
    parent: str | None
    motions: tuple[Motion, ...]


@dataclass(frozen=True)
class Member:
    """A joint of the tree with the bodies that move with it, in the frame of its link.

    Its position is multiplier·(position of the drive) + offset; a drive has itself as drive. `carrier` is the place of
    the member that carries it, or BASE.
    """

    joint: Joint
    bodies: tuple[Link, ...]
    carrier: int
    drive: int
    multiplier: Fraction = Fraction(1)
    offset: Fraction = ZERO

    @property
    def slides(self) -> bool:
        """Tell if it slides, and does so as its drive moves."""
        return not self.joint.turns and self.multiplier != 0

    @property
    def fraction(self) -> Fraction | None:
        """The size of a multiplier that is no whole number, of a joint that turns."""
        whole = not self.joint.turns or self.multiplier.denominator == 1
        return None if whole else abs(self.multiplier)


@dataclass(frozen=True)
class Robot:
    """The joints with a drive, in the order of the words, and all members, each after the one that carries it.

    A joint that is made of several motions is as many members, which follow it.
    """

    name: str
    joints: tuple[Joint, ...]
    members: tuple[Member, ...]
    gravity: tuple[Fraction, ...]
    tip_rotation: Matrix
    tip_translation: tuple[Fraction, ...]
    tip: int | None
    """The member that carries the tip; None where a tree does not say."""

    @property
    def skew(self) -> float:
        """The distance of all rotations together from true ones, at most."""
        return sum(map(off_rotation, (*(member.joint.rotation for member in self.members), self.tip_rotation)))

    @property
    def tip_path(self) -> list[int]:
        """The members from the base to the tip."""
        require(self.tip is not None, "robot: expected a tip of one chain, or one that names its parent")
        path, place = list[int](), self.tip
        while place is not None and place != BASE:
            path.insert(0, place)
            place = self.members[place].carrier
        return path


def robot_of(plain: Any) -> Robot:
    """Return the robot of a header."""
    keys: tuple[str, ...] = ("name", "joints", "links", "gravity", "tip", "payload", "source", "allow_unphysical")
    followed = isinstance(plain, dict) and "followers" in plain
    given = object_of(plain, (*keys, *(("followers",) if followed else ())), "robot")
    joints, links = several(_joint)(given["joints"], "robot, joint"), several(_link)(given["links"], "robot, link")
    require(1 <= len(joints) == len(links), "robot: expected a link a joint")
    named = isinstance(given["tip"], dict) and "parent" in given["tip"]
    tip = object_of(given["tip"], ("rotation", "translation", *(("parent",) if named else ())), "robot, tip")
    text(given["source"], "robot, source")
    payload = None if given["payload"] is None else _link(given["payload"], "robot, payload")
    members = [Member(joint, (link,), BASE, k) for k, (joint, link) in enumerate(zip(joints, links, strict=True))]
    rows = list_of(given.get("followers", []), "robot, followers")
    require(not followed or bool(rows), "robot: expected followers where they are listed")
    members += [_follower(each, joints, f"robot, follower {k}") for k, each in enumerate(rows, 1)]
    rotation, translation = exact_matrix(tip["rotation"], "robot, tip"), exact_vector(tip["translation"], "robot, tip")
    gravity = exact_vector(given["gravity"], "robot, gravity")
    if not flag(given["allow_unphysical"], "robot, allow_unphysical"):
        bodies = [*given["links"], *(each["link"] for each in rows), *([given["payload"]] if payload else [])]
        for body in bodies:
            _check_physical(body, f"robot, '{body['name']:.40}'")
    rotations = [*(member.joint.rotation for member in members), rotation]
    require(all(is_rotation(each) for each in rotations), "robot: expected rotations")
    ordered = list(_in_order(members, len(joints)))
    place = _tip_place(ordered, tip)
    if payload is not None:
        if place is None:
            raise RefusedError("robot: expected the tip of a tree with a payload to name its parent")
        load = _carried(payload, rotation, translation)
        ordered[place] = replace(ordered[place], bodies=(*ordered[place].bodies, load))
    name, (moving, places) = text(given["name"], "robot"), _in_motions(ordered)
    return Robot(name, joints, moving, gravity, rotation, translation, None if place is None else places[place])


def _in_motions(members: list[Member]) -> tuple[tuple[Member, ...], dict[int, int]]:
    """Return members that only turn or only slide, and the place among them of what carries each link."""
    made, places = list[Member](), {BASE: BASE}
    for k, member in enumerate(members):
        joint, carrier = member.joint, places[member.carrier]
        *before, _ = joint.motions
        for turns, factor in before:  # without a link of its own
            part = replace(joint, turns=turns, rotor=ZERO)
            ways = (Fraction(float(each) * float(factor)) for each in (member.multiplier, member.offset))
            made.append(Member(part, (), carrier, member.drive, *ways))
            joint, carrier = replace(joint, rotation=IDENTITY, translation=(ZERO,) * 3), len(made) - 1
        places[k] = len(made)
        made.append(replace(member, joint=joint, carrier=carrier))
    return tuple(made), places


def _tip_place(members: list[Member], tip: dict[str, Any]) -> int | None:
    """Return which member carries the tip: the one that it names, or the last of a chain."""
    chain = all(member.carrier == k - 1 for k, member in enumerate(members))
    if "parent" not in tip:
        return len(members) - 1 if chain else None
    names = [member.joint.name for member in members]
    require(tip["parent"] in names, "robot, tip: expected a parent that is a joint")
    place = names.index(tip["parent"])
    require(not chain or place < len(names) - 1, "robot, tip: expected no parent to be named")
    return place


def _joint(plain: Any, where: str, follows: bool = False) -> Joint:
    keys = plain if isinstance(plain, dict) else {}
    said = tuple(key for key in ("friction", "parent") if key in keys)
    require(not follows or said == ("parent",), f"{where}: expected a parent and no friction")
    kind = KINDS.get(text(keys.get("kind"), f"{where}, kind"))
    if kind is None:
        raise RefusedError(f"{where}: expected {' or '.join(KINDS)}")
    readers: dict[str, Reader] = {
        "name": text, "kind": text, "rotation": exact_matrix, "translation": exact_vector, "rotor_inertia": real,
        **dict.fromkeys(LIMITS, optional(real)), **{key: SAID[key] for key in said}, **dict.fromkeys(kind.keys, real),
    }  # fmt: skip
    fields = fields_of(plain, readers, where)
    motions = kind.motions(*(fields[key] for key in kind.keys))
    law = law_of(fields["friction"], 1, where) if "friction" in said else None
    rotor = Fraction(fields["rotor_inertia"])
    placed = fields["rotation"], fields["translation"], rotor
    return Joint(fields["name"], motions[-1][0], *placed, law, fields.get("friction"), fields.get("parent"), motions)


def _follower(plain: Any, joints: tuple[Joint, ...], where: str) -> Member:
    given = object_of(plain, ("joint", "link", "leader", "multiplier", "offset"), where)
    joint, names = _joint(given["joint"], where, follows=True), [each.name for each in joints]
    require(given["leader"] in names, f"{where}: expected a joint with a drive as leader")
    drive = names.index(given["leader"])
    multiplier, offset = (Fraction(real(given[key], where)) for key in ("multiplier", "offset"))
    require(multiplier != 0, f"{where}: expected a multiplier that is not 0")
    require(joints[drive].turns or not joint.turns, f"{where}: expected it to slide, as its leader does")
    return Member(joint, (_link(given["link"], where),), BASE, drive, multiplier, offset)


def _in_order(members: list[Member], drives: int) -> tuple[Member, ...]:
    """Return the members, each after the one that carries it."""
    names = [member.joint.name for member in members]
    require(len(set(names)) == len(names), "robot: expected joints of different names")
    carriers: list[str] = []
    for k, member in enumerate(members):
        before = names[k - 1] if 0 < k < drives else ""
        parent = before if member.joint.parent is None else member.joint.parent
        require(k >= drives or member.joint.parent != before, f"robot, joint {k + 1}: expected no parent to be named")
        require(parent in ("", *names), f"robot, '{names[k]:.40}': expected a parent that is a joint")
        carriers.append(parent)
    order: list[int] = []
    places = {"": BASE}
    while len(order) < len(members):
        ready = [k for k in range(len(members)) if names[k] not in places and carriers[k] in places]
        if not ready:
            raise RefusedError("robot: expected a tree of joints on the base")
        for k in ready:
            places[names[k]] = len(order)
            order.append(k)
    return tuple(replace(members[k], carrier=places[carriers[k]]) for k in order)


def _link(plain: Any, where: str) -> Link:
    readers = {"name": text, "mass": real, "centre_of_mass": exact_vector, "inertia": exact_matrix}
    _, mass, centre, inertia = fields_of(plain, readers, where).values()
    stated = np.array(inertia)
    return Link(Fraction(mass), centre, _rows((stated + stated.T) / 2))  # symmetric, to the last digit


def _carried(load: Link, rotation: Matrix, translation: tuple[Fraction, ...]) -> Link:
    """Return a body at the tip in the frame of the last link."""
    R = np.array(rotation)
    centre = np.array(translation) + R @ np.array(load.centre)
    return Link(load.mass, tuple(centre), _rows(R @ np.array(load.inertia) @ R.T))


def _check_physical(body: dict[str, Any], where: str) -> None:
    """Refuse what no rigid body has: negative masses or moments, asymmetry, a broken triangle inequality."""
    inertia = np.array(matrix(body["inertia"], where))
    allowed = UNPHYSICAL * max(abs(float(np.trace(inertia))), 1e-12)
    require(real(body["mass"], where) >= 0, f"{where}: expected a mass of at least 0")
    require(float(np.abs(inertia - inertia.T).max()) <= allowed, f"{where}: expected a symmetric inertia")
    small, middle, large = np.linalg.eigvalsh((inertia + inertia.T) / 2).tolist()
    require(small >= -allowed and large <= small + middle + allowed, f"{where}: expected the inertia of a body")


def _rows(matrix: Any) -> Matrix:
    """Return an array of rationals as rows."""
    return tuple(map(tuple, matrix))


def gram(rotation: Matrix) -> Matrix:
    """Return R·Rᵀ − 1."""
    R = np.array(rotation)
    return _rows(R @ R.T - np.array(IDENTITY))


def is_rotation(rotation: Matrix) -> bool:
    """Tell if a matrix turns, to float precision, and does not mirror."""
    orthogonal = max(abs(entry) for row in gram(rotation) for entry in row) < Fraction(1, 10**6)
    return orthogonal and bool(np.linalg.det(np.array(rotation, dtype=np.float64)) > 0)  # then it is 1 or -1, nearly


def off_rotation(rotation: Matrix) -> float:
    """Return how far a matrix can be from a true rotation; 0 where it is one."""
    squares = sum((each * each for row in gram(rotation) for each in row), Fraction(0))
    return math.sqrt(float(squares)) * (1 + 1e-12)

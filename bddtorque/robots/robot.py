"""`Robot`: a chain or tree of revolute and prismatic joints on a fixed base, immutable and validated.

Every joint moves about or along the z axis of its own frame; readers turn frames so that this holds. The frame of
link i is the frame of joint i after its motion, so that its pose in the link that carries joint i is

    rotation_i · Rz(q_i),  translation_i                                   (revolute)
    rotation_i,            translation_i + rotation_i · [0, 0, q_i]        (prismatic)
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError, unknown
from bddtorque.base.plain import Matrix, Vector, choice, matrix, real, vector
from bddtorque.base.shown_tables import text_table
from bddtorque.laws.joint_friction import JointFriction, joint_friction
from bddtorque.robots.frames import dot, times
from bddtorque.robots.tree_order import BASE, carried_order

Kind = Literal["revolute", "prismatic"]

IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
ZERO: Vector = (0.0, 0.0, 0.0)
NO_INERTIA: Matrix = (ZERO, ZERO, ZERO)
STANDARD_GRAVITY: Vector = (0.0, 0.0, -9.81)

PHYSICAL_TOLERANCE = 1e-6
"""How far, relative to its trace, an inertia may miss symmetry, positivity and the triangle inequality."""
ROTATION_TOLERANCE = 1e-9
"""How far the entries of RᵀR may be from the identity."""


def rotation_matrix(rows: object, where: str) -> Matrix:
    """Return a rotation matrix, or refuse and say where."""
    rotation = matrix(rows, f"{where}: rotation")
    R = np.array(rotation)
    # no entry of a rotation is above 1; looked at first, since the squares of huge ones overflow
    if np.abs(R).max() > 2 or np.abs(R.T @ R - np.eye(3)).max() > ROTATION_TOLERANCE or np.linalg.det(R) < 0:
        raise BddTorqueError(f"{where}: rotation must be orthonormal with determinant 1, got {rotation}")
    return rotation


@dataclass(frozen=True, slots=True)
class Joint:
    """A moving joint and its place on the link that carries it.

    Attributes
    ----------
    name
        Its name.
    kind
        ``"revolute"`` or ``"prismatic"``.
    rotation
        Orientation of the joint frame in the frame of the link that carries it.
    translation
        Origin of the joint frame in the frame of the link that carries it, m.
    rotor_inertia
        Inertia of the drive as seen at the joint (gear ratio squared), kg·m² or kg.
    lower, upper
        Position limits, rad or m; infinite if there are none.
    velocity, acceleration
        Largest magnitudes, rad/s and rad/s² or m/s and m/s²; infinite if unknown.
    effort
        Largest magnitude of the joint torque or force, N·m or N; infinite if unknown.
    friction
        Friction as a law of the velocity; None for no friction.
    parent
        The joint whose link carries it, by name, or ``""`` for the base; None: the joint before it, if any.
    """

    name: str
    kind: Kind
    rotation: Matrix = IDENTITY
    translation: Vector = ZERO
    rotor_inertia: float = 0.0
    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    acceleration: float = math.inf
    effort: float = math.inf
    friction: JointFriction | None = None
    parent: str | None = None

    def __post_init__(self) -> None:
        where = f"joint '{self.name}'"
        if self.friction is not None:
            object.__setattr__(self, "friction", joint_friction(self.friction, f"{where}, friction"))
        choice(self.kind, ("revolute", "prismatic"), f"{where}: kind")
        object.__setattr__(self, "rotation", rotation_matrix(self.rotation, where))
        object.__setattr__(self, "translation", vector(self.translation, f"{where}: translation"))
        real(self.rotor_inertia, f"{where}: rotor_inertia", low=0)
        if not self.lower < self.upper:  # refuses NaN as well
            raise BddTorqueError(f"{where}: the lower limit must be below the upper, got {self.lower} and {self.upper}")
        for limit in ("velocity", "acceleration", "effort"):
            if not getattr(self, limit) > 0:
                raise BddTorqueError(f"{where}: the {limit} limit must be above 0, got {getattr(self, limit)}")

    @property
    def revolute(self) -> bool:
        """Whether the joint turns (else it slides)."""
        return self.kind == "revolute"


@dataclass(frozen=True, slots=True)
class Link:
    """A rigid body: mass (kg), centre of mass (m) and inertia about it (kg·m²), in the frame of the link."""

    name: str
    mass: float = 0.0
    centre_of_mass: Vector = ZERO
    inertia: Matrix = NO_INERTIA

    def __post_init__(self) -> None:
        where = f"link '{self.name}'"
        object.__setattr__(self, "mass", real(self.mass, f"{where}: mass", low=0, what="a finite number of kg"))
        object.__setattr__(self, "centre_of_mass", vector(self.centre_of_mass, f"{where}: centre_of_mass"))
        object.__setattr__(self, "inertia", matrix(self.inertia, f"{where}: inertia"))
        if not math.isfinite(self.mass * sum(x * x for x in self.centre_of_mass)):  # the dynamics will form this
            raise BddTorqueError(
                f"{where}: mass times distance squared must be finite, got {self.mass} kg at {self.centre_of_mass}"
            )

    @property
    def first_moment(self) -> npt.NDArray[np.float64]:
        """Mass times centre of mass, kg·m, shape (3,)."""
        return self.mass * np.array(self.centre_of_mass)

    @property
    def inertia_about_origin(self) -> npt.NDArray[np.float64]:
        """Inertia about the origin of the link frame, kg·m², shape (3, 3) (parallel axes)."""
        c = np.array(self.centre_of_mass)
        about_origin: npt.NDArray[np.float64] = np.array(self.inertia) + self.mass * (
            dot(c, c) * np.eye(3) - np.outer(c, c)
        )
        return about_origin

    def why_unphysical(self) -> str | None:
        """Return why no rigid body has this inertia (asymmetry, negative moment, triangle inequality), or None."""
        inertia = np.array(self.inertia)
        scale = max(float(np.abs(inertia).max()), 1.0)  # so that the largest floats add up as well
        inertia /= scale
        allowance = PHYSICAL_TOLERANCE * max(float(np.trace(inertia)), 1e-12 / scale)
        if np.abs(inertia - inertia.T).max() > allowance:
            return "inertia must be symmetric"
        moments = np.linalg.eigvalsh((inertia + inertia.T) / 2)
        shown = ", ".join(f"{moment * scale:.6g}" for moment in moments.tolist())
        if moments[0] < -allowance:
            return f"inertia must be positive semi-definite, its principal moments are {shown}"
        if moments[2] > moments[0] + moments[1] + allowance:
            return f"inertia must satisfy the triangle inequality, its principal moments are {shown}"
        return None

    def joined(self, other: Link, rotation: Matrix = IDENTITY, translation: Vector = ZERO) -> Link:
        """Return this body and `other` as one; `rotation` and `translation` place the frame of `other` in this one."""
        R, p = np.array(rotation), np.array(translation)
        mass = self.mass + other.mass
        own, others = np.array(self.centre_of_mass), times(R, np.array(other.centre_of_mass)) + p
        centre = (self.mass * own + other.mass * others) / mass if mass > 0 else own
        inertia = np.zeros((3, 3))
        for body_mass, body_centre, body_inertia in (
            (self.mass, own, np.array(self.inertia)),
            (other.mass, others, times(times(R, np.array(other.inertia)), R.T)),
        ):
            d = body_centre - centre
            inertia += body_inertia + body_mass * (dot(d, d) * np.eye(3) - np.outer(d, d))
        return Link(self.name, mass, vector(centre, self.name), matrix(inertia, self.name))


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame fixed to a link: its orientation and origin (m) in the frame of that link.

    `parent` names the joint that carries the link; None: the last joint of a chain.
    """

    rotation: Matrix = IDENTITY
    translation: Vector = ZERO
    parent: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "rotation", rotation_matrix(self.rotation, "frame"))
        object.__setattr__(self, "translation", vector(self.translation, "frame: translation"))


@dataclass(frozen=True, slots=True)
class Follower:
    """A joint without a drive, coupled to another: position = multiplier · (position of the leader) + offset.

    Its torque, times the multiplier, is part of the leader's torque.

    Attributes
    ----------
    joint
        Its place (`parent` is always given) and kind; its limits and friction are not used.
    link
        The body it carries.
    leader
        The joint it follows, by name.
    multiplier, offset
        rad or m per rad or m; rad or m.
    """

    joint: Joint
    link: Link
    leader: str
    multiplier: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        where = f"joint '{self.joint.name}'"
        object.__setattr__(self, "multiplier", real(self.multiplier, f"{where}: multiplier"))
        object.__setattr__(self, "offset", real(self.offset, f"{where}: offset"))
        if self.multiplier == 0.0:
            raise BddTorqueError(f"{where}: multiplier must not be 0; a joint that stands still is no joint")
        if self.joint.parent is None or self.joint.friction is not None:
            raise BddTorqueError(f"{where} follows '{self.leader}': it must have a parent, and no friction of its own")


@dataclass(frozen=True, slots=True)
class Member:
    """A joint of a tree with its link, driven or following, and its place: see `Robot.members`.

    Attributes
    ----------
    parent
        Which member carries it, -1 for the base.
    drive
        Which joint of the robot moves it: its position is multiplier · q[drive] + offset.
    """

    joint: Joint
    link: Link
    parent: int
    drive: int
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Robot:
    """A chain or tree of joints on a fixed base: joint i carries link i.

    One link carries the tip frame and, if given, a payload in that frame. In a chain that is the last link, unless the
    tip frame names another; in a tree the tip frame must name it.

    Attributes
    ----------
    name
        Its name.
    joints, links
        The driven joints, one torque each, and the links they carry.
    tip
        The tip frame.
    followers
        Joints that are coupled to others.
    gravity
        The acceleration of free fall in base axes, m/s², normally downwards.
    payload
        A body in the tip frame.
    source
        Where the numbers come from.
    allow_unphysical
        Accept inertias that no rigid body has; published data sometimes contain such values.
    """

    name: str
    joints: tuple[Joint, ...]
    links: tuple[Link, ...]
    gravity: Vector = STANDARD_GRAVITY
    tip: Frame = field(default_factory=Frame)
    payload: Link | None = None
    source: str = ""
    allow_unphysical: bool = False
    followers: tuple[Follower, ...] = ()

    def __post_init__(self) -> None:
        before = (BASE, *(joint.name for joint in self.joints))
        joints = (  # said only where it is not the joint before
            replace(joint, parent=None) if joint.parent == last else joint
            for joint, last in zip(self.joints, before, strict=False)
        )
        object.__setattr__(self, "joints", tuple(joints))
        object.__setattr__(self, "links", tuple(self.links))
        object.__setattr__(self, "followers", tuple(self.followers))
        object.__setattr__(self, "gravity", vector(self.gravity, f"robot '{self.name}': gravity"))
        if not self.joints:
            raise BddTorqueError(f"robot '{self.name}' must have at least one moving joint")
        if len(self.joints) != len(self.links):
            raise BddTorqueError(
                f"robot '{self.name}' must have one link per joint, got {len(self.joints)} joints and "
                f"{len(self.links)} links"
            )
        names = [joint.name for joint in (*self.joints, *(follower.joint for follower in self.followers))]
        for name, count in Counter(names).items():
            if count > 1:
                raise BddTorqueError(f"robot '{self.name}': joint names must differ, '{name}' occurs twice")
        for follower in self.followers:
            if follower.leader not in self.joint_names:
                said = unknown("joint", follower.leader, self.joint_names)
                raise BddTorqueError(f"robot '{self.name}', leader of joint '{follower.joint.name}': {said}")
        if not self.serial:
            order = carried_order(self._parents, f"robot '{self.name}'")
            for name, own in zip(order, self.joint_names, strict=False):
                if name != own and not self.followers:
                    raise BddTorqueError(f"robot '{self.name}': joint '{own}' must stand after the one that carries it")
        if self.tip.parent is not None:
            if self.tip.parent not in names:
                raise BddTorqueError(f"robot '{self.name}', tip: {unknown('joint', self.tip.parent, names)}")
            members = self.members
            if self.tip.parent == members[-1].joint.name and _is_path(members):  # said only where it is not the last
                object.__setattr__(self, "tip", replace(self.tip, parent=None))
        if self.payload is not None:
            self.tip_member("a payload")
        bodies = [*self.links, *(each.link for each in self.followers), *([self.payload] if self.payload else [])]
        for body in bodies:
            missing = body.why_unphysical()
            if missing and not self.allow_unphysical:
                raise BddTorqueError(
                    f"robot '{self.name}', link '{body.name}': {missing}; allow_unphysical = true accepts it as it is"
                )

    def __str__(self) -> str:
        rows = []
        for joint, link in zip(self.joints, self.links, strict=True):
            unit, force = ("rad", "N·m") if joint.revolute else ("m", "N")
            limits = (
                f"{joint.lower:.4g} to {joint.upper:.4g} {unit}" if math.isfinite(joint.upper - joint.lower) else "-"
            )
            motion = ((joint.velocity, f"{unit}/s"), (joint.acceleration, f"{unit}/s²"), (joint.effort, force))
            known = (f"{most:.4g} {of}" if math.isfinite(most) else "-" for most, of in motion)
            rows.append((joint.name, joint.kind, limits, *known, f"{link.mass:.4g} kg"))
        head: tuple[str, ...] = ("joint", "kind", "position", "velocity", "acceleration", "effort", "mass of its link")
        if not self.serial:
            head, rows = (*head, "sits on"), self._tree_rows(rows)
        payload = f", payload {self.payload.mass:g} kg" if self.payload else ""
        friction = ", with friction" if self.has_friction else ""
        gravity = ", ".join(f"{component:g}" for component in self.gravity)
        return text_table(f"{self.name}: gravity ({gravity}) m/s²{payload}{friction}", head, rows)

    def _tree_rows(self, rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """Return the rows of a table of joints with what carries each, and rows for those that follow others."""
        carriers = {name: parent or "the base" for name, parent in self._parents.items()}
        driven = [(*row, carriers[row[0]]) for row in rows]
        for each in self.followers:
            follows = f"{each.multiplier:g} · {each.leader}" + (f" {each.offset:+.4g}" if each.offset else "")
            mass = f"{each.link.mass:.4g} kg"
            driven.append((each.joint.name, each.joint.kind, follows, "-", "-", "-", mass, carriers[each.joint.name]))
        return driven

    @property
    def serial(self) -> bool:
        """Whether each joint sits on the link before it and no joint follows another."""
        return not self.followers and all(joint.parent is None for joint in self.joints)

    def require_serial(self, what: str) -> None:
        """Raise unless the robot is a serial chain; `what` names the feature that needs one."""
        if not self.serial:
            raise BddTorqueError(
                f"{what} takes serial chains only, and robot '{self.name}' is a tree or has joints that follow others; "
                "choose a chain with tip, and lock the others"
            )

    def tip_member(self, what: str) -> int:
        """Return which of `members` carries the tip frame; raise where a tree does not say: `what` needs it."""
        members = self.members
        if self.tip.parent is not None:
            return [member.joint.name for member in members].index(self.tip.parent)
        if not _is_path(members):
            carriers = {member.parent for member in members}
            ends = ", ".join(f"'{each.link.name}'" for k, each in enumerate(members) if k not in carriers)
            raise BddTorqueError(
                f"robot '{self.name}': {what} needs frame, the name of the link that is the tip, because the robot is "
                f"a tree; its last links are {ends}"
            )
        return len(members) - 1

    @property
    def tip_path(self) -> list[int]:
        """Which of `members` carry the tip frame, from the base on."""
        members, path = self.members, [self.tip_member("the pose of the tip")]
        while (carrier := members[path[-1]].parent) >= 0:
            path.append(carrier)
        return path[::-1]

    @property
    def _parents(self) -> dict[str, str]:
        """The joint that carries each joint, followers last."""
        before = (BASE, *self.joint_names)
        driven = {
            joint.name: last if joint.parent is None else joint.parent
            for joint, last in zip(self.joints, before, strict=False)
        }
        return driven | {each.joint.name: str(each.joint.parent) for each in self.followers}

    @property
    def members(self) -> tuple[Member, ...]:
        """All joints with their links, followers included, each after the joint that carries it."""
        parents = self._parents
        order = carried_order(parents, f"robot '{self.name}'")
        place = {BASE: -1} | {name: k for k, name in enumerate(order)}
        drive = {name: j for j, name in enumerate(self.joint_names)}
        found = {
            joint.name: Member(joint, link, place[parents[joint.name]], drive[joint.name])
            for joint, link in zip(self.joints, self.links, strict=True)
        }
        for each in self.followers:
            carrier, leader = place[parents[each.joint.name]], drive[each.leader]
            found[each.joint.name] = Member(each.joint, each.link, carrier, leader, each.multiplier, each.offset)
        return tuple(found[name] for name in order)

    @property
    def degrees_of_freedom(self) -> int:
        """The number of driven joints, n."""
        return len(self.joints)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The names of the driven joints, in a chain from base to tip."""
        return tuple(joint.name for joint in self.joints)

    @property
    def bodies(self) -> tuple[Link, ...]:
        """The links of a serial chain with the payload joined to the one that carries the tip."""
        if self.payload is None:
            return self.links
        bodies, place = list(self.links), self.tip_member("a payload")
        bodies[place] = bodies[place].joined(self.payload, self.tip.rotation, self.tip.translation)
        return tuple(bodies)

    def with_payload(
        self, mass: float, centre_of_mass: Sequence[float] = ZERO, inertia: Sequence[Sequence[float]] = NO_INERTIA
    ) -> Robot:
        """Return this robot with a body at its tip.

        Parameters
        ----------
        mass
            Mass in kg.
        centre_of_mass
            x, y and z in m, in the tip frame.
        inertia
            kg·m² about the centre of mass, 3 rows of 3, in the axes of the tip frame; a point mass by default.
        """
        return replace(self, payload=Link("payload", mass, centre_of_mass, inertia))  # type: ignore[arg-type]

    @property
    def has_friction(self) -> bool:
        """Whether any joint has friction."""
        return any(joint.friction is not None for joint in self.joints)

    def with_friction(self, friction: Mapping[str, Any]) -> Robot:
        """Return this robot with other friction for some joints, by name; None removes the friction of a joint."""
        for name in friction:
            if name not in self.joint_names:
                raise BddTorqueError(f"robot '{self.name}', friction: {unknown('joint', name, self.joint_names)}")
        joints = (replace(each, friction=friction.get(each.name, each.friction)) for each in self.joints)
        return replace(self, joints=tuple(joints))

    def with_gravity(self, gravity: Sequence[float]) -> Robot:
        """Return this robot under another gravity vector, m/s² in base axes."""
        return replace(self, gravity=gravity)  # type: ignore[arg-type]


def _is_path(members: Sequence[Member]) -> bool:
    """Whether each joint sits on the link of the one before it, followers included."""
    return all(member.parent == k - 1 for k, member in enumerate(members))

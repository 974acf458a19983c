"""The parts of a `Robot`: joints, links, frames, followers; each immutable and validated."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.plain import Matrix, Vector, matrix, real, vector
from bddtorque.robots.frames import dot, times
from bddtorque.robots.joint_kinds import PURE, JointKind, joint_kind
from bddtorque.words.joint_friction import JointFriction, joint_friction

IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
ZERO: Vector = (0.0, 0.0, 0.0)
NO_INERTIA: Matrix = (ZERO, ZERO, ZERO)
STANDARD_GRAVITY: Vector = (0.0, 0.0, -9.81)

ACCELERATION_PER_VELOCITY = 4.0
"""1/s. Where neither robot nor spec knows an acceleration, a joint may reach full speed in a quarter of a second."""
NOISE_RADIUS = 1e-5
"""m. A body states no moments that are below those of its mass so far from its centre."""
PHYSICAL_TOLERANCE = 1e-6
"""Largest amount, in traces, by which an inertia may miss symmetry, positivity and the triangle inequality."""
ROTATION_TOLERANCE = 1e-9
"""Largest difference of the entries of RᵀR from the identity."""


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
        A record of `joint_kinds`, such as ``Revolute()``, or the name of one that has no keys of its own.
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
    kind: JointKind
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
        object.__setattr__(self, "kind", joint_kind(self.kind, where))
        object.__setattr__(self, "rotation", rotation_matrix(self.rotation, where))
        object.__setattr__(self, "translation", vector(self.translation, f"{where}: translation"))
        real(self.rotor_inertia, f"{where}: rotor_inertia", low=0)
        if not self.lower < self.upper:  # refuses NaN as well
            raise BddTorqueError(f"{where}: the lower limit must be below the upper, got {self.lower} and {self.upper}")
        for limit in ("velocity", "acceleration", "effort"):
            if not getattr(self, limit) > 0:
                raise BddTorqueError(f"{where}: the {limit} limit must be above 0, got {getattr(self, limit)}")

    def part(self, place: int) -> Joint:
        """Return one of the motions that the joint is made of, as a joint that only turns or only slides.

        The last of them carries the link, and with it the drive, the limits and the friction of the joint.
        """
        motions = self.kind.motions
        if len(motions) == 1:
            return self
        kind, carries = PURE[motions[place].turns], place == len(motions) - 1
        made = self if carries else Joint(f"{self.name} ({kind})", kind)
        rotation, translation = (IDENTITY, ZERO) if place else (self.rotation, self.translation)
        return replace(made, kind=kind, rotation=rotation, translation=translation)


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

    def without_noise(self) -> Link:
        """Return the body as a point if its moments are impossible, and nothing but rounding of zero."""
        noise = self.mass * NOISE_RADIUS**2
        if all(abs(moment) <= noise for row in self.inertia for moment in row) and self.why_unphysical():
            return replace(self, inertia=NO_INERTIA)
        return self

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
            raise BddTorqueError(f"{where}: multiplier must not be 0; use a fixed joint for a body that does not move")
        if self.joint.parent is None or self.joint.friction is not None:
            raise BddTorqueError(f"{where} follows '{self.leader}': it must have a parent, and no friction of its own")


@dataclass(frozen=True, slots=True)
class Member:
    """A joint that only turns or only slides, with its link and its place: see `Robot.members`.

    Attributes
    ----------
    joint
        It, or one motion of a joint that is made of several. All but the last of these carry a link without mass.
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

    @property
    def turns(self) -> bool:
        """True if it turns (else it slides)."""
        return self.joint.kind.turns

"""What a specification says of one joint, of all joints, and of the inputs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bddtorque.base.errors import BddTorqueError
from bddtorque.laws.friction import Friction
from bddtorque.laws.joint_friction import JointFriction, joint_friction
from bddtorque.spec.parsing import (
    RANGED,
    Bits,
    Range,
    Vector,
    as_bits,
    as_range,
    as_ranges,
    as_vector,
    is_list,
    is_number,
    listed,
)


@dataclass(frozen=True)
class JointSpec:
    """What a specification says of one joint.

    Attributes
    ----------
    name : the joint's name in the robot; None where the joints are listed in order from base to tip
    position, velocity, acceleration, torque : (low, high) at the joint; None: as the rest of the spec or the robot says
    offset, sign : joint position = sign · encoder position + offset (rad or m); the sign holds for all four quantities
    friction : the friction of the joint, as `joint_friction` reads it; None: the robot's own
    """

    name: str | None = None
    position: Range | None = None
    velocity: Range | None = None
    acceleration: Range | None = None
    torque: Range | None = None
    offset: float = 0.0
    sign: int = 1
    friction: JointFriction | None = None

    def __post_init__(self) -> None:
        if self.name is not None and not (isinstance(self.name, str) and self.name):
            raise BddTorqueError(f"joint, name: text required, {self.name!r:.60} given")
        where = f"joint '{self.name}'" if self.name else "joint"
        for quantity in RANGED:
            given = getattr(self, quantity)
            if given is not None:
                object.__setattr__(self, quantity, as_range(given, f"{where}, {quantity}"))
        if not (is_number(self.offset) and math.isfinite(self.offset)):
            raise BddTorqueError(f"{where}, offset: a finite number required, {self.offset!r:.60} given")
        object.__setattr__(self, "offset", float(self.offset))
        if self.sign not in (1, -1) or isinstance(self.sign, bool):
            raise BddTorqueError(f"{where}, sign: 1 or -1 required, {self.sign!r:.60} given")
        object.__setattr__(self, "sign", int(self.sign))
        if self.friction is not None:  # one that says there is none takes that of the robot away
            law = joint_friction(self.friction, f"{where}, friction")
            object.__setattr__(self, "friction", law or Friction())


@dataclass(frozen=True)
class Ranges:
    """Ranges where a joint says nothing itself: one (low, high) for all, or one a joint; None: the robot's limits."""

    position: Range | tuple[Range, ...] | None = None
    velocity: Range | tuple[Range, ...] | None = None
    acceleration: Range | tuple[Range, ...] | None = None
    torque: Range | tuple[Range, ...] | None = None

    def __post_init__(self) -> None:
        for quantity in RANGED:
            given = getattr(self, quantity)
            if given is not None:
                object.__setattr__(self, quantity, as_ranges(given, f"ranges, {quantity}"))


@dataclass(frozen=True)
class InputBits:
    """Word lengths of the inputs, each for all joints or one a joint; None: `Spec.bits`."""

    position: Bits | None = None
    velocity: Bits | None = None
    acceleration: Bits | None = None

    def __post_init__(self) -> None:
        for quantity in RANGED[:3]:
            given = getattr(self, quantity)
            if given is not None:
                object.__setattr__(self, quantity, as_bits(given, f"input_bits, {quantity}"))


@dataclass(frozen=True)
class Payload:
    """A body at the tip, in the axes of the tip frame.

    Attributes
    ----------
    mass : kg
    centre_of_mass : m; the origin of the tip frame unless given
    inertia : kg·m² about the centre of mass, three principal moments or 3 rows of 3; None: all mass in one point
    """

    mass: float = 0.0
    centre_of_mass: Vector = (0.0, 0.0, 0.0)
    inertia: tuple[Vector, Vector, Vector] | None = None

    def __post_init__(self) -> None:
        if not (is_number(self.mass) and 0 < self.mass < math.inf):
            raise BddTorqueError(f"payload, mass: more than 0 kg required, {self.mass!r:.60} given")
        object.__setattr__(self, "mass", float(self.mass))
        centre = as_vector(self.centre_of_mass, "payload, centre_of_mass", "x, y and z in m")
        object.__setattr__(self, "centre_of_mass", centre)
        if self.inertia is not None:
            object.__setattr__(self, "inertia", _inertia(listed(self.inertia)))


def _inertia(given: object) -> tuple[Vector, Vector, Vector]:
    where, what = "payload, inertia", "[Ixx, Iyy, Izz] or 3 rows of 3, in kg·m²,"
    if is_list(given) and len(given) == 3 and all(is_list(row) for row in given):
        x, y, z = (as_vector(row, where, what) for row in given)
        return x, y, z
    a, b, c = as_vector(given, where, what)
    return (a, 0.0, 0.0), (0.0, b, 0.0), (0.0, 0.0, c)

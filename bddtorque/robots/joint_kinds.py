"""`JointKind`: one kind of joint, as a record. Adding a kind takes one class of this file.

The dynamics know two motions only, turning about an axis and sliding along it. A kind says which of them a joint is
made of, and what its position means: words, units and drawings follow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from bddtorque.base.errors import BddTorqueError, refusals_in
from bddtorque.base.measures import measure
from bddtorque.base.plain import choice
from bddtorque.base.record import Record

TURNING_UNITS = {"position": "rad", "velocity": "rad/s", "acceleration": "rad/s²", "torque": "N·m"}
SLIDING_UNITS = {"position": "m", "velocity": "m/s", "acceleration": "m/s²", "torque": "N"}


@dataclass(frozen=True)
class Motion:
    """One motion about or along the axis of a joint: by `factor` times the joint's position."""

    turns: bool
    factor: float = 1.0


@dataclass(frozen=True)
class JointKind(Record):
    """One kind of joint, to be derived from. Its fields are the keys that joints of this kind have in robot files."""

    name: ClassVar[str]
    about: ClassVar[str]
    """The motion of such a joint, for people."""
    symbol: ClassVar[str]
    """One letter, for tables."""
    word: ClassVar[Literal["angle", "range"]]
    """The kind of word of its position: binary angles, which wrap after a turn, or numbers of a range."""
    units: ClassVar[Mapping[str, str]]
    """Of position, velocity, acceleration and torque."""
    placeholders: ClassVar[Mapping[str, float]]
    """From so much on, a limit in a robot's file is taken for a placeholder."""
    farthest: ClassVar[float]
    """rad or m: limits of an arm's joint beyond are in degrees or mm, or say that there is none."""
    aliases: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Its names in other formats: ``"urdf"``, ``"mujoco"``, ``"pinocchio"``."""

    @property
    def turns(self) -> bool:
        """True if its position is an angle."""
        return self.word == "angle"

    @property
    def motions(self) -> tuple[Motion, ...]:
        """Its turning and sliding members, from the link that carries it outward; the factor of the last is 1."""
        return (Motion(self.turns),)

    @property
    def one_turn(self) -> bool:
        """True if its position must stay within one turn, because more than an angle depends on it."""
        return self.turns and any(not motion.turns and motion.factor != 0.0 for motion in self.motions)

    def mistaken(self, limit: float) -> bool:
        """Tell if a position limit must be in degrees or mm, or a placeholder: too far, and a whole number."""
        return self.farthest < abs(limit) < math.inf and limit == round(limit)

    @classmethod
    def from_pinocchio(cls, joint: Any) -> JointKind:
        """Return the kind of a joint model of pinocchio that is called by one of its aliases."""
        return cls()

    def __str__(self) -> str:
        return self.name


class Revolute(JointKind):
    """Turns about its axis."""

    name = "revolute"
    about = "turns about its axis"
    symbol = "R"
    word = "angle"
    units = TURNING_UNITS
    placeholders: ClassVar = {"velocity": 60.0, "acceleration": 1e4}  # no drive of an arm turns it ten times a second
    farthest = 10.0
    aliases: ClassVar = {
        "urdf": ("revolute", "continuous"),
        "mujoco": ("hinge",),
        "pinocchio": ("R", "RUB", "RevoluteUnaligned", "RevoluteUnboundedUnaligned"),
    }


class Prismatic(JointKind):
    """Slides along its axis."""

    name = "prismatic"
    about = "slides along its axis"
    symbol = "P"
    word = "range"
    units = SLIDING_UNITS
    placeholders: ClassVar = {"velocity": 10.0, "acceleration": 1e3}
    farthest = 20.0
    aliases: ClassVar = {"urdf": ("prismatic",), "mujoco": ("slide",), "pinocchio": ("P", "PrismaticUnaligned")}


def _as_length(given: object, name: str) -> float:
    return float(measure(given, name, "position", turns=False))


@dataclass(frozen=True)
class Screw(Revolute):
    """Turns about its axis and slides along it, by `pitch` in m per turn; a left-handed one has a negative pitch.

    Its drive gives the moment about the axis, and pitch/2π of the force along it.
    """

    name = "screw"
    about = "turns about its axis and slides along it, by a fixed way per turn"
    symbol = "H"
    aliases: ClassVar = {"pinocchio": ("H", "HelicalUnaligned")}

    pitch: Annotated[float, _as_length]

    @property
    def motions(self) -> tuple[Motion, ...]:
        """A slide that carries what turns."""
        return Motion(turns=False, factor=self.pitch / math.tau), Motion(turns=True)

    @classmethod
    def from_pinocchio(cls, joint: Any) -> JointKind:
        """Return a screw of a pitch that pinocchio states in m per rad."""
        return cls(float(joint.pitch) * math.tau)


JOINT_KINDS: dict[str, type[JointKind]] = {kind.name: kind for kind in (Revolute, Prismatic, Screw)}
"""By name."""
PURE: dict[bool, JointKind] = {True: Revolute(), False: Prismatic()}
"""The kinds of one motion, by whether it turns."""


def kinds_called(format_name: str) -> dict[str, type[JointKind]]:
    """Return the kinds by what another format calls them."""
    return {name: kind for kind in JOINT_KINDS.values() for name in kind.aliases.get(format_name, ())}


def joint_kind(given: object, where: str, keys: Mapping[str, Any] | None = None) -> JointKind:
    """Return a kind from its name and its keys, or as it is; refuse others and say where."""
    if isinstance(given, JointKind):
        return given
    kind = JOINT_KINDS[choice(given, tuple(JOINT_KINDS), f"{where}: kind")]
    keys = keys or {}
    for key in kind.readers():
        if key not in keys:
            raise BddTorqueError(f"{where}: a {kind.name} joint needs {key}")
    with refusals_in(where):
        return kind(**{key: keys[key] for key in kind.readers()})

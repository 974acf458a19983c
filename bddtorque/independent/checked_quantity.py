"""`CheckedQuantity` and `CheckedInput`: what the checker knows of a quantity, or of an input at run time, as records.

The files `quantity_*.py` define `RECORDS` of the first kind, `run_time_*.py` of the second (docs/format.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, ClassVar

from .dynamics import World
from .formats import Format
from .robots import Robot
from .rotations import gram
from .spans import Span

if TYPE_CHECKING:
    from .subjects import Scene, Subject

ANY: Span = (-math.inf, math.inf)
SECOND = 2
"""Degree of a torque in each position, rotations being exact."""


@dataclass(frozen=True)
class Output:
    """An array that comes out; units of its words, none where they are the torques of the joints."""

    name: str
    shape: tuple[int, ...]
    labels: tuple[str, ...]
    units: tuple[str, ...] = ()


class CheckedQuantity:
    """One quantity of a robot: a record, to be derived from."""

    name: ClassVar[str]
    inputs: ClassVar[tuple[str, ...]]  # arrays of the motion that go in
    accepts: ClassVar[tuple[str, ...]] = ()  # inputs at run time that it may have
    keys: ClassVar[tuple[str, ...]] = ()  # keys of the spec that belong to it alone
    torques: ClassVar[bool] = True  # whether torques of the joints come out, whose words the spec states
    friction: ClassVar[bool] = False
    at_rest: ClassVar[bool] = False  # whether nothing moves: of a payload only its weight matters
    needs_tip: ClassVar[bool] = False
    in_rationals: ClassVar[bool] = False  # whether it is a product of poses: compared wave by wave, without a grid
    by_boxes: ClassVar[bool] = False  # whether its range may have been proved by boxes of positions
    compared_with: ClassVar[str] = "Newton-Euler"

    def outputs(self, robot: Robot) -> list[Output]:
        """Return the arrays that come out."""
        return [Output("tau", (len(robot.joints),), tuple(joint.name for joint in robot.joints))]

    def check(self, spec: Mapping[str, Any], robot: Robot) -> None:
        """Refuse what a spec says under `keys` if it makes no sense."""

    def differences(self, subject: Subject) -> dict[str, tuple[str, str]]:
        """Return the differences of two angle words that stand for numbers: each wraps, and is any word."""
        return {}

    def truth(self, scene: Scene) -> list[Any]:
        """Return the true values of all outputs, friction left out."""
        raise NotImplementedError

    def degrees(self, subject: Subject) -> list[int] | None:
        """Return the degree in every position at most; None where it is what the operations of `truth` give.

        By Lagrange and Uicker torques are of the second degree where rotations are orthogonal, exactly: those of all
        joints, and of a tip with a payload. Followers add to that. The feedback of a sliding position does not: its
        acceleration is multiplied with tr(∂T·J·∂Tᵀ), one of the derivatives being that by this very position.
        """
        rotations = [member.joint.rotation for member in subject.robot.members]
        rotations += [subject.robot.tip_rotation] if any(each.at_tip for each in subject.run_time) else []
        if any(any(row) for each in rotations for row in gram(each)):
            return None
        most = [0] * len(subject.positions)
        for member in subject.robot.members:
            axis, times = subject.axis_of(member)
            if subject.arrays["q"][member.drive].angle and not member.joint.revolute:
                continue  # by an angle as a number, of any degree
            most[axis] += SECOND * (abs(times) if member.joint.revolute else 1)
        return most

    def known_span(self, subject: Subject, place: int) -> Span:
        """Return what an output stays within for reasons of its own, in SI units."""
        return ANY


class CheckedInput:
    """What is given at run time beside the motion: a record, to be derived from. Array and key have its name."""

    name: ClassVar[str]
    at_tip: ClassVar[bool] = False  # whether the tip frame matters to it

    def asked(self, spec: Mapping[str, Any]) -> bool:
        """Whether a spec asks for it."""
        return isinstance(spec.get(self.name), dict) and "runtime" in spec[self.name]

    def check_own(self, given: Any, robot: Mapping[str, Any]) -> None:
        """Refuse what a spec says under the key if it is not the robot's own, where it is not given at run time."""
        raise NotImplementedError

    def words(self, spec: Mapping[str, Any], robot: Mapping[str, Any], at_rest: bool) -> dict[str, Format]:
        """Return its words by their labels; `at_rest`: those that matter where nothing moves."""
        raise NotImplementedError

    def joined(self, world: World, numbers: Mapping[str, Any], algebra: Any) -> World:
        """Return the world with these numbers in it, by the labels of their words."""
        raise NotImplementedError


def records_of(kind: str) -> dict[str, Any]:
    """Return by name the records of all files of this folder whose names begin with a kind, in alphabetical order."""
    names = sorted(each.name for each in iter_modules([str(Path(__file__).parent)]) if each.name.startswith(kind))
    records = [record for name in names for record in import_module(f".{name}", __package__).RECORDS]
    return {record.name: record for record in records}


def quantities() -> dict[str, CheckedQuantity]:
    """Return all quantities, by name."""
    return records_of("quantity_")


def run_time_inputs() -> dict[str, CheckedInput]:
    """Return all inputs at run time, by name."""
    return records_of("run_time_")

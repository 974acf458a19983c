"""Quantities of a robot over words, in any kind of number: plans are compared with them (docs/format.md).

`CheckedQuantity` and `CheckedInput` are what the checker knows of a quantity, or of an input at run time, as records.
The files `quantity_*.py` define `RECORDS` of the first kind, `run_time_*.py` of the second.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, ClassVar

from .circuits import Circuit, ranges_of
from .dynamics import State, World, drive_torques, loads, world_of
from .formats import Format, Words
from .graph import Angle
from .ranges import Span
from .robots import ZERO, Member, Robot, gram, off_rotation

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
    unsigned: tuple[str, ...] = ()  # labels of words that may be unsigned


class CheckedQuantity:
    """One quantity of a robot: a record, to be derived from."""

    name: ClassVar[str]
    inputs: ClassVar[tuple[str, ...]]  # arrays of the motion that go in
    accepts: ClassVar[tuple[str, ...]] = ()  # inputs at run time that it may have
    keys: ClassVar[tuple[str, ...]] = ()  # keys of the spec that belong to it alone
    unnamed: ClassVar[bool] = False  # whether a spec that names no quantity asks for it
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
            if subject.arrays["q"][member.drive].angle and not member.joint.turns:
                continue  # by an angle as a number, of any degree
            most[axis] += SECOND * (abs(times) if member.joint.turns else 1)
        return most

    def known_span(self, subject: Subject, place: int) -> Span:
        """Return what an output stays within for reasons of its own, in SI units."""
        return ANY


class CheckedInput:
    """An input at run time beside the motion: a record, to be derived from. Array and key have its name."""

    name: ClassVar[str]
    at_tip: ClassVar[bool] = False  # whether the tip frame matters to it

    def asked(self, spec: Mapping[str, Any]) -> bool:
        """Tell if a spec asks for it."""
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


@dataclass(frozen=True)
class Subject:
    """A quantity of a robot over words, as a spec asks for it."""

    robot: Robot
    record: CheckedQuantity
    run_time: tuple[CheckedInput, ...]
    words: Words
    spec: Mapping[str, Any]

    @cached_property
    def arrays(self) -> dict[str, tuple[Format, ...]]:
        """The input words by array: q, qd, ..."""
        return {array.name: array.words for array in self.words.inputs}

    @property
    def slides(self) -> list[int]:
        """The drives by whose angle something slides."""
        angles = [word.angle for word in self.arrays["q"]]
        return sorted({each.drive for each in self.robot.members if angles[each.drive] and each.slides})

    @property
    def numbers(self) -> dict[str, tuple[tuple[str, int], ...]]:
        """Angle words, and differences of two, that stand for numbers: each wraps, and is any word.

        The angle that something slides by is taken to be any, whatever its sine is, which is only less.
        """
        differences = self.record.differences(self).items()
        slides = {f"q_angle{drive + 1}": ((f"q{drive + 1}", 1),) for drive in self.slides}
        return {**slides, **{name: ((ahead, 1), (behind, -1)) for name, (ahead, behind) in differences}}

    @cached_property
    def motions(self) -> dict[str, Format]:
        """Words that are any number within their range, whatever the positions are; by name, in order."""
        positions = {f"q{k}" for k in range(1, len(self.arrays["q"]) + 1)}
        named = self.words.named
        kept = {name: word for name, word in named.items() if name not in positions and not word.angle}
        return kept | {name: named[parts[-1][0]] for name, parts in self.numbers.items()}

    @property
    def positions(self) -> list[Format]:
        """The words of the axes of all positions: those of the joints, then of fractions of angles."""
        return [*self.arrays["q"], *(self.arrays["q"][drive] for drive, _ in self.fractions)]

    @property
    def fractions(self) -> dict[tuple[int, Fraction], int]:
        """The axes of joints that follow by a fraction of an angle, by drive and fraction.

        Their angles are taken to be any, whatever those of their drives are, which are only less.
        """
        pairs = dict.fromkeys((each.drive, each.fraction) for each in self.robot.members if each.fraction is not None)
        return {(drive, fraction): k for k, (drive, fraction) in enumerate(pairs, len(self.robot.joints)) if fraction}

    @property
    def axes(self) -> dict[str, int]:
        """The axis of every angle; those that are no position come after, and stand in differences alone."""
        positions = {f"q{k + 1}": k for k in range(len(self.arrays["q"]))}
        others = [name for name, word in self.words.named.items() if word.angle and name not in positions]
        return positions | {name: k for k, name in enumerate(others, len(self.positions))}

    def axis_of(self, member: Member) -> tuple[int, int]:
        """Return the axis that a member turns with, and how many times: once its own, by a fraction of an angle."""
        if member.fraction is None:
            return member.drive, int(member.multiplier)
        return self.fractions[member.drive, member.fraction], 1 if member.multiplier > 0 else -1

    @property
    def axis_length(self) -> float:
        """Length of an axis of any frame up to the tip in base axes, at most: 1, if rotations were exact."""
        path = [self.robot.members[i].joint.rotation for i in self.robot.tip_path]
        return math.prod(1 + off_rotation(each) for each in (*path, self.robot.tip_rotation)) * (1 + 1e-12)

    def inputs(self, algebra: Any) -> dict[str, Any]:
        """Return the words that are no angles: motions are 2^(bits − 1) times a number; positions go to and fro."""
        found = {}
        for k, (name, word) in enumerate(self.motions.items()):
            found[name] = algebra.motion(k, Fraction(word.size))
        for j, word in enumerate(self.arrays["q"]):
            if not word.angle:
                found[f"q{j + 1}"] = algebra.position(j, word.lowest, word.highest)
        return found

    def truth(self, algebra: Any, viscous: Sequence[Fraction] = ()) -> list[Any]:
        """Return the true values of all outputs, of friction the `viscous` parts of the joints alone."""
        scene = Scene(self, algebra)
        truth = self.record.truth(scene)
        for j, factor in enumerate(viscous):
            truth[j] = truth[j] + scene.values["qd"][j].scaled(factor) if factor else truth[j]
        return truth

    def sizes(self) -> list[float]:
        """Return how large the numbers are that each output is summed from, in its units.

        A joint feels one of six components of what it carries; where the others are turned, all are summed.
        """
        circuit = Circuit()
        scene = Scene(self, circuit)
        summed = [scene.felt.get(id(value), (value, [value]))[1] for value in self.record.truth(scene)]
        held = ranges_of(circuit, [0.0] * len(circuit.constants))
        sizes = [sum(held[each.place].most for each in terms if each.place >= 0) for terms in summed]
        return [size / word.lsb for size, word in zip(sizes, self.words.results, strict=True)]


class Scene:
    """A subject in one kind of number: what quantities are computed from.

    Attributes
    ----------
    inputs
        The words that are no angles, by name.
    values
        What they stand for, by array; angles are left open.
    world
        Gravity, and what is carried.
    felt
        What each torque was projected from, by its identity, beside it.
    """

    def __init__(self, subject: Subject, algebra: Any) -> None:
        self.subject, self.robot, self.algebra = subject, subject.robot, algebra
        self.inputs = subject.inputs(algebra)
        zero = algebra.number(ZERO)
        self.still = [zero] * len(self.robot.joints)
        self.values: dict[str, list[Any]] = {
            array.name: [
                zero if word.angle else self.inputs[name].scaled(word.scale) + algebra.number(word.middle)
                for name, word in zip(array.word_names, array.words, strict=True)
            ]
            for array in subject.words.inputs
        }
        self.world: World = world_of(self.robot, algebra)
        self.felt: dict[int, tuple[Any, list[Any]]] = {}
        arrays = {array.name: array for array in subject.words.inputs}
        for each in subject.run_time:
            numbers = dict(zip(arrays[each.name].labels, self.values[each.name], strict=True))
            self.world = each.joined(self.world, numbers, algebra)

    @property
    def at_rest(self) -> State:
        """Where the members of the tree stand."""
        return self.state(self.still, self.still)

    def torques(self, qd: list[Any], qdd: list[Any], weightless: bool = False) -> list[Any]:
        """Return the torques of a motion."""
        world = replace(self.world, gravity=[self.algebra.number(ZERO)] * 3) if weightless else self.world
        state = self.state(qd, qdd)
        carried = loads(self.robot, state, self.algebra, world)
        found = drive_torques(self.robot, state, carried, self.algebra)
        for drive, torque in enumerate(found):
            members = [
                (each, load) for each, load in zip(self.robot.members, carried, strict=True) if each.drive == drive
            ]
            parts = [part.scaled(each.multiplier) for each, load in members for side in load for part in side]
            self.felt[id(torque)] = torque, [torque, *parts]
        return found

    def state(self, qd: list[Any], qdd: list[Any]) -> State:
        """Return where the members of the tree stand, and how they move."""
        angles, places, algebra = [], [], self.algebra
        for member in self.robot.members:
            word, factor = self.subject.arrays["q"][member.drive], member.multiplier
            rest = factor * Fraction(word.offset) + member.offset
            axis, times = self.subject.axis_of(member)
            turning = Angle(((axis, times * word.sign),), Fraction(0), rest)
            angles.append(turning if member.joint.turns else Angle())
            place = self.values["q"][member.drive]
            if word.angle and member.slides:
                number = self.inputs[f"q_angle{member.drive + 1}"].scaled(word.sign * Fraction(word.lsb))
                place = number + algebra.number(Fraction(word.offset))
            places.append(place.scaled(factor) + algebra.number(member.offset))
        moved = [[row[each.drive].scaled(each.multiplier) for each in self.robot.members] for row in (qd, qdd)]
        sines, cosines = ([algebra.wave(angle, cosine) for angle in angles] for cosine in (False, True))
        return State(places, sines, cosines, *moved)

"""What a plan is compared with: a quantity of a robot over words, in any kind of number (docs/format.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from .checked_quantity import CheckedInput, CheckedQuantity
from .dynamics import State, World, torques, world_of
from .formats import Format, Words
from .graph import Angle
from .robots import ZERO, Member, Robot
from .rotations import off_rotation


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
        """What is any number within its range, whatever the positions are; by name, in order."""
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
        """How long an axis of any frame up to the tip can be in base axes: 1, if rotations were exact."""
        path = [self.robot.members[i].joint.rotation for i in self.robot.tip_path]
        return math.prod(1 + off_rotation(each) for each in (*path, self.robot.tip_rotation)) * (1 + 1e-12)

    def inputs(self, algebra: Any) -> dict[str, Any]:
        """Return the words that are no angles: motions are 2^(bits − 1) times a number; positions go to and fro."""
        found = {}
        for k, (name, word) in enumerate(self.motions.items()):
            found[name] = algebra.motion(k, Fraction(-word.lowest))
        for j, word in enumerate(self.arrays["q"]):
            if not word.angle:
                found[f"q{j + 1}"] = algebra.position(j, word.lowest, word.highest)
        return found

    def truth(self, algebra: Any) -> list[Any]:
        """Return the true values of all outputs, friction left out."""
        return self.record.truth(Scene(self, algebra))


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
        return torques(self.robot, self.state(qd, qdd), self.algebra, world)

    def state(self, qd: list[Any], qdd: list[Any]) -> State:
        """Return where the members of the tree stand, and how they move."""
        angles, places, algebra = [], [], self.algebra
        for member in self.robot.members:
            word, factor = self.subject.arrays["q"][member.drive], member.multiplier
            rest = factor * Fraction(word.offset) + member.offset
            axis, times = self.subject.axis_of(member)
            turning = Angle(((axis, times * word.sign),), Fraction(0), rest)
            angles.append(turning if member.joint.revolute else Angle())
            place = self.values["q"][member.drive]
            if word.angle and member.slides:
                number = self.inputs[f"q_angle{member.drive + 1}"].scaled(word.sign * Fraction(word.lsb))
                place = number + algebra.number(Fraction(word.offset))
            places.append(place.scaled(factor) + algebra.number(member.offset))
        moved = [[row[each.drive].scaled(each.multiplier) for each in self.robot.members] for row in (qd, qdd)]
        return State(places, [algebra.sine(each) for each in angles], [algebra.cosine(each) for each in angles], *moved)

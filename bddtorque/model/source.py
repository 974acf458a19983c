"""What a model was compiled from: a robot's torques, another quantity of it, or a function of one to four words.

All know the words that go in and come out, and the sections of the .bdt file that describe them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.plain import listed, of_type, plain_of, real, table
from bddtorque.dynamics.graph import Graph, graph_from_plain
from bddtorque.model.quantity_words import difference_names
from bddtorque.proof.certificate import Certificate
from bddtorque.proof.torque_extents import torque_ranges
from bddtorque.robots.robot import Robot
from bddtorque.robots.robot_data import robot_from_plain, robot_to_plain
from bddtorque.spec.drives import DriveWords
from bddtorque.spec.field_values import as_chip
from bddtorque.spec.quantities import PAYLOAD, QUANTITIES
from bddtorque.spec.records import PayloadBox
from bddtorque.spec.spec import Spec, spec_from_plain
from bddtorque.words import Format, Formats, formats_from_plain
from bddtorque.words.argument import Argument, argument_of
from bddtorque.words.formats import MOST_INPUTS
from bddtorque.words.joints import format_from_plain
from bddtorque.words.named_arrays import NamedArrays, named_arrays_from_plain

FUNCTION_MEMORY = 2 * 2**30
"""Bytes that the forms of a function's blocks may take together."""


@dataclass(frozen=True)
class _OfRobot:
    """A robot, and what was asked of it."""

    robot: Robot
    spec: Spec

    @property
    def name(self) -> str:
        """The name of the robot."""
        return self.robot.name

    @property
    def memory(self) -> int:
        """Bytes that the forms of the blocks may take together."""
        return self.spec.memory

    @property
    def chip(self) -> str | None:
        """The processor that machine integers are planned for; None for other targets."""
        return self.spec.chip

    @property
    def flash(self) -> int | None:
        """Bytes of flash that exported C may take; None if nobody says."""
        return self.spec.flash

    @property
    def accuracy(self) -> float:
        """The error that is allowed, in units of the last bit; infinite by the paper's rule."""
        return {"faithful": 1.0, "paper": math.inf}.get(str(self.spec.accuracy)) or float(self.spec.accuracy)

    @property
    def efforts(self) -> list[tuple[str, float] | None]:
        """The unit of each motor's effort and how many of it are 1 N·m or N, where the spec tells of the drive."""
        if len(self.spec.joints) != len(self.robot.joints):  # a spec of something else, which `verify` finds out
            return [None] * len(self.robot.joints)
        known = zip(self.robot.joints, self.spec.joints, strict=True)
        return [None if said.drive is None else said.drive.effort(joint.revolute) for joint, said in known]

    def drive_words(self, formats: Mapping[str, Sequence[Format]]) -> tuple[DriveWords, ...]:
        """Return how words follow from counts of the drives, for joints whose drive is known."""
        return tuple(
            DriveWords(joint.name, said.drive, joint.revolute, {name: words[j] for name, words in formats.items()})
            for j, (joint, said) in enumerate(zip(self.robot.joints, self.spec.joints, strict=True))
            if said.drive is not None
        )


@dataclass(frozen=True)
class RobotSource(_OfRobot):
    """A robot, what was asked of it, and its words."""

    kind: ClassVar = "robot"
    sections: ClassVar = ("robot", "spec", "formats")

    formats: Formats

    @cached_property
    def words(self) -> dict[str, Format]:
        """The input words by the names that plans have for them: q1.., qd1.., qdd1.."""
        kinds = zip(("q", "qd", "qdd"), self.formats.inputs, strict=True)
        return {f"{kind}{j}": word for kind, words in kinds for j, word in enumerate(words, 1)}

    @cached_property
    def arguments(self) -> dict[str, Argument]:
        """What the input words stand for, by name."""
        return {name: argument_of(word) for name, word in self.words.items()}

    @property
    def outputs(self) -> dict[str, Format]:
        """The output words, by the names of the joints."""
        return dict(zip(self.formats.joint_names, self.formats.tau, strict=True))

    @property
    def bits(self) -> dict[str, Any]:
        """Word lengths: of every joint, by quantity."""
        return {name: list(getattr(self.formats, name).bits) for name in ("q", "qd", "qdd", "tau")}

    def to_plain(self) -> dict[str, Any]:
        """Return the sections of a file that describe the source, by name."""
        return {
            "robot": robot_to_plain(self.robot),
            "spec": self.spec.canonical(),
            "formats": self.formats.to_plain(),
        }


@dataclass(frozen=True)
class FunctionSource:
    """A function of words."""

    kind: ClassVar = "function"
    sections: ClassVar = ("function",)
    memory: ClassVar = FUNCTION_MEMORY
    flash: ClassVar[int | None] = None

    name: str  # of the function
    # input_names, inputs: names and formats of the input words
    input_names: tuple[str, ...]
    inputs: tuple[Format, ...]
    output: Format  # the format of the output word
    accuracy: float = 1.0  # what was asked for, in units of the last bit
    graph: Graph | None = None  # the function that was traced, over the names of the inputs; None for any other
    # how samples were read, by name, and what else was asked for; empty where nothing was
    rules: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def words(self) -> dict[str, Format]:
        """The input words by name."""
        return dict(zip(self.input_names, self.inputs, strict=True))

    @cached_property
    def arguments(self) -> dict[str, Argument]:
        """What the input words stand for, by name."""
        return {name: argument_of(word) for name, word in self.words.items()}

    @property
    def chip(self) -> str | None:
        """The processor that machine integers are planned for, if one was named."""
        return self.rules.get("chip")

    @property
    def outputs(self) -> dict[str, Format]:
        """The output word, by its name."""
        return {self.output.name: self.output}

    @property
    def bits(self) -> dict[str, Any]:
        """Word lengths, by name."""
        inputs = {name: word.bits for name, word in self.words.items()}
        return {"inputs": inputs, "output": {self.output.name: self.output.bits}}

    def to_plain(self) -> dict[str, Any]:
        """Return the section of a file that describes the source."""
        return {"function": {each.name: plain_of(getattr(self, each.name)) for each in fields(self)}}


@dataclass(frozen=True)
class QuantitySource(_OfRobot):
    """A robot, what was asked of it other than its torques alone, and its words, by arrays."""

    kind: ClassVar = "quantity"
    sections: ClassVar = ("robot", "spec", "words")

    arrays: NamedArrays

    @cached_property
    def words(self) -> dict[str, Format]:
        """The input words by the names that plans have for them: q1.., qd1.., q_desired1.., payload1.."""
        return self.arrays.words

    @cached_property
    def arguments(self) -> dict[str, Argument]:
        """What the input words stand for, by name; and the differences of angle words that a law is computed from."""
        found = {name: argument_of(word) for name, word in self.words.items()}
        if self.spec.quantity == "law":
            for name, (_, actual) in difference_names(self.robot).items():
                word = self.words[actual]
                found[name] = Argument("word", word.bits, word.sign * Fraction(word.lsb))
        return found

    @property
    def outputs(self) -> dict[str, Format]:
        """The output words, by their labels."""
        return self.arrays.results

    @property
    def bits(self) -> dict[str, Any]:
        """Word lengths, by array."""
        return {each.name: [word.bits for word in each] for each in (*self.arrays.inputs, *self.arrays.outputs)}

    def to_plain(self) -> dict[str, Any]:
        """Return the sections of a file that describe the source, by name."""
        return {
            "robot": robot_to_plain(self.robot),
            "spec": self.spec.canonical(),
            "words": self.arrays.to_plain(),
        }


Source = RobotSource | QuantitySource | FunctionSource


def with_source(certificate: Certificate, source: Source) -> Certificate:
    """Return a certificate that knows what follows from its source.

    That is how large the torques of a robot can be, and what they are at the motors, where its spec has drives.
    """
    if isinstance(source, FunctionSource):
        return certificate
    outputs, find = certificate.outputs, None
    if isinstance(source, RobotSource):
        find = partial(torque_ranges, source.robot, source.formats)
    if any(source.efforts) and (isinstance(source, RobotSource) or source.arrays.outputs[0].name == "tau"):
        known = zip(outputs, source.efforts, strict=True)
        outputs = tuple(replace(proved, effort=effort) for proved, effort in known)
    return Certificate(outputs, find)


def robot_source_from_plain(header: dict[str, Any], where: str) -> RobotSource:
    """Return what the sections ``robot``, ``spec`` and ``formats`` of a file hold; every field is checked."""
    robot = robot_from_plain(header["robot"], f"{where}, robot")
    spec = spec_from_plain(header["spec"], f"{where}, spec")
    formats = formats_from_plain(header["formats"], f"{where}, formats")
    if robot.joint_names != formats.joint_names:
        raise BddTorqueError(f"{where}: the formats must be those of the robot's {len(robot.joint_names)} joints")
    return RobotSource(robot, spec, formats)


def quantity_source_from_plain(header: dict[str, Any], where: str) -> QuantitySource:
    """Return what the sections ``robot``, ``spec`` and ``words`` of a file hold; every field is checked."""
    robot = robot_from_plain(header["robot"], f"{where}, robot")
    spec = spec_from_plain(header["spec"], f"{where}, spec")
    arrays = named_arrays_from_plain(header["words"], f"{where}, words")
    asked = QUANTITIES[spec.quantity]
    inputs = (*asked.inputs, *([PAYLOAD] if isinstance(spec.payload, PayloadBox) else []))
    if spec.is_torque:
        raise BddTorqueError(f"{where}: a quantity other than the torques is expected")
    if tuple(each.name for each in arrays.inputs) != inputs:
        raise BddTorqueError(f"{where}, words: quantity '{spec.quantity}' takes {', '.join(inputs)}")
    if tuple(each.name for each in arrays.outputs) != asked.outputs:
        raise BddTorqueError(f"{where}, words: quantity '{spec.quantity}' gives {', '.join(asked.outputs)}")
    for each in arrays.inputs:
        if each.name != PAYLOAD and each.labels != robot.joint_names:
            raise BddTorqueError(f"{where}, words: {each.name} must have the labels of the robot's joints")
    return QuantitySource(robot, spec, arrays)


def function_source_from_plain(header: dict[str, Any], where: str) -> FunctionSource:
    """Return what the section ``function`` of a file holds; every field is checked."""
    where = f"{where}, function"
    given = table(header["function"], [each.name for each in fields(FunctionSource)], where)
    names = tuple(of_type(each, str, where) for each in listed(given["input_names"], where))
    inputs = tuple(
        format_from_plain(each, f"{where}, input {k}") for k, each in enumerate(listed(given["inputs"], where), 1)
    )
    if not 1 <= len(inputs) <= MOST_INPUTS or len(set(names)) != len(inputs) or len(names) != len(inputs):
        raise BddTorqueError(f"{where} must have 1 to {MOST_INPUTS} inputs, each with a name of its own")
    rules = of_type(given["rules"], dict, f"{where}, rules")
    for key, value in rules.items():
        if type(value) not in (str, int, float, bool):
            raise BddTorqueError(f"{where}, rules must be text and numbers, and {key!r:.40} is something else")
    if "chip" in rules:
        as_chip(rules["chip"], f"{where}, chip")
    graph = given["graph"]
    return FunctionSource(
        of_type(given["name"], str, where),
        names,
        inputs,
        format_from_plain(given["output"], f"{where}, output"),
        real(given["accuracy"], f"{where}, accuracy"),
        None if graph is None else graph_from_plain(graph, f"{where}, graph", names),
        rules,
    )

"""`Provenance`: where a model comes from, a robot and what was asked of it, or a function of words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError, WrongKindError
from bddtorque.base.plain import of_type, plain_of, real, table
from bddtorque.dynamics.float_arm import FloatArm
from bddtorque.dynamics.graph import Graph, graph_from_plain
from bddtorque.dynamics.quantity import Quantity, derived_words
from bddtorque.plan.blocks import Block, LawBlock
from bddtorque.proof.certificate import Certificate
from bddtorque.proof.proved_bound import ProvedBound
from bddtorque.proof.torque_extents import torque_ranges
from bddtorque.robots.robot import Robot
from bddtorque.robots.robot_data import robot_from_plain, robot_to_plain
from bddtorque.spec.drives import DriveWords
from bddtorque.spec.field_values import as_chip
from bddtorque.spec.spec import Spec, spec_from_plain
from bddtorque.words.formats import MAX_INPUTS, Format
from bddtorque.words.integer_range import wrap
from bddtorque.words.interface import Interface, interface_from_plain

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.int64]
FUNCTION_MEMORY = 2 * 2**30
"""Bytes that the forms of a function's blocks may take together."""
ROBOT_SECTIONS, FUNCTION_SECTIONS = ("robot", "spec"), ("function",)
"""Sections of a file that say where its model comes from."""
FUNCTION_KEYS = ("name", "accuracy", "graph", "rules")
DRIVEN = ("q", "qd", "qdd", "tau")
"""Arrays whose words a drive's counts can be."""


@dataclass(frozen=True)
class Provenance:
    """Where a model comes from.

    Attributes
    ----------
    name
        The name of the robot or of the function.
    accuracy
        The error that is allowed, in units of the last bit; infinite by the paper's rule.
    robot, spec
        The robot and what was asked of it; None for a function.
    graph
        The function that was traced, over the names of its inputs; None for any other.
    rules
        How samples were read, and what else was asked of a function, by name.
    """

    name: str
    accuracy: float
    robot: Robot | None = None
    spec: Spec | None = None
    graph: Graph | None = None
    rules: dict[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """Its kind in messages: ``"robot"`` or ``"function"``."""
        return "function" if self.robot is None else "robot"

    @property
    def quantity(self) -> Quantity | None:
        """The record of the robot's quantity; None for a function."""
        return None if self.spec is None else self.spec.record

    @property
    def is_torque(self) -> bool:
        """True if this is the torque of a robot as a function of position, velocity and acceleration alone."""
        return self.spec is not None and self.spec.is_torque

    @property
    def what(self) -> str:
        """The compiled thing, for messages: a quantity, with what is given at run time; or a function."""
        if self.spec is None:
            return f"function '{self.name:.60}'"
        given = "".join(f" with {each.name} at run time" for each in self.spec.run_time)
        return f"quantity '{self.spec.quantity}'{given}"

    @property
    def title(self) -> str:
        """The compiled thing, as a heading: the name, and a robot's quantity unless that is its torque."""
        return self.name if self.spec is None or self.is_torque else f"{self.name}, {self.spec.quantity}"

    @property
    def memory(self) -> int:
        """Bytes that the forms of the blocks may take together."""
        return FUNCTION_MEMORY if self.spec is None else self.spec.memory

    @property
    def chip(self) -> str | None:
        """The processor that machine integers are planned for, if one was named."""
        return self.rules.get("chip") if self.spec is None else self.spec.chip

    @property
    def flash(self) -> int | None:
        """Bytes of flash that exported C may take; None if nobody says."""
        return None if self.spec is None else self.spec.flash

    def require_robot(self, where: str = "") -> tuple[Robot, Spec]:
        """Return the robot and its spec; for a function, raise an error that starts with `where`."""
        if self.robot is None or self.spec is None:
            use = "" if where else ": use value(...) or words(...)"
            raise WrongKindError(f"{where}{where and ': '}'{self.name:.60}' is a compiled function, not a robot{use}")
        return self.robot, self.spec

    @cached_property
    def efforts(self) -> list[tuple[str, float] | None]:
        """The unit of each motor's effort and how many of it are 1 N·m or N, where the spec tells of the drive."""
        if self.robot is None or self.spec is None:
            return []
        if len(self.spec.joints) != len(self.robot.joints):  # a spec of something else, which `verify` finds out
            return [None] * len(self.robot.joints)
        known = zip(self.robot.joints, self.spec.joints, strict=True)
        return [None if said.drive is None else said.drive.effort(joint.kind.turns) for joint, said in known]

    def drive_words(self, formats: Interface) -> tuple[DriveWords, ...]:
        """Return how words follow from counts of the drives, for joints whose drive is known."""
        if self.robot is None or self.spec is None:
            return ()
        words: dict[str, Sequence[Format]] = {
            array.name: array.words for array in formats.arrays if array.name in DRIVEN
        }
        return tuple(
            DriveWords(joint.name, said.drive, joint.kind.turns, {name: own[j] for name, own in words.items()})
            for j, (joint, said) in enumerate(zip(self.robot.joints, self.spec.joints, strict=True))
            if said.drive is not None
        )

    def true_values(
        self, formats: Interface, words: Mapping[str, Words | Floats], blocks: Sequence[Block]
    ) -> Floats | None:
        """Return the outputs (N, outputs) in float64, in SI units, at words (N,) by the names of the plan's inputs.

        Floats in the place of words are units between words. None where nobody knows them but the function that was
        compiled. `blocks` are those of the plan, one of which may hold a law.
        """
        if self.robot is not None and self.spec is not None:
            return self.spec.record.values(float_arm(self.robot, self.spec, formats, words))
        arguments = {name: _value(word, words[name]) for name, word in formats.words.items()}
        if self.graph is not None:
            return graph_values(self.graph, arguments)
        if len(blocks) == 1 and isinstance(blocks[0], LawBlock):
            return np.asarray(blocks[0].law(*arguments.values()), dtype=np.float64)[:, None]
        return None

    def certificate(self, formats: Interface, outputs: tuple[ProvedBound, ...]) -> Certificate:
        """Return the certificate of proved outputs: it finds how large torques can be, and what they are at motors."""
        quantity, efforts = self.quantity, self.efforts
        if quantity is not None and any(efforts) and any(array.per_joint for array in quantity.outputs):
            outputs = tuple(replace(proved, effort=own) for proved, own in zip(outputs, efforts, strict=True))
        if self.robot is not None and self.is_torque:
            return Certificate(outputs, partial(torque_ranges, self.robot, formats))
        return Certificate(outputs)

    def to_plain(self) -> dict[str, Any]:
        """Return the sections of a file that say where a model comes from, by name."""
        if self.robot is not None and self.spec is not None:
            return {"robot": robot_to_plain(self.robot), "spec": self.spec.canonical()}
        return {"function": {key: plain_of(getattr(self, key)) for key in FUNCTION_KEYS}}


def graph_values(graph: Graph, arguments: Mapping[str, Floats]) -> Floats:
    """Return the outputs (N, outputs) of a graph in float64."""
    count = len(next(iter(arguments.values())))
    return np.stack([np.broadcast_to(value, count) for value in graph.evaluate(arguments)], axis=1)


def of_robot(robot: Robot, spec: Spec) -> Provenance:
    """Return the provenance of a quantity of a robot."""
    accuracy = {"faithful": 1.0, "paper": math.inf}.get(str(spec.accuracy)) or float(spec.accuracy)
    return Provenance(robot.name, accuracy, robot, spec)


def float_arm(robot: Robot, spec: Spec, formats: Interface, words: Mapping[str, Words | Floats]) -> FloatArm:
    """Return a robot at words (N,) by the names of the plan's inputs, in float64."""
    values = {
        array.name: np.stack(
            [_value(word, words[name]) for name, word in zip(array.word_names, array, strict=True)], axis=1
        )
        for array in formats.inputs
    }
    given = [(each, dict(zip(formats[each.name].labels, values[each.name].T, strict=True))) for each in spec.run_time]
    return FloatArm(robot, spec, values, given, derived_values(formats, words))


def derived_values(formats: Interface, words: Mapping[str, Words | Floats]) -> dict[str, Floats]:
    """Return the values (N,) of words derived from input words (N,), by name."""
    values = {}
    for word in formats.derived:
        total = np.asarray(sum(factor * np.asarray(words[name]) for name, factor in word.parts))
        argument = word.argument
        values[word.name] = float(argument.scale) * _wrap_units(total, argument.bits) + float(argument.centre)
    return values


def _wrap_units(total: npt.NDArray[Any], bits: int) -> npt.NDArray[Any]:
    """Return angles in units, integers or between them, within half a turn of 0, which is itself below it."""
    return wrap(total, bits) if total.dtype.kind in "iu" else total - np.floor(total * 0.5**bits + 0.5) * 2.0**bits


def _value(word: Format, given: Words | Floats) -> Floats:
    """Return the values of words, or of units between words."""
    return word.dequantise(given) if given.dtype.kind in "iu" else np.asarray(word.value(given))


def provenance_from_plain(header: Mapping[str, Any], where: str) -> tuple[Provenance, Interface]:
    """Return where the model of a file comes from, and its words; every field is checked."""
    formats = interface_from_plain(header["words"], f"{where}, words")
    if "function" in header:
        return _function_from_plain(header["function"], formats, f"{where}, function"), formats
    robot = robot_from_plain(header["robot"], f"{where}, robot")
    spec = spec_from_plain(header["spec"], f"{where}, spec")
    record = spec.record
    for side, known in (
        ("inputs", (*record.inputs, *(each.name for each in spec.run_time))),
        ("outputs", tuple(array.name for array in record.outputs)),
    ):
        if tuple(array.name for array in getattr(formats, side)) != known:
            raise BddTorqueError(f"{where}, words: the {side} of quantity '{record.name}' are {', '.join(known)}")
    per_joint = {*record.inputs, *(each.name for each in record.outputs if each.per_joint)}
    for array in formats.arrays:
        if array.name in per_joint and array.labels != robot.joint_names:
            raise BddTorqueError(f"{where}, words: {array.name} must have the labels of the robot's joints")
    derived = derived_words(record, robot, formats.inputs)
    return of_robot(robot, spec), Interface(formats.inputs, formats.outputs, derived)


def _function_from_plain(plain: object, formats: Interface, where: str) -> Provenance:
    given = table(plain, FUNCTION_KEYS, where)
    if not 1 <= len(formats.inputs) <= MAX_INPUTS or any(array.shape for array in formats.arrays):
        raise BddTorqueError(f"{where} must have 1 to {MAX_INPUTS} numbers as inputs, and numbers as outputs")
    for array in formats.arrays:
        if array.labels != (array.name,):
            raise BddTorqueError(f"{where}: the word of {array.name!r:.40} must have its name as label")
    rules = of_type(given["rules"], dict, f"{where}, rules")
    for key, value in rules.items():
        if type(value) not in (str, int, float, bool):
            raise BddTorqueError(f"{where}, rules must be text and numbers, and {key!r:.40} is something else")
    if "chip" in rules:
        as_chip(rules["chip"], f"{where}, chip")
    graph = given["graph"]
    return Provenance(
        of_type(given["name"], str, where),
        real(given["accuracy"], f"{where}, accuracy"),
        graph=None if graph is None else graph_from_plain(graph, f"{where}, graph", formats.words),
        rules=rules,
    )

"""What a question is about: an output, a term of one, a word inside the plan, or a block; each a plan of one output.

A `Subject` holds the wires that its one output needs and no others, so that every way to an answer (diagrams,
enumeration, conditioning, branch and bound) sees the same thing: whole numbers in, one whole number out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError, nearest
from bddtorque.model.model import Model
from bddtorque.model.source import RobotSource
from bddtorque.plan.blocks import RealBlock
from bddtorque.plan.plan import Plan
from bddtorque.plan.reference import run_sum, run_wires
from bddtorque.plan.wires import Input, Lookup, Output, Wire
from bddtorque.sweep.term_errors import term_summands
from bddtorque.words import Format
from bddtorque.words.rounding import half_up_shift

if TYPE_CHECKING:
    from bddtorque.plan.table import Table

Integers = npt.NDArray[np.int64]
Kind = Literal["output", "term", "word", "block"]
State = dict[str, int]
"""Input words by name."""
Words = dict[str, Integers]
"""Input words of many states by name, of shapes that go together."""

ASKING = "a question"
"""What messages call it."""
UNBOUNDED = 1 << 62
"""Ends of a word that nothing clamps: no sum of a plan needs more bits."""


@dataclass(frozen=True)
class Subject:
    """One function from words to a word.

    Attributes
    ----------
    name : as the plan is printed: ``tau1``, ``w15``, ``b3``, or the name of a term such as ``J12``
    title : what that is, for people
    kind : ``"output"``, ``"term"``, ``"word"`` or ``"block"``
    plan : the wires it needs, and one output
    tables : one a block of the plan it was taken from
    word : the format of the output word, of outputs only
    unit : of its values; empty where they have none
    formats : of the input words, by name, where they have one
    unread : bits of the input words of the whole that this output does not depend on: counts are multiplied
    place : the output, from 0, that it is or belongs to; the wire or the block otherwise
    motions : of a term, what its coefficients are multiplied with: ``("qd1", "qd2")``, ``("qdd1",)``, ``()``
    torque : of a term, the format of the torque that it belongs to
    """

    name: str
    title: str
    kind: Kind
    plan: Plan
    tables: tuple[Table, ...]
    word: Format | None
    unit: str
    formats: Mapping[str, Format]
    unread: int
    place: int
    motions: tuple[tuple[str, ...], ...] = ()
    torque: Format | None = None

    @property
    def output(self) -> Output:
        """The one output."""
        return self.plan.outputs[0]

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The input words that it reads."""
        return self.plan.inputs

    @property
    def bits(self) -> int:
        """Bits of the input words that it reads."""
        return sum(wire.bits for wire in self.inputs)

    @property
    def lsb(self) -> float:
        """The value of one unit of the word that errors are stated in: of a term, that of its torque."""
        word = self.word or self.torque
        return float(self.output.lsb) if word is None else word.lsb

    @property
    def names(self) -> list[str]:
        """The names of the input words that it reads."""
        return [wire.name for wire in self.inputs]

    @property
    def states(self) -> int:
        """How many states counts are of."""
        return 1 << (self.bits + self.unread)

    @property
    def rising(self) -> bool:
        """Whether the value rises with the word."""
        of = self.word or self.torque
        return of is None or of.sign > 0

    def value(self, word: int) -> float | None:
        """Return what an output word stands for, in `unit`; None where it has no unit."""
        if self.word is not None:
            return float(self.word.dequantise(word))
        if self.torque is None:
            return float(self.output.lsb * word) if self.unit else None
        # words count from the centre of the torque's range, which no motion has a part in: it belongs to what stands
        own = () in self.motions
        centre, offset = (Fraction(each) if own else 0 for each in (self.torque.centre, self.torque.offset))
        return float(self.torque.sign * (self.output.lsb * word + centre) + offset)

    def total(self, inputs: Mapping[str, Any]) -> Integers:
        """Return the exact sums before they are rounded, for input words of shapes that go together."""
        start = np.zeros(np.broadcast_shapes(*map(np.shape, inputs.values())), dtype=np.int64)
        return start + run_sum(self.output, run_wires(self.plan, self.tables, inputs))

    def sums(self, states: Integers) -> Integers:
        """Return the exact sums (N,) of states (N, inputs)."""
        return np.broadcast_to(self.total(dict(zip(self.names, states.T, strict=True))), len(states))

    def rounded(self, total: Any) -> Any:
        """Return the words of sums: rounded by the shift and clamped."""
        return np.clip(half_up_shift(total, self.output.shift), self.output.low, self.output.high)

    def least_total(self, word: int) -> int:
        """Return the least sum whose rounded word, before it is clamped, is at least `word`."""
        return (word << self.output.shift) - ((1 << self.output.shift) >> 1)


def sliced(plan: Plan, output: Output, given: Mapping[int, Input] | None = None) -> Plan:
    """Return a plan of one output with no wires but those it needs; wires in `given` become inputs."""
    given = given or {}
    wires: list[Wire] = [given.get(k, wire) for k, wire in enumerate(plan.wires)]
    kept = replace(plan, wires=tuple(wires)).needed(output.sources)
    place = {wire: k for k, wire in enumerate(kept)}
    return replace(plan, wires=tuple(wires[wire].moved(place) for wire in kept), outputs=(output.moved(place),))


def subjects(model: Model, names: Sequence[str] = ()) -> list[Subject]:
    """Return what is asked about, by name; all outputs unless names are given.

    A name is an output (``tau1``), a word (``w15``) or a block (``b3``) as ``bddtorque plan`` prints them, a term of an
    output (``J12``, ``G1``; models of the source `terms`), or a joint, for its torque. The first of these that fits is
    meant: ``tau2`` is the second torque, whatever joints are called.
    """
    if not names:
        return [_output(model, place) for place in range(len(model.word_plan(ASKING).outputs))]
    return [subject(model, name) for name in names]


def subject(model: Model, name: str) -> Subject:
    """Return what a name stands for; see `subjects`."""
    plan = model.word_plan(ASKING)
    outputs = {output.name: k for k, output in enumerate(plan.outputs)}
    if name in outputs:
        return _output(model, outputs[name])
    numbered = re.fullmatch(r"([wb])([0-9]{1,9})", name)
    if numbered:
        kind, place = numbered[1], int(numbered[2])
        what, count = ("words", len(plan.wires)) if kind == "w" else ("blocks", len(plan.blocks))
        if place >= count:
            raise BddTorqueError(f"ask: the {what} of this model are {kind}0 to {kind}{count - 1}, got {name}")
        return _word(model, place) if kind == "w" else _block(model, place)
    terms = _terms(model)
    if name in terms:
        return terms[name]
    joints = list(model.source.outputs) if isinstance(model.source, RobotSource) else []
    if name in joints:
        return _output(model, joints.index(name))
    known = [*outputs, *joints, *terms]
    listed = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
    raise BddTorqueError(
        f"ask: unknown name {name!r:.40}{nearest(name, known)}; outputs, joints and terms are {listed}; "
        f"words are w0 to w{len(plan.wires) - 1}, blocks b0 to b{len(plan.blocks) - 1}"
    )


def _output(model: Model, place: int) -> Subject:
    whole, formats = model.word_plan(ASKING), model.source.words
    output = whole.outputs[place]
    title, word = list(model.source.outputs.items())[place]
    title = f"torque of {title}" if isinstance(model.source, RobotSource) else title
    plan = sliced(whole, output)
    read = {wire.name for wire in plan.inputs}
    unread = sum(each.bits for name, each in formats.items() if name not in read)
    return Subject(output.name, title, "output", plan, model.tables, word, word.unit, formats, unread, place)


def unclamped(name: str, parts: tuple[tuple[int, int], ...], constant: int = 0, lsb: Fraction = Fraction(1)) -> Output:
    """Return a sum of wires as an output that is neither rounded nor clamped."""
    return Output(name, parts, constant, Fraction(0), 0, -UNBOUNDED, UNBOUNDED, lsb)


def _word(model: Model, place: int) -> Subject:
    whole = model.word_plan(ASKING)
    wire = whole.wires[place]
    name = f"w{place}"
    plan = sliced(whole, unclamped(name, ((place, 1),)))
    title = f"{wire.kind.replace('_', ' ')} {wire.name}"
    return Subject(name, title, "word", plan, model.tables, None, "", model.source.words, 0, place)


def _block(model: Model, place: int) -> Subject:
    block = model.plan.blocks[place]
    name = f"b{place}"
    kinds = [argument.kind for argument in getattr(block, "arguments", ())] or ["word"] * len(block.input_widths)
    inputs = tuple(Input(f"x{k}", bits, kinds[k] == "angle") for k, bits in enumerate(block.input_widths))
    lsb = block.lsb if isinstance(block, RealBlock) else Fraction(1)
    wires: tuple[Wire, ...] = (*inputs, Lookup(name, place, tuple(range(len(inputs)))))
    plan = replace(model.word_plan(ASKING), wires=wires, outputs=(unclamped(name, ((len(inputs), 1),), 0, lsb),))
    widths = "+".join(map(str, block.input_widths))
    title = f"{block.kind} block of {widths} bits"
    return Subject(name, title, "block", plan, model.tables, None, "", {}, 0, place)


def _terms(model: Model) -> dict[str, Subject]:
    """Return the terms of all torques by name, of a model of the source `terms`; none of any other."""
    if not isinstance(model.source, RobotSource) or model.plan.source != "terms":
        return {}
    found = {}
    plan = model.word_plan(ASKING)
    for term in term_summands(model):
        output, word = plan.outputs[term.torque], model.formats.tau[term.torque]
        whole = unclamped(term.name, term.parts, term.constant, output.lsb / (1 << output.shift))
        found[term.name] = Subject(
            term.name, f"term of {output.name}", "term", sliced(plan, whole), model.tables, None, word.unit,
            model.source.words, 0, term.torque, term.motions, word,
        )  # fmt: skip
    return found

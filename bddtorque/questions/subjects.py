"""Subjects of questions, by name: an output, a term of one, a word inside the plan, or a block.

A `Subject` is a function of words by a plan of one output. It holds the wires that this output needs and no others, so
that every way to an answer (diagrams, enumeration, conditioning, branch and bound) sees the same thing: integers in,
one integer out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError, nearest
from bddtorque.model.applicability import applies, require
from bddtorque.model.model import Model
from bddtorque.plan.blocks import RealBlock
from bddtorque.plan.plan import Plan
from bddtorque.plan.reference import run_sum, run_unclamped, run_wires
from bddtorque.plan.table import Table
from bddtorque.plan.wires import Input, Lookup, Output, Wire
from bddtorque.questions.conditions import Conditions, Within, said, words_within
from bddtorque.sweeps.term_errors import term_summands
from bddtorque.words.argument import Argument
from bddtorque.words.formats import Format
from bddtorque.words.integer_range import wrap
from bddtorque.words.rounding import half_up_shift

Integers = npt.NDArray[np.int64]
Kind = Literal["output", "term", "word", "block"]
State = dict[str, int]
"""Input words by name."""
Words = dict[str, Integers]
"""Input words of many states by name, of shapes that go together."""
PARTS_A_STEP = 4
"""Summands that are added in a step, all states being run along axes."""
FUSED_STEPS = 3.0
"""Steps of a fused multiply-add: NumPy has none, and it is put together from sums."""
INSIDE, TERM = r"([wb])([0-9]{1,9})", r"[JCGF][0-9][0-9_]*(\+.*)?"
"""Names of words and blocks, and of terms."""
UNBOUNDED = 1 << 62
"""Ends of a word that nothing clamps: no sum of a plan needs more bits."""


@dataclass(frozen=True)
class Subject:
    """One function from words to a word.

    It has a sum for every state, a whole number, which is rounded and clamped to its word. Sums of a plan in words are
    exact, and rounded by a shift; those of a plan in floats are the floats, rounded to whole numbers.

    Attributes
    ----------
    name
        As the plan is printed: ``tau1``, ``w15``, ``b3``, or the name of a term such as ``J12``.
    title
        Description, for people.
    kind
        ``"output"``, ``"term"``, ``"word"`` or ``"block"``.
    plan
        The wires it needs, and one output.
    tables
        One per block of the plan it was taken from.
    word
        The format of the output word, of outputs only.
    unit
        Of its values; empty where they have none.
    formats
        Of the input words, by name, where they have one.
    unread
        States of the input words of the whole that this output does not depend on: counts are multiplied.
    place
        The output, from 0, that it is or belongs to; the wire or the block otherwise.
    motions
        Of a term, what its coefficients are multiplied with: ``("qd1", "qd2")``, ``("qdd1",)``, ``()``.
    torque
        Of a term, the format of the torque that it belongs to, and whose units errors are stated in.
    within
        The first and the last word of inputs of the model that do not take all of theirs, by name.
    where
        Why they do not: the conditions, as text.
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
    within: Within = field(default_factory=dict, kw_only=True)
    where: str = field(default="", kw_only=True)

    @property
    def output(self) -> Output:
        """The one output."""
        return self.plan.outputs[0]

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The input words that it reads."""
        return self.plan.inputs

    def ends(self, wire: Input) -> tuple[int, int]:
        """Return the first and the last word that an input takes."""
        return self.within.get(wire.name, (wire.lowest, wire.highest))

    @property
    def box(self) -> tuple[Integers, Integers]:
        """The first and the last words of all inputs, (inputs,) each."""
        low, high = np.array([self.ends(wire) for wire in self.inputs], dtype=np.int64).reshape(-1, 2).T
        return low, high

    @property
    def read_states(self) -> int:
        """States of the input words that it reads."""
        return math.prod(last - first + 1 for first, last in map(self.ends, self.inputs))

    @property
    def bits(self) -> int:
        """Bits that number the states of the input words that it reads."""
        return (self.read_states - 1).bit_length()

    def wrapped(self, states: Integers) -> Integers:
        """Return states (N, inputs) with angles that were taken beyond their highest word back among the words."""
        if not self.within:
            return states
        columns = [wrap(own, wire.bits) if wire.wraps else own for wire, own in zip(self.inputs, states.T, strict=True)]
        return np.stack(columns, axis=1)

    @property
    def lsb(self) -> float:
        """The value of one unit of the word that errors are stated in: of a term, that of its torque."""
        word = self.torque or self.word
        return float(self.output.lsb) if word is None else word.lsb

    @property
    def names(self) -> list[str]:
        """The names of the input words that it reads."""
        return [wire.name for wire in self.inputs]

    @property
    def states(self) -> int:
        """Number of states that counts are of."""
        return self.read_states * self.unread

    @property
    def rising(self) -> bool:
        """True if the value rises with the word."""
        word = self.torque or self.word
        return word is None or word.sign > 0

    @property
    def steps(self) -> float:
        """Steps of the sum of one state where all states are run along axes."""
        if self.plan.in_floats:
            return 1 + FUSED_STEPS * self.plan.counts()["fused"]
        return 1 + len(self.output.parts) / PARTS_A_STEP

    def about(self, state: State) -> dict[str, Any]:
        """Return what answers say of a state: its values at the joints, their units, and the conditions."""
        known = {name: self.formats[name] for name in state if name in self.formats}
        return {
            "values": {name: float(word.dequantise(state[name])) for name, word in known.items()},
            "units": {name: word.unit for name, word in known.items()},
            "where": self.where,
        }

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
        """Return the sums before they are clamped, for input words of shapes that go together."""
        if self.plan.in_floats:
            return run_unclamped(self.plan, self.tables, inputs, [0])[0]
        start = np.zeros(np.broadcast_shapes(*map(np.shape, inputs.values())), dtype=np.int64)
        total: Integers = start + run_sum(self.output, run_wires(self.plan, self.tables, inputs))
        return total

    def sums(self, states: Integers) -> Integers:
        """Return the sums (N,) of states (N, inputs)."""
        return np.broadcast_to(self.total(dict(zip(self.names, self.wrapped(states).T, strict=True))), len(states))

    def unclamped(self, total: Any) -> Any:
        """Return the words of sums before they are clamped: of a plan in words, rounded by the shift."""
        return total if self.plan.in_floats else half_up_shift(total, self.output.shift)

    def rounded(self, total: Any) -> Any:
        """Return the words of sums."""
        return np.clip(self.unclamped(total), self.output.low, self.output.high)

    def least_total(self, word: int) -> int:
        """Return the least sum whose word, before it is clamped, is at least `word`."""
        return word if self.plan.in_floats else (word << self.output.shift) - ((1 << self.output.shift) >> 1)


def sliced(plan: Plan, output: Output, given: Mapping[int, Input] | None = None) -> Plan:
    """Return a plan of one output with no wires but those it needs; wires in `given` become inputs."""
    given = given or {}
    wires: list[Wire] = [given.get(k, wire) for k, wire in enumerate(plan.wires)]
    kept = replace(plan, wires=tuple(wires)).needed(output.sources)
    place = {wire: k for k, wire in enumerate(kept)}
    return replace(plan, wires=tuple(wires[wire].moved(place) for wire in kept), outputs=(output.moved(place),))


def subjects(model: Model, names: Sequence[str] = ()) -> list[Subject]:
    """Return what is asked about, by name; all outputs by default.

    A name is an output (``tau1``), a word (``w15``) or a block (``b3``) as `bddtorque plan` prints them, a term of an
    output (``J12``, ``G1``; torques from the source ``"terms"``), or the label of an output: a joint, for its torque.
    The first that fits is used: ``tau2`` is the second torque, whatever the joints are called.
    """
    if not names:
        return [_output(model, place, {}) for place in range(len(model.plan.outputs))]
    return [subject(model, name) for name in names]


def subject(model: Model, name: str, where: Conditions = (), within_limits: bool = False) -> Subject:
    """Return what a name stands for, `subjects` says how, with inputs held to the words that conditions allow."""
    within = words_within(model, where, within_limits)
    asked = _named(model, name, within)
    if within and asked.kind == "block":
        raise BddTorqueError(f"ask: conditions are on the inputs of the model; the words of block {name} have none")
    return replace(asked, within=within, where=said(where, within_limits))


def _named(model: Model, name: str, within: Within) -> Subject:
    plan: Plan = model.plan
    outputs, labels = [output.name for output in plan.outputs], list(model.formats.results)
    if name in outputs:
        return _output(model, outputs.index(name), within)
    numbered = re.fullmatch(INSIDE, name)
    if numbered and (plan.made_of_tables or name not in labels):
        require(model, "words and blocks of the plan", f"ask: {name}")
        return _numbered(model, plan, name, numbered[1], int(numbered[2]))
    terms = _terms(model)
    if name in terms:
        return terms[name]
    if name in labels:
        return _output(model, labels.index(name), within)
    if not terms and re.fullmatch(TERM, name):
        require(model, "terms of torques", f"ask: {name:.40}")
    known = list(dict.fromkeys([*outputs, *labels, *terms]))
    listed = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
    inside = f"; words are w0 to w{len(plan.wires) - 1}, blocks b0 to b{len(plan.blocks) - 1}"
    hint = nearest(name, known) or f"; names are {listed}{inside if plan.made_of_tables else ''}"
    raise BddTorqueError(f"ask: unknown name {name!r:.40}{hint}")


def _numbered(model: Model, plan: Plan, name: str, kind: str, place: int) -> Subject:
    what, count = ("words", len(plan.wires)) if kind == "w" else ("blocks", len(plan.blocks))
    if place >= count:
        raise BddTorqueError(f"ask: the {what} of this model are {kind}0 to {kind}{count - 1}, got {name}")
    return _word(model, place) if kind == "w" else _block(model, place)


def _output(model: Model, place: int, within: Within) -> Subject:
    whole, formats = model.plan, model.formats.words
    title, word = list(model.formats.results.items())[place]
    title = f"torque of {title}" if whole.outputs[place].name.startswith("tau") and _is_joint(model, title) else title

    def unread(plan: Plan) -> int:
        read = {wire.name for wire in plan.inputs}
        ends = (within.get(name, (each.lowest, each.highest)) for name, each in formats.items() if name not in read)
        return math.prod(last - first + 1 for first, last in ends)

    plan = sliced(whole, whole.outputs[place])
    return Subject(
        plan.outputs[0].name, title, "output", plan, model.tables, word, word.unit, formats, unread(plan), place,
    )  # fmt: skip


def _is_joint(model: Model, name: str) -> bool:
    return model.provenance.robot is not None and name in model.robot.joint_names


def unclamped(name: str, parts: tuple[tuple[int, int], ...], constant: int = 0, lsb: Fraction = Fraction(1)) -> Output:
    """Return a sum of wires as an output that is neither rounded nor clamped."""
    return Output(name, parts, constant, Fraction(0), 0, -UNBOUNDED, UNBOUNDED, lsb)


def _word(model: Model, place: int) -> Subject:
    whole = model.plan
    wire = whole.wires[place]
    name = f"w{place}"
    plan = sliced(whole, unclamped(name, ((place, 1),)))
    title = f"{wire.kind.replace('_', ' ')} {wire.name}"
    return Subject(name, title, "word", plan, model.tables, None, "", model.formats.words, 1, place)


def _block(model: Model, place: int) -> Subject:
    block = model.plan.blocks[place]
    name = f"b{place}"
    arguments = getattr(block, "arguments", ()) or [Argument("word", bits) for bits in block.input_widths]
    inputs = tuple(Input.of(f"x{k}", argument) for k, argument in enumerate(arguments))
    lsb = block.lsb if isinstance(block, RealBlock) else Fraction(1)
    wires: tuple[Wire, ...] = (*inputs, Lookup(name, place, tuple(range(len(inputs)))))
    plan = replace(model.plan, wires=wires, outputs=(unclamped(name, ((len(inputs), 1),), 0, lsb),))
    widths = "+".join(map(str, block.input_widths))
    title = f"{block.kind} block of {widths} bits"
    return Subject(name, title, "block", plan, model.tables, None, "", {}, 1, place)


def _terms(model: Model) -> dict[str, Subject]:
    """Return the terms of all torques by name, of a model of the source `terms`; none of any other."""
    if not applies(model, "terms of torques"):
        return {}
    terms = {}
    plan = model.plan
    for term in term_summands(model):
        output, word = plan.outputs[term.torque], model.formats.tau[term.torque]
        whole = unclamped(term.name, term.parts, term.constant, output.lsb / (1 << output.shift))
        terms[term.name] = Subject(
            term.name, f"term of {output.name}", "term", sliced(plan, whole), model.tables, None, word.unit,
            model.formats.words, 1, term.torque, term.motions, word,
        )  # fmt: skip
    return terms

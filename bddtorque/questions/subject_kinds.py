"""What a question is about, as a function of words by a plan of one output.

A `Subject` holds the wires that its one output needs and no others, so that every way to an answer (diagrams,
enumeration, conditioning, branch and bound) sees the same thing: whole numbers in, one whole number out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from bddtorque.plan.plan import Plan
from bddtorque.plan.reference import run_sum, run_unclamped, run_wires
from bddtorque.plan.wires import Input, Output
from bddtorque.words.formats import Format
from bddtorque.words.integer_range import wrap
from bddtorque.words.rounding import half_up_shift

if TYPE_CHECKING:
    from bddtorque.plan.table import Table

Integers = npt.NDArray[np.int64]
Kind = Literal["output", "term", "word", "block"]
State = dict[str, int]
"""Input words by name."""
Words = dict[str, Integers]
"""Input words of many states by name, of shapes that go together."""
Within = Mapping[str, tuple[int, int]]
"""The first and the last word of inputs that may not take all of theirs; those of an angle may end beyond its highest
word, where they wrap."""

PARTS_A_STEP = 4
"""Summands that are added in a step, all states being run along axes."""
FUSED_STEPS = 3.0
"""Steps of a fused multiply-add: NumPy has none, and it is put together from sums."""


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
        What that is, for people.
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
        Words that some inputs are held to, by name.
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
        """How many states counts are of."""
        return self.read_states * self.unread

    @property
    def rising(self) -> bool:
        """Whether the value rises with the word."""
        word = self.torque or self.word
        return word is None or word.sign > 0

    @property
    def steps(self) -> float:
        """Steps of the sum of one state where all states are run along axes."""
        if self.plan.in_floats:
            return 1 + FUSED_STEPS * self.plan.counts()["fused"]
        return 1 + len(self.output.parts) / PARTS_A_STEP

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

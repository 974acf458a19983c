"""Operations of a counted machine: walks through diagrams, one an output bit, and additions of two words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bddtorque.evaluate.wiring import WordView

Kind = Literal["walk", "add", "magnitude", "sign", "clamp"]
"""`walk`: one output bit of a look-up. `add`: two words. `magnitude`: |word|. `sign`: the first word, negated where the
signs of the two others differ. `clamp`: to the ends of a torque word. All but walks are one addition of words."""


def wire_owner(place: int) -> str:
    """Return what operations of a wire of the plan belong to."""
    return f"w{place}"


def output_owner(place: int) -> str:
    """Return what the last sum of an output belongs to: not its name, which may be that of a wire."""
    return f"y{place}"


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing a processor does without stopping."""

    # unique in a machine: "w13.4" is bit 4 of wire 13, "y1+3" an addition for output 1; with "@2" at its end where
    # processor 2 does it for itself
    name: str
    word: str  # the word that its result is, or is a bit of: bits of one word go in one message
    owner: str  # the wire ("w13") or output ("y1", both from 0) that it belongs to
    kind: Kind  # see `Kind`
    operands: tuple[WordView, ...]  # the words it reads
    predecessors: tuple[str, ...]  # the operations that must be done before
    signs: tuple[int, ...] = ()  # for `add`: 1 or −1 an operand
    # block, bit: for `walk`: which diagram, and which of its output bits
    block: int = -1
    bit: int = -1
    widths: tuple[int, ...] = ()  # for `walk`: how many low bits of each operand are part of the table's index
    tests: int = 0  # for `walk`: the most tests on any path; 0 for others
    bits: int = 1  # width of the result, as far as it is read
    # low, high: ends of the result
    low: int = 0
    high: int = 1
    output: int = -1  # the torque, counted from 0, that this operation finishes; −1 for others


@dataclass(frozen=True, slots=True)
class StepCosts:
    """Durations of operations, in steps."""

    test: float = 1.0  # one test of a bit
    addition: float = 1.0  # one addition of two words, however wide
    addition_bit: float = 0.0  # what every bit of its result takes on top

    def duration(self, operation: Operation) -> float:
        """Return the steps of an operation; of a walk, those of its longest path."""
        if operation.kind == "walk":
            return self.test * operation.tests
        return self.addition + self.addition_bit * operation.bits


WORD_STEPS = StepCosts()
"""A test and an addition are one step each: processors with an adder as wide as a word."""
BIT_SERIAL = StepCosts(addition=0.0, addition_bit=1.0)
"""A test is one step, an addition as many as its result has bits: processors of a single bit."""

"""What a counted machine does: walks through diagrams, one an output bit, and additions of two words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bddtorque.schedule.wiring import Word

Kind = Literal["walk", "add", "magnitude", "sign", "clamp"]
"""`walk`: one output bit of a look-up. `add`: two words. `magnitude`: |word|. `sign`: the first word, negated where the
signs of the two others differ. `clamp`: to the ends of a torque word. All but walks are one addition of words."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing a processor does without stopping.

    Attributes
    ----------
    name
        Unique in a machine: "w13.4" is bit 4 of wire 13, "tau1+3" an addition for torque 1; with "@2" at its end where
        processor 2 does it for itself.
    word
        The word that its result is, or is a bit of: bits of one word go in one message.
    owner
        The wire ("w13") or torque ("tau1") that it belongs to.
    kind
        See `Kind`.
    operands
        The words it reads.
    predecessors
        The operations that must be done before.
    signs
        For `add`: 1 or −1 an operand.
    block, bit
        For `walk`: which diagram, and which of its output bits.
    widths
        For `walk`: how many low bits of each operand are part of the table's index.
    tests
        For `walk`: the most tests on any path; 0 for others.
    bits
        Width of the result, as far as it is read.
    low, high
        Ends of the result.
    output
        The torque, counted from 0, that this operation finishes; −1 for others.
    """

    name: str
    word: str
    owner: str
    kind: Kind
    operands: tuple[Word, ...]
    predecessors: tuple[str, ...]
    signs: tuple[int, ...] = ()
    block: int = -1
    bit: int = -1
    widths: tuple[int, ...] = ()
    tests: int = 0
    bits: int = 1
    low: int = 0
    high: int = 1
    output: int = -1


@dataclass(frozen=True, slots=True)
class Costs:
    """How long operations take, in steps.

    Attributes
    ----------
    test
        One test of a bit.
    addition
        One addition of two words, however wide.
    addition_bit
        What every bit of its result takes on top.
    """

    test: float = 1.0
    addition: float = 1.0
    addition_bit: float = 0.0

    def duration(self, operation: Operation) -> float:
        """Return the steps of an operation; of a walk, those of its longest path."""
        if operation.kind == "walk":
            return self.test * operation.tests
        return self.addition + self.addition_bit * operation.bits


WORD_STEPS = Costs()
"""A test and an addition are one step each: processors with an adder as wide as a word."""
BIT_SERIAL = Costs(addition=0.0, addition_bit=1.0)
"""A test is one step, an addition as many as its result has bits: processors of a single bit."""

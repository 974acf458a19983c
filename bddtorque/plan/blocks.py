"""The blocks of a plan: truth tables of functions, laws, products and squares, and tables whose words are given."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bddtorque.base.plain import plain_of
from bddtorque.dynamics.graph import Graph
from bddtorque.words.argument import Argument
from bddtorque.words.bounded import ROOM, ULP, Bounded, BoundedArithmetic
from bddtorque.words.integer_range import Range
from bddtorque.words.law import Law

Integers = npt.NDArray[np.int64]


class PlanPart:
    """A dataclass that a plan is made of, and what it is written as: its kind, then its fields in their order."""

    kind: ClassVar[str] = ""

    def to_plain(self) -> dict[str, Any]:
        """Return what defines the part as plain data, for files and content keys; rationals as text."""
        plain = {each.name: plain_of(getattr(self, each.name)) for each in fields(self)}  # type: ignore[arg-type]
        return {"kind": self.kind, **plain} if self.kind else plain


@dataclass(frozen=True)
class FunctionBlock(PlanPart):
    """A truth table of a real function, rounded once: nearest word, ties away from zero."""

    graph: Graph  # the function; inputs x0, x1, ...; one output
    arguments: tuple[Argument, ...]  # what the words of x0, x1, ... stand for
    lsb: Fraction  # the value of one unit of the output word
    # low, high: a sound range of the output word
    low: int
    high: int

    kind: ClassVar[str] = "function"

    @property
    def input_widths(self) -> tuple[int, ...]:
        """Bits of each input word."""
        return tuple(argument.bits for argument in self.arguments)

    def units(self, words: Sequence[Integers]) -> Bounded:
        """Return the value of the function at argument words (of shapes that go together), in units of the output."""
        inputs = {f"x{k}": argument.bounded(words[k]) for k, argument in enumerate(self.arguments)}
        found = self.graph.evaluate(inputs, BoundedArithmetic())[0]
        found = found if isinstance(found, Bounded) else Bounded(np.float64(found))
        unit = float(self.lsb)
        units = found.value / unit
        return Bounded(units, (np.abs(found.radius) / unit + 2 * ULP * np.abs(units)) * ROOM)


@dataclass(frozen=True)
class LawBlock(PlanPart):
    """A truth table of a law: sign·f − centre, rounded once to the nearest word, ties away from zero, and clamped."""

    law: Law  # the function f of the values that the input words stand for
    arguments: tuple[Argument, ...]  # what these are
    lsb: Fraction  # the value of one unit of the output word
    # low, high: where the words are clamped
    low: int
    high: int
    # centre, sign: the value of the output word is sign·(centre + word·lsb)
    centre: Fraction = Fraction(0)
    sign: int = 1

    kind: ClassVar[str] = "law"

    @property
    def input_widths(self) -> tuple[int, ...]:
        """Bits of each input word."""
        return tuple(argument.bits for argument in self.arguments)

    def value(self, words: Sequence[Integers]) -> Bounded:
        """Return f at argument words, of shapes that go together."""
        grids = np.broadcast_arrays(*words)
        found = self.law.bounded([a.number(grid.reshape(-1)) for a, grid in zip(self.arguments, grids, strict=True)])
        radius = np.broadcast_to(found.radius, np.shape(found.value))
        return Bounded(np.reshape(found.value, grids[0].shape), np.reshape(radius, grids[0].shape))

    def units(self, words: Sequence[Integers]) -> Bounded:
        """Return sign·f − centre at argument words in units of the output, clamped."""
        found, unit, centre = self.value(words), float(self.lsb), float(self.centre)
        units = np.clip((self.sign * found.value - centre) / unit, self.low, self.high)
        slack = 4 * ULP * (np.abs(found.value) + abs(centre)) / unit
        return Bounded(units, (np.abs(found.radius) / unit + slack) * ROOM)


@dataclass(frozen=True)
class GivenBlock(PlanPart):
    """A truth table whose words are given, and known by the key of the table: nobody else can make it."""

    widths: tuple[int, ...]  # bits of each input word
    lsb: Fraction  # the value of one unit of the output word
    # low, high: the lowest and the highest word
    low: int
    high: int
    table: str  # the content key of the table
    error: float  # how far a word can be from the value that it was made of, in values

    kind: ClassVar[str] = "given"

    @property
    def input_widths(self) -> tuple[int, ...]:
        """Bits of each input word."""
        return self.widths


@dataclass(frozen=True)
class ProductBlock(PlanPart):
    """A truth table of a product of two words, floor(x·y/2^shift + 1/2).

    Signed words are two's complement; unsigned ones serve as the limbs of wider products.
    """

    widths: tuple[int, int]
    signed: bool
    shift: int
    low: int
    high: int

    kind: ClassVar[str] = "product"

    @classmethod
    def of_limbs(cls, bits: int) -> ProductBlock:
        """Return the table that wide products are put together from, piece by piece: unsigned and exact."""
        return cls((bits, bits), False, 0, 0, ((1 << bits) - 1) ** 2)

    @property
    def input_widths(self) -> tuple[int, ...]:
        """Bits of each input word."""
        return self.widths


@dataclass(frozen=True)
class SquareBlock(PlanPart):
    """A truth table of quarter squares, ⌊x²/4⌋ of a signed word."""

    bits: int

    kind: ClassVar[str] = "square"

    @property
    def input_widths(self) -> tuple[int, ...]:
        """Bits of the input word."""
        return (self.bits,)

    @property
    def low(self) -> int:
        """The lowest output word."""
        return 0

    @property
    def high(self) -> int:
        """The highest output word, that of the lowest input word."""
        return 1 << (2 * self.bits - 4) if self.bits > 1 else 0


RealBlock = FunctionBlock | LawBlock | GivenBlock
"""Tables of real functions, whose words have a unit and an error; those of products are exact."""
Block = RealBlock | ProductBlock | SquareBlock


def output_format(block: Block) -> tuple[int, bool]:
    """Return the output bits of a block, and whether the word is signed."""
    if isinstance(block, SquareBlock) or (isinstance(block, ProductBlock) and not block.signed):
        return max(block.high.bit_length(), 1), False
    return Range(block.low, block.high).bits, True


def block_key(block: Block) -> str:
    """Return the content key of a block: equal blocks have equal tables."""
    text = json.dumps(block.to_plain(), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()

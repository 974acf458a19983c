"""The blocks of a plan: truth tables of functions, laws, products and squares, and tables whose words are given."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError, unknown
from bddtorque.base.plain import real
from bddtorque.dynamics.graph import Graph, graph_from_plain
from bddtorque.plan.fields import MAX_INPUT_BITS, Earlier, Integer, PlanPart, Rule, Shift, Sign, TableBits, Unit, Whole
from bddtorque.words.argument import Argument, argument_from_plain
from bddtorque.words.bounded import ROUND_UP, ULP, Bounded, BoundedArithmetic
from bddtorque.words.integer_range import Range
from bddtorque.words.law import Law
from bddtorque.words.law_data import law_from_plain

Integers = npt.NDArray[np.int64]
BlockArgument = Annotated[Argument, Rule(argument_from_plain)]
TableError = Annotated[float, Rule(lambda plain, where: real(plain, where, low=0))]


MAX_TABLE_BITS = 31
"""Bits of the word of a table: evaluators keep all tables as 32-bit integers."""


class TablePart(PlanPart):
    """Common part of all blocks: input words of some widths, and a range of the output word."""

    @property
    def input_widths(self) -> tuple[int, ...]:
        """Bits of each input word."""
        raise NotImplementedError

    def check(self, where: str, earlier: Earlier) -> None:
        """Refuse a table that is too large."""
        block: Any = self
        if not 1 <= sum(self.input_widths) <= MAX_INPUT_BITS or output_format(block)[0] > MAX_TABLE_BITS:
            raise BddTorqueError(
                f"{where} must have 1 to {MAX_INPUT_BITS} input bits and at most {MAX_TABLE_BITS} output bits"
            )


@dataclass(frozen=True)
class FunctionBlock(TablePart):
    """A truth table of a real function, rounded once: nearest word, ties away from zero."""

    graph: Annotated[Graph, Rule(graph_from_plain)]  # the function; inputs x0, x1, ...; one output
    arguments: tuple[BlockArgument, ...]  # what the words of x0, x1, ... stand for
    lsb: Unit  # the value of one unit of the output word
    # low, high: a sound range of the output word
    low: Integer
    high: Integer

    kind: ClassVar[str] = "function"
    in_floats: ClassVar[bool] = True

    def check(self, where: str, earlier: Earlier) -> None:
        """Refuse a graph of other inputs than the arguments."""
        names = [f"x{k}" for k in range(len(self.arguments))]
        for name in self.graph.input_names:
            if name not in names:
                raise BddTorqueError(f"{where}, graph: {unknown('input', name, names)}")
        super().check(where, earlier)

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
        return Bounded(units, (np.abs(found.radius) / unit + 2 * ULP * np.abs(units)) * ROUND_UP)


@dataclass(frozen=True)
class LawBlock(TablePart):
    """A truth table of a law: sign·f − centre, rounded once to the nearest word, ties away from zero, and clamped."""

    law: Annotated[Law, Rule(law_from_plain)]  # the function f of the values that the input words stand for
    arguments: tuple[BlockArgument, ...]  # what these are
    lsb: Unit  # the value of one unit of the output word
    # low, high: where the words are clamped
    low: Integer
    high: Integer
    # centre, sign: the value of the output word is sign·(centre + word·lsb)
    centre: Fraction = Fraction(0)
    sign: Sign = 1

    kind: ClassVar[str] = "law"
    in_floats: ClassVar[bool] = True

    def check(self, where: str, earlier: Earlier) -> None:
        """Refuse other arguments than those of the law."""
        count = len(getattr(self.law, "around", (False,)))
        turned = any(argument.kind == "angle" for argument in self.arguments)
        if len(self.arguments) != count or (self.law.real_valued and turned):
            raise BddTorqueError(f"{where} must have the {count} arguments of its law")
        super().check(where, earlier)

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
        return Bounded(units, (np.abs(found.radius) / unit + slack) * ROUND_UP)


@dataclass(frozen=True)
class GivenBlock(TablePart):
    """A truth table whose words are given, and known by the key of the table: nobody else can make it."""

    widths: tuple[TableBits, ...]  # bits of each input word
    lsb: Unit  # the value of one unit of the output word
    # low, high: the lowest and the highest word
    low: Integer
    high: Integer
    table: str  # the content key of the table
    error: TableError  # how far a word can be from the value that it was made of, in values

    kind: ClassVar[str] = "given"

    @property
    def input_widths(self) -> tuple[int, ...]:
        """Bits of each input word."""
        return self.widths


@dataclass(frozen=True)
class ProductBlock(TablePart):
    """A truth table of a product of two words, floor(x·y/2^shift + 1/2).

    Signed words are two's complement; unsigned ones serve as the pieces of wider words.
    """

    widths: tuple[TableBits, TableBits]
    signed: bool
    shift: Shift
    low: Integer
    high: Integer

    kind: ClassVar[str] = "product"

    @classmethod
    def of_pieces(cls, bits: int) -> ProductBlock:
        """Return the table that wide products are put together from, piece by piece: unsigned and exact."""
        return cls((bits, bits), False, 0, 0, ((1 << bits) - 1) ** 2)

    @property
    def input_widths(self) -> tuple[int, ...]:
        """Bits of each input word."""
        return self.widths


@dataclass(frozen=True)
class SquareBlock(TablePart):
    """A truth table of quarter squares, ⌊x²/4⌋ of a signed word."""

    bits: Annotated[int, Whole(2, 17)]

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
BLOCKS: dict[str, type[Block]] = {
    each.kind: each for each in (FunctionBlock, ProductBlock, SquareBlock, LawBlock, GivenBlock)
}
"""Every kind of block, by the name that files give it."""


def output_format(block: Block) -> tuple[int, bool]:
    """Return the output bits of a block, and whether the word is signed."""
    if isinstance(block, SquareBlock) or (isinstance(block, ProductBlock) and not block.signed):
        return max(block.high.bit_length(), 1), False
    return Range(block.low, block.high).bits, True


def block_key(block: Block) -> str:
    """Return the content key of a block: equal blocks have equal tables."""
    text = json.dumps(block.to_plain(), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()

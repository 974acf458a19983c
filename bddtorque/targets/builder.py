"""`PlanBuilder`: collects the wires and blocks of a plan, whichever strategy lays it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.graph import Graph
from bddtorque.plan.blocks import Block, FunctionBlock, ProductBlock, SquareBlock
from bddtorque.plan.plan import ExactSum
from bddtorque.plan.plan_cost import piece_bits
from bddtorque.plan.wires import AngleSum, Input, Lookup, Method, Product, Wire
from bddtorque.targets.angles import Combination
from bddtorque.words.argument import Argument
from bddtorque.words.bounded import Interval
from bddtorque.words.integer_range import Range, word_range
from bddtorque.words.rounding import nearest_words

MAX_AUTO_SQUARE_BITS = 14
"""Input bits of the table of quarter squares, at most, unless asked for: beyond, its diagram outgrows four look-ups of
partial products."""
MAX_SQUARE_BITS = 17
"""Input bits of a table of quarter squares: its words still fit 32 bits."""


@dataclass(frozen=True)
class OutputFormat:
    """Meaning of an output word: value = sign·(centre + word·lsb), the word clamped to low..high."""

    name: str
    lsb: Fraction
    low: int
    high: int
    centre: Fraction = Fraction(0)
    sign: int = 1


class PlanBuilder:
    """Wires and blocks in the order they were first asked for; equal ones are kept once."""

    def __init__(
        self,
        arguments: Mapping[str, Argument],
        sums: Mapping[str, Combination],
        block_bits: int,
        products: str = "auto",
    ) -> None:
        self.arguments = arguments  # what the words of inputs and of sums of angles stand for, by name
        self.sums = sums  # the sums of angles, by name
        self.block_bits = block_bits  # input bits that a block may have
        # how two words are multiplied: "auto", "blocks", "squares" or "partial"; for the target "integer", "native"
        self.products = products
        self.where = "plan"  # what messages call that which is being laid out
        self.wires: list[Wire] = []
        self.blocks: list[Block] = []
        self.exact: dict[int, ExactSum] = {}
        """Exact values of sums, by key: see `Plan`."""
        self._places: dict[Wire | Block, int] = {}
        self._made_for: dict[int, str] = {}
        """Of each product: what `where` was."""

    def wire(self, wire: Wire) -> int:
        """Return the place of a wire."""
        if wire not in self._places:
            self._places[wire] = len(self.wires)
            self.wires.append(wire)
        return self._places[wire]

    def block(self, block: Block) -> int:
        """Return the place of a block."""
        if block not in self._places:
            self._places[block] = len(self.blocks)
            self.blocks.append(block)
        return self._places[block]

    def range_of(self, wire: int) -> Range:
        """Return the range of a wire's word."""
        return self.wires[wire].range(self.blocks)

    def word(self, name: str) -> int:
        """Return the wire of an input, or of a sum of angles."""
        combination = self.sums.get(name)
        if combination is None or len(combination.multipliers) == 1:
            base = name if combination is None else combination.multipliers[0][0]
            return self.wire(Input.of(base, self.arguments[base]))
        bits = self.arguments[name].bits
        parts = []
        for each, multiplier in combination.multipliers:
            argument = self.arguments[each]
            parts.append((self.word(each), int(multiplier * argument.scale), bits - argument.bits))
        return self.wire(AngleSum(name, bits, tuple(parts)))

    def table(
        self, label: str, graph: Graph, arguments: tuple[Argument, ...], words: tuple[int, ...], lsb: Fraction,
        reach: Interval,
    ) -> int:  # fmt: skip
        """Return the wire of a table of a function whose value is within `reach`, in units of `lsb`."""
        block = self.block(FunctionBlock(graph, arguments, lsb, *nearest_words(reach.low, reach.high, lsb)))
        return self.wire(Lookup(label, block, words))

    def product(self, left: int, right: int, shift: int) -> int:
        """Return the wire of a rounded product; `with_shared_tables` gives it the table it shares with others."""
        words = self.range_of(left), self.range_of(right)
        low, high = (words[0] * words[1]).rounded(shift)
        widths = words[0].bits, words[1].bits
        name = f"{self.wires[left].name}·{self.wires[right].name}"
        method, block = cast("Method", self.best_method(widths) if self.products == "auto" else self.products), -1
        if method == "blocks":
            # the table answers for every pattern of its input bits, also those the wires never carry
            reach = (word_range(widths[0]) * word_range(widths[1])).rounded(shift)
            block = self.block(ProductBlock(widths, True, shift, *reach))
        place = self.wire(Product(name, left, right, shift, method, block, 0, low, high))
        self._made_for.setdefault(place, self.where)
        return place

    def best_method(self, widths: tuple[int, int]) -> Method:
        """Return what ``"auto"`` stands for: quarter squares where one small table serves, else partial products."""
        return "squares" if max(widths) < min(self.block_bits, MAX_AUTO_SQUARE_BITS) else "partial"

    def with_shared_tables(self) -> tuple[tuple[Wire, ...], tuple[Block, ...]]:
        """Return wires and blocks, with one table of quarter squares and one of partial products for all products."""
        self._check_products()
        products = [wire for wire in self.wires if isinstance(wire, Product)]
        squared = [wire for wire in products if wire.method == "squares"]
        others = [wire for wire in products if wire.method == "partial"]
        widest = max((word.bits for wire in squared for word in self._words_of(wire)), default=0)
        square = self.block(SquareBlock(widest + 1)) if squared else -1
        bits = piece_bits([self._words_of(wire) for wire in others], self.block_bits) if others else 0
        pieces = self.block(ProductBlock.of_pieces(bits)) if others else -1
        taken: dict[Wire, Wire] = {wire: replace(wire, block=square) for wire in squared}
        taken |= {wire: replace(wire, block=pieces, piece_bits=bits) for wire in others}
        return tuple(taken.get(wire, wire) for wire in self.wires), tuple(self.blocks)

    def _words_of(self, wire: Product) -> tuple[Range, Range]:
        return self.range_of(wire.left), self.range_of(wire.right)

    def _check_products(self) -> None:
        """Refuse a way to multiply that the widest words do not fit, and name them."""
        most, what = self.block_bits, "one table of both needs"
        if self.products == "squares":
            most, what = min(most, MAX_SQUARE_BITS), "quarter squares need"
        elif self.products != "blocks":
            return
        needs = {}
        for place in self._made_for:
            widths = [self.range_of(source).bits for source in self.wires[place].sources]
            needs[place] = max(widths) + 1 if self.products == "squares" else sum(widths)
        widest = max(needs, key=needs.__getitem__, default=-1)
        if widest >= 0 and needs[widest] > most:
            left, right = (self.range_of(source).bits for source in self.wires[widest].sources)
            more = f"block_bits = {needs[widest]}, " if most == self.block_bits else ""
            raise BddTorqueError(
                f"{self._made_for[widest]}: '{self.wires[widest].name:.60}' multiplies words of {left} and {right} "
                f"bits; {what} {needs[widest]} input bits, but the limit is {most}: {more}fewer bits, or "
                'products = "auto" or "partial" would work'
            )

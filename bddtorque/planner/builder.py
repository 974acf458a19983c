"""`PlanBuilder`: collects the wires and blocks of a plan, whichever strategy lays it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from bddtorque.graph.graph import Graph
from bddtorque.plan.blocks import Block, FunctionBlock
from bddtorque.plan.wires import AngleSum, Input, Lookup, Wire
from bddtorque.planner.angles import Combination
from bddtorque.words.argument import Argument
from bddtorque.words.bounded import Interval
from bddtorque.words.integer_range import Range
from bddtorque.words.rounding import nearest_words


@dataclass(frozen=True)
class Target:
    """What an output word means: value = sign·(centre + word·lsb), the word clamped to low..high."""

    name: str
    lsb: Fraction
    low: int
    high: int
    centre: Fraction = Fraction(0)
    sign: int = 1


class PlanBuilder:
    """Wires and blocks in the order they were first asked for; equal ones are kept once.

    Attributes
    ----------
    arguments : what the words of inputs and of sums of angles stand for, by name
    sums : the sums of angles, by name
    block_bits : input bits that a block may have
    """

    def __init__(self, arguments: Mapping[str, Argument], sums: Mapping[str, Combination], block_bits: int) -> None:
        self.arguments = arguments
        self.sums = sums
        self.block_bits = block_bits
        self.wires: list[Wire] = []
        self.blocks: list[Block] = []
        self._places: dict[Wire | Block, int] = {}

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
            return self.wire(Input(base, self.arguments[base].bits, self.arguments[base].kind == "angle"))
        bits = self.arguments[name].bits
        parts = []
        for each, multiplier in combination.multipliers:
            argument = self.arguments[each]
            parts.append((self.word(each), multiplier * int(argument.scale), bits - argument.bits))
        return self.wire(AngleSum(name, bits, tuple(parts)))

    def table(
        self, label: str, graph: Graph, arguments: tuple[Argument, ...], words: tuple[int, ...], lsb: Fraction,
        reach: Interval,
    ) -> int:  # fmt: skip
        """Return the wire of a table of a function whose value is within `reach`, in units of `lsb`."""
        block = self.block(FunctionBlock(graph, arguments, lsb, *nearest_words(reach.low, reach.high, lsb)))
        return self.wire(Lookup(label, block, words))

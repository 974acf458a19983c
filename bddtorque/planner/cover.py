"""Cover a graph with blocks of few input bits: the planner.

Each output is a sum; its summands are products. A summand whose input words together have at most `block_bits` bits
becomes one table, rounded once (the paper's first option). A wider one becomes a cascade: as many of its factors as
fit become the first table, and the remaining words are multiplied on, one after the other (the paper's Fig. 4b). Sums
stay ordinary arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from bddtorque.base.errors import BddTorqueError
from bddtorque.graph.graph import Graph, Op, kept
from bddtorque.graph.tracer import Number, Tracer
from bddtorque.plan.blocks import Block, ProductBlock
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import Method, Output, Product, Wire
from bddtorque.planner.angles import Combination, with_angle_sums
from bddtorque.planner.builder import PlanBuilder, Target
from bddtorque.planner.network import node_supports, ordered
from bddtorque.words.argument import Argument
from bddtorque.words.bounded import IntervalArithmetic
from bddtorque.words.integer_range import word_range
from bddtorque.words.rounding import half_up


@dataclass(frozen=True)
class Choices:
    """What the error budget decides.

    Attributes
    ----------
    guard : for each output, how many bits finer than its own last bit its summands are
    margin : how many bits finer than needed for a summand the tables inside its cascade are
    cascade_bits : for each output, the width of the words inside a cascade where a rule fixes it (else None)
    """

    guard: tuple[int, ...]
    margin: int
    cascade_bits: tuple[int, ...] | None = None


class _Factor(NamedTuple):
    """Factors of a summand that depend on the same inputs."""

    references: tuple[int, ...]
    names: tuple[str, ...]


def cover(
    graph: Graph,
    arguments: Mapping[str, Argument],
    targets: Sequence[Target],
    choices: Choices,
    block_bits: int,
    source: str = "terms",
) -> Plan:
    """Return the plan of a graph whose inputs are the words described by `arguments`."""
    rewritten, sums = with_angle_sums(graph, arguments)
    known = {**arguments, **{name: sums[name].argument(arguments) for name in sums}}
    builder = _Builder(rewritten, sums, known, block_bits)
    outputs = []
    for place, (reference, target) in enumerate(zip(rewritten.outputs, targets, strict=True)):
        guard = choices.guard[place]
        lsb = target.lsb / (1 << guard)
        width = choices.cascade_bits[place] if choices.cascade_bits else None
        parts, constant = [], -target.centre
        for summand in summands(rewritten, reference):
            node = rewritten.nodes[summand >> 1]
            if node.op is Op.CONSTANT:
                constant += Fraction(node.value) * (-target.sign if summand & 1 else target.sign)
            else:
                wire, sign = builder.cover_summand(summand, lsb, choices.margin, width)
                parts.append((wire, sign * target.sign))
        rounded = half_up(constant / lsb)
        off = abs(constant / lsb - rounded) / (1 << guard)
        outputs.append(Output(target.name, tuple(parts), rounded, off, guard, target.low, target.high, target.lsb))
    wires, blocks = builder.with_one_limb_block()
    return Plan(wires, blocks, tuple(outputs), source, "tables", block_bits)


def summand_counts(graph: Graph, arguments: Mapping[str, Argument]) -> list[int]:
    """Return, for each output, how many summands it has: p, the paper's number of terms."""
    rewritten, _ = with_angle_sums(graph, arguments)
    return [len(summands(rewritten, reference)) for reference in rewritten.outputs]


def summands(graph: Graph, reference: int) -> list[int]:
    """Return the references whose sum is the given one."""
    node = graph.nodes[reference >> 1]
    if node.op is not Op.SUM:
        return [reference]
    flip = reference & 1
    return summands(graph, node.left ^ flip) + summands(graph, node.right ^ flip)


class _Builder(PlanBuilder):
    """Covers summands."""

    def __init__(
        self, graph: Graph, sums: Mapping[str, Combination], arguments: Mapping[str, Argument], block_bits: int
    ) -> None:
        super().__init__(arguments, sums, block_bits)
        self.graph = graph
        self.support = node_supports(graph)

    def cover_summand(self, reference: int, lsb: Fraction, margin: int, width: int | None) -> tuple[int, int]:
        """Return the wire of one summand in units of `lsb`, and the sign it enters with."""
        constant, factors = self._factors(reference)
        names = tuple(dict.fromkeys(name for factor in factors for name in factor.names))
        if self._bits(names) <= self.block_bits:
            return self._lookup([r for factor in factors for r in factor.references], constant, names, lsb)
        first, rest = self._split(factors)
        operands = [self._operand(factor, factors, constant, lsb, margin) for factor in rest]
        # each operand is lsb_o units a word; the first table takes what makes the last product come out in `lsb`
        words = [max(abs(low), abs(high)) for _, low, high, _ in operands]
        shifts = [math.ceil(math.log2(max(most, 1))) for most in words]  # 0: a table too small to matter
        shifts[-1] += margin
        first_lsb = lsb / (1 << sum(shifts))
        for _, _, _, operand_lsb in operands:
            first_lsb /= operand_lsb
        references = [r for factor in first for r in factor.references]
        first_names = tuple(dict.fromkeys(name for factor in first for name in factor.names))
        if width is not None:  # the rule gives the word of the first table so many bits
            most, spare = Fraction(self._magnitude(references, constant)) / abs(first_lsb), -shifts[-1]
            while half_up(most * Fraction(2) ** (spare + 1)).bit_length() < width:
                spare += 1
            shifts[-1] += spare
            first_lsb /= Fraction(2) ** spare
        wire, sign = self._lookup(references, constant, first_names, first_lsb)
        for (operand, _, _, _), shift in zip(operands, shifts, strict=True):
            wire = self._product(wire, operand, shift)
        return wire, sign

    def _split(self, factors: Sequence[_Factor]) -> tuple[list[_Factor], list[_Factor]]:
        """Return the factors of the first table and those that are multiplied on: functions first, plain words last."""
        ordered = sorted(factors, key=lambda factor: (self._plain(factor), -self._bits(factor.names), factor.names))
        first, rest, names = [ordered[0]], [], set(ordered[0].names)
        if self._bits(ordered[0].names) > self.block_bits:
            raise BddTorqueError(
                f"plan: a function of {', '.join(ordered[0].names)} needs {self._bits(ordered[0].names)} input bits "
                f"and block_bits is {self.block_bits}: raise block_bits or lower input_bits"
            )
        for factor in ordered[1:]:
            if self._bits(names.union(factor.names)) <= self.block_bits:
                first.append(factor)
                names.update(factor.names)
            else:
                rest.append(factor)
        return first, rest

    def _operand(
        self, factor: _Factor, factors: Sequence[_Factor], constant: float, lsb: Fraction, margin: int
    ) -> tuple[int, int, int, Fraction]:
        """Return wire, lowest and highest word and lsb of a factor: the input word itself, or a table of its own."""
        if self._plain(factor):
            (name,) = factor.names
            argument = self.arguments[name]
            return self.word(name), argument.lowest, argument.highest, argument.scale
        others = [r for other in factors if other is not factor for r in other.references]
        share = lsb / (1 << margin) / Fraction(self._magnitude(others, constant))
        own_lsb = Fraction(2) ** math.floor(math.log2(share))
        wire, sign = self._lookup(list(factor.references), 1.0, factor.names, own_lsb)
        return wire, *self.range_of(wire), sign * own_lsb

    def _plain(self, factor: _Factor) -> bool:
        """Whether a factor is one input word, proportional to its value."""
        node = self.graph.nodes[factor.references[0] >> 1]
        return len(factor.references) == 1 and node.op is Op.INPUT and self.arguments[node.name].centre == 0

    def _factors(self, reference: int) -> tuple[float, list[_Factor]]:
        """Return the constant of a product and its factors, those of the same inputs together."""
        constant, found, waiting = 1.0, [], [reference]
        while waiting:
            current = waiting.pop()
            constant = -constant if current & 1 else constant
            node = self.graph.nodes[current >> 1]
            if node.op is Op.PRODUCT:
                waiting += [node.right, node.left]
            elif node.op is Op.CONSTANT:
                constant *= node.value
            else:
                found.append(current & ~1)
        groups: dict[frozenset[str], list[int]] = {}
        for factor in found:
            groups.setdefault(self.support[factor >> 1], []).append(factor)
        return constant, [_Factor(tuple(refs), ordered(support, self.arguments)) for support, refs in groups.items()]

    def _bits(self, names: Sequence[str] | set[str]) -> int:
        return sum(self.arguments[name].bits for name in names)

    def _traced(self, references: Sequence[int], constant: float, names: Sequence[str]) -> Graph:
        """Return constant times the product of references as a graph of its own, over x0, x1, ..."""
        tracer = Tracer()
        inputs = {name: tracer.input(f"x{k}") for k, name in enumerate(names)}
        part = kept(self.graph.nodes, references, [str(r) for r in references])
        product: Number = 1.0
        for factor in part.evaluate(inputs, tracer):
            product = tracer.product(product, factor)
        return tracer.graph([tracer.product(constant, product)], ["f"])  # last, so that x·x is seen as a square

    def _magnitude(self, references: Sequence[int], constant: float) -> float:
        """Return a sound bound on |constant · product|."""
        names = sorted(frozenset().union(*(self.support[r >> 1] for r in references)))
        graph = self._traced(references, constant, names)
        inputs = {f"x{k}": self.arguments[name].interval() for k, name in enumerate(names)}
        magnitude: float = graph.evaluate(inputs, IntervalArithmetic)[0].magnitude
        return magnitude

    def _lookup(
        self, references: Sequence[int], constant: float, names: Sequence[str], lsb: Fraction
    ) -> tuple[int, int]:
        """Return the wire of a table of constant · product in units of |lsb|, and its sign."""
        names = ordered(frozenset(names), self.arguments)
        graph = self._traced(references, constant, names)
        sign = -1 if (graph.outputs[0] & 1) != (lsb < 0) else 1
        graph = Graph(graph.nodes, (graph.outputs[0] & ~1,), graph.output_names)
        arguments = tuple(self.arguments[name] for name in names)
        reach = graph.evaluate({f"x{k}": a.interval() for k, a in enumerate(arguments)}, IntervalArithmetic)[0]
        label = "·".join(self._label(r) for r in references)
        words = tuple(self.word(name) for name in names)
        return self.table(label, graph, arguments, words, abs(lsb), reach), sign

    def _label(self, reference: int) -> str:
        node = self.graph.nodes[reference >> 1]
        if node.op is Op.INPUT:
            return node.name
        names = ",".join(ordered(self.support[reference >> 1], self.arguments))
        if node.op in (Op.SINE, Op.COSINE) and self.graph.nodes[node.left >> 1].op is Op.INPUT:
            return f"{'sin' if node.op is Op.SINE else 'cos'}({names})"
        return f"f({names})"

    def _product(self, left: int, right: int, shift: int) -> int:
        """Return the wire of a rounded product: one block where both words fit it, else limbs."""
        words = self.range_of(left), self.range_of(right)
        low, high = (words[0] * words[1]).rounded(shift)
        widths = words[0].bits, words[1].bits
        name = f"{self.wires[left].name}·{self.wires[right].name}"
        method: Method = "block"
        if sum(widths) <= self.block_bits:
            # the table answers for every pattern of its input bits, also those the wires never carry
            reach = (word_range(widths[0]) * word_range(widths[1])).rounded(shift)
            block, limb = self.block(ProductBlock(widths, True, shift, *reach)), 0
        else:
            magnitude = max(word.magnitude.bit_length() for word in words)
            method, block, limb = "limbs", -1, min(self.block_bits // 2, -(-magnitude // 2))
        return self.wire(Product(name, left, right, shift, method, block, limb, low, high))

    def with_one_limb_block(self) -> tuple[tuple[Wire, ...], tuple[Block, ...]]:
        """Return wires and blocks with one limb table for all wide products: the widest that any of them asks for."""
        limb = max((wire.limb_bits for wire in self.wires if isinstance(wire, Product)), default=0)
        if not limb:
            return tuple(self.wires), tuple(self.blocks)
        block = self.block(ProductBlock.of_limbs(limb))
        wires = (
            replace(wire, block=block, limb_bits=limb) if isinstance(wire, Product) and wire.limb_bits else wire
            for wire in self.wires
        )
        return tuple(wires), tuple(self.blocks)

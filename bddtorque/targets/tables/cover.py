"""Cover a graph with blocks of few input bits, term by term, as the paper on the 2R arm does.

Each output is a sum; its summands are the terms, products of a coefficient and of motions. A term whose distinct input
words have at most `block_bits` bits together becomes one table, rounded once (the paper's first option). A wider one
becomes a cascade: as many of its factors as fit become the first table, and the remaining words are multiplied on, one
after the other (the paper's Fig. 4b). A coefficient of several words that no factor fits a table with is a sum of
tables of its harmonics, rounded to one word. Sums stay ordinary arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.graph import Graph, Op, kept
from bddtorque.dynamics.node_ranges import output_ranges
from bddtorque.dynamics.tracer import Number, Tracer
from bddtorque.plan.plan import ExactSum, Plan
from bddtorque.plan.wires import Method, Output, Sum
from bddtorque.targets.angles import Combination, with_angle_sums
from bddtorque.targets.builder import OutputFormat, PlanBuilder
from bddtorque.targets.network import node_supports, ordered
from bddtorque.words.argument import Argument
from bddtorque.words.integer_range import Range
from bddtorque.words.rounding import half_up

SUM_ROOM = 2
"""Units by which the word of a sum can be beyond its value: what its summands are off, and its own rounding."""

CONSTANT_CHARGE = Fraction(5, 4)
"""Charge for a rounded constant of a sum: a table that it is multiplied with may be rounded down, by a fifth."""


@dataclass(frozen=True)
class Choices:
    """Decisions of the error budget."""

    guard: tuple[int, ...]  # for each output, how many bits finer than its own last bit its summands are
    margin: int  # how many bits finer than needed for a summand the tables inside its cascade are
    # for each output, the width of the words inside a cascade where a rule fixes it (else None)
    cascade_bits: tuple[int, ...] | None = None


class _Factor(NamedTuple):
    """Factors of a summand that depend on the same inputs."""

    references: tuple[int, ...]
    names: tuple[str, ...]


def extra_bits(summands: int) -> int:
    """Return m = int(log2(p + 1)), the paper's extra bits for words that are summands of p (BDD2R)."""
    return int(math.log2(summands + 1))


def cover(
    graph: Graph,
    arguments: Mapping[str, Argument],
    targets: Sequence[OutputFormat],
    choices: Choices,
    block_bits: int,
    products: str = "auto",
) -> Plan:
    """Return the plan of a graph whose inputs are the words described by `arguments`."""
    rewritten, sums = with_angle_sums(graph, arguments)
    known = {**arguments, **{name: sums[name].argument(arguments) for name in sums}}
    builder = _CoverBuilder(rewritten, sums, known, block_bits, products)
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
                wire, sign = builder.cover_term(target.name, summand, lsb, choices.margin, width)
                parts.append((wire, sign * target.sign))
        rounded = half_up(constant / lsb)
        off = abs(constant / lsb - rounded) / (1 << guard)
        builder.note(-1 - place, parts, constant / lsb, guard)
        outputs.append(Output(target.name, tuple(parts), rounded, off, guard, target.low, target.high, target.lsb))
    return Plan(*builder.with_shared_tables(), tuple(outputs), "terms", "tables", block_bits, builder.exact)


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


class FunctionTables(PlanBuilder):
    """Makes tables of products and sums of a graph's nodes, which are meant by their references."""

    def __init__(
        self,
        graph: Graph,
        sums: Mapping[str, Combination],
        arguments: Mapping[str, Argument],
        block_bits: int,
        products: str,
    ) -> None:
        super().__init__(arguments, sums, block_bits, products)
        self.graph = graph  # over the inputs and the sums of angles
        self.support = node_supports(graph)  # of each node, the words that it depends on

    def inputs_of(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the input words that some words depend on: sums of angles are taken apart."""
        inputs = {n for name in names for n, _ in (self.sums[name].multipliers if name in self.sums else ((name, 1),))}
        return ordered(frozenset(inputs), self.arguments)

    def words_of(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the words that a table of some words reads: those, or the inputs behind them if they have fewer bits.

        q2, q3 and q2+q3 are two words; q1+q2 alone is one.
        """
        given = ordered(frozenset(names), self.arguments)
        if any(self.sums[name].rest or self.sums[name].fractional for name in given if name in self.sums):
            return given
        return min(given, self.inputs_of(given), key=lambda words: sum(self.arguments[name].bits for name in words))

    def bits_of(self, names: Iterable[str]) -> int:
        """Return the bits of the distinct words."""
        return sum(self.arguments[name].bits for name in self.words_of(names))

    def _traced(self, products: Sequence[Sequence[int]], constant: float, names: Sequence[str]) -> Graph:
        """Return constant times a sum of products of references as a graph of its own, over x0, x1, ..."""
        tracer = Tracer()
        inputs: dict[str, Number] = {name: tracer.input(f"x{k}") for k, name in enumerate(names)}
        for name, combination in self.sums.items():
            if (
                name not in inputs
                and not combination.fractional
                and all(n in inputs for n, _ in combination.multipliers)
            ):
                inputs[name] = sum((m * inputs[n] for n, m in combination.multipliers), 0.0)
        total: Number = 0.0
        for references in products:
            part = kept(self.graph.nodes, references, [str(r) for r in references])
            product: Number = 1.0
            for factor in part.evaluate(inputs, tracer):
                product = tracer.product(product, factor)
            total = tracer.sum(total, product)
        return tracer.graph([tracer.product(constant, total)], ["f"])  # last, so that x·x is seen as a square

    def magnitude(self, references: Sequence[int], constant: float) -> float:
        """Return a sound bound on |constant · product|."""
        names = sorted(frozenset().union(*(self.support[r >> 1] for r in references)))
        graph = self._traced([references], constant, names)
        inputs = {f"x{k}": self.arguments[name].interval() for k, name in enumerate(names)}
        return output_ranges(graph, inputs)[0].magnitude

    def lookup(
        self, products: Sequence[Sequence[int]], constant: float, names: Iterable[str], lsb: Fraction
    ) -> tuple[int, int]:
        """Return the wire of a table of constant · sum of products in units of |lsb|, and its sign."""
        names = self.words_of(names)
        graph = self._traced(products, constant, names)
        sign = -1 if (graph.outputs[0] & 1) != (lsb < 0) else 1
        graph = Graph(graph.nodes, (graph.outputs[0] & ~1,), graph.output_names)
        arguments = tuple(self.arguments[name] for name in names)
        reach = output_ranges(graph, {f"x{k}": a.interval() for k, a in enumerate(arguments)})[0]
        one = len(products) == 1
        label = "·".join(self.label(r) for r in products[0]) if one else f"f({','.join(names)})"
        words = tuple(self.word(name) for name in names)
        return self.table(label, graph, arguments, words, abs(lsb), reach), sign

    def label(self, reference: int) -> str:
        """Return what people read of a node: ``qd1``, ``sin(q2)``, ``f(q2,q3)``."""
        node = self.graph.nodes[reference >> 1]
        if node.op is Op.INPUT:
            return node.name
        names = ",".join(self.words_of(self.support[reference >> 1]))
        if node.op in (Op.SINE, Op.COSINE) and self.graph.nodes[node.left >> 1].op is Op.INPUT:
            return f"{'sin' if node.op is Op.SINE else 'cos'}({names})"
        return f"f({names})"


class _CoverBuilder(FunctionTables):
    """Covers summands."""

    def note(self, key: int, parts: Sequence[tuple[int, int]], constant: Fraction, shift: int) -> None:
        """Keep what a sum stands for; only its constant is rounded."""
        whole = Fraction(1, 1 << shift)
        noted = ExactSum(tuple((wire, sign * whole) for wire, sign in parts), constant * whole)
        known = self.exact.setdefault(key, noted)
        if known != noted:  # a sum that serves two, whose constants are rounded alike
            apart = (whole, abs(known.constant - noted.constant) / whole)
            self.exact[key] = replace(known, dropped=(*known.dropped, apart))

    def best_method(self, widths: tuple[int, int]) -> Method:
        """Return what ``"auto"`` stands for: one block of both words where they fit, else partial products."""
        return "blocks" if sum(widths) <= self.block_bits else "partial"

    def cover_term(self, output: str, reference: int, lsb: Fraction, margin: int, width: int | None) -> tuple[int, int]:
        """Return the wire of one summand of an output in units of `lsb`, and the sign it enters with."""
        constant, factors = self._factors(reference)
        self.where = f"{output}, term {'·'.join(self.label(r) for factor in factors for r in factor.references):.60}"
        return self._cascade(constant, factors, lsb, margin, width)

    def _cascade(
        self, constant: float, factors: Sequence[_Factor], lsb: Fraction, margin: int, width: int | None
    ) -> tuple[int, int]:
        """Return the wire of constant · product of factors in units of |lsb|, and its sign."""
        names = frozenset(name for factor in factors for name in factor.names)
        if self.bits_of(names) <= self.block_bits:
            return self.lookup([[r for factor in factors for r in factor.references]], constant, names, lsb)
        first, rest = self._split(factors)
        if not rest:
            return self._sum(first[0].references[0], constant, lsb, width)
        operands = [self._operand(factor, factors, constant, lsb, margin, width) for factor in rest]
        # each operand is lsb_o units a word; the first table takes what makes the last product come out in `lsb`
        words = [max(abs(low), abs(high)) for _, low, high, _ in operands]
        shifts = [math.ceil(math.log2(max(most, 1))) for most in words]  # 0: a table too small to matter
        shifts[-1] += margin
        first_lsb = lsb / (1 << sum(shifts))
        for _, _, _, operand_lsb in operands:
            first_lsb /= operand_lsb
        references = [r for factor in first for r in factor.references]
        first_names = frozenset(name for factor in first for name in factor.names)
        # no other factor fits a table with it
        summed = len(references) == 1 and len(self.words_of(first_names)) > 1
        if width is not None:  # the rule gives the word of the first table so many bits
            most, spare = Fraction(self.magnitude(references, constant)) / abs(first_lsb), -shifts[-1]
            room = SUM_ROOM if summed else 0
            while half_up(most * Fraction(2) ** (spare + 1) + room).bit_length() < width:
                spare += 1
            shifts[-1] += spare
            first_lsb /= Fraction(2) ** spare
        if summed:
            wire, sign = self._sum(references[0], constant, first_lsb, width)
        else:
            wire, sign = self.lookup([references], constant, first_names, first_lsb)
        for (operand, _, _, _), shift in zip(operands, shifts, strict=True):
            wire = self.product(wire, operand, shift)
        return wire, sign

    def _sum(self, reference: int, constant: float, lsb: Fraction, width: int | None) -> tuple[int, int]:
        """Return the wire of constant times a sum in units of |lsb|, each of its summands a table; and its sign."""
        groups: dict[frozenset[str], list[int]] = {}
        for summand in summands(self.graph, reference):
            groups.setdefault(self.support[summand >> 1], []).append(summand)
        alone = groups.pop(frozenset(), [])  # constants: in the first table, where they cost no rounding
        shift = extra_bits(len(groups))
        fine = abs(lsb) / (1 << shift)
        parts = []
        for names, references in groups.items():
            if self.bits_of(names) <= self.block_bits:  # the sine and the cosine of an angle share a table
                parts.append(self.lookup([[r] for r in (*references, *alone)], constant, names, fine))
                alone = []
            else:
                for r in references:
                    own, factors = self._factors(r)
                    parts.append(self._cascade(own * constant, factors, fine, 0, width))
        values = (Fraction(self.graph.nodes[r >> 1].value) * (-1 if r & 1 else 1) for r in alone)
        offset = Fraction(constant) * sum(values)
        whole = half_up(offset / fine)
        exact = sum((self.range_of(wire) * sign for wire, sign in parts), start=Range(whole, whole))
        off = abs(offset / fine - whole) / (1 << shift) * CONSTANT_CHARGE
        name = f"f({','.join(self.inputs_of(self.support[reference >> 1]))})"
        low, high = exact.rounded(shift)
        wire = self.wire(Sum(name, tuple(parts), whole, shift, low, high, abs(lsb), off))
        self.note(wire, parts, offset / fine, shift)
        return wire, -1 if lsb < 0 else 1

    def _split(self, factors: Sequence[_Factor]) -> tuple[list[_Factor], list[_Factor]]:
        """Return the factors of the first table and those that are multiplied on: functions first, plain words last."""
        ordered = sorted(factors, key=lambda factor: (self._plain(factor), -self.bits_of(factor.names), factor.names))
        first, rest, names = [ordered[0]], [], set(ordered[0].names)
        words = self.words_of(ordered[0].names)
        bits = max(self.arguments[name].bits for name in words)
        sum_or_word = ordered[0].references[0]
        if bits > self.block_bits or (len(words) > 1 and self.graph.nodes[sum_or_word >> 1].op is not Op.SUM):
            raise BddTorqueError(
                f"{self.where}: a function of {', '.join(words)} needs {self.bits_of(words)} input bits and block_bits "
                f"is {self.block_bits}: raise block_bits or lower input_bits"
            )
        for factor in ordered[1:]:
            if self.bits_of(names.union(factor.names)) <= self.block_bits:
                first.append(factor)
                names.update(factor.names)
            else:
                rest.append(factor)
        return first, rest

    def _operand(
        self,
        factor: _Factor,
        factors: Sequence[_Factor],
        constant: float,
        lsb: Fraction,
        margin: int,
        width: int | None,
    ) -> tuple[int, int, int, Fraction]:
        """Return wire, lowest and highest word and lsb of a factor: the input word itself, or a table of its own."""
        if self._plain(factor):
            (name,) = factor.names
            argument = self.arguments[name]
            return self.word(name), *argument.range, argument.scale
        if width is None:
            others = [r for other in factors if other is not factor for r in other.references]
            share = lsb / (1 << margin) / Fraction(self.magnitude(others, constant))
        else:
            share = Fraction(self.magnitude(factor.references, 1.0)) / ((1 << (width - 1)) - 1)
            share *= 2  # rounded down below
        own_lsb = Fraction(2) ** math.floor(math.log2(share))
        wire, sign = self._cascade(1.0, [factor], own_lsb, margin, width)
        return wire, *self.range_of(wire), sign * own_lsb

    def _plain(self, factor: _Factor) -> bool:
        """Return whether a factor is one input word, proportional to its value."""
        node = self.graph.nodes[factor.references[0] >> 1]
        return len(factor.references) == 1 and node.op is Op.INPUT and self.arguments[node.name].centre == 0

    def _factors(self, reference: int) -> tuple[float, list[_Factor]]:
        """Return the constant of a product and its factors, those of the same few inputs together."""
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
        groups: dict[tuple[frozenset[str], int], list[int]] = {}
        for factor in found:
            support = self.support[factor >> 1]
            together = self.bits_of(support) <= self.block_bits  # in one table; else each for itself
            groups.setdefault((support, 0 if together else factor), []).append(factor)
        return constant, [_Factor(tuple(refs), ordered(names, self.arguments)) for (names, _), refs in groups.items()]

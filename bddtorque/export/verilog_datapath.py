"""A plan as a circuit: the stages of every wire, from input words to output words.

Products of two words: on a multiplier of the chip, from adders, or from tables as the plan says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

from bddtorque.export.c_text import safe_comment
from bddtorque.export.verilog_stages import Circuit, Stage, joined, literal, register_bits
from bddtorque.export.verilog_sums import sum_stage
from bddtorque.export.verilog_tables import check_network, network_clocks, table_stage
from bddtorque.export.verilog_text import MULTIPLIER_BITS, MULTIPLIER_CLOCKS
from bddtorque.model.model import Model
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.bound import known_ranges
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.plan.tabulate import check_products
from bddtorque.plan.wires import Algebra, AngleSum, Input, Lookup, Output, Product, Sum
from bddtorque.words.integer_range import Range, word_range


def multiplied(circuit: Circuit, left: int, right: int) -> int:
    """Return the stage of a product on multipliers of the chip; wide words are taken apart."""
    left, right = sorted((left, right))
    for word, other in ((left, right), (right, left)):
        own = circuit.stages[word]
        if _signed_bits(own) > MULTIPLIER_BITS:
            cut = MULTIPLIER_BITS - 1
            low = circuit.logic((word,), circuit.operand(0, word, cut), Range(0, (1 << cut) - 1))
            reach = Range(own.range.low >> cut, own.range.high >> cut)
            high = circuit.logic((word,), circuit.operand(0, word, register_bits(reach), start=cut), reach)
            parts = [(multiplied(circuit, high, other), 1 << cut), (multiplied(circuit, low, other), 1)]
            return sum_stage(circuit, parts, 0, 0, _reach(circuit, left, right))
    reach = _reach(circuit, left, right)
    return circuit.add(Stage((left, right), "", reach, "product", latency=MULTIPLIER_CLOCKS))


def _signed_bits(stage: Stage) -> int:
    return stage.range.bits


def _reach(circuit: Circuit, left: int, right: int) -> Range:
    if left == right:
        ends = circuit.stages[left].range
        return Range(0, ends.magnitude**2)
    return circuit.stages[left].range * circuit.stages[right].range


def soft_product(circuit: Circuit, left: int, right: int) -> int:
    """Return the stage of a product made of adders: of the other word times two bits of the shorter one, then a tree.

    The sum of two rows is conditional, so that an adder and the choice take one logic cell for each bit.
    """
    left, right = sorted((left, right))
    if circuit.stages[left].bits < circuit.stages[right].bits:
        left, right = right, left
    word, digits = circuit.stages[left], circuit.stages[right]
    terms = []
    for low in range(0, digits.bits, 2):
        pair = low + 1 < digits.bits
        top = digits.signed and low + 2 >= digits.bits
        factors = Range(-2 if top and pair else 0, 1 if top and pair else 3) if pair else Range(0, 1)
        reach = word.range * factors
        reach = Range(min(reach.low, 0), max(reach.high, 0))
        width = register_bits(reach)
        row = f"({{{width}{{@1[{low}]}}}} & {circuit.operand(0, left, width)})"
        if pair:
            twice = circuit.operand(0, left, width, 1)
            row = f"@1[{low + 1}] ? {row} {'-' if top else '+'} {twice} : {row}"
        sign = -1 if top and not pair else 1
        terms.append((circuit.logic((left, right), row, reach), sign << low))
    return sum_stage(circuit, terms, 0, 0, _reach(circuit, left, right))


def squares_product(circuit: Circuit, left: int, right: int, square: Callable[[int], int]) -> int:
    """Return the stage of a product by quarter squares: ⌊(a + b)²/4⌋ − ⌊(a − b)²/4⌋; `square` looks one up."""
    ends = [circuit.stages[each].range for each in (left, right)]
    both = [
        sum_stage(circuit, [(left, 1), (right, sign)], 0, 0, ends[0] + ends[1] if sign > 0 else ends[0] - ends[1])
        for sign in (1, -1)
    ]
    squares = [square(each) for each in both]
    return sum_stage(circuit, [(squares[0], 1), (squares[1], -1)], 0, 0, _reach(circuit, left, right))


def partial_products(
    circuit: Circuit, left: int, right: int, multiply: Callable[[Sequence[int]], int], size: int
) -> int:
    """Return the stage of a product by partial products: magnitudes, then pieces that `multiply` looks up, the sign."""
    sizes = [magnitude(circuit, each) for each in (left, right)]
    pieces = [[_piece(circuit, word, low, size) for low in range(0, circuit.stages[word].bits, size)] for word in sizes]
    terms = [
        (multiply((one, other)), 1 << size * (i + j))
        for i, one in enumerate(pieces[0])
        for j, other in enumerate(pieces[1])
    ]
    most = prod(circuit.stages[each].range.high for each in sizes)
    total = sum_stage(circuit, terms, 0, 0, Range(0, most))
    words = [each for each in (left, right) if circuit.stages[each].signed]
    if not words:
        return total
    signs = [f"@{k}[{circuit.stages[each].bits - 1}]" for k, each in enumerate(words)]
    flip = circuit.logic(words, " ^ ".join(signs), Range(0, 1))
    reach = Range(-most, most)
    own = circuit.operand(0, total, reach.bits)
    return circuit.logic((total, flip), f"@1[0] ? {literal(0, reach.bits)} - {own} : {own}", reach)


def _piece(circuit: Circuit, word: int, low: int, size: int) -> int:
    """Return the stage of some bits of an unsigned word."""
    bits = min(size, circuit.stages[word].bits - low)
    return circuit.logic((word,), circuit.operand(0, word, bits, start=low), Range(0, (1 << bits) - 1))


def magnitude(circuit: Circuit, word: int) -> int:
    """Return the stage of an absolute value."""
    own = circuit.stages[word]
    if not own.signed:
        return word
    reach = Range(0, own.range.magnitude)
    width = register_bits(reach)
    text = circuit.operand(0, word, width)
    return circuit.logic((word,), f"@0[{own.bits - 1}] ? {literal(0, width)} - {text} : {text}", reach)


Multiply = Literal["tables", "dsp", "soft"]
"""Ways to multiply words: as a plan of tables says, on multipliers of the chip, or by adders."""


@dataclass(frozen=True)
class ExactStage:
    """A sum of stages times factors that is not rounded yet; `final` says that it is."""

    terms: tuple[tuple[int, int], ...]
    final: bool = False


def datapath(
    model: Model, plan: Plan, ports: Sequence[str], multiply: Multiply, networks: bool = False, plain: bool = False
) -> Circuit:
    """Return the circuit of a plan; `ports` are the names of all input words, in the order of the ports.

    With `networks`, tables are networks of multiplexers instead of ROMs. `plain` is as in `Circuit`.
    """
    check_products(plan, model.tables)
    circuit = Circuit(plain=plain)
    algebra = _Stages(circuit, plan, model.tables, ports, multiply, model.diagrams if networks else None)
    words = plan.evaluate(algebra)
    torques = model.certificate.torques
    for output, proved in zip(plan.outputs, torques, strict=True):
        circuit.outputs.append(algebra.output(output, words, proved.saturation == "cannot"))
    return circuit.needed()


class _Stages(Algebra["int | ExactStage"]):
    """Computes in stages: a number is the stage of a word."""

    def __init__(
        self, circuit: Circuit, plan: Plan, tables: Sequence[Table], ports: Sequence[str], multiply: Multiply,
        diagrams: Sequence[Diagram] | None,
    ) -> None:  # fmt: skip
        self.circuit, self.plan, self.tables, self.multipliers = circuit, plan, tables, multiply
        self.diagrams = diagrams
        self.ranges = known_ranges(plan, tables)
        self.places = {name: place for place, name in enumerate(ports)}
        self.numbers = {id(wire): k for k, wire in enumerate(plan.wires)}

    def input(self, wire: Input) -> int | ExactStage:
        return self.circuit.add(Stage((), "", wire.words, "input", place=self.places[wire.name]))

    def table(self, wire: Lookup, words: Sequence[int | ExactStage]) -> int | ExactStage:
        return self._noted(self._look_up(wire.block, [_stage(word) for word in words]), wire.name)

    def _look_up(self, block: int, words: Sequence[int]) -> int:
        """Return the stage of a table's word, from a ROM or a network."""
        if self.diagrams is None:
            return table_stage(self.circuit, self.tables[block], words)
        table, diagram = self.tables[block], self.diagrams[block]
        check_network(block, diagram)
        widths = enumerate(zip(words, table.input_widths, strict=True))
        index = joined([self.circuit.operand(k, stage, width) for k, (stage, width) in widths])
        reach = word_range(table.output_bits, table.signed)
        clocks = network_clocks(diagram)
        return self.circuit.add(Stage(tuple(words), index, reach, "network", latency=clocks, place=block))

    def wrapped(self, total: int | ExactStage, wire: AngleSum) -> int | ExactStage:
        assert isinstance(total, ExactStage)
        stage = sum_stage(self.circuit, total.terms, wire.constant, 0, word_range(wire.bits), wraps=True)
        return self._noted(stage, wire.name)

    def total(self, wire: AngleSum | Sum | Output, terms: Sequence[tuple[int | ExactStage, int]]) -> int | ExactStage:
        return ExactStage(tuple((_stage(word), factor) for word, factor in terms))

    def product(self, wire: Product, left: int | ExactStage, right: int | ExactStage) -> int | ExactStage:
        one, other, circuit = _stage(left), _stage(right), self.circuit
        match "native" if self.multipliers != "tables" else wire.method:
            case "native":
                stage = (soft_product if self.multipliers == "soft" else multiplied)(circuit, one, other)
            case "blocks":
                return ExactStage(((self._look_up(wire.block, (one, other)), 1),), final=True)
            case "squares":
                stage = squares_product(circuit, one, other, lambda word: self._look_up(wire.block, (word,)))
            case _:
                stage = partial_products(
                    circuit, one, other, lambda pair: self._look_up(wire.block, pair), wire.piece_bits
                )
        return ExactStage(((stage, 1),))

    def rounded(self, exact: int | ExactStage, wire: Product | Sum | Output) -> int | ExactStage:
        assert isinstance(exact, ExactStage)
        if exact.final:
            return exact.terms[0][0]
        result = self.ranges[self.numbers[id(wire)]]
        constant = 0 if isinstance(wire, Product) else wire.constant
        return self._noted(sum_stage(self.circuit, exact.terms, constant, wire.shift, result), wire.name)

    def output(self, output: Output, words: Sequence[int | ExactStage], cannot: bool) -> int:
        """Return the stage of an output word, clamped unless it is proved that it need not be."""
        exact = output.total(self, words)
        assert isinstance(exact, ExactStage)
        ends = _register_range(Range(output.low, output.high))
        start = Range(output.constant, output.constant)
        reach = sum((self.circuit.stages[stage].range * factor for stage, factor in exact.terms), start=start)
        reach = reach.rounded(output.shift)
        inside = Range(output.low, output.high)
        cannot = cannot or reach.within(inside)
        stage = sum_stage(self.circuit, exact.terms, output.constant, output.shift, inside if cannot else reach)
        if not cannot:
            stage = self._clamped(stage, inside)
        own = self.circuit.stages[stage]
        bits = register_bits(ends)
        if (own.bits, own.signed) != (bits, ends.low < 0):
            stage = self.circuit.logic((stage,), self.circuit.operand(0, stage, bits), ends)
        return stage

    def _clamped(self, stage: int, inside: Range) -> int:
        own = self.circuit.stages[stage]
        ends = _register_range(inside)
        text = self.circuit.operand(0, stage, register_bits(ends))
        name = "$signed(@0)" if own.signed else "@0"
        for end, sign in ((inside.low, "<"), (inside.high, ">")):
            if not (own.range.low < end if sign == "<" else own.range.high > end):
                continue
            limit = literal(end, own.bits)
            limit = f"$signed({limit})" if own.signed else limit
            text = f"({name} {sign} {limit}) ? {literal(end, register_bits(ends))} : ({text})"
        return self.circuit.logic((stage,), text, ends)

    def _noted(self, stage: int, name: str) -> int:
        self.circuit.note(stage, safe_comment(name))
        return stage


def _register_range(words: Range) -> Range:
    """Return what the register of an output holds: two's complement if some word is negative."""
    return word_range(register_bits(words), signed=words.low < 0)


def _stage(word: int | ExactStage) -> int:
    assert isinstance(word, int)
    return word

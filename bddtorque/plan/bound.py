"""Compose what each block is proved to err into a bound on every output, by parts.

A wire stands for a real function of the input words; its error is the distance between word·lsb and that function.

    table     proved on every entry, or half a unit before it is made
    product   |ab − a'b'| <= |a|·e_b + |b'|·e_a, and half a unit where the shift rounds
    sum       exact; in c·x + s·y with c² + s² = 1 the errors of x and y count as √(e_x² + e_y²): |c|·e_x + |s|·e_y
              is no more (Cauchy and Schwarz). Along a chain of joints that is half a bit a joint

Operations on floats are in `float_bound`. Floats only ever round a bound up (`ROOM`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from bddtorque.dynamics.graph import Op
from bddtorque.plan.blocks import Block, FunctionBlock, GivenBlock, RealBlock
from bddtorque.plan.float_bound import FloatBound, FloatErrors
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import AngleSum, Input, Lookup, Output, Product, Sum
from bddtorque.words.argument import Argument
from bddtorque.words.bounded import ROOM, Interval
from bddtorque.words.integer_range import Range, word_range
from bddtorque.words.ordered_sums import added

PARTS = ("dropped", "constants", "tables", "products", "sums")
"""Where an error can arise on the way to an output."""
Angle = tuple[object, ...]
"""What identifies an angle, up to quarter turns: its words and what they stand for."""


@dataclass(frozen=True)
class BlockFacts:
    """What is known of a block's table: the largest error in the value it stands for, the lowest and highest word."""

    error: float
    low: int
    high: int


@dataclass(frozen=True)
class OutputBound:
    """The parts of one output's bound, in units of its last bit, and the reach of its sum before clamping."""

    dropped: float
    constants: float
    tables: float
    products: float
    sums: float
    final_rounding: float
    low: float
    high: float
    arithmetic: float = 0.0
    """What rounded operations on floats can err."""

    @property
    def total(self) -> float:
        """The sum of the parts."""
        return math.fsum(getattr(self, part) for part in (*PARTS, "final_rounding", "arithmetic")) * ROOM


@dataclass(frozen=True)
class Turned:
    """Errors that are at most |sine or cosine of an angle|, the true one, times `errors`, by where they arose."""

    angle: Angle
    sine: bool
    errors: dict[str, float]


@dataclass(frozen=True)
class WordBound:
    """A wire in values: one unit, the word's range, and the errors by where they arose."""

    lsb: Fraction
    range: Range
    errors: dict[str, float] = field(default_factory=dict)
    turned: Turned | None = None
    """Of a product with a sine or cosine: the part of its errors that is |sine or cosine| times something."""
    angle: tuple[Angle, bool] | None = None
    """Of a sine (True) or cosine (False): the angle."""

    @property
    def magnitude(self) -> float:
        """The largest absolute value, by the word's range."""
        return float(self.range.magnitude * self.lsb) * ROOM

    @property
    def error(self) -> float:
        """All errors together."""
        return added(self.all_errors.values()) * ROOM

    @property
    def units_off(self) -> float:
        """All errors together, in units of the word."""
        return added(self.all_errors.values()) / float(self.lsb) * ROOM

    @property
    def all_errors(self) -> dict[str, float]:
        """The errors by where they arose; a sine or cosine is at most 1."""
        if self.turned is None:
            return self.errors
        both = {**self.errors, **self.turned.errors}
        return {part: (self.errors.get(part, 0.0) + self.turned.errors.get(part, 0.0)) * ROOM for part in both}


def planned_facts(blocks: Sequence[Block]) -> list[BlockFacts]:
    """Return what can be said of the blocks before any table is made: half a unit, and the planned range."""
    return [BlockFacts(_planned_error(block), block.low, block.high) for block in blocks]


def _planned_error(block: Block) -> float:
    if isinstance(block, GivenBlock):
        return block.error
    return float(block.lsb) / 2 * ROOM if isinstance(block, RealBlock) else 0.0


class PlanErrors(FloatErrors):
    """Composes errors, those of words as `WordBound`, those of floats as `FloatBound`.

    `scales` gives the value of one unit of each input word that is multiplied as it is.
    """

    def __init__(self, plan: Plan, scales: Mapping[str, Fraction], facts: Sequence[BlockFacts]) -> None:
        super().__init__(plan)
        self.scales, self.facts = scales, facts

    def input(self, wire: Input) -> WordBound:
        """Return the range of an input word."""
        return WordBound(abs(self.scales.get(wire.name, Fraction(1))), word_range(wire.bits))

    def wrapped(self, total: WordBound, wire: AngleSum) -> WordBound:
        """Return the range of a sum of angles."""
        return WordBound(abs(self.scales.get(wire.name, Fraction(1))), word_range(wire.bits))

    def table(self, wire: Lookup, words: Sequence[WordBound]) -> WordBound:
        """Return the range and the error of the entries of a table."""
        block, fact = self.plan.blocks[wire.block], self.facts[wire.block]
        lsb = block.lsb if isinstance(block, RealBlock) else Fraction(1)
        return WordBound(lsb, Range(fact.low, fact.high), {"tables": fact.error}, angle=turning_of(self.plan, wire))

    def product(self, wire: Product, left: WordBound, right: WordBound) -> WordBound:
        """Return the range and the errors of an exact product, half a unit for its rounding among them."""
        if right.angle is not None:  # the sine or cosine is the factor that is taken as the true one
            left, right = right, left
        lsb = left.lsb * right.lsb * (1 << wire.shift)
        errors = {part: right.magnitude * error * ROOM for part, error in left.all_errors.items()}
        if wire.shift:
            errors["products"] = errors.get("products", 0.0) + float(lsb) / 2 * ROOM
        if left.angle is not None:
            return WordBound(lsb, left.range * right.range, errors, Turned(*left.angle, right.all_errors))
        # the true left factor is at most its word's value and all its error
        true_left = left.magnitude + left.error
        for part, error in right.all_errors.items():
            errors[part] = (errors.get(part, 0.0) + true_left * error) * ROOM
        return WordBound(lsb, left.range * right.range, errors)

    def total(self, wire: AngleSum | Sum | Output, terms: Sequence[tuple[WordBound, int]]) -> WordBound:
        """Return the range and the errors of an exact sum, half a unit for its rounding among them."""
        if isinstance(terms[0][0] if terms else None, FloatBound):  # of an output, which is one float
            return terms[0][0]
        exact = sum((word.range * factor for word, factor in terms), start=Range(wire.constant, wire.constant))
        if isinstance(wire, AngleSum):
            return WordBound(Fraction(1), exact)
        rounding = {"sums": float(wire.lsb) / 2 * ROOM} if isinstance(wire, Sum) and wire.shift else {}
        return WordBound(wire.lsb, exact, _summed(wire, terms, rounding))

    def rounded(self, exact: WordBound, wire: Product | Sum | Output) -> WordBound:
        """Return what rounding makes of the range; its error is already charged."""
        words = exact.range.rounded(wire.shift)
        if isinstance(wire, Sum):  # the plan may know a narrower range, from the value itself; words keep to both
            words = words.common(Range(wire.low, wire.high))
        return replace(exact, range=words)


def compose_bounds(plan: Plan, scales: Mapping[str, Fraction], facts: Sequence[BlockFacts]) -> list[OutputBound]:
    """Return the bound of every output.

    `scales` gives the value of one unit of each input word that is multiplied as it is, and not as a float; `facts` are
    what is known of the blocks.
    """
    algebra = PlanErrors(plan, scales, facts)
    values = plan.evaluate(algebra)
    return [_output_bound(output, output.total(algebra, values)) for output in plan.outputs]


def _output_bound(output: Output, total: WordBound | FloatBound) -> OutputBound:
    """Return the bound of an output from what is proved of its sum: a `WordBound`, or a `FloatBound` in units."""
    if isinstance(total, FloatBound):
        constants, tables, arithmetic = total.errors
        reach = total.range + Interval(-total.error, total.error)
        return OutputBound(0.0, constants, tables, 0.0, 0.0, 0.5, reach.low, reach.high, arithmetic)
    return OutputBound(
        **{part: total.errors.get(part, 0.0) / float(output.lsb) * ROOM for part in PARTS},
        final_rounding=0.5 if output.shift else 0.0,
        low=total.range.low / (1 << output.shift),
        high=total.range.high / (1 << output.shift),
    )


def word_ranges(plan: Plan, facts: Sequence[BlockFacts]) -> list[Range]:
    """Return the range of every word, from those of the entries of the tables and those that the plan states."""
    return [word.range for word in plan.evaluate(PlanErrors(plan, {}, facts))]


def bound_summands(
    plan: Plan, scales: dict[str, Fraction], facts: Sequence[BlockFacts]
) -> list[list[tuple[float, Fraction, Fraction]]]:
    """Return error, low and high of every summand of every output, in units of the output's last bit."""
    words = plan.evaluate(PlanErrors(plan, scales, facts))
    found = []
    for output in plan.outputs:
        unit = Fraction(1, 1 << output.shift)
        ranges = [words[wire].range * factor for wire, factor in output.parts]
        errors = [
            float(abs(factor) * unit / words[wire].lsb) * words[wire].error * ROOM for wire, factor in output.parts
        ]
        found.append([(error, at.low * unit, at.high * unit) for error, at in zip(errors, ranges, strict=True)])
    return found


def _summed(wire: Sum | Output, terms: Sequence[tuple[WordBound, int]], errors: dict[str, float]) -> dict[str, float]:
    """Return the errors of a sum by part, in values, added to those given."""
    total = dict(errors)
    turned: dict[Angle, tuple[dict[str, float], dict[str, float]]] = {}
    for word, factor in terms:
        # what one unit of the wire is worth here: the factor as rounded, not as meant; the difference is charged apart
        weight = float(abs(factor) * wire.lsb / word.lsb / (1 << wire.shift)) * ROOM
        for part, error in word.errors.items():
            total[part] = (total.get(part, 0.0) + weight * error) * ROOM
        if word.turned is not None:
            pair = turned.setdefault(word.turned.angle, ({}, {}))[word.turned.sine]
            for part, error in word.turned.errors.items():
                pair[part] = (pair.get(part, 0.0) + weight * error) * ROOM
    for cosine, sine in turned.values():
        for part in {**cosine, **sine}:
            total[part] = (total.get(part, 0.0) + math.hypot(cosine.get(part, 0.0), sine.get(part, 0.0))) * ROOM
    for part, units in (("constants", wire.constant_error), ("dropped", wire.dropped)):
        total[part] = total.get(part, 0.0) + float(units * wire.lsb) * ROOM
    return total


def turning_of(plan: Plan, lookup: Lookup) -> tuple[Angle, bool] | None:
    """Return the angle of a word that is ± its sine (True) or cosine (False), or None if it is neither."""
    found = quarters_of(plan, lookup)
    return None if found is None else (found[0], found[1] % 2 == 1)


def quarters_of(plan: Plan, lookup: Lookup) -> tuple[Angle, int] | None:
    """Return an angle and the quarter turns, 0 to 3, of which together a word is the cosine, or None if it is none.

    Sines are mostly cosines of a quarter turn less, from the same table: sin x = cos(x + 3·90°), −f(x) = f(x + 2·90°).
    """
    block = plan.blocks[lookup.block]
    if len(lookup.wires) != 1 or not isinstance(block, FunctionBlock):
        return None
    output = block.graph.outputs[0]
    node = block.graph.nodes[output >> 1]
    if node.op not in (Op.SINE, Op.COSINE) or block.graph.nodes[node.left >> 1].op is not Op.INPUT:
        return None
    (argument,) = block.arguments
    if argument.kind != "angle":
        return None
    words, quarters = _words(plan, lookup.wires[0], argument)
    turns = int(argument.scale) * quarters + 2 * (output & 1)  # there are quarters only at a scale of ±1
    if node.op is Op.SINE:
        turns += 3 + 2 * (node.left & 1)
    return (*words, argument.bits, argument.scale, argument.centre), turns % 4


def _words(plan: Plan, wire: int, argument: Argument) -> tuple[Angle, int]:
    """Return the words that an index is the sum of, without its whole quarter turns, and how many those are."""
    angle = plan.wires[wire]
    quarter = 1 << argument.bits >> 2
    if abs(argument.scale) != 1:  # of a joint that follows another: quarter turns of the word are none of its angle
        return (wire,), 0
    if not isinstance(angle, AngleSum) or angle.bits != argument.bits or not quarter or angle.constant % quarter:
        return (wire,), 0
    quarters = angle.constant // quarter
    if len(angle.parts) == 1 and angle.parts[0][1:] == (1, 0):
        return (angle.parts[0][0],), quarters
    return (angle.parts,), quarters

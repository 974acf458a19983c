"""Passes over a plan: ranges of its words, and errors of its blocks composed into a bound on every output, by parts.

A wire stands for a real function of the input words; its error is the distance between word·lsb, or its float, and that
function.

    table     proved on every entry, or half a unit before it is made
    product   |ab − a'b'| <= |a|·e_b + |b'|·e_a, and half a unit where the shift rounds
    sum       exact, and half a unit where the shift rounds; errors of rotated coordinates as in
              `bddtorque.words.turning`
    constant  of floats: the distance of its float, exactly
    sine      of floats: proved on every word, or of the polynomial (`bddtorque.words.float_sine`)
    floats    sums and products as in `bddtorque.words.error_bound`, then one rounding: half a unit in the last place
              of |x| + error at most, underflow included

Floats only ever round a bound up (`ROUND_UP`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import bddtorque.plan.wires as w
from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.graph import Op
from bddtorque.plan.blocks import Block, FunctionBlock, GivenBlock, RealBlock
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.words.argument import Argument
from bddtorque.words.bounded import ROUND_UP, Interval
from bddtorque.words.error_bound import ErrorBound
from bddtorque.words.float_sine import sine_error
from bddtorque.words.integer_range import Range, word_range
from bddtorque.words.portable import added
from bddtorque.words.turning import Errors, SineOf, Turned, accumulate, rotated

PARTS = ("dropped", "constants", "tables", "products", "sums")
"""Places where an error can arise on the way to an output."""
Angle = tuple[object, ...]
"""Identity of an angle, up to quarter turns: its words and what they stand for."""


class WordRanges(w.Algebra[Any]):
    """Ranges of words from those of the words before them: integers, or arrays of them, one for each of many boxes.

    Parameters
    ----------
    entries
        The range of each block's entries.
    trust_products
        Whether products keep to what the plan states of them, and those of one table to its entries; else their ranges
        are those of their factors.
    """

    def __init__(self, entries: Sequence[Range], trust_products: bool = True) -> None:
        self.entries, self.trust_products = entries, trust_products

    def input(self, wire: w.Input) -> Range:
        """Return the range of an input word."""
        return wire.words

    def wrapped(self, total: Range, wire: w.AngleSum) -> Range:
        """Return the range of a sum of angles."""
        return word_range(wire.bits)

    def table(self, wire: w.Lookup, words: Sequence[Range]) -> Range:
        """Return the range of the entries of a table."""
        return self.entries[wire.block]

    def product(self, wire: w.Product, left: Range, right: Range) -> Range:
        """Return the range of an exact product."""
        return self.entries[wire.block] if self.gives_entries(wire) else left * right

    def total(self, wire: w.AngleSum | w.Sum | w.Output, terms: Sequence[tuple[Range, int]]) -> Range:
        """Return the range of an exact sum."""
        return sum((word * factor for word, factor in terms), start=Range(wire.constant, wire.constant))

    def rounded(self, exact: Range, wire: w.Product | w.Sum | w.Output) -> Range:
        """Return the range of rounded words; the plan may know a narrower one, from the value that they stand for."""
        if self.gives_entries(wire):  # its table is rounded
            return exact
        words = exact.rounded(wire.shift)
        return words.common(Range(wire.low, wire.high)) if self.trust_products or isinstance(wire, w.Sum) else words

    def gives_entries(self, wire: w.Product | w.Sum | w.Output) -> bool:
        """Return whether the words are the entries of a table of both factors."""
        return self.trust_products and isinstance(wire, w.Product) and wire.method == "blocks"


def known_ranges(plan: Plan, tables: Sequence[Table], trust_products: bool = True) -> list[Range]:
    """Return the range of each wire: what follows from those before it, and is stated of it."""
    ranges = plan.evaluate(WordRanges([table.range for table in tables], trust_products))
    for wire, words in zip(plan.wires, ranges, strict=True):
        if isinstance(wire, w.Product | w.Sum) and words.low > words.high:
            raise BddTorqueError(
                f"export, '{wire.name:.40}': no word can be from {wire.low} to {wire.high}, as the plan states"
            )
    return ranges


@dataclass(frozen=True)
class BlockFacts:
    """Facts of a block's table: the largest error in the value it stands for, the lowest and highest word."""

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
    """Error of rounded operations on floats."""

    @property
    def total(self) -> float:
        """The sum of the parts."""
        return math.fsum(getattr(self, part) for part in (*PARTS, "final_rounding", "arithmetic")) * ROUND_UP


@dataclass(frozen=True)
class WordBound:
    """A wire in values: one unit, the word's range, and the errors by where they arose."""

    lsb: Fraction
    range: Range
    errors: Errors = field(default_factory=dict)
    sine: SineOf | None = None  # of a sine or cosine: which one
    turned: Turned | None = None  # of a product with a sine or cosine; its errors are all in `errors` too

    @property
    def magnitude(self) -> float:
        """The largest absolute value, by the word's range."""
        return float(self.range.magnitude * self.lsb) * ROUND_UP

    @property
    def error(self) -> float:
        """All errors together."""
        return added(self.errors.values()) * ROUND_UP

    @property
    def units_off(self) -> float:
        """All errors together, in units of the word."""
        return added(self.errors.values()) / float(self.lsb) * ROUND_UP


def planned_facts(blocks: Sequence[Block]) -> list[BlockFacts]:
    """Return what can be said of the blocks before any table is made: half a unit, and the planned range."""
    return [BlockFacts(_planned_error(block), block.low, block.high) for block in blocks]


def _planned_error(block: Block) -> float:
    if isinstance(block, GivenBlock):
        return block.error
    return float(block.lsb) / 2 * ROUND_UP if isinstance(block, RealBlock) else 0.0


class PlanErrors(w.Algebra[Any]):
    """Composes errors, those of words as `WordBound`, those of floats as `ErrorBound`.

    `scales` gives the value of one unit of each input word that is multiplied as it is.
    """

    def __init__(self, plan: Plan, scales: Mapping[str, Fraction], facts: Sequence[BlockFacts]) -> None:
        self.plan, self.scales, self.facts = plan, scales, facts
        self.ranges = WordRanges([Range(fact.low, fact.high) for fact in facts], trust_products=False)

    def input(self, wire: w.Input) -> WordBound:
        """Return the range of an input word."""
        return WordBound(abs(self.scales.get(wire.name, Fraction(1))), self.ranges.input(wire))

    def wrapped(self, total: WordBound, wire: w.AngleSum) -> WordBound:
        """Return the range of a sum of angles."""
        return WordBound(abs(self.scales.get(wire.name, Fraction(1))), self.ranges.wrapped(total.range, wire))

    def table(self, wire: w.Lookup, words: Sequence[WordBound]) -> WordBound:
        """Return the range and the error of the entries of a table."""
        block, fact = self.plan.blocks[wire.block], self.facts[wire.block]
        lsb = block.lsb if isinstance(block, RealBlock) else Fraction(1)
        return WordBound(lsb, self.ranges.table(wire, ()), {"tables": fact.error}, sine_of(self.plan, wire))

    def product(self, wire: w.Product, left: WordBound, right: WordBound) -> WordBound:
        """Return the range and the errors of an exact product, half a unit for its rounding among them."""
        if right.sine is not None:  # the sine or cosine is the factor that is taken as the true one
            left, right = right, left
        lsb, words = left.lsb * right.lsb * (1 << wire.shift), self.ranges.product(wire, left.range, right.range)
        errors = accumulate({}, left.errors, right.magnitude)
        if wire.shift:
            errors["products"] = errors.get("products", 0.0) + float(lsb) / 2 * ROUND_UP
        if left.sine is not None:
            turned = Turned(left.sine, right.magnitude, right.errors, errors)
            return WordBound(lsb, words, accumulate(errors, right.errors), turned=turned)
        # the true left factor is at most its word's value and all its error
        return WordBound(lsb, words, accumulate(errors, right.errors, left.magnitude + left.error))

    def total(self, wire: w.AngleSum | w.Sum | w.Output, terms: Sequence[tuple[WordBound, int]]) -> WordBound:
        """Return the range and the errors of an exact sum, half a unit for its rounding among them."""
        if isinstance(terms[0][0] if terms else None, ErrorBound):  # of an output, which is one float
            return terms[0][0]
        exact = self.ranges.total(wire, [(word.range, factor) for word, factor in terms])
        if isinstance(wire, w.AngleSum):
            return WordBound(Fraction(1), exact)
        rounding = {"sums": float(wire.lsb) / 2 * ROUND_UP} if isinstance(wire, w.Sum) and wire.shift else {}
        return WordBound(wire.lsb, exact, _summed(wire, terms, rounding))

    def rounded(self, exact: WordBound, wire: w.Product | w.Sum | w.Output) -> WordBound:
        """Return what rounding makes of the range; its error is already charged."""
        return replace(exact, range=self.ranges.rounded(exact.range, wire))

    def number(self, wire: w.Number, word: WordBound) -> ErrorBound:
        """Return what is known of the word, in its units: it is held exactly."""
        error = word.units_off
        held = Interval(float(word.range.low), float(word.range.high))
        return ErrorBound(Interval(held.low - error, held.high + error), _float_errors(tables=error))

    def constant(self, wire: w.Constant) -> ErrorBound:
        """Return a constant as it was meant, and the distance of its float."""
        apart = abs(Fraction(self.plan.floats.nearest(wire.value)) - wire.value)
        value = float(wire.value)
        exact = Interval(math.nextafter(value, -math.inf), math.nextafter(value, math.inf))
        held = Interval(value, value) if Fraction(value) == wire.value else exact
        return ErrorBound(held, _float_errors(constants=float(apart) * ROUND_UP))

    def sine(self, wire: w.Sine, word: WordBound) -> ErrorBound:
        """Return the range of a sine, and how far the floats of all words can be off."""
        error = sine_error(self.plan.bits_of(wire.word), wire.rest, wire.cosine, self.plan.floats)
        angle = SineOf((wire.word, wire.rest), wire.cosine)
        return ErrorBound(Interval(-1.0, 1.0), _float_errors(tables=error), sine=angle)

    def add(self, wire: w.Add, left: ErrorBound, right: ErrorBound) -> ErrorBound:
        """Return the range and the errors of a sum."""
        return self._rounded_float(left + (right if wire.sign > 0 else -right))

    def multiply(self, wire: w.Multiply, left: ErrorBound, right: ErrorBound) -> ErrorBound:
        """Return the range and the errors of a product."""
        return self._rounded_float(left.times(right, wire.left == wire.right))

    def fused(self, wire: w.Fused, left: ErrorBound, right: ErrorBound, addend: ErrorBound) -> ErrorBound:
        """Return the range and the errors of a product and a sum, rounded once."""
        product = left.times(right, wire.left == wire.right)
        summands = ((product, wire.product_sign), (addend, wire.addend_sign))
        first, second = (number if sign > 0 else -number for number, sign in summands)
        return self._rounded_float(first + second)

    def _rounded_float(self, exact: ErrorBound) -> ErrorBound:
        """Return what one rounding makes of a number."""
        most = (exact.magnitude + exact.error) * ROUND_UP
        if not most < self.plan.floats.largest:
            raise BddTorqueError(
                f"plan: values reach {most:.3g}, beyond {self.plan.floats.name} precision: use narrower ranges"
            )
        rounding = _float_errors(arithmetic=self.plan.floats.rounding_error(most))
        turned = tuple(replace(each, rest=accumulate(each.rest, rounding)) for each in exact.turned)
        return ErrorBound(exact.range, accumulate(exact.errors, rounding), turned=turned)


def _float_errors(**errors: float) -> Errors:
    """Return the errors of a float: of constants rounded to floats, of sines and tables, of rounded operations."""
    return {"constants": 0.0, "tables": 0.0, "arithmetic": 0.0, **errors}


def compose_bounds(plan: Plan, scales: Mapping[str, Fraction], facts: Sequence[BlockFacts]) -> list[OutputBound]:
    """Return the bound of every output.

    `scales` gives the value of one unit of each input word that is multiplied as it is, and not as a float; `facts` are
    what is known of the blocks.
    """
    algebra = PlanErrors(plan, scales, facts)
    values = plan.evaluate(algebra)
    return [_output_bound(output, output.total(algebra, values)) for output in plan.outputs]


def _output_bound(output: w.Output, total: WordBound | ErrorBound) -> OutputBound:
    """Return the bound of an output from what is proved of its sum: a `WordBound`, or an `ErrorBound` in units."""
    if isinstance(total, ErrorBound):
        constants, tables, arithmetic = total.errors["constants"], total.errors["tables"], total.errors["arithmetic"]
        reach = total.range + Interval(-total.error, total.error)
        return OutputBound(0.0, constants, tables, 0.0, 0.0, 0.5, reach.low, reach.high, arithmetic)
    return OutputBound(
        **{part: total.errors.get(part, 0.0) / float(output.lsb) * ROUND_UP for part in PARTS},
        final_rounding=0.5 if output.shift else 0.0,
        low=total.range.low / (1 << output.shift),
        high=total.range.high / (1 << output.shift),
    )


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
            float(abs(factor) * unit / words[wire].lsb) * words[wire].error * ROUND_UP for wire, factor in output.parts
        ]
        found.append([(error, at.low * unit, at.high * unit) for error, at in zip(errors, ranges, strict=True)])
    return found


def _summed(wire: w.Sum | w.Output, terms: Sequence[tuple[WordBound, int]], errors: Errors) -> Errors:
    """Return the errors of a sum by part, in values, added to those given."""
    total = dict(errors)
    turned: dict[Hashable, tuple[Errors, Errors]] = {}
    for word, factor in terms:
        # what one unit of the wire is worth here: the factor as rounded, not as meant; the difference is charged apart
        weight = float(abs(factor) * wire.lsb / word.lsb / (1 << wire.shift)) * ROUND_UP
        if word.turned is None:
            total = accumulate(total, word.errors, weight)
            continue
        total = accumulate(total, word.turned.rest, weight)
        angle, cosine = word.turned.sine
        cosines, sines = turned.get(angle, ({}, {}))
        own = accumulate(cosines if cosine else sines, word.turned.errors, weight)
        turned[angle] = (own, sines) if cosine else (cosines, own)
    for pair in turned.values():
        total = accumulate(total, rotated(*pair))
    for part, units in (("constants", wire.constant_error), ("dropped", wire.dropped)):
        total[part] = total.get(part, 0.0) + float(units * wire.lsb) * ROUND_UP
    return total


def sine_of(plan: Plan, lookup: w.Lookup) -> SineOf | None:
    """Return which sine or cosine, up to its sign, a word is, or None if it is neither."""
    turn = quarters_of(plan, lookup)
    return None if turn is None else SineOf(turn[0], turn[1] % 2 == 0)


def quarters_of(plan: Plan, lookup: w.Lookup) -> tuple[Angle, int] | None:
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
    if not isinstance(angle, w.AngleSum) or angle.bits != argument.bits or not quarter or angle.constant % quarter:
        return (wire,), 0
    quarters = angle.constant // quarter
    if len(angle.parts) == 1 and angle.parts[0][1:] == (1, 0):
        return (angle.parts[0][0],), quarters
    return (angle.parts,), quarters

"""Sound ranges of a plan's output over boxes of input words, many boxes at a time.

A box gives every input word a range. Ranges go through the plan as words do: sums add them, products take the extremes
of their corners, roundings and clamps are monotone, angle sums wrap. A table gives the least and the largest entry of
any range of its index at once, from what is kept of every run of 2^k entries.

Of floats, too, rounding to nearest is monotone: what an operation gives at the ends of its operands' ranges, rounded as
the plan has it, are the ends of the floats that it can give. Fused operations are rounded outward instead, which costs
a unit in the last place. Sines of short words are looked up; those of long ones have the range of the true sine and its
proved error. Where c·x + s·y turns a vector it is no longer than before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

import bddtorque.plan.wires as w
from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.bound import BlockFacts, PlanErrors, WordRanges
from bddtorque.plan.fields import MAX_BITS
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.questions.subjects import Integers
from bddtorque.words.bounded import Interval
from bddtorque.words.float_sine import sine_error, sine_table, turn_on_grid
from bddtorque.words.integer_range import Range, word_range, wrap
from bddtorque.words.turning import SineOf, Turned, rotated, rotations

Floats = npt.NDArray[np.float64]
Ends = tuple[Integers, Integers]
"""Lowest and highest words, (N,) each; see `Span`."""

TURN_ROUNDINGS = 8
"""More than sines that are off, three roundings of floats, and those of the bound itself add to √(x² + y²)."""
SINE_ROOM = 1e-12
"""More than float64 errs in an angle of a few turns, and in its sine."""
MAX_LINE, MAX_TABLE = 1 << 16, 1 << 22
"""Entries of a table of one word of which runs from every entry are kept, and of any table of which runs from multiples
of their length are; of larger ones only the extremes of all entries are."""


class LineExtremes:
    """The extremes of any range of a table of one word, its index going around: runs of 2^k from every entry."""

    def __init__(self, values: npt.NDArray[Any]) -> None:
        lows, highs = [values], [values]
        for k in range(len(values).bit_length() - 1):
            lows.append(np.minimum(lows[-1], np.roll(lows[-1], -(1 << k))))
            highs.append(np.maximum(highs[-1], np.roll(highs[-1], -(1 << k))))
        self._lows, self._highs = np.stack(lows), np.stack(highs)

    def over(self, ranges: list[Ends]) -> Ends:
        """Return the extremes over ranges of the word."""
        (low, high) = ranges[0]
        size = self._lows.shape[1]
        length = np.minimum(high - low + 1, size)
        level = np.frexp(length.astype(np.float64))[1] - 1  # floor of the logarithm: exact below 2^53
        first, last = low & (size - 1), (low + length - (np.int64(1) << level)) & (size - 1)
        lowest = np.minimum(self._lows[level, first], self._lows[level, last])
        highest = np.maximum(self._highs[level, first], self._highs[level, last])
        return lowest, highest


class GridExtremes:
    """Bounds of the extremes over boxes of a table of any words: each range is covered by two runs of 2^k.

    Runs begin at multiples of their length, so that the bounds are exact for boxes that come of halving.
    """

    def __init__(self, table: Table) -> None:
        self._widths = table.input_widths
        values = table.values.reshape([1 << width for width in self._widths])
        self._runs: dict[tuple[int, ...], tuple[npt.NDArray[Any], npt.NDArray[Any]]] = {}
        self._values = values

    def _of(self, levels: tuple[int, ...]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the extremes of all runs of 2^levels entries along the axes; made when first asked for."""
        if levels not in self._runs:
            axis = next((k for k, level in enumerate(levels) if level), None)
            if axis is None:
                self._runs[levels] = self._values, self._values
            else:
                low, high = self._of((*levels[:axis], levels[axis] - 1, *levels[axis + 1 :]))
                even = tuple(slice(0, None, 2) if k == axis else slice(None) for k in range(len(levels)))
                odd = tuple(slice(1, None, 2) if k == axis else slice(None) for k in range(len(levels)))
                self._runs[levels] = np.minimum(low[even], low[odd]), np.maximum(high[even], high[odd])
        return self._runs[levels]

    def over(self, ranges: list[Ends]) -> Ends:
        """Return bounds of the extremes over boxes."""
        count = len(ranges[0][0])
        levels, firsts, lasts = [], [], []
        for (low, high), width in zip(ranges, self._widths, strict=True):
            length = np.minimum(high - low + 1, 1 << width)
            level = np.frexp((length - 1).astype(np.float64))[1]  # bits of length - 1: of a run at least as long
            levels.append(level)
            firsts.append((low & ((1 << width) - 1)) >> level)
            lasts.append(((low + length - 1) & ((1 << width) - 1)) >> level)
        lowest, highest = np.empty(count, np.int64), np.empty(count, np.int64)
        which, place = np.unique(np.stack(levels, axis=1), axis=0, return_inverse=True)
        for k, of_run in enumerate(which):
            own = np.flatnonzero(place.reshape(-1) == k)
            low, high = self._of(tuple(int(level) for level in of_run))
            corners = []
            for corner in range(1 << len(ranges)):
                picked = (lasts[a] if corner >> a & 1 else firsts[a] for a in range(len(ranges)))
                corners.append(tuple(each[own] for each in picked))
            lowest[own] = np.min([low[corner] for corner in corners], axis=0)
            highest[own] = np.max([high[corner] for corner in corners], axis=0)
        return lowest, highest


class AllExtremes:
    """The extremes of all entries, for tables too large to keep more of."""

    def __init__(self, table: Table) -> None:
        self._low, self._high = table.range

    def over(self, ranges: list[Ends]) -> Ends:
        """Return the extremes of the table, whatever the ranges."""
        count = len(ranges[0][0])
        return np.full(count, self._low, np.int64), np.full(count, self._high, np.int64)


Extremes = dict[int, LineExtremes | GridExtremes | AllExtremes]
"""By block."""


def extremes_of(table: Table) -> LineExtremes | GridExtremes | AllExtremes:
    """Return what tells the extremes of a table over ranges."""
    if len(table.input_widths) == 1 and len(table.values) <= MAX_LINE:
        return LineExtremes(table.values)
    return GridExtremes(table) if len(table.values) <= MAX_TABLE else AllExtremes(table)


@dataclass(frozen=True, eq=False)
class Span(Range):
    """Ranges of one word or float, (N,) or () lowest and highest ones; floats are held in float64.

    Attributes
    ----------
    angle_bits
        Of an angle: its bits. Its ranges begin at a word and may end beyond the highest one, where they wrap.
    sine
        Of a sine or cosine: which one.
    turned
        Of a product with a sine or cosine: each way to read it.
    """

    low: Any
    high: Any
    angle_bits: int = 0
    sine: SineOf | None = None
    turned: tuple[Turned, ...] = ()


def as_numbers(words: Range) -> Range:
    """Return ranges that do not wrap: all words where they did."""
    if not isinstance(words, Span) or not words.angle_bits:
        return words
    lowest, highest = word_range(words.angle_bits)
    return Span(np.where(words.high > highest, lowest, words.low), np.minimum(words.high, highest))


class BoxSpans(WordRanges):
    """Ranges of all wires over boxes of input words, (N, inputs) lowest and highest ones."""

    def __init__(self, ranges: BoxRanges, low: Integers, high: Integers) -> None:
        super().__init__([])
        self.ranges, self.plan = ranges, ranges.plan
        self.inputs = iter(zip(np.ascontiguousarray(low.T), np.ascontiguousarray(high.T), strict=True))
        self.zero = np.zeros(len(low), dtype=np.int64)

    def input(self, wire: w.Input) -> Span:
        """Return the ranges of an input word."""
        return Span(*next(self.inputs), wire.bits if wire.wraps else 0)

    def table(self, wire: w.Lookup, words: Sequence[Range]) -> Range:
        """Return the extremes of a table over ranges of its words."""
        low, high = self.ranges.extremes[wire.block].over([(word.low, word.high) for word in words])  # type: ignore[misc]
        return Span(low.astype(np.int64), high.astype(np.int64))

    def wrapped(self, total: Range, wire: w.AngleSum) -> Span:
        """Return ranges of an angle: they begin at a word and may end beyond the highest one."""
        lowest, highest = word_range(wire.bits)
        first, length = wrap(total.low, wire.bits), total.high - total.low
        whole = length >= highest - lowest
        return Span(np.where(whole, lowest, first), np.where(whole, highest, first + length), wire.bits)

    def product(self, wire: w.Product, left: Range, right: Range) -> Range:
        """Return the extremes of the corners."""
        a, b = as_numbers(left), as_numbers(right)
        return a.squared() if wire.left == wire.right else a * b

    def gives_entries(self, wire: w.Product | w.Sum | w.Output) -> bool:
        """Return False: a product is that of its factors."""
        return False

    def total(self, wire: w.AngleSum | w.Sum | w.Output, terms: Sequence[tuple[Range, int]]) -> Range:
        """Return the sum of ranges."""
        numbers = terms if isinstance(wire, w.AngleSum) else [(as_numbers(word), factor) for word, factor in terms]
        return super().total(wire, numbers) + Span(self.zero, self.zero)

    def number(self, wire: w.Number, word: Range) -> Span:
        """Return the ranges of words as floats."""
        own = as_numbers(word)
        return Span(np.asarray(own.low, np.float64), np.asarray(own.high, np.float64))

    def constant(self, wire: w.Constant) -> Span:
        """Return the nearest float."""
        value = np.asarray(self.plan.floats.nearest(wire.value))
        return Span(value, value)

    def sine(self, wire: w.Sine, word: Range) -> Span:
        """Return the ranges of a sine or cosine of angle words."""
        table, bits = self.ranges.sines.get(wire), self.plan.bits_of(wire.word)
        if table is not None:
            low, high = table.over([(word.low, word.high)])  # type: ignore[list-item]
            own = Span(low.astype(np.float64), high.astype(np.float64))
        else:
            error = sine_error(bits, wire.rest, wire.cosine, self.plan.floats)
            own = _sine_range(word, bits, float(wire.rest) + (math.pi / 2 if wire.cosine else 0.0), error)
        return replace(own, sine=SineOf((wire.word, wire.rest), wire.cosine))

    def add(self, wire: w.Add, left: Span, right: Span) -> Span:
        """Return the ranges of floats that are added."""
        return self._within_turn(self._nearest(left + right if wire.sign > 0 else left - right), left, right)

    def multiply(self, wire: w.Multiply, left: Span, right: Span) -> Span:
        """Return the ranges of floats that are multiplied."""
        exact = left.squared() if wire.left == wire.right else left * right
        return replace(self._nearest(exact), turned=_turned(left, right))

    def fused(self, wire: w.Fused, left: Span, right: Span, addend: Span) -> Span:
        """Return the ranges of floats that are multiplied and added, rounded once."""
        exact = _outward(left.squared() if wire.left == wire.right else left * right)
        signed = ((exact, wire.product_sign), (addend, wire.addend_sign))
        first, second = (span if sign > 0 else -span for span, sign in signed)
        total = _outward(first + second)
        return self._within_turn(self._nearest(total), replace(exact, turned=_turned(left, right)), addend)

    def _within_turn(self, total: Span, left: Span, right: Span) -> Span:
        """Return a sum c·x + s·y, c and s of one angle, as no larger than √(x² + y²) and what the floats are off."""
        for x, y in rotations(left.turned, right.turned):
            most = rotated(x.magnitude, y.magnitude) * self.ranges.turn_room + 4 * self.plan.floats.tiny  # underflow
            total = Span(np.maximum(total.low, -most), np.minimum(total.high, most))
        return total

    def _nearest(self, exact: Range) -> Span:
        """Return the floats nearest to both ends; sums and products of two float32 are rounded in float64 as well."""
        kind = self.plan.floats.dtype
        low, high = (np.asarray(end).astype(kind).astype(np.float64) for end in exact)
        return Span(low, high)


def _turned(left: Span, right: Span) -> tuple[Turned, ...]:
    pairs = ((left.sine, right), (right.sine, left))
    return tuple(Turned(sine, factor.magnitude) for sine, factor in pairs if sine is not None)


def _outward(span: Range) -> Span:
    return Span(np.nextafter(span.low, -np.inf), np.nextafter(span.high, np.inf))


def _sine_range(word: Range, bits: int, constant: float, error: float) -> Span:
    """Return the range of the sine of angle words plus a constant in rad, each sine off by an error at most."""
    unit = 2 * math.pi / (1 << bits)
    first, last = (np.asarray(end, np.float64) * unit + constant for end in (word.low, word.high))
    ends: tuple[Floats, Floats] = np.sin(first), np.sin(last)
    highest, lowest = (_passes(first, last, peak) for peak in (math.pi / 2, -math.pi / 2))
    room = error + SINE_ROOM
    low = np.where(lowest, -1.0, np.minimum(*ends)) - room
    return Span(low, np.where(highest, 1.0, np.maximum(*ends)) + room)


def _passes(first: Floats, last: Floats, peak: float) -> npt.NDArray[np.bool_]:
    """Return whether an angle lies within the ranges, whole turns apart; also where it is too close to tell."""
    turn = 2 * math.pi
    passed: npt.NDArray[np.bool_] = np.floor((last - peak + SINE_ROOM) / turn) > np.floor(
        (first - peak - SINE_ROOM) / turn
    )
    return passed


class BoxRanges:
    """Ranges of what the output of a plan is rounded from: its sum, or the nearest integers to its floats.

    Raises
    ------
    BddTorqueError
        If a sum could leave the 63 bits that ranges are computed in; no plan that `compile` makes does.
    """

    def __init__(self, plan: Plan, tables: Sequence[Table]) -> None:
        self.plan = plan
        self.extremes: Extremes = {
            k: extremes_of(tables[k]) for k in {each.block for each in plan.wires if isinstance(each, w.Lookup)}
        }
        self.sines: dict[w.Sine, LineExtremes] = {}
        if not plan.in_floats:
            for total in plan.sums:
                if plan.most(total).bit_length() > MAX_BITS:
                    raise BddTorqueError(f"ask: {total.name} may need more than the {MAX_BITS} bits that ranges have")
            return
        errors = []
        for wire in plan.wires:
            if isinstance(wire, w.Sine):
                bits = plan.bits_of(wire.word)
                errors.append(sine_error(bits, wire.rest, wire.cosine, plan.floats))
                if 1 << bits <= MAX_LINE:
                    turn = turn_on_grid(wire.rest, plan.floats)
                    self.sines[wire] = LineExtremes(sine_table(bits, turn, wire.cosine, plan.floats))
        self.turn_room = 1.0 + TURN_ROUNDINGS * (max(errors, default=0.0) + plan.floats.unit)
        # what is proved of all states: where a rotation mixes two floats this is sharper than a product of ranges
        known = plan.evaluate(PlanErrors(plan, {}, [BlockFacts(0.0, *table.range) for table in tables]))
        self.proved = [each.range + Interval(-each.error, each.error) for each in known]

    def over(self, low: Integers, high: Integers) -> Ends:
        """Return sound bounds over boxes.

        Parameters
        ----------
        low, high
            (N, inputs), the ends of each input word, both included, in the order of the plan.
        """
        algebra, output = BoxSpans(self, low, high), self.plan.outputs[0]
        if not self.plan.in_floats:
            total = output.total(algebra, self.plan.evaluate(algebra))
            return total.low, total.high
        last = self.spans(low, high)[output.wire]
        first, greatest = (np.rint(end).astype(np.int64) + algebra.zero for end in last)
        return first, greatest

    def spans(self, low: Integers, high: Integers) -> list[Any]:
        """Return the ranges of all wires of a plan in floats over boxes."""
        algebra = BoxSpans(self, low, high)
        spans: list[Any] = []
        for wire, proved in zip(self.plan.wires, self.proved, strict=True):
            span = wire.evaluate(algebra, spans)
            if not wire.in_words:
                span = replace(span, low=np.maximum(span.low, proved.low), high=np.minimum(span.high, proved.high))
            spans.append(span)
        return spans


def check_words(plan: Plan, words: Sequence[Integers]) -> None:
    """Refuse words (N,), one array a wire, that are beyond what the plan states of them."""
    for k, (wire, own) in enumerate(zip(plan.wires, words, strict=True)):
        if isinstance(wire, w.Product | w.Sum) and own.size and not wire.low <= own.min() <= own.max() <= wire.high:
            outside = int(own.min() if own.min() < wire.low else own.max())
            raise BddTorqueError(
                f"ask: words of {wire.name or f'w{k}'} must be between {wire.low} and {wire.high}, as the file states, "
                f"got {outside}: `bddtorque verify` tells what is wrong with it"
            )

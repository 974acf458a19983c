"""Sound ranges of a plan's sum over boxes of input words, many boxes at a time.

A box gives every input word a range. Ranges go through the plan as words do: sums add them, products take the extremes
of their corners, roundings and clamps are monotone, angle sums wrap. A table gives the least and the largest entry of
any range of its index at once, from what is kept of every run of 2^k entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.fields import MAX_BITS
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.plan.wires import AngleSum, Input, Lookup, Output, Product, Sum
from bddtorque.plan.word_ranges import WordRanges
from bddtorque.questions.subject_kinds import Integers
from bddtorque.words.integer_range import Range, word_range, wrap

Ends = tuple[Integers, Integers]
"""Lowest and highest words, (N,) each; see `Span`."""

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
    """Ranges of one word, (N,) lowest and highest ones.

    Those of an angle of `angle_bits` bits begin at a word and may end beyond the highest one, where they wrap.
    """

    low: Integers  # type: ignore[assignment]
    high: Integers  # type: ignore[assignment]
    angle_bits: int = 0


def as_numbers(words: Range) -> Range:
    """Return ranges that do not wrap: all words where they did."""
    if not isinstance(words, Span) or not words.angle_bits:
        return words
    lowest, highest = word_range(words.angle_bits)
    return Span(np.where(words.high > highest, lowest, words.low), np.minimum(words.high, highest))


class WordSpans(WordRanges):
    """Ranges of all wires over boxes of input words, (N, inputs) lowest and highest ones."""

    def __init__(self, tables: Extremes, low: Integers, high: Integers) -> None:
        super().__init__([])
        self.tables = tables
        self.inputs = iter(zip(np.ascontiguousarray(low.T), np.ascontiguousarray(high.T), strict=True))
        self.zero = np.zeros(len(low), dtype=np.int64)

    def input(self, wire: Input) -> Span:
        """Return the ranges of an input word."""
        return Span(*next(self.inputs), wire.bits if wire.wraps else 0)

    def table(self, wire: Lookup, words: Sequence[Range]) -> Range:
        """Return the extremes of a table over ranges of its words."""
        low, high = self.tables[wire.block].over([(word.low, word.high) for word in words])  # type: ignore[misc]
        return Span(low.astype(np.int64), high.astype(np.int64))

    def wrapped(self, total: Range, wire: AngleSum) -> Span:
        """Return ranges of an angle: they begin at a word and may end beyond the highest one."""
        lowest, highest = word_range(wire.bits)
        first, length = wrap(total.low, wire.bits), total.high - total.low
        whole = length >= highest - lowest
        return Span(np.where(whole, lowest, first), np.where(whole, highest, first + length), wire.bits)

    def product(self, wire: Product, left: Range, right: Range) -> Range:
        """Return the extremes of the corners."""
        a, b = as_numbers(left), as_numbers(right)
        if wire.left == wire.right:
            return a.squared()
        return a * b

    def gives_entries(self, wire: Product | Sum | Output) -> bool:
        """Return False: a product is that of its factors."""
        return False

    def total(self, wire: AngleSum | Sum | Output, terms: Sequence[tuple[Range, int]]) -> Range:
        """Return the sum of ranges."""
        numbers = terms if isinstance(wire, AngleSum) else [(as_numbers(word), factor) for word, factor in terms]
        return super().total(wire, numbers) + Span(self.zero, self.zero)


class SumRanges:
    """Ranges of the sum of a plan with one output.

    Raises
    ------
    BddTorqueError
        If a sum could leave the 63 bits that ranges are computed in; no plan that `compile` makes does.
    """

    def __init__(self, plan: Plan, tables: Sequence[Table]) -> None:
        self.plan, self.tables = plan, tables
        for wire in plan.sums:
            if plan.most(wire).bit_length() > MAX_BITS:
                raise BddTorqueError(f"ask: {wire.name} may need more than the {MAX_BITS} bits that ranges have")

    @cached_property
    def _extremes(self) -> Extremes:
        read = {wire.block for wire in self.plan.wires if isinstance(wire, Lookup)}
        return {block: extremes_of(self.tables[block]) for block in read}

    def over(self, low: Integers, high: Integers) -> Ends:
        """Return sound bounds of the sum over boxes.

        Parameters
        ----------
        low, high
            (N, inputs), the ends of each input word, both included, in the order of the plan.
        """
        algebra = WordSpans(self._extremes, low, high)
        total = self.plan.outputs[0].total(algebra, self.plan.evaluate(algebra))
        return total.low, total.high


def check_words(plan: Plan, words: Sequence[Integers]) -> None:
    """Refuse words (N,), one array a wire, that are beyond what the plan states of them."""
    for k, (wire, own) in enumerate(zip(plan.wires, words, strict=True)):
        if isinstance(wire, Product | Sum) and own.size and not wire.low <= own.min() <= own.max() <= wire.high:
            outside = int(own.min() if own.min() < wire.low else own.max())
            raise BddTorqueError(
                f"ask: words of {wire.name or f'w{k}'} must be between {wire.low} and {wire.high}, as the file states, "
                f"got {outside}: `bddtorque verify` tells what is wrong with it"
            )

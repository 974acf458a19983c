"""Sound ranges of a plan's sum over boxes of input words, many boxes at a time.

A box gives every input word a range. Ranges go through the plan as words do: sums add them, products take the extremes
of their corners, roundings and clamps are monotone, angle sums wrap. A table gives the least and the largest entry of
any range of its index at once, from what is kept of every run of 2^k entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.plan.wires import AngleSum, Input, Lookup, Output, Product, Sum
from bddtorque.questions.subjects import Integers
from bddtorque.words.rounding import half_up_shift

Range = tuple[Integers, Integers]
"""Lowest and highest words, (N,) each. Those of angles may go beyond the highest word, where the range wraps."""

LARGEST = 1 << 62
LARGEST_LINE, LARGEST_TABLE = 1 << 16, 1 << 22
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

    def over(self, ranges: list[Range]) -> Range:
        """Return the extremes over ranges of the word."""
        (low, high) = ranges[0]
        size = self._lows.shape[1]
        length = np.minimum(high - low + 1, size)
        level = np.frexp(length.astype(np.float64))[1] - 1  # floor of the logarithm: exact below 2^53
        first, last = low & (size - 1), (low + length - (np.int64(1) << level)) & (size - 1)
        lowest = np.minimum(self._lows[level, first], self._lows[level, last])
        highest = np.maximum(self._highs[level, first], self._highs[level, last])
        return lowest.astype(np.int64), highest.astype(np.int64)


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

    def over(self, ranges: list[Range]) -> Range:
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
        self._low, self._high = int(table.values.min()), int(table.values.max())

    def over(self, ranges: list[Range]) -> Range:
        """Return the extremes of the table, whatever the ranges."""
        count = len(ranges[0][0])
        return np.full(count, self._low, np.int64), np.full(count, self._high, np.int64)


def extremes_of(table: Table) -> LineExtremes | GridExtremes | AllExtremes:
    """Return what tells the extremes of a table over ranges."""
    if len(table.input_widths) == 1 and len(table.values) <= LARGEST_LINE:
        return LineExtremes(table.values)
    return GridExtremes(table) if len(table.values) <= LARGEST_TABLE else AllExtremes(table)


class Ranges:
    """Ranges of the sum of a plan with one output.

    Raises
    ------
    BddTorqueError
        If a sum could leave the 63 bits that ranges are computed in; no plan that `compile` makes does.
    """

    def __init__(self, plan: Plan, tables: Sequence[Table]) -> None:
        self.plan, self.tables = plan, tables
        self._check()

    @cached_property
    def _extremes(self) -> dict[int, LineExtremes | GridExtremes | AllExtremes]:
        read = {wire.block for wire in self.plan.wires if isinstance(wire, Lookup)}
        return {block: extremes_of(self.tables[block]) for block in read}

    def over(self, low: Integers, high: Integers) -> Range:
        """Return sound bounds of the sum over boxes.

        Parameters
        ----------
        low, high : (N, inputs), the ends of each input word, both included, in the order of the plan
        """
        plan, output = self.plan, self.plan.outputs[0]
        known: list[Range] = []
        place = 0
        for wire in plan.wires:
            if isinstance(wire, Input):
                known.append((np.ascontiguousarray(low[:, place]), np.ascontiguousarray(high[:, place])))
                place += 1
            else:
                known.append(self._range(plan, wire, known))
        none = np.full(len(low), output.constant, dtype=np.int64)
        return _added(plan, known, output.parts, none)

    def _range(self, plan: Plan, wire: Any, known: list[Range]) -> Range:
        match wire:
            case AngleSum(bits=bits, parts=parts, constant=constant):
                low = np.full(len(known[parts[0][0]][0]), constant, dtype=np.int64)
                high = low.copy()
                for source, multiplier, shift in parts:
                    ends = [multiplier * (end << shift) for end in known[source]]
                    low, high = low + ends[multiplier < 0], high + ends[multiplier >= 0]
                return _wrapped(low, high, bits)
            case Lookup(block=block, wires=sources):
                return self._extremes[block].over([known[source] for source in sources])
            case Product(left=left, right=right, shift=shift):
                a, b = _straight(plan, known, left), _straight(plan, known, right)
                corners = [x * y for x in a for y in b]
                low, high = np.minimum.reduce(corners), np.maximum.reduce(corners)
                if left == right:  # a square
                    low = np.where((a[0] <= 0) & (a[1] >= 0), 0, np.minimum(corners[0], corners[3]))
            case Sum(parts=parts, constant=constant, shift=shift):
                none = np.full(len(known[parts[0][0]][0]) if parts else 1, constant, dtype=np.int64)
                low, high = _added(plan, known, parts, none)
            case _:
                raise TypeError(wire)
        low, high = half_up_shift(low, shift), half_up_shift(high, shift)
        # the plan may know more of the word, from the value that it stands for
        return np.maximum(low, wire.low), np.minimum(high, wire.high)

    def _check(self) -> None:
        """Refuse sums that int64 might not hold: every part at its worst."""
        plan = self.plan
        for each in (*plan.wires, *plan.outputs):
            if isinstance(each, Sum | Output):
                most = abs(each.constant)
                for source, factor in each.parts:
                    most += abs(factor) << (plan.bits_of(source) - 1)
                if most >= LARGEST:
                    raise BddTorqueError(f"ask: sums of at most 62 bits required for ranges, {each.name} may need more")


def check_words(plan: Plan, words: Sequence[Integers]) -> None:
    """Refuse words (N,), one array a wire, that are beyond what the plan states of them."""
    for k, (wire, own) in enumerate(zip(plan.wires, words, strict=True)):
        if isinstance(wire, Product | Sum) and own.size and not wire.low <= own.min() <= own.max() <= wire.high:
            outside = int(own.min() if own.min() < wire.low else own.max())
            raise BddTorqueError(
                f"ask: words of {wire.name or f'w{k}'} from {wire.low} to {wire.high} required, as the file states, "
                f"{outside} found: `bddtorque verify` tells what is wrong with it"
            )


def _added(plan: Plan, known: list[Range], parts: tuple[tuple[int, int], ...], none: Integers) -> Range:
    low, high = none, none
    for source, factor in parts:
        ends = [factor * end for end in _straight(plan, known, source)]
        low, high = low + ends[factor < 0], high + ends[factor >= 0]
    return low, high


def _wrapped(low: Integers, high: Integers, bits: int) -> Range:
    """Return ranges that begin at a word of so many bits; they may end beyond the highest one."""
    half = 1 << (bits - 1)
    first = ((low + half) & (2 * half - 1)) - half
    whole = high - low + 1 >= 2 * half
    return np.where(whole, -half, first), np.where(whole, half - 1, first + (high - low))


def _straight(plan: Plan, known: list[Range], wire: int) -> Range:
    """Return a range that does not wrap: all words where it did."""
    low, high = known[wire]
    if not isinstance(plan.wires[wire], AngleSum):
        return low, high
    half = 1 << (plan.bits_of(wire) - 1)
    return np.where(high >= half, -half, low), np.minimum(high, half - 1)

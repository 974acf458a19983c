"""Sound ranges of the floats of a plan over boxes of input words, many boxes at a time.

Rounding to nearest is monotone: what an operation gives at the ends of its operands' ranges, rounded as the plan has
it, are the ends of the floats that it can give. Fused operations are rounded outward instead, which costs a unit in the
last place. Sines of short words are looked up; those of long ones have the range of the true sine and its proved error.
Where c·x + s·y turns a vector it is no longer than before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from bddtorque.plan.bound import BlockFacts, PlanErrors
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.plan.wires import Add, Constant, Fused, Multiply, Number, Sine
from bddtorque.questions.subject_kinds import Integers
from bddtorque.questions.wire_ranges import (
    MAX_LINE,
    Ends,
    Extremes,
    LineExtremes,
    Span,
    WordSpans,
    as_numbers,
    extremes_of,
)
from bddtorque.words.bounded import Interval
from bddtorque.words.float_sine import sine_error, sine_table, turn_on_grid
from bddtorque.words.turning import SineOf, Turned, rotated, rotations

Floats = npt.NDArray[np.float64]

TURN_ROUNDINGS = 8
"""More than sines that are off, three roundings of floats, and those of the bound itself add to √(x² + y²)."""
SINE_ROOM = 1e-12
"""More than float64 errs in an angle of a few turns, and in its sine."""


@dataclass(frozen=True, eq=False)
class FloatSpan:
    """Ranges of one float, (N,) or () lowest and highest ones, held in float64.

    Attributes
    ----------
    low, high
        The ends.
    sine
        Of a sine or cosine: which one.
    turned
        Of a product with a sine or cosine: each way to read it.
    """

    low: Floats
    high: Floats
    sine: SineOf | None = None
    turned: tuple[Turned, ...] = ()

    def __neg__(self) -> FloatSpan:
        return FloatSpan(-self.high, -self.low, self.sine, self.turned)

    @property
    def magnitude(self) -> Floats:
        """The largest absolute values."""
        return np.maximum(np.abs(self.low), np.abs(self.high))


class _FloatSpans(WordSpans):
    """Ranges of words, as `Span`, and of floats, as `FloatSpan`, over boxes."""

    def __init__(self, ranges: FloatRanges, low: Integers, high: Integers) -> None:
        super().__init__(ranges.extremes, low, high)
        self.ranges, self.plan = ranges, ranges.plan

    def number(self, wire: Number, word: Span) -> FloatSpan:
        own = as_numbers(word)
        return FloatSpan(np.asarray(own.low, np.float64), np.asarray(own.high, np.float64))

    def constant(self, wire: Constant) -> FloatSpan:
        value = np.asarray(self.plan.floats.nearest(wire.value))
        return FloatSpan(value, value)

    def sine(self, wire: Sine, word: Span) -> FloatSpan:
        table, own = self.ranges.sines.get(wire), SineOf((wire.word, wire.rest), wire.cosine)
        if table is not None:
            low, high = table.over([(word.low, word.high)])
            return FloatSpan(low.astype(np.float64), high.astype(np.float64), own)
        bits = self.plan.bits_of(wire.word)
        error = sine_error(bits, wire.rest, wire.cosine, self.plan.floats)
        found = sine_range(word, bits, float(wire.rest) + (math.pi / 2 if wire.cosine else 0.0), error)
        return replace(found, sine=own)

    def add(self, wire: Add, left: FloatSpan, right: FloatSpan) -> FloatSpan:
        other = right if wire.sign > 0 else -right
        return self._within_turn(self._rounded(left.low + other.low, left.high + other.high), left, right)

    def multiply(self, wire: Multiply, left: FloatSpan, right: FloatSpan) -> FloatSpan:
        found = self._rounded(*_product(left, right, wire.left == wire.right))
        return replace(found, turned=_turned(left, right))

    def fused(self, wire: Fused, left: FloatSpan, right: FloatSpan, addend: FloatSpan) -> FloatSpan:
        product = FloatSpan(*_outward(*_product(left, right, wire.left == wire.right)), None, _turned(left, right))
        first = product if wire.product_sign > 0 else -product
        second = addend if wire.addend_sign > 0 else -addend
        found = self._rounded(*_outward(first.low + second.low, first.high + second.high))
        return self._within_turn(found, product, addend)

    def _within_turn(self, found: FloatSpan, left: FloatSpan, right: FloatSpan) -> FloatSpan:
        """Return a sum c·x + s·y, c and s of one angle, as no larger than √(x² + y²) and what the floats are off."""
        for x, y in rotations(left.turned, right.turned):
            most = rotated(x.magnitude, y.magnitude) * self.ranges.turn_room + 4 * self.plan.floats.tiny  # underflow
            found = FloatSpan(np.maximum(found.low, -most), np.minimum(found.high, most))
        return found

    def _rounded(self, low: Floats, high: Floats) -> FloatSpan:
        """Return the floats nearest to both ends; sums and products of two float32 are rounded in float64 as well."""
        kind = self.plan.floats.dtype
        return FloatSpan(low.astype(kind).astype(np.float64), high.astype(kind).astype(np.float64))


def _turned(left: FloatSpan, right: FloatSpan) -> tuple[Turned, ...]:
    pairs = ((left.sine, right), (right.sine, left))
    return tuple(Turned(sine, factor.magnitude) for sine, factor in pairs if sine is not None)


def _outward(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    return np.nextafter(low, -np.inf), np.nextafter(high, np.inf)


def _product(left: FloatSpan, right: FloatSpan, square: bool) -> tuple[Floats, Floats]:
    """Return the ends of products, rounded to float64."""
    corners = [x * y for x in (left.low, left.high) for y in (right.low, right.high)]
    low, high = np.minimum.reduce(corners), np.maximum.reduce(corners)
    if square:
        low = np.where((left.low <= 0) & (left.high >= 0), 0.0, np.minimum(corners[0], corners[3]))
    return low, high


def sine_range(word: Span, bits: int, constant: float, error: float) -> FloatSpan:
    """Return the range of the sine of angle words plus a constant in rad, each sine off by an error at most."""
    unit = 2 * math.pi / (1 << bits)
    first, last = (end.astype(np.float64) * unit + constant for end in (word.low, word.high))
    ends: tuple[Floats, Floats] = np.sin(first), np.sin(last)
    highest, lowest = (_passes(first, last, peak) for peak in (math.pi / 2, -math.pi / 2))
    room = error + SINE_ROOM
    low = np.where(lowest, -1.0, np.minimum(*ends)) - room
    return FloatSpan(low, np.where(highest, 1.0, np.maximum(*ends)) + room)


def _passes(first: Floats, last: Floats, peak: float) -> npt.NDArray[np.bool_]:
    """Return whether an angle lies within the ranges, whole turns apart; also where it is too close to tell."""
    turn = 2 * math.pi
    passed: npt.NDArray[np.bool_] = np.floor((last - peak + SINE_ROOM) / turn) > np.floor(
        (first - peak - SINE_ROOM) / turn
    )
    return passed


class FloatRanges:
    """Ranges of the word, before it is clamped, of a plan in floats with one output."""

    def __init__(self, plan: Plan, tables: Sequence[Table]) -> None:
        self.plan = plan
        self.extremes: Extremes = {k: extremes_of(table) for k, table in enumerate(tables)}
        self.sines: dict[Sine, LineExtremes] = {}
        errors = []
        for wire in plan.wires:
            if not isinstance(wire, Sine):
                continue
            bits = plan.bits_of(wire.word)
            errors.append(sine_error(bits, wire.rest, wire.cosine, plan.floats))
            if 1 << bits <= MAX_LINE:
                turn = turn_on_grid(wire.rest, plan.floats)
                self.sines[wire] = LineExtremes(sine_table(bits, turn, wire.cosine, plan.floats))
        self.turn_room = 1.0 + TURN_ROUNDINGS * (max(errors, default=0.0) + plan.floats.unit)
        # what is proved of all states: where a rotation mixes two floats this is sharper than a product of ranges
        facts = [BlockFacts(0.0, *table.range) for table in tables]
        known = plan.evaluate(PlanErrors(plan, {}, facts))
        self.proved = [each.range + Interval(-each.error, each.error) for each in known]

    def over(self, low: Integers, high: Integers) -> Ends:
        """Return sound bounds of the word over boxes.

        Parameters
        ----------
        low, high
            (N, inputs), the ends of each input word, both included, in the order of the plan.
        """
        last = cast("FloatSpan", self.spans(low, high)[self.plan.outputs[0].wire])
        count = np.zeros(len(low), dtype=np.int64)
        return np.rint(last.low).astype(np.int64) + count, np.rint(last.high).astype(np.int64) + count

    def spans(self, low: Integers, high: Integers) -> list[Span | FloatSpan]:
        """Return the ranges of all wires over boxes."""
        algebra = _FloatSpans(self, low, high)
        spans: list[Any] = []
        for wire, proved in zip(self.plan.wires, self.proved, strict=True):
            span = wire.evaluate(algebra, spans)
            if isinstance(span, FloatSpan):
                ends = np.maximum(span.low, proved.low), np.minimum(span.high, proved.high)
                span = replace(span, low=ends[0], high=ends[1])
            spans.append(span)
        return spans

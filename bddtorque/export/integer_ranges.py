"""How large every word of a plan can get: which C type holds it, and whether its arithmetic is proved not to overflow.

Two ranges are kept of each word. What is *expected* is what the plan states of it (the compiler proved that, `verify`
proves it again). What is *certain* follows from the bits of the inputs, from every entry of the tables and from the
arithmetic itself, with nothing taken on trust. Types are chosen by what is expected. Where even what is certain fits,
plain signed arithmetic is used; where it does not, the same is computed modulo 2^32 or 2^64 in unsigned numbers, which
gives the same words and has a meaning in C whatever file a plan came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.plan.tabulate import tabulate
from bddtorque.plan.wires import Algebra, AngleSum, Input, Lookup, Output, Product, Sum
from bddtorque.words.integer_range import INT32, INT64, Range, word_range


@dataclass(frozen=True)
class Arithmetic:
    """How one operation is computed: in 64 bits or 32, modulo 2^bits or plainly; and how its result is held.

    Attributes
    ----------
    wide : whether 32 bits are too few on the way
    modular : whether it is not certain that signed numbers never overflow
    narrowed : whether the result is expected to fit 32 bits, which is not certain
    """

    wide: bool
    modular: bool
    narrowed: bool = False

    @property
    def bits(self) -> int:
        """32 or 64."""
        return 64 if self.wide else 32


@dataclass(frozen=True)
class Word:
    """What is known of the word of one wire: its ranges, and how it is computed."""

    expected: Range
    certain: Range
    arithmetic: Arithmetic

    @property
    def bits(self) -> int:
        """Of the C type that holds it: 32 or 64."""
        return 32 if self.certain.within(INT32) else 64


def known_words(plan: Plan, tables: Sequence[Table]) -> list[Word]:
    """Return what is known of each wire; refuse a plan that 64 bits cannot compute."""
    return plan.evaluate(_Words(plan, [table.range for table in tables]))


def check_products(plan: Plan, tables: Sequence[Table]) -> None:
    """Refuse tables of products or squares that hold anything else: the range of a product is that of its factors'."""
    for block in sorted({wire.block for wire in plan.wires if isinstance(wire, Product)}):
        if not np.array_equal(tabulate(plan.blocks[block])[0].values, tables[block].values):
            raise BddTorqueError(f"export, block {block} must be a table of products, got other words")


def sum_arithmetic(wire: Sum | Output, terms: Sequence[tuple[Word, int]], where: str) -> Arithmetic:
    """Return how a sum is computed: no partial sum, half a unit included, may leave the type."""
    beside = abs(wire.constant) + (1 << wire.shift >> 1)
    expected = sum(abs(factor) * word.expected.magnitude for word, factor in terms) + beside
    certain = sum(abs(factor) * word.certain.magnitude for word, factor in terms) + beside
    return _arithmetic(max([expected, *(abs(factor) for _, factor in terms)]), certain, where)


def _arithmetic(expected: int, certain: int, where: str) -> Arithmetic:
    """Return how to compute what is expected to get, and certain not to get, beyond these sizes on the way."""
    if expected > INT64.high:
        raise BddTorqueError(
            f"export, {where}: arithmetic needs {expected.bit_length() + 1} bits and 64 are the most: use fewer bits"
        )
    wide = expected > INT32.high
    return Arithmetic(wide, certain > (INT64 if wide else INT32).high)


class _Words(Algebra[Any]):
    """Computes what is known of words, also of sums and products before they are rounded, from that of their parts."""

    def __init__(self, plan: Plan, entries: Sequence[Range]) -> None:
        self.plan, self.entries = plan, entries

    def input(self, wire: Input) -> Word:
        return _plain(word_range(wire.bits))

    def wrapped(self, total: None, wire: AngleSum) -> Word:
        return _plain(word_range(wire.bits))

    def table(self, wire: Lookup, words: Sequence[Word]) -> Word:
        return _plain(self.entries[wire.block])

    def total(self, wire: AngleSum | Sum | Output, terms: Sequence[tuple[Word, int]]) -> Word | None:
        if isinstance(wire, AngleSum):  # wraps, whatever it is
            return None
        start = Range(wire.constant, wire.constant)
        expected = sum((word.expected * factor for word, factor in terms), start=start)
        certain = sum((word.certain * factor for word, factor in terms), start=start)
        return Word(expected, certain, sum_arithmetic(wire, terms, f"'{wire.name:.40}'"))

    def product(self, wire: Product, left: Word, right: Word) -> Word:
        entries = self.entries[wire.block]
        if wire.method == "block":  # its table is rounded
            return _plain(entries)
        expected, certain = left.expected * right.expected, left.certain * right.certain
        if wire.method == "squares":
            index = word_range(self.plan.blocks[wire.block].input_widths[0])
            if not all(each.within(index) for each in (left.certain + right.certain, left.certain - right.certain)):
                certain = entries - entries  # indices are masked: any two entries may meet
        elif wire.method == "limbs":  # factors that had more limbs than expected would lose some
            certain = Range(min(certain.low, 0), max(certain.high, 0))
        half = 1 << wire.shift >> 1
        # factors are converted to the type of the product first
        sizes = (expected.magnitude + half, left.expected.magnitude, right.expected.magnitude)
        return Word(expected, certain, _arithmetic(max(sizes), certain.magnitude + half, f"'{wire.name:.40}'"))

    def rounded(self, exact: Word, wire: Product | Sum | Output) -> Word:
        if isinstance(wire, Product) and wire.method == "block":
            return exact
        how = exact.arithmetic
        if how.modular:
            whole = INT64 if how.wide else INT32
            certain = Range(whole.low >> wire.shift, whole.high >> wire.shift)  # half a unit is added before it wraps
        else:
            certain = exact.certain.rounded(wire.shift)
        likely = exact.expected.rounded(wire.shift).common(Range(wire.low, wire.high))
        if likely.low > likely.high:
            raise BddTorqueError(
                f"export, '{wire.name:.40}': no word can be from {wire.low} to {wire.high}, as the plan states"
            )
        narrowed = likely.within(INT32) and not certain.within(INT32)
        return Word(likely, INT32 if narrowed else certain, Arithmetic(how.wide, how.modular, narrowed))


def _plain(found: Range) -> Word:
    return Word(found, found, Arithmetic(wide=not found.within(INT32), modular=False))

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
from typing import Literal

import numpy as np

from bddtorque.base.errors import BddTorqueError, nearest
from bddtorque.plan.plan import AngleSum, Input, Lookup, Method, Output, Plan, Product, Sum
from bddtorque.plan.table import Table
from bddtorque.plan.tabulate import tabulate

Products = Literal["plan", "native", "tables"]
PRODUCTS: tuple[Products, ...] = ("plan", "native", "tables")
"""How products are taken: as the plan has them, all by the machine's multiplication, or all from tables."""


@dataclass(frozen=True)
class Range:
    """Whole numbers from `low` to `high`, both included."""

    low: int
    high: int

    @property
    def magnitude(self) -> int:
        """The largest absolute value."""
        return max(-self.low, self.high)

    def within(self, other: Range) -> bool:
        """Return whether every number is one of the other range."""
        return other.low <= self.low and self.high <= other.high

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Range) -> Range:
        return Range(self.low - other.high, self.high - other.low)

    def __mul__(self, other: Range) -> Range:
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Range(min(ends), max(ends))

    def rounded(self, shift: int) -> Range:
        """Return the range of floor(x/2^shift + 1/2)."""
        half = 1 << shift >> 1
        return Range((self.low + half) >> shift, (self.high + half) >> shift)


def signed_word(bits: int) -> Range:
    """Return the range of a two's complement word."""
    return Range(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


INT32, INT64 = signed_word(32), signed_word(64)


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


def checked_products(products: str) -> Products:
    """Return the name of a way to take products, or refuse it."""
    for known in PRODUCTS:
        if products == known:
            return known
    raise BddTorqueError(
        f"export: products {', '.join(PRODUCTS)} required, {products!r:.40} given{nearest(str(products), PRODUCTS)}"
    )


def method_of(wire: Product, products: Products) -> Method:
    """Return how a product is taken."""
    if products == "native":
        return "native"
    return "limbs" if products == "tables" and wire.method == "native" else wire.method


def known_words(plan: Plan, tables: Sequence[Table], products: Products) -> list[Word]:
    """Return what is known of each wire; refuse a plan that 64 bits cannot compute."""
    entries = [Range(int(table.values.min()), int(table.values.max())) for table in tables]
    words: list[Word] = []
    for k, wire in enumerate(plan.wires):
        match wire:
            case Input(bits=bits) | AngleSum(bits=bits):
                words.append(_plain(signed_word(bits)))
            case Lookup(block=block):
                words.append(_plain(entries[block]))
            case Product(block=block) if method_of(wire, products) == "block":
                words.append(_plain(entries[block]))
            case Product():
                words.append(_product(plan, wire, words, entries, products, f"wire {k}"))
            case Sum():
                arithmetic = sum_arithmetic(wire, words, f"wire {k}")
                expected = _summed(wire, [word.expected for word in words])
                certain = _summed(wire, [word.certain for word in words])
                words.append(_rounded(wire, arithmetic, expected, certain, f"wire {k}"))
    return words


def check_products(plan: Plan, tables: Sequence[Table]) -> None:
    """Refuse tables of products or squares that hold anything else: one way to multiply takes the place of another."""
    for block in sorted({wire.block for wire in plan.wires if isinstance(wire, Product)}):
        if not np.array_equal(tabulate(plan.blocks[block])[0].values, tables[block].values):
            raise BddTorqueError(f"export, block {block}: a table of products required, other words given")


def sum_arithmetic(each: Sum | Output, words: Sequence[Word], where: str) -> Arithmetic:
    """Return how a sum is computed: no partial sum, half a unit included, may leave the type."""
    factors = [abs(factor) for _, factor in each.parts]
    beside = abs(each.constant) + (1 << each.shift >> 1)
    expected, certain = (
        sum(factor * size for factor, size in zip(factors, sizes, strict=True)) + beside
        for sizes in (
            [words[wire].expected.magnitude for wire, _ in each.parts],
            [words[wire].certain.magnitude for wire, _ in each.parts],
        )
    )
    return _arithmetic(max([expected, *factors]), certain, where)


def _arithmetic(expected: int, certain: int, where: str) -> Arithmetic:
    """Return how to compute what is expected to get, and certain not to get, beyond these sizes on the way."""
    if expected > INT64.high:
        raise BddTorqueError(
            f"export, {where}: arithmetic of at most 64 bits required, {expected.bit_length() + 1} bits needed"
        )
    wide = expected > INT32.high
    return Arithmetic(wide, certain > (INT64 if wide else INT32).high)


def _summed(each: Sum, ranges: Sequence[Range]) -> Range:
    total = Range(each.constant, each.constant)
    for wire, factor in each.parts:
        total += ranges[wire] * Range(factor, factor)
    return total


def _product(
    plan: Plan, wire: Product, words: Sequence[Word], entries: Sequence[Range], products: Products, where: str
) -> Word:
    left, right = words[wire.left], words[wire.right]
    expected, certain = left.expected * right.expected, left.certain * right.certain
    if method_of(wire, products) == "squares":
        word = signed_word(plan.blocks[wire.block].input_widths[0])
        if not all(each.within(word) for each in (left.certain + right.certain, left.certain - right.certain)):
            certain = entries[wire.block] - entries[wire.block]  # indices are masked: any two entries may meet
    elif method_of(wire, products) == "limbs":  # factors that had more limbs than expected would lose some
        certain = Range(min(certain.low, 0), max(certain.high, 0))
    half = 1 << wire.shift >> 1
    # factors are converted to the type of the product first
    sizes = (expected.magnitude + half, left.expected.magnitude, right.expected.magnitude)
    arithmetic = _arithmetic(max(sizes), certain.magnitude + half, where)
    return _rounded(wire, arithmetic, expected, certain, where)


def _rounded(wire: Sum | Product, arithmetic: Arithmetic, expected: Range, certain: Range, where: str) -> Word:
    """Return the word that rounding makes of an exact sum or product."""
    if arithmetic.modular:
        whole = INT64 if arithmetic.wide else INT32
        certain = Range(whole.low >> wire.shift, whole.high >> wire.shift)  # half a unit is added before it wraps
    else:
        certain = certain.rounded(wire.shift)
    likely = expected.rounded(wire.shift)
    likely = Range(max(likely.low, wire.low), min(likely.high, wire.high))
    if likely.low > likely.high:
        raise BddTorqueError(
            f"export, {where}: a range that the word can have required, {wire.low} to {wire.high} given"
        )
    narrowed = likely.within(INT32) and not certain.within(INT32)
    return Word(likely, INT32 if narrowed else certain, Arithmetic(arithmetic.wide, arithmetic.modular, narrowed))


def _plain(found: Range) -> Word:
    return Word(found, found, Arithmetic(wide=not found.within(INT32), modular=False))

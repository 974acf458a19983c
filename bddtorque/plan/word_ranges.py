"""Ranges of the words of a plan, by what the plan states of them, its tables hold and its inputs are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.plan.wires import Algebra, AngleSum, Input, Lookup, Output, Product, Sum
from bddtorque.words.integer_range import Range, word_range


class WordRanges(Algebra[Any]):
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

    def input(self, wire: Input) -> Range:
        """Return the range of an input word."""
        return word_range(wire.bits)

    def wrapped(self, total: Range, wire: AngleSum) -> Range:
        """Return the range of a sum of angles."""
        return word_range(wire.bits)

    def table(self, wire: Lookup, words: Sequence[Range]) -> Range:
        """Return the range of the entries of a table."""
        return self.entries[wire.block]

    def product(self, wire: Product, left: Range, right: Range) -> Range:
        """Return the range of an exact product."""
        return self.entries[wire.block] if self.gives_entries(wire) else left * right

    def total(self, wire: AngleSum | Sum | Output, terms: Sequence[tuple[Range, int]]) -> Range:
        """Return the range of an exact sum."""
        return sum((word * factor for word, factor in terms), start=Range(wire.constant, wire.constant))

    def rounded(self, exact: Range, wire: Product | Sum | Output) -> Range:
        """Return the range of rounded words; the plan may know a narrower one, from the value that they stand for."""
        if self.gives_entries(wire):  # its table is rounded
            return exact
        words = exact.rounded(wire.shift)
        return words.common(Range(wire.low, wire.high)) if self.trust_products or isinstance(wire, Sum) else words

    def gives_entries(self, wire: Product | Sum | Output) -> bool:
        """Return whether the words are the entries of a table of both factors."""
        return self.trust_products and isinstance(wire, Product) and wire.method == "blocks"


def known_ranges(plan: Plan, tables: Sequence[Table], trust_products: bool = True) -> list[Range]:
    """Return the range of each wire: what follows from those before it, and is stated of it."""
    ranges = plan.evaluate(WordRanges([table.range for table in tables], trust_products))
    for wire, words in zip(plan.wires, ranges, strict=True):
        if isinstance(wire, Product | Sum) and words.low > words.high:
            raise BddTorqueError(
                f"export, '{wire.name:.40}': no word can be from {wire.low} to {wire.high}, as the plan states"
            )
    return ranges

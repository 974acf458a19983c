"""How large every word of a plan can get, by what the plan states of it, its tables hold and its inputs are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.plan.tabulate import tabulate
from bddtorque.plan.wires import Algebra, AngleSum, Input, Lookup, Output, Product, Sum
from bddtorque.words.integer_range import Range, word_range


def known_ranges(plan: Plan, tables: Sequence[Table]) -> list[Range]:
    """Return the range of each wire: what follows from those before it, and is stated of it."""
    return plan.evaluate(_Ranges([table.range for table in tables]))


def check_products(plan: Plan, tables: Sequence[Table]) -> None:
    """Refuse tables of products or squares that hold anything else: the range of a product is that of its factors'."""
    for block in sorted({wire.block for wire in plan.wires if isinstance(wire, Product) and wire.block >= 0}):
        if not np.array_equal(tabulate(plan.blocks[block])[0].values, tables[block].values):
            raise BddTorqueError(f"export, block {block} must be a table of products, got other words")


class _Ranges(Algebra[Range]):
    """Computes ranges from those of the parts."""

    def __init__(self, entries: Sequence[Range]) -> None:
        self.entries = entries

    def input(self, wire: Input) -> Range:
        return word_range(wire.bits)

    def wrapped(self, total: Range, wire: AngleSum) -> Range:
        return word_range(wire.bits)

    def table(self, wire: Lookup, words: Sequence[Range]) -> Range:
        return self.entries[wire.block]

    def total(self, wire: AngleSum | Sum | Output, terms: Sequence[tuple[Range, int]]) -> Range:
        return sum((word * factor for word, factor in terms), start=Range(wire.constant, wire.constant))

    def product(self, wire: Product, left: Range, right: Range) -> Range:
        return self.entries[wire.block] if wire.method == "block" else left * right

    def rounded(self, exact: Range, wire: Product | Sum | Output) -> Range:
        if isinstance(wire, Product) and wire.method == "block":  # its table is rounded
            return exact
        found = exact.rounded(wire.shift).common(Range(wire.low, wire.high))
        if found.low > found.high:
            raise BddTorqueError(
                f"export, '{wire.name:.40}': no word can be from {wire.low} to {wire.high}, as the plan states"
            )
        return found

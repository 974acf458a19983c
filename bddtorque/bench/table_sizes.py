"""Bytes beside times: how large the tables of an evaluator are, and how much of them one state reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from bddtorque.diagrams.choosing import lower_blocks
from bddtorque.diagrams.forms import BIT_FORMS
from bddtorque.evaluate.table_pool import blocks_read
from bddtorque.model.model import Model
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import Lookup, Product

LOAD = 4
"""Bytes of one load from a form of a block: words and places to go on at have 32 bits."""


@dataclass(frozen=True)
class Sizes:
    """Bytes of all tables, and bytes of them that one state reads, at most."""

    tables: int
    touched: int


def look_ups(plan: Plan, native: bool | Collection[str]) -> dict[int, int]:
    """Return how often each block is looked up for one state, at most.

    With `native` products, without any, or with those of some methods only.
    """
    counts: Counter[int] = Counter()
    for wire in plan.wires:
        if isinstance(wire, Lookup):
            counts[wire.block] += 1
        elif isinstance(wire, Product) and not (native if isinstance(native, bool) else wire.method in native):
            counts[wire.block] += product_look_ups(plan, wire)
    return counts


def straight_sizes(model: Model, native: bool, item_bytes: int) -> Sizes:
    """Return the sizes of straight-line code: dense tables of items of so many bytes, one of which a look-up reads."""
    plan = model.word_plan("a benchmark")
    tables = sum(len(model.tables[block].values) for block in blocks_read(plan, native)) * item_bytes
    return Sizes(tables, sum(look_ups(plan, native).values()) * item_bytes)


def form_sizes(model: Model, form: str) -> Sizes:
    """Return the sizes of a program whose blocks are in a form (``"chosen"``: each in its own)."""
    forms = lower_blocks(form, model.tables, model.diagrams, model.spec.memory)
    counts = look_ups(model.word_plan("a benchmark"), () if form in BIT_FORMS else ("native",))
    touched = sum(count * forms[block].loads * LOAD for block, count in counts.items())
    return Sizes(sum(each.bytes for each in forms), touched)


def product_look_ups(plan: Plan, wire: Product) -> int:
    """Return the look-ups of a product taken by tables."""
    if wire.method in ("block", "squares"):
        return 1 if wire.method == "block" else 2
    left, right = (-(-plan.range_of(side).magnitude.bit_length() // wire.limb_bits) for side in wire.sources)
    return left * right

"""Bytes beside times: how large the tables of an evaluator are, and how much of them one state reads."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from bddtorque.diagrams.choosing import lower_blocks
from bddtorque.evaluate.code_writer import Straight
from bddtorque.evaluate.float_code import FloatPool
from bddtorque.model.model import Model
from bddtorque.plan.float_plan import AnyPlan, FloatPlan
from bddtorque.plan.float_wires import Sine
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import Lookup, Product

LOAD = 4
"""Bytes of one load from a form of a block: words and places to go on at have 32 bits."""


@dataclass(frozen=True)
class Sizes:
    """Bytes of all tables, and bytes of them that one state reads, at most."""

    tables: int
    touched: int


def look_ups(plan: Plan, native: bool) -> dict[int, int]:
    """Return how often each block is looked up for one state, at most; with `native` products, or from tables alone."""
    counts: Counter[int] = Counter()
    for wire in plan.wires:
        if isinstance(wire, Lookup):
            counts[wire.block] += 1
        elif isinstance(wire, Product) and not native:
            counts[wire.block] += product_look_ups(plan, wire)
    return counts


def straight_sizes(plan: AnyPlan, code: Straight, native: bool = True) -> Sizes:
    """Return the sizes of straight-line code, `native` or not: dense tables, one word of which a look-up reads."""
    if isinstance(plan, FloatPlan):
        pool = FloatPool(plan)
        reads = sum(isinstance(each, Lookup) or (isinstance(each, Sine) and pool.tabled(each)) for each in plan.wires)
    else:
        reads = sum(look_ups(plan, native).values())
    return Sizes(code.table.nbytes, reads * code.table.itemsize)


def form_sizes(model: Model, form: str) -> Sizes:
    """Return the sizes of a program whose blocks are in a form (``"chosen"``: each in its own)."""
    forms = lower_blocks(form, model.tables, model.diagrams, model.spec.memory)
    counts = look_ups(model.word_plan("a benchmark"), native=False)
    touched = sum(count * forms[block].loads * LOAD for block, count in counts.items())
    return Sizes(sum(each.bytes for each in forms), touched)


def product_look_ups(plan: Plan, wire: Product) -> int:
    """Return the look-ups of a product taken by tables."""
    if wire.method in ("block", "squares"):
        return 1 if wire.method == "block" else 2
    left, right = (-(-plan.range_of(side).magnitude.bit_length() // wire.limb_bits) for side in wire.sources)
    return left * right

"""Bytes beside times: how large the tables of an evaluator are, and how much of them one state reads."""

from __future__ import annotations

from dataclasses import dataclass

from bddtorque.evaluate.code_writer import Straight
from bddtorque.evaluate.float_code import FloatPool
from bddtorque.model.model import Model
from bddtorque.plan.plan import Plan
from bddtorque.plan.plan_operations import look_ups
from bddtorque.plan.wires import Lookup, Sine
from bddtorque.targets.tables.choosing import lower_blocks

LOAD = 4
"""Bytes of one load from a form of a block: words and places to go on at have 32 bits."""


@dataclass(frozen=True)
class Sizes:
    """Bytes of all tables, and bytes of them that one state reads, at most."""

    tables: int
    touched: int


def straight_sizes(plan: Plan, code: Straight, native: bool = True) -> Sizes:
    """Return the sizes of straight-line code, `native` or not: dense tables, one word of which a look-up reads."""
    if plan.in_floats:
        pool = FloatPool(plan)
        reads = sum(isinstance(each, Lookup) or (isinstance(each, Sine) and pool.tabled(each)) for each in plan.wires)
    else:
        reads = sum(look_ups(plan, native).values())
    return Sizes(code.table.nbytes, reads * code.table.itemsize)


def form_sizes(model: Model, form: str) -> Sizes:
    """Return the sizes of a program whose blocks are in a form (``"chosen"``: each in its own)."""
    forms = lower_blocks(form, model.tables, model.diagrams, model.memory)
    counts = look_ups(model.plan, native=False)
    touched = sum(count * forms[block].loads * LOAD for block, count in counts.items())
    return Sizes(sum(each.bytes for each in forms), touched)

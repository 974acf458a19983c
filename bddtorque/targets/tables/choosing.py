"""The form of each block that costs least: made, measured in bytes and loads, and chosen under a memory budget.

Before tables are made, `cost` has bounds of the same figures. Forms that cannot win, because even in the fastest
memory their loads cost more than another form does, are not made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bddtorque.plan.bdd import Diagram
from bddtorque.plan.diagram_memory import DEFAULT_MEMORY_LIMIT, MemoryLimit
from bddtorque.plan.forms import Form, make_form, make_word_form
from bddtorque.plan.loads import Candidate, least_cost, load_cost, pick
from bddtorque.plan.table import Table
from bddtorque.targets.tables.cost import word_bounds


@dataclass(frozen=True)
class FormChoice:
    """A block in the form chosen for it."""

    form: Form  # the block, lowered
    candidates: tuple[Candidate, ...]  # the forms that were made, what each costs, and why one was chosen

    @property
    def reason(self) -> str:
        """Reason for the choice."""
        return next(each.reason for each in self.candidates if each.chosen)


def choose_forms(
    tables: Sequence[Table],
    orders: Sequence[tuple[int, ...] | None],
    budget: int | None = None,
) -> list[FormChoice]:
    """Return each table in the form of least cost, all forms together within `budget` bytes if there is one.

    `orders` has the variables at the levels of each block's diagrams. Raise `BddTorqueError` if not even the smallest
    forms fit.
    """
    made = [contenders(table, order) for table, order in zip(tables, orders, strict=True)]
    if budget is not None and sum(min(found.values(), key=form_cost).bytes for found in made) > budget:
        # what costs least does not fit: now every form may be the one
        pairs = zip(tables, orders, strict=True)
        made = [contenders(table, order, everything=True) for table, order in pairs]
    picked = pick([[candidate(form) for form in found.values()] for found in made], budget)
    return [
        FormChoice(found[next(each.name for each in candidates if each.chosen)], tuple(candidates))
        for found, candidates in zip(made, picked, strict=True)
    ]


def lower_blocks(form: str, tables: Sequence[Table], diagrams: Sequence[Diagram], budget: int) -> list[Form]:
    """Return blocks in a form, or (``"chosen"``) each in that of least cost, all together within `budget` bytes."""
    if form == "chosen":
        orders = [diagram.order for diagram in diagrams]  # that were found by sifting
        return [choice.form for choice in choose_forms(tables, orders, budget)]
    return [make_form(form, table, diagram) for table, diagram in zip(tables, diagrams, strict=True)]


def contenders(
    table: Table, order: tuple[int, ...] | None, memory_limit: int = DEFAULT_MEMORY_LIMIT, everything: bool = False
) -> dict[str, Form]:
    """Return the forms of a table that give whole words: `everything`, or those that may cost less than others."""
    found: dict[str, Form] = {}
    for bound in word_bounds(table.input_widths, table.output_bits, table.signed):
        cheapest = min(map(form_cost, found.values()), default=None)
        if everything or cheapest is None or least_cost(bound.loads, bound.depth) < cheapest:
            try:
                found[bound.name] = make_word_form(bound.name, table, order, memory_limit)
            except MemoryLimit:
                continue
    return found


def candidate(form: Form) -> Candidate:
    """Return what a form costs."""
    return Candidate(form.name, form.bytes, form.loads, len(form.chain), form_cost(form), form.constant)


def form_cost(form: Form) -> int:
    """Return the cost of a look-up in a form; see `plan.loads`."""
    return load_cost(form.loads, form.chain, form.arithmetic)

"""Lowered forms of a block, all of them listed here.

`dense`, `folded`, `runs` and `edge_valued` give whole words: one of them is chosen for each block of exported C.
`lockstep` and `bits` walk a diagram for each output bit: evaluators run them. A form that nothing chooses is deleted
(docs/decisions/forms.md). A new form is a class that offers what `Form` asks for, its name in `WORD_FORMS`
or `BIT_FORMS`, and a line in the function that makes it.
"""

from __future__ import annotations

from bddtorque.base.errors import BddTorqueError, nearest
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.engine import DEFAULT_MEMORY_LIMIT
from bddtorque.plan.forms.bit_forms import Bits, Lockstep
from bddtorque.plan.forms.form import Form, check_form
from bddtorque.plan.forms.word_forms import Dense, EdgeValued, Folded, Runs
from bddtorque.plan.table import Table

BIT_FORMS = ("lockstep", "bits")
"""Names of the forms that walk a diagram for each output bit."""
WORD_FORMS = ("dense", "folded", "runs", "edge_valued")
"""Names of the forms that give whole words."""
FORMS = (*WORD_FORMS, *BIT_FORMS)
"""Names of all forms."""


def make_form(name: str, table: Table, diagram: Diagram, memory_limit: int = DEFAULT_MEMORY_LIMIT) -> Form:
    """Return the form `name` of a table, of which `diagram` is the diagram.

    Raise `BddTorqueError` if there is no such form or memory would not do.
    """
    if name == "lockstep":
        return Lockstep.from_diagram(diagram, memory_limit)
    if name == "bits":
        return Bits.from_diagram(diagram)
    return make_word_form(name, table, diagram.order, memory_limit)


def make_word_form(
    name: str, table: Table, order: tuple[int, ...] | None = None, memory_limit: int = DEFAULT_MEMORY_LIMIT
) -> Form:
    """Return a form of a table that gives whole words; `order` has the variable at each level if it has levels."""
    match name:
        case "dense":
            return Dense.from_table(table)
        case "folded":
            return Folded.from_table(table)
        case "runs":
            return Runs.from_table(table)
        case "edge_valued":
            return EdgeValued.from_table(table, order, memory_limit)
    raise BddTorqueError(f"form must be one of {', '.join(FORMS)}, not '{name}'{nearest(name, FORMS)}")


__all__ = [
    "BIT_FORMS",
    "FORMS",
    "WORD_FORMS",
    "Bits",
    "Dense",
    "EdgeValued",
    "Folded",
    "Form",
    "Lockstep",
    "Runs",
    "check_form",
    "make_form",
    "make_word_form",
]

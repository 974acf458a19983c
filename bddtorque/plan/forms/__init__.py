"""Lowered forms of a block: one lowering a file, all of them listed here.

A new form is a file with a class that offers what `Form` asks for, and one entry in `FORMS`.
"""

from __future__ import annotations

from bddtorque.base.errors import BddTorqueError, nearest
from bddtorque.plan.consing import DEFAULT_MEMORY_LIMIT
from bddtorque.plan.forms.bits import Bits
from bddtorque.plan.forms.classes import Classes
from bddtorque.plan.forms.dense import Dense
from bddtorque.plan.forms.edge_valued import EdgeValued
from bddtorque.plan.forms.folded import Folded
from bddtorque.plan.forms.form import Form, check_form
from bddtorque.plan.forms.lockstep import Lockstep
from bddtorque.plan.forms.multi_terminal import MultiTerminal
from bddtorque.plan.forms.radix import Radix, Radix4, Radix16, Radix64
from bddtorque.plan.table import Table

FORMS: dict[str, type[Form]] = {
    form.name: form
    for form in (Bits, Lockstep, MultiTerminal, EdgeValued, Radix4, Radix16, Radix64, Classes, Folded, Dense)
}
"""Every form by its name."""
BIT_FORMS: dict[str, type[Bits | Lockstep]] = {"lockstep": Lockstep, "bits": Bits}
"""The forms that walk a diagram for each output bit."""
WORD_FORMS = tuple(name for name in reversed(FORMS) if name not in BIT_FORMS)
"""Names of the forms that give whole words."""


def lower(
    name: str, table: Table, order: tuple[int, ...] | None = None, memory_limit: int = DEFAULT_MEMORY_LIMIT
) -> Form:
    """Return the form `name` of a table, checked on every entry.

    Raise `BddTorqueError` if there is no such form, memory would not do, or the form differs from the table anywhere.
    """
    if name not in FORMS:
        raise BddTorqueError(f"form must be one of {', '.join(FORMS)}, not '{name}'{nearest(name, FORMS)}")
    form = FORMS[name].from_table(table, order, memory_limit)
    check_form(form, table)
    return form


__all__ = [
    "BIT_FORMS",
    "FORMS",
    "WORD_FORMS",
    "Bits",
    "Classes",
    "Dense",
    "EdgeValued",
    "Folded",
    "Form",
    "Lockstep",
    "MultiTerminal",
    "Radix",
    "Radix4",
    "Radix16",
    "Radix64",
    "check_form",
    "lower",
]

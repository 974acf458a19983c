"""What every block takes in every form: bytes, loads and counted cost, and which one the evaluators take."""

from __future__ import annotations

from dataclasses import dataclass

from bddtorque.diagrams.bdd import Diagram
from bddtorque.diagrams.choosing import candidate, choose_forms
from bddtorque.diagrams.consing import MemoryLimit
from bddtorque.diagrams.forms import FORMS
from bddtorque.diagrams.loads import Candidate
from bddtorque.model.model import Model
from bddtorque.plan.table import Table

NAMES = (
    "dense",
    "folded",
    "classes",
    "radix64",
    "radix16",
    "radix4",
    "edge_valued",
    "multi_terminal",
    "lockstep",
    "bits",
)
"""All forms, those that give whole words first."""


@dataclass(frozen=True)
class BlockForms:
    """The forms of one block.

    Attributes
    ----------
    forms : by name; None where making it would take too much memory
    taken : by the evaluator `words`
    reason : why
    """

    forms: dict[str, Candidate | None]
    taken: str
    reason: str


def taken_forms(model: Model) -> list[tuple[str, str]]:
    """Return the form of each block that the evaluator `words` takes, and why."""
    choices = choose_forms(model.tables, [diagram.order for diagram in model.diagrams], model.spec.memory)
    return [(choice.form.name, choice.reason) for choice in choices]


def block_forms(table: Table, diagram: Diagram, taken: tuple[str, str]) -> BlockForms:
    """Make a block in every form, and return what each takes."""
    return BlockForms({name: _made(name, table, diagram) for name in NAMES}, *taken)


def _made(name: str, table: Table, diagram: Diagram) -> Candidate | None:
    try:
        return candidate(FORMS[name].from_table(table, diagram.order))
    except MemoryLimit:
        return None

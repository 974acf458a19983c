"""Decision diagrams of truth tables, the lowered forms that evaluators run, and what they cost.

The road: a `Table` is reduced to a `Diagram` under a good variable order (`reduce`), and lowered to forms (`lower`),
each checked against the table on every entry. Nothing here knows of robots or plans; `dd` is imported only when an
engine is made, so that loading and running a compiled model needs NumPy and Numba alone.
"""

from __future__ import annotations

from bddtorque.diagrams.bdd import Diagram, build
from bddtorque.diagrams.consing import DEFAULT_MEMORY_LIMIT, memory_needed, most_nodes
from bddtorque.diagrams.engine import Engine, make_engine
from bddtorque.diagrams.folding import Folded, fold, folded_index, folded_lookup, unfold
from bddtorque.diagrams.forms import FORMS, Bits, Dense, Form, MultiTerminal, check_form, lower
from bddtorque.diagrams.reduction import Reduction, reduce, reduce_reported, start_orders
from bddtorque.plan.table import Table

__all__ = [
    "DEFAULT_MEMORY_LIMIT",
    "FORMS",
    "Bits",
    "Dense",
    "Diagram",
    "Engine",
    "Folded",
    "Form",
    "MultiTerminal",
    "Reduction",
    "Table",
    "build",
    "check_form",
    "fold",
    "folded_index",
    "folded_lookup",
    "lower",
    "make_engine",
    "memory_needed",
    "most_nodes",
    "reduce",
    "reduce_reported",
    "start_orders",
    "unfold",
]

"""The kinds of evaluators, the forms that each can run, and what runs a kind in a form."""

from __future__ import annotations

from typing import Literal, get_args

from bddtorque.base.errors import BddTorqueError, not_among, unknown
from bddtorque.base.system import usable_processors
from bddtorque.evaluate.runners import CodeRunner, Runnable
from bddtorque.evaluate.shared_state import SharedStateRunner, choose_spreading
from bddtorque.plan.forms import BIT_FORMS

OnRange = Literal["warn", "saturate", "raise"]
SpreadBy = Literal["states", "terms", "bits"]
SPREADS = get_args(SpreadBy)

EVALUATORS: dict[str, tuple[str, ...]] = {
    "bits": tuple(BIT_FORMS),
    "words": ("straight", "dense"),
    "parallel": ("straight", "dense", *BIT_FORMS),
}
"""The evaluators, and the forms each can run, the first by default. All are code made for the one plan: `straight`
multiplies; `dense` looks products up in tables, and the others walk diagrams."""


def choose_form(model: Runnable, name: str, kind: str, form: str | None, spread: str) -> str:
    """Return the form to run: the one given, or the default; refuse what the model called `name` cannot run."""
    if not isinstance(kind, str) or kind not in EVALUATORS:
        raise BddTorqueError(unknown("evaluator", kind, EVALUATORS))
    if spread not in SPREADS:
        raise BddTorqueError(not_among("spread", spread, SPREADS), option="spread")
    forms = EVALUATORS[kind]
    if spread != "states":
        if kind != "parallel":
            raise BddTorqueError(f"spread = '{spread}' is only valid for the evaluator 'parallel'", option="spread")
        forms = (*BIT_FORMS, "dense")
    if not model.plan.made_of_tables and (kind == "bits" or spread != "states" or form not in (None, "straight")):
        what = f"spread = '{spread}'" if spread != "states" else f"the evaluator '{kind}'"
        model.plan.require_tables(f"the form '{form}'" if form else what, name)
    form = form or forms[0]
    if form not in forms:
        how = "" if spread == "states" else f" that spreads {spread}"
        raise BddTorqueError(not_among(f"form of the evaluator '{kind}'{how}", form, forms))
    return form


def make_runner(model: Runnable, kind: str, form: str, spread: SpreadBy, processors: int) -> CodeRunner:
    """Return what runs a model in a form, on one processor or on several."""
    threads = min(processors, usable_processors())
    if spread != "states":
        spreading = choose_spreading(model, form, spread, processors)
        return SharedStateRunner(model, form, spreading, threads)
    return CodeRunner(model, form, threads if kind == "parallel" else 1)

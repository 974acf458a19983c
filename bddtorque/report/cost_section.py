"""The part of a page about cost: memory, operations and cycles by target, and every block in every form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from bddtorque.base.workers import Progress
from bddtorque.bench.target_costs import TargetCost, target_costs
from bddtorque.model.model import Model
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.diagram_memory import MemoryLimit
from bddtorque.plan.forms import FORMS, make_form
from bddtorque.plan.loads import Candidate
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.report.markup import Markup, details, element, table
from bddtorque.spec.chips import chips
from bddtorque.targets.integer.integer_cost import plan_cycles
from bddtorque.targets.tables.choosing import FormChoice, candidate, choose_forms


def costs_section(model: Model, progress: Progress) -> Markup:
    """Return what one state costs: by target, by chip where the plan is one of machine integers, and block by block."""
    forms = []
    if model.plan.made_of_tables:
        choices = choose_forms(model.tables, [diagram.order for diagram in model.diagrams], model.memory)
        for k, (words, diagram, choice) in enumerate(zip(model.tables, model.diagrams, choices, strict=True)):
            forms.append((block_forms(words, diagram), choice))
            progress.advance(f"forms of block {k}", 1.0, False)
    return element(
        "section",
        element("h2", "Cost"),
        *_targets(model),
        _cycles(model.plan) if model.plan.multiplies_integers else Markup(""),
        _forms(forms) if forms else Markup(""),
        id="costs",
    )  # fmt: skip


def _targets(model: Model) -> list[Markup]:
    """Return what one state costs by target."""
    heads = ["target", "look-ups", "sums", "products", "tables (ROM)", "on a PC, × float", "microcontrollers"]
    rows = [_target_row(cost) for cost in target_costs(model)]
    how = ("Operations and tables of one state. * is what was compiled; the others are estimates. ",
           element("code", "bddtorque bench"), " measures time on this computer, and cycles with ",
           element("code", "--chip"), ".")  # fmt: skip
    return [element("p", *how), table("Cost of one state by target", heads, rows)]


def _target_row(cost: TargetCost) -> list[object]:
    mark = "" if cost.counted else "about "
    size = f"{cost.most_bytes / 1000:,.1f} kB"  # as `compile` and `info` say it
    return [
        f"{cost.target}{' *' * cost.counted}",
        *(f"{mark}{count:,}" if count else "0" for count in (cost.look_ups, cost.sums, cost.products)),
        f"{'up to ' if cost.least_bytes < cost.most_bytes else ''}{size}",
        f"{max(cost.times_float, 1.0):.1f}",
        element("td", cost.chip, class_="text"),
    ]


def _cycles(plan: Plan) -> Markup:
    """Return about how many cycles a plan of machine integers takes, chip by chip."""
    rows = [[name, f"{plan_cycles(plan, chip):,.0f}"] for name, chip in chips().items()]
    return table("Estimated cycles of one state, by chip", ["chip", "cycles"], rows)


def block_forms(words: Table, diagram: Diagram) -> dict[str, Candidate | None]:
    """Make a block in every form, and return what each takes; None where making it would take too much memory."""
    forms: dict[str, Candidate | None] = dict.fromkeys(FORMS)
    for name in FORMS:
        with suppress(MemoryLimit):
            forms[name] = candidate(make_form(name, words, diagram))
    return forms


def _forms(forms: Sequence[tuple[Mapping[str, Candidate | None], FormChoice]]) -> Markup:
    rows = [
        [f"b{k}", *(_form(each[name], name == choice.form.name, choice.reason) for name in FORMS)]
        for k, (each, choice) in enumerate(forms)
    ]
    taken = sum(found.bytes for each, choice in forms if (found := each[choice.form.name]) is not None)
    heads = ["block", *(name.replace("_", "-") for name in FORMS)]
    shown = table(
        "Bytes, then loads per word · estimated cycles; the form in use is marked", heads, rows, class_="forms"
    )
    return details(f"Forms of the tables: {taken:,} bytes in use", shown)


def _form(found: Candidate | None, taken: bool, reason: str) -> Markup:
    if found is None:
        return element("td", "–", title="it would take too much memory to make")
    said = [f"{found.bytes:,}", element("small", f"{found.loads} · {found.cost}")]
    inside = [element("strong", said[0]), said[1]] if taken else said
    return element("td", *inside, class_="taken" if taken else None, title=reason if taken else None)

"""What each term takes, and every block in every form.

Terms are counted in steps of the processors of `bddtorque.schedule`, not timed.

A test of a bit and an addition of two words take a step each, and a walk through a diagram as many as its longest path
has tests. One processor does everything that a term needs one after another; with enough of them only the longest chain
counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from bddtorque.diagrams.bdd import Diagram
from bddtorque.diagrams.choosing import candidate
from bddtorque.diagrams.consing import MemoryLimit
from bddtorque.diagrams.forms import FORMS
from bddtorque.diagrams.loads import Candidate
from bddtorque.model.model import Model
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.plan.wires import Lookup, Product
from bddtorque.schedule.building import operations_of
from bddtorque.schedule.operations import WORD_STEPS
from bddtorque.schedule.scheduling import earliest_ends
from bddtorque.schedule.spreading import tasks_of
from bddtorque.sweeps.term_errors import Motions, motions_of

FORM_NAMES = tuple(reversed(FORMS))
"""All forms, those that give whole words first."""


@dataclass(frozen=True)
class TermCost:
    """What some summands of one torque take.

    Attributes
    ----------
    torque : the joint, from 0
    name : gravity, inertia q̈1, ...; or that all terms are made together
    lookups, products : wires of these kinds that the term needs
    serial : steps of one processor that computes the term by itself
    longest : steps where there are processors for everything
    """

    torque: int
    name: str
    lookups: int
    products: int
    serial: float
    longest: float


def term_costs(model: Model) -> tuple[list[TermCost], list[tuple[float, float]]]:
    """Return what the terms of every torque take, and the steps of the torques, as `serial` and `longest` of a term."""
    plan = model.word_plan("a report")
    operations = operations_of(plan, model.diagrams)
    ends = earliest_ends(tasks_of(operations))
    own, done = [0.0] * len(plan.wires), [0.0] * len(plan.wires)  # steps of each wire, and when it is there
    for each in operations:
        if each.owner.startswith("w"):
            wire = int(each.owner[1:])
            own[wire] += WORD_STEPS.duration(each)
            done[wire] = max(done[wire], ends[each.name])
    motions = motions_of(plan)
    terms: list[TermCost] = []
    torques: list[tuple[float, float]] = []
    finished = {each.output: ends[each.name] for each in operations if each.output >= 0}
    for torque, output in enumerate(plan.outputs):
        groups: dict[str, list[int]] = {}
        for wire, _ in output.parts:
            groups.setdefault(term_name(motions[wire]), []).append(wire)
        for name, wires in groups.items():
            terms.append(_term(plan, torque, name, wires, own, done))
        needed = plan.needed(output.sources)
        last = sum(WORD_STEPS.duration(each) for each in operations if each.owner == output.name)
        torques.append((sum(own[wire] for wire in needed) + last, finished[torque]))
    return terms, torques


def term_name(motions: Motions) -> str:
    """Return what people call a term with these motions."""
    if len(motions) != 1:
        return "several terms together" if motions else "constant"
    (motion,) = motions
    if not motion:
        return "gravity"
    numbers = [name.lstrip("qd") for name in motion]
    if motion[0].startswith("qdd"):
        return f"inertia, q̈{numbers[0]}"
    if len(motion) == 1:
        return f"friction, q̇{numbers[0]}"
    if len(motion) == 2 and numbers[0] == numbers[1]:
        return f"centripetal, q̇{numbers[0]}²"
    return "Coriolis, " + "·".join(f"q̇{each}" for each in numbers)


def _term(
    plan: Plan, torque: int, name: str, wires: Sequence[int], own: Sequence[float], done: Sequence[float]
) -> TermCost:
    needed = plan.needed(wires)
    kinds = [plan.wires[wire] for wire in needed]
    return TermCost(
        torque,
        name,
        sum(isinstance(each, Lookup) for each in kinds),
        sum(isinstance(each, Product) for each in kinds),
        sum(own[wire] for wire in needed),
        max(done[wire] for wire in wires),
    )


def block_forms(table: Table, diagram: Diagram) -> dict[str, Candidate | None]:
    """Make a block in every form, and return what each takes; None where making it would take too much memory."""
    forms: dict[str, Candidate | None] = dict.fromkeys(FORM_NAMES)
    for name in FORM_NAMES:
        with suppress(MemoryLimit):
            forms[name] = candidate(FORMS[name].from_table(table, diagram.order))
    return forms

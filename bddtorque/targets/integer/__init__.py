"""The target ``"integer"``: small tables and integers that the processor multiplies itself."""

from __future__ import annotations

from collections.abc import Sequence

from bddtorque.plan.plan import INTEGER, Plan
from bddtorque.spec.chips import Chip, chip_named
from bddtorque.spec.resolve import ANY_CHIP
from bddtorque.targets.integer.integer_cost import plan_cycles
from bddtorque.targets.integer.integer_planner import plan_integers
from bddtorque.targets.integer.rewriting import rewritten
from bddtorque.targets.target import Planned, PlanTask, Target, TracedOutputs, plan_with_laws, spent_by


def _chip(task: PlanTask) -> Chip:
    return chip_named(task.options.chip or ANY_CHIP)


def _plan_graph(task: PlanTask, trace: TracedOutputs) -> Plan:
    return plan_integers(
        trace.graph, task.arguments, task.outputs, task.accuracy, task.options.block_bits, trace.source, _chip(task),
        spent_by(task, trace),
    )  # fmt: skip


def _plan(task: PlanTask, traces: Sequence[TracedOutputs]) -> Planned:
    """Return the plan that takes the chip the fewest cycles."""
    made = [plan_with_laws(_plan_graph, *rewritten(task, trace)) for trace in traces]
    return min(made, key=lambda planned: plan_cycles(planned.plan, _chip(task)))


INTEGER_TARGET = Target(
    INTEGER,
    "small tables and integers that the processor multiplies",
    frozenset({"chip", "flash"}),
    _plan_graph,
    _plan,
    compares_terms=True,
)

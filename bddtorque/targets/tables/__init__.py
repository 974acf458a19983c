"""The target ``"tables"``: truth tables, decision diagrams of them, and additions; nothing is multiplied."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from bddtorque.plan.plan import TABLES, Plan
from bddtorque.plan.plan_cost import native_operations
from bddtorque.targets.tables.budget import plan_network
from bddtorque.targets.target import Planned, PlanTask, Target, TracedOutputs, plan_each, plan_with_laws, spent_by

MAX_OPERATIONS_RATIO = 3.5
"""Operations of separate terms for each one of the recursion up to which tables are made of terms."""


def _plan_graph(task: PlanTask, trace: TracedOutputs) -> Plan:
    options, spent = task.options, spent_by(task, trace)
    return plan_network(
        trace.graph, task.arguments, task.outputs, task.accuracy, options.block_bits, trace.source, spent,
        options.products,
    )  # fmt: skip


def _plan(task: PlanTask, traces: Sequence[TracedOutputs]) -> Planned:
    """Return the plan of the first graph, unless the last takes a fraction of its operations."""
    made = plan_each(partial(plan_with_laws, _plan_graph, task), traces)
    first, last = native_operations(made[0].plan), native_operations(made[-1].plan)
    return made[-1 if first > MAX_OPERATIONS_RATIO * last else 0]


TABLES_TARGET = Target(
    TABLES,
    "truth tables as decision diagrams, and additions: nothing is multiplied",
    frozenset({"products", "flash"}),
    _plan_graph,
    _plan,
    made_of_tables=True,
)

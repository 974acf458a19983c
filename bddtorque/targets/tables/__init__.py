"""The target ``"tables"``: truth tables, decision diagrams of them, and additions; nothing is multiplied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.graph import Graph
from bddtorque.plan.plan import TABLES, Plan
from bddtorque.plan.plan_operations import native_operations
from bddtorque.targets.builder import OutputFormat
from bddtorque.targets.extra_terms import LawTerm
from bddtorque.targets.tables.budget import plan_network
from bddtorque.targets.target import Planned, PlanOptions, Target, TracedOutputs, spent_by, with_laws
from bddtorque.words.argument import Argument

MAX_OPERATIONS_RATIO = 3.5
"""Operations of separate terms for each one of the recursion up to which tables are made of terms."""


def _plan_graph(
    options: PlanOptions,
    graph: Graph,
    arguments: Mapping[str, Argument],
    outputs: Sequence[OutputFormat],
    accuracy: float,
    source: str,
    spent: Sequence[float],
) -> Plan:
    return plan_network(graph, arguments, outputs, accuracy, options.block_bits, source, max(spent), options.products)


def _plan(
    options: PlanOptions,
    accuracy: float,
    arguments: Mapping[str, Argument],
    outputs: Sequence[OutputFormat],
    traces: Sequence[TracedOutputs],
    laws: Sequence[LawTerm],
) -> Planned:
    """Return the plan of the first graph, unless the last takes a fraction of its operations."""
    refusals: list[BddTorqueError] = []
    made: list[Planned] = []
    for trace in traces:
        spent = spent_by(trace, laws)
        try:
            plan = _plan_graph(options, trace.graph, arguments, outputs, accuracy, trace.source, spent)
            made.append(Planned(with_laws(plan, laws, arguments, outputs), trace.errors))
        except BddTorqueError as refusal:
            refusals.append(refusal)
    if not made:
        raise refusals[0]
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

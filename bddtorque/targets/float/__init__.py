"""The target ``"float"``: IEEE floats, operation by operation, in the least precision that keeps the accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.node_ranges import node_ranges
from bddtorque.plan.plan import FLOAT, Plan
from bddtorque.proof.folding import folding_errors
from bddtorque.targets.builder import OutputFormat
from bddtorque.targets.extra_terms import LawTerm
from bddtorque.targets.float.float_dust import without_dust
from bddtorque.targets.float.float_planner import plan_floats
from bddtorque.targets.target import Planned, PlanOptions, Target, TracedOutputs
from bddtorque.words.argument import Argument, intervals
from bddtorque.words.bounded import ROOM


def _plan_graph(
    options: PlanOptions,
    graph: Graph,
    arguments: Mapping[str, Argument],
    outputs: Sequence[OutputFormat],
    accuracy: float,
    source: str,
    spent: Sequence[float],
    laws: Sequence[LawTerm] = (),
) -> Plan:
    return plan_floats(graph, arguments, outputs, accuracy, source, options.precision or "auto", spent, laws)


def _plan(
    options: PlanOptions,
    accuracy: float,
    arguments: Mapping[str, Argument],
    outputs: Sequence[OutputFormat],
    traces: Sequence[TracedOutputs],
    laws: Sequence[LawTerm],
) -> Planned:
    """Return the plan of the one graph, without numerical dust."""
    (trace,) = traces
    trace, charges, count = _without_dust(trace, arguments, outputs)
    spent = [error + charge for error, charge in zip(trace.errors, charges, strict=True)]
    plan = _plan_graph(options, trace.graph, arguments, outputs, accuracy, trace.source, spent, laws)
    return Planned(plan, trace.errors, charges, count)


def _without_dust(
    trace: TracedOutputs, arguments: Mapping[str, Argument], outputs: Sequence[OutputFormat]
) -> tuple[TracedOutputs, tuple[float, ...], int]:
    """Return a trace without numerical dust, what that costs each output in units, and how many summands are gone."""
    inputs = intervals(arguments)
    units = [float(output.lsb) for output in outputs]
    graph, charges, count = without_dust(trace.graph, inputs, units)
    if not count:
        return trace, charges, count
    # constants that met when a summand between them went were folded
    folded = folding_errors(graph, node_ranges(graph, inputs))
    errors = tuple(
        (error + other / unit) * ROOM for error, other, unit in zip(trace.errors, folded, units, strict=True)
    )
    return replace(trace, graph=graph, errors=errors), charges, count


FLOAT_TARGET = Target(
    FLOAT,
    "IEEE floats, operation by operation",
    frozenset({"precision"}),
    _plan_graph,
    _plan,
    only_traced=True,
)

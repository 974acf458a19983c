"""The target ``"float"``: IEEE floats, operation by operation, in the least precision that keeps the accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bddtorque.dynamics.node_ranges import folding_errors
from bddtorque.plan.plan import FLOAT, Plan
from bddtorque.targets.float.float_planner import plan_floats, without_dust
from bddtorque.targets.target import Planned, PlanTask, Target, TracedOutputs
from bddtorque.words.argument import intervals
from bddtorque.words.bounded import ROUND_UP


def _plan_graph(task: PlanTask, trace: TracedOutputs) -> Plan:
    precision = task.options.precision or "auto"
    return plan_floats(
        trace.graph, task.arguments, task.outputs, task.accuracy, trace.source, precision, trace.errors, task.laws
    )


def _plan(task: PlanTask, traces: Sequence[TracedOutputs]) -> Planned:
    """Return the plan of the one graph, without numerical dust."""
    (trace,) = traces
    trace, charges, count = _without_dust(task, trace)
    charged = tuple(error + charge for error, charge in zip(trace.errors, charges, strict=True))
    return Planned(_plan_graph(task, replace(trace, errors=charged)), trace.errors, charges, count)


def _without_dust(task: PlanTask, trace: TracedOutputs) -> tuple[TracedOutputs, tuple[float, ...], int]:
    """Return a trace without numerical dust, what that costs each output in units, and how many summands are gone."""
    inputs, units = intervals(task.arguments), [float(output.lsb) for output in task.outputs]
    graph, charges, count = without_dust(trace.graph, inputs, units)
    if not count:
        return trace, charges, count
    # constants that met when a summand between them went were folded
    folded = folding_errors(graph, inputs)
    errors = zip(trace.errors, folded, units, strict=True)
    return (
        replace(trace, graph=graph, errors=tuple((error + other / unit) * ROUND_UP for error, other, unit in errors)),
        charges,
        count,
    )


FLOAT_TARGET = Target(
    FLOAT,
    "IEEE floats, operation by operation",
    frozenset({"precision"}),
    _plan_graph,
    _plan,
    only_traced=True,
)

"""The target ``"integer"``: small tables and integers that the processor multiplies itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bddtorque.dynamics.graph import Graph
from bddtorque.plan.plan import INTEGER, Plan
from bddtorque.spec.chips import chip_named
from bddtorque.spec.resolve import ANY_CHIP
from bddtorque.targets.builder import OutputFormat
from bddtorque.targets.extra_terms import LawTerm
from bddtorque.targets.integer.integer_cost import plan_cycles
from bddtorque.targets.integer.integer_planner import plan_integers
from bddtorque.targets.target import Planned, PlanOptions, Target, TracedOutputs, spent_by, with_laws
from bddtorque.words.argument import Argument


def _plan_graph(
    options: PlanOptions,
    graph: Graph,
    arguments: Mapping[str, Argument],
    outputs: Sequence[OutputFormat],
    accuracy: float,
    source: str,
    spent: Sequence[float],
) -> Plan:
    chip = chip_named(options.chip or ANY_CHIP)
    return plan_integers(graph, arguments, outputs, accuracy, options.block_bits, source, chip, max(spent))


def _plan(
    options: PlanOptions,
    accuracy: float,
    arguments: Mapping[str, Argument],
    outputs: Sequence[OutputFormat],
    traces: Sequence[TracedOutputs],
    laws: Sequence[LawTerm],
) -> Planned:
    """Return the plan that takes the chip the fewest cycles."""
    chip, made = chip_named(options.chip or ANY_CHIP), []
    for trace in traces:
        spent = spent_by(trace, laws)
        plan = _plan_graph(options, trace.graph, arguments, outputs, accuracy, trace.source, spent)
        made.append(Planned(with_laws(plan, laws, arguments, outputs), trace.errors))
    return min(made, key=lambda planned: plan_cycles(planned.plan, chip))


INTEGER_TARGET = Target(
    INTEGER,
    "small tables and integers that the processor multiplies",
    frozenset({"chip", "flash"}),
    _plan_graph,
    _plan,
    compares_terms=True,
)

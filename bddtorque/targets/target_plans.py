"""The plan of traced outputs for a target: the same for torques and for every other quantity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.node_ranges import node_ranges
from bddtorque.plan.plan import Plan
from bddtorque.plan.plan_operations import native_operations
from bddtorque.proof.folding import folding_errors
from bddtorque.spec import Spec
from bddtorque.spec.chips import chip_named
from bddtorque.targets.builder import Target
from bddtorque.targets.extra_terms import COST, with_term
from bddtorque.targets.float.float_dust import without_dust
from bddtorque.targets.float.float_planner import LawTerm, plan_floats
from bddtorque.targets.integer.integer_cost import plan_cycles
from bddtorque.targets.integer.integer_planner import plan_integers
from bddtorque.targets.tables.budget import plan_network
from bddtorque.words.argument import Argument
from bddtorque.words.bounded import ROOM

TIMES_AS_MANY = 3.5
"""Operations of separate terms for each one of the recursion up to which tables are made of terms."""


@dataclass(frozen=True)
class TracedOutputs:
    """A graph that may be compiled."""

    source: str  # "terms" or "recursive"
    graph: Graph  # of all outputs
    errors: tuple[float, ...]  # how far each output can be from the true one, in units of its last bit


class Planned(NamedTuple):
    """A plan, and how far what it computes can be from the true outputs, in units of their last bits."""

    plan: Plan
    errors: tuple[float, ...]  # of the graph that it is made from
    dropped: tuple[float, ...] = ()  # by dust that a plan in floats leaves out
    dust: int = 0  # how many summands that is


def check_target(spec: Spec) -> None:
    """Refuse options that the target or the quantity of a spec does not take."""
    if spec.gains is not None and spec.quantity != "law":
        raise BddTorqueError(f"gains is only valid for quantity 'law', got '{spec.quantity}'{spec.at('gains')}")
    if spec.products != "auto" and spec.target != "tables":
        raise BddTorqueError(
            f"products is only valid for target 'tables', got '{spec.products}' with target '{spec.target}'"
            f"{spec.at('products')}"
        )
    if spec.precision is not None and spec.target != "float":
        raise BddTorqueError(
            f"precision is only valid for target 'float', got target '{spec.target}'{spec.at('precision')}"
        )
    if spec.chip is not None and spec.target != "integer":
        raise BddTorqueError(f"chip is only valid for target 'integer', got target '{spec.target}'{spec.at('chip')}")
    if spec.flash is not None and spec.target == "float":
        raise BddTorqueError(f"flash is only valid for targets 'tables' and 'integer', got 'float'{spec.at('flash')}")


def plan_for_target(
    spec: Spec,
    accuracy: float,
    arguments: Mapping[str, Argument],
    targets: Sequence[Target],
    traces: Sequence[TracedOutputs],
    laws: Sequence[LawTerm],
) -> Planned:
    """Return the plan for the target of a resolved spec, and how far what it computes is from the outputs.

    Of several graphs the one is taken whose plan costs a chip least; for tables the first, unless the last takes a
    fraction of its operations. `laws` are what is added to outputs.
    """
    if spec.target == "integer":
        chip, found = chip_named(str(spec.chip)), []
        for trace in traces:
            plan = plan_integers(
                trace.graph, arguments, targets, accuracy, spec.block_bits, trace.source, chip, _spent(trace, laws)
            )
            found.append((with_laws(plan, laws, arguments, targets), trace.errors))
        return Planned(*min(found, key=lambda each: plan_cycles(each[0], chip)))
    if spec.target == "float":
        (trace,) = traces
        precision = spec.precision or "auto"
        trace, charges, count = _without_dust(trace, arguments, targets)
        known = [error + charge for error, charge in zip(trace.errors, charges, strict=True)]
        floats = plan_floats(trace.graph, arguments, targets, accuracy, trace.source, precision, known, list(laws))
        return Planned(floats, trace.errors, charges, count)
    refusals: list[BddTorqueError] = []
    made: list[tuple[Plan, tuple[float, ...]]] = []
    for trace in traces:
        spent = _spent(trace, laws)
        try:
            words = plan_network(
                trace.graph, arguments, targets, accuracy, spec.block_bits, trace.source, spent, spec.products
            )
            made.append((with_laws(words, laws, arguments, targets), trace.errors))
        except BddTorqueError as refusal:
            refusals.append(refusal)
    if not made:
        raise refusals[0]
    first, last = native_operations(made[0][0]), native_operations(made[-1][0])
    return Planned(*made[-1 if first > TIMES_AS_MANY * last else 0])


def _without_dust(
    trace: TracedOutputs, arguments: Mapping[str, Argument], targets: Sequence[Target]
) -> tuple[TracedOutputs, tuple[float, ...], int]:
    """Return a trace without numerical dust, what that costs each output in units, and how many summands are gone."""
    inputs = {name: each.interval() for name, each in arguments.items() if each.kind == "word"}
    units = [float(target.lsb) for target in targets]
    graph, charges, count = without_dust(trace.graph, inputs, units)
    if not count:
        return trace, charges, count
    # constants that met when a summand between them went were folded
    folded = folding_errors(graph, node_ranges(graph, inputs))
    errors = tuple(
        (error + other / unit) * ROOM for error, other, unit in zip(trace.errors, folded, units, strict=True)
    )
    return replace(trace, graph=graph, errors=errors), charges, count


def _spent(trace: TracedOutputs, laws: Sequence[LawTerm]) -> float:
    return max(trace.errors) + (COST if laws else 0.0)


def with_laws(
    plan: Plan, laws: Sequence[LawTerm], arguments: Mapping[str, Argument], targets: Sequence[Target]
) -> Plan:
    """Return a plan with laws added to its outputs, one table of an input word each."""
    for law in laws:
        plan = with_term(plan, law.output, law.law, law.name, arguments[law.name], targets[law.output].sign)
    return plan

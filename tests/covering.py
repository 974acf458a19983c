"""Covers with as many guard bits as an accuracy takes: the paper's cover tried beyond the paper's own rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.graph import Graph
from bddtorque.plan.bound import compose_bounds, planned_facts
from bddtorque.plan.plan import Plan, check_widths
from bddtorque.targets.builder import OutputFormat
from bddtorque.targets.tables.budget import RESERVE
from bddtorque.targets.tables.cover import Choices, cover
from bddtorque.words.argument import Argument

MAX_GUARD = 24
MARGINS = (1, 2, 3, 4, 6, 8)


def plan_within(
    graph: Graph, arguments: Mapping[str, Argument], targets: Sequence[OutputFormat], accuracy: float, block_bits: int
) -> Plan:
    """Return the plan with the fewest guard bits whose bound is below `accuracy` units for every output."""
    scales = {name: argument.scale for name, argument in arguments.items()}
    wanted = accuracy - RESERVE
    guard = [0] * len(targets)
    while True:
        for margin in MARGINS:
            plan = cover(graph, arguments, targets, Choices(tuple(guard), margin), block_bits)
            bounds = [bound.total for bound in compose_bounds(plan, scales, planned_facts(plan.blocks))]
            if max(bounds) < wanted:
                check_widths(plan)
                return plan
        wide = [place for place, bound in enumerate(bounds) if bound >= wanted]
        for place in wide:
            guard[place] += 1
            if guard[place] > MAX_GUARD:
                raise BddTorqueError(
                    f"accuracy of {targets[place].name}: {accuracy:g} units cannot be met, "
                    f"{bounds[place]:.3g} is proved with {MAX_GUARD} guard bits: above 0.5 units would work"
                )

"""Choose word lengths: the fewest guard bits with which the composed bound keeps the promised accuracy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bddtorque.errors import BddTorqueError
from bddtorque.plan.bound import compose, planned_facts
from bddtorque.plan.cover import Choices, Target, cover
from bddtorque.plan.plan import Plan
from bddtorque.trace.graph import Graph
from bddtorque.words.argument import Argument

MOST_GUARD = 24
MARGINS = (1, 2, 3, 4, 6, 8)
RESERVE = 1e-3
"""Units left for what only shows later: float evaluation, the Fourier step, constants."""


def paper_extra_bits(summands: int) -> int:
    """Return m = int(log2(p + 1)), the paper's extra bits for p terms (BDD2R, digest 4.3)."""
    return int(math.log2(summands + 1))


def plan_within(
    graph: Graph, arguments: Mapping[str, Argument], targets: Sequence[Target], accuracy: float, block_bits: int
) -> Plan:
    """Return the plan with the fewest guard bits whose bound is below `accuracy` units for every output."""
    scales = {name: argument.scale for name, argument in arguments.items()}
    wanted = accuracy - RESERVE
    guard = [0] * len(targets)
    while True:
        for margin in MARGINS:
            plan = cover(graph, arguments, targets, Choices(tuple(guard), margin), block_bits)
            bounds = [bound.total for bound in compose(plan, scales, planned_facts(plan))]
            if max(bounds) < wanted:
                return plan
        wide = [place for place, bound in enumerate(bounds) if bound >= wanted]
        for place in wide:
            guard[place] += 1
            if guard[place] > MOST_GUARD:
                raise BddTorqueError(
                    f"accuracy of {targets[place].name}: {accuracy:g} units cannot be kept, "
                    f"{bounds[place]:.3g} is proved with {MOST_GUARD} guard bits: above 0.5 units would do"
                )


def plan_by_paper(
    graph: Graph, arguments: Mapping[str, Argument], targets: Sequence[Target], extra: Sequence[int], block_bits: int
) -> Plan:
    """Return the paper's plan: summands of r + m bits, and words of r + m bits inside cascades."""
    widths = tuple(
        (target.high - target.low + 1).bit_length() - 1 + m for target, m in zip(targets, extra, strict=True)
    )
    plan = cover(graph, arguments, targets, Choices(tuple(extra), 0, widths), block_bits)
    return replace(plan, source="terms")

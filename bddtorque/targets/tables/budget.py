"""Choose word lengths, so that the composed bound keeps the promised accuracy; or by the paper's rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.graph import Graph
from bddtorque.plan.bound import compose_bounds, planned_facts
from bddtorque.plan.plan import Plan, check_widths
from bddtorque.plan.plan_cost import table_cost
from bddtorque.targets.angles import Combination, with_angle_sums
from bddtorque.targets.builder import OutputFormat
from bddtorque.targets.network import DIRECT_BITS, Network, NetworkReader
from bddtorque.targets.sizing import size
from bddtorque.targets.tables.cover import Choices, cover
from bddtorque.targets.tables.layout import NetworkLayout
from bddtorque.targets.target import plan_each
from bddtorque.words.argument import Argument

MAX_TRIES = 40
RESERVE = 1e-3
"""Units left for what only shows later: errors of tables as found, rounded up."""


def plan_network(
    graph: Graph,
    arguments: Mapping[str, Argument],
    targets: Sequence[OutputFormat],
    accuracy: float,
    block_bits: int,
    source: str,
    spent: float = 0.0,
    products: str = "auto",
) -> Plan:
    """Return a plan whose bound is below `accuracy` units for every output, with words no finer than it takes.

    Terms of few input bits may be one table each, or products of smaller ones: of these plans, the cheapest is taken.
    Words are sized for first-order errors; constants and products of errors come on top, so the share given to
    roundings is reduced until the composed bound holds. `spent` is what the graph itself can be off, in units of an
    output: so much less is left for the plan. `products` is how tables multiply two words.
    """
    rewritten, sums = with_angle_sums(graph, arguments)
    known = {**arguments, **{name: sums[name].argument(arguments) for name in sums}}
    # who multiplies by blocks alone wants them as large as they go
    choices = (block_bits,) if products == "blocks" else DIRECT_BITS
    networks: dict[tuple[int, ...], Network] = {}
    for direct_bits in choices if source != "recursive" else choices[:1]:
        network = NetworkReader(rewritten, known, block_bits, source != "recursive", direct_bits).network()
        networks.setdefault(tuple(network.tables), network)

    def plan_one(network: Network) -> Plan:
        return _plan_within(network, arguments, targets, sums, accuracy, spent, block_bits, source, products)

    return min(plan_each(plan_one, networks.values()), key=table_cost)


def _plan_within(
    network: Network,
    arguments: Mapping[str, Argument],
    targets: Sequence[OutputFormat],
    sums: Mapping[str, Combination],
    accuracy: float,
    spent: float,
    block_bits: int,
    source: str,
    products: str,
) -> Plan:
    """Return the plan of one network; see `plan_network`."""
    scales = {name: argument.scale for name, argument in arguments.items()}
    wanted = bound_to_keep(accuracy, spent)
    share = wanted - 0.5
    for _ in range(MAX_TRIES):
        sizes = size(network, [float(each.lsb) for each in targets], share)
        plan = NetworkLayout(network, sizes, sums, block_bits, share, products).plan(targets, source)
        check_widths(plan)
        bounds = [bound.total for bound in compose_bounds(plan, scales, planned_facts(plan.blocks))]
        if max(bounds) < wanted:
            return plan
        share *= min(0.95, (wanted - 0.5) / (max(bounds) - 0.5))
    worst = bounds.index(max(bounds))
    raise BddTorqueError(
        f"accuracy of {targets[worst].name}: {accuracy:g} units cannot be met, {bounds[worst]:.3g} is proved: "
        "a larger accuracy or fewer bits would work",
        option="accuracy",
    )


def bound_to_keep(accuracy: float, spent: float) -> float:
    """Return what the bound of a plan must be below: the accuracy asked for, less what is spent; refuse too little."""
    wanted = accuracy - RESERVE - spent
    if wanted <= 0.5:
        raise BddTorqueError(
            f"accuracy must be above {0.5 + RESERVE + spent:.3g} units, got {accuracy:g}: rounding the outputs "
            f"takes 0.5 units and float arithmetic {spent:.3g}: a larger accuracy or fewer bits would work",
            option="accuracy",
        )
    return wanted


def plan_by_paper(
    graph: Graph,
    arguments: Mapping[str, Argument],
    targets: Sequence[OutputFormat],
    extra: Sequence[int],
    block_bits: int,
    products: str = "auto",
) -> Plan:
    """Return the paper's plan: summands of r + m bits, and words of r + m bits inside cascades."""
    widths = tuple(
        (target.high - target.low + 1).bit_length() - 1 + m for target, m in zip(targets, extra, strict=True)
    )
    plan = cover(graph, arguments, targets, Choices(tuple(extra), 0, widths), block_bits, products)
    check_widths(plan)
    return plan

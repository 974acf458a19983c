"""Plans for machine integers: words of a network, laid out for the processor's own multiplication.

Every sum that is read more than once is made once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.graph import Graph, Op
from bddtorque.plan.bound import compose_bounds, planned_facts
from bddtorque.plan.plan import Plan, check_widths
from bddtorque.plan.wires import Product
from bddtorque.spec.chips import Chip
from bddtorque.targets.angles import Combination, with_angle_sums
from bddtorque.targets.builder import OutputFormat
from bddtorque.targets.integer.integer_cost import cost_model, plan_cycles
from bddtorque.targets.integer.integer_search import UniformWords, WordSearch
from bddtorque.targets.integer.integer_sizing import PRODUCT_TOLERANCE, Sizer, is_power
from bddtorque.targets.network import Network, NetworkReader
from bddtorque.targets.sizing import WordSizes
from bddtorque.targets.tables.budget import bound_to_keep
from bddtorque.targets.tables.layout import NetworkLayout, SumPart
from bddtorque.targets.target import plan_each
from bddtorque.words.argument import Argument
from bddtorque.words.rounding import half_up

FINEST_CONSTANT, SMALL = range(0, -8, -1), Fraction(1, 256)
"""Steps that the constant of a sum may be a multiple of, and units that it may be off: the last step is enough."""
CONSTANT_BITS = 7
"""Bits below a unit that are kept of a constant."""
MAX_TRIES = 12
BUDGET_DECAY = 0.98
"""Part of the budget that is left for each next try."""
MIN_GAIN = 1.05
"""Outputs whose summands are scaled one by one need more constants: taken if they seem to save more than this."""


class _IntegerReader(NetworkReader):
    """Reads a graph for a processor that multiplies.

    Only sines and cosines become tables, and one table serves them all. Sums cost what they cost, so each is made
    once, wherever it is read twice or scaled. With `scaled_outputs` a sum that is given out is made in its own unit,
    and then scaled to that of the output; else its summands are scaled, one by one.
    """

    def __init__(self, graph: Graph, arguments: Mapping[str, Argument], block_bits: int, scaled_outputs: bool) -> None:
        self.scaled_outputs = scaled_outputs
        super().__init__(graph, arguments, block_bits, direct_summands=False)

    def must_be_words(self) -> set[int]:
        words = super().must_be_words()
        nodes = self.graph.nodes
        readers = [0] * len(nodes)
        for reference in [*self.graph.outputs, *(operand for node in nodes for operand in node.operands)]:
            readers[reference >> 1] += 1
        shared = {index for index, count in enumerate(readers) if count > 1}
        products = [node for node in nodes if node.op is Op.PRODUCT]
        scaled = {node.right >> 1 for node in products if nodes[node.left >> 1].op is Op.CONSTANT}
        given = {reference >> 1 for reference in self.graph.outputs} if self.scaled_outputs else set()
        sums = {index for index, node in enumerate(nodes) if node.op is Op.SUM}
        return words | (sums & (shared | scaled | given))

    def is_table(self, index: int) -> bool:
        return self.graph.nodes[index].op in (Op.SINE, Op.COSINE)


class IntegerLayout(NetworkLayout):
    """Lays out a network in machine integers."""

    target = "integer"

    def __init__(
        self, sizer: Sizer, exponents: Mapping[int, int], sums: Mapping[str, Combination], block_bits: int
    ) -> None:
        sizes = WordSizes(dict(exponents), sizer.dropped)
        super().__init__(sizer.network, sizes, sums, block_bits, 1.0, "native")
        self.product_tolerance = PRODUCT_TOLERANCE
        self.sizer = sizer
        self.cut_off = sizer.only_summed(exponents)

    def keeps_constant(self, key: int) -> bool:
        """Return whether a sum has its own constant; leaving it to sums that have one anyway saves an addition."""
        return key not in self.cut_off

    def step_of(self, node: int) -> Fraction:
        """Return the value of one step of a word."""
        return self.sizer.units[node] * super().step_of(node)

    def is_power(self, ratio: Fraction) -> bool:
        """Return whether a factor is as good as a power of two: units are kept to a few bits only."""
        return is_power(float(ratio))

    def whole_constant(self, constant: Fraction, shift: int) -> int:
        """Return constant·2^shift so that it has few bits together with the half that the sum is rounded by."""
        half, step = 1 << shift >> 1, 1 << max(0, shift - CONSTANT_BITS)
        return half_up((constant * (1 << shift) + half) / step) * step - half

    def factors(self, key: int, parts: Sequence[SumPart], constant: Fraction) -> tuple[int, list[int]]:
        """Return the shift of a sum, from its finest summand, and its factors, each as fine as was decided."""
        exponents = self.sizes.exponents
        own = 0 if key < 0 else exponents[key]
        # a product that was rounded is coarser than its words say
        steps = [
            self.sizer.summand((key, part.monomial), exponents) - own + self._rounded_bits(part.wire) for part in parts
        ]
        finest = min([0, *steps])
        if finest:  # rounded in any case, so that its constant may be as fine as it has to be
            off = [abs(constant - Fraction(half_up(constant * (1 << -step)), 1 << -step)) for step in FINEST_CONSTANT]
            finest = min(finest, next(step for step, each in zip(FINEST_CONSTANT, off, strict=True) if each <= SMALL))
        factors = [
            half_up(part.ratio / Fraction(2) ** step) << (step - finest)
            for part, step in zip(parts, steps, strict=True)
        ]
        return -finest, factors

    def _rounded_bits(self, wire: int) -> int:
        product = self.wires[wire]
        return product.shift if isinstance(product, Product) else 0


def plan_integers(
    graph: Graph,
    arguments: Mapping[str, Argument],
    targets: Sequence[OutputFormat],
    accuracy: float,
    block_bits: int,
    source: str,
    chip: Chip,
    spent: float = 0.0,
) -> Plan:
    """Return a plan in machine integers whose bound is below `accuracy` units for every output.

    Of those found it is the one that takes the chip the fewest cycles. `spent` is what the graph itself can be off, in
    units of an output: so much less is left for the plan.
    """
    rewritten, sums = with_angle_sums(graph, arguments)
    known = {**arguments, **{name: sums[name].argument(arguments) for name in sums}}
    wanted = bound_to_keep(accuracy, spent)

    def plan_scaled(scaled_outputs: bool) -> Plan:
        network = _IntegerReader(rewritten, known, block_bits, scaled_outputs).network()
        return _plan_within(network, arguments, sums, targets, wanted, block_bits, source, chip)

    found = plan_each(plan_scaled, (True, False))
    return min(found, key=lambda plan: plan_cycles(plan, chip) * (1.0 if plan is found[0] else MIN_GAIN))


def _plan_within(
    network: Network,
    arguments: Mapping[str, Argument],
    sums: Mapping[str, Combination],
    targets: Sequence[OutputFormat],
    wanted: float,
    block_bits: int,
    source: str,
    chip: Chip,
) -> Plan:
    """Return a plan of a network whose bound is below what is `wanted`."""
    scales = {name: argument.scale for name, argument in arguments.items()}
    sizer = Sizer(network, [each.lsb for each in targets], wanted - 0.5)
    search = UniformWords(sizer) if chip.model == "uniform" else WordSearch(sizer, cost_model(chip))
    allowed, tighter = np.full(len(targets), wanted - 0.5), 1.0
    choice = search.start(allowed)
    for _ in range(MAX_TRIES):
        plan = IntegerLayout(sizer, choice.exponents, sums, block_bits).plan(targets, source)
        bounds = np.array([bound.total for bound in compose_bounds(plan, scales, planned_facts(plan.blocks))])
        if bounds.max() < wanted and choice.searched:
            check_widths(plan)
            return plan
        # errors to first order are larger than composed ones, by a factor that hardly depends on the words
        comparable = (choice.errors > 0) & (bounds > 0.5)  # an output that is a whole sum is not rounded by half a unit
        factors = np.divide(choice.errors, bounds - 0.5, out=np.ones(len(targets)), where=comparable)
        tighter *= BUDGET_DECAY
        choice = search.find((wanted - 0.5) * tighter * factors)
    worst = int(bounds.argmax())
    raise BddTorqueError(
        f"accuracy of {targets[worst].name}: {wanted:.4g} units cannot be met, {bounds[worst]:.3g} is proved: "
        "a larger accuracy or fewer bits would work",
        option="accuracy",
    )

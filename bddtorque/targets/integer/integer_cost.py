"""Costs of machine integers on a chip: cycles of products and sums by the bits of their words.

An estimate to choose by. What a compiler makes of the exported code is measured by `bddtorque bench --chip`.
"""

from __future__ import annotations

from bddtorque.plan.plan import Plan
from bddtorque.plan.plan_cost import exact_bits
from bddtorque.plan.wires import AngleSum, Lookup, Output, Product, Sum
from bddtorque.spec.chips import Chip

SMALL_CONSTANT = 255
"""Largest constant that fits an instruction of any chip."""
MAX_HALVES = 40
"""Bits of a sum that is still put together from two halves of 32 bits: of products of 20 by 18, say."""


class CycleModel:
    """The costs of one chip.

    `finer` are fractions of an equal share for each rounding that a search starts from, where there are at most
    `few_words` to choose; else it takes the first one only.
    """

    finer: tuple[float, ...] = (1.0, 0.7, 0.5)
    few_words = 60

    def __init__(self, chip: Chip) -> None:
        self.chip = chip
        self.costs = chip.costs
        add, multiply, shift = self.costs.add, self.costs.multiply, self.costs.shift
        # a product in two halves of 32 bits: two products and a sum, and one word taken apart (a shift and a mask)
        self.wide_product = min(2 * multiply[1] + 2 * add[1] + shift[1], multiply[2] + add[2] - add[1])
        self.widest_product = max(2 * self.wide_product, multiply[2] + add[2] - add[1])
        # joining the halves of a sum
        self.wide_sum = min(2 * (shift[1] + add[1]), add[2] - add[1] + shift[2] - shift[1])

    def product(self, left: int, right: int, exact: int) -> float:
        """Return the cycles of a product of words of so many bits, computed in `exact` bits."""
        if left <= 16 and right <= 16:
            return self.costs.multiply[0]
        if exact <= 32:
            return self.costs.multiply[1]
        return self.wide_product if exact <= MAX_HALVES else self.widest_product

    def sum(self, terms: int, bits: int) -> float:
        """Return the cycles of so many additions in a sum of so many bits, the fewer beyond a register the better."""
        if bits <= 32:
            return terms * self.addition(bits)
        beyond = (bits - 32) / 4
        if bits <= MAX_HALVES:
            return terms * self.costs.add[1] + self.wide_sum + beyond
        return terms * 2 * self.costs.add[2] + self.costs.shift[2] + beyond

    def constant_factor(self, bits: int) -> float:
        """Return the cycles of a product with a constant, computed in so many bits."""
        return self.costs.constant + self.product(32, 32, bits)

    def addition(self, bits: int) -> int:
        """Return the cycles of one addition in a sum of so many bits."""
        return self.costs.add[0] if bits <= 16 else self.costs.add[1]

    def rounding(self, shift: int, bits: int) -> int:
        """Return the cycles of floor(x/2^shift + 1/2) for an x of so many bits."""
        if not shift:
            return 0
        constant = self.costs.constant if 1 << shift >> 1 > SMALL_CONSTANT else 0
        return self.addition(bits) + constant + self.costs.shift_by(shift, 16 if bits <= 16 else 32)


class AreaModel(CycleModel):
    """The costs of a circuit: bits of adders, and rows of them for a product. No bit is free."""

    finer = (1.0, 0.25, 0.0625)
    few_words = 1 << 30

    def product(self, left: int, right: int, exact: int) -> float:
        """Return the bits of the adders of a product."""
        return float(left * right)

    def sum(self, terms: int, bits: int) -> float:
        """Return the bits of the adders of a sum."""
        return float(terms * bits)

    def constant_factor(self, bits: int) -> float:
        """Return the bits of the adders of a product with a constant: four digits of it or so."""
        return 2.5 * bits

    def addition(self, bits: int) -> int:
        """Return the bits of an adder."""
        return bits

    def rounding(self, shift: int, bits: int) -> int:
        """Return the bits of the adder that rounds."""
        return max(bits - shift, 0) if shift else 0


def cost_model(chip: Chip) -> CycleModel:
    """Return what a chip is planned by."""
    return AreaModel(chip) if chip.model in ("area", "uniform") else CycleModel(chip)


def plan_cycles(plan: Plan, chip: Chip) -> float:
    """Return the cycles of a plan on a chip, about: what all plans of a robot have in common is left out."""
    model = cost_model(chip)
    total = 0.0
    for k in plan.read:
        wire = plan.wires[k]
        if isinstance(wire, AngleSum):
            total += len(wire.parts) * model.addition(wire.bits)
        elif isinstance(wire, Lookup):
            total += chip.costs.load[1 if plan.bits_of(k) <= 16 else 2]
        elif isinstance(wire, Product) and wire.shift:
            bits = exact_bits(plan, wire)
            total += model.product(plan.bits_of(wire.left), plan.bits_of(wire.right), bits)
            total += model.rounding(wire.shift, bits)
        elif isinstance(wire, Sum):
            total += _sum_cycles(plan, wire, model)
    return total + sum(_sum_cycles(plan, output, model) for output in plan.outputs)


def _sum_cycles(plan: Plan, wire: Sum | Output, model: CycleModel) -> float:
    """Return the cycles of a sum, and of the products in it that are not rounded before."""
    bits = exact_bits(plan, wire)
    total = model.sum(len(wire.parts), bits) + model.rounding(wire.shift, bits)
    for source, factor in wire.parts:
        part = plan.wires[source]
        if isinstance(part, Product) and not part.shift:
            total += model.product(plan.bits_of(part.left), plan.bits_of(part.right), bits)
        if abs(factor) & (abs(factor) - 1):
            total += model.constant_factor(bits)
        elif abs(factor) > 1:
            total += model.costs.shift_by(abs(factor).bit_length() - 1)
    return total

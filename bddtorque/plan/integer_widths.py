"""Bits that machine integers need on the way to a word: products and sums before they are rounded."""

from __future__ import annotations

from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import Output, Product, Sum
from bddtorque.words.integer_range import Range


def exact_bits(plan: Plan, wire: Product | Sum | Output) -> int:
    """Return the bits of the register that a product or a sum is computed in, with half a unit to round it by.

    Registers add and multiply modulo 2^bits. So partial sums, and products that are not rounded themselves, may be
    larger, as long as the word that comes out is known to fit.
    """
    half = 1 << wire.shift >> 1
    if isinstance(wire, Product):
        reach = plan.range_of(wire.left) * plan.range_of(wire.right)
        return Range(reach.low, reach.high + half).bits
    start = Range(wire.constant + half, wire.constant + half)
    bits = sum((plan.range_of(source) * factor for source, factor in wire.parts), start=start).bits
    return min(bits, Range(wire.low, wire.high).bits + wire.shift) if isinstance(wire, Sum) else bits


def wide_operations(plan: Plan, register: int = 32) -> list[tuple[str, int]]:
    """Return the products and sums that need more bits than a register has, by name, with their bits.

    A product that is not rounded counts with the sum that it is in.
    """
    factors = {factor for wire in plan.wires if isinstance(wire, Product) for factor in wire.sources}
    products = [wire for k, wire in enumerate(plan.wires) if isinstance(wire, Product) and (wire.shift or k in factors)]
    operations = [*products, *plan.sums]
    found = ((f"{getattr(wire, 'kind', 'output')} {wire.name}", exact_bits(plan, wire)) for wire in operations)
    return [(name, bits) for name, bits in found if bits > register]

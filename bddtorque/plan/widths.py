"""Whether the words of a plan fit where they go: tables, products and sums of 64-bit integers."""

from __future__ import annotations

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.plan import Output, Plan, Product, Sum, output_format

MOST_TABLE_BITS = 31
"""Bits of the word of a table: evaluators keep all tables as 32-bit integers."""
MOST_BITS = 62
"""Bits of a product or a sum, with room for rounding."""


def check_widths(plan: Plan, where: str = "plan") -> None:
    """Refuse a plan whose words do not fit a look-up index, a table, a product or a sum, and name the wire."""
    for k, wire in enumerate(plan.wires):
        block = getattr(wire, "block", -1)
        if block >= 0:
            bits = output_format(plan.blocks[block])[0]
            if bits > MOST_TABLE_BITS:
                raise BddTorqueError(
                    f"{where}, wire {k} ('{wire.name:.40}'): a table of at most {MOST_TABLE_BITS} bits required, "
                    f"{bits} bits needed: fewer bits, narrower ranges or a larger accuracy would do"
                )
        if isinstance(wire, Product):
            _check_product(plan, wire, f"{where}, wire {k} ('{wire.name:.40}')")
    sums: list[Sum | Output] = [wire for wire in plan.wires if isinstance(wire, Sum)]
    for each in [*sums, *plan.outputs]:
        total = sum(abs(factor) << (plan.bits_of(wire) - 1) for wire, factor in each.parts) + abs(each.constant)
        if total.bit_length() > MOST_BITS:
            raise BddTorqueError(
                f"{where}, '{each.name:.40}': a sum of at most {MOST_BITS} bits required, {total.bit_length()} needed"
            )


def _check_product(plan: Plan, wire: Product, where: str) -> None:
    bits = plan.bits_of(wire.left), plan.bits_of(wire.right)
    widths = plan.blocks[wire.block].input_widths
    fits = sum(bits) <= MOST_BITS
    if wire.method == "block":
        fits = fits and bits[0] <= widths[0] and bits[1] <= widths[1]
    elif wire.method == "squares":
        fits = fits and max(bits) < widths[0]
    if not fits:
        raise BddTorqueError(f"{where}: words that fit their product required, {bits} bits given")

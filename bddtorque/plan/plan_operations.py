"""Operations of each kind that one state takes: where nothing is multiplied, and where the processor does."""

from __future__ import annotations

from collections import Counter

from bddtorque.plan.blocks import Block, output_format
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import AngleSum, Lookup, Output, Product, Sum
from bddtorque.words.integer_range import Range

FREE_BYTES = 16 << 10
"""Bytes of tables that cost nothing: half the first level of a common cache holds them."""
SQUARE_SUMS = 3
"""Sums of a product by quarter squares: a + b, a − b, and the difference of their squares."""


def look_ups(plan: Plan, native: bool) -> dict[int, int]:
    """Return how often each block is looked up for one state, at most; with `native` products, or from tables alone."""
    counts: Counter[int] = Counter()
    for wire in plan.wires:
        if isinstance(wire, Lookup):
            counts[wire.block] += 1
        elif isinstance(wire, Product) and not native:
            counts[wire.block] += product_look_ups(plan, wire)
    return counts


def product_look_ups(plan: Plan, wire: Product) -> int:
    """Return the look-ups of a product taken by tables."""
    if wire.method in ("blocks", "squares"):
        return 1 if wire.method == "blocks" else 2
    return partial_look_ups(plan.range_of(wire.left), plan.range_of(wire.right), wire.piece_bits)


def partial_look_ups(left: Range, right: Range, bits: int) -> int:
    """Return the look-ups of a product of two words in pieces of so many bits, at most."""
    return -(-left.magnitude.bit_length() // bits) * -(-right.magnitude.bit_length() // bits)


def additions(plan: Plan) -> int:
    """Return the additions of one state, those of products from tables among them."""
    total = 0
    for wire in (*plan.wires, *plan.outputs):
        if isinstance(wire, Sum | Output | AngleSum):
            total += max(len(wire.parts) - 1 + (wire.constant != 0), 0)
        elif isinstance(wire, Product) and wire.method != "native":
            total += SQUARE_SUMS if wire.method == "squares" else product_look_ups(plan, wire) - 1
    return total


def native_operations(plan: Plan) -> int:
    """Return the look-ups, products and summands of one state where the processor multiplies: what a PC runs."""
    summands = sum(
        len(wire.parts) for wire in (*plan.wires, *plan.outputs) if isinstance(wire, Sum | Output | AngleSum)
    )
    return sum(look_ups(plan, native=True).values()) + plan.counts()["products"] + summands


def table_bytes(block: Block) -> int:
    """Return the bytes of the dense table of a block: words of 8, 16 or 32 bits."""
    bits = output_format(block)[0]
    return (1 if bits <= 8 else 2 if bits <= 16 else 4) << sum(block.input_widths)


def table_cost(plan: Plan) -> int:
    """Return what plans made of tables are compared by: operations of one state, times the bytes of all tables.

    A table twice as large is worth its place only if it saves half of the operations. So the plan for one bit less is
    never much larger than the next one, whichever way it multiplies.
    """
    operations = sum(look_ups(plan, native=False).values()) + additions(plan)
    return operations * max(sum(map(table_bytes, plan.blocks)), FREE_BYTES)

"""Whether the words of a plan fit where they go: tables, products and sums of 64-bit integers."""

from __future__ import annotations

from .findings import require
from .plan import Block, Plan, Wire

MAX_BITS = 62


def check_widths(plan: Plan) -> None:
    """Refuse words that do not fit: look-ups, products with their tables, sums and products of 62 bits."""
    for place, wire in enumerate(plan.wires):
        where = f"plan, wire {place} ('{wire.name:.40}')"
        if wire.kind == "lookup":
            block = plan.blocks[wire.block]
            widths = tuple(plan.bits_of(each) for each in wire.wires)
            require(block.kind not in ("product", "square"), f"{where}: expected a table of a function")
            require(widths == block.widths, f"{where}: expected words of {block.widths} bits, got {widths}")
        elif wire.kind == "product":
            bits = plan.bits_of(wire.wires[0]), plan.bits_of(wire.wires[1])
            require(sum(bits) <= MAX_BITS, f"{where}: expected a product of at most {MAX_BITS} bits")
            if plan.target == "integer":
                require(wire.method == "native" and not wire.piece_bits, f"{where}: expected a native product")
            else:
                fits = wire.block >= 0 and _serves(plan.blocks[wire.block], wire, bits)
                require(fits, f"{where}: expected a table that serves the product")
    for each in (*(wire for wire in plan.wires if wire.kind == "sum"), *plan.outputs):
        most = abs(each.constant) + sum(abs(factor) << (plan.bits_of(part) - 1) for part, factor, _ in each.parts)
        require(most.bit_length() <= MAX_BITS, f"'{each.name:.40}': expected a sum of at most {MAX_BITS} bits")


def _serves(block: Block, wire: Wire, bits: tuple[int, int]) -> bool:
    limb = wire.piece_bits
    if wire.method == "blocks":
        fits = bits[0] <= block.widths[0] and bits[1] <= block.widths[1] if block.kind == "product" else False
        return fits and block.signed and block.shift == wire.shift and not limb
    if wire.method == "partial":
        return block.kind == "product" and not block.signed and block.shift == 0 and block.widths == (limb, limb)
    return wire.method == "squares" and block.kind == "square" and max(bits) < block.widths[0] and not limb

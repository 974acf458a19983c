"""A cost model of fixed numbers: what a form of a block costs in bytes and dependent loads, never in seconds.

Timings would make plans differ from machine to machine; bytes and loads do not.
"""

from __future__ import annotations

from dataclasses import dataclass

from bddtorque.diagrams.table import word_dtype
from bddtorque.plan.plan import Block, Plan, Product

NODE_BYTES = 10
"""A packed diagram node: its level, and two edges."""


@dataclass(frozen=True)
class Candidate:
    """One way to have a block or a product: its name, bytes of tables, loads one after another, and for whom it is.

    Attributes
    ----------
    chosen : whether the plan has it
    reason : why, or why not
    """

    name: str
    bytes: int
    loads: int
    depth: int
    chosen: bool
    reason: str


def block_candidates(block: Block, output_bits: int, signed: bool) -> list[Candidate]:
    """Return the forms a block can be evaluated in; the evaluator `words` takes the first, `bits` the last."""
    inputs = sum(block.input_widths)
    rows = 1 << inputs
    dense = rows * word_dtype(output_bits, signed).itemsize
    worst = min(rows, 1 << output_bits) * NODE_BYTES * max(1, inputs // 2)
    return [
        Candidate("dense", dense, 1, 1, True, "words: one load, whole or folded by symmetry"),
        Candidate("multi_terminal", worst, inputs, inputs, False, f"{inputs} dependent loads against one"),
        Candidate("bits", worst, inputs * output_bits, inputs, True, "bits: the paper's evaluator, one test at a time"),
    ]


def product_candidates(plan: Plan, wire: Product) -> list[Candidate]:
    """Return the ways to take a product of two words, and why the plan has the one it has."""
    widths = plan.bits_of(wire.left), plan.bits_of(wire.right)
    magnitudes = [max(width - 1, 1) for width in widths]
    together, widest = sum(widths), max(widths)
    limb = wire.limb_bits or min(plan.block_bits // 2, -(-widest // 2))
    pieces = (-(-magnitudes[0] // limb)) * (-(-magnitudes[1] // limb))
    found = [
        (
            "block",
            (1 << together) * 4 if together <= 26 else 0,
            1,
            "one load" if together <= plan.block_bits else f"{together} input bits, block_bits is {plan.block_bits}",
        ),
        ("squares", (1 << widest) * 4 if widest <= 26 else 0, 2, f"a shared table of {widest + 1} bits, two loads"),
        ("limbs", (1 << 2 * limb) * 4, pieces, f"a shared table of {limb} by {limb} bits, {pieces} loads"),
        ("native", 0, 0, "the host's own multiplication"),
    ]
    return [Candidate(name, size, loads, 1, name == wire.method, reason) for name, size, loads, reason in found]

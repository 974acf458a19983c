"""A cost model of fixed numbers: what a form of a block costs in bytes and loads, never in seconds.

Timings would make plans differ from machine to machine; bytes and loads do not. Loads that do not wait for each other
count for `loads` and not for `depth`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bddtorque.diagrams.table import word_dtype
from bddtorque.plan.layout import WIDEST_SQUARE
from bddtorque.plan.plan import Block, Plan, Product, output_format

NODE_BYTES = 9
"""A node of a lowered diagram: the position of the bit it tests, and two successors."""
TABLE_WORD_BYTES = 4
"""An entry of the tables that products share."""


@dataclass(frozen=True)
class Candidate:
    """One way to have a block or a product.

    Attributes
    ----------
    name : a form of a block, or a method of a product
    bytes : of its tables or, for a diagram that is not made yet, what it can take at most
    loads : from tables, for one word
    depth : loads of which each waits for the one before
    chosen : whether the plan has it
    reason : why, or why not
    """

    name: str
    bytes: int
    loads: int
    depth: int
    chosen: bool
    reason: str

    def to_plain(self) -> dict[str, Any]:
        """Return the candidate as plain data for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def block_candidates(block: Block) -> list[Candidate]:
    """Return the forms a block can be evaluated in: the evaluator `words` takes the first, `bits` the last."""
    inputs = sum(block.input_widths)
    bits, signed = output_format(block)
    word = word_dtype(bits, signed).itemsize
    words = min(1 << inputs, 1 << bits)
    walked = most_nodes(inputs, 1, words) * NODE_BYTES + words * word
    tested = most_nodes(inputs, bits, 2) * NODE_BYTES
    one_by_one = "a load for every input bit, each waiting for the one before, against one load"
    return [
        Candidate("dense", (1 << inputs) * word, 1, 1, True, "one load a word: taken by the evaluator words"),
        Candidate("multi_terminal", walked, inputs, inputs, False, one_by_one),
        Candidate("bits", tested, inputs * bits, inputs, True, "one bit tested at a time: taken by the evaluator bits"),
    ]


def most_nodes(inputs: int, outputs: int, values: int) -> int:
    """Return how many nodes a reduced diagram can have at most.

    A level has no more nodes than paths lead to it from the `outputs` roots, and no more than there are functions with
    so many `values` of the bits from there on.
    """
    total = 0
    for level in range(inputs):
        below = 1 << (inputs - level)
        functions = values**below if below * values.bit_length() <= 64 else 1 << 64
        total += min(outputs << level, functions)
    return total


def product_candidates(plan: Plan, wire: Product) -> list[Candidate]:
    """Return the ways to take a product of two words, and why the plan has the one it has."""
    widths = plan.bits_of(wire.left), plan.bits_of(wire.right)
    together, widest = sum(widths), max(widths)
    limb = wire.limb_bits or min(plan.block_bits // 2, -(-widest // 2))
    left, right = (-(-max(width - 1, 1) // limb) for width in widths)
    found = [
        ("block", 1 << together, 1, 1, _why_block(plan, wire, together)),
        ("squares", 1 << (widest + 1), 2, 1, _why_squares(plan, wire, widest)),
        ("limbs", 1 << (2 * limb), left * right, 1, _why_limbs(wire, limb)),
        ("native", 0, 0, 0, _why_native(plan, wire)),
    ]
    return [
        Candidate(name, rows * TABLE_WORD_BYTES, loads, depth, name == wire.method, reason)
        for name, rows, loads, depth, reason in found
    ]


def _why_block(plan: Plan, wire: Product, together: int) -> str:
    if wire.method == "block":
        return "one load, rounding included"
    if together > plan.block_bits:
        return f"{together} input bits, block_bits is {plan.block_bits}"
    return "a table for this product alone; the others are shared by all"


def _why_squares(plan: Plan, wire: Product, widest: int) -> str:
    if wire.method == "squares":
        return "two loads from a table of one word, shared by all such products"
    if widest >= plan.block_bits:
        return f"{widest + 1} input bits, block_bits is {plan.block_bits}"
    if widest >= WIDEST_SQUARE:
        return f"{widest + 1} input bits: beyond {WIDEST_SQUARE} its diagram outgrows the look-ups of limbs"
    return {"native": "two loads against none", "block": "two loads against one"}.get(
        wire.method, "the paper's rule takes blocks and limbs"
    )


def _why_limbs(wire: Product, limb: int) -> str:
    shared = f"a table of {limb} by {limb} bits, shared by all such products"
    return shared if wire.method == "limbs" else f"more loads, from {shared}"


def _why_native(plan: Plan, wire: Product) -> str:
    if wire.method == "native":
        return "the host's own multiplication; evaluators that may not use it take limbs"
    return f"target {plan.target} multiplies with tables alone"

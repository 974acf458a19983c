"""Costs of a plan, in fixed numbers: operations of one state, registers, look-ups, and the choice among forms.

Where nothing is multiplied, products are look-ups and additions; elsewhere the processor multiplies. Costs are counted,
never timed: a timing would make plans differ from machine to machine. A load that waits for the one before costs what a
load from an array of that size costs an ordinary processor, in its cycles; a load that waits for none costs one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.blocks import Block, ProductBlock, output_format
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import word_dtype
from bddtorque.plan.wires import AngleSum, Lookup, Output, Product, Sum
from bddtorque.words.integer_range import Range

FREE_BYTES = 16 << 10
"""Bytes of tables that cost nothing: half the first level of a common cache holds them."""
LATENCIES = ((32 << 10, 4), (1 << 20, 14), (32 << 20, 50))
"""Bytes that the first, second and third level of a common cache hold, and the cycles of a load from each."""
MEMORY_LATENCY = 200
"""Cycles of a load from memory."""
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


def piece_table_bytes(bits: int) -> int:
    """Return the bytes of the table of all products of two pieces of so many bits."""
    return word_dtype(*output_format(ProductBlock.of_pieces(bits))).itemsize << (2 * bits)


def partial_cost(words: Sequence[tuple[Range, Range]], bits: int) -> int:
    """Return what partial products of pairs of words cost, in pieces of so many bits: see `latency`."""
    waiting = latency(piece_table_bytes(bits)) - 1
    return sum(partial_look_ups(left, right, bits) + waiting for left, right in words)


def piece_bits(words: Sequence[tuple[Range, Range]], block_bits: int) -> int:
    """Return the bits of the pieces that pairs of words are best multiplied in.

    Halves of the widest word take four loads for a product, yet the table of two 10-bit pieces has 2^20 entries, which
    neither a cache nor a chip holds; thirds take nine from a table of a few kilobytes.
    """
    widest = max(word.bits for pair in words for word in pair)
    most = min(block_bits // 2, widest)
    return min(range(1, most + 1), key=lambda bits: partial_cost(words, bits))


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
    bits = sum((plan.range_of(part) * factor for part, factor in wire.parts), start=start).bits
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


def latency(size: int) -> int:
    """Return the cycles of a load from anywhere in an array of `size` bytes, on average.

    Each level of the cache holds its share of the array: of 2 MiB, half the loads are served by the second level and
    half by the third.
    """
    cycles = held = 0
    for holds, each in (*LATENCIES, (size, MEMORY_LATENCY)):
        share = max(min(size, holds) - held, 0)
        cycles += share * each
        held += share
    return (2 * cycles + size) // (2 * size) if size else LATENCIES[0][1]


def load_cost(loads: int, chain: Sequence[int], arithmetic: int = 0) -> int:
    """Return the cost of a look-up.

    Parameters
    ----------
    loads
        All its loads.
    chain
        Of those that wait for one another: the bytes of the array in which each lies.
    arithmetic
        Cycles of integer arithmetic that the word waits for beside its loads.
    """
    return sum(map(latency, chain)) + loads - len(chain) + arithmetic


def least_cost(loads: int, depth: int) -> int:
    """Return what a look-up costs at least, however small its arrays are."""
    return load_cost(loads, (0,) * depth)


@dataclass(frozen=True)
class Candidate:
    """One way to have a block or a product."""

    name: str  # a form of a block, or a method of a product
    bytes: int  # of its tables or, of what is not made yet, what it can take at most
    loads: int  # from tables, for one word, at most
    depth: int  # loads of which each waits for the one before
    cost: int  # of one word, see `load_cost`; of what is not made yet, at most
    constant: bool  # whether every input takes the same operations
    chosen: bool = False  # whether the plan has it
    reason: str = ""  # why, or why not

    def to_plain(self) -> dict[str, Any]:
        """Return the candidate as plain data for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


class BudgetError(BddTorqueError):
    """Not even the smallest forms fit a budget; `smallest` is what they take, in bytes."""

    def __init__(self, smallest: int, budget: int) -> None:
        super().__init__(f"memory must be at least {smallest:,} bytes for the smallest forms, got {budget:,}")
        self.smallest = smallest


def pick(blocks: Sequence[Sequence[Candidate]], budget: int | None = None) -> list[list[Candidate]]:
    """Choose one candidate for each block: the least cost, all blocks together within `budget` bytes.

    Of forms that cost the same the first is taken or, where the budget is short, the smallest.

    Returns
    -------
    The candidates of each block in their order, with `chosen` and `reason`.

    Raises
    ------
    BudgetError
        If not even the smallest forms fit.
    """
    cheapest = tuple(min(candidates, key=lambda candidate: candidate.cost) for candidates in blocks)
    taken = cheapest
    if budget is not None and sum(candidate.bytes for candidate in cheapest) > budget:
        smallest = sum(min(candidate.bytes for candidate in candidates) for candidates in blocks)
        if smallest > budget:
            raise BudgetError(smallest, budget)
        taken = _within(blocks, budget)
    return [
        [_with_verdict(candidate, chosen, candidates, chosen is best) for candidate in candidates]
        for candidates, chosen, best in zip(blocks, taken, cheapest, strict=True)
    ]


def _within(blocks: Sequence[Sequence[Candidate]], budget: int) -> tuple[Candidate, ...]:
    """Return the choice of least total cost within a budget that the smallest forms fit: block by block, all totals."""
    totals: dict[int, tuple[int, tuple[Candidate, ...]]] = {0: (0, ())}  # by cost, the fewest bytes there are
    for candidates in blocks:
        longer: dict[int, tuple[int, tuple[Candidate, ...]]] = {}
        for cost, (size, chosen) in totals.items():
            for candidate in candidates:
                total = size + candidate.bytes
                if total < longer.get(cost + candidate.cost, (budget + 1,))[0]:
                    longer[cost + candidate.cost] = total, (*chosen, candidate)
        totals = {}
        fewest = budget + 1
        for cost, choice in sorted(longer.items()):  # of two totals that cost more and take more, one is enough
            if choice[0] < fewest:
                totals[cost], fewest = choice, choice[0]
    return totals[min(totals)][1]


def _with_verdict(own: Candidate, taken: Candidate, block: Sequence[Candidate], cheapest: bool) -> Candidate:
    """Return a candidate with the verdict on it."""
    if own is taken:
        rest = [candidate for candidate in block if candidate is not own and candidate.cost >= own.cost]
        after = min(rest, key=lambda candidate: (candidate.cost, candidate.bytes), default=None)
        reason = f"cost {own.cost}, " + ("the least" if cheapest else "of the cheapest choice within the memory budget")
        reason += f"; next {after.name} with {after.cost}" if after else ""
    elif own.cost < taken.cost:
        reason = f"cost {own.cost} against {taken.cost}, but too large for the memory budget"
    elif own.cost == taken.cost:
        reason = f"the same cost, {own.bytes:,} bytes against {taken.bytes:,}"
    else:
        reason = f"cost {own.cost} against {taken.cost}"
    return replace(own, chosen=own is taken, reason=reason)

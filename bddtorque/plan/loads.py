"""Costs of a look-up, in fixed numbers, and the choice among ways to have it.

The cost of a form is counted, never timed: a timing would make plans differ from machine to machine. A load that waits
for the one before costs what a load from an array of that size costs an ordinary processor, in its cycles; a load that
waits for none costs one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from bddtorque.base.errors import BddTorqueError

LATENCIES = ((32 << 10, 4), (1 << 20, 14), (32 << 20, 50))
"""Bytes that the first, second and third level of a common cache hold, and the cycles of a load from each."""
MEMORY_LATENCY = 200
"""Cycles of a load from memory."""


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
    cheapest = tuple(min(each, key=lambda one: one.cost) for each in blocks)
    taken = cheapest
    if budget is not None and sum(each.bytes for each in cheapest) > budget:
        smallest = sum(min(one.bytes for one in each) for each in blocks)
        if smallest > budget:
            raise BudgetError(smallest, budget)
        taken = _within(blocks, budget)
    return [
        [_judged(one, now, each, now is best) for one in each]
        for each, now, best in zip(blocks, taken, cheapest, strict=True)
    ]


def _within(blocks: Sequence[Sequence[Candidate]], budget: int) -> tuple[Candidate, ...]:
    """Return the choice of least total cost within a budget that the smallest forms fit: block by block, all totals."""
    totals: dict[int, tuple[int, tuple[Candidate, ...]]] = {0: (0, ())}  # by cost, the fewest bytes there are
    for each in blocks:
        longer: dict[int, tuple[int, tuple[Candidate, ...]]] = {}
        for cost, (size, chosen) in totals.items():
            for one in each:
                total = size + one.bytes
                if total < longer.get(cost + one.cost, (budget + 1,))[0]:
                    longer[cost + one.cost] = total, (*chosen, one)
        totals = {}
        fewest = budget + 1
        for cost, found in sorted(longer.items()):  # of two totals that cost more and take more, one is enough
            if found[0] < fewest:
                totals[cost], fewest = found, found[0]
    return totals[min(totals)][1]


def _judged(one: Candidate, taken: Candidate, block: Sequence[Candidate], cheapest: bool) -> Candidate:
    """Return a candidate with the verdict on it."""
    if one is taken:
        others = [each for each in block if each is not one and each.cost >= one.cost]
        after = min(others, key=lambda each: (each.cost, each.bytes), default=None)
        reason = f"cost {one.cost}, " + ("the least" if cheapest else "of the cheapest choice within the memory budget")
        reason += f"; next {after.name} with {after.cost}" if after else ""
    elif one.cost < taken.cost:
        reason = f"cost {one.cost} against {taken.cost}, but too large for the memory budget"
    elif one.cost == taken.cost:
        reason = f"the same cost, {one.bytes:,} bytes against {taken.bytes:,}"
    else:
        reason = f"cost {one.cost} against {taken.cost}"
    return replace(one, chosen=one is taken, reason=reason)

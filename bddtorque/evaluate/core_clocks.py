"""Clocks that a one-bit core takes for an operation: what schedules for such cores are made with.

A core tests one bit per clock and adds one bit per clock. It remembers one condition, so that a word is negated or
replaced by another where a sign bit says so.
"""

from __future__ import annotations

from dataclasses import dataclass

from bddtorque.evaluate.operations import Operation, StepCosts
from bddtorque.words.integer_range import Range


@dataclass(frozen=True, slots=True)
class CoreClocks(StepCosts):
    """Clocks of operations on a one-bit core; of a walk, those of its longest path."""

    def duration(self, operation: Operation) -> float:
        """Return the clocks of an operation."""
        match operation.kind:
            case "walk":
                return max(operation.tests, 1)
            case "add":  # with two negative operands, the first is negated before
                return operation.bits * (2 if operation.signs == (-1, -1) else 1)
            case "clamp":
                return sum(clamp_clocks(operation))
            case _:
                return operation.bits + 1


def clamp_clocks(operation: Operation) -> tuple[int, int, int]:
    """Return the clocks of a clamp: below the lowest word, above the highest, and where neither can be.

    A comparison is a subtraction of which only the sign is kept; then every bit of the result is chosen.
    """
    (word,) = operation.operands
    below = above = 0
    if word.low < operation.low:
        below = (Range(word.low, word.high) - Range(operation.low, operation.low)).bits + operation.bits
    if word.high > operation.high:
        above = (Range(operation.high, operation.high) - Range(word.low, word.high)).bits + operation.bits
    return below, above, 0 if below or above else operation.bits


CORE_CLOCKS = CoreClocks(addition=0.0, addition_bit=1.0)
MESSAGE = 4.0
"""Clocks from the end of an operation to the start of one on another core that reads its result, at least."""

"""Operations of a plan, list scheduling, and counted processors for a single state.

A plan is taken apart into the smallest pieces that can run by themselves: one walk for each output bit of each look-up,
and one addition for each pair of summands (`building`). They are spread over processors by longest processing time
(`spreading`), and messages are counted for every value that crosses. The tests carry schedules out, processor by
processor: the words must be those of every other evaluator.
"""

from __future__ import annotations

from bddtorque.schedule.building import operations_of
from bddtorque.schedule.operations import BIT_SERIAL, WORD_STEPS, Costs, Operation
from bddtorque.schedule.spreading import (
    Grain,
    Spreading,
    Way,
    delayed,
    messages,
    schedule_model,
    spread_bits,
    spread_terms,
)
from bddtorque.schedule.wiring import Word

__all__ = [
    "BIT_SERIAL",
    "WORD_STEPS",
    "Costs",
    "Grain",
    "Operation",
    "Spreading",
    "Way",
    "Word",
    "delayed",
    "messages",
    "operations_of",
    "schedule_model",
    "spread_bits",
    "spread_terms",
]

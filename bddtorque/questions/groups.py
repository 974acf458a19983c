"""A group of summands: its sums, from the distinct tuples of words that its states give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bddtorque.plan.plan import Plan
from bddtorque.plan.reference import run_sum, run_wires
from bddtorque.questions.subject_kinds import Integers
from bddtorque.questions.wire_ranges import SumRanges

if TYPE_CHECKING:
    from bddtorque.plan.table import Table

MAX_EXACT_TUPLES = 1 << 14
"""Tuples of a group whose extremes are found by trying them all, for every state of the held words."""
MAX_EXACT_SUMS = 1 << 27
"""Sums of all these together that are tried: about two seconds."""
LIST_STEPS = 2
"""Steps of finding one of the sums, and of counting it."""
MAX_AT_ONCE = 1 << 20
"""Sums tried at a time."""


@dataclass(frozen=True)
class Group:
    """Summands that share words with one another, and with no other group but words that are held still.

    Attributes
    ----------
    plan
        Their sum, from the words of the tuples and the held words.
    tables
        As those of the subject.
    tuples
        The distinct tuples of words that states of the group give, a name each.
    total
        The sum of the summands that no held word meets, for each tuple, in units.
    counts
        How many states give each tuple, int64.
    held
        The wires of the held words that its plan reads.
    unit
        What every sum of the group is a multiple of.
    """

    plan: Plan
    tables: tuple[Table, ...]
    tuples: dict[str, Integers]
    total: Integers
    counts: Integers
    held: tuple[str, ...]
    unit: int

    @property
    def list_steps(self) -> int:
        """Steps of making the list of its sums for one state of the held words."""
        return len(self.counts) * LIST_STEPS

    def multiples(self, held: Mapping[str, Any]) -> Integers:
        """Return the sums of the group in units, for each tuple along the last axis, and states of the held words."""
        inputs = {**self.tuples, **{name: np.asarray(held[name]) for name in self.held}}
        return run_sum(self.plan.outputs[0], run_wires(self.plan, self.tables, inputs)) + self.total

    def bounds(self, read: dict[str, Integers], states: int) -> tuple[Integers, Integers]:
        """Return bounds of the group's sum for all states of the held words; those of small groups are exact.

        `read` are the words that groups read in each of the `states`.
        """
        if not self.held:
            sums = self.multiples({}) * self.unit
            return np.full(states, sums.min()), np.full(states, sums.max())
        rows, place = np.unique(np.stack([read[name] for name in self.held]), axis=1, return_inverse=True)
        exact = len(self.counts) <= MAX_EXACT_TUPLES and len(self.counts) * rows.shape[1] <= MAX_EXACT_SUMS
        low, high = (self._extremes if exact else self._ranges)(rows)
        return low[place.reshape(-1)] * self.unit, high[place.reshape(-1)] * self.unit

    def _extremes(self, rows: Integers) -> tuple[Integers, Integers]:
        low, high = np.empty(rows.shape[1], dtype=np.int64), np.empty(rows.shape[1], dtype=np.int64)
        step = max(1, MAX_AT_ONCE // len(self.counts))
        for first in range(0, rows.shape[1], step):
            some = slice(first, first + step)
            held = {name: row[some, None] for name, row in zip(self.held, rows, strict=True)}
            sums = self.multiples(held)
            low[some], high[some] = sums.min(axis=1), sums.max(axis=1)
        return low, high

    def _ranges(self, rows: Integers) -> tuple[Integers, Integers]:
        known = dict(zip(self.held, rows, strict=True))
        inputs = [wire.name for wire in self.plan.inputs]
        ends = []
        for end in (np.min, np.max):
            same = {name: np.full(rows.shape[1], end(words)) for name, words in self.tuples.items()}
            ends.append(np.stack([{**same, **known}[name] for name in inputs], axis=1))
        low, high = SumRanges(self.plan, self.tables).over(*ends)
        return low + self.total.min(), high + self.total.max()

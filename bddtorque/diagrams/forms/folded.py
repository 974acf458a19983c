"""Form `folded`: the table without its mirrored parts, along every word that has any; one load, and a sign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bddtorque.base.jit import njit
from bddtorque.diagrams.consing import DEFAULT_MEMORY_LIMIT
from bddtorque.diagrams.folding import Folded, fold, look_up_folded, unfold
from bddtorque.diagrams.forms.form import Int64Array
from bddtorque.plan.table import IntegerArray, Table

CYCLES_A_WORD, CYCLES_A_FOLD = 2, 8
"""Integer operations, each waiting for the one before, to cut a word out of the index and to fold it."""


@njit
def _look_up(indices: Int64Array, values: IntegerArray, rules: Int64Array, words: Int64Array) -> None:
    for i in range(len(indices)):
        words[i] = look_up_folded(indices[i], values, 0, rules, 0, len(rules))


@dataclass(frozen=True, eq=False)
class FoldedDense:
    """A table, folded; `folding.look_up_folded` reads one entry inside a kernel.

    Parameters
    ----------
    folded
        Values and folding rules.
    """

    name: ClassVar[str] = "folded"
    constant: ClassVar[bool] = True
    loads: ClassVar[int] = 1

    folded: Folded

    def __reduce__(self) -> tuple[Any, ...]:
        return FoldedDense, (self.folded,)

    @classmethod
    def from_table(
        cls, table: Table, order: tuple[int, ...] | None = None, memory_limit: int = DEFAULT_MEMORY_LIMIT
    ) -> FoldedDense:
        """Fold a table; it has no levels and is hardly larger than its source, so the rest is ignored."""
        del order, memory_limit
        return cls(fold(table))

    @property
    def bytes(self) -> int:
        """Bytes of all arrays."""
        return self.folded.bytes

    @property
    def chain(self) -> tuple[int, ...]:
        """Bytes among which the one load lies."""
        return (self.folded.values.nbytes,)

    @property
    def arithmetic(self) -> int:
        """Cycles for which a word waits beside its load: to pick the words apart, and to fold."""
        folded = int(np.count_nonzero(self.folded.rules[:, 3]))
        return CYCLES_A_WORD * len(self.folded.rules) + CYCLES_A_FOLD * folded

    def expand(self) -> IntegerArray:
        """Return all values, shape ``(2**input_bits,)``."""
        return unfold(self.folded)

    def walk(self, indices: Int64Array) -> Int64Array:
        """Return the words at some table indices, looked up one by one."""
        words = np.empty(len(indices), np.int64)
        _look_up(indices, self.folded.values, self.folded.rules, words)
        return words

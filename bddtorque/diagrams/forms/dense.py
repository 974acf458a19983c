"""Form `dense`: the table itself, folded along every word where symmetry allows; one load gives the word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bddtorque.compiled import njit
from bddtorque.diagrams.consing import DEFAULT_MEMORY_LIMIT
from bddtorque.diagrams.folding import Folded, fold, look_up_folded, unfold
from bddtorque.diagrams.forms.form import Int64Array
from bddtorque.diagrams.table import IntegerArray, Table


@njit
def _look_up(indices: Int64Array, values: IntegerArray, rules: Int64Array, words: Int64Array) -> None:
    for i in range(len(indices)):
        words[i] = look_up_folded(indices[i], values, 0, rules, 0, len(rules))


@dataclass(frozen=True, eq=False)
class Dense:
    """A table, folded; `folding.look_up_folded` reads one entry inside a kernel.

    Parameters
    ----------
    folded
        Values and folding rules.
    """

    name: ClassVar[str] = "dense"
    constant: ClassVar[bool] = True
    loads: ClassVar[int] = 1

    folded: Folded

    def __reduce__(self) -> tuple[Any, ...]:
        return Dense, (self.folded,)

    @classmethod
    def from_table(
        cls, table: Table, order: tuple[int, ...] | None = None, memory_limit: int = DEFAULT_MEMORY_LIMIT
    ) -> Dense:
        """Fold a table; a dense table has no levels and is never larger than its source, so the rest is ignored."""
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

    def expand(self) -> IntegerArray:
        """Return all values, shape ``(2**input_bits,)``."""
        return unfold(self.folded)

    def walk(self, indices: Int64Array) -> Int64Array:
        """Return the words at some table indices, looked up one by one."""
        words = np.empty(len(indices), np.int64)
        _look_up(indices, self.folded.values, self.folded.rules, words)
        return words

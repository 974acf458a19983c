"""A table as rows and columns, those that are alike kept once: f(x, y) = T[r[x] + c[y]].

The index is split into a high part x (the row) and a low part y (the column), between the two words where the parts are
most nearly of one length (the earlier place of two equally good ones).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from bddtorque.plan.rows import merge_rows
from bddtorque.plan.table import IntegerArray, Table


@dataclass(frozen=True, eq=False)
class RowClasses:
    """The classes of a table of several words."""

    rows: IntegerArray  # (2**row_bits,): r, for each row its class times the number of column classes
    columns: IntegerArray  # (2**column_bits,): c, for each column its class
    words: IntegerArray  # (row classes * column classes,): T

    @classmethod
    def from_table(cls, table: Table) -> RowClasses:
        """Merge the rows that are alike, then the columns; classes are numbered in the order they are met."""
        row_bits = split_at(table.input_widths)
        rows, kept = merge_rows(table.values.reshape(1 << row_bits, -1))
        columns, kept = merge_rows(np.ascontiguousarray(kept.T))
        return cls(rows.astype(np.int64) * kept.shape[0], columns, np.ascontiguousarray(kept.T).reshape(-1))

    def expand(self) -> IntegerArray:
        """Return all values of the table."""
        values: IntegerArray = self.words[(self.rows[:, None] + self.columns).reshape(-1)]
        return values


def split_at(input_widths: tuple[int, ...]) -> int:
    """Return the bits of the row part, by the rule of this module."""
    total = sum(input_widths)
    return min(list(accumulate(input_widths))[:-1], key=lambda bits: abs(2 * bits - total))

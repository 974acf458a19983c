"""Form `classes`: the table as rows and columns, those that are alike kept once: f(x, y) = T[r[x], c[y]].

The index is split into a high part x (the row) and a low part y (the column). A block of several words is split
between two words, where the parts are most nearly of one length (the earlier place of two equally good ones); a block
of one word in its middle, the high part one bit longer where its bits are odd. Loads of r and c do not wait for each
other, so that a word takes three loads of which two wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from bddtorque.base.jit import inlined, njit
from bddtorque.plan.consing import DEFAULT_MEMORY_LIMIT
from bddtorque.plan.forms.form import Form, Int64Array, Order
from bddtorque.plan.rows import MERGING_BYTES, afford, merge_rows
from bddtorque.plan.table import IntegerArray, Table

UIntArray = npt.NDArray[np.unsignedinteger[Any]]


@inlined
def class_place(index: Any, row_bits: Any, column_bits: Any, classes: Any, rows: Any, columns: Any) -> Any:
    """Return the place in T (uint64) of an index; bits above the table's are ignored.

    Parameters
    ----------
    index
        Concatenated input words.
    row_bits, column_bits
        Bits of the two parts.
    classes, rows, columns
        An array that holds r (each class times the number of column classes) from `rows` on, and c from `columns` on.
    """
    known, low = np.uint64(index), np.uint64(column_bits)
    column = known & ((np.uint64(1) << low) - np.uint64(1))
    row = (known >> low) & ((np.uint64(1) << np.uint64(row_bits)) - np.uint64(1))
    return np.uint64(classes[np.uint64(rows) + row]) + np.uint64(classes[np.uint64(columns) + column])


@njit
def _places(indices: Int64Array, row_bits: int, column_bits: int, classes: UIntArray, places: Int64Array) -> None:
    for i in range(len(indices)):
        places[i] = class_place(indices[i], row_bits, column_bits, classes, 0, 1 << row_bits)


@dataclass(frozen=True, eq=False)
class Classes(Form):
    """A table of classes."""

    name: ClassVar[str] = "classes"
    constant: ClassVar[bool] = True

    # (2**row_bits + 2**column_bits,), uint16 or uint32: for each row its class times the number of column
    # classes, then for each column its class. Classes are numbered in the order they are met
    classes: UIntArray
    words: IntegerArray  # (row classes * column classes,): T, in the table's type
    # row_bits, column_bits: bits of the two parts of the index
    row_bits: int
    column_bits: int

    @classmethod
    def from_table(cls, table: Table, order: Order = None, memory_limit: int = DEFAULT_MEMORY_LIMIT) -> Self:
        """Merge the rows that are alike, then the columns; there are no levels, so `order` is ignored."""
        del order
        afford(cls.name, table.input_bits, MERGING_BYTES, memory_limit)
        row_bits = split_at(table.input_widths)
        column_bits = table.input_bits - row_bits
        rows, kept = merge_rows(table.values.reshape(1 << row_bits, 1 << column_bits))
        columns, kept = merge_rows(np.ascontiguousarray(kept.T))
        words = np.ascontiguousarray(kept.T)
        classes = np.concatenate([rows.astype(np.int64) * words.shape[1], columns])
        return cls(
            classes.astype(np.uint16 if words.size <= 1 << 16 else np.uint32), words.reshape(-1), row_bits, column_bits
        )

    @property
    def loads(self) -> int:
        """Loads a word: of a row's class, of a column's, and of the word."""
        return 3

    @property
    def chain(self) -> tuple[int, ...]:
        """Bytes among which each load lies that waits for the one before: a class, then the word."""
        return self.classes.nbytes, self.words.nbytes

    def expand(self) -> IntegerArray:
        """Return all values, shape ``(2**input_bits,)``."""
        rows, columns = np.split(self.classes.astype(np.int64), [1 << self.row_bits])
        values: IntegerArray = self.words[(rows[:, None] + columns).reshape(-1)]
        return values

    def walk(self, indices: Int64Array) -> Int64Array:
        """Return the words at some table indices, looked up one by one."""
        places = np.empty(len(indices), np.int64)
        _places(indices, self.row_bits, self.column_bits, self.classes, places)
        return self.words[places].astype(np.int64)


def split_at(input_widths: tuple[int, ...]) -> int:
    """Return the bits of the row part, by the rule of this module."""
    total = sum(input_widths)
    if len(input_widths) == 1:
        return (total + 1) // 2
    return min(list(accumulate(input_widths))[:-1], key=lambda bits: abs(2 * bits - total))

"""Form `dense`: the table itself; one load gives the word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from bddtorque.plan.forms.form import Form, Int64Array
from bddtorque.plan.table import IntegerArray, Table


@dataclass(frozen=True, eq=False)
class Dense(Form):
    """A table as it is: the entry at the index, bits above the table's ignored."""

    name: ClassVar[str] = "dense"
    constant: ClassVar[bool] = True

    values: IntegerArray  # (2**input_bits,), in the table's type

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Take the values of a table."""
        return cls(table.values)

    @property
    def chain(self) -> tuple[int, ...]:
        """Bytes among which the one load lies."""
        return (self.values.nbytes,)

    def expand(self) -> IntegerArray:
        """Return all values, shape ``(2**input_bits,)``."""
        return self.values

    def walk(self, indices: Int64Array) -> Int64Array:
        """Return the words at some table indices, looked up."""
        return self.values.take(indices & (len(self.values) - 1)).astype(np.int64)

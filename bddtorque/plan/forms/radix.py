"""Forms `radix4`, `radix16` and `radix64`: a multi-valued diagram that reads 2, 4 or 6 bits of the index a step.

The index is cut into digits, the first of them shorter where its bits do not divide. A node is a row of children, one
for each value of its digit; at the last digit it is a row of words. Nodes that behave alike are one. Steps that a
reduced diagram would skip are kept as nodes, so that every input takes as many loads as the index has digits.

Digits are runs of adjacent bits in the table's own order, the most significant first: bits that an order scatters
would have to be gathered first, which costs more than the loads that a better order saves.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from bddtorque.base.jit import inlined, njit
from bddtorque.plan.consing import DEFAULT_MEMORY_LIMIT
from bddtorque.plan.forms.form import Form, Int64Array, Order
from bddtorque.plan.forms.lockstep import UInt32Array
from bddtorque.plan.rows import MERGING_BYTES, afford, digit_cuts, link_rows, merge_rows, row_entries
from bddtorque.plan.table import IntegerArray, Table


@inlined
def walk_digits(index: Any, input_bits: Any, digit_bits: Any, children: UInt32Array, first: Any) -> Any:
    """Return the place among the words (uint64) of an index.

    Parameters
    ----------
    index
        Concatenated input words; bits above the table's are ignored.
    input_bits, digit_bits
        Bits of the index, and of a digit.
    children, first
        Array of `Radix`, and where it begins.
    """
    digits = np.uint64(digit_bits)
    mask = (np.uint64(1) << digits) - np.uint64(1)
    start = np.uint64(first)
    known = np.uint64(index) & ((np.uint64(1) << np.uint64(input_bits)) - np.uint64(1))
    shift = np.uint64((input_bits - 1) // digit_bits * digit_bits)
    place = np.uint64(0)
    while shift > np.uint64(0):
        place = np.uint64(children[start + place + ((known >> shift) & mask)])
        shift -= digits
    return place + (known & mask)


@njit
def _walk_places(
    indices: Int64Array, input_bits: int, digit_bits: int, children: UInt32Array, places: Int64Array
) -> None:
    for i in range(len(indices)):
        places[i] = walk_digits(indices[i], input_bits, digit_bits, children, 0)


@dataclass(frozen=True, eq=False)
class Radix(Form):
    """A multi-valued diagram; `Radix4`, `Radix16` and `Radix64` say how many bits a digit has."""

    name: ClassVar[str]
    digit_bits: ClassVar[int]
    constant: ClassVar[bool] = True

    # uint32: rows of children, those of the first digit first. An entry is where the child's row begins, among
    # `children` or, at the last but one digit, among `words`
    children: UInt32Array
    words: IntegerArray  # rows of words, one row for each node of the last digit, in the table's type
    input_bits: int  # bits of the index
    step_bytes: tuple[int, ...]  # bytes of the rows that each digit reads

    @classmethod
    def from_table(cls, table: Table, order: Order = None, memory_limit: int = DEFAULT_MEMORY_LIMIT) -> Self:
        """Merge what behaves alike, digit by digit; digits are in the table's own order, `order` is ignored."""
        del order
        afford(cls.name, table.input_bits, MERGING_BYTES, memory_limit)
        cuts = list(pairwise(digit_cuts(table.input_bits, cls.digit_bits)))
        steps: list[IntegerArray] = []  # of each digit the rows that are kept, of the last digit first
        entries = table.values
        for above, below in cuts[:0:-1]:
            entries, kept = merge_rows(entries.reshape(-1, 1 << (below - above)))
            steps.insert(0, kept)
        steps.insert(0, entries.reshape(1, -1))
        starts = np.cumsum([0, *(step.size for step in steps[:-1])])
        starts[-1] = 0  # rows of words lie in an array of their own
        rows = link_rows(steps, starts[1:])
        return cls(
            children=np.concatenate([np.zeros(0, np.int64), *(row.reshape(-1) for row in rows)]).astype(np.uint32),
            words=steps[-1].reshape(-1),
            input_bits=table.input_bits,
            step_bytes=(*(4 * row.size for row in rows), steps[-1].nbytes),
        )

    @property
    def chain(self) -> tuple[int, ...]:
        """Bytes among which each load lies that waits for the one before."""
        return self.step_bytes

    def expand(self) -> IntegerArray:
        """Return all values, shape ``(2**input_bits,)``, digit by digit."""
        places = np.zeros(1, np.int64)
        cuts = list(pairwise(digit_cuts(self.input_bits, self.digit_bits)))
        for above, below in cuts[:-1]:
            places = self.children[row_entries(places, below - above)].astype(np.int64)
        above, below = cuts[-1]
        return self.words[row_entries(places, below - above)]

    def walk(self, indices: Int64Array) -> Int64Array:
        """Return the words at some table indices, each by a walk of its own."""
        places = np.empty(len(indices), np.int64)
        _walk_places(indices, self.input_bits, self.digit_bits, self.children, places)
        return self.words[places].astype(np.int64)


class Radix4(Radix):
    """Two bits a step."""

    name = "radix4"
    digit_bits = 2


class Radix16(Radix):
    """Four bits a step."""

    name = "radix16"
    digit_bits = 4


class Radix64(Radix):
    """Six bits a step."""

    name = "radix64"
    digit_bits = 6

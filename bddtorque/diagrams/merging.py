"""Merging: rows of a table that are alike, kept once."""

from __future__ import annotations

import numpy as np

from bddtorque.base.jit import njit
from bddtorque.diagrams.consing import Int32Array, MemoryLimit
from bddtorque.plan.table import IntegerArray

BYTES_AN_ENTRY = 24
"""Bytes that merging takes for each entry at most: a copy of the rows (transposed), hash table, classes, rows kept."""


@njit
def _number_rows(rows: IntegerArray, slots: Int32Array, classes: Int32Array, first: Int32Array) -> int:
    """Write the class of each row and the first row of each class; return how many classes there are."""
    mask = np.uint64(len(slots) - 1)
    count = 0
    for row in range(rows.shape[0]):
        key = np.uint64(0)
        for column in range(rows.shape[1]):
            key = (key ^ np.uint64(rows[row, column])) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(29)
        slot = (key >> np.uint64(13)) & mask
        while True:
            found = slots[slot] - 1
            if found < 0:
                first[count] = row
                slots[slot] = count + 1
                classes[row] = count
                count += 1
                break
            same = True
            for column in range(rows.shape[1]):
                if rows[first[found], column] != rows[row, column]:
                    same = False
                    break
            if same:
                classes[row] = found
                break
            slot = (slot + np.uint64(1)) & mask
    return count


def merge_rows(rows: IntegerArray) -> tuple[Int32Array, IntegerArray]:
    """Return the class of each row, numbered in the order they are met, and one row of each class.

    Parameters
    ----------
    rows
        Shape ``(rows, entries)``, any signed integers.
    """
    classes, first = np.empty(len(rows), np.int32), np.empty(len(rows), np.int32)
    slots = np.zeros(2 << (len(rows) - 1).bit_length(), np.int32)
    count = _number_rows(np.ascontiguousarray(rows), slots, classes, first)
    return classes, rows[first[:count]]


def afford(form: str, input_bits: int, entry_bytes: int, memory_limit: int) -> None:
    """Refuse a table whose rows would take more memory to merge, `entry_bytes` for each entry, than there is."""
    if entry_bytes << input_bits > memory_limit:
        raise MemoryLimit(
            f"form '{form}': a table of {input_bits} input bits needs {entry_bytes << input_bits} bytes to merge, "
            f"the limit is {memory_limit}; use smaller blocks or raise the memory limit"
        )

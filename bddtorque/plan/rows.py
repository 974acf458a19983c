"""Diagrams and tables as rows: what behaves alike is one row, and an entry of a row tells the row to go on with.

*Merging* keeps rows of a table that are alike once. *Unrolling* puts back the tests that a reduced diagram skips, a
chosen number of levels a step.

A reduced diagram skips levels, so that a walk takes as many tests as its input needs. Unrolled, every walk takes the
same steps: step s reads the variables between cut s and cut s + 1, whatever was found before. What crosses a cut are
distinct functions (`Diagram.crossings` counts them); a step is a table that leads each of them, for every value of the
variables read, to one below the next cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from bddtorque.base.jit import njit
from bddtorque.plan.bdd import Edges, cofactors
from bddtorque.plan.engine import MemoryLimit
from bddtorque.plan.table import Int32Array, IntegerArray

UNROLLING_BYTES = 44
"""Bytes that one entry of a step takes while its functions are sorted and numbered, at most."""


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

    `rows`: shape ``(rows, entries)``, any signed integers.
    """
    classes, first = np.empty(len(rows), np.int32), np.empty(len(rows), np.int32)
    slots = np.zeros(2 << (len(rows) - 1).bit_length(), np.int32)
    count = _number_rows(np.ascontiguousarray(rows), slots, classes, first)
    return classes, rows[first[:count]]


def digit_cuts(input_bits: int, digit_bits: int) -> list[int]:
    """Return the levels between which the digits of an index lie; the first takes the bits left over."""
    return [0, *range((input_bits - 1) % digit_bits + 1, input_bits + 1, digit_bits)]


def unroll(
    edges: Edges, roots: Int32Array, cuts: Sequence[int], memory_limit: int
) -> tuple[IntegerArray, list[IntegerArray], Int32Array]:
    """Return where each root enters the first step, the steps, and the edges found below the last cut.

    Parameters
    ----------
    edges
        Level, low and high of every edge.
    roots
        Edges to start from, not necessarily distinct.
    cuts
        Levels between which the steps lie: increasing, the first 0, the last the number of variables.
    memory_limit
        Bytes that unrolling may take.

    Returns
    -------
    Places of the roots among the rows of the first step; for each step an array of shape
    ``(functions above, 2**variables read)`` of places below; the edges (constants) to which the last places refer.

    Raises
    ------
    MemoryLimit
        If memory would not do.
    """
    functions, entries = np.unique(roots, return_inverse=True)
    steps: list[IntegerArray] = []
    taken = 0
    for start, stop in pairwise(cuts):
        rows, values = len(functions), 1 << (stop - start)
        if taken + rows * values * UNROLLING_BYTES > memory_limit:
            raise MemoryLimit(
                f"diagram: {rows} functions of {stop - start} bits below level {start} need "
                f"{taken + rows * values * UNROLLING_BYTES} bytes to unroll, the memory limit leaves {memory_limit}"
            )
        below = np.empty((rows, values), np.int32)
        below[:, 0] = functions
        cofactors(below, start, stop, *edges)
        functions, places = np.unique(below, return_inverse=True)
        steps.append(places.reshape(below.shape).astype(np.int32))
        taken += steps[-1].nbytes
    return entries, steps, functions


def link_rows(steps: Sequence[IntegerArray], starts: IntegerArray) -> list[IntegerArray]:
    """Return the steps but the last with each place below replaced by where its row begins.

    `steps`: shape ``(rows, entries of a row)`` each: places among the rows of the step below; `starts`: where the rows
    of each step but the first begin.
    """
    return [
        step.astype(np.int64) * below.shape[1] + start
        for (step, below), start in zip(pairwise(steps), starts, strict=True)
    ]


def row_entries(starts: IntegerArray, bits: int) -> IntegerArray:
    """Return the places of all entries of the rows that begin at `starts` and have 2**bits entries each."""
    return (starts[:, None] + np.arange(1 << bits)).reshape(-1)

"""Unrolling: a reduced diagram with the tests it skips put back, a chosen number of levels a step.

A reduced diagram skips levels, so that a walk takes as many tests as its input needs. Unrolled, every walk takes the
same steps: step s reads the variables between cut s and cut s + 1, whatever was found before. What crosses a cut are
distinct functions (`Diagram.crossings` counts them); a step is a table that leads each of them, for every value of the
variables read, to one below the next cut.

Functions are numbered by *edges* of any diagram given as three arrays: the level of an edge's function (`variables`
for a constant) and its cofactors, low and high.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from bddtorque.base.jit import njit
from bddtorque.diagrams.bdd import Diagram
from bddtorque.diagrams.consing import Int16Array, Int32Array, MemoryLimit
from bddtorque.plan.table import IntegerArray

BYTES_AN_ENTRY = 44
"""Bytes that one entry of a step takes while its functions are sorted and numbered, at most."""

Edges = tuple[Int16Array, Int32Array, Int32Array]
"""Level, low and high of every edge."""


@njit
def _cofactors(edges: Int32Array, start: int, stop: int, level: Int16Array, low: Int32Array, high: Int32Array) -> None:
    """Turn each edge at the head of its row into its cofactors by the variables of levels start to stop, in place."""
    for row in range(edges.shape[0]):
        for depth in range(start, stop):
            for i in range((1 << (depth - start)) - 1, -1, -1):  # backwards, because entry i gives 2i and 2i + 1
                edge = edges[row, i]
                if level[edge] == depth:
                    edges[row, 2 * i + 1] = high[edge]
                    edges[row, 2 * i] = low[edge]
                else:
                    edges[row, 2 * i + 1] = edge
                    edges[row, 2 * i] = edge


def signed_edges(diagram: Diagram) -> Edges:
    """Return the edges of a diagram with complement edges: edge 2k + 1 is the complement of edge 2k."""
    sign = np.array([0, 1], np.int32)
    low, high = ((edges[:, None] ^ sign).reshape(-1) for edges in (diagram.low, diagram.high))
    return np.repeat(diagram.level, 2), low, high


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
    level, low, high = edges
    functions, entries = np.unique(roots, return_inverse=True)
    steps: list[IntegerArray] = []
    taken = 0
    for start, stop in pairwise(cuts):
        rows, values = len(functions), 1 << (stop - start)
        if taken + rows * values * BYTES_AN_ENTRY > memory_limit:
            raise MemoryLimit(
                f"diagram: {rows} functions of {stop - start} bits below level {start} need "
                f"{taken + rows * values * BYTES_AN_ENTRY} bytes to unroll, the memory limit leaves {memory_limit}"
            )
        below = np.empty((rows, values), np.int32)
        below[:, 0] = functions
        _cofactors(below, start, stop, level, low, high)
        functions, places = np.unique(below, return_inverse=True)
        steps.append(places.reshape(below.shape).astype(np.int32))
        taken += steps[-1].nbytes
    return entries, steps, functions

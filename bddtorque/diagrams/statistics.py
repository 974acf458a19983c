"""Figures of a diagram: what crosses each cut of a cascade, and the longest path."""

from __future__ import annotations

import numpy as np

from bddtorque.base.jit import njit
from bddtorque.diagrams.consing import Int16Array, Int32Array
from bddtorque.plan.table import IntegerArray


def rails(subfunctions: int) -> int:
    """Return the wires needed to tell `subfunctions` apart: ceil(log2(subfunctions)), 0 for one."""
    return max(subfunctions - 1, 0).bit_length()


def signed_crossings(level: Int16Array, low: Int32Array, high: Int32Array, roots: Int32Array) -> tuple[int, ...]:
    """Count the distinct subfunctions that cross each cut of a diagram with complement edges.

    Cut l lies just above level l, l = 0 .. variables; what crosses it are the functions, complements told apart, that
    an edge from above (or a root) reaches at level l or deeper. Below the last cut only constants are left.
    """
    variables = int(level[0])
    first_seen = np.full(2 * len(level), variables + 1, np.int64)
    first_seen[roots] = 0
    _first_cut(first_seen, level, low, high)
    return _count_cuts(first_seen, np.repeat(level.astype(np.int64), 2), variables)


def word_crossings(
    level: Int16Array, successors: Int32Array, root: int, terminals: int, variables: int
) -> tuple[int, ...]:
    """Count the distinct word functions that cross each cut of a multi-terminal diagram; cuts as above.

    Parameters
    ----------
    level
        Level of each node, deepest level first.
    successors
        What follows node k on 0 and 1 at ``2k`` and ``2k + 1``: a node, or ``~place`` of a terminal.
    root
        Node, or ``~place``.
    terminals, variables
        Number of terminals and of variables.
    """
    first_seen = np.full(terminals + len(level), variables + 1, np.int64)
    first_seen[terminals + root if root >= 0 else ~root] = 0
    _first_word_cut(first_seen, level, successors, terminals)
    own_level = np.concatenate([np.full(terminals, variables), level.astype(np.int64)])
    return _count_cuts(first_seen, own_level, variables)


@njit
def _first_word_cut(first_seen: IntegerArray, level: Int16Array, successors: Int32Array, terminals: int) -> None:
    for node in range(len(level) - 1, -1, -1):
        for child in (successors[2 * node], successors[2 * node + 1]):
            place = terminals + child if child >= 0 else ~child
            first_seen[place] = min(first_seen[place], level[node] + 1)


def _count_cuts(first_seen: IntegerArray, own_level: IntegerArray, variables: int) -> tuple[int, ...]:
    """Count, for each cut, the functions first seen at or before it whose own level is not above it."""
    met = first_seen <= variables
    steps = np.bincount(first_seen[met], minlength=variables + 2)
    steps[1:] -= np.bincount(own_level[met], minlength=variables + 1)[: variables + 1]
    return tuple(int(count) for count in np.cumsum(steps)[: variables + 1])


@njit
def _first_cut(first_seen: IntegerArray, level: Int16Array, low: Int32Array, high: Int32Array) -> None:
    """Lower ``first_seen[edge]`` to the first cut that the edge's function crosses, parents before children."""
    variables = level[0]
    for node in range(len(level) - 1, 0, -1):
        below = level[node] + 1
        for sign in range(2):
            if first_seen[2 * node + sign] <= variables:
                for child in (low[node] ^ sign, high[node] ^ sign):
                    first_seen[child] = min(first_seen[child], below)


def depth(low: Int32Array, high: Int32Array, roots: Int32Array) -> int:
    """Return the most tests on any path from a root to the constant."""
    longest = np.zeros(len(low), np.int64)
    _longest(longest, low, high)
    return int(longest[roots >> 1].max())


@njit
def _longest(longest: IntegerArray, low: Int32Array, high: Int32Array) -> None:
    for node in range(1, len(low)):
        longest[node] = 1 + max(longest[low[node] >> 1], longest[high[node] >> 1])

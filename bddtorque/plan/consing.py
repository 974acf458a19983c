"""Hash-consing in Numba: nodes of a reduced diagram, made once each, level by level from the bottom.

A diagram under construction is a list of nodes (level, low, high) and an open-addressing hash table over them.
Edges are plain integers: ``(node << complement) | sign``, where `complement` is 1 for diagrams with complement
edges and 0 for others. Ids below `terminals` are terminals; node j of the list has the id ``terminals + j``.
Nothing here allocates inside Numba, so memory is counted, and refused, before it is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.jit import njit
from bddtorque.plan.table import IntegerArray

DEFAULT_MEMORY_LIMIT = 2 << 30
FIRST_CAPACITY = 1 << 12
BYTES_A_NODE = 18  # level 2, low 4, high 4, two slots of the hash table 8
BYTES_A_NODE_FINISHING = 64  # what `canonical` sorts with, at most
MOST_NODES = 1 << 29  # edges are int32, with one bit for the sign

Int16Array = npt.NDArray[np.int16]
Int32Array = npt.NDArray[np.int32]


@njit
def _slot(level: int, low: int, high: int, mask: Any) -> Any:
    """Return where the search for a node starts in the hash table."""
    key = np.uint64(low) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(high) * np.uint64(0xC2B2AE3D27D4EB4F)
    key += np.uint64(level) * np.uint64(0x165667B19E3779F9)
    return np.int64((key ^ (key >> np.uint64(29))) >> np.uint64(17)) & mask


@njit
def _rehash(levels: Int16Array, lows: Int32Array, highs: Int32Array, count: int, slots: Int32Array) -> None:
    """Enter the first `count` nodes into empty `slots`."""
    mask = len(slots) - 1
    for node in range(count):
        slot = _slot(levels[node], lows[node], highs[node], mask)
        while slots[slot] != 0:
            slot = (slot + 1) & mask
        slots[slot] = node + 1


@njit
def _cons_level(
    edges: Int32Array,
    start: int,
    stop: int,
    level: int,
    terminals: int,
    complement: int,
    levels: Int16Array,
    lows: Int32Array,
    highs: Int32Array,
    slots: Int32Array,
    count: int,
) -> tuple[int, int]:
    """Replace pairs of edges by the edge of their node: ``edges[i] = node(edges[2i], edges[2i+1])``.

    Works in place from `start` to `stop` and returns how far it came and the new number of nodes; it stops short
    when the arrays are full.
    """
    mask = len(slots) - 1
    capacity = len(levels)
    last_low, last_high, last_edge = -1, -1, -1
    for i in range(start, stop):
        low = edges[2 * i]
        high = edges[2 * i + 1]
        if low == high:
            edges[i] = low
            continue
        # neighbours in a smooth table are often alike: this saves most searches
        if low == last_low and high == last_high:
            edges[i] = last_edge
            continue
        last_low, last_high = low, high
        sign = low & complement
        low ^= sign
        high ^= sign
        slot = _slot(level, low, high, mask)
        while True:
            node = slots[slot] - 1
            if node < 0:
                if count == capacity:
                    return i, count
                node = count
                levels[node] = level
                lows[node] = low
                highs[node] = high
                slots[slot] = node + 1
                count += 1
                break
            if lows[node] == low and highs[node] == high and levels[node] == level:
                break
            slot = (slot + 1) & mask
        last_edge = ((terminals + node) << complement) | sign
        edges[i] = last_edge
    return stop, count


@dataclass(frozen=True)
class Nodes:
    """Nodes in canonical numbering: deepest level first, within a level by (low, high).

    The numbering follows from the functions and the order alone, so the arrays are the same on every machine.
    Arrays have one entry a node; `low` and `high` are edges, `roots` the edges asked for.
    """

    level: Int16Array
    low: Int32Array
    high: Int32Array
    roots: Int32Array


class MemoryLimit(BddTorqueError):  # noqa: N818 - it names what happened
    """A diagram would take more memory than it may."""


class Consing:
    """A growing set of unique nodes; `add` reduces one list of 2**v terminal edges to its root edge.

    Parameters
    ----------
    terminals
        Number of terminals: their ids are 0 to terminals - 1.
    complement
        1 to share a node between a function and its complement (the low edge is kept regular), 0 not to.
    memory_limit
        Bytes that nodes and hash table may take.
    """

    def __init__(self, terminals: int, complement: int, memory_limit: int) -> None:
        self.terminals = terminals
        self.complement = complement
        self.memory_limit = memory_limit
        self.count = 0
        self._allocate(FIRST_CAPACITY)

    def _allocate(self, capacity: int) -> None:
        self.levels = np.empty(capacity, np.int16)
        self.lows = np.empty(capacity, np.int32)
        self.highs = np.empty(capacity, np.int32)
        self.slots = np.zeros(2 * capacity, np.int32)

    def _grow(self) -> None:
        levels, lows, highs = self.levels, self.lows, self.highs
        capacity = 2 * len(self.levels)
        self._afford((len(self.levels) + capacity) * BYTES_A_NODE)
        self._allocate(capacity)
        self.levels[: self.count] = levels[: self.count]
        self.lows[: self.count] = lows[: self.count]
        self.highs[: self.count] = highs[: self.count]
        _rehash(self.levels, self.lows, self.highs, self.count, self.slots)

    def _afford(self, needed: int) -> None:
        if needed > self.memory_limit or self.count >= MOST_NODES:
            raise MemoryLimit(
                f"diagram: {self.count} nodes and more need {needed} bytes, the memory limit leaves "
                f"{self.memory_limit} (and at most {MOST_NODES} nodes); use smaller blocks or raise the limit"
            )

    def add(self, edges: Int32Array) -> int:
        """Return the root edge of a function given by its 2**v terminal edges, top variable slowest; spoils `edges`."""
        length = len(edges) >> 1
        for level in range(len(edges).bit_length() - 2, -1, -1):
            done = 0
            while True:
                done, self.count = _cons_level(
                    edges, done, length, level, self.terminals, self.complement,
                    self.levels, self.lows, self.highs, self.slots, self.count,
                )  # fmt: skip
                if done == length:
                    break
                self._grow()
            length >>= 1
        return int(edges[0])

    def finish(self, roots: list[int]) -> Nodes:
        """Return the nodes in canonical numbering, with `roots` renumbered alike."""
        count = self.count
        self._afford(len(self.levels) * BYTES_A_NODE + count * BYTES_A_NODE_FINISHING)
        nodes = self.levels[:count], self.lows[:count], self.highs[:count]
        return canonical(*nodes, np.array(roots, np.int64), self.terminals, self.complement)


def canonical(
    level: Int16Array, low: IntegerArray, high: IntegerArray, roots: IntegerArray, terminals: int, complement: int
) -> Nodes:
    """Return nodes in canonical numbering, whatever order they come in; arguments as in `Nodes` and `Consing`."""
    count = len(level)
    new_id = np.arange(terminals + count, dtype=np.int64)

    def renumber(edges: IntegerArray) -> IntegerArray:
        renumbered: IntegerArray = (new_id[edges >> complement] << complement) | (edges & complement)
        return renumbered

    by_level = np.argsort(-level, kind="stable")
    bounds = np.flatnonzero(np.diff(level[by_level], prepend=-1, append=-1))
    new_low, new_high = np.empty(count, np.int32), np.empty(count, np.int32)
    for begin, end in pairwise(bounds.tolist()):
        members = by_level[begin:end]
        pair = (renumber(low[members]) << 32) | renumber(high[members])
        ranked = np.argsort(pair)
        new_id[terminals + members[ranked]] = terminals + np.arange(begin, end)
        new_low[begin:end] = pair[ranked] >> 32
        new_high[begin:end] = pair[ranked] & 0xFFFFFFFF
    return Nodes(level[by_level], new_low, new_high, renumber(roots).astype(np.int32))


def most_nodes(input_bits: int, output_bits: int) -> int:
    """Return the most nodes that a shared diagram with complement edges can have.

    A level has no more nodes than there are paths to it, nor than functions (up to complement) of what lies below.
    """
    return sum(min(output_bits << level, 1 << min(60, (1 << (input_bits - level)) - 1)) for level in range(input_bits))


def memory_needed(input_bits: int, output_bits: int, nodes: int | None = None) -> int:
    """Return the bytes that building a shared diagram can take at its peak.

    Parameters
    ----------
    input_bits, output_bits
        Size of the table.
    nodes
        Number of nodes expected; by default the most there can be (`most_nodes`).

    Notes
    -----
    A table entry takes 4 bytes of edges and up to 36 while bits are permuted, and words sorted. Node arrays double
    as they fill, and old and new exist together for a moment.
    """
    if nodes is None:
        nodes = most_nodes(input_bits, output_bits)
    capacity = max(FIRST_CAPACITY, 1 << max(nodes - 1, 0).bit_length())
    growing, finishing = capacity // 2 * BYTES_A_NODE, nodes * BYTES_A_NODE_FINISHING
    return table_memory(input_bits) + capacity * BYTES_A_NODE + max(growing, finishing)


def table_memory(input_bits: int) -> int:
    """Return the bytes that the entries of a table take while its diagram is built, nodes left out."""
    return 40 << input_bits


def memory_for_nodes(input_bits: int, memory_limit: int) -> int:
    """Return the bytes that `memory_limit` leaves for nodes.

    Raise `MemoryLimit` if not even the entries of the table and the first few nodes fit.
    """
    left = memory_limit - table_memory(input_bits)
    if left < FIRST_CAPACITY * BYTES_A_NODE:
        raise MemoryLimit(
            f"diagram: a table of {input_bits} input bits needs {memory_needed(input_bits, 1, 0)} bytes to reduce, "
            f"the limit is {memory_limit}; use smaller blocks or raise the memory limit"
        )
    return left

"""Form `edge_valued`: one diagram whose edges carry weights; the word is the sum of the weights on its path.

An edge-valued diagram (EVBDD) has one terminal, 0. Of a node's two edges the low one weighs nothing, which makes it
canonical: two functions that differ by a constant share one node. A function linear in its bits has one node a bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bddtorque.base.jit import inlined, njit
from bddtorque.diagrams.consing import DEFAULT_MEMORY_LIMIT, Int32Array, MemoryLimit
from bddtorque.diagrams.forms.bits import Int8Array, node_levels
from bddtorque.diagrams.forms.form import Int64Array
from bddtorque.diagrams.validation import check_order
from bddtorque.plan.table import IntegerArray, Table, frozen, restore_bits, word_dtype

BYTES_AN_ENTRY = 56
"""Bytes that building takes for each entry of the table: its node and offset, hash table, and nodes found, at most."""


@inlined
def walk_weights(
    root: Any,
    index: Any,
    positions: Int8Array,
    first: Any,
    successors: Int32Array,
    pairs: Any,
    weights: IntegerArray,
    weight: Any,
) -> Any:
    """Return the sum of the weights on the path of an index (int64); the offset of the whole table is not in it.

    Parameters
    ----------
    root
        Node to start at; 0 is the terminal.
    index
        Concatenated input words; bits above the table's are ignored.
    positions, first, successors, pairs, weights, weight
        Arrays of `EdgeValued`, and where each begins.
    """
    total = np.int64(0)
    node = np.int64(root)
    while node > 0:
        side = (index >> positions[np.uint64(first + node)]) & 1  # unsigned: nothing is counted from the end
        total += weights[np.uint64(weight + node)] * side
        node = np.int64(successors[np.uint64(pairs + 2 * node + side)])
    return total


@njit
def _walk_words(
    indices: Int64Array,
    root: int,
    positions: Int8Array,
    successors: Int32Array,
    weights: IntegerArray,
    words: Int64Array,
) -> None:
    for i in range(len(indices)):
        words[i] = walk_weights(root, indices[i], positions, 0, successors, 0, weights, 0)


@njit
def _cons_level(
    nodes: Int32Array,
    offsets: Int64Array,
    length: int,
    first: int,
    slots: Int32Array,
    low: Int32Array,
    high: Int32Array,
    weight: Int64Array,
) -> int:
    """Replace pairs of (node, offset) by that of their node, in place; return how many nodes of this level there are.

    Nodes of the level are numbered from `first` in the order they are met; `slots` is an empty hash table of them.
    """
    mask = np.uint64(len(slots) - 1)
    count = 0
    for i in range(length):
        zero, one = nodes[2 * i], nodes[2 * i + 1]
        offset = offsets[2 * i]
        step = offsets[2 * i + 1] - offset
        offsets[i] = offset
        if zero == one and step == 0:
            nodes[i] = zero
            continue
        key = np.uint64(zero) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(one) * np.uint64(0xC2B2AE3D27D4EB4F)
        key += np.uint64(step) * np.uint64(0x165667B19E3779F9)
        slot = ((key ^ (key >> np.uint64(29))) >> np.uint64(17)) & mask
        while True:
            found = slots[slot] - 1
            if found < 0:
                found = count
                low[found], high[found], weight[found] = zero, one, step
                slots[slot] = found + 1
                count += 1
                break
            if low[found] == zero and high[found] == one and weight[found] == step:
                break
            slot = (slot + np.uint64(1)) & mask
        nodes[i] = first + found
    return count


@dataclass(frozen=True, eq=False)
class EdgeValued:
    """An edge-valued diagram in packed arrays; node 0 is the terminal, children come before parents.

    Parameters
    ----------
    positions
        Shape ``(nodes + 1,)``, int8: position in the index (0 = least significant) of the bit each node tests.
    successors
        Shape ``(2 * (nodes + 1),)``, int32: the nodes that follow node k on 0 and 1, at ``2k`` and ``2k + 1``.
    weights
        Shape ``(nodes + 1,)``: what the high edge of each node adds to the word.
    root
        Node to start at.
    offset
        Word at index 0: where every sum starts.
    order
        Variable at each level, top first.
    dtype
        Type of the table's words.
    """

    name: ClassVar[str] = "edge_valued"
    constant: ClassVar[bool] = False
    arithmetic: ClassVar[int] = 0

    positions: Int8Array
    successors: Int32Array
    weights: IntegerArray
    root: int
    offset: int
    order: tuple[int, ...]
    dtype: np.dtype[np.signedinteger[Any]]

    def __post_init__(self) -> None:
        for field, dtype in (("positions", np.int8), ("successors", np.int32), ("weights", self.weights.dtype)):
            object.__setattr__(self, field, frozen(getattr(self, field), dtype))

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.positions, self.successors, self.weights, self.root, self.offset, self.order, self.dtype)
        return EdgeValued, fields

    @classmethod
    def from_table(
        cls, table: Table, order: tuple[int, ...] | None = None, memory_limit: int = DEFAULT_MEMORY_LIMIT
    ) -> EdgeValued:
        """Build the diagram of a table under an order (by default the table's own).

        Raises
        ------
        BddTorqueError
            If `order` is no permutation of the variables, or memory would not do.
        """
        order = check_order(np.arange(table.input_bits) if order is None else np.asarray(order), table.input_bits)
        if BYTES_AN_ENTRY << table.input_bits > memory_limit:
            raise MemoryLimit(
                f"diagram: a table of {table.input_bits} input bits needs {BYTES_AN_ENTRY << table.input_bits} bytes "
                f"for weighted edges, the limit is {memory_limit}; use smaller blocks or raise the memory limit"
            )
        nodes = np.zeros(1 << table.input_bits, np.int32)
        offsets = np.array(table.reordered(order), np.int64)
        positions, pairs = [np.zeros(1, np.int8)], [np.zeros((1, 2), np.int32)]
        weights, total = [np.zeros(1, np.int64)], 1
        for level in range(table.input_bits - 1, -1, -1):
            length = 1 << level
            low, high = np.empty(length, np.int32), np.empty(length, np.int32)
            weight, slots = np.empty(length, np.int64), np.zeros(2 * length, np.int32)
            count = _cons_level(nodes, offsets, length, total, slots, low, high, weight)
            positions.append(np.full(count, table.input_bits - 1 - order[level], np.int8))
            pairs.append(np.stack([low[:count], high[:count]], axis=1))
            weights.append(weight[:count].copy())
            total += count
        return cls(
            positions=np.concatenate(positions),
            successors=np.concatenate(pairs).reshape(-1),
            weights=np.concatenate(weights).astype(word_dtype(table.output_bits + 1, True)),  # a difference of words
            root=int(nodes[0]),
            offset=int(offsets[0]),
            order=order,
            dtype=table.values.dtype,
        )

    @property
    def node_count(self) -> int:
        """Number of decision nodes; the terminal is not counted."""
        return len(self.positions) - 1

    @property
    def bytes(self) -> int:
        """Bytes of all arrays."""
        return self.positions.nbytes + self.successors.nbytes + self.weights.nbytes

    @property
    def loads(self) -> int:
        """Loads a word at most: position, successor and weight at each level."""
        return 3 * len(self.order)

    @property
    def chain(self) -> tuple[int, ...]:
        """Bytes among which each load lies that waits for the one before: position, then successor, at each level."""
        return (self.positions.nbytes, self.successors.nbytes) * len(self.order)

    def expand(self) -> IntegerArray:
        """Return all values, shape ``(2**input_bits,)``, level by level."""
        level = node_levels(self.positions, self.order)
        level[0] = len(self.order)
        nodes, words = np.array([self.root]), np.array([self.offset], np.int64)
        for depth in range(len(self.order)):
            tested = level[nodes] == depth
            added = np.where(tested, self.weights[nodes], 0)
            low = np.where(tested, self.successors[2 * nodes], nodes)
            high = np.where(tested, self.successors[2 * nodes + 1], nodes)
            nodes = np.stack([low, high], axis=1).reshape(-1)
            words = np.stack([words, words + added], axis=1).reshape(-1)
        return restore_bits(words.astype(self.dtype), self.order)

    def walk(self, indices: Int64Array) -> Int64Array:
        """Return the words at some table indices, each by a walk of its own."""
        words = np.empty(len(indices), np.int64)
        _walk_words(indices, self.root, self.positions, self.successors, self.weights, words)
        return words + self.offset

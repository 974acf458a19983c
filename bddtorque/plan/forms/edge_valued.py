"""Form `edge_valued`: one diagram whose edges carry weights; the word is the sum of the weights on its path.

An edge-valued diagram (EVBDD) has one terminal, 0. Of a node's two edges the low one weighs nothing, which makes it
canonical: two functions that differ by a constant share one node. A function linear in its bits has one node a bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from bddtorque.base.jit import njit
from bddtorque.plan.diagram_memory import DEFAULT_MEMORY_LIMIT, MemoryLimit
from bddtorque.plan.forms.bits import Int8Array, node_levels
from bddtorque.plan.forms.form import Form, Int64Array
from bddtorque.plan.rows import merge_rows
from bddtorque.plan.table import Int32Array, IntegerArray, Table, restore_bits, word_dtype
from bddtorque.plan.validation import check_order

BYTES_AN_ENTRY = 56
"""Bytes that building takes for each entry of the table: its node and offset, rows merged, and nodes found, at most."""


@njit
def _walk_words(
    indices: Int64Array,
    root: int,
    positions: Int8Array,
    successors: Int32Array,
    weights: IntegerArray,
    words: Int64Array,
) -> None:
    """Add up the weights on the path of each index; bits above the table's are ignored."""
    for i in range(len(indices)):
        node = root
        while node > 0:
            side = (indices[i] >> positions[node]) & 1
            words[i] += weights[node] * side
            node = successors[2 * node + side]


@dataclass(frozen=True, eq=False)
class EdgeValued(Form):
    """An edge-valued diagram in packed arrays; node 0 is the terminal, children come before parents."""

    name: ClassVar[str] = "edge_valued"
    constant: ClassVar[bool] = False

    # (nodes + 1,), int8: position in the index (0 = least significant) of the bit each node tests
    positions: Int8Array
    # (2 * (nodes + 1),), int32: the nodes that follow node k on 0 and 1, at 2k and 2k + 1
    successors: Int32Array
    weights: IntegerArray  # (nodes + 1,): what the high edge of each node adds to the word
    root: int  # node to start at
    offset: int  # word at index 0: where every sum starts
    order: tuple[int, ...]  # variable at each level, top first
    dtype: np.dtype[np.signedinteger[Any]]  # type of the table's words

    @classmethod
    def from_table(
        cls, table: Table, order: tuple[int, ...] | None = None, memory_limit: int = DEFAULT_MEMORY_LIMIT
    ) -> Self:
        """Build the diagram of a table under an order (by default the table's own) within `memory_limit` bytes."""
        order = check_order(order, table.input_bits)
        if BYTES_AN_ENTRY << table.input_bits > memory_limit:
            raise MemoryLimit(
                f"form '{cls.name}': a table of {table.input_bits} input bits needs "
                f"{BYTES_AN_ENTRY << table.input_bits} bytes to merge, the limit is {memory_limit}; use smaller blocks "
                "or raise the memory limit"
            )
        dtype = word_dtype(table.output_bits + 1, True)  # holds any difference of two words
        nodes, offsets = np.zeros(1 << table.input_bits, np.int32), table.reordered(order).astype(np.int64)
        positions, pairs, weights = [np.zeros(1, np.int8)], [np.zeros((1, 2), np.int32)], [np.zeros(1, dtype)]
        total = 1
        for variable in reversed(order):
            rows = np.column_stack([nodes.reshape(-1, 2), offsets[1::2] - offsets[::2]])  # low, high, weight
            nodes, offsets = nodes[::2].copy(), offsets[::2]
            tested = (rows[:, 0] != rows[:, 1]) | (rows[:, 2] != 0)
            rows = rows[tested]
            if len(rows):
                classes, rows = merge_rows(rows)
                nodes[tested] = total + classes
            positions.append(np.full(len(rows), table.input_bits - 1 - variable, np.int8))
            pairs.append(rows[:, :2].astype(np.int32))
            weights.append(rows[:, 2].astype(dtype))
            total += len(rows)
        return cls(
            positions=np.concatenate(positions),
            successors=np.concatenate(pairs).reshape(-1),
            weights=np.concatenate(weights),
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
        words = np.full(len(indices), self.offset, np.int64)
        _walk_words(indices, self.root, self.positions, self.successors, self.weights, words)
        return words

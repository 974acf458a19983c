"""Form `multi_terminal`: one diagram whose terminals are whole words, so that one walk gives the word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from bddtorque.base.jit import njit
from bddtorque.plan.bdd import cofactors
from bddtorque.plan.consing import DEFAULT_MEMORY_LIMIT, Consing, Int32Array, memory_for_nodes
from bddtorque.plan.forms.bits import Int8Array, node_levels
from bddtorque.plan.forms.form import Form, Int64Array, Order
from bddtorque.plan.table import IntegerArray, Table, restore_bits
from bddtorque.plan.validation import check_order


@njit
def walk_terminal(root: int, index: int, positions: Int8Array, successors: Int32Array) -> int:
    """Return the place in `words` of the word at a table index.

    Parameters
    ----------
    root
        Node, or ``~place`` if the whole table is one word.
    index
        Concatenated input words; bits above the table's are ignored.
    positions, successors
        Arrays of `MultiTerminal`.
    """
    node = root
    while node >= 0:
        node = successors[2 * node + ((index >> positions[node]) & 1)]
    return ~node


@njit
def _walk_places(
    indices: Int64Array, root: int, positions: Int8Array, successors: Int32Array, places: Int64Array
) -> None:
    for i in range(len(indices)):
        places[i] = walk_terminal(root, indices[i], positions, successors)


@dataclass(frozen=True, eq=False)
class MultiTerminal(Form):
    """A multi-terminal diagram in packed arrays, nodes from the deepest level up, by (low, high) within a level."""

    name: ClassVar[str] = "multi_terminal"
    constant: ClassVar[bool] = False

    # (nodes,), int8: position in the index (0 = least significant) of the bit each node tests
    positions: Int8Array
    # (2 * nodes,), int32: what follows node k on 0 and 1 at 2k and 2k + 1: a node, or ~place
    successors: Int32Array
    words: IntegerArray  # (distinct words,): the words in increasing order, in the table's type
    root: int  # node, or ~place if the whole table is one word
    order: tuple[int, ...]  # variable at each level, top first

    @classmethod
    def from_table(cls, table: Table, order: Order = None, memory_limit: int = DEFAULT_MEMORY_LIMIT) -> Self:
        """Build the diagram of a table under an order (by default the table's own)."""
        order = check_order(order, table.input_bits)
        limit = memory_for_nodes(table.input_bits, memory_limit)
        words, places = _number_words(table.reordered(order))
        consing = Consing(terminals=len(words), complement=0, memory_limit=limit)
        nodes = consing.finish([consing.add(places)])
        ids = np.stack([nodes.low, nodes.high], axis=1).reshape(-1)
        root = int(nodes.roots[0])
        return cls(
            positions=(table.input_bits - 1 - np.array(order, np.int8))[nodes.level],
            successors=np.where(ids < len(words), ~ids, ids - len(words)),
            words=words,
            root=~root if root < len(words) else root - len(words),
            order=order,
        )

    @property
    def node_count(self) -> int:
        """Number of decision nodes; terminals are not counted."""
        return len(self.positions)

    @property
    def chain(self) -> tuple[int, ...]:
        """Bytes among which each load lies that waits for the one before."""
        return (self.positions.nbytes, self.successors.nbytes) * len(self.order) + (self.words.nbytes,)

    def expand(self) -> IntegerArray:
        """Return all values, shape ``(2**input_bits,)``, level by level."""
        words, levels = len(self.words), len(self.order)  # edges: the words first, then the nodes
        level = np.concatenate([np.full(words, levels, np.int16), node_levels(self.positions, self.order)])
        ids = np.where(self.successors < 0, ~self.successors, self.successors + words)
        low, high = (np.concatenate([np.zeros(words, np.int32), ids[side::2]]) for side in (0, 1))
        edges = np.empty((1, 1 << levels), np.int32)
        edges[0, 0] = ~self.root if self.root < 0 else self.root + words
        cofactors(edges, 0, levels, level, low, high)
        return restore_bits(self.words[edges[0]], self.order)

    def walk(self, indices: Int64Array) -> Int64Array:
        """Return the words at some table indices, each by a walk of its own."""
        places = np.empty(len(indices), np.int64)
        _walk_places(indices, self.root, self.positions, self.successors, places)
        return self.words[places].astype(np.int64)


def _number_words(values: IntegerArray) -> tuple[IntegerArray, npt.NDArray[np.int32]]:
    """Return the distinct values in increasing order, and the place of each value among them."""
    lowest, highest = int(values.min()), int(values.max())
    if highest - lowest >= len(values):  # a table of all numbers in between would be larger than the values
        words, places = np.unique(values, return_inverse=True)
        return words, places.astype(np.int32)
    offsets = values.astype(np.int64) - lowest
    present = np.zeros(highest - lowest + 1, np.bool_)
    present[offsets] = True
    place = np.cumsum(present, dtype=np.int32) - np.int32(1)
    return (np.flatnonzero(present) + lowest).astype(values.dtype), place[offsets]

"""Shared reduced ordered binary decision diagrams with complement edges, in packed arrays.

Conventions, used by every file of this package:

- *variable* i is bit i of a table's index, 0 being the most significant; ``order[level]`` is the variable tested
  at a level, level 0 at the top;
- node 0 is the constant *false*; its level is the number of variables;
- an *edge* is ``2 * node + complement``, so edge 0 is false and edge 1 is true;
- the low edge (variable = 0) of a node is regular (even): then each function has one edge, and a regular edge is a
  function that is 0 at the all-zero input;
- nodes are numbered from the deepest level up, within a level by (low, high), so children come before parents
  and the arrays follow from the functions and the order alone;
- ``roots[b]`` is the edge of output bit b, bit 0 being the least significant.

Arrays from files are checked, so that a damaged or hostile one can neither crash a walk nor mislead it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.jit import njit
from bddtorque.plan.table import (
    MAX_INPUT_BITS,
    MAX_OUTPUT_BITS,
    FrozenArrays,
    Int16Array,
    Int32Array,
    IntegerArray,
    restore_bits,
    word_dtype,
)

BoolArray = npt.NDArray[np.bool_]
MAX_NODES = 1 << 29
"""Of a diagram: edges are int32, with one bit for the sign."""
Edges = tuple[Int16Array, Int32Array, Int32Array]
"""Level, low and high of every edge of any diagram: the level of its function (`variables` for a constant), and its
cofactors."""


@dataclass(frozen=True, eq=False, repr=False)
class Diagram(FrozenArrays):
    """A shared diagram of all output bits of a table; see the module for the conventions.

    `reduction` builds one from a table, `from_arrays` one from stored arrays, which it checks; the constructor trusts
    its arguments.
    """

    level: Int16Array  # (nodes + 1,), int16: level of each node, the number of variables for node 0
    # low, high: (nodes + 1,), int32: edges followed when the tested variable is 0 and 1
    low: Int32Array
    high: Int32Array
    roots: Int32Array  # (output_bits,), int32: edge of each output bit, least significant bit first
    order: tuple[int, ...]  # variable at each level, top first
    signed: bool  # whether the output word is two's complement

    @classmethod
    def from_arrays(
        cls,
        level: npt.ArrayLike,
        low: npt.ArrayLike,
        high: npt.ArrayLike,
        roots: npt.ArrayLike,
        order: npt.ArrayLike,
        signed: bool,
    ) -> Diagram:
        """Return the diagram that stored arrays hold.

        Raise `BddTorqueError` unless the arrays are a reduced, ordered, canonical diagram in this module's numbering,
        every node of which is reachable from a root.
        """
        variables = check_order(order)
        checked = check_arrays(np.asarray(level), np.asarray(low), np.asarray(high), np.asarray(roots), len(variables))
        return cls(*checked, order=variables, signed=bool(signed))

    @classmethod
    def from_nodes(
        cls,
        level: IntegerArray,
        low: IntegerArray,
        high: IntegerArray,
        roots: IntegerArray,
        order: tuple[int, ...],
        signed: bool,
    ) -> Diagram:
        """Return the diagram of decision nodes in any sequence, numbered 1, 2, ... in `low`, `high` and `roots`.

        Nodes are renumbered as the module says, and the constant is added as node 0.
        """
        new_number = np.zeros(len(level) + 1, np.int64)

        def renumber(edges: IntegerArray) -> IntegerArray:
            renumbered: IntegerArray = (new_number[edges >> 1] << 1) | (edges & 1)
            return renumbered

        by_level = np.argsort(-level, kind="stable")
        bounds = np.flatnonzero(np.diff(level[by_level], prepend=-1, append=-1))
        new_low, new_high = np.zeros(len(level) + 1, np.int32), np.zeros(len(level) + 1, np.int32)
        for begin, end in pairwise((bounds + 1).tolist()):
            members = by_level[begin - 1 : end - 1]
            pair = (renumber(low[members]) << 32) | renumber(high[members])
            ranked = np.argsort(pair)
            new_number[1 + members[ranked]] = np.arange(begin, end)
            new_low[begin:end] = pair[ranked] >> 32
            new_high[begin:end] = pair[ranked] & 0xFFFFFFFF
        new_level = np.append(len(order), level[by_level]).astype(np.int16)
        return cls(new_level, new_low, new_high, renumber(roots).astype(np.int32), order, signed)

    def arrays(self) -> dict[str, IntegerArray]:
        """Return what `from_arrays` takes, but `signed`: `level`, `low`, `high`, `roots`, and `order` as int16."""
        nodes: dict[str, IntegerArray] = {"level": self.level, "low": self.low, "high": self.high}
        return {**nodes, "roots": self.roots, "order": np.array(self.order, np.int16)}

    @property
    def input_bits(self) -> int:
        """Number of variables."""
        return len(self.order)

    @property
    def output_bits(self) -> int:
        """Number of roots."""
        return len(self.roots)

    @property
    def node_count(self) -> int:
        """Number of decision nodes; the constant is not counted."""
        return len(self.level) - 1

    @property
    def positions(self) -> IntegerArray:
        """Position in the index (0 = least significant) of the bit tested at each level; int8."""
        return self.input_bits - 1 - np.array(self.order, np.int8)

    @cached_property
    def content_key(self) -> str:
        """SHA-256 (hexadecimal) of the arrays, the order and the sign: the same on every machine."""
        digest = hashlib.sha256(f"diagram:{self.output_bits}:{int(self.signed)}:".encode())
        for array in self.arrays().values():
            digest.update(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())
        return digest.hexdigest()

    @cached_property
    def level_widths(self) -> tuple[int, ...]:
        """Number of nodes at each level, top first."""
        return tuple(int(width) for width in np.bincount(self.level[1:], minlength=self.input_bits))

    @cached_property
    def bit_nodes(self) -> tuple[int, ...]:
        """Number of nodes that each output bit needs, shared ones counted with every bit; least significant first."""
        return tuple(int(reached(self.low, self.high, root).sum()) - 1 for root in self.roots[:, None])

    @cached_property
    def crossings(self) -> tuple[int, ...]:
        """Number of distinct subfunctions, complements told apart, that cross each cut.

        Cut l lies just above level l, l = 0 .. variables; what crosses it are the functions that an edge from above (or
        a root) reaches at level l or deeper. Below the last cut only constants are left.
        """
        return _crossings(self.level, self.low, self.high, self.roots)

    @property
    def rails(self) -> tuple[int, ...]:
        """Wires of a cascade cut just above each level, and at the leaves: ceil(log2) of `crossings`."""
        return tuple(max(count - 1, 0).bit_length() for count in self.crossings)

    @cached_property
    def paths(self) -> list[tuple[int, list[int]]]:
        """Of each output bit: the most tests on any path from its root, and the variables that it may test."""
        longest, masks = _longest_and_masks(self.level, self.low, self.high)
        return [
            (int(longest[node]), [variable for k, variable in enumerate(self.order) if masks[node] >> k & 1])
            for node in self.roots >> 1
        ]

    @property
    def depth(self) -> int:
        """Most tests on any path from a root: at most `input_bits`."""
        return max(tests for tests, _ in self.paths)

    def expand(self) -> IntegerArray:
        """Return the values of the table, shape ``(2**input_bits,)``, expanded level by level from the roots."""
        return expand_words(signed_edges(self.level, self.low, self.high), self.roots, self.order, self.signed)


def signed_edges(level: Int16Array, low: Int32Array, high: Int32Array) -> Edges:
    """Return the edges of a diagram with complement edges: edge 2k + 1 is the complement of edge 2k."""
    sign = np.array([0, 1], np.int32)
    return np.repeat(level, 2), (low[:, None] ^ sign).reshape(-1), (high[:, None] ^ sign).reshape(-1)


def expand_words(edges: Edges, roots: Int32Array, order: tuple[int, ...], signed: bool) -> IntegerArray:
    """Return the values of the table that signed edges hold, shape ``(2**input_bits,)``."""
    reached = np.empty(1 << len(order), np.int32)

    def expand(root: int) -> Int32Array:
        reached[0] = root
        cofactors(reached[None], 0, len(order), *edges)
        return reached

    return join_bits(map(expand, roots), len(roots), order, signed)


def join_bits(bits: Iterable[IntegerArray], count: int, order: tuple[int, ...], signed: bool) -> IntegerArray:
    """Return the values of a table, shape ``(2**input_bits,)``.

    Parameters
    ----------
    bits
        Each output bit, least significant first, at every index whose bits are in this order.
    count
        Number of output bits.
    order, signed
        As of `Diagram`.
    """
    dtype = word_dtype(count, signed)
    words = np.zeros(1 << len(order), dtype)
    for bit, values in enumerate(bits):
        weight = -(1 << bit) if signed and bit == count - 1 else 1 << bit
        words += values.astype(dtype) * dtype.type(weight)
    return restore_bits(words, order)


@njit
def cofactors(edges: Int32Array, start: int, stop: int, level: Int16Array, low: Int32Array, high: Int32Array) -> None:
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


def _crossings(level: Int16Array, low: Int32Array, high: Int32Array, roots: Int32Array) -> tuple[int, ...]:
    variables = int(level[0])
    first_seen = np.full(2 * len(level), variables + 1, np.int64)
    first_seen[roots] = 0
    _first_cut(first_seen, level, low, high)
    met = first_seen <= variables  # what is first seen at or before a cut crosses it, if its own level is not above
    steps = np.bincount(first_seen[met], minlength=variables + 2)
    steps[1:] -= np.bincount(np.repeat(level, 2)[met], minlength=variables + 1)[: variables + 1]
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


@njit
def _longest_and_masks(level: Int16Array, low: Int32Array, high: Int32Array) -> tuple[IntegerArray, IntegerArray]:
    """Return, for each node, the most tests from it to the constant, and the set of levels it can reach."""
    longest = np.zeros(len(level), np.int64)
    masks = np.zeros(len(level), np.int64)
    for node in range(1, len(level)):
        left, right = low[node] >> 1, high[node] >> 1
        longest[node] = 1 + max(longest[left], longest[right])
        masks[node] = masks[left] | masks[right] | (np.int64(1) << level[node])
    return longest, masks


def check_order(given: npt.ArrayLike | None, variables: int | None = None) -> tuple[int, ...]:
    """Return an order as a tuple of ints; None stands for 0 to `variables` - 1.

    Raise `BddTorqueError` unless it is a permutation of 0 to n - 1, n being `variables` if given and 1 to 26 in any
    case.
    """
    order = np.asarray(range(variables or 0) if given is None else given)
    if order.ndim != 1 or order.dtype.kind not in "iu" or not 1 <= len(order) <= MAX_INPUT_BITS:
        raise BddTorqueError(
            f"diagram: the order must be 1 to {MAX_INPUT_BITS} integers in one dimension, "
            f"not {order.dtype} of shape {order.shape}"
        )
    found = tuple(int(variable) for variable in order)
    wanted = len(found) if variables is None else variables
    if sorted(found) != list(range(wanted)):
        raise BddTorqueError(f"diagram: the order must be a permutation of 0 to {wanted - 1}, not {found}")
    return found


def within(array: npt.NDArray[Any], name: str, lowest: int, highest: int) -> IntegerArray:
    """Return `array` as int64.

    Raise `BddTorqueError` unless every entry is from `lowest` to `highest`.
    """
    refuse((array < lowest) | (array > highest), name, f"must be {lowest} to {highest}", array)
    return array.astype(np.int64)


def refuse(wrong: BoolArray, name: str, required: str, given: npt.NDArray[Any]) -> None:
    """Raise an error that names the first wrong entry, if there is one."""
    if wrong.any():
        first = int(wrong.argmax())
        raise BddTorqueError(f"diagram: {name}[{first}] {required}, found {given[first]}")


def check_arrays(
    level: npt.NDArray[Any], low: npt.NDArray[Any], high: npt.NDArray[Any], roots: npt.NDArray[Any], variables: int
) -> tuple[Int16Array, Int32Array, Int32Array, Int32Array]:
    """Return the arrays of a `Diagram` in their own types.

    Raise `BddTorqueError` unless they are a reduced, ordered diagram in canonical numbering (conventions in `bdd`).
    """
    for name, array in (("level", level), ("low", low), ("high", high), ("roots", roots)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise BddTorqueError(
                f"diagram: {name} must be integers in one dimension, not {array.dtype} of shape {array.shape}"
            )
    if not len(level) == len(low) == len(high) or not 1 <= len(level) <= MAX_NODES:
        raise BddTorqueError(
            f"diagram: level, low and high must be equally long, with the constant at least 1, "
            f"not {len(level)}, {len(low)}, {len(high)}"
        )
    if not 1 <= len(roots) <= MAX_OUTPUT_BITS:
        raise BddTorqueError(f"diagram: there must be 1 to {MAX_OUTPUT_BITS} roots, not {len(roots)}")
    edges = 2 * len(level) - 1
    level = within(level, "level", 0, variables)
    low, high = within(low, "low", 0, edges), within(high, "high", 0, edges)
    roots = within(roots, "roots", 0, edges)
    constant = int(level[0]), int(low[0]), int(high[0])
    if constant != (variables, 0, 0):
        raise BddTorqueError(
            f"diagram: node 0, the constant, must have level {variables} and edges 0, 0, found {constant}"
        )
    node = np.arange(len(level))
    inner = node > 0
    refuse(inner & (level == variables), "level", f"must be below {variables} for a decision node", level)
    refuse(inner & (low & 1 == 1), "low", "must be a regular (even) edge", low)
    refuse(inner & (low == high), "high", "must differ from the low edge (else the node is redundant)", high)
    for name, edge in (("low", low), ("high", high)):
        refuse(inner & (edge >> 1 >= node), name, "must lead to a node numbered before its own", edge)
        refuse(inner & (level[edge >> 1] <= level), name, "must lead to a deeper level", edge)
    before = _precedes(level, low, high)
    refuse(~before, "level", "must belong to a node after its predecessor in (deeper level, low, high)", level)
    refuse(~reached(low, high, roots), "level", "must belong to a node that a root reaches", level)
    return level.astype(np.int16), low.astype(np.int32), high.astype(np.int32), roots.astype(np.int32)


def _precedes(level: IntegerArray, low: IntegerArray, high: IntegerArray) -> BoolArray:
    """Tell for each node whether it comes strictly after the one before it; strictly, so no two nodes are equal."""
    steps = np.zeros(len(level), np.int64)
    for key in (high, low, -level):  # the most significant key last, so that it decides
        difference = np.sign(np.diff(key, prepend=key[0]))
        steps = np.where(difference != 0, difference, steps)
    steps[:2] = 1
    return np.asarray(steps > 0)


@njit
def _mark(reached: BoolArray, low: IntegerArray, high: IntegerArray) -> None:
    for node in range(len(reached) - 1, 0, -1):  # parents come after their children
        if reached[node]:
            reached[low[node] >> 1] = True
            reached[high[node] >> 1] = True


def reached(low: IntegerArray, high: IntegerArray, roots: IntegerArray) -> BoolArray:
    """Tell for each node whether a root reaches it; for the constant it is always true."""
    found = np.zeros(len(low), np.bool_)
    found[0] = True
    found[roots >> 1] = True
    _mark(found, low, high)
    return found

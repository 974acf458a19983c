"""Forms that walk a diagram for each output bit, which evaluators run.

`bits`: each output bit walks the shared diagram by itself, one test a level at most: the evaluator of the Boolean/BDD
paper, in which v input bits need at most v tests an output bit.

`lockstep`: the diagrams of all output bits walked side by side, two levels a step. It is form `bits` made for a
processor that does several things at once. Each output bit still walks a diagram of its own; but the tests that its
reduced diagram skips are put back (`rows.unroll`), so that all walks test the same bits at the same time, none
branches, and none waits for another: where one walk waits for memory, the others go on. Every input takes the same
operations.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from bddtorque.base.jit import inlined, njit
from bddtorque.plan.bdd import Diagram, expand_words, join_bits, signed_edges
from bddtorque.plan.engine import DEFAULT_MEMORY_LIMIT
from bddtorque.plan.forms.form import Form, Int64Array
from bddtorque.plan.rows import digit_cuts, link_rows, row_entries, unroll
from bddtorque.plan.table import Int32Array, IntegerArray

Int8Array = npt.NDArray[np.int8]
UInt32Array = npt.NDArray[np.uint32]

LANES = 4
"""Walks kept in registers at a time; the processor overlaps one such group with the next by itself."""
LEVELS = 2
"""Levels that a step takes; more would make rows of which most is never read."""


@njit
def walk_bit(edge: int, index: int, positions: Int8Array, successors: Int32Array) -> tuple[int, int]:
    """Return one output bit, 0 or 1, and the number of tests made.

    Parameters
    ----------
    edge
        Root edge of the output bit.
    index
        Concatenated input words; bits above the table's are ignored.
    positions, successors
        Arrays of `Bits`.
    """
    tests = 0
    while edge > 1:
        bit = (index >> positions[edge >> 1]) & 1
        edge = successors[(edge & ~1) | bit] ^ (edge & 1)
        tests += 1
    return edge, tests


@njit
def walk_word(index: int, roots: Int32Array, positions: Int8Array, successors: Int32Array, signed: int) -> int:
    """Return the whole output word, one bit after another; `signed` is 1 for two's complement, else 0."""
    word = 0
    for bit in range(len(roots)):
        word |= walk_bit(roots[bit], index, positions, successors)[0] << bit
    return word - (((word >> (len(roots) - 1)) & signed) << len(roots))


@njit
def _walk_each_bit(
    indices: Int64Array,
    roots: Int32Array,
    positions: Int8Array,
    successors: Int32Array,
    signed: int,
    words: Int64Array,
) -> None:
    for i in range(len(indices)):
        words[i] = walk_word(indices[i], roots, positions, successors, signed)


@njit
def _count_tests(
    indices: Int64Array, roots: Int32Array, positions: Int8Array, successors: Int32Array, tests: npt.NDArray[np.int64]
) -> None:
    for i in range(len(indices)):
        for bit in range(len(roots)):
            tests[i, bit] = walk_bit(roots[bit], indices[i], positions, successors)[1]


@dataclass(frozen=True, eq=False)
class Bits(Form):
    """A shared diagram laid out for walking; edges and node numbers are those of `Diagram`."""

    name: ClassVar[str] = "bits"
    constant: ClassVar[bool] = False

    # (nodes + 1,), int8: position in the index (0 = least significant) of the bit each node tests; 0 for the
    # constant, which tests none
    positions: Int8Array
    successors: Int32Array  # (2 * (nodes + 1),), int32: low and high edge of node k at 2k and 2k + 1
    roots: Int32Array  # (output_bits,), int32: edge of each output bit, least significant first
    order: tuple[int, ...]  # variable at each level, top first
    signed: bool  # whether the output word is two's complement

    @classmethod
    def from_diagram(cls, diagram: Diagram) -> Self:
        """Lower a diagram."""
        return cls(
            positions=np.append(diagram.positions, np.int8(0))[diagram.level],
            successors=np.stack([diagram.low, diagram.high], axis=1).reshape(-1),
            roots=diagram.roots,
            order=diagram.order,
            signed=diagram.signed,
        )

    @property
    def loads(self) -> int:
        """Loads a word at most: position and successor at each level, for every output bit."""
        return 2 * len(self.order) * len(self.roots)

    @property
    def chain(self) -> tuple[int, ...]:
        """Bytes among which each load lies that waits for the one before: position, then successor, at each level."""
        return (self.positions.nbytes, self.successors.nbytes) * len(self.order)

    def expand(self) -> IntegerArray:
        """Return all values, shape ``(2**input_bits,)``, level by level."""
        level = node_levels(self.positions, self.order)
        level[0] = len(self.order)
        low, high = self.successors[::2], self.successors[1::2]
        return expand_words(signed_edges(level, low, high), self.roots, self.order, self.signed)

    def walk(self, indices: Int64Array) -> Int64Array:
        """Return the words at some table indices, each bit by a walk of its own."""
        words = np.empty(len(indices), np.int64)
        _walk_each_bit(indices, self.roots, self.positions, self.successors, int(self.signed), words)
        return words

    def count_tests(self, indices: Int64Array) -> Int64Array:
        """Return the tests that each output bit takes, shape ``(len(indices), output_bits)``."""
        tests = np.empty((len(indices), len(self.roots)), np.int64)
        _count_tests(indices, self.roots, self.positions, self.successors, tests)
        return tests


def node_levels(positions: Int8Array, order: tuple[int, ...]) -> npt.NDArray[np.int16]:
    """Return the level of each node from the position of the bit it tests."""
    level_of_position = np.empty(len(order), np.int16)
    level_of_position[len(order) - 1 - np.array(order)] = np.arange(len(order))
    return level_of_position[positions]


@inlined
def walk_lanes(
    index: Any,
    positions: Int8Array,
    first: Any,
    levels: Any,
    successors: UInt32Array,
    rows: Any,
    roots: Int32Array,
    root: Any,
    count: Any,
) -> Any:
    """Return the output bits as one unsigned word (uint64), `LANES` walks at a time.

    Everything is unsigned: of a signed index Numba would ask each time whether it counts from the end.

    Parameters
    ----------
    index
        Concatenated input words; bits above the table's are ignored.
    positions, first, levels
        The positions tested start at ``first`` and are ``levels`` many.
    successors, rows
        The rows of the diagram start at ``rows``.
    roots, root, count
        The roots start at ``root``; there are ``count`` of them, a multiple of `LANES`.
    """
    one, mask, start = np.uint64(1), np.uint64((1 << LEVELS) - 1), np.uint64(rows)
    tested, arranged = np.uint64(index), np.uint64(0)
    for level in range(first, first + levels):  # the bits in the order in which levels test them
        arranged = (arranged << one) | ((tested >> np.uint64(positions[level])) & one)
    top, word = (levels - 1) // LEVELS * LEVELS, np.uint64(0)
    for lane in range(0, count, LANES):
        a, b = np.uint64(roots[root + lane]), np.uint64(roots[root + lane + 1])
        c, d = np.uint64(roots[root + lane + 2]), np.uint64(roots[root + lane + 3])
        for shift in range(top, -1, -LEVELS):
            side = start + ((arranged >> np.uint64(shift)) & mask)
            a, b = np.uint64(successors[side + a]), np.uint64(successors[side + b])
            c, d = np.uint64(successors[side + c]), np.uint64(successors[side + d])
        word |= (a | (b << one) | (c << np.uint64(2)) | (d << np.uint64(3))) << np.uint64(lane)
    return word


@njit
def _walk_side_by_side(
    indices: Int64Array, positions: Int8Array, successors: UInt32Array, roots: Int32Array, words: Int64Array
) -> None:
    for i in range(len(indices)):
        words[i] = walk_lanes(indices[i], positions, 0, len(positions), successors, 0, roots, 0, len(roots))


@dataclass(frozen=True, eq=False)
class Lockstep(Form):
    """An unrolled diagram of all output bits."""

    name: ClassVar[str] = "lockstep"
    constant: ClassVar[bool] = True

    # (input_bits,), int8: position in the index (0 = least significant) of the bit tested at each level
    positions: Int8Array
    # uint32, rows: what follows for each value of the bits tested in a step, where the row to go on with begins; at the
    # last step the output bit itself. The first step has one level where there is an odd number
    successors: UInt32Array
    # int32: where the row begins at which each output bit starts, least significant bit first; filled up with
    # repetitions to a multiple of `LANES`
    roots: Int32Array
    order: tuple[int, ...]  # variable at each level, top first
    output_bits: int  # number of walks that count
    signed: bool  # whether the output word is two's complement

    @classmethod
    def from_diagram(cls, diagram: Diagram, memory_limit: int = DEFAULT_MEMORY_LIMIT) -> Self:
        """Unroll a diagram, `LEVELS` levels a step."""
        cuts = digit_cuts(diagram.input_bits, LEVELS)
        edges = signed_edges(diagram.level, diagram.low, diagram.high)
        entries, steps, constants = unroll(edges, diagram.roots, cuts, memory_limit)
        starts = np.cumsum([0, *(step.size for step in steps)])
        rows = [*link_rows(steps, starts[1:-1]), constants[steps[-1]].astype(np.int64)]
        filled = -diagram.output_bits % LANES
        return cls(
            positions=diagram.positions,
            successors=np.concatenate([row.reshape(-1) for row in rows]).astype(np.uint32),
            roots=(steps[0].shape[1] * np.append(entries, np.repeat(entries[:1], filled))).astype(np.int32),
            order=diagram.order,
            output_bits=diagram.output_bits,
            signed=diagram.signed,
        )

    @property
    def arithmetic(self) -> int:
        """Cycles for which a word waits beside its loads: the bits put in the order of the levels."""
        return len(self.order)

    @property
    def loads(self) -> int:
        """Loads a word: the position of each level, and for every walk a successor at each step."""
        return len(self.order) + len(self.chain) * len(self.roots)

    @property
    def chain(self) -> tuple[int, ...]:
        """Bytes among which each load lies that waits for the one before: a successor at each step."""
        return (self.successors.nbytes,) * (len(digit_cuts(len(self.order), LEVELS)) - 1)

    def expand(self) -> IntegerArray:
        """Return all values, shape ``(2**input_bits,)``, step by step."""

        def expand(root: int) -> Int64Array:
            reached = np.array([root], np.int64)
            for above, below in pairwise(digit_cuts(len(self.order), LEVELS)):
                reached = self.successors[row_entries(reached, below - above)].astype(np.int64)
            return reached

        return join_bits(map(expand, self.roots[: self.output_bits]), self.output_bits, self.order, self.signed)

    def walk(self, indices: Int64Array) -> Int64Array:
        """Return the words at some table indices, all output bits of each side by side."""
        words = np.empty(len(indices), np.int64)
        _walk_side_by_side(indices, self.positions, self.successors, self.roots, words)
        words &= (1 << self.output_bits) - 1
        return words - (((words >> (self.output_bits - 1)) & int(self.signed)) << self.output_bits)

"""Form `bits`: each output bit walks the shared diagram by itself, one test a level at most.

The evaluator of the Boolean/BDD paper: v input bits need at most v tests an output bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from bddtorque.base.jit import njit
from bddtorque.plan.bdd import Diagram, expand_words, signed_edges
from bddtorque.plan.forms.form import Form, Int64Array
from bddtorque.plan.table import Int32Array, IntegerArray

Int8Array = npt.NDArray[np.int8]


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
def _walk_words(
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
        _walk_words(indices, self.roots, self.positions, self.successors, int(self.signed), words)
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

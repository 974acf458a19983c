"""`Form`, the interface of every lowered form of a block, and the check that each must pass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.table import FrozenArrays, IntegerArray, Table

SAMPLES = 10_000

Int64Array = npt.NDArray[np.int64]


class Form(FrozenArrays, ABC):
    """A block made ready to be evaluated: a frozen dataclass of plain arrays.

    Those that give whole words are made by `from_table`, those that walk diagrams by `from_diagram`.
    """

    name: ClassVar[str]
    constant: ClassVar[bool]
    """True if every input takes the same operations, in the same order."""

    @property
    def arithmetic(self) -> int:
        """Cycles of arithmetic that a word waits for beside its loads; 0 where it is next to nothing."""
        return 0

    @property
    def loads(self) -> int:
        """Loads from these arrays that one word takes, at most."""
        return len(self.chain)

    @property
    @abstractmethod
    def chain(self) -> tuple[int, ...]:
        """Of the loads that wait for one another: the bytes of the array (or part of it) in which each lies."""

    @abstractmethod
    def expand(self) -> IntegerArray:
        """Return all values, shape ``(2**input_bits,)``, level by level: not by walking each input."""

    @abstractmethod
    def walk(self, indices: Int64Array) -> Int64Array:
        """Return the words at some table indices, each by a walk of its own, as an evaluator does it."""


def sample_indices(input_bits: int) -> Int64Array:
    """Return the indices that `check_form` walks: all if there are no more than 10^4, else that many, spread evenly.

    The sample is the same every time; the ends of the index range and of its halves are among it.
    """
    size = 1 << input_bits
    if size <= SAMPLES:
        return np.arange(size, dtype=np.int64)
    ends = np.array([0, size // 2 - 1, size // 2, size - 1], np.int64)
    # multiples of the golden ratio modulo 1 are spread more evenly than random numbers
    spread = np.arange(1, SAMPLES - len(ends) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return np.concatenate([ends, (spread >> np.uint64(64 - input_bits)).astype(np.int64)])


def check_form(form: Form, table: Table) -> None:
    """Compare a form with its table on every entry, expanded, and on 10^4 inputs, walked.

    Raise `BddTorqueError`, naming the form, the first index that differs and both words.
    """
    everything = np.arange(1 << table.input_bits, dtype=np.int64)
    _compare(form.name, "expanded", everything, form.expand(), table.values)
    indices = sample_indices(table.input_bits)
    _compare(form.name, "walked", indices, form.walk(indices), table.values[indices])


def _compare(name: str, how: str, indices: Int64Array, found: IntegerArray, wanted: IntegerArray) -> None:
    if found.shape != wanted.shape:
        raise BddTorqueError(f"form '{name}', {how}: there must be {len(wanted)} entries, found shape {found.shape}")
    differs = found != wanted
    if differs.any():
        first = int(differs.argmax())
        raise BddTorqueError(
            f"form '{name}', {how}: index {indices[first]} must give {wanted[first]}, found {found[first]} "
            f"({int(differs.sum())} of {len(wanted)} differ)"
        )

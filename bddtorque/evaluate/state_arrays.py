"""`StateArrays`: the arrays in which evaluators take the states of an interface, and what callers give for them.

A state is one array per input array of the interface, or one for all numbers of a function, and one array of all output
words side by side. `RangeCounts` counts what of the inputs is out of range, over all calls and threads of an evaluator.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections import namedtuple
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError, ClampWarning, unknown
from bddtorque.words.formats import Floats, Format, Words
from bddtorque.words.interface import Interface, WordArray, word_vector

Integers = Words
AnyArray = npt.NDArray[Any]
WORD, FLOAT = np.dtype(np.int64), np.dtype(np.float64)
_array, _as_array = np.ndarray, np.array  # found at once
_WORD_KINDS, _FLOAT_KINDS = "bBhHiIl", "bBhHiIlLefd"
"""Types that single states are copied from: of words all integers but uint64, whose large ones would turn negative."""
IN_ROWS, IN_COLUMNS = 0x101, 0x102
"""Flags of NumPy's arrays (`ndarray.flags.num`) that are aligned, and in C or in Fortran order."""
TORQUE_ARRAYS = ("q", "qd", "qdd", "tau")
"""The arrays of models that have `torque` and `torque_words`."""
HIGH_WORD = np.uint64(2**62)
"""Higher than any word, and within int64."""


@dataclass(frozen=True)
class InputPlace:
    """Where an input word stands: in which array, in which of its columns, and among the words of all arrays."""

    array: int
    column: int
    word: int


@dataclass(frozen=True)
class StateArrays:
    """The arrays of a state."""

    interface: Interface  # the words of the model

    @cached_property
    def packed(self) -> bool:
        """True if all inputs are numbers, which lie side by side in one array."""
        return all(array.shape == () for array in self.interface.inputs)

    @cached_property
    def inputs(self) -> tuple[WordArray, ...]:
        """The arrays that go in, each of one dimension."""
        own = self.interface.inputs
        if self.packed:
            return (word_vector("inputs", self.interface.word_names, tuple(self.interface.words.values())),)
        return tuple(word_vector(array.name, array.labels, array.words) for array in own)

    @cached_property
    def outputs(self) -> WordArray:
        """The array that comes out."""
        words = [word for array in self.interface.outputs for word in array]
        return word_vector("out", [str(k) for k in range(len(words))], words)

    @cached_property
    def words(self) -> tuple[Format, ...]:
        """The input words of all arrays, one after another."""
        return tuple(word for array in self.inputs for word in array)

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """The number of words of each array."""
        return tuple(map(len, self.inputs))

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where the words of each array begin among those of all, and where the last ends."""
        return (0, *accumulate(self.widths))

    @cached_property
    def places(self) -> dict[str, InputPlace]:
        """Where the input words stand, by the names that plans have for them."""
        every = (
            InputPlace(k, column, self.starts[k] + column)
            for k, array in enumerate(self.inputs)
            for column in range(len(array))
        )
        return dict(zip(self.interface.word_names, every, strict=True))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of what callers give."""
        return tuple(array.name for array in self.interface.inputs)

    def by_array(self, words: Integers) -> dict[str, Integers]:
        """Return numbers of all input words as parts of that array, one per input array in its shape, by name."""
        starts = (0, *accumulate(map(len, self.interface.inputs)))
        return {
            array.name: words[first : first + len(array)].reshape(array.shape)
            for array, first in zip(self.interface.inputs, starts, strict=False)
        }

    def bound(self, where: str, given: Sequence[Any], named: Mapping[str, Any]) -> Sequence[Any]:
        """Return what was given for each input array, in their order or by name."""
        names = self.names
        what = "arguments" if self.packed else "arrays"
        if not named and len(given) == len(names):
            return given
        if len(given) > len(names):
            raise BddTorqueError(f"{where} takes {len(names)} {what} ({', '.join(names)}), got {len(given)}")
        taken = dict(zip(names, given, strict=False))
        for name, each in named.items():
            if name not in names:
                raise BddTorqueError(unknown(f"{what.removesuffix('s')} of {where}", name, names))
            if name in taken:
                raise BddTorqueError(f"{where}: '{name}' is given twice")
            taken[name] = each
        missing = [name for name in names if name not in taken]
        if missing:
            raise BddTorqueError(f"{where} takes the {what} {', '.join(names)}: '{missing[0]}' is missing")
        return [taken[name] for name in names]

    def rows(
        self, where: str, given: Sequence[Any], dtype: np.dtype[Any], takes_columns: bool = False
    ) -> tuple[list[AnyArray], tuple[int, ...]]:
        """Return what callers give as arrays (N, n) of a type, and the shape of the states: (N,), or () for one.

        Words lie in rows; in columns if all were given so and `takes_columns`. Floats are not copied.
        """
        read = [
            _read(array, each, dtype, self.packed) for array, each in zip(self.interface.inputs, given, strict=True)
        ]
        if self.packed:
            try:
                numbers = np.broadcast_arrays(*read)
            except ValueError:
                shapes = ", ".join(str(each.shape) for each in read)
                raise BddTorqueError(f"{where}: the shapes {shapes} do not broadcast") from None
            return [np.stack([each.reshape(-1) for each in numbers], axis=1)], numbers[0].shape
        rows = [np.atleast_2d(each) for each in read]
        lengths = {len(row) for row in rows} - {1}
        if len(lengths) > 1:
            told = f"{', '.join(self.names)} must have the same number of rows, got {[len(row) for row in rows]}"
            raise BddTorqueError(told)
        count = lengths.pop() if lengths else 1
        shape = () if all(each.ndim == 1 for each in read) else (count,)
        spread = [row if len(row) == count else np.broadcast_to(row, (count, row.shape[1])) for row in rows]
        if dtype is FLOAT:
            return spread, shape
        columns = all(row.flags.f_contiguous and not row.flags.c_contiguous for row in spread)
        order: Literal["C", "F"] = "F" if columns and takes_columns else "C"
        return [np.asarray(row, order=order) for row in spread], shape

    def are_batches(self, given: Sequence[Any], dtype: np.dtype[Any], takes_columns: bool) -> bool:
        """Tell whether things are arrays (N, n) of a type as a runner takes them, all of one length and order."""
        first = given[0]
        if first.__class__ is not _array or first.ndim != 2:
            return False
        rows, flags = len(first), IN_ROWS if not takes_columns or first.flags.c_contiguous else IN_COLUMNS
        for each, width in zip(given, self.widths, strict=True):
            if each.__class__ is not _array or each.dtype is not dtype or each.shape != (rows, width):
                return False
            if each.flags.num & flags != flags:
                return False
        return True

    def one_state(self, given: Sequence[Any], dtype: np.dtype[Any]) -> Sequence[AnyArray] | None:
        """Return a single state as arrays (n,) of a type in C order; None for all that `rows` must look at."""
        if self.packed:
            for each in given:
                if each.__class__ is not int and (each.__class__ is not float or dtype is WORD):
                    return None
            try:
                return (_as_array(given, dtype),)
            except OverflowError:
                return None
        arrays = []
        for each in given:
            kind, array = each.__class__, each
            if kind is list or kind is tuple:
                try:
                    array = _as_array(each)
                except ValueError:
                    return None
                if array.dtype is dtype and array.ndim == 1:
                    arrays.append(array)
                    continue
            elif kind is not _array:
                return None
            if array.ndim != 1:
                return None
            if array.dtype is dtype:
                arrays.append(array if array.flags.carray else array.copy())
            elif array.dtype.char in (_WORD_KINDS if dtype is WORD else _FLOAT_KINDS):
                arrays.append(array.astype(dtype))
            else:
                return None
        return arrays

    def results(self, found: AnyArray, shape: tuple[int, ...]) -> Any:
        """Return outputs (N, words) in the shapes of the output arrays: one array, or a named tuple of arrays.

        Numbers of a single state are plain numbers.
        """
        results, first = [], 0
        for array in self.interface.outputs:
            shaped = array.shaped(found[:, first : first + len(array)])
            if self.packed:
                shaped = shaped.reshape((*shape, *array.shape))
            elif not shape:
                shaped = shaped[0]
            results.append(shaped.item() if shaped.ndim == 0 else shaped)
            first += len(array)
        if len(results) == 1:
            return results[0]
        return _named_tuple(tuple(array.name for array in self.interface.outputs))(*results)


def _read(array: WordArray, given: Any, dtype: np.dtype[Any], any_shape: bool) -> AnyArray:
    """Return what was given for one array, (n,) or (N, n), or a number of any shape, as int64 or float64."""
    n = len(array)
    try:
        read = np.asarray(given)
    except ValueError:
        raise BddTorqueError(f"{array.name} must have shape ({n},) or (N, {n}), got a ragged list") from None
    if dtype is WORD and read.dtype.kind not in "iu":
        raise BddTorqueError(f"{array.name} must be integer words, got {read.dtype} (value and torque take floats)")
    if read.dtype.kind not in "iuf":
        raise BddTorqueError(f"{array.name} must be real numbers, got {read.dtype}")
    if not any_shape:
        if array.shape == () and read.ndim < 2:
            read = read[..., np.newaxis]
        if read.ndim not in (1, 2) or read.shape[-1] != n:
            raise BddTorqueError(f"{array.name} must have shape ({n},) or (N, {n}), got {read.shape}")
    if dtype is WORD and read.dtype == np.uint64:  # before the cast, or large words would turn negative
        wraps = np.array([word.kind == "angle" for word in array])
        read = np.where(wraps if array.shape else wraps[0], read, np.minimum(read, HIGH_WORD))
    return read.astype(dtype, copy=False)


@cache  # to make a class takes as long as some hundred states
def _named_tuple(names: tuple[str, ...]) -> Any:
    return namedtuple("Arrays", names)


class RangeCounts:
    """Counts of one evaluator."""

    _adding = threading.Lock()

    def __init__(self, words: Sequence[Format], warns: bool) -> None:
        self._words = words  # of all arrays, one after another
        self.warns = warns  # whether the first clamped number still has to be warned of
        self.counts: Integers = np.zeros(len(words), dtype=np.int64)  # since the start
        self._clamped = np.array([word.kind == "range" for word in words])

    def add(self, counts: Integers) -> None:
        """Add what one call counted, and warn if something was clamped for the first time."""
        with RangeCounts._adding:
            self.counts += counts
        if self.warns and counts[self._clamped].any():
            self.warn(counts)

    def warn(self, counts: Integers) -> None:
        """Warn, once, where a number was clamped: what is counted and is no angle."""
        for word, count in zip(self._words, counts.tolist(), strict=True):
            if count and word.kind == "range":
                self.warns = False
                warnings.warn(clamped_message(word), ClampWarning, stacklevel=_outside_package())
                return


def _renew_lock() -> None:
    """Start with a free lock in a forked child: the thread that held it is not there."""
    RangeCounts._adding = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def _outside_package() -> int:
    """Return how many frames above its caller the first one is that is not of this package: the user's line."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("bddtorque."):
        level, frame = level + 1, frame.f_back
    return level


def clamped_message(word: Format) -> str:
    """Return what to tell of the first number of a format that was clamped."""
    low, high = word.span
    unit = f" {word.unit}" if word.unit else ""
    return (
        f"{word.name} is beyond its range, {low:.6g} to {high:.6g}{unit}, and was clamped; out_of_range counts "
        "all such values, and on_range='saturate' turns this warning off"
    )


def out_of_range_message(word: Format, values: Floats) -> str:
    """Return what is wrong with values of one word, some of which are out of range: the worst of them is named."""
    low, high = sorted(word.sign * end + word.offset for end in (word.low, word.high))
    first, last = (low, high) if word.kind == "angle" else word.span
    worst = np.ravel(values)[np.maximum(first - values, values - last).argmax()]
    words = f" (its words end at {first:.6g} and {last:.6g})" if low <= worst <= high else ""
    unit = f" {word.unit}" if word.unit else ""
    return f"{word.name} must be between {low:.6g} and {high:.6g}{unit}{words}, got {worst:.6g}"

"""Batches of states in floats: quantised, run and brought back piece by piece, so that words stay in a cache.

The words are those of `Format.quantise_counted`. A vector of values takes one way for all: values of neighbouring
words lie side by side, and so do the numbers of their formats, in a *pattern* that repeats after as many states as a
vector has lanes. Vectors with a value that is out of range, at its very end or beyond half a turn are quantised once
more, value by value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import intrinsic

from bddtorque.base.jit import DISABLE_JIT, njit_without_refcounts
from bddtorque.evaluate.float_code import vector_lanes
from bddtorque.evaluate.llvm_code import emitted_in_lanes
from bddtorque.evaluate.pointers import address_of, array_at
from bddtorque.evaluate.runners import CodeRunner
from bddtorque.evaluate.state_arrays import StateArrays
from bddtorque.words.formats import TURN
from bddtorque.words.interface import WordArray
from bddtorque.words.kernels import has_word, pack, quantise_value

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

PIECE = 2048
"""States that are quantised before they are run."""
MAX_BITS = 31
"""Of words: vectors convert between floats and int32."""
LANES = vector_lanes(np.float64)
SIGN, OFFSET, CENTRE, LSB, DIVISOR, SCALE, LOW, HIGH, FAR, BELOW, ABOVE = range(11)
"""Rows of a pattern. A word is sign · (value - offset) - centre, over the divisor, times the scale, rounded; the first
must be less than `FAR` in size, and the result between below and above; beyond low and high it is only counted."""
_JUST_BELOW_HALF = float(np.nextafter(0.5, 0.0))


def _row(number: int) -> str:
    return f"pattern[{number} * width + place]"


_QUANTISE = f"""
raw = {_row(SIGN)} * (values[at] - {_row(OFFSET)})
units = (raw - {_row(CENTRE)}) / {_row(DIVISOR)} * {_row(SCALE)}
good = count((units > {_row(BELOW)}) & (units < {_row(ABOVE)}) & (abs(raw) < {_row(FAR)}))
beyond = count((raw < {_row(LOW)}) | (raw > {_row(HIGH)}))
size = abs(units)
whole = real(int32(size))
rounded = whole + (real(1.0) if size - whole > real({_JUST_BELOW_HALF!r}) else real(0.0))
words[at] = int64(int32(-rounded if units < real(0.0) else rounded))
"""
"""Ties go away from zero, as in `half_away`: what a float lacks to the integer below it is exact."""
_DEQUANTISE = f"""
units = real(int32(words[at]))
values[at] = {_row(SIGN)} * ({_row(CENTRE)} + units * {_row(LSB)}) + {_row(OFFSET)}
"""


def _emit(text: str, results: Sequence[str], given: dict[str, Any]) -> Any:
    return emitted_in_lanes(text, results, np.float64, given, LANES)


def _quantise_lanes(typing: Any, values: Any, words: Any, pattern: Any, width: Any, at: Any, place: Any) -> Any:
    """Quantise a vector of values; return how many are well within their ends, and how many beyond a limit."""
    given = {"values": values, "words": words, "pattern": pattern, "width": width, "at": at, "place": place}
    return _emit(_QUANTISE, ("good", "beyond"), given)


def _dequantise_lanes(typing: Any, words: Any, values: Any, pattern: Any, width: Any, at: Any, place: Any) -> Any:
    """Write the values of a vector of words."""
    given = {"words": words, "values": values, "pattern": pattern, "width": width, "at": at, "place": place}
    return _emit(_DEQUANTISE, (), given)


_quantise_vector: Any = intrinsic(_quantise_lanes)
_dequantise_vector: Any = intrinsic(_dequantise_lanes)


@njit_without_refcounts
def _one_by_one(floats: Any, integers: Any, first: int, last: int, packed: Any, counts: Any) -> bool:
    """Quantise some values, and count those that are out of range; return whether all have a word."""
    for k in range(first, last):
        joint = k % len(counts)
        if not has_word(floats[k], packed, joint):
            return False
        integers[k], outside = quantise_value(floats[k], packed, joint)
        counts[joint] += outside
    return True


@njit_without_refcounts
def _count(floats: Any, first: int, pattern: Any, counts: Any) -> None:
    """Count the values of a pattern that are beyond a limit."""
    joints = len(counts)
    for joint in range(joints):
        sign, offset, low, high = (
            pattern[SIGN, joint],
            pattern[OFFSET, joint],
            pattern[LOW, joint],
            pattern[HIGH, joint],
        )
        for k in range(LANES):
            raw = sign * (floats[first + k * joints + joint] - offset)
            counts[joint] += np.int64(raw < low) | np.int64(raw > high)


def _quantise(values: Any, words: Any, pattern: Any, packed: Any, counts: Any) -> bool:
    size, width = values.size, pattern.shape[1]
    floats = array_at(address_of(values), (size,), np.float64)
    integers = array_at(address_of(words), (size,), np.int64)
    numbers = array_at(address_of(pattern), (pattern.size,), np.float64)
    for first in range(0, size - size % width, width):
        good = beyond = 0
        for place in range(0, width, LANES):
            within, outside = _quantise_vector(floats, integers, numbers, width, first + place, place)
            good += within
            beyond += outside
        if good == width:
            if beyond:
                _count(floats, first, pattern, counts)
        elif not _one_by_one(floats, integers, first, first + width, packed, counts):
            return False
    return _one_by_one(floats, integers, size - size % width, size, packed, counts)


def _dequantise(words: Any, values: Any, pattern: Any) -> None:
    size, width = words.size, pattern.shape[1]
    floats = array_at(address_of(values), (size,), np.float64)
    integers = array_at(address_of(words), (size,), np.int64)
    numbers = array_at(address_of(pattern), (pattern.size,), np.float64)
    whole = size - size % width
    for first in range(0, whole, width):
        for place in range(0, width, LANES):
            _dequantise_vector(integers, floats, numbers, width, first + place, place)
    for k in range(whole, size):
        at = k - whole
        floats[k] = pattern[SIGN, at] * (pattern[CENTRE, at] + integers[k] * pattern[LSB, at]) + pattern[OFFSET, at]


@cache
def float_calls() -> tuple[Callable[..., bool], Callable[..., None]]:
    """Return quantise(values, words, pattern, packed, counts), which is false for values that are refused, and back.

    Both are compiled once and then kept on disk.
    """
    floats, words = types.Array(types.float64, 2, "C"), types.Array(types.int64, 2, "C")
    given, counts = floats.copy(readonly=True), types.Array(types.int64, 1, "C")
    options: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}
    return (
        numba.njit(types.boolean(given, words, floats, floats, counts), **options)(_quantise),
        numba.njit(types.none(words, floats, floats), **options)(_dequantise),
    )


class FloatBatches:
    """Runs batches of floats of one model, where that is `possible`."""

    def __init__(self, arrays: StateArrays) -> None:
        self._starts = arrays.starts
        self._inputs = [(pattern_of(array), pack(array)) for array in arrays.inputs]
        self._outputs = pattern_of(arrays.outputs)
        words = (*arrays.words, *arrays.outputs)
        self.possible = not DISABLE_JIT and all(word.bits <= MAX_BITS for word in words)

    def run(self, runner: CodeRunner, rows: Sequence[npt.NDArray[Any]], out: Floats, counts: Integers) -> bool:
        """Fill in the outputs of states (N, n), and return whether a value was refused; others are counted."""
        return runner.spread(partial(self._run, runner), rows, out, counts)

    def _run(self, runner: CodeRunner, rows: Sequence[npt.NDArray[Any]], out: Floats, counts: Integers) -> bool:
        quantise, dequantise = float_calls()
        length = max(1, min(PIECE, len(out)))
        words = [np.empty((length, each.shape[1]), np.int64) for each in (*rows, out)]
        uncounted = np.empty_like(counts)
        own_counts = [counts[first:last] for first, last in pairwise(self._starts)]
        for first in range(0, len(out), length):
            part = slice(first, first + length)
            values = out[part]
            *own, found = (each[: len(values)] for each in words)
            for k, each in enumerate(rows):
                floats = np.ascontiguousarray(each[part], np.float64)
                if not quantise(floats, own[k], *self._inputs[k], own_counts[k]):
                    return True
            runner.run_piece(own, found, uncounted)  # floats were counted, not words
            dequantise(found, values, self._outputs)
        return False


def pattern_of(formats: WordArray) -> Floats:
    """Return the numbers of formats, row by row, for a vector of each word's values side by side."""
    columns = []
    for word in formats:
        if word.kind == "angle":
            ends = word.low, word.high, np.nextafter(TURN / 2, np.inf)
            scaling = TURN, 2.0**word.bits
        else:
            ends, scaling = (-np.inf, np.inf, np.inf), (word.lsb, 1.0)
        columns.append(
            (word.sign, word.offset, word.centre, word.lsb, *scaling, *ends, word.lowest - 0.5, word.highest + 0.5)
        )
    return np.tile(np.array(columns, dtype=np.float64).T, (1, LANES))

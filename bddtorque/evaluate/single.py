"""Compiled calls between a caller's arrays and a plan, the same for all plans of as many input arrays.

An ordinary call of an evaluator looks at its arguments, makes rows of them, quantises, counts, and calls compiled code
for each: many times the work of a single state. Here all of it is one function for exactly one kind of argument,
contiguous arrays (n,) of int64 or of float64. Anything else is left to the ordinary way, which gives the same results
and says what is wrong. Batches (N, n) have a function too, `run_batch`, which cuts them into what a plan takes.

Arguments cost most of a compiled call, a number more than an array: what belongs to the evaluator is passed as one
int64 array of `addresses`, the plan's own functions among them. So these functions are compiled once for each number
of arrays and kept, and a plan's code is compiled once for all that call it. References are not counted (`_nrt`): for
every array given, Numba would make a record of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from bddtorque.base.jit import inlined, njit_inlined_by_llvm
from bddtorque.evaluate.generated import generated_module, plans_folder
from bddtorque.evaluate.pointers import (
    WORD_BYTES,
    array_at,
    as_rows,
    columns_of,
    given_rows,
    rows_at,
    rows_from,
    run_at,
    space_of,
)
from bddtorque.evaluate.shared_state_kernel import DESCRIPTOR_LENGTH, all_awake
from bddtorque.evaluate.state_arrays import RangeCounts, StateArrays
from bddtorque.words.formats import limits
from bddtorque.words.kernels import ANGLE, FIELDS, dequantise_value, has_word, pack, quantise_value

RUN, TABLE, ENTRIES, TILES, COLUMNS, TILE, THREADS = range(7)
"""Places in `addresses`: the address of a plan's `states`, and where its table lies; of plans that take many
states at once, `tiles` and `columns` (0 until they are compiled) and how many states those take; whether the table
describes threads that share a state, which must be awake."""
PLAN = THREADS + 1
WORDS, COUNTS, UNREAD, UNREAD_ROWS, FORMATS, OUTPUTS, OUTPUT_FORMATS, STOPS, WIDTHS = range(PLAN, PLAN + 9)
"""More places, for single states: numbers, addresses of arrays, and from WIDTHS on how wide each input array is."""
COUNT_ONLY, RAISES, WARNS = range(3)
"""Treatment of a state out of range (STOPS): it is counted; floats are left to the ordinary way, which refuses them;
or, where a number is clamped, which warns."""
DONE, LEFT, CLAMPED = range(3)
"""Results of the compiled calls: the state was run; nothing was done or counted, and the ordinary way must look at it;
or it was run and counted, but words were clamped that must be warned of."""
COUNTED = -1
"""Result of batches where words were out of range."""

Call = Callable[..., int]
"""A compiled function (array, ..., out, addresses) on arrays (n,); TypeError for anything else."""


@dataclass(frozen=True)
class SingleCalls:
    """The compiled calls of one evaluator.

    Attributes
    ----------
    words, floats
        Output words of words, outputs of floats.
    addresses
        Their last argument.
    kept
        What lies at the addresses; it lives as long as this.
    """

    words: Call
    floats: Call
    addresses: npt.NDArray[np.int64]
    kept: tuple[Any, ...]


def single_calls(
    arrays: StateArrays,
    counted: RangeCounts,
    stops: int,
    plan: npt.NDArray[np.int64],
    kept: tuple[Any, ...],
) -> SingleCalls:
    """Return the compiled calls of an evaluator: `plan` is how `addresses` begins, `kept` what must live on."""
    rows = [
        (place.array, place.column, place.word, word.bits if word.kind == "angle" else 0, *limits(word))
        for place in counted.unread
        for word in [arrays.words[place.word]]
    ]
    unread = np.array(rows, dtype=np.int64).reshape(-1, 6)
    inputs, outputs = pack(arrays.words), pack(arrays.outputs)
    widths = list(map(len, arrays.inputs))
    addresses = np.zeros(WIDTHS + len(widths), dtype=np.int64)
    addresses[:PLAN], addresses[WIDTHS:] = plan, widths
    addresses[WORDS], addresses[COUNTS] = len(arrays.words), counted.counts.ctypes.data
    addresses[UNREAD], addresses[UNREAD_ROWS] = unread.ctypes.data, len(unread)
    addresses[FORMATS], addresses[OUTPUT_FORMATS] = inputs.ctypes.data, outputs.ctypes.data
    addresses[OUTPUTS], addresses[STOPS] = len(arrays.outputs), stops
    return SingleCalls(*state_calls(len(widths)), addresses, (counted.counts, unread, inputs, outputs, *kept))


@inlined
def wrapped(word: Any, bits: Any) -> Any:
    """Return a word kept to `bits` bits, two's complement."""
    half = np.int64(1) << (bits - 1)
    return ((word + half) & (2 * half - 1)) - half


@njit_inlined_by_llvm
def is_left(arrays: Any, out: Any, addresses: Any) -> bool:
    """Tell whether arrays have other lengths than they should, or a thread sleeps."""
    alike = len(out) == addresses[OUTPUTS]
    for k in range(len(arrays)):
        alike = alike and len(arrays[k]) == addresses[WIDTHS + k]
    if addresses[THREADS]:
        alike = alike and all_awake(array_at(addresses[TABLE], (DESCRIPTOR_LENGTH,), np.int64))
    return not alike


@njit_inlined_by_llvm
def run_words(arrays: Any, out: Any, addresses: Any) -> int:
    """Run one state of words."""
    if is_left(arrays, out, addresses):
        return LEFT
    counts = array_at(addresses[COUNTS], (addresses[WORDS],), np.int64)
    unread = array_at(addresses[UNREAD], (addresses[UNREAD_ROWS], 6), np.int64)
    for k in range(len(unread)):
        word, bits, low, high = arrays[unread[k, 0]][unread[k, 1]], unread[k, 3], unread[k, 4], unread[k, 5]
        if bits:
            word = wrapped(word, bits)
        if (word < low or word > high) if low <= high else (word < low and word > high):
            counts[unread[k, 2]] += 1
    table = array_at(addresses[TABLE], (addresses[ENTRIES],), np.int64)
    run_at(addresses[RUN], (given_rows(arrays), as_rows(out), table, counts))
    if addresses[STOPS] == WARNS:
        formats = array_at(addresses[FORMATS], (addresses[WORDS], FIELDS), np.float64)
        for place in range(len(counts)):
            if counts[place] and formats[place, ANGLE] == 0.0:
                return CLAMPED
    return DONE


@njit_inlined_by_llvm
def run_floats(arrays: Any, out: Any, addresses: Any) -> int:
    """Run one state of floats through the words; nothing is counted unless all of it can be done."""
    if is_left(arrays, out, addresses):
        return LEFT
    size, outputs, stops = addresses[WORDS], addresses[OUTPUTS], addresses[STOPS]
    space = space_of(2 * size + outputs)
    words = array_at(space, (size,), np.int64)
    outside = array_at(space + WORD_BYTES * size, (size,), np.int64)
    found = array_at(space + 2 * WORD_BYTES * size, (1, outputs), np.int64)
    formats = array_at(addresses[FORMATS], (size, FIELDS), np.float64)
    place = 0
    for k in range(len(arrays)):
        values = arrays[k]
        for column in range(len(values)):
            value = values[column]
            if not has_word(value, formats, place):
                return LEFT
            word, beyond = quantise_value(value, formats, place)
            if beyond and (stops == RAISES or (stops == WARNS and formats[place, ANGLE] == 0.0)):
                return LEFT
            words[place], outside[place] = word, beyond
            place += 1
    counts = array_at(addresses[COUNTS], (size,), np.int64)
    for place in range(size):
        counts[place] += outside[place]
    table = array_at(addresses[TABLE], (addresses[ENTRIES],), np.int64)
    # words count nothing themselves: what they would count was counted as a float, and is thrown away with `outside`
    run_at(addresses[RUN], (rows_at(arrays, space, 1), found, table, outside))
    formats = array_at(addresses[OUTPUT_FORMATS], (outputs, FIELDS), np.float64)
    for place in range(outputs):
        out[place] = dequantise_value(found[0, place], formats, place)
    return DONE


@njit_inlined_by_llvm
def run_batch(arrays: Any, out: Any, addresses: Any, counts: Any, rows: Any) -> int:
    """Run states (N, n), and return 0, COUNTED, or which function of the plan must be compiled first.

    All arrays lie in rows or, where the plan has `columns`, in columns; `rows` is memory for its tiles.
    """
    states, tile = out.shape[0], addresses[TILE]
    rest = states % tile if tile else states
    whole = states - rest
    in_rows = out.shape[1] == 1 or out.strides[1] == WORD_BYTES
    for k in range(len(arrays)):
        in_rows = in_rows and (arrays[k].shape[1] == 1 or arrays[k].strides[1] == WORD_BYTES)
    table = array_at(addresses[TABLE], (addresses[ENTRIES],), np.int64)
    tiles = TILES if in_rows else COLUMNS
    if whole and addresses[tiles] == 0:
        return tiles
    if whole and in_rows:
        tiled, made = rows_from(arrays, 0, states), rows_from(out, 0, states)
        run_at(addresses[TILES], (tiled, made, table, counts, rows, whole))
    elif whole:
        run_at(addresses[COLUMNS], (columns_of(arrays), columns_of(out), table, counts, rows, whole))
    if rest and in_rows:
        run_at(addresses[RUN], (rows_from(arrays, whole, rest), rows_from(out, whole, rest), table, counts))
    elif rest:
        width = 0
        for k in range(len(arrays)):
            width += arrays[k].shape[1]
        space = space_of(rest * (width + out.shape[1]))
        words, first = array_at(space, (rest * width,), np.int64), 0
        for k in range(len(arrays)):
            array = arrays[k]
            for state in range(rest):
                for column in range(array.shape[1]):
                    words[first] = array[whole + state, column]
                    first += 1
        found = array_at(space + WORD_BYTES * rest * width, (rest, out.shape[1]), np.int64)
        run_at(addresses[RUN], (rows_at(arrays, space, rest), found, table, counts))
        for state in range(rest):
            for column in range(out.shape[1]):
                out[whole + state, column] = found[state, column]
    for place in range(len(counts)):
        if counts[place]:
            return COUNTED
    return 0


SOURCE = '''"""Calls of plans that take {count} arrays, written by bddtorque; made anew whenever it is missing."""
from bddtorque.evaluate.single import run_batch, run_floats, run_words


def words({given}, out, addresses):
    return run_words(({given},), out, addresses)


def floats({given}, out, addresses):
    return run_floats(({given},), out, addresses)


def batch({given}, out, addresses, counts, rows):
    return run_batch(({given},), out, addresses, counts, rows)
'''


OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False}
_words: Any = types.Array(types.int64, 1, "C")
_floats: Any = types.Array(types.float64, 1, "C")


def _module(count: int) -> Any:
    given = ", ".join(f"a{k}" for k in range(count))
    return generated_module(SOURCE.format(count=count, given=given), plans_folder())


@cache
def state_calls(count: int) -> tuple[Call, Call]:
    """Return the calls for one state, words and floats, of any plan of so many input arrays.

    They are compiled for arguments of their one kind, and for no others; once, then kept on disk.
    """
    words, floats = types.int64(*[_words] * (count + 2)), types.int64(*[_floats] * (count + 1), _words)
    module = _module(count)
    return numba.njit(words, **OPTIONS)(module.words), numba.njit(floats, **OPTIONS)(module.floats)


@cache
def batch_call(count: int) -> Call:
    """Return run(array, ..., out, addresses, counts, rows) of any plan of so many input arrays; see `run_batch`."""
    given, made = types.Array(types.int64, 2, "A", readonly=True), types.Array(types.int64, 2, "A")
    signature = types.int64(*[given] * count, made, _words, _words, _words)
    return numba.njit(signature, nogil=True, **OPTIONS)(_module(count).batch)

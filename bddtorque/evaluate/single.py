"""What lies between a caller's arrays and a plan: one compiled call, the same for all plans.

An ordinary call of an evaluator looks at its arguments, makes rows of them, quantises, counts, and calls compiled code
for each: many times the work of a single state. Here all of it is one function for exactly one kind of argument,
contiguous arrays (n,) of int64 or of float64. Anything else is left to the ordinary way, which gives the same results
and says what is wrong. Batches (N, n) have a function too, `run_batch`, which cuts them into what a plan takes.

Arguments cost most of a compiled call, a number more than an array: what belongs to the evaluator is passed as one
int64 array with the addresses of the rest, `places`, the plan's own functions among them. So these functions are
compiled once and kept, and a plan's code is compiled once for all that call it. References are not counted (`_nrt`):
for every array given, Numba would make a record of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from bddtorque.base.jit import uncounted
from bddtorque.evaluate.machine import wrapped
from bddtorque.evaluate.pointers import (
    address_of,
    array_at,
    as_rows,
    run_at,
    run_tiles_at,
    space_of,
)
from bddtorque.words.formats import limits
from bddtorque.words.interface import Interface
from bddtorque.words.kernels import ANGLE, dequantise_value, has_word, pack, quantise_value

RUN, TABLE, ENTRIES, TILES, COLUMNS, TILE = range(6)
"""What stands where in `places`: the address of a plan's `states`, and where its table lies; of plans that take many
states at once, `tiles` and `columns` (0 until they are compiled) and how many states those take."""
PLAN = TILE + 1
COUNTED = -1
JOINTS, COUNTS, UNREAD, UNREAD_ROWS, Q, QD, QDD, TAU, STOPS = range(PLAN, PLAN + 9)
"""What single states need besides: numbers, and addresses of arrays."""
GOES_ON, RAISES, WARNS = range(3)
"""What a state out of range does: it is counted; floats are left to the ordinary way, which refuses them; or, where a
number is clamped, which warns. Words are done with and counted when OverflowError tells that some were clamped."""
CLAMPED = "a word was clamped; the state was run and counted"
LEFT = "a state that the ordinary way refuses, or treats"
"""Why the compiled functions raise ValueError: nothing was done, nothing counted."""
_words: Any = types.Array(types.int64, 1, "C")
_floats: Any = types.Array(types.float64, 1, "C")
WORDS = types.none(_words, _words, _words, _words, _words)
FLOATS = types.none(_floats, _floats, _floats, _floats, _words)
OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False}

WORD_BYTES = 8

One = Callable[..., None]
"""A compiled function (q, qd, qdd, tau, places) on arrays (n,); TypeError for anything else, ValueError if left."""


@dataclass(frozen=True)
class Single:
    """The compiled calls of one evaluator.

    Attributes
    ----------
    words, floats
        Torque words of words, torques of floats.
    places
        Their last argument.
    held
        The arrays whose addresses stand there; they live as long as this.
    """

    words: One
    floats: One
    places: npt.NDArray[np.int64]
    held: tuple[npt.NDArray[Any], ...]


def common_arrays(
    formats: Interface, counts: npt.NDArray[np.int64], unread: Sequence[tuple[int, int]]
) -> tuple[npt.NDArray[Any], ...]:
    """Return what the calls of every form need: counts, inputs that no torque reads, and the formats as numbers."""
    rows = [
        (place, joint, word.bits if word.kind == "angle" else 0, *limits(word))
        for place, joint in unread
        for word in [formats.inputs[place][joint]]
    ]
    table = np.array(rows, dtype=np.int64).reshape(-1, 5)
    return counts, table, *(pack(each) for each in (*formats.inputs, formats.tau))


def single_calls(
    words: One,
    floats: One,
    common: Sequence[npt.NDArray[Any]],
    stops: int,
    plan: npt.NDArray[np.int64],
    held: tuple[npt.NDArray[Any], ...],
) -> Single:
    """Return the compiled calls of an evaluator: `plan` is how `places` begins, `held` what must live on."""
    counts, unread, *packed = common
    places = np.zeros(STOPS + 1, dtype=np.int64)
    places[:PLAN] = plan
    places[JOINTS], places[COUNTS] = counts.shape[1], counts.ctypes.data
    places[UNREAD], places[UNREAD_ROWS] = unread.ctypes.data, len(unread)
    places[Q : TAU + 1] = [each.ctypes.data for each in packed]
    places[STOPS] = stops
    return Single(words, floats, places, (*common, *held))


def plan_single(
    plan: npt.NDArray[np.int64], held: tuple[npt.NDArray[Any], ...], common: Sequence[npt.NDArray[Any]], stops: int
) -> Single:
    """Return the compiled calls of a plan; `common` as `common_arrays` gives it, the rest as for `single_calls`."""
    return single_calls(*_plan_calls(), common, stops, plan, held)


def _run_words(q: Any, qd: Any, qdd: Any, tau: Any, places: Any) -> None:
    """Run one state of words."""
    joints = places[JOINTS]
    if not (len(q) == joints and len(qd) == joints and len(qdd) == joints and len(tau) == joints):
        raise ValueError(LEFT)
    counts = array_at(places[COUNTS], (3, joints), np.int64)
    unread = array_at(places[UNREAD], (places[UNREAD_ROWS], 5), np.int64)
    for k in range(len(unread)):
        place, joint, bits, low, high = unread[k, 0], unread[k, 1], unread[k, 2], unread[k, 3], unread[k, 4]
        word = q[joint] if place == 0 else qd[joint] if place == 1 else qdd[joint]
        if bits:
            word = wrapped(word, bits)
        if (word < low or word > high) if low <= high else (word < low and word > high):
            counts[place, joint] += 1
    table = array_at(places[TABLE], (places[ENTRIES],), np.int64)
    run_at(places[RUN], as_rows(q), as_rows(qd), as_rows(qdd), as_rows(tau), table, counts)
    if places[STOPS] == WARNS:
        slides = array_at(places[Q], (joints, 8), np.float64)
        for joint in range(joints):
            if counts[1, joint] | counts[2, joint] or (counts[0, joint] and slides[joint, ANGLE] == 0.0):
                raise OverflowError(CLAMPED)


def _run_floats(q: Any, qd: Any, qdd: Any, tau: Any, places: Any) -> None:
    """Run one state of floats through the words; nothing is counted unless all of it can be done."""
    joints = places[JOINTS]
    if not (len(q) == joints and len(qd) == joints and len(qdd) == joints and len(tau) == joints):
        raise ValueError(LEFT)
    words = array_at(space_of(4 * joints), (4, 1, joints), np.int64)
    outside = array_at(space_of(3 * joints), (3, joints), np.int64)
    for place in range(3):
        packed = array_at(places[Q + place], (joints, 8), np.float64)
        for joint in range(joints):
            value = q[joint] if place == 0 else qd[joint] if place == 1 else qdd[joint]
            if not has_word(value, packed, joint):
                raise ValueError(LEFT)
            word, beyond = quantise_value(value, packed, joint)
            if beyond and (places[STOPS] == RAISES or (places[STOPS] == WARNS and packed[joint, ANGLE] == 0.0)):
                raise ValueError(LEFT)
            words[place, 0, joint], outside[place, joint] = word, beyond
    counts = array_at(places[COUNTS], (3, joints), np.int64)
    for place in range(3):
        for joint in range(joints):
            counts[place, joint] += outside[place, joint]
    table = array_at(places[TABLE], (places[ENTRIES],), np.int64)
    # words count nothing themselves: what they would count was counted as a float, and is thrown away with `outside`
    run_at(places[RUN], words[0], words[1], words[2], words[3], table, outside)
    packed = array_at(places[TAU], (joints, 8), np.float64)
    for joint in range(joints):
        tau[joint] = dequantise_value(words[3, 0, joint], packed, joint)


run_words: Any = numba.njit(**OPTIONS)(_run_words)
run_floats: Any = numba.njit(**OPTIONS)(_run_floats)
"""For other calls to be made of."""


@cache
def _plan_calls() -> tuple[One, One]:
    """Return the calls of any plan; compiled once, then kept on disk."""
    return for_arrays(run_words, WORDS), for_arrays(run_floats, FLOATS)


def for_arrays(function: Any, signature: Any) -> One:
    """Return a function compiled for arguments of these types, and for no others."""
    function.compile(signature)
    function.disable_compile()
    return function  # type: ignore[no-any-return]


def _plan_batch(q: Any, qd: Any, qdd: Any, tau: Any, places: Any, counts: Any, rows: Any) -> int:
    missing = _run_batch(q, qd, qdd, tau, places, counts, rows)
    if missing:
        return missing
    for place in range(counts.shape[0]):
        for joint in range(counts.shape[1]):
            if counts[place, joint]:
                return COUNTED
    return 0


@uncounted
def _run_batch(q: Any, qd: Any, qdd: Any, tau: Any, places: Any, counts: Any, rows: Any) -> int:
    states, joints = q.shape
    tile = places[TILE]
    rest = states % tile if tile else states
    whole = states - rest
    table = array_at(places[TABLE], (places[ENTRIES],), np.int64)
    q0, qd0, qdd0, tau0 = address_of(q), address_of(qd), address_of(qdd), address_of(tau)
    if joints == 1 or q.strides[1] == WORD_BYTES:
        if whole:
            if places[TILES] == 0:
                return TILES
            run_tiles_at(
                places[TILES],
                array_at(q0, (states, joints), np.int64),
                array_at(qd0, (states, joints), np.int64),
                array_at(qdd0, (states, joints), np.int64),
                array_at(tau0, (states, joints), np.int64),
                table,
                counts,
                rows,
                whole,
            )
        if rest:
            skipped = WORD_BYTES * joints * whole
            run_at(
                places[RUN],
                array_at(q0 + skipped, (rest, joints), np.int64),
                array_at(qd0 + skipped, (rest, joints), np.int64),
                array_at(qdd0 + skipped, (rest, joints), np.int64),
                array_at(tau0 + skipped, (rest, joints), np.int64),
                table,
                counts,
            )
        return 0
    if whole:
        if places[COLUMNS] == 0:
            return COLUMNS
        run_tiles_at(
            places[COLUMNS],
            array_at(q0, (joints, q.strides[1] // WORD_BYTES), np.int64),
            array_at(qd0, (joints, qd.strides[1] // WORD_BYTES), np.int64),
            array_at(qdd0, (joints, qdd.strides[1] // WORD_BYTES), np.int64),
            array_at(tau0, (joints, tau.strides[1] // WORD_BYTES), np.int64),
            table,
            counts,
            rows,
            whole,
        )
    if rest:
        words = array_at(space_of(4 * rest * joints), (4, rest, joints), np.int64)
        for joint in range(joints):
            for k in range(rest):
                words[0, k, joint] = q[whole + k, joint]
                words[1, k, joint] = qd[whole + k, joint]
                words[2, k, joint] = qdd[whole + k, joint]
        run_at(places[RUN], words[0], words[1], words[2], words[3], table, counts)
        for joint in range(joints):
            for k in range(rest):
                tau[whole + k, joint] = words[3, k, joint]
    return 0


@cache
def batch_call() -> Callable[..., int]:
    """Return run(q, qd, qdd, tau, places, counts, rows), which runs states (N, n) of any plan without the GIL.

    All four lie in rows or, where the plan has `columns`, in columns; `rows` is memory for its tiles. It returns 0,
    COUNTED if words were out of range, or which function of the plan must be compiled first (TILES, COLUMNS).
    """
    given, made = types.Array(types.int64, 2, "A", readonly=True), types.Array(types.int64, 2, "A")
    counts = types.Array(types.int64, 2, "C")
    signature = types.int64(given, given, given, made, _words, counts, _words)
    return numba.njit(signature, nogil=True, **OPTIONS)(_plan_batch)

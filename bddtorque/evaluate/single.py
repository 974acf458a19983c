"""One state at a time, called from Python: what lies between the caller's arrays and a plan, in one compiled call.

An ordinary call of an evaluator looks at its arguments, makes rows of them, quantises, counts, and calls compiled code
for each: many times the work itself. Here all of it is one function for exactly one kind of argument, contiguous arrays
(n,) of int64 or of float64. Anything else is left to the ordinary way, which gives the same results and says what is
wrong.

Arguments cost most of a compiled call, a number more than an array: what belongs to the evaluator is passed as one
int64 array with the addresses of the rest, `places`. References are not counted (`_nrt`): for every array given, Numba
would make a record of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from bddtorque.base.jit import inlined, uncounted
from bddtorque.evaluate.generated import generated_module
from bddtorque.evaluate.machine import run_states, wrapped
from bddtorque.evaluate.pointers import array_at, as_rows, given_rows, space_of
from bddtorque.evaluate.program import Program, limits
from bddtorque.words import Formats
from bddtorque.words.formats import LARGEST_TURNS, TURN
from bddtorque.words.kernels import ANGLE, dequantise_value, pack, quantise_value

if TYPE_CHECKING:
    from bddtorque.evaluate.straight import Straight

JOINTS, COUNTS, UNREAD, UNREAD_ROWS, Q, QD, QDD, TAU, RAISES, OWN = range(10)
"""What stands where in `places`: numbers, and addresses of arrays; from OWN on what the plan itself needs."""
SIZE = OWN + 1 + 2 * len(Program._fields)
LEFT = "a state that the ordinary way refuses, or treats"
"""Why the compiled functions raise ValueError: nothing was done, nothing counted."""
MOST_REGISTERS = 1 << 14
"""Wires of a plan that are held on the stack; a plan of more is left to the ordinary way."""

_words: Any = types.Array(types.int64, 1, "C")
_floats: Any = types.Array(types.float64, 1, "C")
WORDS = types.none(_words, _words, _words, _words, _words)
FLOATS = types.none(_floats, _floats, _floats, _floats, _words)
OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False}

One = Callable[..., None]
"""A compiled function (q, qd, qdd, tau, places) on arrays (n,); TypeError for anything else, ValueError if left."""


@dataclass(frozen=True)
class Single:
    """The compiled calls of one evaluator.

    Attributes
    ----------
    words, floats : torque words of words, torques of floats
    places : their last argument
    held : the arrays whose addresses stand there; they live as long as this
    """

    words: One
    floats: One
    places: npt.NDArray[np.int64]
    held: tuple[npt.NDArray[Any], ...]


def machine_single(program: Program, registers: int, common: Sequence[npt.NDArray[Any]], raises: bool) -> Single | None:
    """Return the calls of a program; `common` as `common_arrays` gives it. None if it has too many registers."""
    if registers > MOST_REGISTERS:
        return None
    own = [registers, *(array.ctypes.data for array in program), *(len(array) for array in program)]
    return single_calls(*_machine_calls(), common, raises, own, tuple(program))


def straight_single(code: Straight, directory: Path, common: Sequence[npt.NDArray[Any]], raises: bool) -> Single:
    """Return the calls of straight-line code; compiled when this is called, or found in `directory`."""
    module = generated_module(
        SOURCE.format(
            plan=vars(code.states)["py_func"].__module__,
            size=len(code.table),
            dtype=code.table.dtype.name,
            count=len(code.constants),
            own=OWN,
        ),
        directory,
    )
    own = [code.table.ctypes.data, code.constants.ctypes.data]
    return single_calls(module.words, module.floats, common, raises, own, (code.table, code.constants))


def common_arrays(
    formats: Formats, counts: npt.NDArray[np.int64], unread: Sequence[tuple[int, int]]
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
    raises: bool,
    own: Sequence[int],
    arrays: tuple[npt.NDArray[Any], ...],
) -> Single:
    """Return the compiled calls of an evaluator: `own` is what their plan reads at OWN, `arrays` what must live on."""
    counts, unread, *packed = common
    places = np.zeros(SIZE, dtype=np.int64)
    places[JOINTS], places[COUNTS] = counts.shape[1], counts.ctypes.data
    places[UNREAD], places[UNREAD_ROWS] = unread.ctypes.data, len(unread)
    places[Q : TAU + 1] = [each.ctypes.data for each in packed]
    places[RAISES] = raises
    places[OWN : OWN + len(own)] = own
    return Single(words, floats, places, (*common, *arrays))


@inlined
def words_by(run: Any, q: Any, qd: Any, qdd: Any, tau: Any, places: Any) -> None:
    """Run one state of words; `run` is the plan."""
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
    run(given_rows(q), given_rows(qd), given_rows(qdd), as_rows(tau), places, counts)


@inlined
def floats_by(run: Any, q: Any, qd: Any, qdd: Any, tau: Any, places: Any) -> None:
    """Run one state of floats through the words; nothing is counted unless all of it can be done."""
    joints = places[JOINTS]
    if not (len(q) == joints and len(qd) == joints and len(qdd) == joints and len(tau) == joints):
        raise ValueError(LEFT)
    words = array_at(space_of(4 * joints), (4, joints), np.int64)
    outside = array_at(space_of(3 * joints), (3, joints), np.int64)
    for place in range(3):
        packed = array_at(places[Q + place], (joints, 8), np.float64)
        for joint in range(joints):
            value = q[joint] if place == 0 else qd[joint] if place == 1 else qdd[joint]
            if not np.isfinite(value) or (packed[joint, ANGLE] != 0.0 and abs(value) > LARGEST_TURNS * TURN):
                raise ValueError(LEFT)
            word, beyond = quantise_value(value, packed, joint)
            if beyond and places[RAISES]:
                raise ValueError(LEFT)
            words[place, joint], outside[place, joint] = word, beyond
    counts = array_at(places[COUNTS], (3, joints), np.int64)
    for place in range(3):
        for joint in range(joints):
            counts[place, joint] += outside[place, joint]
    # words count nothing themselves: what they would count was counted as a float, and is thrown away with `outside`
    run(given_rows(words[0]), given_rows(words[1]), given_rows(words[2]), as_rows(words[3]), places, outside)
    packed = array_at(places[TAU], (joints, 8), np.float64)
    for joint in range(joints):
        tau[joint] = dequantise_value(words[3, joint], packed, joint)


@uncounted
def run_program(q: Any, qd: Any, qdd: Any, tau: Any, places: Any, counts: Any) -> None:
    """Run the program whose arrays lie at `places`."""
    first, sizes = OWN + 1, OWN + 10
    own = Program(
        array_at(places[first], (places[sizes], 9), np.int64),
        array_at(places[first + 1], (places[sizes + 1], 3), np.int64),
        array_at(places[first + 2], (places[sizes + 2], 8), np.int64),
        array_at(places[first + 3], (places[sizes + 3],), np.int32),
        array_at(places[first + 4], (places[sizes + 4], 5), np.int64),
        array_at(places[first + 5], (places[sizes + 5],), np.int8),
        array_at(places[first + 6], (places[sizes + 6],), np.int32),
        array_at(places[first + 7], (places[sizes + 7],), np.int32),
        array_at(places[first + 8], (places[sizes + 8],), np.uint32),
    )
    registers = array_at(space_of(places[OWN]), (places[OWN],), np.int64)
    run_states(own, q, qd, qdd, tau, registers, counts)


def _program_words(q: Any, qd: Any, qdd: Any, tau: Any, places: Any) -> None:
    words_by(run_program, q, qd, qdd, tau, places)


def _program_floats(q: Any, qd: Any, qdd: Any, tau: Any, places: Any) -> None:
    floats_by(run_program, q, qd, qdd, tau, places)


@cache
def _machine_calls() -> tuple[One, One]:
    """Return the calls of any program; compiled once, then kept on disk."""
    return numba.njit(WORDS, **OPTIONS)(_program_words), numba.njit(FLOATS, **OPTIONS)(_program_floats)


SOURCE = '''"""One state of a compiled plan, written by bddtorque; made anew whenever it is missing."""
from numba import njit
import numpy as np

from bddtorque.base.jit import uncounted
from bddtorque.evaluate.pointers import array_at
from bddtorque.evaluate.single import FLOATS, OPTIONS, WORDS, floats_by, words_by
from {plan} import states


@uncounted
def run(q, qd, qdd, tau, places, counts):
    table = array_at(places[{own}], ({size},), np.{dtype})
    constants = array_at(places[{own} + 1], ({count},), np.float64)
    states(q, qd, qdd, tau, table, constants, counts)


@njit(WORDS, **OPTIONS)
def words(q, qd, qdd, tau, places):
    words_by(run, q, qd, qdd, tau, places)


@njit(FLOATS, **OPTIONS)
def floats(q, qd, qdd, tau, places):
    floats_by(run, q, qd, qdd, tau, places)
'''
"""Straight-line code for single states: names and sizes of our own making."""

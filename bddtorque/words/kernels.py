"""The same rounding and quantising inside Numba, for kernels and for a controller's own njit loop.

`pack` turns formats into an array of numbers, because compiled code takes no dataclasses; `quantise_value` and
`dequantise_value` do what `Format` does. `quantiser` and `dequantiser` give users functions of arrays that know their
formats.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.jit import DISABLE_JIT, njit
from bddtorque.words.formats import MAX_TURNS, TURN, Format
from bddtorque.words.formats import wrap_turn as _wrap_turn
from bddtorque.words.rounding import half_away as _half_away
from bddtorque.words.rounding import half_up_shift as _half_up_shift

FIELDS = 9
ANGLE, LOWEST, HIGHEST, CENTRE, LSB, SIGN, OFFSET, LOW, HIGH = range(FIELDS)
"""Columns of a packed format: ANGLE is 1 for angles, the others are the attributes of `Format`."""
_LARGEST_ANGLE, _LARGEST = MAX_TURNS * TURN, sys.float_info.max
Packed = npt.NDArray[np.float64]
"""Interface of n joints as numbers, shape (n, FIELDS)."""

half_away = njit(_half_away)
"""Round a float to the nearest whole float, ties away from zero."""
wrap_turn = njit(_wrap_turn)
"""Reduce an angle in radians to one turn about zero."""
half_up_shift = njit(_half_up_shift)
"""floor(x / 2^shift + 1/2) of an int64; shift 0 to 63."""


def pack(formats: Iterable[Format]) -> Packed:
    """Return the formats of n joints as numbers for the functions below, shape (n, FIELDS)."""
    names = ("lowest", "highest", "centre", "lsb", "sign", "offset", "low", "high")
    rows = [(word.kind == "angle", *(getattr(word, name) for name in names)) for word in formats]
    return np.array(rows, dtype=np.float64).reshape(len(rows), FIELDS)


@njit
def has_word(x: float, packed: Packed, joint: int) -> bool:
    """Return whether a value has a word: it is finite, and an angle is within so many turns."""
    return abs(x) <= (_LARGEST_ANGLE if packed[joint, ANGLE] != 0.0 else _LARGEST)


@njit
def quantise_value(x: float, packed: Packed, joint: int) -> tuple[int, bool]:
    """Return the word of one finite value, and whether it was out of range; see `Format.quantise_counted`."""
    row = packed[joint]
    raw = row[SIGN] * (x - row[OFFSET])
    lowest, highest = row[LOWEST], row[HIGHEST]
    if row[ANGLE] != 0.0:
        half = -lowest
        turned = raw if abs(raw) <= TURN / 2 else wrap_turn(raw)  # which leaves it as it is, but takes its time
        units = half_away(turned / TURN * (2 * half))
        if units >= half:  # half a turn forwards is the lowest word
            units -= 2 * half
        elif units < -half:  # wrap_turn may pass half a turn by its correction
            units += 2 * half
        return int(units), raw < row[LOW] or raw > row[HIGH]
    units = (raw - row[CENTRE]) / row[LSB]
    outside = units < lowest - 0.5 or units > highest + 0.5
    return int(half_away(min(max(units, lowest), highest))), outside


@njit
def dequantise_value(word: int, packed: Packed, joint: int) -> float:
    """Return the value of one word the format holds; see `Format.dequantise`."""
    row = packed[joint]
    return row[SIGN] * (row[CENTRE] + word * row[LSB]) + row[OFFSET]  # type: ignore[no-any-return]


@njit
def quantise_finite(x: float, packed: Packed, joint: int) -> tuple[int, bool]:
    """Return the word of one value, and whether it was out of range; refuse what has no word."""
    if not has_word(x, packed, joint):
        raise ValueError("a value to be quantised must be finite, and an angle within 2^24 turns")
    return quantise_value(x, packed, joint)


@njit
def dequantise_any(word: int, packed: Packed, joint: int) -> float:
    """Return the value of any integer, taken as a format holds it: angles masked to their bits, others clamped."""
    lowest, highest = int(packed[joint, LOWEST]), int(packed[joint, HIGHEST])
    if packed[joint, ANGLE] != 0.0:
        return dequantise_value(((word - lowest) & (highest - lowest)) + lowest, packed, joint)
    return dequantise_value(min(max(word, lowest), highest), packed, joint)


def quantiser(formats: Iterable[Format]) -> Callable[..., Any]:
    """Return a compiled function quantise(values, words) on arrays (n,); see `WordArray.kernel`."""
    packed = _packed_for_kernel(formats)
    joints = len(packed)

    @numba.njit(nogil=True)
    def quantise(values: Any, words: Any) -> int:
        if len(values) != joints or len(words) != joints:
            raise ValueError("values and words must be arrays (n,), one number per joint")
        outside = 0
        for joint in range(joints):
            word, beyond = quantise_finite(values[joint], packed, joint)
            words[joint] = word
            outside += beyond
        return outside

    return quantise


def dequantiser(formats: Iterable[Format]) -> Callable[..., Any]:
    """Return a compiled function dequantise(words, values) on arrays (n,); see `WordArray.inverse_kernel`."""
    packed = _packed_for_kernel(formats)
    joints = len(packed)

    @numba.njit(nogil=True)
    def dequantise(words: Any, values: Any) -> None:
        if len(values) != joints or len(words) != joints:
            raise ValueError("words and values must be arrays (n,), one number per joint")
        for joint in range(joints):
            values[joint] = dequantise_any(words[joint], packed, joint)

    return dequantise


def _packed_for_kernel(formats: Iterable[Format]) -> Packed:
    if DISABLE_JIT:
        raise BddTorqueError("a kernel is compiled by Numba: NUMBA_DISABLE_JIT must not be set")
    return pack(formats)

"""Read what callers give an evaluator: words and values of states as arrays, and what of them is out of range."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError, unknown
from bddtorque.evaluate.single import LEFT, One
from bddtorque.words.formats import Format, limits
from bddtorque.words.interface import Interface, WordArray

Integers = npt.NDArray[np.int64]
_WORD = np.dtype(np.int64)
_array = np.ndarray
_KINDS = {np.dtype(np.int64): "bBhHiIl", np.dtype(np.float64): "bBhHiIlLefd"}
"""What single states are copied from: of words all integers but uint64, whose large ones would turn negative."""


def state_words(formats: Interface, takes_columns: bool, **named: Any) -> tuple[list[Integers], bool]:
    """Return q, qd and qdd as integer arrays (N, n) of one length, and whether every one was a single state."""
    rows, single = [], True
    for name, given in named.items():
        own: WordArray = getattr(formats, name)
        array = np.asarray(given)
        if array.dtype.kind not in "iu":
            raise BddTorqueError(f"{own.name} must be integer words, got {array.dtype} (torque takes floats)")
        if array.ndim not in (1, 2) or array.shape[-1] != len(own):
            n = len(own)
            raise BddTorqueError(f"{own.name} must have shape ({n},) or (N, {n}), got {array.shape}")
        if array.dtype == np.uint64:  # before the cast, or large words would turn negative; angles keep low bits
            wraps = np.array([each.kind == "angle" for each in own])
            array = np.where(wraps, array, np.minimum(array, np.uint64(2**62)))
        single = single and array.ndim == 1
        rows.append(np.atleast_2d(array.astype(np.int64, copy=False)))
    lengths = {len(row) for row in rows} - {1}
    if len(lengths) > 1:
        raise BddTorqueError(f"q, qd and qdd must have the same number of rows, got {[len(row) for row in rows]}")
    shape = (lengths.pop() if lengths else 1, rows[0].shape[1])
    spread = [np.broadcast_to(row, shape) for row in rows]
    columns = all(row.flags.f_contiguous and not row.flags.c_contiguous for row in spread)
    order: Literal["C", "F"] = "F" if columns and takes_columns else "C"
    return [np.asarray(row, order=order) for row in spread], single


def taking_any(one: One, dtype: np.dtype[Any], still: npt.NDArray[np.float64]) -> One:
    """Return a compiled call for a single state that takes lists, tuples and arrays (n,) of other numbers too.

    They are copied into arrays of `dtype`, the one type it is compiled for; the float 0 stands for `still`. ValueError
    for what the ordinary way must look at.
    """
    kinds, make = _KINDS[dtype], np.array  # found at once

    def array_of(given: Any) -> Any:
        kind = given.__class__
        if kind is list or kind is tuple:
            array = make(given)
            if array.dtype is dtype and array.ndim == 1:
                return array
        elif kind is _array:
            array = given
        elif kind is float and given == 0.0 and dtype is still.dtype:
            return still
        else:
            raise ValueError(LEFT)
        kind = array.dtype
        if kind is dtype and array.flags.carray:
            return array
        if array.ndim != 1 or kind.char not in kinds:
            raise ValueError(LEFT)
        return array.astype(dtype)

    def call(q: Any, qd: Any, qdd: Any, tau: Any, places: Any) -> None:
        kind = q.__class__
        arrays = kind is qd.__class__ is qdd.__class__ is _array  # q has one dimension, as the caller saw
        if arrays and (held := q.dtype) is qd.dtype is qdd.dtype and qd.ndim == qdd.ndim == 1:
            if held is not dtype:
                if held.char in kinds:
                    one(q.astype(dtype), qd.astype(dtype), qdd.astype(dtype), tau, places)
                    return
            elif q.flags.carray and qd.flags.carray and qdd.flags.carray:
                one(q, qd, qdd, tau, places)
                return
            else:
                one(q.copy(), qd.copy(), qdd.copy(), tau, places)
                return
        if len(q) != len(tau):  # rows, perhaps many: not worth a copy
            raise ValueError(LEFT)
        if kind is qd.__class__ is qdd.__class__ and (kind is list or kind is tuple):
            position, velocity, acceleration = make(q), make(qd), make(qdd)
            if position.dtype is velocity.dtype is acceleration.dtype is dtype:
                one(position, velocity, acceleration, tau, places)
                return
        one(array_of(q), array_of(qd), array_of(qdd), tau, places)

    return call


def are_batches(q: Any, qd: Any, qdd: Any, joints: int, takes_columns: bool) -> bool:
    """Whether three things are arrays (N, n) of int64 as the runner takes them, all of one shape and order."""
    if not (q.__class__ is qd.__class__ is qdd.__class__ is _array and q.dtype is qd.dtype is qdd.dtype is _WORD):
        return False
    shape = q.shape
    if len(shape) != 2 or shape[1] != joints or qd.shape != shape or qdd.shape != shape:
        return False
    one, two, three = q.flags, qd.flags, qdd.flags
    if not (one.aligned and two.aligned and three.aligned):
        return False
    if one.c_contiguous:
        return two.c_contiguous and three.c_contiguous
    return takes_columns and one.f_contiguous and two.f_contiguous and three.f_contiguous


def input_columns(
    given: Sequence[Any], inputs: Mapping[str, Format], where: str, dtype: np.dtype[Any] | None = None
) -> tuple[Any, tuple[int, ...]]:
    """Return what was given for the inputs of a function as an array (N, k), and the shape of the result.

    Unless `dtype` is given, the array is of int64 where all inputs are integers, else of float64.
    """
    if len(given) != len(inputs):
        raise BddTorqueError(f"{where} takes {len(inputs)} arguments ({', '.join(inputs)}), got {len(given)}")
    try:
        arrays = np.broadcast_arrays(*map(np.asarray, given))
    except ValueError:
        shapes = ", ".join(str(np.shape(each)) for each in given)
        raise BddTorqueError(f"{where}: the shapes {shapes} do not broadcast") from None
    for name, array in zip(inputs, arrays, strict=True):
        if array.dtype.kind not in "iuf":
            raise BddTorqueError(f"{where} takes real numbers, got {array.dtype} for {name}")
    kind = dtype or np.dtype(np.float64 if any(array.dtype.kind == "f" for array in arrays) else np.int64)
    columns = [
        np.minimum(array, np.uint64(2**62)) if array.dtype == np.uint64 and word.kind == "range" else array
        for array, word in zip(arrays, inputs.values(), strict=True)
    ]  # before the cast, or large words would turn negative
    return np.stack([column.reshape(-1).astype(kind) for column in columns], axis=1), arrays[0].shape


def array_columns(
    arrays: Interface,
    given: Sequence[Any],
    named: Mapping[str, Any],
    where: str,
    columns: int,
    dtype: np.dtype[Any] | None = None,
) -> tuple[Any, tuple[int, ...]]:
    """Return what was given for the arrays of a quantity as one array (N, columns), and (N,) or () for one state.

    Columns that nothing is given for are zero. Unless `dtype` is given, integers stay integers.
    """
    names = [array.name for array in arrays.inputs]
    taken = dict(zip(names, given, strict=False))
    if len(given) > len(names):
        raise BddTorqueError(f"{where} takes {len(names)} arrays ({', '.join(names)}), got {len(given)}")
    for name, each in named.items():
        if name not in names:
            raise BddTorqueError(unknown(f"array of {where}", name, names))
        if name in taken:
            raise BddTorqueError(f"{where}: array '{name}' is given twice")
        taken[name] = each
    rows, single = [], True
    for array in arrays.inputs:
        if array.name not in taken:
            raise BddTorqueError(f"{where} takes the arrays {', '.join(names)}: '{array.name}' is missing")
        rows.append(_array_rows(array, taken[array.name], dtype))
        single = single and np.ndim(taken[array.name]) == 1
    lengths = {len(row) for row in rows} - {1}
    if len(lengths) > 1:
        raise BddTorqueError(f"{', '.join(names)} must have the same number of rows, got {[len(row) for row in rows]}")
    count = lengths.pop() if lengths else 1
    together = np.zeros((count, columns), dtype=np.result_type(*rows) if dtype is None else dtype)
    first = 0
    for row in rows:
        together[:, first : first + row.shape[1]] = row
        first += row.shape[1]
    return together, () if single else (count,)


def one_state(
    sizes: Mapping[str, int], given: Sequence[Any], named: Mapping[str, Any], columns: int, dtype: np.dtype[Any]
) -> npt.NDArray[Any] | None:
    """Return a single state as one array (columns,); None for all that `array_columns` must look at.

    `sizes` are those of the arrays by name; 0 stands for a number. Columns that nothing is given for are zero.
    """
    if len(given) + len(named) != len(sizes):
        return None
    if named:
        rest = list(sizes)[len(given) :]
        if named.keys() != set(rest):
            return None
        given = [*given, *(named[name] for name in rest)]
    state, kinds, first = np.zeros(columns, dtype), _KINDS[dtype], 0
    for each, size in zip(given, sizes.values(), strict=True):
        if size == 0:
            if each.__class__ is not int and (each.__class__ is not float or dtype is _WORD):
                return None
            try:
                state[first] = each
            except OverflowError:
                return None
            first += 1
            continue
        try:
            row = np.asarray(each)
        except ValueError:
            return None
        if row.shape != (size,) or row.dtype.char not in kinds:
            return None
        state[first : first + size] = row
        first += size
    return state


def _array_rows(array: WordArray, given: Any, dtype: np.dtype[Any] | None) -> Any:
    """Return what was given for one array as rows (N, words) of int64 or float64."""
    size = len(array)
    try:
        row = np.asarray(given)
    except ValueError:
        raise BddTorqueError(f"{array.name} must have shape ({size},) or (N, {size}), got a ragged list") from None
    if row.dtype.kind not in "iuf":
        raise BddTorqueError(f"{array.name} must be real numbers, got {row.dtype}")
    if row.ndim not in (1, 2) or row.shape[-1] != size:
        raise BddTorqueError(f"{array.name} must have shape ({size},) or (N, {size}), got {row.shape}")
    if row.dtype == np.uint64 and dtype is None:  # before the cast, or large words would turn negative
        wraps = np.array([word.kind == "angle" for word in array])
        row = np.where(wraps, row, np.minimum(row, np.uint64(2**62)))
    kind = dtype or np.dtype(np.float64 if row.dtype.kind == "f" else np.int64)
    return np.atleast_2d(row.astype(kind))


def array_results(arrays: Interface, found: npt.NDArray[Any], single: bool) -> Any:
    """Return output columns as the array of a quantity, or as a named tuple of its arrays."""
    results, first = [], 0
    for array in arrays.outputs:
        shaped = array.shaped(found[:, first : first + len(array)])
        results.append(shaped[0] if single else shaped)
        first += len(array)
    if len(results) == 1:
        return results[0]
    return _named_tuple(tuple(array.name for array in arrays.outputs))(*results)


@cache  # to make a class takes as long as some hundred states
def _named_tuple(names: tuple[str, ...]) -> Any:
    return namedtuple("Arrays", names)


def count_outside(word: Format, words: Integers) -> int:
    """Return how many words are out of range, as the program counts them."""
    first, last = limits(word)
    held = word.held(words) if word.kind == "angle" else words
    within = (held >= first) & (held <= last) if first <= last else (held >= first) | (held <= last)
    return int(np.count_nonzero(~within))


def clamped_message(word: Format) -> str:
    """Return what to tell of the first number of a format that was clamped."""
    low, high = word.span
    unit = f" {word.unit}" if word.unit else ""
    return (
        f"{word.name} is beyond its range, {low:.6g} to {high:.6g}{unit}, and was clamped; out_of_range counts "
        "all such values, and on_range='saturate' turns this warning off"
    )


def out_of_range_message(word: Format, values: Any) -> str:
    """Return what is wrong with values of one joint, some of which are out of range: the worst of them is named."""
    low, high = sorted(word.sign * end + word.offset for end in (word.low, word.high))
    first, last = (low, high) if word.kind == "angle" else word.span
    worst = np.ravel(values)[np.maximum(first - values, values - last).argmax()]
    words = f" (its words end at {first:.6g} and {last:.6g})" if low <= worst <= high else ""
    unit = f" {word.unit}" if word.unit else ""
    return f"{word.name} must be between {low:.6g} and {high:.6g}{unit}{words}, got {worst:.6g}"

"""The float values of any function at every input word."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.words import Format

if TYPE_CHECKING:
    from bddtorque.model.function_model import FunctionModel

Floats = npt.NDArray[np.float64]

COMPARED = 16
"""Entries on which a function of arrays is compared with itself on numbers."""
MOST_BITS = 24
"""Input bits of a function that is tried on all its words."""
SAME = 1e-9
"""Relative: a function on arrays may round otherwise than on numbers."""


def grid_values(formats: Sequence[Format]) -> list[Floats]:
    """Return the values of all words as arrays of one shape (words of the first input, of the second, ...)."""
    axes = []
    for word in formats:
        index = np.arange(1 << word.bits, dtype=np.int64)
        axes.append(word.dequantise(np.where(index > word.highest, index - (1 << word.bits), index)))
    return [np.ascontiguousarray(each) for each in np.meshgrid(*axes, indexing="ij")]


def float_values(function: Callable[..., Any], names: Sequence[str], formats: Sequence[Format], where: str) -> Floats:
    """Return the value at every word, in the order of a table's index, or refuse what is no finite number.

    The function is called on arrays where it takes them and gives the same as on numbers; else number by number.
    """
    columns = [column.reshape(-1) for column in grid_values(formats)]
    with np.errstate(all="ignore"):  # what comes of it is refused by name below
        values = _on_arrays(function, columns)
        if values is None:
            rows = zip(*(column.tolist() for column in columns), strict=True)
            values = np.array([_number(function, row, names, where) for row in rows], dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        at = _shown(names, [column[bad[0]] for column in columns])
        raise BddTorqueError(
            f"{where}: a finite value at every input word required, {values[bad[0]]} at {at}"
            + (f" and at {len(bad) - 1:,} more" if len(bad) > 1 else "")
        )
    return values


def exhaustive_error(model: FunctionModel, function: Callable[..., Any]) -> float:
    """Return the largest |compiled − clamp(function)| over every combination of input words, in units."""
    total = sum(word.bits for word in model.inputs)
    if total > MOST_BITS:
        raise BddTorqueError(f"function '{model.name:.60}': at most {MOST_BITS} input bits required, {total} given")
    values = float_values(function, model.input_names, model.inputs, f"function '{model.name:.60}'")
    words = model.words(
        *(np.where(index > word.highest, index - (1 << word.bits), index) for index, word in _indices(model))
    )
    output = model.output
    units = (output.sign * (values - output.offset) - output.centre) / output.lsb
    return float(np.abs(words - np.clip(units, output.lowest, output.highest)).max())


def _indices(model: FunctionModel) -> list[tuple[npt.NDArray[np.int64], Format]]:
    """Return for each input its part of every index of a table of all words."""
    total = sum(word.bits for word in model.inputs)
    index, found = np.arange(1 << total, dtype=np.int64), []
    for word in model.inputs:
        total -= word.bits
        found.append(((index >> total) & ((1 << word.bits) - 1), word))
    return found


def _on_arrays(function: Callable[..., Any], columns: Sequence[Floats]) -> Floats | None:
    """Return the values if the function takes arrays and does with them what it does with numbers, else None."""
    try:
        found = np.asarray(function(*(column.copy() for column in columns)))
        if found.shape != columns[0].shape or found.dtype.kind not in "iuf":
            return None
        values = found.astype(np.float64)
        for place in np.linspace(0, len(values) - 1, COMPARED).astype(np.int64).tolist():
            alone = float(function(*(float(column[place]) for column in columns)))
            if not (abs(alone - values[place]) <= SAME * max(abs(alone), 1e-300) or math.isnan(alone)):
                return None
    except Exception:  # a function of numbers may do anything to arrays
        return None
    return values


def _number(function: Callable[..., Any], row: Sequence[float], names: Sequence[str], where: str) -> float:
    try:
        return float(function(*row))
    except (ArithmeticError, TypeError, ValueError) as problem:
        at = _shown(names, row)
        raise BddTorqueError(
            f"{where}: a number at every input word required, {type(problem).__name__} ({problem}) at {at}"
        ) from None


def _shown(names: Sequence[str], values: Sequence[float]) -> str:
    return ", ".join(f"{name} = {float(value):.6g}" for name, value in zip(names, values, strict=True))

"""The float values of any function at every input word."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.words.argument import argument_of
from bddtorque.words.formats import Format
from bddtorque.words.interface import Interface

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

COMPARED = 16
"""Entries on which a function of arrays is compared with itself on numbers."""
MAX_BITS = 24
"""Input bits of a function that is tried on all its words."""
SAME = 1e-9
"""Relative: a function on arrays may round otherwise than on numbers."""


def grid_words(formats: Iterable[Format]) -> list[Integers]:
    """Return all input words as arrays of one shape (words of the first input, of the second, ...).

    Their order along an axis is that of a table's index: 0, 1, ..., highest and, if signed, lowest, ..., −1.
    """
    axes = [argument_of(word).words() for word in formats]
    return [np.ascontiguousarray(each) for each in np.meshgrid(*axes, indexing="ij")]


def grid_values(formats: Sequence[Format]) -> list[Floats]:
    """Return the values of all input words, in arrays as `grid_words` gives them."""
    return [word.dequantise(words) for word, words in zip(formats, grid_words(formats), strict=True)]


def float_values(function: Callable[..., Any], inputs: Mapping[str, Format], where: str) -> Floats:
    """Return the value at every word, in the order of a table's index, or refuse what is no finite number.

    The function is called on arrays where it takes them and gives the same as on numbers; else number by number.
    """
    names = tuple(inputs)
    columns = [column.reshape(-1) for column in grid_values(tuple(inputs.values()))]
    with np.errstate(all="ignore"):  # what comes of it is refused by name below
        values = _on_arrays(function, columns)
        if values is None:
            rows = zip(*(column.tolist() for column in columns), strict=True)
            values = np.array([value_at(function, row, names, where) for row in rows], dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        at = _shown(names, [column[bad[0]] for column in columns])
        raise BddTorqueError(
            f"{where} must be finite at every input word, got {values[bad[0]]} at {at}"
            + (f" and at {len(bad) - 1:,} more" if len(bad) > 1 else "")
        )
    return values


def exhaustive_error(
    name: str, formats: Interface, compiled: Callable[..., Any], function: Callable[..., Any]
) -> float:
    """Return the largest |compiled − clamp(function)| over every combination of input words, in units.

    `compiled` takes words and returns words, `function` takes and returns values.
    """
    where, total = f"function '{name:.60}'", sum(word.bits for word in formats.words.values())
    if total > MAX_BITS:
        raise BddTorqueError(
            f"{where} has {total} input bits, and trying every word is possible for at most {MAX_BITS}"
        )
    values = float_values(function, formats.words, where)
    words = compiled(*(column.reshape(-1) for column in grid_words(formats.words.values())))
    (output,) = formats.results.values()
    units = output.units(values)
    return float(np.abs(words - np.clip(units, output.lowest, output.highest)).max())


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


def value_at(function: Callable[..., Any], row: Sequence[float], names: Iterable[str], where: str) -> float:
    """Return the value of a function at one state, or refuse what is no float."""
    try:
        return float(function(*row))
    except (ArithmeticError, RecursionError, TypeError, ValueError) as problem:
        raise BddTorqueError(
            f"{where} must return a float for every input word: {type(problem).__name__} ({problem}) at "
            f"{_shown(names, row)}"
        ) from None


def _shown(names: Iterable[str], values: Sequence[float]) -> str:
    return ", ".join(f"{name} = {float(value):.6g}" for name, value in zip(names, values, strict=True))

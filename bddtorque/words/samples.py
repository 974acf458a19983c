"""Samples of a function: read from CSV or arrays, made of one value per point, each rule stated.

- duplicates: samples at the same point are averaged, and how far they lie from their mean is reported; or they are
  refused, all of them or those that differ by more than a stated spread
- noise is not filtered; `merge = "word"` averages all samples whose arguments are the same input words
- gaps between samples are bridged linearly (multilinearly on a grid), or by the nearest sample, or refused
- beyond the outermost samples nothing is known: words more than a unit beyond them are refused, or the value there is
  held; angles go round
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.csv_rows import cell_number, check_width, csv_rows
from bddtorque.base.errors import BddTorqueError, nearest, one_line
from bddtorque.words.formats import TURN, Floats, Format, wrap_turn
from bddtorque.words.interpolant import Interpolant, Nearest

MAX_SAMPLES = 2_000_000
DUPLICATES = ("mean", "refuse")
MERGES = ("point", "word")
GAPS = ("linear", "nearest", "refuse")
EXTRAPOLATIONS = ("refuse", "hold")


@dataclass(frozen=True)
class Samples:
    """Samples as they were read."""

    names: tuple[str, ...]  # of the arguments, and last of the value
    points: Floats  # (N, k)
    values: Floats  # (N,)
    places: npt.NDArray[np.int64]  # where each stands, for messages: lines of a file, or rows from 0
    where: str  # what messages call them
    unit_of_place: str = "line"

    def place(self, sample: int) -> str:
        """Return where a sample stands."""
        return f"{self.unit_of_place} {self.places[sample]}"


@dataclass(frozen=True)
class Merged:
    """One value a point, and how far the samples of one point lie from their mean at most."""

    points: Floats
    values: Floats
    spread: float
    duplicates: int


def read_samples(source: Any, names: Sequence[str] | None = None) -> Samples:
    """Return samples from a CSV file with a header, an array (N, k+1), or a pair of arrays (N, k) or (N,), and (N,).

    `names` are the arguments' and last the value's. Columns of a file are found by them; the file's own, in its order
    and the last one the value's, are taken where none are given.
    """
    if isinstance(source, str | PathLike):
        return _from_csv(Path(source), names)
    where = "samples"
    parts = source if isinstance(source, list | tuple) else [source]
    masked = sum(int(np.count_nonzero(part.mask)) for part in parts if isinstance(part, np.ma.MaskedArray))
    if masked:
        raise BddTorqueError(f"{where}: {masked:,} values are masked: leave out the rows that have them")
    try:
        if isinstance(source, tuple) and len(source) == 2:
            points, values = np.asarray(source[0]), np.asarray(source[1])
            points = points[:, None] if points.ndim == 1 else points
            array = np.concatenate((points, values.reshape(len(points), 1)), axis=1)
        else:
            array = np.asarray(source)
    except ValueError:
        raise BddTorqueError(f"{where} must be an array (N, inputs + 1), or a pair of arrays of one length") from None
    if array.ndim != 2 or not 2 <= array.shape[1] <= 5 or array.dtype.kind not in "iuf":
        raise BddTorqueError(
            f"{where} must be real numbers of shape (N, inputs + 1) with 1 to 4 inputs, got {array.dtype} of shape "
            f"{array.shape}"
        )
    columns = array.shape[1]
    own = tuple(names) if names is not None else (*(f"x{k}" for k in range(1, columns)), "y")
    if len(own) != columns:
        raise BddTorqueError(f"{where} must have {len(own)} columns ({', '.join(own)}), got {columns}")
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        row, column = bad[0]
        raise BddTorqueError(f"{where}, row {row}: {own[column]} must be finite, got {array[row, column]}")
    if not 0 < len(array) <= MAX_SAMPLES:
        raise BddTorqueError(f"{where} must be 1 to {MAX_SAMPLES:,} samples, got {len(array):,}")
    numbers = array.astype(np.float64)
    return Samples(own, numbers[:, :-1], numbers[:, -1], np.arange(len(numbers)), where, "row")


def _from_csv(path: Path, names: Sequence[str] | None) -> Samples:
    where = one_line(str(path))
    numbers = array("d")  # not lists: of two million samples these would take half a gigabyte
    places = array("q")
    rows = csv_rows(path, where)
    columns = _header(next(rows, (1, None))[1], names, where)
    wanted = list(names) if names is not None else columns
    order = [columns.index(name) for name in wanted]
    for number, cells in rows:
        line = f"{where}, line {number}"
        check_width(cells, columns, line)
        numbers.extend(cell_number(cells[k], columns[k], line) for k in order)
        places.append(number)
        if len(places) > MAX_SAMPLES:
            raise BddTorqueError(f"{where}: there must be at most {MAX_SAMPLES:,} samples, got more")
    if not places:
        raise BddTorqueError(f"{where}: there are no samples below the header")
    read = np.frombuffer(numbers, dtype=np.float64).reshape(len(places), len(wanted))
    return Samples(tuple(wanted), read[:, :-1], read[:, -1], np.frombuffer(places, dtype=np.int64), where)


def _header(cells: list[str] | None, names: Sequence[str] | None, where: str) -> list[str]:
    if cells is None or not any(cell.strip() for cell in cells):
        raise BddTorqueError(f"{where}: the file is empty; it must begin with a header, the names of the columns")
    columns = [cell.strip(" \t") for cell in cells]
    for column in columns:
        if not column or not column.isprintable() or re.fullmatch(r"[+-]?[0-9.][0-9eE.+-]*", column):
            raise BddTorqueError(f"{where}, line 1: the header must hold the names of the columns, got {column!r:.40}")
    if len(set(columns)) < len(columns):
        column = Counter(columns).most_common(1)[0][0]
        raise BddTorqueError(f"{where}, line 1: column {column!r:.40} occurs twice")
    for name in names or ():
        if name not in columns:
            raise BddTorqueError(
                f"{where}, line 1: column {name!r:.40} is missing{nearest(name, columns)} (needed: "
                f"{', '.join(names or ())})"
            )
    if names is None and not 2 <= len(columns) <= 5:
        raise BddTorqueError(f"{where}, line 1: columns must be 1 to 4 inputs and a value, got {len(columns)}")
    return columns


def merged(samples: Samples, formats: Sequence[Format], duplicates: str, merge: str, spread: float | None) -> Merged:
    """Return one value a point: the mean of the samples there, or refuse them."""
    points = samples.points.copy()
    for axis, word in enumerate(formats):
        if word.kind == "angle":
            points[:, axis] = _within_turn(points[:, axis])
        if merge == "word":
            points[:, axis] = word.dequantise(word.quantise(points[:, axis]))
            if word.kind == "angle":
                points[:, axis] = _within_turn(points[:, axis])
    points = points + 0.0  # no negative zeros
    unique, inverse, counts = np.unique(points, axis=0, return_inverse=True, return_counts=True)
    inverse = inverse.reshape(-1)
    low, high = np.full(len(unique), math.inf), np.full(len(unique), -math.inf)
    np.minimum.at(low, inverse, samples.values)
    np.maximum.at(high, inverse, samples.values)
    allowed = 0.0 if spread is None else spread
    if duplicates == "refuse" or spread is not None:
        refused = (counts > 1) & (high - low > allowed) if spread is not None else counts > 1
        if refused.any():
            raise BddTorqueError(_twice(samples, np.flatnonzero(inverse == refused.argmax()), spread))
    totals = np.zeros(len(unique))
    np.add.at(totals, inverse, samples.values)
    # the mean of equal values is that value, whatever the rounding of a sum
    means = np.where(low == high, low, np.clip(totals / counts, low, high))
    off = float(np.maximum(high - means, means - low).max())
    return Merged(unique, means, off, int((counts - 1).sum()))


def _twice(samples: Samples, places: npt.NDArray[np.int64], spread: float | None) -> str:
    at = ", ".join(
        f"{name} = {value:.6g}" for name, value in zip(samples.names, samples.points[places[0]].tolist(), strict=False)
    )
    values = samples.values[places]
    rule = "be one per point" if spread is None else f"agree within {spread:g} at each point"
    first, second = places[values.argmin()], places[values.argmax()]
    if first == second:
        first, second = places[0], places[1]
    return (
        f"{samples.where}: samples must {rule}, got {len(places)} at {at} from {values.min():.6g} to "
        f"{values.max():.6g} ({samples.place(int(first))} and {samples.place(int(second))})"
    )


def _within_turn(angles: Floats) -> Floats:
    """Return angles from −π to below π."""
    wrapped = np.asarray(wrap_turn(angles))
    inside = np.where(wrapped >= TURN / 2, wrapped - TURN, wrapped)
    return np.maximum(inside, -TURN / 2)


def law_of(
    found: Merged, formats: Sequence[Format], names: Sequence[str], gaps: str, extrapolation: str, where: str
) -> Interpolant | Nearest:
    """Return the law of samples with one value a point, or refuse what the rules do not cover."""
    around = tuple(word.kind == "angle" for word in formats)
    for axis, word in enumerate(formats):
        if word.kind == "range" and extrapolation != "hold":
            column = found.points[:, axis]
            check_reach(float(column.min()), float(column.max()), word, names[axis], where)
    if gaps == "refuse":
        _check_full(found.points, formats, where)
    axes = [np.unique(found.points[:, axis]) for axis in range(found.points.shape[1])]
    if gaps == "nearest":
        units = tuple(word.lsb for word in formats)
        return Nearest(tuple(map(tuple, found.points.tolist())), tuple(found.values.tolist()), units, around)
    if math.prod(map(len, axes)) != len(found.points):
        sizes = "×".join(str(len(axis)) for axis in axes)
        raise BddTorqueError(
            f"{where}: to interpolate, samples must fill a grid, got {len(found.points):,} of its {sizes} points: use "
            'gaps = "nearest"'
        )
    # unique sorts points by their first argument, then by the next: the order of the grid
    knots = tuple(tuple(axis.tolist()) for axis in axes)
    return Interpolant(knots, tuple(found.values.tolist()), around, extrapolation == "hold")


def law_of_one(
    samples: Samples, formats: Sequence[Format], duplicates: str, merge: str, spread: float | None, hold: bool
) -> Interpolant:
    """Return the interpolant of samples of one argument that is no angle; its words may come later."""
    found = merged(samples, formats, duplicates, merge, spread)
    return Interpolant((tuple(found.points[:, 0].tolist()),), tuple(found.values.tolist()), (False,), hold)


def check_reach(first: float, last: float, word: Format, name: str, where: str) -> None:
    """Refuse words more than a unit beyond the outermost samples."""
    (low, high), slack = word.span, word.lsb * (1 + 1e-6)
    if low < first - slack or high > last + slack:
        words = f"{low:.6g} to {high:.6g} {word.unit}".rstrip()
        raise BddTorqueError(
            f"{where}: samples must reach over all of {name}, {words}, they go from "
            f'{first:.6g} to {last:.6g}: use a narrower range of {name} or extrapolation = "hold"'
        )


def _check_full(points: Floats, formats: Sequence[Format], where: str) -> None:
    """Refuse input words without a sample."""
    words = np.stack([word.quantise(points[:, axis]) for axis, word in enumerate(formats)], axis=1)
    seen, total = len(np.unique(words, axis=0)), math.prod(1 << word.bits for word in formats)
    if seen < total:
        raise BddTorqueError(
            f"{where}: each of {total:,} combinations of input words must have a sample, {seen:,} have one: use "
            'gaps = "linear" or "nearest", or fewer bits'
        )

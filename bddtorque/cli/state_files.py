"""States from files: CSV with a column ``ARRAY:WORD`` per input word (``q:elbow``; a number: ``x``), or npy (N, words).

Read in pieces, so that a file of any length takes the memory of one piece.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.csv_rows import cell_number, check_width, csv_rows
from bddtorque.base.errors import BddTorqueError, nearest, one_line
from bddtorque.base.overwriting import note_read
from bddtorque.base.reading import opened, reason
from bddtorque.words.interface import Interface, WordArray

PIECE = 1 << 16
"""States read at a time."""
MAX_HEADER = 10_000
"""Bytes of the header of an npy file; an ordinary one has 118."""
MAX_WORD = 2**63 - 1

Rows = npt.NDArray[Any]
Piece = tuple[str, Rows]
"""Where the rows come from, for messages, and the rows, (N, input words)."""


def column_names(arrays: Sequence[WordArray]) -> list[str]:
    """Return the columns of some arrays, in the order that an npy file has them: q:elbow; the name of a number."""
    return [f"{array.name}:{label}" if array.shape else array.name for array in arrays for label in array.labels]


def read_states(path: Path, formats: Interface, words: bool) -> Iterator[Piece]:
    """Give the states of a file piece by piece; ``-`` is CSV from standard input.

    `words`: the cells are integer words, else finite numbers.
    """
    about = f"the words of {', '.join(array.name for array in formats.inputs)}"
    return _pieces(path, column_names(formats.inputs), about, words)


def by_array(formats: Interface, rows: Rows) -> dict[str, Rows]:
    """Return rows (N, input words) as arrays (N, words), by name."""
    ends = np.cumsum([len(array) for array in formats.inputs]).tolist()
    return {array.name: rows[:, end - len(array) : end] for array, end in zip(formats.inputs, ends, strict=True)}


def read_arrays(path: Path, formats: Interface) -> dict[str, Rows]:
    """Return all states of a file as arrays (N, words) of floats, by name."""
    read = [rows for _, rows in read_states(path, formats, words=False)]
    return by_array(formats, np.concatenate(read) if read else np.empty((0, len(formats.words))))


def _pieces(path: Path, columns: list[str], about: str, words: bool) -> Iterator[Piece]:
    if path.suffix.lower() == ".npy":
        return _from_npy(path, columns, about, words)
    if str(path) == "-" or path.suffix.lower() == ".csv":
        return _from_csv(path, columns, words)
    raise BddTorqueError(f"STATES must be a .csv or .npy file, or - for CSV on standard input, got {path}")


def _from_npy(path: Path, columns: list[str], about: str, words: bool) -> Iterator[Piece]:
    try:
        opened(path).close()  # a pipe would be waited for
        states = np.lib.format.open_memmap(path, mode="r", max_header_size=MAX_HEADER)
    except FileNotFoundError:
        raise BddTorqueError(f"{path}: there is no such file") from None
    except Exception as problem:  # the header is read as Python's text, which can fail in any way there is
        raise BddTorqueError(f"{path} must be an npy file of numbers, but cannot be read ({reason(problem)})") from None
    if states.ndim != 2 or states.shape[1] != len(columns):
        raise BddTorqueError(f"{path}: the shape must be (N, {len(columns)}), {about}, got {states.shape}")
    if states.dtype.kind not in ("iu" if words else "iuf"):
        raise BddTorqueError(f"{path} must hold {'integers' if words else 'real numbers'}, got {states.dtype}")
    for first in range(0, len(states), PIECE):
        rows = np.array(states[first : first + PIECE])
        if not words:
            rows = rows.astype(np.float64)
            bad = ~np.isfinite(rows)
            if bad.any():
                row, column = (int(place) for place in np.argwhere(bad)[0])
                raise BddTorqueError(
                    f"{path}: numbers must be finite, got {rows[row, column]} in row {first + row} (from 0), "
                    f"column {column} ({columns[column]})"
                )
        yield f"{path}, rows {first} to {first + len(rows) - 1}", rows


def _from_csv(path: Path, wanted: list[str], words: bool) -> Iterator[Piece]:
    name = "standard input" if str(path) == "-" else one_line(str(path))
    rows = csv_rows(_standard_input() if str(path) == "-" else path, name)
    last, cells = next(rows, (0, None))
    columns = _header(cells, wanted, name)
    order = [columns.index(column) for column in wanted]
    read = _word if words else cell_number
    while True:
        first, numbers = last + 1, []
        for last, row in islice(rows, PIECE):
            where = f"{name}, line {last}"
            check_width(row, columns, where)
            numbers.append([read(row[k], columns[k], where) for k in order])
        if not numbers:
            return
        yield f"{name}, lines {first} to {last}", np.array(numbers, dtype=np.int64 if words else np.float64)


def _standard_input() -> IO[str]:
    if sys.stdin is None:
        raise BddTorqueError("standard input is closed, but STATES is -: give a file, or pipe CSV into the command")
    with suppress(OSError):  # what stands in its place in a program may have no descriptor
        note_read(sys.stdin.fileno(), "standard input")
    return sys.stdin


def _header(cells: list[str] | None, wanted: list[str], name: str) -> list[str]:
    """Return the columns of a file in its own order, after checking that each is there and is there once."""
    if cells is None:
        raise BddTorqueError(f"{name} is empty: the first line must name the columns {', '.join(wanted)}")
    columns = [cell.strip(" \t") for cell in cells]
    for column in columns:
        if column not in wanted:
            hint = nearest(column, wanted) or f" (columns: {', '.join(wanted)})"
            raise BddTorqueError(f"{name}, line 1: unknown column {column!r:.60}{hint}")
        if columns.count(column) > 1:
            raise BddTorqueError(f"{name}, line 1: column {column!r} occurs twice")
    missing = [column for column in wanted if column not in columns]
    if missing:
        raise BddTorqueError(f"{name}, line 1: missing columns {', '.join(missing)}")
    return columns


def _word(cell: str, column: str, where: str) -> int:
    text = cell.strip(" \t")
    # int also takes 1_000 and the digits of other scripts, which no file means
    if not re.fullmatch(r"[+-]?[0-9]{1,19}", text) or abs(int(text)) > MAX_WORD:
        raise BddTorqueError(f"{where}, column {column} must be an integer word, got {cell!r:.40}")
    return int(text)

"""States from files: CSV with a column ``q:<joint>``, ``qd:<joint>``, ``qdd:<joint>`` each, or npy of shape (N, 3n).

Read in pieces, so that a file of any length takes the memory of one piece.
"""

from __future__ import annotations

import csv
import io
import math
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError, nearest, one_line
from bddtorque.base.overwriting import note_read
from bddtorque.base.reading import Lines, opened, reason

PIECE = 1 << 16
"""States read at a time."""
QUANTITIES = ("q", "qd", "qdd")
LONGEST_HEADER = 10_000
"""Bytes of the header of an npy file; an ordinary one has 118."""
LARGEST_WORD = 2**63 - 1

Rows = npt.NDArray[Any]
Piece = tuple[str, Rows]
"""Where the rows come from, for messages, and the rows, (N, 3n): q, qd, qdd from base to tip."""


def column_names(joints: Sequence[str], quantities: Sequence[str] = QUANTITIES) -> list[str]:
    """Return the columns of a file, in the order that an npy file has them."""
    return [f"{quantity}:{joint}" for quantity in quantities for joint in joints]


def read_states(path: Path, joints: Sequence[str], words: bool) -> Iterator[Piece]:
    """Give the states of a file piece by piece; ``-`` is CSV from standard input.

    Parameters
    ----------
    words : the cells are integer words, else finite numbers
    """
    if path.suffix.lower() == ".npy":
        return _from_npy(path, joints, words)
    if str(path) == "-" or path.suffix.lower() == ".csv":
        return _from_csv(path, joints, words)
    raise BddTorqueError(f"STATES must be a .csv or .npy file, or - for CSV on standard input, got {path}")


def _from_npy(path: Path, joints: Sequence[str], words: bool) -> Iterator[Piece]:
    try:
        opened(path).close()  # a pipe would be waited for
        states = np.lib.format.open_memmap(path, mode="r", max_header_size=LONGEST_HEADER)
    except FileNotFoundError:
        raise BddTorqueError(f"{path}: there is no such file") from None
    except Exception as problem:  # the header is read as Python's text, which can fail in any way there is
        raise BddTorqueError(f"{path} must be an npy file of numbers, but cannot be read ({reason(problem)})") from None
    width = 3 * len(joints)
    if states.ndim != 2 or states.shape[1] != width:
        raise BddTorqueError(
            f"{path}: the shape must be (N, {width}), q, qd and qdd of {len(joints)} joints, got {states.shape}"
        )
    if states.dtype.kind not in ("iu" if words else "iuf"):
        raise BddTorqueError(f"{path} must hold {'integers' if words else 'real numbers'}, got {states.dtype}")
    for first in range(0, len(states), PIECE):
        rows = np.array(states[first : first + PIECE])
        if not words:
            rows = rows.astype(np.float64)
            bad = ~np.isfinite(rows)
            if bad.any():
                row, column = (int(place) for place in np.argwhere(bad)[0])
                name = column_names(joints)[column]
                raise BddTorqueError(
                    f"{path}: numbers must be finite, got {rows[row, column]} in row {first + row} (from 0), "
                    f"column {column} ({name})"
                )
        yield f"{path}, rows {first} to {first + len(rows) - 1}", rows


def _from_csv(path: Path, joints: Sequence[str], words: bool) -> Iterator[Piece]:
    name = "standard input" if str(path) == "-" else one_line(str(path))
    with ExitStack() as stack:
        try:
            file = _standard_input() if str(path) == "-" else stack.enter_context(_text(path))
            lines = Lines(file, name)
            reader = csv.reader(lines, strict=True)
            wanted = column_names(joints)
            columns = _header(next(reader, None), wanted, name)
            order = [columns.index(column) for column in wanted]
            rows: list[list[Any]] = []
            first = reader.line_num + 1
            for cells in reader:
                lines.row_over()
                if not cells:  # an empty line
                    continue
                rows.append(_row(cells, columns, words, f"{name}, line {reader.line_num}"))
                if len(rows) == PIECE:
                    yield f"{name}, lines {first} to {reader.line_num}", _array(rows, order, words)
                    rows, first = [], reader.line_num + 1
            if rows:
                yield f"{name}, lines {first} to {reader.line_num}", _array(rows, order, words)
        except FileNotFoundError:
            raise BddTorqueError(f"{name}: there is no such file") from None
        except BddTorqueError:
            raise
        except (OSError, ValueError) as problem:  # ValueError: text that is no UTF-8, a NUL in the path
            raise BddTorqueError(f"{name} must be a readable CSV file in UTF-8: {reason(problem)}") from None
        except csv.Error as problem:
            raise BddTorqueError(f"{name}, line {reader.line_num}: this is not CSV ({problem})") from None


def _standard_input() -> IO[str]:
    if sys.stdin is None:
        raise BddTorqueError("standard input is closed, but STATES is -: give a file, or pipe CSV into the command")
    with suppress(OSError):  # what stands in its place in a program may have no descriptor
        note_read(sys.stdin.fileno(), "standard input")
    return sys.stdin


def _text(path: Path) -> IO[str]:
    return io.TextIOWrapper(opened(path), encoding="utf-8-sig", newline="")


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


def _row(cells: list[str], columns: list[str], words: bool, where: str) -> list[float | int]:
    if len(cells) != len(columns):
        raise BddTorqueError(f"{where}: expected {len(columns)} cells, got {len(cells)}")
    return [_cell(cell, words, where, column) for cell, column in zip(cells, columns, strict=True)]


def _cell(cell: str, words: bool, where: str, column: str) -> float | int:
    text = cell.strip(" \t")  # nothing else: strip alone would take control characters for spaces
    expected = "an integer word" if words else "a finite number"
    # float and int also take 1_000 and the digits of other scripts, which no file means
    if re.fullmatch(r"[+-]?[0-9]{1,19}" if words else r"[0-9eE.+-]{1,400}", text):
        try:
            number = int(text) if words else float(text)
            if abs(number) <= LARGEST_WORD if words else math.isfinite(number):
                return number
        except ValueError:
            pass
    raise BddTorqueError(f"{where}, column {column}: expected {expected}, got {cell!r:.40}")


def _array(rows: list[list[Any]], order: list[int], words: bool) -> Rows:
    return np.array(rows, dtype=np.int64 if words else np.float64)[:, order]

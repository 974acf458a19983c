"""Rows of CSV text that anybody may have written: a row that never ends, and what is no number, are refused."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import count
from os import PathLike
from typing import IO

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.files import opened, reason
from bddtorque.base.plain import decimal

LONGEST_ROW = 1_000_000
"""Characters of a row; one that never ends would take all memory there is. `csv.reader` limits cells alone."""


def csv_rows(given: str | PathLike[str] | IO[str], where: str) -> Iterator[tuple[int, list[str]]]:
    """Give the first row of a file or an open text, and all others that are not empty, with the lines they end in."""
    taken = 0

    def lines(file: IO[str]) -> Iterator[str]:
        nonlocal taken
        for number in count(1):
            line = file.readline(LONGEST_ROW + 1)
            taken += len(line)
            if taken > LONGEST_ROW:
                raise BddTorqueError(
                    f"{where}, line {number}: a row must have at most {LONGEST_ROW:,} characters, this one has more"
                )
            if not line:
                return
            yield line

    try:
        with _text(given) as file:
            reader = csv.reader(lines(file), strict=True)
            for k, cells in enumerate(reader):
                taken = 0
                if k == 0 or len(cells) > 1 or "".join(cells).strip():
                    yield reader.line_num, cells
    except FileNotFoundError:
        raise BddTorqueError(f"{where}: there is no such file") from None
    except BddTorqueError:
        raise
    except (OSError, ValueError) as problem:  # ValueError: text that is no UTF-8, a NUL in the path
        raise BddTorqueError(f"{where} must be a readable CSV file in UTF-8: {reason(problem)}") from None
    except csv.Error as problem:
        raise BddTorqueError(f"{where}, line {reader.line_num}: this is not CSV ({problem})") from None


def _text(given: str | PathLike[str] | IO[str]) -> AbstractContextManager[IO[str]]:
    if isinstance(given, str | PathLike):
        return io.TextIOWrapper(opened(given), "utf-8-sig", newline="")
    return nullcontext(given)


def check_width(cells: Sequence[str], columns: Sequence[str], where: str) -> None:
    """Refuse a row that has more or fewer cells than there are columns."""
    if len(cells) != len(columns):
        raise BddTorqueError(f"{where}: a row must have {len(columns)} cells, got {len(cells)}")


def cell_number(cell: str, column: str, where: str) -> float:
    """Return the finite number in a cell."""
    number = decimal(cell.strip(" \t"))  # nothing else: strip alone would take control characters for spaces
    if number is None:
        raise BddTorqueError(f"{where}, column {column} must be a finite number, got {cell!r:.40}")
    return number

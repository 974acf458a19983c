"""Opening files that others wrote: none that would be waited for forever, and no more of any than can be used."""

from __future__ import annotations

import csv
import errno
import io
import math
import os
import re
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from os import PathLike
from typing import IO, BinaryIO

from bddtorque.base.errors import BddTorqueError, one_line
from bddtorque.base.overwriting import note_read

LONGEST_ROW = 1_000_000
"""Characters of a row of a CSV file; a row that never ends would take all memory there is."""


def opened(path: str | PathLike[str]) -> BinaryIO:
    """Open a file to read bytes from it.

    A pipe or a socket is refused, with an `OSError` as anything else that cannot be opened: who reads from a pipe that
    nobody writes to waits forever. Devices are opened; what is read of them must be bounded. A command never writes
    over what was opened here; see `overwriting`.
    """
    return open(path, "rb", opener=_without_waiting)


def read_whole(path: str | PathLike[str], largest: int, what: str, start: bytes = b"") -> bytes:
    """Return the bytes of a file, or refuse one that cannot be read or is larger; `what` is what it should be.

    Of a file that does not begin with `start`, no more is read.
    """
    where = one_line(str(path))
    try:
        with opened(path) as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(len(start))
            if data == start and size <= largest:
                # one more than can be used is enough to see that there are too many; devices have no size, and no end
                data += file.read((size or largest) + 1)
    except FileNotFoundError:
        raise BddTorqueError(f"{where}: there is no such file") from None
    except IsADirectoryError:
        raise BddTorqueError(f"{where}: this is a folder, not {what}") from None
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the path
        raise BddTorqueError(f"{where}: cannot be read: {reason(problem)}") from None
    if max(size, len(data)) > largest:
        raise BddTorqueError(f"{where}: {what} must have at most {largest:,} bytes, this one has more")
    return data


def read_text(path: str | PathLike[str], largest: int, what: str) -> str:
    """Return the UTF-8 text of a file, or refuse it as `read_whole` does."""
    try:
        return read_whole(path, largest, what).decode("utf-8-sig")  # editors put a mark before the text
    except UnicodeDecodeError as problem:
        raise BddTorqueError(f"{one_line(str(path))}: not UTF-8 text: byte {problem.start}") from None


def reason(problem: Exception) -> str:
    """Return why a file could not be read, in the system's words, without the name of the file."""
    return getattr(problem, "strerror", None) or str(problem)


def _without_waiting(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o666)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            raise OSError(errno.EINVAL, "this is a pipe and no file", path)
        note_read(descriptor, str(path))
    except BaseException:
        os.close(descriptor)
        raise
    if hasattr(os, "O_NONBLOCK"):
        os.set_blocking(descriptor, True)
    return descriptor


def csv_rows(source: str | PathLike[str] | IO[str], where: str) -> Iterator[tuple[int, list[str]]]:
    """Give the rows of a CSV file in UTF-8, each with the line that it ends at; `where` is what messages call the file.

    A row of more than `LONGEST_ROW` characters is refused: `csv.reader` limits cells, but neither lines nor rows, which
    may go over many lines.
    """
    number = taken = 0

    def lines(file: IO[str]) -> Iterator[str]:
        nonlocal number, taken
        while line := file.readline(LONGEST_ROW + 1):
            number, taken = number + 1, taken + len(line)
            if taken > LONGEST_ROW:
                raise BddTorqueError(
                    f"{where}, line {number}: a row must have at most {LONGEST_ROW:,} characters, this one has more"
                )
            yield line

    try:
        with _text(source) as file:
            for cells in csv.reader(lines(file), strict=True):
                taken = 0
                yield number, cells
    except FileNotFoundError:
        raise BddTorqueError(f"{where}: there is no such file") from None
    except BddTorqueError:
        raise
    except (OSError, ValueError) as problem:  # ValueError: text that is no UTF-8, a NUL in the path
        raise BddTorqueError(f"{where} must be a readable CSV file in UTF-8: {reason(problem)}") from None
    except csv.Error as problem:
        raise BddTorqueError(f"{where}, line {number}: this is not CSV ({problem})") from None


def _text(source: str | PathLike[str] | IO[str]) -> AbstractContextManager[IO[str]]:
    if isinstance(source, str | PathLike):
        return io.TextIOWrapper(opened(source), encoding="utf-8-sig", newline="")
    return nullcontext(source)  # whoever opened it closes it


def number_in(cell: str) -> float | None:
    """Return the finite number that a cell holds, or None."""
    text = cell.strip(" \t")  # nothing else: strip alone would take control characters for spaces
    if re.fullmatch(r"[0-9eE.+-]{1,400}", text):  # float also takes 1_000 and the digits of other scripts
        with suppress(ValueError):
            return number if math.isfinite(number := float(text)) else None
    return None

"""Opening files that others wrote: none that would be waited for forever, and no more of any than can be used."""

from __future__ import annotations

import errno
import os
import stat
from os import PathLike
from typing import BinaryIO

from bddtorque.base.errors import BddTorqueError, one_line
from bddtorque.base.overwriting import note_read


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
            raise OSError(errno.EINVAL, "this is a pipe, not a file", path)
        note_read(descriptor, str(path))
    except BaseException:
        os.close(descriptor)
        raise
    if hasattr(os, "O_NONBLOCK"):
        os.set_blocking(descriptor, True)
    return descriptor

"""Files: opened without waiting for one that nobody writes, written whole or not at all, never over one that is read.

Within `command_files` every file that `opened` opens is remembered by what it is on the disk, whatever its name: links
and other spellings lead to the same file. `whole_file` asks before it replaces a file, and a file that was announced
with `will_write` is refused as soon as it is opened to be read, before any long work. Outside `command_files` nothing
is remembered: a script may read a file, change it and write it again.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import IO, BinaryIO

from bddtorque.base.errors import BddTorqueError, one_line

Identity = tuple[int, int]
"""Device and inode: what a file is, whatever it is called."""


class WouldOverwriteError(Exception):
    """A file that a command reads would be written over; no `ValueError`, so that no reader takes it for bad data."""


@dataclass
class CommandFiles:
    """The files of one command: those read, by name, and those to be written, by option and name."""

    read: dict[Identity, str] = field(default_factory=dict)
    announced: dict[Identity, tuple[str, str]] = field(default_factory=dict)


_files: ContextVar[CommandFiles | None] = ContextVar("command_files", default=None)


@contextmanager
def command_files() -> Iterator[None]:
    """Keep what is written apart from what is read, until the block ends."""
    token = _files.set(CommandFiles())
    try:
        yield
    finally:
        _files.reset(token)


def will_write(option: str, path: str | PathLike[str]) -> None:
    """Announce a file to be written; `option` is how the user named it."""
    files, identity = _files.get(), _identity(path)
    if files is not None and identity is not None:
        files.announced[identity] = option, str(path)
        refuse_overwriting(path)


def note_read(descriptor: int, name: str) -> None:
    """Remember an open file as one that is read."""
    files, identity = _files.get(), _identity(descriptor)
    if files is not None and identity is not None:
        files.read[identity] = name
        if identity in files.announced:
            refuse_overwriting(files.announced[identity][1])


def refuse_overwriting(path: str | PathLike[str]) -> None:
    """Refuse to write a file that was read."""
    files, identity = _files.get(), _identity(path)
    if files is not None and identity in files.read:
        name = files.read[identity]
        option, written = files.announced.get(identity, ("the output", str(path)))
        what = option if written == name else f"{option} ({written})"
        raise WouldOverwriteError(f"{what} would overwrite {name}, which this command reads: choose another name")


def _identity(file: str | PathLike[str] | int) -> Identity | None:
    """Return what a regular file is, None where there is none."""
    try:
        status = os.fstat(file) if isinstance(file, int) else Path(file).stat()
    except (OSError, ValueError):  # not there yet, or a name that no file can have
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def opened(path: str | PathLike[str]) -> BinaryIO:
    """Open a file to read bytes from it.

    A pipe or a socket is refused, with an `OSError` as anything else that cannot be opened: who reads from a pipe that
    nobody writes to waits forever. Devices are opened; what is read of them must be bounded. A command never writes
    over what was opened here; see `command_files`.
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


def write_whole(path: str | PathLike[str], data: bytes) -> None:
    """Write a file under a temporary name in its folder first, which then takes its place; no part is ever seen."""
    with whole_file(path) as file:
        file.write(data)


@contextlib.contextmanager
def whole_file(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """Give a file to write to, which takes its place at the end; after any exception nothing was written.

    Links are followed. What is not a regular file (a pipe, /dev/null) cannot be replaced and is written to directly.
    """
    temporary: Path | None = None
    try:
        target = _resolved(path)
        refuse_overwriting(path)
        if target.exists() and not target.is_file() and not target.is_dir():
            with target.open("wb") as file:
                yield file
            return
        # its name is known before there is such a file, so that Ctrl-C at any moment leaves none behind
        temporary = beside(target)
        with temporary.open("xb") as whole:
            yield whole
            whole.flush()
            os.fsync(whole.fileno())
        temporary.replace(target)
        temporary = None
    except OSError as problem:
        raise BddTorqueError(f"{str(path)!r}: cannot be written: {problem.strerror or problem}") from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):  # what went wrong first is what matters
                temporary.unlink()


def check_writable(path: str | PathLike[str]) -> None:
    """Refuse a file that `write_whole` could not write, before the work that makes its content; nothing is left."""
    target = _resolved(path)
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(target.stat().st_mode):  # a pipe or a device; of a folder others say what is wrong
            return
    temporary = beside(target)
    try:
        temporary.open("xb").close()
    finally:
        temporary.unlink(missing_ok=True)


def beside(target: Path) -> Path:
    """Return a name that nothing has yet, in the folder of a file or folder that is to take its place."""
    return target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}")


def _resolved(path: str | PathLike[str]) -> Path:
    try:
        return Path(path).resolve()
    except (ValueError, RuntimeError) as problem:  # a NUL in the path, links in a circle
        raise BddTorqueError(f"{str(path)!r}: cannot be written: {problem}") from None

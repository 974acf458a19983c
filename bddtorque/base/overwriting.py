"""A command never writes over a file that it reads.

Within `command_files` every file that `reading.opened` opens is remembered by what it is on the disk, whatever its
name: links and other spellings lead to the same file. `writing` asks before it replaces a file, and a file that was
announced with `will_write` is refused as soon as it is opened to be read, before any long work.

Outside `command_files` nothing is remembered: a script may read a file, change it and write it again.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

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

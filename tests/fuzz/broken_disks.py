"""Disks that fail at a chosen operation, and interruptions at a chosen line: faults that can be counted through."""

from __future__ import annotations

import errno
import linecache
import os
import pathlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest


class Disk:
    """Counts what is asked of a disk, and fails from one operation on: full, read-only or broken.

    Parameters
    ----------
    fails_at : the first operation that fails, from 1; 0 for none
    number : the error it fails with
    applies : whether an operation on a path counts
    once : whether only that one operation fails
    """

    def __init__(
        self,
        fails_at: int = 0,
        number: int = errno.ENOSPC,
        applies: Callable[[str], bool] = lambda path: True,
        once: bool = False,
    ) -> None:
        self.fails_at, self.number, self.applies, self.once = fails_at, number, applies, once
        self.operations: list[str] = []

    def ask(self, what: str, path: object) -> None:
        """Count an operation; fail if it is one that must."""
        if not self.applies(str(path)):
            return
        self.operations.append(what)
        place = len(self.operations)
        if self.fails_at and (place == self.fails_at or (place > self.fails_at and not self.once)):
            raise OSError(self.number, os.strerror(self.number))


class _File:
    """A file that asks its disk first."""

    def __init__(self, file: Any, disk: Disk, path: object) -> None:
        self._file, self._disk, self._path = file, disk, path

    def write(self, data: Any) -> int:
        self._disk.ask("write", self._path)
        return self._file.write(data)

    def flush(self) -> None:
        self._disk.ask("flush", self._path)
        self._file.flush()

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._disk.ask("close", self._path)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@contextmanager
def on_disk(disk: Disk) -> Iterator[None]:
    """Let everything that writes through `pathlib` meet this disk."""
    path_open, write_text = pathlib.Path.open, pathlib.Path.write_text

    def opening(self: pathlib.Path, mode: str = "r", *given: Any, **options: Any) -> Any:
        if not set(mode) & set("wxa+"):
            return path_open(self, mode, *given, **options)
        disk.ask("open", self)
        return _File(path_open(self, mode, *given, **options), disk, self)

    def writing(self: pathlib.Path, text: str, *given: Any, **options: Any) -> int:
        """Write half of it, and then ask."""
        written = write_text(self, text[: len(text) // 2], *given, **options)
        disk.ask("write_text", self)
        return written + write_text(self, text, *given, **options)

    def asking(name: str) -> Callable[..., Any]:
        real = getattr(pathlib.Path, name)

        def asked(self: pathlib.Path, *given: Any, **options: Any) -> Any:
            disk.ask(name, self)
            return real(self, *given, **options)

        return asked

    fsync = os.fsync
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pathlib.Path, "open", opening)
        patch.setattr(pathlib.Path, "write_text", writing)
        for name in ("replace", "rename", "mkdir"):
            patch.setattr(pathlib.Path, name, asking(name))
        patch.setattr(os, "fsync", lambda descriptor: (disk.ask("fsync", ""), fsync(descriptor))[1])
        yield


class Stopped(BaseException):
    """Stands for Ctrl-C, so that a real one still ends the tests."""


def stopped(problem: BaseException | None) -> bool:
    """Say whether an exception is an interruption, or came of one: cleaning up may fail in ways of its own."""
    return problem is not None and (isinstance(problem, Stopped) or stopped(problem.__context__))


def _nothing(frame: FrameType) -> bool:
    """Tell if a line does nothing: Python sees to signals in calls, never between ``finally:`` and ``try:``."""
    return linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip() in ("try:", "finally:")


def interrupted_at(line: int, work: Callable[[], object]) -> bool:
    """Do something, interrupted when the `line`-th line of Python is about to run; return whether it came to that."""
    seen = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal seen
        if (
            event == "line" and frame.f_code.co_name != "__del__" and not _nothing(frame)
        ):  # Python goes on after __del__
            seen += 1
            if seen == line:
                raise Stopped
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    except BaseException as problem:
        sys.settrace(before)
        if not stopped(problem):
            raise
        return True
    finally:
        sys.settrace(before)
    return seen >= line  # it was interrupted, and went on

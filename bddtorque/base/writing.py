"""Write files whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import IO

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.overwriting import refuse_overwriting


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

"""Robot files: their bytes and names, each way that can fail in one line."""

from __future__ import annotations

from os import PathLike

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.reading import read_at_most, reason

LARGEST_FILE = 10_000_000
"""Bytes. The largest arms in use take well below a megabyte; more is a mistake or an attack."""

LONGEST_NAME = 200
"""Characters of the name of a robot, a link or a joint."""


def read_bytes(path: str | PathLike[str], largest: int = LARGEST_FILE) -> bytes:
    """Return the contents of a file of at most `largest` bytes."""
    where = shown(path)
    try:
        data = read_at_most(path, largest)
    except FileNotFoundError:
        raise BddTorqueError(f"{where}: there is no such file") from None
    except IsADirectoryError:
        raise BddTorqueError(f"{where}: this is a folder, not a robot file") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise BddTorqueError(f"{where}: cannot be read: {reason(error)}") from None
    if len(data) > largest:
        raise BddTorqueError(f"{where}: a robot file must have at most {largest:,} bytes, this one has more")
    return data


def shown(text: object, longest: int = 200) -> str:
    """Return a text on one line, cut where it is very long, for use in a message."""
    line = " ".join(str(text).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def plain_name(given: object, what: str) -> str:
    """Return a name that can be shown in a message: not empty, printable, no space at its ends; or refuse."""
    if isinstance(given, str) and given and given.isprintable() and given == given.strip():
        if len(given) <= LONGEST_NAME:
            return given
        raise BddTorqueError(f"{what} must have at most {LONGEST_NAME} characters, got {len(given):,}")
    raise BddTorqueError(f"{what} must be printable text without spaces at its ends, got {shown(repr(given), 60)}")

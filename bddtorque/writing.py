"""Write files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from os import PathLike
from pathlib import Path

from bddtorque.errors import BddTorqueError


def write_whole(path: str | PathLike[str], data: bytes) -> None:
    """Write a file under a temporary name in its folder first, which then takes its place; no part is ever seen."""
    target = Path(path)
    temporary: Path | None = None
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
            temporary = Path(file.name)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())  # temporary files are private; this one is to be like any other
        temporary.replace(target)
        temporary = None
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the path
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise BddTorqueError(f"{str(target)!r}: a place to write to required, {reason}") from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask

"""xacro files, expanded to URDF by xacrodoc: macros, arguments with their defaults, files of ROS packages."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

from bddtorque.base.errors import BddTorqueError, one_line


def expanded_xacro(path: Path, where: str) -> bytes:
    """Return the URDF that a xacro file expands to, or refuse in one line.

    Expressions in the file are Python: a xacro file from a stranger is a program.
    """
    try:
        from xacrodoc import XacroDoc  # noqa: PLC0415 - an extra
    except ImportError:
        raise BddTorqueError(
            f'{where}: reading xacro needs xacrodoc: pip install "bddtorque[xacro]"; or run `xacro` on it yourself'
        ) from None
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            text: str = XacroDoc.from_file(str(path), resolve_packages=False).to_urdf_string()
    except Exception as problem:  # of macros, of Python in expressions, of packages that are not there
        said = " ".join(str(problem).split()) or type(problem).__name__
        raise BddTorqueError(f"{where}: xacro cannot be expanded: {one_line(said, 300)}") from None
    return text.encode()

"""xacro files, expanded to URDF by xacrodoc: macros, arguments, files of ROS packages."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bddtorque.base.errors import BddTorqueError, one_line, unknown
from bddtorque.base.plain import argument_texts

XacroArguments = Mapping[str, str | float | bool]


def expanded_xacro(path: Path, where: str, arguments: XacroArguments | None = None) -> bytes:
    """Return the URDF that a xacro file expands to, or refuse in one line.

    Arguments that are not given have their defaults; those that the file does not have are refused. Expressions in the
    file are Python: a xacro file from a stranger is a program.
    """
    texts = argument_texts({} if arguments is None else arguments, f"{where}: xacro_args")
    try:
        from xacrodoc import XacroDoc  # noqa: PLC0415 - an extra
    except ImportError:
        raise BddTorqueError(
            f'{where}: reading xacro needs xacrodoc: pip install "bddtorque[xacro]"; or run `xacro` on it yourself'
        ) from None
    known = _Arguments(texts)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            document = XacroDoc.from_file(str(path), resolve_packages=False, subargs=known)
            text: str = document.to_urdf_string()
    except Exception as problem:  # of macros, of Python in expressions, of packages that are not there
        said = " ".join(str(problem).split()) or type(problem).__name__
        raise BddTorqueError(f"{where}: xacro cannot be expanded: {one_line(said, 300)}") from None
    for name in texts:
        if name not in known.used:
            raise BddTorqueError(f"{where}: xacro_args: {unknown('argument', name, sorted(known.used))}")
    return text.encode()


class _Arguments(dict[str, str]):
    """Arguments by name that remember which of them the file declares or reads: xacro asks for these."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        super().__init__(texts)
        self.used: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.used.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> Any:
        self.used.add(name)
        return super().__getitem__(name)

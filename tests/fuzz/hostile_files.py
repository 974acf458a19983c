"""Shared by the tests of hostile files: good texts to spoil, and a reader that must refuse."""

from pathlib import Path

import pytest
from fuzz_targets import BY_NAME

from bddtorque.base.errors import BddTorqueError

ROBOT = """name = "one"
[[joint]]
type = "revolute"
link = { mass = 1, centre_of_mass = [0, 0, 0], inertia = [1, 1, 1] }
"""
SPEC = 'robot = "planar2r"\n'
BIDI = "abc\u202edef"


def refused(kind: str, path: Path) -> str:
    """Read a file that must be refused and return the line; one that is read without end runs into pytest's timeout."""
    with pytest.raises(BddTorqueError) as caught:
        BY_NAME[kind].check(path)
    line = str(caught.value)
    assert line.isprintable() and 0 < len(line) <= 1005
    return line


def file(folder: Path, kind: str, content: bytes | str) -> Path:
    path = folder / f"input{BY_NAME[kind].suffix}"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path

"""Records of the checker: what it knows of each quantity and of each input at run time, one file each."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any


def records_of(kind: str) -> dict[str, Any]:
    """Return by name the `RECORD` of every file of this folder whose name begins with a kind, in alphabetical order."""
    names = sorted(each.name for each in iter_modules([str(Path(__file__).parent)]) if each.name.startswith(kind))
    records = [import_module(f".{name}", __package__).RECORD for name in names]
    return {record.name: record for record in records}

"""Folders of records: every module of the folder defines one as `RECORD`, so that adding a file is enough."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules
from typing import Any


def records_in(package: str, path: Iterable[str]) -> dict[str, Any]:
    """Return the records of the modules in a package by their names, in the order of the modules' names."""
    modules = (import_module(f"{package}.{each.name}") for each in sorted(iter_modules(path), key=lambda m: m.name))
    return {module.RECORD.name: module.RECORD for module in modules}

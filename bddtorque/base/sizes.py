"""Sizes in bytes, and counts, as people write them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bddtorque.base.errors import BddTorqueError

_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


def counted(count: int, things: str) -> str:
    """Return ``"1 sum"`` or ``"1,024 sums"``; `things` is a plural that ends in s, with ``_`` for blanks."""
    return f"{count:,} {(things.removesuffix('s') if count == 1 else things).replace('_', ' ')}"


def bits_text(bits: Sequence[int]) -> str:
    """Return word lengths as people write them: ``12``, or ``12/10`` where they differ."""
    return str(bits[0]) if len(set(bits)) == 1 else "/".join(map(str, bits))


def parse_size(size: int | str, what: str) -> int:
    """Return a number of bytes from an integer or text such as ``"2 GiB"``, ``"500 MB"``; refuse and name `what`."""
    if isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        return size
    if isinstance(size, str):
        found = re.fullmatch(r"\s*([0-9]{1,20}(?:\.[0-9]{1,20})?)\s*([a-z]*)\s*", size.lower())
        if found and found[2] in _UNITS:
            return round(float(found[1]) * _UNITS[found[2]])
    said = f"{what} must be a size in bytes or text like '2 GiB' or '500 MB', got {size!r:.60}"
    raise BddTorqueError(said, option=what)


def format_size(size: int) -> str:
    """Return bytes as text that `parse_size` reads back exactly: the largest binary unit that divides them."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"

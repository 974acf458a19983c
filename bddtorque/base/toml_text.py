"""TOML text and plain values, both ways; of files that anybody may have written, nothing takes long or runs deep."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from bddtorque.base.errors import BddTorqueError

MAX_PARTS = 100
"""Parts of a dotted key. The reader takes the square of their number: half a million of them would take an hour."""
DEEPEST = 50
"""Levels of tables and lists; what goes deeper could not even be shown in a message."""
LARGEST_BITS = 10_000
"""Bits of an integer. Python does not write larger ones out, and no float reaches a tenth of that."""

_PART = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"^[ \t]*+\[{{0,2}}[ \t]*+{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MAX_PARTS},}}", re.MULTILINE)


def toml_values(text: str, where: str) -> dict[str, Any]:
    """Return the values of a TOML text, or refuse it; `where` begins every error."""
    if long := _LONG_KEY.search(text):
        line = text.count("\n", 0, long.start()) + 1
        raise BddTorqueError(f"{where}, line {line}: a key must have at most {MAX_PARTS} parts, this one has more")
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as problem:  # ValueError: also integers beyond what Python converts
        raise BddTorqueError(f"{where}: not valid TOML: {' '.join(str(problem).split())}") from None
    _check_bounds(values, where)
    return values


def _check_bounds(values: dict[str, Any], where: str) -> None:
    """Refuse what is nested too deeply and integers that are too large, whatever key they belong to."""
    waiting: list[tuple[Any, int]] = [(values, 1)]
    while waiting:
        value, depth = waiting.pop()
        if isinstance(value, dict | list):
            if depth > DEEPEST:
                raise BddTorqueError(
                    f"{where}: tables and lists must be nested at most {DEEPEST} deep, got deeper ones"
                )
            waiting.extend((each, depth + 1) for each in (value.values() if isinstance(value, dict) else value))
        elif isinstance(value, int) and value.bit_length() > LARGEST_BITS:
            raise BddTorqueError(
                f"{where}: integers must have at most {LARGEST_BITS:,} bits, one has {value.bit_length():,}"
            )


def is_toml_table(value: object) -> bool:
    """Return whether a value is written as a table of its own, or as several."""
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))


def toml_key(name: str) -> str:
    """Return a key, in quotes if need be."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_value(name)


def toml_value(value: Any) -> str:
    """Return a plain value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):  # JSON's escapes are TOML's, but for DEL
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{toml_key(key)} = {toml_value(each)}" for key, each in value.items()) + " }"
    return repr(value)

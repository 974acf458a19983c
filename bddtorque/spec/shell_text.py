"""Values of a specification as they are written at a shell; the readers of `Spec` take what these return.

``12``, ``12,10`` (a list), ``-1:2`` (low and high), ``kp=100,80,kv=20`` (a table), ``true``; anything else is text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.plain import decimal
from bddtorque.spec.field_values import as_joint_range, as_ranges

Parse = Callable[[Any, str], Any]
"""Takes the text of an option (all texts of one that can be repeated) and its name, and returns a value."""


def parse_value(text: str, name: str) -> Any:
    """Return a value, low and high, a list of these, or a table where names stand before ``=``."""
    if "=" in text:
        return parse_table([text], name)
    return _single([_range(part) for part in text.split(",")])


def parse_values(texts: Sequence[str], name: str) -> Any:
    """Return what an option says that is given once for all, or several times by name."""
    return parse_value(texts[0], name) if len(texts) == 1 else parse_table(texts, name)


def parse_table(texts: Sequence[str], name: str) -> dict[str, Any]:
    """Return values by name; what stands after a comma without a name belongs to the name before."""
    values: dict[str, list[Any]] = {}
    for text in texts:
        key = ""
        for part in text.split(","):
            own, equals, value = part.rpartition("=")
            if equals:
                key = _new(own.strip(), values, texts, name)
            if not key:
                raise _unnamed(texts, name)
            values.setdefault(key, []).append(_range(value))
    return {key: _single(listed) for key, listed in values.items()}


def parse_lock(texts: Sequence[str], name: str) -> Any:
    """Return ``others``, or joints with their positions; commas belong to the names of joints."""
    if list(texts) == ["others"]:
        return texts[0]
    values: dict[str, Any] = {}
    for text in texts:
        joint, _, position = text.rpartition("=")
        values[_new(joint, values, texts, f"{name} must be others, or JOINT=POSITION in rad or m, each joint once")] = (
            _number(position)
        )
    return values


def parse_arguments(texts: Sequence[str], name: str) -> dict[str, str]:
    """Return text by name; a value may have any text."""
    values: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        values[_new(key if equals else "", values, texts, name)] = value
    return values


def parse_ranges(quantity: str) -> Parse:
    """Return the parser of a range for all joints, ``1.5`` or ``-1:2``, one per joint, or some by name."""

    def parse(text: str, name: str) -> Any:
        parts = text.split(",")
        if any("=" in part for part in parts):
            return as_ranges(quantity)(parse_table([text], name), name)
        return _single([as_joint_range(quantity)(_range(part), name) for part in parts])

    return parse


def _new(key: str, values: dict[str, Any], texts: Sequence[str], name: str) -> str:
    if not key or key in values:
        raise _unnamed(texts, name)
    return key


def _unnamed(texts: Sequence[str], name: str) -> BddTorqueError:
    expected = name if " " in name else f"{name} must be NAME=VALUE, each name once"
    return BddTorqueError(f"{expected}, got {', '.join(texts)!r:.60}", option=name.partition(" ")[0])


def _range(text: str) -> Any:
    return _single([_number(end.strip()) for end in text.split(":")])


def _number(text: str) -> Any:
    """Return a number or a truth value; text that is neither as it is, for it may have a unit."""
    if text in ("true", "false"):
        return text == "true"
    number = decimal(text)
    return (
        int(text) if number is not None and text.removeprefix("-").isdecimal() else text if number is None else number
    )


def _single(values: list[Any]) -> Any:
    return values if len(values) > 1 else values[0]

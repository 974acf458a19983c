"""The one way in which data from outside is checked: what people write, TOML, and the JSON in files.

Each function takes a value and what messages call it, and returns it as the type that is kept, or refuses it:
``bits must be between 2 and 24, got 25``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, TypeGuard, TypeVar

from bddtorque.base.errors import BddTorqueError, not_among, unknown

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)  # not the digits of other scripts
LONGEST_NAME = 200
"""Characters of the name of a robot, a link or a joint."""

Kind = TypeVar("Kind")
Vector = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]


def must_be(expected: str, value: object, where: str) -> BddTorqueError:
    """Return the error about a value that is not what is expected, to be raised."""
    return BddTorqueError(f"{where} must be {expected}, got {describe(value)}", option=where)


def table(plain: object, keys: Collection[str], where: str, optional: Collection[str] = ()) -> dict[str, Any]:
    """Return a mapping as a dict that has all of `keys` and perhaps some of `optional`, but no other key."""
    if not isinstance(plain, Mapping):
        raise BddTorqueError(f"{where} must be a table with {', '.join((*keys, *optional))}, got {describe(plain)}")
    for key in plain:
        if key not in keys and key not in optional:
            raise BddTorqueError(f"{where}: {unknown('key', key, (*keys, *optional))}")
    for key in keys:
        if key not in plain:
            raise BddTorqueError(f"{where}: key '{key}' is missing")
    return dict(plain)


def of_type(value: object, kind: type[Kind], where: str) -> Kind:
    """Return a value of exactly this type (a bool is no int)."""
    if type(value) is not kind:
        names: dict[type, str] = {int: "an integer", str: "text", bool: "true or false", list: "a list"}
        raise must_be(names.get(kind, kind.__name__), value, where)
    return value


def name_of(value: object, where: str) -> str:
    """Return a name that can be shown in a message: not empty, printable, no space at its ends, not too long."""
    if not isinstance(value, str) or not value or not value.isprintable() or value != value.strip():
        raise must_be("printable text without spaces at its ends", value, where)
    if len(value) > LONGEST_NAME:
        raise BddTorqueError(f"{where} must have at most {LONGEST_NAME} characters, got {len(value):,}", option=where)
    return value


def argument_texts(given: object, where: str) -> dict[str, str]:
    """Return arguments by name (of a xacro file) as text, from text, numbers and truth values."""
    if not isinstance(given, Mapping):
        raise must_be("arguments by name with their values", given, where)
    texts = {}
    for key, value in given.items():
        name_of(key, f"{where}: the name of an argument")
        if not isinstance(value, str | bool | int | float):
            raise BddTorqueError(
                f"{where}: '{key}' must be text, a number, true or false, got {describe(value)}", option=where
            )
        texts[key] = str(value).lower() if isinstance(value, bool) else str(value)
    return texts


def choice(value: object, known: Collection[str], where: str) -> str:
    """Return one of some words."""
    if not isinstance(value, str) or value not in known:
        raise BddTorqueError(not_among(where, value, known), option=where)
    return value


def is_whole(value: object) -> TypeGuard[int]:
    """Tell if something is an integer, Python's or NumPy's, and no truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def whole(value: object, low: int, high: int, where: str, why: str = "") -> int:
    """Return an integer from low to high; `why` says where such limits come from."""
    if not is_whole(value):
        raise must_be(f"an integer between {low} and {high}{why}", value, where)
    if not low <= value <= high:
        raise BddTorqueError(f"{where} must be between {low} and {high}{why}, got {str(value)[:40]}", option=where)
    return int(value)


def at_least(value: object, least: int, where: str) -> int:
    """Return an integer of at least so much."""
    if not is_whole(value) or value < least:
        raise BddTorqueError(f"{where} must be an integer of at least {least}, got {value!r:.40}", option=where)
    return int(value)


def real(value: object, where: str, low: float = -math.inf, what: str = "a finite number") -> float:
    """Return a finite number, at least `low`, as a float; `what` names it in the message."""
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:  # an integer beyond all floats
        number = math.inf
    if not math.isfinite(number) or number < low:
        least = f" of at least {low:g}" if low > -math.inf else ""
        raise must_be(f"{what}{least}", value, where)
    return number


def decimal(text: str) -> float | None:
    """Return a finite decimal number, or None: not "nan", "inf", "1e400" nor "1_000", which Python would take."""
    number = float(text) if _NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else None


def is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """Tell if something is a list or a tuple."""
    return isinstance(value, list | tuple)


def unwrap(value: Any) -> Any:
    """Return NumPy arrays as lists, and anything else as it is."""
    return value.tolist() if hasattr(value, "tolist") else value


def listed(value: object, where: str, length: int | None = None) -> list[Any]:
    """Return a list, tuple or array (of a given length) as a list."""
    items = unwrap(value)
    if not is_list(items) or (length is not None and len(items) != length):
        size = "" if length is None else f" of {length}"
        raise must_be(f"a list{size}", value, where)
    return list(items)


def vector(value: object, where: str, what: str = "3 finite numbers") -> Vector:
    """Return three finite numbers; `what` names them in the message."""
    try:
        x, y, z = (real(each, where) for each in listed(value, where, 3))
    except BddTorqueError:
        raise must_be(what, value, where) from None
    return x, y, z


def matrix(value: object, where: str) -> Matrix:
    """Return three rows of three finite numbers."""
    try:
        x, y, z = (vector(row, where) for row in listed(value, where, 3))
    except BddTorqueError:
        raise must_be("3 rows of 3 finite numbers", value, where) from None
    return x, y, z


def fraction(value: object, where: str) -> Fraction:
    """Return a rational from text such as ``"3/8"``."""
    text = of_type(value, str, where)
    try:
        if len(text) > 2000 or not text.removeprefix("-").replace("/", "", 1).isdecimal() or not text.isascii():
            raise ValueError
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise BddTorqueError(f"{where} must be a rational such as 3/8, got {text!r:.40}", option=where) from None


def plain_of(value: Any) -> Any:
    """Return a value fit for JSON: tuples as lists, rationals as text, dataclasses as dicts or by their `to_plain`."""
    if isinstance(value, tuple):
        return [plain_of(each) for each in value]
    if isinstance(value, Fraction):
        return str(value)
    if hasattr(value, "to_plain"):
        return value.to_plain()
    return {each.name: plain_of(getattr(value, each.name)) for each in fields(value)} if is_dataclass(value) else value


def describe(value: object) -> str:
    """Say what a value is: a short one as it is written, a long list or a table in a few words."""
    value = unwrap(value)
    if isinstance(value, Mapping):
        return "a table"
    try:
        text = repr(value)
    except ValueError:  # Python does not write out integers of many thousand digits
        return "a number of too many digits"
    return text if len(text) <= 60 else f"a list of {len(value)}" if isinstance(value, list | tuple) else text[:60]

"""Read plain data (from JSON) by hand: every field is asked for by name and type, and a wrong one is named."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, TypeVar

from bddtorque.base.errors import BddTorqueError

Kind = TypeVar("Kind")


def table(plain: object, keys: tuple[str, ...], where: str) -> dict[str, Any]:
    """Return a dict that has exactly these keys, or refuse and say where."""
    if not isinstance(plain, dict):
        raise BddTorqueError(f"{where}: an object with {', '.join(keys)} required, {type(plain).__name__} given")
    missing, foreign = set(keys) - set(plain), set(plain) - set(keys)
    if missing or foreign:
        named = ", ".join(sorted(map(str, missing or foreign)))[:80]
        raise BddTorqueError(f"{where}: keys {', '.join(keys)} required, {named} {'missing' if missing else 'unknown'}")
    return plain


def of_type(value: object, kind: type[Kind], where: str) -> Kind:
    """Return a value of exactly this type (a bool is no int), or refuse and say where."""
    if type(value) is not kind:
        raise BddTorqueError(f"{where}: {kind.__name__} required, {value!r:.40} given")
    return value


def whole(value: object, low: int, high: int, where: str) -> int:
    """Return a whole number from low to high, or refuse and say where."""
    number = of_type(value, int, where)
    if not low <= number <= high:
        raise BddTorqueError(f"{where}: a whole number from {low} to {high} required, {str(number)[:40]} given")
    return number


def real(value: object, where: str) -> float:
    """Return a finite number as a float, or refuse and say where."""
    try:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:  # a whole number beyond all floats
        number = math.inf
    if not math.isfinite(number):
        raise BddTorqueError(f"{where}: a finite number required, {value!r:.40} given")
    return number


def listed(value: object, where: str, length: int | None = None) -> list[Any]:
    """Return a list (of a given length), or refuse and say where."""
    items = of_type(value, list, where)
    if length is not None and len(items) != length:
        raise BddTorqueError(f"{where}: {length} entries required, {len(items)} given")
    return items


def fraction(value: object, where: str) -> Fraction:
    """Return a rational from text such as ``"3/8"``, or refuse and say where."""
    text = of_type(value, str, where)
    if len(text) > 2000 or not text.removeprefix("-").replace("/", "", 1).isdecimal() or not text.isascii():
        raise BddTorqueError(f"{where}: a rational such as 3/8 required, {text!r:.40} given")
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise BddTorqueError(f"{where}: a rational such as 3/8 required, {text!r:.40} given") from None

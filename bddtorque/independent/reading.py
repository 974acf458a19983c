"""Plain values of a header: typed, finite, in their range; and objects with exactly their keys, in order."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from .findings import RefusedError, require

_RATIONAL = re.compile(r"(-?)(0|[1-9][0-9]{0,1199})(?:/([1-9][0-9]{0,1199}))?")
Reader = Callable[[Any, str], Any]
"""Makes a value of a plain one; its second argument says where that stands."""


def object_of(plain: Any, keys: tuple[str, ...], where: str) -> dict[str, Any]:
    """Return an object that has exactly these keys, in this order."""
    require(isinstance(plain, dict), f"{where}: expected an object")
    require(tuple(plain) == keys, f"{where}: expected keys {', '.join(keys)} in this order")
    return dict(plain)


def fields_of(plain: Any, readers: Mapping[str, Reader], where: str) -> dict[str, Any]:
    """Return the values of an object that has exactly the keys of the readers, in this order."""
    given = object_of(plain, tuple(readers), where)
    return {key: reader(given[key], f"{where}, {key}") for key, reader in readers.items()}


def list_of(plain: Any, where: str, length: int | None = None) -> list[Any]:
    """Return a list, of a certain length if one is given."""
    require(isinstance(plain, list) and length in (None, len(plain)), f"{where}: expected a list of the right length")
    return list(plain)


def several(reader: Reader, length: int | None = None) -> Reader:
    """Return a reader of lists whose values are all of one kind; messages number them from 1."""
    return lambda plain, where: tuple(
        reader(value, f"{where} {k}") for k, value in enumerate(list_of(plain, where, length), 1)
    )


def row_of(*readers: Reader) -> Reader:
    """Return a reader of lists with one value for each reader."""
    return lambda plain, where: tuple(
        reader(value, where) for reader, value in zip(readers, list_of(plain, where, len(readers)), strict=True)
    )


def optional(reader: Reader) -> Reader:
    """Return a reader that leaves null as it is."""
    return lambda plain, where: None if plain is None else reader(plain, where)


def whole(plain: Any, low: int, high: int, where: str) -> int:
    """Return a whole number from low to high."""
    if type(plain) is not int or not low <= plain <= high:
        raise RefusedError(f"{where}: expected an integer from {low} to {high}, got {plain!r:.40}")
    return plain


def between(low: int, high: int) -> Reader:
    """Return a reader of whole numbers from low to high."""
    return lambda plain, where: whole(plain, low, high, where)


def sign(plain: Any, where: str) -> int:
    """Return 1 or -1."""
    require(whole(plain, -1, 1, where) != 0, f"{where}: expected a sign of 1 or -1")
    return int(plain)


def real(plain: Any, where: str) -> float:
    """Return a finite float."""
    if type(plain) is not float or not math.isfinite(plain):
        raise RefusedError(f"{where}: expected a finite float, got {plain!r:.40}")
    return plain


def text(plain: Any, where: str) -> str:
    """Return text."""
    if not isinstance(plain, str):
        raise RefusedError(f"{where}: expected text, got {plain!r:.40}")
    return plain


def flag(plain: Any, where: str) -> bool:
    """Return true or false."""
    if not isinstance(plain, bool):
        raise RefusedError(f"{where}: expected true or false, got {plain!r:.40}")
    return plain


def rational(plain: Any, where: str) -> Fraction:
    """Return a rational in lowest terms, from text such as "-3/8"."""
    found = _RATIONAL.fullmatch(plain) if isinstance(plain, str) else None
    require(found is not None, f"{where}: expected a rational, got {plain!r:.40}")
    number = Fraction(plain)
    require(str(number) == plain, f"{where}: expected a rational in lowest terms, got {plain!r:.40}")
    return number


def nearest_float(number: Fraction, where: str) -> float:
    """Return the float nearest to a number."""
    try:
        return float(number)
    except OverflowError:
        raise RefusedError(f"{where}: expected numbers within floats") from None


def output_bits(spec: Mapping[str, Any]) -> int:
    """Return how many bits the longest output word of a spec has: so many have words that are given at run time."""
    asked = spec.get("bits")
    return max(whole(bits, 2, 32, "spec, bits") for bits in (asked if isinstance(asked, list) and asked else [asked]))


vector = several(real, 3)
"""Reads three floats."""
matrix = several(vector, 3)
"""Reads three rows of three floats."""


def exact_vector(plain: Any, where: str) -> tuple[Fraction, ...]:
    """Return three floats as rationals."""
    return tuple(map(Fraction, vector(plain, where)))


exact_matrix = several(exact_vector, 3)
"""Reads three rows of three floats as rationals."""

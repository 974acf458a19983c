"""The values of a specification: ranges, word lengths, choices; each read from what people write, or refused."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any, TypeGuard

from bddtorque.errors import BddTorqueError, nearest

Range = tuple[float, float]
Bits = int | tuple[int, ...]

RANGED = ("position", "velocity", "acceleration", "torque")
"""The quantities that have a range."""
SMALLEST_BITS, LARGEST_BITS = 2, 24


def as_range(given: object, where: str) -> Range:
    """Return (low, high) from a positive number (plus or minus it) or a pair of numbers, or refuse."""
    given = listed(given)
    if is_list(given) and len(given) == 2 and is_number(given[0]) and is_number(given[1]):
        low, high = float(given[0]), float(given[1])
        if math.isfinite(low) and math.isfinite(high) and low < high:
            return low, high
        raise BddTorqueError(f"{where}: [low, high], finite and low below high, required, [{low}, {high}] given")
    if is_number(given) and 0 < given < math.inf:
        return -float(given), float(given)
    raise BddTorqueError(f"{where}: a positive number (plus or minus it) or [low, high] required, {given!r:.60} given")


def as_ranges(given: object, where: str) -> Range | tuple[Range, ...]:
    """Return one range for all joints, or from a list with pairs in it one a joint."""
    given = listed(given)
    if is_list(given) and given and any(is_list(listed(each)) for each in given):
        return ranges_of_joints(given, where)
    return as_range(given, where)


def ranges_of_joints(given: Iterable[object], where: str) -> tuple[Range, ...]:
    """Return one range a joint from a list of numbers (plus or minus) and pairs."""
    return tuple(as_range(each, f"{where} of joint {i} (one entry a joint)") for i, each in enumerate(given, 1))


def as_bits(given: object, where: str) -> Bits:
    """Return a word length, or a tuple of them, each from 2 to 24, or refuse."""
    given = listed(given)
    if is_list(given) and given:
        return tuple(_word_length(each, where) for each in given)
    return _word_length(given, where)


def _word_length(given: object, where: str) -> int:
    if is_whole(given) and SMALLEST_BITS <= given <= LARGEST_BITS:
        return int(given)
    raise BddTorqueError(
        f"{where}: a whole number from {SMALLEST_BITS} to {LARGEST_BITS} (or a list, one a joint) required, "
        f"{given!r:.60} given"
    )


def whole_between(given: object, low: int, high: int, where: str, why: str = "") -> int:
    """Return a whole number from low to high, or refuse and say why there are such limits."""
    if is_whole(given) and low <= given <= high:
        return int(given)
    raise BddTorqueError(f"{where}: a whole number from {low} to {high} required{why}, {given!r:.60} given")


def one_of(given: object, known: Sequence[str], where: str, or_else: str = "") -> str:
    """Return one of the known words, or refuse with the nearest of them."""
    if isinstance(given, str) and given in known:
        return given
    choices = [f"'{each}'" for each in known] + ([or_else] if or_else else [])
    hint = nearest(given, known) if isinstance(given, str) else ""
    raise BddTorqueError(f"{where}: {', '.join(choices[:-1])} or {choices[-1]} required, {given!r:.60} given{hint}")


def listed(given: object) -> Any:
    """Return arrays as lists, and anything else as it is."""
    return given.tolist() if hasattr(given, "tolist") else given


def is_list(given: object) -> TypeGuard[Sequence[Any]]:
    """Say whether something is a list or a tuple."""
    return isinstance(given, list | tuple)


def is_number(given: object) -> TypeGuard[float]:
    """Say whether something is a real number and no truth value."""
    return isinstance(given, int | float) and not isinstance(given, bool)


def is_whole(given: object) -> TypeGuard[int]:
    """Say whether something is a whole number, Python's or NumPy's, and no truth value."""
    return isinstance(given, Integral) and not isinstance(given, bool)

"""The values of a specification: ranges, word lengths, choices; each read from what people write, or refused."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, TypeGuard

from bddtorque.base.errors import BddTorqueError, nearest

Range = tuple[float, float]
Bits = int | tuple[int, ...]
Vector = tuple[float, float, float]
Lock = str | tuple[tuple[str, float], ...]
"""``"others"``, or joints by name with their positions, sorted."""

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


def as_text(given: object, where: str, what: str) -> str:
    """Return text that is not empty, or refuse and say what was wanted."""
    if isinstance(given, str) and given:
        return given
    raise BddTorqueError(f"{where}: {what} required, {given!r:.60} given")


def as_flag(given: object, where: str) -> bool:
    """Return a truth value, or refuse."""
    if isinstance(given, bool):
        return given
    raise BddTorqueError(f"{where}: true or false required, {given!r:.60} given")


def as_vector(given: object, where: str, what: str) -> Vector:
    """Return three finite numbers, or refuse and say what was wanted."""
    given = listed(given)
    if is_list(given) and len(given) == 3 and all(is_number(each) and math.isfinite(each) for each in given):
        return float(given[0]), float(given[1]), float(given[2])
    raise BddTorqueError(f"{where}: {what} required, {given!r:.60} given")


def as_lock(given: object, where: str) -> Lock | None:
    """Return ``"others"``, or the joints of a table with their positions, sorted by name; None if there are none."""
    if given == "others":
        return "others"
    pairs = list(given.items()) if isinstance(given, Mapping) else given
    if is_list(pairs) and all(is_list(pair) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs):
        for name, position in pairs:
            if not (is_number(position) and math.isfinite(position)):
                raise BddTorqueError(
                    f"{where}: a position of joint '{name:.60}' (rad or m) required, {position!r:.60} given"
                )
        return tuple(sorted((name, float(position)) for name, position in dict(pairs).items())) or None
    raise BddTorqueError(f"{where}: 'others', or joints by name with positions, required, {given!r:.60} given")


def listed(given: object) -> Any:
    """Return arrays as lists, and anything else as it is."""
    return given.tolist() if hasattr(given, "tolist") else given


def is_list(given: object) -> TypeGuard[Sequence[Any]]:
    """Say whether something is a list or a tuple."""
    return isinstance(given, list | tuple)


def is_number(given: object) -> TypeGuard[float]:
    """Say whether something is a real number that floats reach, and no truth value."""
    if isinstance(given, int):
        return not isinstance(given, bool) and abs(given) <= sys.float_info.max
    return isinstance(given, float)


def is_whole(given: object) -> TypeGuard[int]:
    """Say whether something is a whole number, Python's or NumPy's, and no truth value."""
    return isinstance(given, Integral) and not isinstance(given, bool)

"""Numbers with a unit as people write them: "180 deg", "pi/2", "20 deg/s", "1.5 N·m", "2 GiB". Nothing is evaluated."""

from __future__ import annotations

import math
import re
from functools import partial

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.plain import describe, is_list, real, unwrap

_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_MEASURE = re.compile(
    rf"([+-]?)\s*(?:({_NUMBER})(?:\s*\*\s*(pi))?|(pi))\s*(?:/\s*({_NUMBER})\s*)?([^\s\d/+.-].*)?", re.ASCII
)
Range = tuple[float, float]
Scale = tuple[float, float]
"""Divisor of a number in some unit, and then its factor, so that 90 deg is the float that "pi/2" is."""
_ANGLES: dict[str, Scale] = {"rad": (1, 1), "deg": (180, math.pi), "turn": (1, math.tau)}
_LENGTHS: dict[str, Scale] = {"m": (1, 1), "cm": (100, 1), "mm": (1000, 1)}
_UNITS: dict[str, tuple[dict[str, Scale], dict[str, Scale]]] = {
    "position": (_ANGLES, _LENGTHS),
    "velocity": (
        {**{f"{unit}/s": scale for unit, scale in _ANGLES.items()}, "rpm": (30, math.pi)},
        {f"{unit}/s": scale for unit, scale in _LENGTHS.items()},
    ),
    "acceleration": (
        {f"{unit}/s²": scale for unit, scale in _ANGLES.items()},
        {f"{unit}/s²": scale for unit, scale in _LENGTHS.items()},
    ),
    "torque": (
        {"N·m": (1, 1), "mN·m": (1000, 1), "kN·m": (1, 1000)},
        {"N": (1, 1), "mN": (1000, 1), "kN": (1, 1000)},
    ),
}
"""By quantity, the units of joints that turn and of joints that slide."""
_SPELLINGS = {
    "^2": "²", "/s2": "/s²", "°": "deg", "degrees": "deg", "turns": "turn", "*": "·", "Nm": "N·m", "N m": "N·m"
}  # fmt: skip
_EXAMPLES = {
    "position": ("90 deg", "5 mm"),
    "velocity": ("20 deg/s", "5 mm/s"),
    "acceleration": ("5 rad/s²", "5 mm/s²"),
    "torque": ("1.5 N·m", "1.5 N"),
}


class Measure(float):
    """A number in SI units that was written with a unit; `unit` says which, and `turns` whether joints turn in it."""

    unit: str
    turns: bool


def measure(value: object, what: str, quantity: str, turns: bool | None = None) -> float:
    """Return a number in SI units from a number, or from text with a unit of `quantity`.

    Text with π in it may do without, and then is in rad, rad/s or rad/s²: ``"pi/2"``, ``"-3*pi/4"``.

    Parameters
    ----------
    what
        What messages call it.
    quantity
        ``"position"``, ``"velocity"``, ``"acceleration"`` or ``"torque"``.
    turns
        Whether the joint turns; None: not known yet, either will do.
    """
    if isinstance(value, Measure):
        return value
    if not isinstance(value, str):
        return real(value, what)
    turning, sliding = _UNITS[quantity]
    known = {**(turning if turns in (True, None) else {}), **(sliding if turns in (False, None) else {})}
    match = _MEASURE.fullmatch(value.strip())
    sign, number, of_pi, pi, divisor, unit = match.groups() if match else ("", "0", None, None, None, "?")
    for spelt, meant in _SPELLINGS.items():
        unit = unit and unit.replace(spelt, meant)
    if not unit and (of_pi or pi) and "N·m" not in turning:  # multiples of π are of angles
        unit = next(iter(turning))
    if unit not in known or float(divisor or 1) == 0:
        raise BddTorqueError(
            f'{what} must be a number, or text such as "{_EXAMPLES[quantity][turns is False]}" in {", ".join(known)}, '
            f"got {describe(value)}"
        )
    over, times = known[unit]
    result = float(number or 1) * (math.pi if of_pi or pi else 1) / float(divisor or 1) / over * times
    found = Measure(real(-result if sign == "-" else result, what))
    found.unit, found.turns = unit, unit in turning
    return found


def check_unit(number: float, quantity: str, joint: str, turns: bool, at: str = "") -> None:
    """Refuse a number that was written with a unit of the other kind of joint; `at` ends the message."""
    if isinstance(number, Measure) and number.turns != turns:
        kind = "turns" if turns else "slides"
        raise BddTorqueError(f"{quantity} of joint '{joint}', which {kind}, cannot be given in {number.unit}{at}")


def as_range(given: object, name: str, quantity: str | None = None) -> Range:
    """Return (low, high) from a positive number (plus or minus it) or a pair of numbers.

    Numbers may be text with a unit of `quantity`, where one is given.
    """
    given = unwrap(given)
    read = real if quantity is None else partial(measure, quantity=quantity)
    try:
        if not is_list(given):
            high = read(given, name)
            if high > 0:
                return _both_sides(high)
        elif len(given) == 2:
            low, high = read(given[0], name), read(given[1], name)
            if low < high:
                return low, high
    except BddTorqueError:
        if quantity is not None and any(isinstance(end, str) for end in (given if is_list(given) else [given])):
            raise  # it says which units there are
    raise BddTorqueError(
        f"{name} must be a positive number (plus or minus it) or [low, high] with low below high, got {describe(given)}"
    )


def _both_sides(high: float) -> Range:
    low = -high
    if isinstance(high, Measure):
        low = Measure(low)
        low.unit, low.turns = high.unit, high.turns
    return low, high


_SIZES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_SIZES |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


def parse_size(size: int | str, what: str) -> int:
    """Return a number of bytes from an integer or text such as ``"2 GiB"``, ``"500 MB"``; refuse and name `what`."""
    if isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        return size
    if isinstance(size, str):
        found = re.fullmatch(r"\s*([0-9]{1,20}(?:\.[0-9]{1,20})?)\s*([a-z]*)\s*", size.lower())
        if found and found[2] in _SIZES:
            return round(float(found[1]) * _SIZES[found[2]])
    said = f"{what} must be a size in bytes or text like '2 GiB' or '500 MB', got {size!r:.60}"
    raise BddTorqueError(said, option=what)


def format_size(size: int) -> str:
    """Return bytes as text that `parse_size` reads back exactly: the largest binary unit that divides them."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"

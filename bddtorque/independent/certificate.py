"""The certificate against what was proved: every figure follows, and is the one that the rules give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from .balls import HALF
from .bounds import OutputBound
from .findings import require
from .formats import Format, WordArray
from .ieee import up
from .reading import list_of, object_of, real, text, whole
from .spans import Span

MAX_DUST = 0.01 * (1 + 1e-6)
"""Units that plans in floats may leave out, by docs/certificate.md."""
DUSTIER = 64
"""How many times the distance from the truth, as proved here, it may be said to come to; up to 9 were found."""
PARTS = ("dropped", "constants", "tables", "products", "sums", "final_rounding", "arithmetic")
KEYS = (
    "name", "unit", "lsb", "bound", "relative_to", "parts", "assumed", "spread", "low", "high", "saturation", "witness",
)  # fmt: skip
ROBOT, FUNCTIONS = "robot", ("traced", "law", "samples", "float")
"""What the words of a robot, and those of a function, are compared with."""
SATURATIONS = ("cannot", "can", "not excluded")
NEAR = 1e-5
"""Relative, and in units: how far a figure may stand above what the rules give; tables are rounded up to 2⁻²⁰ units."""
ROUNDINGS = ("tables", "products", "sums", "final_rounding")
LARGER = 1024
"""How many times our own rounding of floats another's may be."""
ROOM = 1e-9
"""Relative: how far the ends of a range may be apart, for floats that were rounded otherwise."""
ROUNDED = 1e-14
"""Relative: more than a few float operations lose."""


@dataclass(frozen=True)
class Stated:
    """What a certificate states of one output; `assumed` and `spread` are 0 for a robot."""

    name: str
    unit: str
    lsb: float
    bound: float
    parts: dict[str, float]
    low: float
    high: float
    saturation: str
    witness: list[Any] | None
    assumed: float = 0.0
    spread: float = 0.0
    relative_to: str = ROBOT

    @property
    def total(self) -> float:
        """What is proved: the sum of all parts, rounded up."""
        return math.fsum(self.parts.values()) * (1 + 1e-15)


def outputs_stated(plain: Any) -> list[Stated]:
    """Return what a certificate states, output by output."""
    given = list_of(object_of(plain, ("outputs",), "certificate")["outputs"], "certificate")
    return [_stated(object_of(each, KEYS, f"certificate, {k}"), f"certificate, {k}") for k, each in enumerate(given, 1)]


def _stated(given: dict[str, Any], where: str) -> Stated:
    parts = {part: real(value, where) for part, value in object_of(given["parts"], PARTS, where).items()}
    require(min(parts.values()) >= 0, f"{where}: expected parts of at least 0")
    require(given["saturation"] in SATURATIONS, f"{where}: expected a known word on saturation")
    require(given["relative_to"] in (ROBOT, *FUNCTIONS), f"{where}: expected what it is relative to")
    name, unit = text(given["name"], where), text(given["unit"], where)
    lsb, bound, low, high, assumed, spread = (
        real(given[key], where) for key in ("lsb", "bound", "low", "high", "assumed", "spread")
    )
    of_robot = given["relative_to"] == ROBOT
    require(min(assumed, spread) >= 0, f"{where}: expected errors of at least 0")
    require(not of_robot or (assumed, spread) == (0, 0), f"{where}: expected nothing to be assumed of a robot")
    witness = None if given["witness"] is None else list_of(given["witness"], where)
    stated = Stated(
        name, unit, lsb, bound, parts, low, high, given["saturation"], witness, assumed, spread, given["relative_to"]
    )
    total = stated.total if of_robot else (stated.total + assumed) * (1 + 1e-15)
    require(bound == total, f"{where}: expected a bound that is the sum of its parts, got {bound}")
    return stated


def check_names(stated: Stated, name: str, word: Format, where: str) -> None:
    """Refuse a certificate that speaks of another word than the file's."""
    require(
        (stated.name, stated.unit, stated.lsb) == (name, word.unit, word.lsb), f"{where}: expected the word of '{name}'"
    )


def check_parts(stated: Stated, found: OutputBound, arithmetic: float, difference: float, where: str) -> None:
    """Refuse parts that do not follow from the tables and the plan, or that are not what the rules give.

    `arithmetic` is what that of the function itself may come to, beside that of floats; `difference` is how far the
    cascade without roundings can be from the truth.
    """
    for part in PARTS:
        given, proved = stated.parts[part], found.parts.get(part, 0.0)
        # floats: their sum is what must follow (`allowed_difference`); how it is split may hang on the last digit
        least = proved if found.proved is None else proved * (1 - NEAR) - NEAR
        require(least <= given, f"{where}, {part}: expected at least {proved!r}, got {given!r}")
        most = proved * (1 + NEAR) + (arithmetic if part == "arithmetic" else NEAR)
        if part == "dropped" and found.proved is not None:  # what is not in the plan; `check_difference` counts it
            most += min(MAX_DUST, DUSTIER * difference)
        require(
            given <= most,
            f"{where}, {part}: expected {proved:.6g} by the rules and at most {most:.6g}, got {given:.6g}",
        )


def most_arithmetic(noise: float, found: OutputBound, word: Format, points: float = 1, skew: float = 0.0) -> float:
    """Return what the arithmetic of a function may be said to come to, in units.

    docs/certificate.md has as many times the rounding of floats on a grid as there are points on it, or less. Ours may
    be smaller than another's, and is none where constants cancel: the result is taken to be rounded. `skew` is how far
    the robot's rotations can be taken to be from true ones, over all terms of a torque: it counts as many times.
    """
    size = abs(found.low) + abs(found.high) + abs(float(word.middle)) / word.lsb + 1
    return LARGER * points * (noise + HALF * size) + (6.4e-12 + points * skew) * size


def recomputed(stated: Stated, found: OutputBound, difference: float) -> float:
    """Return the bound that was proved here, in units, with nothing of the certificate in it but what is assumed."""
    rounding = math.fsum(found.parts[part] for part in ROUNDINGS) if found.proved is None else found.proved
    return (rounding + difference + stated.assumed) * (1 + 1e-14)


def least_arithmetic(stated: Stated, found: OutputBound, difference: float) -> float:
    """Return what `arithmetic` must come to at least: what the other parts leave of the distance from the truth.

    Constants as they were before they were rounded are not in the file, so that this part cannot be computed apart: it
    is refused below this (`check_difference`), or beside the bound of all roundings of floats, and above what floats
    can err.
    """
    if found.proved is None:
        left = difference - math.fsum(stated.parts[part] for part in ("dropped", "constants"))
    else:
        left = found.proved + difference - math.fsum(stated.parts[part] for part in PARTS if part != "arithmetic")
    return max(0.0, left)


def allowed_difference(stated: Stated, found: OutputBound) -> float:
    """Return how far the cascade without roundings may be from the truth, by what is stated, in units.

    Where it is a sum of parts, the bound has more room than the sum is rounded by.
    """
    if found.proved is not None:  # what the roundings of floats leave of the bound, rounded down
        return -up(Fraction(stated.assumed) + Fraction(found.proved) - Fraction(stated.bound))
    return math.fsum(stated.parts[part] for part in ("dropped", "constants", "arithmetic"))


def check_difference(stated: Stated, found: OutputBound, difference: float, where: str, step: str = "dynamics") -> None:
    """Refuse a cascade that is further from the truth than rounded constants, dropped terms and floats account for."""
    allowed = allowed_difference(stated, found)
    require(
        difference <= allowed,
        f"{where}: the cascade without roundings must be within {allowed:.4g} units of the truth (what the bound "
        f"leaves for that), but only {difference:.4g} is proved",
        step,
    )


def held(stated: Stated, found: OutputBound, word: Format) -> OutputBound:
    """Return what is found with the range that is stated, where that goes less far, by more than floats round."""
    ends = sorted((word.sign * (end - word.offset) - word.centre) / word.lsb for end in (stated.low, stated.high))
    slack = ROOM * (abs(ends[0]) + abs(ends[1]) + abs(word.centre / word.lsb) + 1)
    low, high = ends[0] + stated.total, ends[1] - stated.total
    low = found.low if abs(low - found.low) <= slack else low
    return replace(found, low=low, high=found.high if abs(high - found.high) <= slack else high)


def closer_range(stated: Stated, found: OutputBound, word: Format) -> Span | None:
    """Return what the true value must stay within, in units, for the range that is stated; None where rules give it.

    Rules may give one of its ends: then that end is no matter.
    """
    near = held(stated, found, word)
    if (near.low, near.high) == (found.low, found.high):
        return None
    error = math.fsum(each for part, each in stated.parts.items() if part != "final_rounding")
    error += ROUNDED * (error + abs(near.low) + abs(near.high) + abs(word.centre / word.lsb))
    low = -math.inf if near.low == found.low else near.low + error
    return low, math.inf if near.high == found.high else near.high - error


def check_range(stated: Stated, found: OutputBound, word: Format, where: str, truth: Span | None = None) -> None:
    """Refuse a range of the output that does not follow, or that goes further than the rules have it.

    `truth` is a range of the true value in units, where the range that is stated goes less far.
    """
    near = held(stated, found, word)
    asked = closer_range(stated, found, word)
    for name, given, end in (("low", near.low, found.low), ("high", near.high, found.high)):
        wider = given < end if name == "low" else given > end
        require(
            not wider and (given == end or truth is not None),
            f"{where}, {name}: expected a range of {found.low!r} to {found.high!r} units, and the bound, got {given!r}",
        )
    require(
        asked is None or truth is None or (asked[0] <= truth[0] and truth[1] <= asked[1]),
        f"{where}: expected a range that holds every value: {truth} units is proved, {asked} is needed",
    )


def fits(found: OutputBound, low: int, high: int) -> bool:
    """Whether no sum leaves low..high when it is rounded."""
    return math.floor(found.low + 0.5) >= low and math.floor(found.high + 0.5) <= high


def witness_words(stated: Stated, arrays: Sequence[WordArray], where: str) -> list[int]:
    """Return the input words of a witness, which has a list for every array."""
    found = []
    for row, array in zip(list_of(stated.witness, where, len(arrays)), arrays, strict=True):
        for each, word in zip(list_of(row, where, len(array.words)), array.words, strict=True):
            found.append(whole(each, word.lowest, word.highest, where))
    return found

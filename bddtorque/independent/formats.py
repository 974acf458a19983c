"""Words of inputs and outputs: what they stand for, exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .findings import require
from .reading import object_of, real, text, whole
from .spans import Box

KEYS = ("kind", "bits", "low", "high", "sign", "offset", "name", "unit")


@dataclass(frozen=True)
class Format:
    """A word: an angle, sign·2π·w/2^bits + offset, or sign·(centre + w·lsb) + offset; `low`, `high` as in the file."""

    angle: bool
    bits: int
    low: float
    high: float
    sign: int
    offset: float
    name: str
    unit: str

    @property
    def lowest(self) -> int:
        """The lowest word."""
        return -(1 << (self.bits - 1))

    @property
    def highest(self) -> int:
        """The highest word."""
        return (1 << (self.bits - 1)) - 1

    @property
    def lsb(self) -> float:
        """One unit, as the float64 that it is defined as."""
        return (2 * math.pi if self.angle else self.high - self.low) / (1 << self.bits)

    @property
    def centre(self) -> float:
        """The value of the word 0 before sign and offset."""
        return 0.0 if self.angle else self.low / 2 + self.high / 2

    @property
    def scale(self) -> Fraction:
        """What one unit of a word that is no angle adds to its value."""
        return self.sign * Fraction(self.lsb)

    @property
    def middle(self) -> Fraction:
        """The value of the word 0 of a word that is no angle."""
        return self.sign * Fraction(self.centre) + Fraction(self.offset)


def format_of(plain: Any, where: str) -> Format:
    """Return one format; low and high are infinite where the file says null."""
    given = object_of(plain, KEYS, where)
    require(given["kind"] in ("angle", "range"), f"{where}: expected an angle or a range")
    low = -math.inf if given["low"] is None else real(given["low"], where)
    high = math.inf if given["high"] is None else real(given["high"], where)
    angle = given["kind"] == "angle"
    sign = whole(given["sign"], -1, 1, where)
    require(sign != 0, f"{where}: expected a sign of 1 or -1")
    require(low < high and (angle or math.isfinite(high - low)), f"{where}: expected low below high")
    made = Format(
        angle,
        whole(given["bits"], 2, 32, where),
        low,
        high,
        sign,
        real(given["offset"], where),
        text(given["name"], where),
        text(given["unit"], where),
    )
    require(made.lsb > 0, f"{where}: expected a unit above 0")
    return made


def box_of(words: Mapping[int, Format]) -> Box:
    """Return the box of words by number, each over 2^(bits − 1): that number itself is no word."""
    ends = {k: (-1.0, word.highest / -word.lowest) for k, word in words.items()}
    zeros = {k: float(word.middle / word.scale / word.lowest) for k, word in words.items() if not word.angle}
    return Box(ends, zeros)

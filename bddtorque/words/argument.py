"""`Argument`: what one input word of a function stands for, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.plain import choice, fraction, listed, whole
from bddtorque.words.bounded import ULP, Bounded, Interval, Turn
from bddtorque.words.formats import Format
from bddtorque.words.integer_range import Range, index_words, word_range, wrap

MAX_ARGUMENT_BITS = 26
"""Bits of a word that a table is made over."""


@dataclass(frozen=True)
class Argument:
    """The exact value of an input word."""

    # "angle", value = 2π·scale·word/2^bits + centre (rad), or "word", value = scale·word + centre; "unsigned" is the
    # same of a word that is not two's complement
    kind: Literal["angle", "word", "unsigned"]
    bits: int  # word length
    # scale, centre: rationals; the scale of an angle is an integer over a power of two
    scale: Fraction = Fraction(1)
    centre: Fraction = Fraction(0)

    @property
    def signed(self) -> bool:
        """True if the word is two's complement."""
        return self.kind != "unsigned"

    @property
    def range(self) -> Range:
        """The lowest and the highest word."""
        return word_range(self.bits, self.signed)

    def words(self) -> npt.NDArray[np.int64]:
        """Return all words in the order of a table's index: 0, 1, ..., highest and, if signed, lowest, ..., −1."""
        return index_words(self.bits, self.signed)

    def bounded(self, words: Any) -> Bounded | Turn:
        """Return the values of words, with bounds; angles stay exact."""
        if self.kind == "angle":
            turned = Turn(words, self.bits) * self.scale
            return Turn(turned.numerator, turned.bits, self.centre)
        scale, centre = float(self.scale), float(self.centre)
        value = words * scale + centre
        return Bounded(value, 4 * ULP * (np.abs(words * scale) + abs(centre)))

    def number(self, words: npt.NDArray[np.int64]) -> Bounded:
        """Return the values of words as floats with bounds; angles as radians, within half a turn before the centre."""
        found = self.bounded(words)
        if isinstance(found, Bounded):
            return found
        value = wrap(found.numerator, self.bits) * (2 * np.pi / (1 << self.bits)) + float(self.centre)
        return Bounded(value, 8 * ULP * (np.pi + abs(float(self.centre))))

    def interval(self) -> Interval:
        """Return the range of the value over all words, rounded outward (for angles it has no meaning: all)."""
        ends = sorted(float(self.scale * word + self.centre) for word in self.range)
        slack = 4 * ULP * max(abs(ends[0]), abs(ends[1]))
        return Interval(ends[0] - slack, ends[1] + slack)

    def to_plain(self) -> list[Any]:
        """Return kind, bits, scale and centre; rationals as text."""
        return [self.kind, self.bits, str(self.scale), str(self.centre)]


def argument_from_plain(plain: object, where: str) -> Argument:
    """Return the argument that `Argument.to_plain` wrote."""
    kind, bits, scale, centre = listed(plain, where, 4)
    choice(kind, ("angle", "word", "unsigned"), f"{where}, kind")
    factor = fraction(scale, f"{where}, scale")
    if kind == "angle" and not _is_float(factor):
        raise BddTorqueError(f"{where}: an angle's multiple must be a float, got {scale!r:.40}")
    return Argument(
        kind, whole(bits, 1, MAX_ARGUMENT_BITS, f"{where}, bits"), factor, fraction(centre, f"{where}, centre")
    )


def _is_float(number: Fraction) -> bool:
    try:
        return Fraction(float(number)) == number
    except OverflowError:
        return False


def intervals(arguments: Mapping[str, Argument]) -> dict[str, Interval]:
    """Return the ranges of inputs that are not angles."""
    return {name: each.interval() for name, each in arguments.items() if each.kind != "angle"}


def argument_of(word: Format) -> Argument:
    """Return the argument of a format: its value at the joint."""
    if word.kind == "angle":
        return Argument("angle", word.bits, Fraction(word.sign), Fraction(word.offset))
    return Argument(
        "word" if word.signed else "unsigned",
        word.bits,
        word.sign * Fraction(word.lsb),
        word.sign * Fraction(word.centre) + Fraction(word.offset),
    )

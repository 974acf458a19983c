"""Words of inputs and outputs, in named arrays: what they stand for, exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .findings import require
from .ranges import Box
from .reading import Reader, between, fields_of, flag, optional, real, several, sign, text

MAX_WORDS = 4096
"""Words of one array."""


def ends_of_word(bits: int, signed: bool) -> tuple[int, int]:
    """Return the lowest and the highest word of so many bits."""
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)


@dataclass(frozen=True)
class Format:
    """A word: an angle, sign·2π·w/2^bits + offset, or sign·(centre + w·lsb) + offset; `low`, `high` as in the file.

    It is two's complement if `signed`, else from 0 on.
    """

    angle: bool
    bits: int
    low: float
    high: float
    sign: int
    offset: float
    name: str
    unit: str
    signed: bool = True

    @property
    def lowest(self) -> int:
        """The lowest word."""
        return ends_of_word(self.bits, self.signed)[0]

    @property
    def highest(self) -> int:
        """The highest word."""
        return ends_of_word(self.bits, self.signed)[1]

    @property
    def size(self) -> int:
        """The power of two that no word exceeds in magnitude."""
        return 1 << (self.bits - self.signed)

    @property
    def lsb(self) -> float:
        """One unit, as the float64 that it is defined as."""
        return (2 * math.pi if self.angle else self.high - self.low) / (1 << self.bits)

    @property
    def centre(self) -> float:
        """The value of the word 0 before sign and offset."""
        if not self.signed:
            return self.low
        return 0.0 if self.angle else self.low / 2 + self.high / 2

    @property
    def scale(self) -> Fraction:
        """The value of one unit of a word that is no angle."""
        return self.sign * Fraction(self.lsb)

    @property
    def middle(self) -> Fraction:
        """The value of the word 0 of a word that is no angle."""
        return self.sign * Fraction(self.centre) + Fraction(self.offset)

    def in_units(self, value: Any, algebra: Any) -> Any:
        """Return a value v in units of the word: (sign·(v − offset) − centre)/lsb."""
        per_unit = self.sign / Fraction(self.lsb)
        return value.scaled(per_unit) + algebra.number(-per_unit * self.middle)


@dataclass(frozen=True)
class WordArray:
    """An array of words, one label each; of shape () it is a number."""

    name: str
    shape: tuple[int, ...]
    labels: tuple[str, ...]
    words: tuple[Format, ...]

    @property
    def word_names(self) -> list[str]:
        """The names that plans have for its words."""
        return [f"{self.name}{k}" for k in range(1, len(self.words) + 1)] if self.shape else [self.name]


@dataclass(frozen=True)
class Words:
    """The arrays that go into a model, and those that come out."""

    inputs: tuple[WordArray, ...]
    outputs: tuple[WordArray, ...]

    @property
    def named(self) -> dict[str, Format]:
        """The input words by the names that plans have for them."""
        return {name: word for array in self.inputs for name, word in zip(array.word_names, array.words, strict=True)}

    @property
    def labels(self) -> list[str]:
        """The labels of all output words."""
        return [label for array in self.outputs for label in array.labels]

    @property
    def results(self) -> list[Format]:
        """All output words."""
        return [word for array in self.outputs for word in array.words]


def words_of(plain: Any) -> Words:
    """Return the arrays of a header."""
    words = Words(**fields_of(plain, {"inputs": several(_array), "outputs": several(_array)}, "words"))
    arrays = ([array.name for array in side] for side in (words.inputs, words.outputs))
    word_names = [name for array in words.inputs for name in array.word_names]
    for names in (*arrays, word_names, words.labels):
        require(0 < len(names) == len(set(names)), "words: expected arrays and words of different names")
    return words


def _array(plain: Any, where: str) -> WordArray:
    readers = {
        "name": text,
        "shape": several(between(1, MAX_WORDS)),
        "labels": several(text),
        "words": several(format_of),
    }
    array = WordArray(**fields_of(plain, readers, where))
    shape, count = array.shape, len(array.words)
    symmetric = shape[0] * (shape[0] + 1) // 2 if len(shape) == 2 and shape[0] == shape[1] else -1
    require(
        len(shape) <= 2 and count in (math.prod(shape), symmetric) and len(array.labels) == count <= MAX_WORDS,
        f"{where}, {array.name:.20}: expected the words of its shape",
    )
    return array


def format_of(plain: Any, where: str) -> Format:
    """Return one format; low and high are infinite where the file says null."""
    ends = {"low": optional(real), "high": optional(real)}
    readers = {"kind": text, "bits": between(2, 32), **ends, "sign": sign, "offset": real, "name": text, "unit": text}
    unsigned: dict[str, Reader] = {"signed": flag} if isinstance(plain, dict) and "signed" in plain else {}
    fields = fields_of(plain, {**readers, **unsigned}, where)
    kind = fields.pop("kind")
    require(kind in ("angle", "range"), f"{where}: expected an angle or a range")
    require(
        not unsigned or (not fields["signed"] and kind == "range"),
        f"{where}: expected signed only of a range, as false",
    )
    for key, infinite in (("low", -math.inf), ("high", math.inf)):
        fields[key] = infinite if fields[key] is None else fields[key]
    word = Format(kind == "angle", **fields)
    ascending = word.low < word.high and (word.angle or math.isfinite(word.high - word.low))
    require(ascending, f"{where}: expected low below high")
    require(word.lsb > 0, f"{where}: expected a unit above 0")
    return word


def box_of(words: Mapping[int, Format]) -> Box:
    """Return the box of words by number, each over its `size`."""
    ends = {k: (word.lowest / word.size, word.highest / word.size) for k, word in words.items()}
    zeros = {k: float(-word.middle / word.scale / word.size) for k, word in words.items() if not word.angle}
    return Box(ends, zeros)

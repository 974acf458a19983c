"""Words of inputs and outputs, in named arrays: what they stand for, exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .findings import require
from .reading import list_of, object_of, real, text, whole
from .spans import Box

KEYS = ("kind", "bits", "low", "high", "sign", "offset", "name", "unit")
MAX_WORDS = 4096
"""Words of one array."""


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
    given = object_of(plain, ("inputs", "outputs"), "words")
    inputs, outputs = (
        tuple(_array(each, f"words, {side}") for each in list_of(given[side], f"words, {side}"))
        for side in ("inputs", "outputs")
    )
    words = Words(inputs, outputs)
    names = [name for array in inputs for name in array.word_names]
    for own in ([array.name for array in inputs], [array.name for array in outputs], names, words.labels):
        require(0 < len(own) == len(set(own)), "words: expected arrays and words of different names")
    return words


def _array(plain: Any, where: str) -> WordArray:
    given = object_of(plain, ("name", "shape", "labels", "words"), where)
    name = text(given["name"], where)
    where = f"{where}, {name:.20}"
    shape = tuple(whole(each, 1, MAX_WORDS, where) for each in list_of(given["shape"], where))
    words = tuple(format_of(each, f"{where} {k}") for k, each in enumerate(list_of(given["words"], where), 1))
    labels = tuple(text(each, where) for each in list_of(given["labels"], where, len(words)))
    symmetric = shape[0] * (shape[0] + 1) // 2 if len(shape) == 2 and shape[0] == shape[1] else -1
    require(
        len(shape) <= 2 and len(words) in (math.prod(shape), symmetric) and len(words) <= MAX_WORDS,
        f"{where}: expected the words of its shape",
    )
    return WordArray(name, shape, labels, words)


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

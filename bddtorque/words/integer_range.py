"""Words, two's complement or unsigned: their ranges, their widths, and what wrapping makes of an integer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.words.rounding import half_up_shift


@dataclass(frozen=True)
class Range:
    """Integers from `low` to `high`, both included; arithmetic gives ranges. Both may be arrays, for many ranges."""

    low: int
    high: int

    def __iter__(self) -> Iterator[int]:
        return iter((self.low, self.high))

    def __contains__(self, number: int) -> bool:
        return self.low <= number <= self.high

    @property
    def magnitude(self) -> int:
        """The largest absolute value."""
        magnitude: int = _largest(abs(self.low), abs(self.high))
        return magnitude

    @property
    def bits(self) -> int:
        """Bits of the narrowest two's complement word that holds every number."""
        return max((-self.low - 1).bit_length() if self.low < 0 else 0, max(self.high, 0).bit_length()) + 1

    def within(self, other: Range) -> bool:
        """Return whether every number is one of the other range."""
        return other.low <= self.low and self.high <= other.high

    def common(self, other: Range) -> Range:
        """Return the numbers of both ranges; empty (`low` above `high`) where there are none."""
        return Range(_largest(self.low, other.low), _smallest(self.high, other.high))

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.high + other.high)

    def __neg__(self) -> Range:
        return Range(-self.high, -self.low)

    def __sub__(self, other: Range) -> Range:
        return Range(self.low - other.high, self.high - other.low)

    def __mul__(self, other: Range | int) -> Range:
        others = (other,) if isinstance(other, int) else (other.low, other.high)
        ends = [mine * its for mine in (self.low, self.high) for its in others]
        return Range(_smallest(*ends), _largest(*ends))

    def squared(self) -> Range:
        """Return the range of the squares."""
        ends = self.low * self.low, self.high * self.high
        has_zero = (self.low <= 0) & (self.high >= 0)
        return Range(_smallest(*ends) * (1 - has_zero), _largest(*ends))

    def rounded(self, shift: int) -> Range:
        """Return the range of floor(x/2^shift + 1/2)."""
        return Range(half_up_shift(self.low, shift), half_up_shift(self.high, shift))


def _smallest(*ends: Any) -> Any:
    return reduce(np.minimum, ends) if any(isinstance(end, np.ndarray) for end in ends) else min(ends)


def _largest(*ends: Any) -> Any:
    return reduce(np.maximum, ends) if any(isinstance(end, np.ndarray) for end in ends) else max(ends)


def word_range(bits: int, signed: bool = True) -> Range:
    """Return the range of the words of `bits` bits, two's complement if `signed`."""
    return Range(-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else Range(0, (1 << bits) - 1)


INT32, INT64 = word_range(32), word_range(64)


def wrap(words: Any, bits: int) -> Any:
    """Return the low `bits` bits of integers or int64 arrays as two's complement words; nothing overflows."""
    half = 1 << (bits - 1)
    return ((words & ((1 << bits) - 1)) ^ half) - half


def wrap_or_clamp(words: npt.ArrayLike, bits: int, wraps: bool, signed: bool = True) -> npt.NDArray[np.int64]:
    """Return integers as a word of `bits` bits holds them: masked if it wraps, else clamped."""
    given = np.asarray(words)
    held: npt.NDArray[np.int64]
    if wraps:
        held = wrap(given.astype(np.int64), bits)
        return held
    lowest, highest = word_range(bits, signed)
    if given.dtype == np.uint64:  # clamped before the cast, or large words would turn negative
        given = np.minimum(given, np.uint64(highest))
    held = np.clip(given.astype(np.int64), lowest, highest)
    return held


def index_words(bits: int, signed: bool = True) -> npt.NDArray[np.int64]:
    """Return all words in the order of a table's index: 0, 1, ..., highest and, if `signed`, lowest, ..., −1."""
    index = np.arange(1 << bits, dtype=np.int64)
    words: npt.NDArray[np.int64] = wrap(index, bits) if signed else index
    return words

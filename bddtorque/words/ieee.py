"""IEEE binary32 and binary64 arithmetic in NumPy, every operation correctly rounded to nearest even, fused ones too.

NumPy has no fused multiply-add. It is made here from the operations that there are, exactly, so that an array of floats
gives on every machine what a processor's own instruction gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[Any]

SPLITTER = 134217729.0
"""2^27 + 1: times a float64, it leaves the upper half of its bits (Veltkamp)."""
SAFE_LOW, SAFE_HIGH = 2.0**-400, 2.0**400
"""Magnitudes of float64 factors whose product and its error are exact in two float64."""


@dataclass(frozen=True)
class Precision:
    """A binary format of IEEE 754."""

    name: str  # "single" or "double"
    bits: int  # of the significand, the leading one included
    lowest: int  # the exponent of the smallest normal number
    highest: int  # the exponent of the largest numbers

    @property
    def unit(self) -> float:
        """u, the largest relative error of one rounding: half a unit in the last place of 1."""
        return 2.0**-self.bits

    @cached_property
    def dtype(self) -> Any:
        """The type that NumPy has for it."""
        return np.float32 if self.bits == 24 else np.float64

    @property
    def largest(self) -> float:
        """The largest finite number."""
        return float(np.finfo(self.dtype).max)

    @property
    def tiny(self) -> float:
        """The smallest number above 0: no rounding of a subnormal number errs by more than half of it."""
        return float(np.finfo(self.dtype).smallest_subnormal)

    def nearest(self, number: Fraction) -> float:
        """Return the nearest number of this format, ties to even, as a float."""
        if not number:
            return 0.0
        size = abs(number)
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        exponent -= Fraction(2) ** exponent > size
        step = Fraction(2) ** (max(exponent, self.lowest) - self.bits + 1)
        value = round(number / step) * step  # Python's rounds ties to even
        return float(value) if abs(value) <= self.largest else float("inf") * (1 if number > 0 else -1)

    def rounding_error(self, magnitude: float) -> float:
        """Return how far a number of at most this magnitude can be from the nearest one of the format."""
        if magnitude == 0.0:
            return 0.0
        exponent = int(np.frexp(magnitude)[1]) - 1
        return max(2.0 ** max(exponent - self.bits, -1074), self.tiny)


SINGLE = Precision("single", 24, -126, 127)
DOUBLE = Precision("double", 53, -1022, 1023)
PRECISIONS = {precision.name: precision for precision in (SINGLE, DOUBLE)}


def fused(left: Any, right: Any, addend: Any) -> Floats:
    """Return left·right + addend, rounded once; all of them float32, or all float64, of shapes that go together."""
    left, right, addend = np.broadcast_arrays(left, right, addend)
    if left.dtype == np.float32:
        # the product is exact in float64; a sum rounded to odd is rounded again as the exact one would be
        product = left.astype(np.float64) * right.astype(np.float64)
        return _sum_to_odd(product, addend.astype(np.float64)).astype(np.float32)
    safe = _is_safe(left) & _is_safe(right) & _is_safe(addend)
    result = _fused_double(*(np.where(safe, each, 0.0) for each in (left, right, addend)))
    for place in np.ndindex(result.shape) if not safe.all() else ():
        if safe[place]:
            continue
        exact = Fraction(float(left[place])) * Fraction(float(right[place])) + Fraction(float(addend[place]))
        result[place] = DOUBLE.nearest(exact)
    return result


def _is_safe(x: Floats) -> npt.NDArray[np.bool_]:
    size = np.abs(x)
    safe: npt.NDArray[np.bool_] = (size == 0.0) | ((size >= SAFE_LOW) & (size <= SAFE_HIGH))
    return safe


def _fused_double(a: Floats, b: Floats, c: Floats) -> Floats:
    """Return a·b + c of float64 (Boldo and Melquiond 2008): exact product, exact sums, the rest rounded to odd."""
    high, low = _exact_product(a, b)
    upper, lower = exact_sum(c, low)
    total, rest = exact_sum(high, upper)
    result: Floats = np.asarray(total + _sum_to_odd(lower, rest))
    return result


def exact_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a + b rounded, and what the rounding left (Knuth's two-sum); float64."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def _exact_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a·b rounded, and what the rounding left (Dekker)."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _split(a), _split(b)
    rest = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return product, rest


def _split(a: Floats) -> tuple[Floats, Floats]:
    scaled = SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high


def _sum_to_odd(a: Floats, b: Floats) -> Floats:
    """Return a + b of float64 rounded to odd: exact, or the neighbour whose last bit is set."""
    total, rest = exact_sum(a, b)
    even = (np.asarray(total).view(np.int64) & 1) == 0
    toward = np.where(rest > 0, np.inf, -np.inf)
    result: Floats = np.where((rest != 0) & even, np.nextafter(total, toward), total)
    return result

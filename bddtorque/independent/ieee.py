"""IEEE binary32 and binary64 as docs/format.md uses them: rounding, and the sine that plans in floats compute."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .enclosures import ONE, pi_fixed, sine_and_cosine, sine_of_turns
from .findings import require

MAX_COMPARED = 20
"""Bits of words whose sines are compared one by one in single precision, as docs/certificate.md says."""
CHUNK = 1 << 16
SERIES = 20
"""Terms of Taylor's series that the polynomial of a sine is compared with."""
UNDECIDED = 64
"""Words whose distance is computed in whole numbers, where floats cannot tell which of them is the worst."""


@dataclass(frozen=True)
class Precision:
    """A format: bits of the significand, exponent of the largest number, and its sine.

    `name` is what files call it, `grid` the bits of a turn that an angle with a rest is rounded to, `factors` are those
    of the polynomial.
    """

    name: str
    bits: int
    highest: int
    grid: int
    factors: tuple[Fraction, ...]

    @property
    def lowest(self) -> int:
        """The exponent of the smallest normal number."""
        return 1 - self.highest

    @property
    def largest(self) -> Fraction:
        """The largest finite number."""
        return (2 - Fraction(1, 1 << (self.bits - 1))) * Fraction(2) ** self.highest

    @property
    def smallest(self) -> Fraction:
        """The smallest number above 0."""
        return Fraction(2) ** (self.lowest - self.bits + 1)

    def nearest(self, number: Fraction) -> Fraction:
        """Return the nearest number of the format, ties to even."""
        if not number:
            return number
        step = Fraction(2) ** (max(_exponent(abs(number)), self.lowest) - self.bits + 1)
        found = round(number / step) * step  # Python rounds ties to even
        require(abs(found) <= self.largest, "expected values within the precision of the plan")
        return found

    def half_unit(self, most: Fraction) -> Fraction:
        """Return how far a number of at most this magnitude can be from the nearest one; 0 where it is 0."""
        return max(Fraction(2) ** (_exponent(most) - self.bits), self.smallest) if most else Fraction(0)


def _exponent(size: Fraction) -> int:
    """Return the exponent of the largest power of 2 that is at most a number."""
    found = size.numerator.bit_length() - size.denominator.bit_length()
    return found if Fraction(2) ** found <= size else found - 1


def _factors(text: str) -> tuple[Fraction, ...]:
    return tuple(Fraction(float.fromhex(each)) for each in text.split())


_SINGLE = "0x1.243f6ap-1 -0x1.4abbbcp-1 0x1.4667fep-4 -0x1.323d16p-8 0x1.3cc88cp-13"
_DOUBLE = (
    "0x1.243f6a8885a31p-1 -0x1.4abbce625be68p-1 0x1.466bc6775b3f6p-4 -0x1.32d2cce66312ap-8 "
    "0x1.5078349dea51bp-13 -0x1.e307598fb6d24p-19 0x1.e8f682ada6767p-25 -0x1.6fec0c5e0c0e7p-31 "
    "0x1.aa8ec325f7f09p-38"
)
PRECISIONS = {
    "single": Precision("single", 24, 127, 30, _factors(_SINGLE)),
    "double": Precision("double", 53, 1023, 60, _factors(_DOUBLE)),
}


@cache
def grid_turn(rest: Fraction, precision: Precision) -> int:
    """Return a constant angle in rad as the nearest multiple of 2^-grid turns, within one turn."""
    steps = rest * (ONE << precision.grid) / (2 * pi_fixed()[0])
    return int(_wrapped(round(steps), precision.grid))


def _wrapped(number: Any, bits: int) -> Any:
    half = 1 << (bits - 1)
    return (number + half) % (2 * half) - half


def quarter_turns(words: Any, bits: int, rest: Fraction, cosine: bool, precision: Precision) -> tuple[Any, int]:
    """Return k of words, whole numbers or an array of them, and G: the angle is folded to k/2^(G − 2) quarter turns."""
    turn = grid_turn(rest, precision)
    wide = precision.grid if turn else bits
    angle = _wrapped((words << (wide - bits)) + turn, wide) if turn else words
    half = 1 << (wide - 1)
    if cosine:
        return (half >> 1) - abs(angle), wide
    least = np.minimum if isinstance(angle, np.ndarray) else min
    most = np.maximum if isinstance(angle, np.ndarray) else max
    return most(least(angle, half - angle), -half - angle), wide


def sine_of_word(word: int, bits: int, rest: Fraction, cosine: bool, precision: Precision) -> Fraction:
    """Return the float that a plan has for the sine of one word, every operation exact and then rounded."""
    k, wide = quarter_turns(word, bits, rest, cosine, precision)
    x = precision.nearest(Fraction(k)) * 4 / (1 << wide)
    z = precision.nearest(x * x)
    *factors, total = precision.factors
    for factor in reversed(factors):
        total = precision.nearest(total * z + factor)
    return precision.nearest(x * total + x)


def single_sines(words: npt.NDArray[np.int64], bits: int, rest: Fraction, cosine: bool) -> npt.NDArray[np.float32]:
    """Return `sine_of_word` of many words in single precision."""
    precision = PRECISIONS["single"]
    k, wide = quarter_turns(words, bits, rest, cosine, precision)
    x = k.astype(np.float32) * np.float32(4.0 / (1 << wide))
    z = x * x
    *factors, last = (np.float32(float(factor)) for factor in precision.factors)
    total = np.full(len(words), last)
    for factor in reversed(factors):
        total = _fused(total, z, np.full(len(words), factor))
    return _fused(x, total, x)


def _fused(
    a: npt.NDArray[np.float32], b: npt.NDArray[np.float32], c: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """Return a·b + c of float32 rounded once; results that are normal numbers, or 0.

    The product is exact in float64, and the sum is rounded there. Rounding it again goes wrong only where the first
    rounding made a tie of what was none: then what it lost says which side is nearer.
    """
    product, addend = a.astype(np.float64) * b, c.astype(np.float64)
    total = product + addend
    back = total - product
    lost = (product - (total - back)) + (addend - back)
    tie = (total.view(np.int64) & ((1 << 29) - 1)) == 1 << 28
    toward = np.where(lost > 0, np.inf, -np.inf)
    return np.where(tie & (lost != 0), np.nextafter(total, toward), total).astype(np.float32)


@cache
def sine_error(bits: int, rest: Fraction, cosine: bool, precision: Precision) -> float:
    """Return how far the float of any word can be from the sine of its angle, rounded up."""
    if precision.bits > PRECISIONS["single"].bits or bits > MAX_COMPARED:
        return up(_polynomial_error(precision) + _off_grid(rest, precision))
    worst = least = 0.0
    doubtful: list[tuple[float, int]] = []
    for first in range(0, 1 << bits, CHUNK):
        words = np.arange(first, min(first + CHUNK, 1 << bits), dtype=np.int64) - (1 << (bits - 1))
        true = sine_and_cosine(words, 1 << bits, rest)[cosine]
        near = np.abs(single_sines(words, bits, rest, cosine) - true.value)
        most = (near + true.radius) * (1 + 1e-15)
        worst, least = max(worst, float(most.max())), max(least, float((near - true.radius).max()) * (1 - 1e-15))
        places = np.flatnonzero(most >= least)
        doubtful += zip(most[places].tolist(), words[places].tolist(), strict=True)
        doubtful = [each for each in doubtful if each[0] >= least]
    if len(doubtful) > UNDECIDED:
        return worst
    exact = [sine_of_turns(Fraction(word, 1 << bits) + Fraction(cosine, 4), rest) for _, word in doubtful]
    floats = [sine_of_word(word, bits, rest, cosine, precision) for _, word in doubtful]
    return up(max(max(abs(true.low - x), abs(true.high - x)) for true, x in zip(exact, floats, strict=True)))


def up(number: Fraction) -> float:
    """Return the least float64 that is not below a number."""
    near = float(number)
    return near if Fraction(near) >= number else math.nextafter(near, math.inf)


def _off_grid(rest: Fraction, precision: Precision) -> Fraction:
    """Return how far an angle moves that is rounded to the grid, in rad, and what rounding x to a float adds."""
    turn = grid_turn(rest, precision)
    pi = Fraction(pi_fixed()[0], ONE)
    apart = 2 * pi * Fraction(turn, 1 << precision.grid) - rest
    apart -= round(apart / (2 * pi)) * 2 * pi
    return abs(apart) + (Fraction(2, 1 << precision.bits) if turn else 0) + Fraction(1, 1 << 200)


@cache
def _polynomial_error(precision: Precision) -> Fraction:
    """Return how far the polynomial with its roundings is from sin(π/2·x), x from −1 to 1, as docs/certificate.md says.

    A sum of Chebyshev polynomials is at most the sum of its coefficients; x^n has binomial ones over 2^(n − 1).
    """
    half_pi = Fraction(pi_fixed()[0], 2 * ONE)
    chebyshev: dict[int, Fraction] = {}
    for k in range(SERIES):
        n = 2 * k + 1
        power = -((-1) ** k) * half_pi**n / math.factorial(n)
        power += (precision.factors[k] if k < len(precision.factors) else 0) + (k == 0)
        for j in range(k + 1):
            chebyshev[n - 2 * j] = chebyshev.get(n - 2 * j, Fraction(0)) + power * math.comb(n, j) / 2 ** (n - 1)
    last = 2 * SERIES + 1
    apart = sum(map(abs, chebyshev.values()), half_pi**last / math.factorial(last) + Fraction(1, 1 << 200))
    unit = Fraction(1, 1 << precision.bits)
    *factors, inner = precision.factors
    size, error = abs(inner), Fraction(0)
    for factor in reversed(factors):
        error += size * unit  # that of z, which is at most 1
        size += abs(factor)
        error += precision.half_unit(size + error)
    return apart + error + precision.half_unit(1 + 4 * unit)

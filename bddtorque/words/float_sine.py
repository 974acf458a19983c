"""Sines and cosines of angle words as floats: one polynomial, the same float for every word wherever it is computed.

An angle word is a fraction of a turn, so that its reduction to a quarter of a turn on either side of 0 is exact and in
integers: x is −1 to 1 quarter turns, and

    sin(π/2·x) = x·(c1 + z·(c3 + z·(c5 + ...))) + x,   z = x·x,

each bracket one fused multiply-add from the inside out, and one more at the end. A table is made by this polynomial, so
that a look-up and the polynomial are interchangeable.

An angle with a constant, such as that of an encoder which is mounted askew, is rounded to `GRID` bits of a turn.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from bddtorque.words.bounded import ROUND_UP
from bddtorque.words.ieee import DOUBLE, Floats, Precision, fused
from bddtorque.words.integer_range import index_words, wrap
from bddtorque.words.portable import sine_cosine

Integers = npt.NDArray[np.int64]

GRID = {"single": 30, "double": 60}
"""Bits of a turn that an angle with a constant is rounded to: fits an int32, or an int64, with room for one sum."""
FACTORS = {
    "single": (
        "0x1.243f6ap-1", "-0x1.4abbbcp-1", "0x1.4667fep-4", "-0x1.323d16p-8", "0x1.3cc88cp-13",
    ),
    "double": (
        "0x1.243f6a8885a31p-1", "-0x1.4abbce625be68p-1", "0x1.466bc6775b3f6p-4", "-0x1.32d2cce66312ap-8",
        "0x1.5078349dea51bp-13", "-0x1.e307598fb6d24p-19", "0x1.e8f682ada6767p-25", "-0x1.6fec0c5e0c0e7p-31",
        "0x1.aa8ec325f7f09p-38",
    ),
}  # fmt: skip
"""c1, c3, c5, ...: the best approximation on −1 to 1, each factor rounded and the rest fitted again."""
PI = Fraction("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534")
"""π, below by less than 1e-92."""
CHUNK = 1 << 16
"""Words that are compared with their sines at a time."""
MAX_COMPARED = 20
"""Bits of words that are compared with their sines one by one: beyond, that would take seconds."""


def sine_factors(precision: Precision) -> tuple[float, ...]:
    """Return c1, c3, c5, ... as floats."""
    return tuple(map(float.fromhex, FACTORS[precision.name]))


def turn_on_grid(rest: Fraction, precision: Precision) -> int:
    """Return a constant angle in rad as the nearest multiple of 2^-GRID turns, within one turn."""
    bits = GRID[precision.name]
    return int(wrap(round(rest / (2 * PI) * (1 << bits)), bits))


def angle_bits(bits: int, turn: int, precision: Precision) -> int:
    """Return the bits of an angle with its constant: those of the word itself if there is none."""
    return GRID[precision.name] if turn else bits


def quarter_turns(words: Integers, bits: int, turn: int, cosine: bool, precision: Precision) -> Integers:
    """Return x in units of 2^-(angle_bits - 2), an integer within a quarter of a turn."""
    wide = angle_bits(bits, turn, precision)
    angle = wrap((words << (wide - bits)) + turn, wide)
    half, quarter = 1 << (wide - 1), 1 << (wide - 2)
    if cosine:
        return np.asarray(quarter - np.abs(angle))
    return np.asarray(np.maximum(np.minimum(angle, half - angle), -half - angle))


def float_sines(words: Integers, bits: int, turn: int, cosine: bool, precision: Precision) -> Floats:
    """Return the sine (or cosine) of angle words of `bits` bits and a constant of `turn`/2^GRID turns, as floats."""
    kind = precision.dtype
    units = quarter_turns(words, bits, turn, cosine, precision)
    x = units.astype(kind) * kind(2.0 ** -(angle_bits(bits, turn, precision) - 2))
    *factors, total = (kind(factor) for factor in sine_factors(precision))
    z = x * x
    for factor in reversed(factors):
        total = fused(total, z, factor)
    return fused(x, total, x)


@lru_cache(maxsize=64)
def sine_table(bits: int, turn: int, cosine: bool, precision: Precision) -> Floats:
    """Return the sines of all words in the order of a table's index: 0, 1, ..., highest, lowest, ..., −1."""
    table = float_sines(index_words(bits), bits, turn, cosine, precision)
    table.flags.writeable = False
    return table


def compared_words(bits: int, rest: Fraction, precision: Precision) -> int:
    """Return how many words `sine_error` compares with their sines, from 0 on; 0 where it bounds the polynomial."""
    if precision == DOUBLE or bits > MAX_COMPARED:
        return 0
    # of an angle without a constant one quarter says it all: fold and polynomial are odd, and the same in each
    return 1 << bits if rest else (1 << bits) // 4 + 1


@lru_cache(maxsize=256)
def sine_error(bits: int, rest: Fraction, cosine: bool, precision: Precision) -> float:
    """Return how far the float of any word can be from the sine (or cosine) of its angle plus `rest` rad.

    In single precision every word of up to `MAX_COMPARED` bits is compared with its sine; else it is what the
    polynomial and its roundings amount to at most.
    """
    turn = turn_on_grid(rest, precision)
    count = compared_words(bits, rest, precision)
    if not count:
        exact = 2 * PI * Fraction(turn, 1 << GRID[precision.name]) - rest
        off = abs(exact - round(exact / (2 * PI)) * 2 * PI)
        # x itself is rounded where it has more bits than a float holds
        return (_polynomial_error(precision) + float(off) + (2 * precision.unit if turn else 0.0)) * ROUND_UP
    worst = 0.0
    exact_rest = float(rest - round(rest / (2 * PI)) * 2 * PI)
    for first in range(0, count, CHUNK):
        words = np.arange(first, min(first + CHUNK, count), dtype=np.int64)
        found = float_sines(wrap(words, bits), bits, turn, cosine, precision).astype(np.float64)
        sine, cosine_ = sine_cosine(wrap(words, bits) * (2 * math.pi / (1 << bits)) + exact_rest)
        worst = max(worst, float(np.abs(found - (cosine_ if cosine else sine)).max()))
    return (worst + 4e-15) * ROUND_UP  # reference sines are within 1e-15, their arguments within 2e-15


@lru_cache(maxsize=2)
def _polynomial_error(precision: Precision) -> float:
    """Return how far the polynomial as it is rounded can be from sin(π/2·x), x within −1 to 1."""
    factors = [Fraction(factor) for factor in sine_factors(precision)]
    factors[0] += 1
    # the difference to Taylor's series, as a sum of Chebyshev polynomials, is at most the sum of their factors
    count = 20
    difference = [Fraction(0)] * (2 * count)
    for k in range(count):
        taylor = (-1) ** k * (PI / 2) ** (2 * k + 1) / math.factorial(2 * k + 1)
        difference[2 * k + 1] = (factors[k] if k < len(factors) else 0) - taylor
    left_out = (PI / 2) ** (2 * count + 1) / math.factorial(2 * count + 1) + Fraction(1, 10**60)
    apart = sum(map(abs, _chebyshev(difference))) + left_out
    # roundings: of z, of every bracket, of the result; |z| and |x| are at most 1
    unit = precision.unit
    size = error = 0.0
    for k, factor in enumerate(reversed(sine_factors(precision))):
        if k == 0:
            size = abs(factor)
            continue
        error = error + size * unit  # that of z
        size = size + abs(factor)
        error += precision.rounding_error(size + error)
    error += precision.rounding_error(1.0 + 4 * unit)
    return (float(apart) + error) * (1 + 1e-9)


def _chebyshev(powers: list[Fraction]) -> list[Fraction]:
    """Return the factors of Chebyshev's polynomials that add up to a polynomial in powers."""
    found: list[Fraction] = []
    for factor in reversed(powers):  # Horner's rule: times x, plus a constant
        times_x = [Fraction(0)] * (len(found) + 1)
        for k, each in enumerate(found):
            if k == 0:
                times_x[1] += each
            else:
                times_x[k + 1] += each / 2
                times_x[k - 1] += each / 2
        times_x[0] += factor
        found = times_x
    return found

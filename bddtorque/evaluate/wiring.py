"""Words as wires carry them. Wires are free.

To gather bits into a word, to shift a word, to keep its low bits or to read its sign takes no time and no processor.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bddtorque.words.integer_range import word_range


@dataclass(frozen=True, slots=True)
class WordView:
    """A word as its reader sees it: floor(held / 2^shift)·2^scale, of which `wrap` bits are kept if it is not 0.

    Exactly one of `input`, `sources` and neither (a constant) says what is held.
    """

    sources: tuple[str, ...] = ()  # the operation that makes the word, or one operation a bit, least significant first
    bits_apart: bool = False  # whether `sources` are single bits
    signed: bool = True  # whether single bits are two's complement
    input: str | None = None  # the name of an input word (q1.., qd1.., qdd1..)
    constant: int = 0  # what is held where there is neither
    # shift, scale, wrap: see above; at least 0
    shift: int = 0
    scale: int = 0
    wrap: int = 0
    # low, high: ends of the word read
    low: int = 0
    high: int = 0


Summand = tuple[WordView, int]
"""A word, and the sign it is added with."""


def signed_digits(factor: int) -> list[tuple[int, int]]:
    """Return (power, sign) of the fewest signed digits of a whole number: its non-adjacent form, Σ sign·2^power."""
    digits, power = [], 0
    while factor:
        if factor & 1:
            sign = 2 - (factor & 3)  # 1 or −1, so that the next digit is zero
            digits.append((power, sign))
            factor -= sign
        factor >>= 1
        power += 1
    return digits


def copies(word: WordView, factor: int) -> list[Summand]:
    """Return factor·word as shifted copies of the word."""
    return [(shifted(word, -power), sign) for power, sign in signed_digits(factor)]


def shifted(word: WordView, shift: int) -> WordView:
    """Return floor(word / 2^shift), or word·2^−shift; the two do not cancel, for what is shifted out is lost."""
    if shift <= 0:
        wrap = word.wrap - shift if word.wrap else 0
        return replace(word, scale=word.scale - shift, wrap=wrap, low=word.low << -shift, high=word.high << -shift)
    if word.wrap:  # the last bit that is kept is the sign, and stays
        ends = word.low >> shift, word.high >> shift
        shift = min(shift, word.wrap - 1)
        kept = shifted(replace(word, wrap=0), shift)
        return replace(kept, wrap=word.wrap - shift, low=ends[0], high=ends[1])
    back = min(word.scale, shift)
    scale, right = word.scale - back, word.shift + shift - back
    return replace(word, scale=scale, shift=right, low=word.low >> shift, high=word.high >> shift)


def wrapped(word: WordView, bits: int) -> WordView:
    """Return the low bits of a word, two's complement."""
    low, high = word_range(bits)
    return word if low <= word.low and word.high <= high else replace(word, wrap=bits, low=low, high=high)


def sources_of_bit(word: WordView, bit: int) -> tuple[str, ...]:
    """Return what must be known to test one bit of a word."""
    if not word.bits_apart or word.shift or word.scale or word.wrap:
        return word.sources
    return (word.sources[min(bit, len(word.sources) - 1)],) if word.signed or bit < len(word.sources) else ()

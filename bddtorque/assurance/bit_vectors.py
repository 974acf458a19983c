"""Integers as terms of a bit-vector solver (SMT-LIB): what a plan means by sums, roundings and ranges."""

from __future__ import annotations

from collections.abc import Sequence

from bddtorque.assurance.c_words import CWord, constant
from bddtorque.words.integer_range import Range

WIDE = 64
"""Bits of the terms that say what a plan means: no sum or product of a plan needs more than 62."""


def wide(word: CWord) -> str:
    """Return a C number as a term of `WIDE` bits."""
    return word.as_type(WIDE, True).term


def literal(value: int) -> str:
    """Return an integer."""
    return constant(value, WIDE, True).term


def low_bits(term: str, bits: int) -> str:
    """Return the low bits of a term."""
    return f"((_ extract {bits - 1} 0) {term})"


def low_word(term: str, bits: int) -> str:
    """Return the two's complement number that the low bits of a term are."""
    return f"((_ sign_extend {WIDE - bits}) {low_bits(term, bits)})"


def times(term: str, factor: int) -> str:
    """Return a multiple."""
    return f"(bvmul {literal(factor)} {term})"


def added(terms: Sequence[str]) -> str:
    """Return a sum."""
    return f"(bvadd {' '.join(terms)})" if len(terms) > 1 else terms[0]


def rounded(term: str, shift: int) -> str:
    """Return floor(x/2^shift + 1/2)."""
    if not shift:
        return term
    return f"(bvashr {added([term, literal(1 << (shift - 1))])} {literal(shift)})"


def within(term: str, ends: Range) -> str:
    """Return the condition that a number is in a range."""
    return f"(and (bvsle {literal(ends.low)} {term}) (bvsle {term} {literal(ends.high)}))"


def clamped(term: str, ends: Range) -> str:
    """Return a number clamped to a range."""
    low, high = literal(ends.low), literal(ends.high)
    return f"(ite (bvslt {term} {low}) {low} (ite (bvsgt {term} {high}) {high} {term}))"

"""Polynomials with integer coefficients in the words of a plan: compared exactly, without a solver."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from math import prod
from operator import add, mul, sub
from typing import NamedTuple

from bddtorque.words.integer_range import Range, word_range

OPERATIONS = {"bvadd": add, "bvsub": sub, "bvmul": mul}


class Known(NamedTuple):
    """A signed word: the bits of its term, and the numbers that it can be."""

    bits: int
    range: Range


@dataclass(frozen=True)
class Polynomial:
    """A sum of products; `coefficients` has no zeros, and the names of each product are in order."""

    coefficients: Mapping[tuple[str, ...], int]

    def __add__(self, other: Polynomial) -> Polynomial:
        total = dict(self.coefficients)
        for names, coefficient in other.coefficients.items():
            total[names] = total.get(names, 0) + coefficient
        return Polynomial({names: coefficient for names, coefficient in total.items() if coefficient})

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + number(-1) * other

    def __mul__(self, other: Polynomial) -> Polynomial:
        total = number(0)
        for mine, coefficient in self.coefficients.items():
            for its, factor in other.coefficients.items():
                total += Polynomial({tuple(sorted(mine + its)): coefficient * factor})
        return total

    def replace(self, values: Mapping[str, Polynomial]) -> Polynomial:
        """Return it with polynomials in the place of some variables."""
        total = number(0)
        for names, coefficient in self.coefficients.items():
            total += prod((values.get(name, variable(name)) for name in names), start=number(coefficient))
        return total

    def range(self, known: Mapping[str, Known]) -> Range | None:
        """Return numbers that it can be, given those of its variables; nothing if one of these is not known."""
        total = Range(0, 0)
        for names, coefficient in self.coefficients.items():
            if any(name not in known for name in names):
                return None
            total += prod((known[name].range for name in names), start=Range(1, 1)) * coefficient
        return total


def number(value: int) -> Polynomial:
    """Return a constant."""
    return Polynomial({(): value} if value else {})


def variable(name: str) -> Polynomial:
    """Return a variable."""
    return Polynomial({(name,): 1})


def polynomial(term: str, known: Mapping[str, Known]) -> Polynomial | None:
    """Return a term of SMT-LIB as the integer that it would be without wrapping, its words being signed.

    The term of so many bits is that integer modulo 2^bits: sums, differences, products and shifts to the left are so by
    themselves, and low bits of such a term are. A term whose sign is extended must be the integer itself; it is, if
    the ranges of its words show that the integer fits the bits. Nothing for all other terms.
    """
    read = _read(iter(re.findall(r"[()]|[^\s()]+", term)), known)
    return read[0] if read else None


def _read(tokens: Iterator[str], known: Mapping[str, Known]) -> tuple[Polynomial, int] | None:
    """Return the next term, which is none of those that end a list, and its bits."""
    token = next(tokens)
    if token != "(":
        return (variable(token), known[token].bits) if token in known else None
    operation = next(tokens)
    if operation == "_":  # (_ bv5 32)
        value, bits = int(next(tokens).removeprefix("bv")), int(next(tokens))
        next(tokens)
        return number(value - (value >> (bits - 1) << bits)), bits
    if operation == "(":  # ((_ extract 15 0) x)
        _, operation, *numbers = iter(lambda: next(tokens), ")")
        inner = _read(tokens, known)
        next(tokens, None)
        return _cast(operation, [int(each) for each in numbers], inner, known)
    parts = []
    for token in tokens:
        if token == ")":
            break
        part = _read(chain([token], tokens), known)
        if part is None:
            return None
        parts.append(part)
    terms, bits = [each for each, _ in parts], parts[0][1]
    if operation == "bvshl" and terms[1].coefficients.keys() <= {()}:  # a constant within the word (`_shifted`)
        return number(1 << terms[1].coefficients.get((), 0)) * terms[0], bits
    if operation == "bvneg":
        return number(-1) * terms[0], bits
    return (reduce(OPERATIONS[operation], terms), bits) if operation in OPERATIONS else None


def _cast(
    operation: str, numbers: list[int], inner: tuple[Polynomial, int] | None, known: Mapping[str, Known]
) -> tuple[Polynomial, int] | None:
    if inner is None:
        return None
    whole, bits = inner
    if operation == "extract" and numbers[1] == 0:
        return whole, numbers[0] + 1
    reach = whole.range(known)
    if operation == "sign_extend" and reach is not None and reach.within(word_range(bits)):
        return whole, bits + numbers[0]
    return None

"""Polynomials with integer coefficients in the words of a plan: compared exactly, without a solver."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from math import prod
from operator import add, mul, sub

from bddtorque.words.integer_range import Range

OPERATIONS = {"bvadd": add, "bvsub": sub, "bvmul": mul}


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

    def range(self, ranges: Mapping[str, Range]) -> Range | None:
        """Return numbers that it can be, given those of its variables; nothing if one of these is not known."""
        total = Range(0, 0)
        for names, coefficient in self.coefficients.items():
            if any(name not in ranges for name in names):
                return None
            total += prod((ranges[name] for name in names), start=Range(1, 1)) * coefficient
        return total


def number(value: int) -> Polynomial:
    """Return a constant."""
    return Polynomial({(): value} if value else {})


def variable(name: str) -> Polynomial:
    """Return a variable."""
    return Polynomial({(name,): 1})


def polynomial(term: str) -> Polynomial | None:
    """Return a term of SMT-LIB as the integer that it would be without wrapping, its words being signed.

    The term is that integer modulo 2^bits. Nothing if it holds anything but sums, products, words of 32 bits (which may
    be extended by their sign) and constants.
    """
    tokens = re.findall(r"[()]|[^\s()]+", re.sub(r"\(\(_ sign_extend 32\) (\w+)\)", r"\1", term))
    place = 0

    def expression() -> Polynomial | None:
        nonlocal place
        place += 1
        token = tokens[place - 1]
        if token != "(":
            return variable(token)
        operation = tokens[place]
        if operation == "_" and re.fullmatch(r"bv\d+", tokens[place + 1]):  # (_ bv5 32)
            value, bits = int(tokens[place + 1][2:]), int(tokens[place + 2])
            place += 4
            return number(value - (value >> (bits - 1) << bits))
        if operation not in OPERATIONS:
            return None
        place += 1
        parts = []
        while tokens[place] != ")":
            part = expression()
            if part is None:
                return None
            parts.append(part)
        place += 1
        return reduce(OPERATIONS[operation], parts)

    return expression()

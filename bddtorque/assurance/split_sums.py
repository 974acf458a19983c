"""Sums of products in C: compared with the plan's by multiplying out, however C splits and rounds them.

C computes floor(total/2^shift) in steps. A sum that does not fit 32 bits is v·p + r, and floor((p + floor(r/v))/u) is
what C has; a chip of 8 bits divides by 2^11 as by 2^8 and 2^3, and takes the high half of a sum that is shifted before.
A factor w of a product may be split too, into its halves h = floor(w/c) and l = w - c·h; then p has a multiple of h·x,
and r one of l·x. A bit-vector solver does not find in useful time that these add up to w·x. Here polynomials with
integer coefficients show it exactly, without a solver. The solver proves the halves of each word once, and that C
rounds p and r as the plan rounds the total, whatever they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from itertools import chain
from math import gcd, lcm, prod
from operator import add, mul, sub
from typing import NamedTuple

from bddtorque.assurance.bit_vectors import WIDE, CWord, added, literal, low_bits, times, wide, within
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


@dataclass(frozen=True)
class Rounding:
    """A call of a helper that rounds: what it is given, what that is called, what it returns then, and its divisor."""

    inside: CWord
    name: str
    body: CWord
    unit: int

    @property
    def result(self) -> str:
        """The name of its result."""
        return f"floor_of_{self.name}"

    def definitions(self, inside: str) -> list[str]:
        """Return what declares both names, for something in the place of what it is given."""
        return [
            f"(define-fun {self.name} () (_ BitVec {self.inside.bits}) {inside})",
            f"(define-fun {self.result} () (_ BitVec {self.body.bits}) {self.body.term})",
        ]


@dataclass
class SplitSums:
    """Facts about the variables of split sums, all signed."""

    known: dict[str, Known] = field(default_factory=dict)
    """By wire, half of a wire that is proved, and result of a helper."""
    lows: dict[str, Polynomial] = field(default_factory=dict)
    """By low half that is proved: w - c·h."""
    declared: dict[str, CWord] = field(default_factory=dict)
    """Halves that the code has, proved or not."""

    def lemma(self, name: str, word: CWord) -> str | None:
        """Return what makes hw12_5 and lw12_5 the halves of w12 = 32·hw12_5 + lw12_5; nothing before both are there."""
        if word.signed:
            self.declared[name] = CWord(name, word.bits, True)
        wire, _, unit = _parts(name)
        if wire not in self.known or not self.declared.keys() >= self._halves(name).keys():
            return None
        terms = [wide(self.declared[half]) for half in self._halves(name)]
        goals = [within(term, ends) for term, ends in zip(terms, self._halves(name).values(), strict=True)]
        whole = wide(CWord(wire, self.known[wire].bits, True))
        return f"(and (= {whole} (bvadd {times(terms[1], unit)} {terms[0]})) {' '.join(goals)})"

    def accept(self, name: str) -> None:
        """Take the halves of a word as proved."""
        wire, _, unit = _parts(name)
        low, high = halves = self._halves(name)
        self.known |= {half: Known(self.declared[half].bits, ends) for half, ends in halves.items()}
        self.lows[low] = variable(wire) - number(unit) * variable(high)

    def _halves(self, name: str) -> dict[str, Range]:
        """Return the ranges of the low and the high half that a name belongs to."""
        wire, cut, unit = _parts(name)
        low, high = self.known[wire].range if wire in self.known else (0, 0)
        return {f"l{wire}_{cut}": Range(0, unit - 1), f"h{wire}_{cut}": Range(low >> cut, high >> cut)}

    def fits(self, term: str, ends: Range) -> bool:
        """Tell if the ranges of the words in a term show that it is within a range, as a signed number."""
        whole = polynomial(term, self.known)
        reach = whole.range(self.known) if whole is not None else None
        return reach is not None and reach.within(ends)

    def question(
        self, word: CWord, sums: Sequence[Rounding], total: str, shift: int, ends: Range, meant: Callable[[str], str]
    ) -> tuple[str, list[str]] | None:
        """Return what remains to be proved, with declarations; nothing if the sums are not of products of words.

        `total` has its half already, and floor(total/2^shift) is known to be within `ends`; `meant` clamps, if C does.
        What the k-th helper is given is, modulo 2^bits, a polynomial of words plus multiples of results before
        (`_apart`). Call the polynomials p_k, each divided by a power of two that divides all its coefficients. Some sum
        of multiples of them, and a constant, is `scale` times `total`: that is checked exactly, with w - c·h in the
        place of low halves. So if C gives floor(that sum/(scale·2^shift)) for all numbers p_k in the ranges of these
        polynomials for which this floor is within `ends`, then it does for all words. That is the question.
        """
        apart = self._apart(sums)
        meaning = polynomial(total, self.known)
        if apart is None or meaning is None:
            return None
        weights = _weights(sums, [carried for _, carried in apart])
        whole = sum((number(by) * part for by, (part, _) in zip(weights, apart, strict=True)), start=number(0))
        whole = whole.replace(self.lows)
        ratio = _ratio(meaning, whole)
        scale = ratio.denominator
        rest = number(scale) * meaning - number(ratio.numerator) * whole
        if scale & (scale - 1) or not rest.coefficients.keys() <= {()}:
            return "false", []  # C sums up something else
        constant = rest.coefficients.get((), 0)
        reach = Range(constant, constant)
        terms, known, free = [literal(constant)], [], []
        for k, (each, weight, (part, carried)) in enumerate(zip(sums, weights, apart, strict=True)):
            p, common, spread = f"p_{k}", _power_of_two(part), part.range(self.known)
            assert spread is not None  # `_apart` takes nothing else
            reach += spread * (weight * ratio.numerator)
            terms.append(times(p, weight * ratio.numerator * common))
            known.append(within(p, Range(spread.low // common, spread.high // common)))
            given = [times(wide(CWord(name, self.known[name].bits, True)), by) for name, by in carried.items()]
            free.append(f"(declare-const {p} (_ BitVec {WIDE}))")
            free += each.definitions(low_bits(added([times(p, common), *given]), each.inside.bits))
        if reach.magnitude >> (WIDE - 2):
            return None
        floor = f"(bvashr {added(terms)} {literal(shift + scale.bit_length() - 1)})"
        return f"(=> (and {' '.join(known)} {within(floor, ends)}) (= {wide(word)} {meant(floor)}))", free

    def _apart(self, sums: Sequence[Rounding]) -> list[tuple[Polynomial, dict[str, int]]] | None:
        """Return what each is given as a polynomial of words and multiples of results before; nothing if it is not.

        A result may be a factor of a product, if its helper does not round and its sum fits: then it is that sum.
        """
        results = [each.result for each in sums]
        same: dict[str, Polynomial] = {}
        apart = []
        for each in sums:
            inside = polynomial(each.inside.term, self.known)
            if inside is None:
                return None
            inside = inside.replace(same)
            carried = {name: inside.coefficients.get((name,), 0) for name in results}
            carried = {name: coefficient for name, coefficient in carried.items() if coefficient}
            part = inside - sum((number(by) * variable(name) for name, by in carried.items()), start=number(0))
            reach = part.range(self.known)
            if reach is None or any(name in results for names in part.coefficients for name in names):
                return None
            if (
                each.unit == 1
                and not carried
                and each.body.term == each.name
                and reach.within(word_range(each.body.bits))
            ):
                same[each.result] = part
            apart.append((part, carried))
        return apart


def _weights(sums: Sequence[Rounding], carried: Sequence[dict[str, int]]) -> list[int]:
    """Return in which proportions what each helper is given counts in the last result, were nothing rounded."""
    results = {sums[-1].result: Fraction(1)}
    for each, multiples in zip(reversed(sums), reversed(carried), strict=True):
        for name, by in multiples.items():
            results[name] = results.get(name, Fraction(0)) + results.get(each.result, Fraction(0)) / each.unit * by
    weights = [results.get(each.result, Fraction(0)) / each.unit for each in sums]
    return [int(weight * lcm(*(each.denominator for each in weights))) for weight in weights]


def _ratio(meaning: Polynomial, whole: Polynomial) -> Fraction:
    """Return what the second would have to be multiplied by to be the first and a constant."""
    for names, coefficient in whole.coefficients.items():
        if names:
            return Fraction(meaning.coefficients.get(names, 0), coefficient)
    return Fraction(1)


def _power_of_two(whole: Polynomial) -> int:
    """Return the largest power of two that divides every coefficient."""
    every = gcd(*whole.coefficients.values())
    return every & -every or 1


def _parts(name: str) -> tuple[str, int, int]:
    """Return the word that hw12_5 or lw12_5 is a half of, where that is cut, and 2 to that power."""
    wire, cut = name[1:].split("_")
    return wire, int(cut), 1 << int(cut)

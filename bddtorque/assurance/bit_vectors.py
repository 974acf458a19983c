"""Integers of C, and of plans, as terms of a bit-vector solver (SMT-LIB).

`CWord` has C's types, conversions and operators; the functions below it write what a plan means by sums, roundings and
ranges.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from typing import Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.words.integer_range import Range

LIMIT = 100_000
"""Steps of the solver for one question, counted where it asks whether to go on: no answer depends on the clock."""
TYPES = {
    "int8_t": (8, True), "int16_t": (16, True), "int32_t": (32, True), "int64_t": (64, True),
    "uint8_t": (8, False), "uint16_t": (16, False), "uint32_t": (32, False), "uint64_t": (64, False),
}  # fmt: skip
FAST = {"int_fast16_t": True, "uint_fast16_t": False}
"""Types that are as long as an `int`, and whether they are signed."""


@dataclass(frozen=True)
class CWord:
    """A C integer: its term, its bits, whether it is signed, and its value where that is a constant.

    A variable that has no value yet has no term.
    """

    term: str
    bits: int
    signed: bool
    value: int | None = None

    def as_type(self, bits: int, signed: bool) -> CWord:
        """Return the number converted to a type, modulo 2^bits."""
        if self.value is not None:
            return constant(self.value, bits, signed)
        if bits < self.bits:
            return CWord(f"((_ extract {bits - 1} 0) {self.term})", bits, signed)
        if bits > self.bits:
            extend = "sign_extend" if self.signed else "zero_extend"
            return CWord(f"((_ {extend} {bits - self.bits}) {self.term})", bits, signed)
        return CWord(self.term, bits, signed)


def constant(value: int, bits: int, signed: bool) -> CWord:
    """Return a constant of a type."""
    inside = value % (1 << bits)
    number = inside - (1 << bits) if signed and inside >> (bits - 1) else inside
    return CWord(f"(_ bv{inside} {bits})", bits, signed, number)


def is_set(word: CWord) -> str:
    """Return the condition that a number is not 0."""
    return f"(distinct {word.term} (_ bv0 {word.bits}))"


def chosen(condition: str, yes: CWord, no: CWord) -> CWord:
    """Return one of two numbers of a type."""
    if yes == no:
        return yes
    if not yes.term or not no.term:
        return CWord("", yes.bits, yes.signed)
    return CWord(f"(ite {condition} {yes.term} {no.term})", yes.bits, yes.signed)


class CArithmetic:
    """C's own conversions and operators where an `int` has `int_bits`."""

    def __init__(self, int_bits: int) -> None:
        self.int_bits = int_bits

    def binary(self, op: str, left: CWord, right: CWord, node: Any) -> CWord:
        """Return what an operator gives; `node` is where it stands in the code."""
        if op in ("<<", ">>"):  # each side is promoted by itself
            return _shifted(op, self.promoted(left), right, node)
        a, b = self.joined(left, right)
        kind = (a.bits, a.signed)
        if a.value is not None and b.value is not None:
            return self._computed(op, a, b, node)
        known = {"+": "bvadd", "-": "bvsub", "*": "bvmul", "&": "bvand", "|": "bvor", "^": "bvxor"}
        if op in known:
            return CWord(f"({known[op]} {a.term} {b.term})", *kind)
        ordered = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
        if op in ordered:
            return self._truth(f"(bv{'s' if a.signed else 'u'}{ordered[op]} {a.term} {b.term})")
        if op in ("==", "!="):
            return self._truth(f"({'=' if op == '==' else 'distinct'} {a.term} {b.term})")
        if op == "/":
            return CWord(f"(bv{'s' if a.signed else 'u'}div {a.term} {b.term})", *kind)
        raise refusal(node, f"the operator '{op}' is not understood")

    def _computed(self, op: str, a: CWord, b: CWord, node: Any) -> CWord:
        assert a.value is not None and b.value is not None
        if op in ("<", "<=", ">", ">=", "==", "!="):
            held = {"<": a.value < b.value, "<=": a.value <= b.value, ">": a.value > b.value, ">=": a.value >= b.value}
            return self.integer(int(held.get(op, (a.value == b.value) == (op == "=="))))
        values = {"+": a.value + b.value, "-": a.value - b.value, "*": a.value * b.value}
        values |= {"&": a.value & b.value, "|": a.value | b.value, "^": a.value ^ b.value}
        if op not in values:
            raise refusal(node, f"the operator '{op}' between constants is not understood")
        return constant(values[op], a.bits, a.signed)

    def integer(self, value: int) -> CWord:
        """Return a constant `int`."""
        return constant(value, self.int_bits, True)

    def _truth(self, condition: str) -> CWord:
        """Return 1 or 0, an `int`, for a condition."""
        return CWord(f"(ite {condition} {self.integer(1).term} {self.integer(0).term})", self.int_bits, True)

    def promoted(self, word: CWord) -> CWord:
        """Return a number shorter than an `int` as one."""
        return word.as_type(self.int_bits, True) if word.bits < self.int_bits else word

    def joined(self, left: CWord, right: CWord) -> tuple[CWord, CWord]:
        """Return both in the type that C computes with."""
        left, right = self.promoted(left), self.promoted(right)
        bits = max(left.bits, right.bits)
        signed = all(each.signed for each in (left, right) if each.bits == bits)
        return left.as_type(bits, signed), right.as_type(bits, signed)


def _shifted(op: str, word: CWord, by: CWord, node: Any) -> CWord:
    if by.value is None or not 0 <= by.value < word.bits:
        raise refusal(node, "a shift must be by a constant within the word")
    if word.value is not None:
        return constant(word.value << by.value if op == "<<" else word.value >> by.value, word.bits, word.signed)
    kind = "bvshl" if op == "<<" else "bvashr" if word.signed else "bvlshr"
    return CWord(f"({kind} {word.term} (_ bv{by.value} {word.bits}))", word.bits, word.signed)


def refusal(node: Any, said: str) -> BddTorqueError:
    """Return the error that says what is wrong with a piece of code, and where it is."""
    return BddTorqueError(f"{node.coord.file}, line {node.coord.line}: {said}")


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


def load_module(name: str) -> Any:
    """Return a module that the proof of C needs, or say how to install it."""
    try:
        return import_module(name)
    except ImportError:
        raise BddTorqueError(f'{name.partition(".")[0]} is not installed: pip install "bddtorque[proof]"') from None


def holds(goal: str, declarations: Sequence[str], assumed: Sequence[str]) -> bool:
    """Tell if a condition holds for all values of what is declared that meet other conditions."""
    bitwuzla = load_module("bitwuzla")
    manager = bitwuzla.TermManager()
    parser = bitwuzla.Parser(manager, bitwuzla.Options())
    conditions = [f"(assert {condition})" for condition in (*assumed, f"(not {goal})")]
    with tempfile.NamedTemporaryFile("w", suffix=".smt2") as file:
        file.write("\n".join(["(set-logic QF_UFBV)", *declarations, *conditions, ""]))
        file.flush()
        try:
            parser.parse(file.name, True)
        except bitwuzla.BitwuzlaException:  # a helper calls another, so that names of one are missing in the other
            return False
    solver, steps = parser.bitwuzla(), count()
    solver.configure_terminator(lambda: next(steps) >= LIMIT)
    return bool(solver.check_sat() == bitwuzla.Result.UNSAT)

"""Sums that C splits since they do not fit 32 bits: compared with the plan's by multiplying out.

C computes floor(total/2^shift) as floor((p + floor(r/v))/u), where total = v·p + r. A factor w of a product may be
split too, into its halves h = floor(w/c) and l = w - c·h; then p has a multiple of h·x, and r one of l·x. A bit-vector
solver does not find in useful time that these add up to w·x. Here polynomials show it exactly. The solver proves the
halves of each word once, and that C rounds p and r as the plan rounds the total, whatever they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from bddtorque.assurance.bit_vectors import WIDE, literal, low_bits, rounded, times, wide, within
from bddtorque.assurance.c_execution import Word
from bddtorque.assurance.polynomials import Polynomial, number, polynomial, variable
from bddtorque.words.integer_range import INT32, Range


@dataclass(frozen=True)
class Rounding:
    """A call of a helper that rounds: a name for what it is given, that itself, its result, and what it divides by."""

    name: str
    inside: Word
    result: str
    unit: int


def spelled_out(word: Word, sums: Sequence[Rounding]) -> Word:
    """Return a term with names of sums replaced by what they stand for, the last one first."""
    term = word.term
    for each in reversed(sums):
        term = re.sub(rf"\b{each.name}\b", lambda _, by=each.inside.term: by, term)  # type: ignore[misc]
    return replace(word, term=term)


@dataclass
class SplitSums:
    """What is known of the variables of split sums, all of type int32_t."""

    ranges: dict[str, Range] = field(default_factory=dict)
    """By wire, and by half of a wire that is proved: the numbers that it can be."""
    lows: dict[str, Polynomial] = field(default_factory=dict)
    """By low half that is proved: w - c·h."""
    declared: set[str] = field(default_factory=set)
    """Halves that the code has, proved or not."""

    def lemma(self, name: str, word: Word) -> str | None:
        """Return what makes hw12_5 and lw12_5 the halves of w12 = 32·hw12_5 + lw12_5; nothing before both are there."""
        if (word.bits, word.signed) == (32, True):
            self.declared.add(name)
        wire, _, unit = _parts(name)
        halves = self._halves(name)
        if wire not in self.ranges or not self.declared.issuperset(halves):
            return None
        low, high = (f"((_ sign_extend 32) {each})" for each in halves)
        goals = [within(term, ends) for term, ends in zip((low, high), halves.values(), strict=True)]
        return f"(and (= ((_ sign_extend 32) {wire}) (bvadd {times(high, unit)} {low})) {' '.join(goals)})"

    def accept(self, name: str) -> None:
        """Take the halves of a word as proved."""
        wire, _, unit = _parts(name)
        halves = self._halves(name)
        low, high = halves
        self.ranges |= halves
        self.lows[low] = variable(wire) - number(unit) * variable(high)

    def _halves(self, name: str) -> dict[str, Range]:
        """Return the ranges of the low and the high half that a name belongs to."""
        wire, cut, unit = _parts(name)
        ends = self.ranges.get(wire, INT32)
        return {f"l{wire}_{cut}": Range(0, unit - 1), f"h{wire}_{cut}": Range(ends.low >> cut, ends.high >> cut)}

    def question(
        self, word: Word, sums: Sequence[Rounding], total: str, shift: int, ends: Range, meant: Callable[[str], str]
    ) -> tuple[str, list[str]] | None:
        """Return what remains to be proved if C splits a sum right, with declarations; nothing if it does not.

        `total` has its half already; `meant` is of numbers that do not have it.
        """
        if len(sums) != 2 or any(each.inside.bits != 32 for each in sums):
            return None
        inner, outer = sums
        apart = polynomial(outer.inside.term.replace(inner.result, "floor_of_r"))
        r, meaning = polynomial(inner.inside.term), polynomial(total)
        if apart is None or r is None or meaning is None or (1 << shift) % (inner.unit * outer.unit):
            return None
        p, factor = apart - variable("floor_of_r"), (1 << shift) // (inner.unit * outer.unit)
        most = Range(-((1 << 60) // (inner.unit * factor)), (1 << 60) // (inner.unit * factor))
        for part, limit in ((p, most), (r, INT32)):  # r fits 32 bits, p WIDE; what is left of floor_of_r has no range
            reach = part.range(self.ranges)
            if reach is None or not reach.within(limit):
                return None
        difference = meaning - number(factor) * (number(inner.unit) * p + r)
        if difference.replace(self.lows) != number(0):
            return None
        whole = times(f"(bvadd {times('p', inner.unit)} ((_ sign_extend 32) {inner.name}))", factor)
        exact = f"(bvsub {whole} {literal(1 << shift >> 1)})"
        known = [f"(= {outer.name} (bvadd {low_bits('p', 32)} {inner.result}))", within("p", most)]
        known.append(within(rounded(exact, shift), ends))
        free = [f"(declare-const p (_ BitVec {WIDE}))"]
        free += [f"(declare-const {each.name} (_ BitVec 32))" for each in sums]
        return f"(=> (and {' '.join(known)}) (= {wide(word)} {meant(exact)}))", free


def _parts(name: str) -> tuple[str, int, int]:
    """Return the word that hw12_5 or lw12_5 is a half of, where that is cut, and 2 to that power."""
    wire, cut = name[1:].split("_")
    return wire, int(cut), 1 << int(cut)

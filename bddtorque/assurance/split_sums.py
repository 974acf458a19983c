"""Sums of products in C: compared with the plan's by multiplying out, even if C splits them to fit 32 bits.

Then C computes floor(total/2^shift) as floor((p + floor(r/v))/u), where total = v·p + r. A factor w of a product may be
split too, into its halves h = floor(w/c) and l = w - c·h; then p has a multiple of h·x, and r one of l·x. A bit-vector
solver does not find in useful time that these add up to w·x. Here polynomials show it exactly. The solver proves the
halves of each word once, and that C rounds p and r as the plan rounds the total, whatever they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from bddtorque.assurance.bit_vectors import WIDE, added, literal, low_bits, rounded, times, wide, within
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
        """Return what remains to be proved if C sums up what the plan does, with declarations; nothing if it does not.

        C may leave out a common power of two, and bits of the constant that do not count. `total` has its half already;
        `meant` is of numbers that do not have it.
        """
        outer, low, r = sums[-1], None, number(0)
        values: dict[str, Polynomial] = {}
        for each in sums[:-1]:
            inside = polynomial(each.inside.term)
            if inside is None or each.inside.bits != 32 or not self._fits(inside.replace(values), INT32):
                return None
            if each.result == each.name:  # not rounded, only brought to 32 bits
                values[each.name] = inside.replace(values)
            elif low is None and outer.inside.bits == 32:
                low, r = each, inside.replace(values)
            else:
                return None
        v = low.unit if low else 1
        apart = polynomial(outer.inside.term.replace(low.result, "floor_of_r") if low else outer.inside.term)
        meaning = polynomial(total)
        if apart is None or meaning is None or (1 << shift) % (v * outer.unit):
            return None
        p = apart.replace(values) - (variable("floor_of_r") if low else number(0))
        factor = (1 << shift) // (v * outer.unit)
        most = Range(-((1 << 60) // (v * factor)), (1 << 60) // (v * factor))
        rest = (meaning - number(factor) * (number(v) * p + r)).replace(self.lows)
        if not self._fits(p, most) or not rest.coefficients.keys() <= {()}:
            return None
        given, whole = low_bits("p", outer.inside.bits), times("p", v)
        free = [f"(declare-const p (_ BitVec {WIDE}))", f"(declare-const {outer.name} (_ BitVec {outer.inside.bits}))"]
        if low:
            given, whole = f"(bvadd {given} {low.result})", f"(bvadd {whole} ((_ sign_extend 32) {low.name}))"
            free.append(f"(declare-const {low.name} (_ BitVec 32))")
        constant = rest.coefficients.get((), 0) - (1 << shift >> 1)
        exact = added([times(whole, factor), literal(constant)])
        known = [f"(= {outer.name} {given})", within("p", most), within(rounded(exact, shift), ends)]
        return f"(=> (and {' '.join(known)}) (= {wide(word)} {meant(exact)}))", free

    def _fits(self, whole: Polynomial, ends: Range) -> bool:
        """Whether a polynomial is within a range, as far as the ranges of its variables show."""
        reach = whole.range(self.ranges)
        return reach is not None and reach.within(ends)


def _parts(name: str) -> tuple[str, int, int]:
    """Return the word that hw12_5 or lw12_5 is a half of, where that is cut, and 2 to that power."""
    wire, cut = name[1:].split("_")
    return wire, int(cut), 1 << int(cut)

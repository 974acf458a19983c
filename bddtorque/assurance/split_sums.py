"""Sums of products in C: compared with the plan's by multiplying out, however C splits and rounds them.

C computes floor(total/2^shift) in steps. A sum that does not fit 32 bits is v·p + r, and floor((p + floor(r/v))/u) is
what C has; a chip of 8 bits divides by 2^11 as by 2^8 and 2^3, and takes the high half of a sum that is shifted before.
A factor w of a product may be split too, into its halves h = floor(w/c) and l = w - c·h; then p has a multiple of h·x,
and r one of l·x. A bit-vector solver does not find in useful time that these add up to w·x. Here polynomials show it
exactly. The solver proves the halves of each word once, and that C rounds p and r as the plan rounds the total,
whatever they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm

from bddtorque.assurance.bit_vectors import WIDE, added, literal, low_bits, times, wide, within
from bddtorque.assurance.c_execution import Word
from bddtorque.assurance.polynomials import Known, Polynomial, number, polynomial, variable
from bddtorque.words.integer_range import Range, word_range


@dataclass(frozen=True)
class Rounding:
    """A call of a helper that rounds: what it is given, what that is called, what it returns then, and its divisor."""

    inside: Word
    name: str
    body: Word
    unit: int

    @property
    def result(self) -> str:
        """What its result is called."""
        return f"floor_of_{self.name}"

    def definitions(self, inside: str) -> list[str]:
        """Return what declares both names, for something in the place of what it is given."""
        return [
            f"(define-fun {self.name} () (_ BitVec {self.inside.bits}) {inside})",
            f"(define-fun {self.result} () (_ BitVec {self.body.bits}) {self.body.term})",
        ]


@dataclass
class SplitSums:
    """What is known of the variables of split sums, all signed."""

    known: dict[str, Known] = field(default_factory=dict)
    """By wire, half of a wire that is proved, and result of a helper."""
    lows: dict[str, Polynomial] = field(default_factory=dict)
    """By low half that is proved: w - c·h."""
    declared: dict[str, Word] = field(default_factory=dict)
    """Halves that the code has, proved or not."""

    def lemma(self, name: str, word: Word) -> str | None:
        """Return what makes hw12_5 and lw12_5 the halves of w12 = 32·hw12_5 + lw12_5; nothing before both are there."""
        if word.signed:
            self.declared[name] = Word(name, word.bits, True)
        wire, _, unit = _parts(name)
        if wire not in self.known or not self.declared.keys() >= self._halves(name).keys():
            return None
        terms = [wide(self.declared[half]) for half in self._halves(name)]
        goals = [within(term, ends) for term, ends in zip(terms, self._halves(name).values(), strict=True)]
        whole = wide(Word(wire, self.known[wire].bits, True))
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
        """Whether the ranges of the words in a term show that it is within a range, as a signed number."""
        whole = polynomial(term, self.known)
        reach = whole.range(self.known) if whole is not None else None
        return reach is not None and reach.within(ends)

    def question(
        self, word: Word, sums: Sequence[Rounding], total: str, shift: int, ends: Range, meant: Callable[[str], str]
    ) -> tuple[str, list[str]] | None:
        """Return what remains to be proved if C sums up what the plan does, with declarations; nothing if it does not.

        `total` has its half already, and floor(total/2^shift) is known to be within `ends`; `meant` clamps, if C does.
        `word` is made of the result of the last rounding. What the k-th is given is, modulo 2^bits, a polynomial of
        words p_k plus multiples of results of those before. If roundings did nothing but divide, `word` would be a sum
        of multiples of the p_k. This sum times 2^shift, and `total`, differ by a constant, which is checked exactly:
        both times `scale` where C shifts to the left before it rounds. So what is to be proved of all words follows
        from the same for all p_k in the ranges of these polynomials, where floor((their sum)/2^shift) is in `ends`.
        """
        apart = self._apart(sums)
        meaning = polynomial(total, self.known)
        if apart is None or meaning is None:
            return None
        weights = {sums[-1].result: Fraction(1 << shift)}
        """What a change of a result by 1 would do to the total."""
        for each, (_, carried) in zip(reversed(sums), reversed(apart), strict=True):
            weight = weights.setdefault(each.result, Fraction(0)) / each.unit
            for name, coefficient in carried.items():
                weights[name] = weights.get(name, 0) + weight * coefficient
        each_weight = [weights[each.result] / each.unit for each in sums]
        scale = lcm(*(weight.denominator for weight in each_weight))
        if scale & (scale - 1):
            return None
        rest, reach, terms, free = number(scale) * meaning, Range(0, 0), [], []
        known = []
        for k, (each, weight, (part, carried)) in enumerate(zip(sums, each_weight, apart, strict=True)):
            factor, spread = int(weight * scale), part.range(self.known)
            assert spread is not None  # all its variables are known
            common = _power_of_two(part)
            rest -= number(factor) * part
            reach += spread * factor
            terms.append(times(f"p_{k}", factor * common))
            known.append(within(f"p_{k}", Range(spread.low // common, spread.high // common)))
            given = [times(wide(Word(name, self.known[name].bits, True)), by) for name, by in carried.items()]
            free.append(f"(declare-const p_{k} (_ BitVec {WIDE}))")
            free += each.definitions(low_bits(added([times(f"p_{k}", common), *given]), each.inside.bits))
        rest = rest.replace(self.lows)
        constant = rest.coefficients.get((), 0)
        if not rest.coefficients.keys() <= {()} or (reach + Range(constant, constant)).magnitude >> (WIDE - 2):
            return None
        places = shift + scale.bit_length() - 1
        floor = f"(bvashr {added([*terms, literal(constant)])} {literal(places)})"
        return f"(=> (and {' '.join(known)} {within(floor, ends)}) (= {wide(word)} {meant(floor)}))", free

    def _apart(self, sums: Sequence[Rounding]) -> list[tuple[Polynomial, dict[str, int]]] | None:
        """Return what each is given as a polynomial of words and multiples of results before; nothing if it is not.

        A result may be a factor of a product, if its helper does not round and its sum fits: then it is that sum.
        """
        results = {each.result for each in sums}
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
            if each.unit == 1 and not carried and each.body.term == each.name and reach.within(word_range(each.body.bits)):
                same[each.result] = part
            apart.append((part, carried))
        return apart


def _power_of_two(whole: Polynomial) -> int:
    """Return the largest power of two that divides every coefficient."""
    every = gcd(*whole.coefficients.values())
    return every & -every or 1


def _parts(name: str) -> tuple[str, int, int]:
    """Return the word that hw12_5 or lw12_5 is a half of, where that is cut, and 2 to that power."""
    wire, cut = name[1:].split("_")
    return wire, int(cut), 1 << int(cut)

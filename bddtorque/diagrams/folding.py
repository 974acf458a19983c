"""Symmetry folding: half or a quarter of a table where the function is even, odd or mirrored in an input word.

A word w of n bits is two's complement; h = 2**(n-1) is half a turn if the word is an angle, q = h/2 a quarter.
A fold goes in two steps, each an exact reflection with a sign (+1 or -1):

1. about a centre c, which is 0 (even and odd functions) or q (mirrored ones: f(h - w) = ±f(w)):
   t = w - c, wrapped to n bits; f depends on m = abs(t) alone, times the first sign if -h < t < 0.
   The magnitudes 0 to h inclusive are stored: the lowest word t = -h has no mirror and keeps its own entry, unsigned.
2. (optional) about the middle of those magnitudes: m > q becomes h - m, times the second sign. Now 0 to q are stored.
   An even or odd function that is mirrored as well (sine, cosine) thus folds to a quarter wave.

A fold that does not give back every entry is not made. Folded lengths are 2**k + 1, so folded tables serve the
dense form; diagrams, which need powers of two, take whole tables.

A *rule* is one row of integers a word: ``bits, length, centre, first sign, second sign``; a sign of 0 means the step
is not made, and length is the number of entries stored along the word. An evaluator needs integer arithmetic only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.jit import inlined, njit
from bddtorque.plan.table import IntegerArray, Table, frozen

Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Folded:
    """A table stored without its mirrored parts.

    Parameters
    ----------
    values
        Shape ``(product of lengths,)``: the entries kept, the first word slowest, in the table's type.
    rules
        Shape ``(words, 5)``, int64: see the module.
    """

    values: IntegerArray
    rules: Int64Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", frozen(self.values, self.values.dtype))
        object.__setattr__(self, "rules", frozen(self.rules, np.int64))

    def __reduce__(self) -> tuple[Any, ...]:
        return Folded, (self.values, self.rules)

    @property
    def bytes(self) -> int:
        """Bytes of the values and the rules."""
        return self.values.nbytes + self.rules.nbytes


@inlined
def fold_word(word: Any, bits: Any, centre: Any, first: Any, second: Any) -> Any:
    """Return the folded index of a word (or any integer equal to it modulo 2**bits) and the sign of the entry there.

    Nothing branches on the word itself: half of the guesses of a processor would be wrong. Masks are -1 for yes and 0
    for no. The rule's numbers come one by one, since a view of its row would cost more than all of this.
    """
    full = np.int64(1) << bits
    magnitude, flip = word & (full - 1), np.int64(0)
    if first != 0:
        half = full >> 1
        signed = ((word - centre + half) & (full - 1)) - half
        below = signed >> 63
        magnitude = (signed ^ below) - below
        flip = below & (first >> 63) & ((-half - signed) >> 63)  # the lowest word keeps its sign
        beyond = (((half >> 1) - magnitude) >> 63) & ((second | -second) >> 63)
        magnitude ^= (magnitude ^ (half - magnitude)) & beyond
        flip ^= beyond & (second >> 63)
    return magnitude, 1 | flip


@njit
def folded_index(word: int, bits: int, rule: Int64Array) -> tuple[int, int]:
    """Return the folded index of a word and the sign to apply to the entry found there.

    Parameters
    ----------
    word
        The word, or any integer equal to it modulo 2**bits.
    bits
        Bits of the word.
    rule
        Shape ``(5,)``, int64: see the module.
    """
    return fold_word(word, bits, rule[2], rule[3], rule[4])  # type: ignore[no-any-return]


@inlined
def look_up_folded(index: Any, values: IntegerArray, first: Any, rules: Int64Array, rule: Any, last: Any) -> Any:
    """Return the table entry at the whole (unfolded) index; no index, however wild, reads outside the values.

    Parameters
    ----------
    index
        Concatenated input words; bits above the table's are ignored.
    values, first
        Entries kept, from `first` on.
    rules, rule, last
        The rules of the words: rows `rule` to `last` of `rules`.
    """
    place, sign, shift = np.int64(0), np.int64(1), np.int64(0)
    for word in range(rule, last):
        shift += rules[word, 0]
    for word in range(rule, last):
        bits = rules[word, 0]
        shift -= bits
        part, part_sign = fold_word(np.int64(index) >> shift, bits, rules[word, 2], rules[word, 3], rules[word, 4])
        place = place * rules[word, 1] + part
        sign *= part_sign
    return sign * values[np.uint64(first + place)]


@njit
def folded_lookup(index: int, values: IntegerArray, rules: Int64Array) -> int:
    """Return the table entry at the whole index: `look_up_folded` of arrays that hold one table alone."""
    return look_up_folded(index, values, 0, rules, 0, len(rules))  # type: ignore[no-any-return]


def fold(table: Table) -> Folded:
    """Return a table folded along every word in which it is even, odd or mirrored; other words stay whole.

    Where several folds apply, the shortest is taken, among equals the first of: even, odd, mirrored.
    """
    rules = [find_rule(table, word) for word in range(len(table.input_widths))]
    kept = table.values.reshape([1 << width for width in table.input_widths])
    for axis, rule in enumerate(rules):
        if rule[3] != 0:
            kept = kept.take(_kept_words(rule), axis)
    return Folded(np.ascontiguousarray(kept).reshape(-1), np.array(rules, np.int64))


def unfold(folded: Folded) -> IntegerArray:
    """Return the whole list of values, shape ``(2**input_bits,)``, exactly as before `fold`."""
    values = folded.values.reshape([int(rule[1]) for rule in folded.rules])
    for axis, rule in enumerate(folded.rules):
        if rule[3] != 0:
            index, negative = np.empty(1 << rule[0], np.int64), np.empty(1 << rule[0], np.bool_)
            _fold_words(rule, index, negative)
            values = values.take(index, axis)
            beside = [1] * values.ndim
            beside[axis] = -1
            np.negative(values, out=values, where=negative.reshape(beside))
    return np.ascontiguousarray(values).reshape(-1)


def find_rule(table: Table, word: int) -> tuple[int, ...]:
    """Return the rule that folds a table most along one of its input words; the one that folds nothing if none does."""
    bits = table.input_widths[word]
    inner = sum(table.input_widths[word + 1 :])
    values = table.values.reshape(-1, 1 << bits, 1 << inner)

    def holds(rule: tuple[int, ...]) -> bool:
        return bool(_gives_back(values, np.array(rule, np.int64)))

    half, quarter = 1 << (bits - 1), 1 << bits >> 2
    centres = (0, quarter) if bits > 1 else ()  # a word of one bit has nothing to mirror
    once = [(bits, half + 1, centre, sign, 0) for centre in centres for sign in (1, -1)]
    once = [rule for rule in once if holds(rule)]
    twice = [(bits, quarter + 1, centre, first, second) for _, _, centre, first, _ in once for second in (1, -1)]
    for rule in twice:
        if holds(rule):
            return rule
    return once[0] if once else (bits, 1 << bits, 0, 0, 0)


def _kept_words(rule: tuple[int, ...]) -> Int64Array:
    """Return the words, modulo 2**bits, whose entries a fold keeps, by folded index."""
    bits, length, centre = rule[:3]
    return (np.arange(length, dtype=np.int64) + centre) & ((1 << bits) - 1)


@njit
def _fold_words(rule: Int64Array, index: Int64Array, negative: npt.NDArray[np.bool_]) -> None:
    for word in range(len(index)):
        place, sign = folded_index(word, rule[0], rule)
        index[word] = place
        negative[word] = sign < 0


@njit
def _gives_back(values: IntegerArray, rule: Int64Array) -> bool:
    """Tell whether the entries that a rule keeps give back all others; values have shape (before, 2**bits, after)."""
    before, size, after = values.shape
    for i in range(before):
        for word in range(size):
            place, sign = folded_index(word, rule[0], rule)
            source = (place + rule[2]) & (size - 1)
            if source != word:
                for k in range(after):
                    # sign is an int64, so that the lowest number of a narrower type has a negative
                    if values[i, word, k] != sign * values[i, source, k]:
                        return False
    return True

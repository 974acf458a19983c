"""Questions about the shape of a function: is it odd, even or constant, in all its words or in some; which bits matter.

A symmetry is proved by the plan where that is enough (an even table of a word, a product of two odd ones), by every
state where there are few, refuted by a state; where none of these succeeds the answer says that it is open. The input
bits that matter are read from a block's diagram, shown by pairs of states, or decided by every state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import bddtorque.plan.wires as w
from bddtorque.model.model import Model
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.table import Table
from bddtorque.questions.answers import Support, Verdict
from bddtorque.questions.enumeration import EASY_BITS, every_state, random_words
from bddtorque.questions.subjects import Subject, Words, subject
from bddtorque.words.integer_range import word_range, wrap

TRIED = 1 << 14
"""Random states on which something is tried that may not hold, or every bit is turned around."""
ODD, EVEN = -1, 1
Bits = dict[str, list[int]]
"""Bits of input words by name, from the least significant (0) on."""


def symmetries(model: Model, of: str) -> list[Verdict]:
    """Return whether an output, term, word or block is constant, odd or even: in all its words, and in some of them.

    Odd means that opposite words give the opposite word; even means that they give the same one. The lowest word has
    no opposite (except for angles) and is left out, and so are unsigned words. For single words only what holds is
    listed.
    """
    asked = subject(model, of)
    every = asked.bits <= EASY_BITS
    words = every_state(asked) if every else random_words(asked.inputs, TRIED)
    results = asked.rounded(asked.total(words))
    verdicts = [_verdict(asked, "constant", words, results != results.flat[0], every)]
    names = [wire.name for wire in asked.inputs if wire.signed]
    verdicts += _parities(asked, words, names, "", every) if names else []
    for some, called in _sets(names):
        verdicts += [verdict for verdict in _parities(asked, words, some, f" in {called}", every) if verdict.holds]
    return verdicts


def _sets(names: Sequence[str]) -> Iterable[tuple[list[str], str]]:
    """Give the sets of words to be turned around: those of one array, and every word by itself."""
    if len(names) > 1:
        for array in dict.fromkeys(name.rstrip("0123456789") for name in names):
            own = [name for name in names if name.rstrip("0123456789") == array]
            if 1 < len(own) < len(names):
                yield own, f"all {array}"
        for name in names:
            yield [name], name


def _parities(asked: Subject, words: Words, names: Sequence[str], where: str, every: bool) -> list[Verdict]:
    """Return whether it is odd, and whether it is even, when some words change their sign."""
    kept, turned = dict(words), dict(words)
    for wire in asked.inputs:
        if wire.name in names:
            if not wire.wraps:  # the lowest word has no opposite
                kept[wire.name] = np.maximum(words[wire.name], wire.lowest + 1)
            turned[wire.name] = -kept[wire.name]
    here, there = (asked.rounded(asked.total(each)) for each in (kept, turned))
    proved = None if every else parity_of(asked, names)
    return [
        _verdict(asked, f"{called}{where}", kept, there != parity * here, every, proved == parity)
        for parity, called in ((ODD, "odd"), (EVEN, "even"))
    ]


def _verdict(
    asked: Subject, what: str, words: Words, wrong: npt.NDArray[np.bool_], every: bool, proved: bool = False
) -> Verdict:
    """Return whether something holds: refuted by a state where it is wrong, proved by all states or by the plan."""
    holds, witness = (True if every or proved else None), None
    if wrong.any():
        place = int(wrong.argmax())
        states = {name: np.broadcast_to(words[name], wrong.shape).flat[place] for name in words}
        holds, witness = False, {name: int(states[name]) for name in asked.formats or states if name in states}
    if every:
        way, detail = "enumeration", f"all {1 << asked.bits:,} states of its words were run"
    elif holds is False:
        way, detail = "a state", "it shows the opposite"
    elif holds:
        way, detail = "plan", "every wire of the plan has a parity, and every table was looked at"
    else:
        way, detail = "open", f"neither proved by the plan nor refuted by {TRIED:,} states"
    return Verdict(asked.name, asked.title, holds is not None, way, detail, what, holds, witness)


ODD_ANGLE = -2
"""Odd as an angle only: half a turn is its own opposite."""


class _Parities(w.Algebra[int | None]):
    """The parity of words when some inputs change their sign; None where the plan proves none.

    Roundings keep what is even; those of integers spoil what is odd, because halves go up on both sides, and those of
    floats keep it, because they are alike on both sides of zero.
    """

    def __init__(self, asked: Subject, names: Sequence[str]) -> None:
        self.tables, self.names = asked.tables, names

    def input(self, wire: w.Input) -> int:
        if wire.name not in self.names:
            return EVEN
        return ODD_ANGLE if wire.wraps else ODD

    def table(self, wire: w.Lookup, words: Sequence[int | None]) -> int | None:
        table = self.tables[wire.block]
        return _of_table(table.values, table.input_widths, [ODD if each == ODD_ANGLE else each for each in words])

    def wrapped(self, total: int | None, wire: w.AngleSum) -> int | None:
        turned = wire.constant & word_range(wire.bits).high  # nothing, or half a turn, is its own opposite
        return total if total != ODD else None if turned else ODD_ANGLE

    def product(self, wire: w.Product | w.Multiply | w.Fused, left: int | None, right: int | None) -> int | None:
        return None if left is None or right is None or ODD_ANGLE in (left, right) else left * right

    def total(self, wire: w.AngleSum | w.Sum | w.Output, terms: Sequence[tuple[int | None, int]]) -> int | None:
        parities = {word for word, _ in terms}
        if isinstance(wire, w.AngleSum):
            parities = {ODD if each == ODD_ANGLE else each for each in parities}
        elif ODD_ANGLE in parities or (ODD in parities and wire.constant):
            return None
        return parities.pop() if len(parities) == 1 else None

    def rounded(self, exact: int | None, wire: w.Product | w.Sum | w.Output) -> int | None:
        return None if exact == ODD and wire.shift else exact

    def number(self, wire: w.Number, word: int | None) -> int | None:
        return None if word == ODD_ANGLE else word

    def constant(self, wire: w.Constant) -> int:
        return EVEN

    def sine(self, wire: w.Sine, word: int | None) -> int | None:
        if word in (None, EVEN):
            return word
        return None if wire.rest else EVEN if wire.cosine else ODD

    def add(self, wire: w.Add, left: int | None, right: int | None) -> int | None:
        return left if left == right else None

    def multiply(self, wire: w.Multiply, left: int | None, right: int | None) -> int | None:
        return self.product(wire, left, right)

    def fused(self, wire: w.Fused, left: int | None, right: int | None, addend: int | None) -> int | None:
        return addend if addend == self.product(wire, left, right) else None


def parity_of(asked: Subject, names: Sequence[str]) -> int | None:
    """Return the parity of a subject's word when some words change their sign, as far as the plan proves it."""
    output = asked.output
    algebra = _Parities(asked, names)
    parity = output.evaluate(algebra, asked.plan.evaluate(algebra))
    clamped = output.low != -output.high and asked.kind == "output"  # −2048 to 2047: no mirror
    return None if parity == ODD and clamped else parity


def _of_table(values: Any, widths: Sequence[int], parities: Sequence[int | None]) -> int | None:
    """Return the parity of a table's word, from those of its index words; the lowest is its own opposite."""
    if any(each is None for each in parities):
        return None
    if all(each == EVEN for each in parities):
        return EVEN
    grid = values.reshape([1 << width for width in widths])
    turned = grid
    for axis, (width, parity) in enumerate(zip(widths, parities, strict=True)):
        if parity == ODD:
            turned = np.take(turned, (-np.arange(1 << width)) & ((1 << width) - 1), axis=axis)
    if np.array_equal(turned, grid):
        return EVEN
    return ODD if np.array_equal(turned, -grid.astype(np.int64)) else None


def support(model: Model, of: str) -> Support:
    """Return which bits of which input words matter to an output, term, word or block."""
    asked = subject(model, of)
    inputs = {wire.name: list(range(wire.bits)) for wire in asked.inputs}
    none: dict[str, list[int]] = {name: [] for name in inputs}
    if asked.kind == "block":
        table, diagram = model.tables[asked.place], model.diagrams[asked.place]
        matters, by_bit = bits_that_matter(table, diagram)
        idle = {name: [bit for bit in bits if bit not in matters[name]] for name, bits in inputs.items()}
        detail = f"read from the {diagram.node_count:,} nodes of its diagram"
        return Support(asked.name, asked.title, True, "diagram", detail, matters, idle, none, by_bit)
    unread = {name: list(range(word.bits)) for name, word in asked.formats.items() if name not in inputs}
    unread = unread if asked.kind == "output" else {}
    matters, left = _seen(asked, random_words(asked.inputs, TRIED), inputs)
    way, idle = "states", none
    if not any(left.values()):
        detail = "a pair of states shows every bit that matters"
    elif asked.bits <= EASY_BITS:
        more, idle = _seen(asked, every_state(asked), left)
        matters, left = {name: sorted(matters[name] + more[name]) for name in inputs}, none
        way, detail = "enumeration", f"all {1 << asked.bits:,} states of its words were run"
    else:
        detail = f"{TRIED:,} random states show which bits matter, but not that others do not"
    exact = not any(left.values())
    return Support(asked.name, asked.title, exact, way, detail, matters, {**idle, **unread}, left)


def _seen(asked: Subject, words: Words, bits: Bits) -> tuple[Bits, Bits]:
    """Return which of some bits matter in some of these states, and which in none."""
    here = asked.rounded(asked.total(words))
    matters: Bits = {name: [] for name in bits}
    for wire in asked.inputs:
        for bit in bits[wire.name]:
            turned = words[wire.name] ^ (1 << bit)
            turned = wrap(turned, wire.bits) if wire.signed else turned
            if (asked.rounded(asked.total({**words, wire.name: turned})) != here).any():
                matters[wire.name].append(bit)
    return matters, {name: [bit for bit in own if bit not in matters[name]] for name, own in bits.items()}


def bits_that_matter(table: Table, diagram: Diagram) -> tuple[dict[str, list[int]], list[int]]:
    """Return the bits of each input word that the diagram tests, and for each output bit how many of them."""
    tested = {variable for _, own in diagram.paths for variable in own}
    matters, first = {}, 0
    for k, width in enumerate(table.input_widths):  # variable 0 is the most significant bit of the first word
        matters[f"x{k}"] = sorted(width - 1 - (v - first) for v in tested if first <= v < first + width)
        first += width
    return matters, [len(own) for _, own in diagram.paths]

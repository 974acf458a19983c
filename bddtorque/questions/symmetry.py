"""Questions about symmetry: is it odd, even or constant, in all its words or in some.

Proved by the plan where that is enough (an even table of a word, a product of two odd ones), by every state where there
are few, refuted by a state; where none of these succeeds the answer says that it is open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bddtorque.plan.wires import Algebra, AngleSum, Input, Lookup, Output, Product, Sum
from bddtorque.questions.answers import Verdict
from bddtorque.questions.enumeration import EASY_BITS, all_words, every_word, random_words, row_of
from bddtorque.questions.subjects import Integers, State, Subject, subject
from bddtorque.words.integer_range import word_range, wrap

if TYPE_CHECKING:
    from bddtorque.model.model import Model

TRIED = 1 << 14
"""Random states on which something is tried that may not hold."""
ODD, EVEN = -1, 1


def symmetries(model: Model, of: str) -> list[Verdict]:
    """Return whether an output, term, word or block is constant, odd or even: in all its words, and in some of them.

    Odd means that the opposite words give the opposite word, even that they give the same one. The lowest word has no
    opposite, angles aside, and is left out. Of single words only what holds is listed.
    """
    asked = subject(model, of)
    whole = every_word(asked) if asked.bits <= EASY_BITS else None
    found = [_constant(asked, whole)]
    names = [wire.name for wire in asked.inputs]
    found += [_symmetric(asked, whole, names, parity, "") for parity in (ODD, EVEN)]
    for some, called in _sets(names):
        for parity in (ODD, EVEN):
            verdict = _symmetric(asked, whole, some, parity, f" in {called}")
            found += [verdict] if verdict.holds else []
    return found


def _sets(names: Sequence[str]) -> Iterable[tuple[list[str], str]]:
    """Give the sets of words to be turned around: those of one quantity, and every word by itself."""
    if len(names) > 1:
        for kind in ("q", "qd", "qdd"):
            own = [name for name in names if name.rstrip("0123456789") == kind]
            if 1 < len(own) < len(names):
                yield own, f"all {kind}"
        for name in names:
            yield [name], name


def _constant(asked: Subject, whole: Integers | None) -> Verdict:
    if whole is not None:
        holds = bool((whole == whole.flat[0]).all())
        other_place = np.unravel_index(int((whole != whole.flat[0]).argmax()), whole.shape)
        witness = None if holds else _state(asked, other_place)
        return _verdict(asked, "constant", holds, witness, "enumeration")
    words = random_words(asked.inputs, TRIED)
    results = asked.rounded(asked.total(words))
    other = np.flatnonzero(results != results[0])
    witness = row_of(words, other[0]) if len(other) else None
    return _verdict(asked, "constant", False if len(other) else None, witness, "a state" if len(other) else "open")


def _symmetric(asked: Subject, whole: Integers | None, names: Sequence[str], parity: int, where: str) -> Verdict:
    what = f"{'odd' if parity == ODD else 'even'}{where}"
    if whole is not None:
        axes = [k for k, wire in enumerate(asked.inputs) if wire.name in names]
        turned = whole
        for axis in axes:
            turned = np.take(turned, _opposites(asked.inputs[axis]), axis=axis)
        wrong = turned != parity * whole
        for axis in axes:
            if not asked.inputs[axis].wraps:  # the lowest word has no opposite
                wrong[tuple(slice(0, 1) if k == axis else slice(None) for k in range(wrong.ndim))] = False
        holds = not wrong.any()
        witness = None if holds else _state(asked, np.unravel_index(int(wrong.argmax()), wrong.shape))
        return _verdict(asked, what, holds, witness, "enumeration")
    if parity_of(asked, names) == parity:
        return _verdict(asked, what, True, None, "plan")
    words = random_words(asked.inputs, TRIED)
    turned_words = dict(words)
    for wire in asked.inputs:
        if wire.name in names:
            if not wire.wraps:
                words[wire.name] = np.maximum(words[wire.name], wire.lowest + 1)
            turned_words[wire.name] = -words[wire.name]
    here, there = (asked.rounded(asked.total(each)) for each in (words, turned_words))
    wrong = np.flatnonzero(there != parity * here)
    if len(wrong):
        witness = row_of(words, wrong[0])
        return _verdict(asked, what, False, witness, "a state")
    return _verdict(asked, what, None, None, "open")


def _opposites(wire: Input) -> Integers:
    """Return the place of each word's opposite, lowest first; the lowest word stays where it is."""
    places: Integers = wrap(-all_words(wire.bits), wire.bits) - wire.lowest
    return places


def _state(asked: Subject, places: Sequence[Any]) -> State:
    return {wire.name: int(place) + wire.lowest for wire, place in zip(asked.inputs, places, strict=True)}


def _verdict(asked: Subject, what: str, holds: bool | None, witness: State | None, way: str) -> Verdict:
    detail = {
        "enumeration": f"all {1 << asked.bits:,} states of its words were run",
        "plan": "every wire of the plan has a parity, and every table was looked at",
        "a state": "a state shows it",
        "open": f"neither proved by the plan nor refuted by {TRIED:,} states",
    }[way]
    if witness is not None and asked.formats:  # in the order of the model's words, not of the plan's
        witness = {name: witness[name] for name in asked.formats if name in witness}
    return Verdict(asked.name, asked.title, holds is not None, way, detail, what, holds, witness)


ODD_ANGLE = -2
"""Odd as an angle only: half a turn is its own opposite."""


class _Parities(Algebra[int | None]):
    """The parity of words when some inputs change their sign; None where the plan proves none.

    Roundings keep what is even; they spoil what is odd, because halves go up on both sides.
    """

    def __init__(self, asked: Subject, names: Sequence[str]) -> None:
        self.tables, self.names = asked.tables, names

    def input(self, wire: Input) -> int:
        if wire.name not in self.names:
            return EVEN
        return ODD_ANGLE if wire.wraps else ODD

    def table(self, wire: Lookup, words: Sequence[int | None]) -> int | None:
        table = self.tables[wire.block]
        return _of_table(table.values, table.input_widths, [ODD if each == ODD_ANGLE else each for each in words])

    def wrapped(self, total: int | None, wire: AngleSum) -> int | None:
        turned = wire.constant & word_range(wire.bits).high  # nothing, or half a turn, is its own opposite
        return total if total != ODD else None if turned else ODD_ANGLE

    def product(self, wire: Product, left: int | None, right: int | None) -> int | None:
        if left is None or right is None or ODD_ANGLE in (left, right):
            return None
        return EVEN if wire.left == wire.right else left * right

    def total(self, wire: AngleSum | Sum | Output, terms: Sequence[tuple[int | None, int]]) -> int | None:
        parities = {word for word, _ in terms}
        if isinstance(wire, AngleSum):
            parities = {ODD if each == ODD_ANGLE else each for each in parities}
        elif ODD_ANGLE in parities or (ODD in parities and wire.constant):
            return None
        return parities.pop() if len(parities) == 1 else None

    def rounded(self, exact: int | None, wire: Product | Sum | Output) -> int | None:
        return None if exact == ODD and wire.shift else exact


def parity_of(asked: Subject, names: Sequence[str]) -> int | None:
    """Return the parity of a subject's word when some words change their sign, as far as the plan proves it."""
    algebra, output = _Parities(asked, names), asked.output
    found = output.evaluate(algebra, asked.plan.evaluate(algebra))
    clamped = output.low != -output.high and asked.kind == "output"  # −2048 to 2047: no mirror
    return None if found == ODD and clamped else found


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

"""Every state there is, piece by piece, and random ones.

Leading words take one value at a time, the others all of theirs at once, each along an axis of its own: a wire that
depends on few words is computed for these alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from bddtorque.plan.wires import Input
from bddtorque.questions.conditions import Within
from bddtorque.questions.search_work import Work
from bddtorque.questions.subjects import Integers, State, Subject, Words
from bddtorque.words.integer_range import wrap

EASY_BITS = 22
"""Input bits of a subject whose states are run at once, whatever work is allowed: a second or so."""
MAX_BITS = 28
"""Input bits of a subject of which every state is run."""
PIECE_BITS = 20
"""States of a piece: 8 MB a word."""


@dataclass(frozen=True)
class Piece:
    """Some states: the words of each input by name, of shapes that go together to `shape`."""

    words: Words

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of the states."""
        return np.broadcast_shapes(*map(np.shape, self.words.values()))

    def state(self, index: int) -> State:
        """Return the words of one state, by its place in the piece."""
        return {name: int(np.broadcast_to(words, self.shape).flat[index]) for name, words in self.words.items()}


def words_of(wire: Input, within: Within) -> Integers:
    """Return the words that an input takes, the first one first."""
    first, last = within.get(wire.name, (wire.lowest, wire.highest))
    words = np.arange(first, last + 1, dtype=np.int64)
    return wrap(words, wire.bits) if wire.wraps else words


def states_of(inputs: Sequence[Input], within: Within) -> int:
    """Return how many states some inputs have."""
    ends = (within.get(wire.name, (wire.lowest, wire.highest)) for wire in inputs)
    return math.prod(last - first + 1 for first, last in ends)


def pieces(inputs: Sequence[Input], most_bits: int = PIECE_BITS, within: Within | None = None) -> Iterator[Piece]:
    """Give all states of some inputs, in pieces of at most 2^most_bits: each input along its own axis."""
    axes = [words_of(wire, within or {}) for wire in inputs]
    left, cut = 1 << most_bits, len(inputs)
    while cut > 0 and len(axes[cut - 1]) <= left:
        cut -= 1
        left //= len(axes[cut])
    leading: list[list[Integers]] = [list(axis.reshape(-1, 1)) for axis in axes[:cut]]
    if cut:  # the last of the leading words takes as many values at a time as there is room for
        leading[-1] = np.array_split(axes[cut - 1], math.ceil(len(axes[cut - 1]) / left))
    for fixed in product(*leading):
        grid = np.ix_(*fixed, *axes[cut:])
        yield Piece(dict(zip([wire.name for wire in inputs], grid, strict=True)))


def runs(subject: Subject, work: Work) -> Iterator[tuple[Piece, Integers]]:
    """Give as many pieces of a subject's states as work allows, with their exact sums in the shape of the piece.

    Few states are all run, whatever work is allowed.
    """
    work = work if subject.bits > EASY_BITS else Work(math.inf)
    for piece in pieces(subject.inputs, within=subject.within):
        if not work.goes_on():
            return
        yield piece, np.broadcast_to(subject.total(piece.words), piece.shape)
        work.spend(math.prod(piece.shape) * subject.steps)


def every_state(subject: Subject) -> Words:
    """Return the words of all states of a subject of few bits, each input along an axis of its own."""
    (piece,) = pieces(subject.inputs, EASY_BITS, subject.within)
    return piece.words


def random_words(inputs: Sequence[Input], count: int, within: Within | None = None) -> Words:
    """Return the words of some random states, always the same ones, (count,) each."""
    rng, within = np.random.default_rng(0), within or {}
    if not any(wire.name in within for wire in inputs):
        return {wire.name: rng.integers(wire.lowest, wire.highest + 1, count, dtype=np.int64) for wire in inputs}
    return {wire.name: rng.choice(words_of(wire, within), count) for wire in inputs}

"""Every state there is: a subject run on all its input words, piece by piece.

Leading words take one value at a time, the others all of theirs at once, each along an axis of its own: a wire that
depends on few words is computed for these alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from bddtorque.plan.wires import Input
from bddtorque.questions.subjects import Integers, State, Subject

MOST_BITS = 28
"""Input bits of a subject of which every state is run."""
PIECE_BITS = 20
"""States of a piece: 8 MB a word."""


@dataclass(frozen=True)
class Piece:
    """Some of the states: the words of each input along its own axis; one input after the other, the first slowest."""

    inputs: tuple[Input, ...]
    axes: tuple[Integers, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many words each input takes."""
        return tuple(map(len, self.axes))

    def words(self) -> dict[str, Integers]:
        """Return the words of each input, shaped to go together with the others."""
        count = len(self.axes)
        return {
            wire.name: axis.reshape([-1 if k == place else 1 for k in range(count)])
            for place, (wire, axis) in enumerate(zip(self.inputs, self.axes, strict=True))
        }

    def state(self, index: int) -> State:
        """Return the words of one state, by its place in the piece."""
        places = np.unravel_index(index, self.shape)
        return {wire.name: int(axis[place]) for wire, axis, place in zip(self.inputs, self.axes, places, strict=True)}


def all_words(bits: int) -> Integers:
    """Return the words of so many bits, lowest first."""
    return np.arange(-(1 << (bits - 1)), 1 << (bits - 1), dtype=np.int64)


def pieces(inputs: Sequence[Input], most_bits: int = PIECE_BITS) -> Iterator[Piece]:
    """Give all states of some inputs, in pieces of at most 2^most_bits."""
    if not inputs:
        yield Piece((), ())
        return
    left, cut = most_bits, len(inputs)
    while cut > 0 and inputs[cut - 1].bits <= left:
        cut -= 1
        left -= inputs[cut].bits
    axes = [all_words(wire.bits) for wire in inputs]
    leading: list[list[Integers]] = [list(axis.reshape(-1, 1)) for axis in axes[:cut]]
    if cut:  # the last of the leading words takes as many values at a time as there is room for
        leading[-1] = np.split(axes[cut - 1], len(axes[cut - 1]) >> left)
    for fixed in product(*leading):
        yield Piece(tuple(inputs), (*fixed, *axes[cut:]))


def runs(subject: Subject) -> Iterator[tuple[Piece, Integers]]:
    """Give every piece of a subject's states with their exact sums, in the shape of the piece."""
    for piece in pieces(subject.inputs):
        yield piece, np.broadcast_to(subject.total(piece.words()), piece.shape)

"""Branch and bound: the largest sum of a subject, as a state that has it and a proof that no state has more.

Boxes of input words are halved, those of the largest bound first, until the bound's word is the word of the best state
found, or the work is done. Which word of a box is halved only decides how long that takes: the one that moves the sum
most, by what was seen on random states.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bddtorque.plan.reference import run_wires
from bddtorque.proof.saturation import word_steps
from bddtorque.questions.enumeration import random_words
from bddtorque.questions.float_ranges import FloatRanges
from bddtorque.questions.search_work import Work
from bddtorque.questions.subject_kinds import Integers, State, Subject
from bddtorque.questions.wire_ranges import SumRanges, check_words

Floats = npt.NDArray[np.float64]

BoxRanges = SumRanges | FloatRanges
"""What bounds a sum over boxes."""
BATCH = 2048
"""Boxes halved at a time, at least."""
BOX_STEPS, RANGE_STEPS = 100, 8
"""Steps of keeping a box, and of the range of one of its words."""
MAX_BYTES = 300 * 2**20
"""Memory of the boxes that are open."""
STARTS, ROUNDS = 96, 3
"""Random states that the search for a good one begins at, and how often it changes every word of them."""
SEEN = 256
"""Random states on which the words' influence is seen."""


@dataclass(frozen=True)
class Bracket:
    """What is known of the largest sum.

    Attributes
    ----------
    found, state
        The largest sum found, and the state that has it.
    bound
        No state has a larger sum.
    boxes
        How many boxes were looked at.
    """

    found: int
    state: State
    bound: int
    boxes: int


@dataclass(frozen=True)
class Boxes:
    """Open boxes: ends of the words (N, inputs), and which of them are halved first: those of the highest rank (N,)."""

    low: Integers
    high: Integers
    rank: Integers

    @classmethod
    def whole(cls, subject: Subject, rank: int) -> Boxes:
        """Return the one box of all states."""
        low, high = np.array([subject.ends(wire) for wire in subject.inputs], dtype=np.int64).reshape(-1, 2).T
        return cls(low[None], high[None], np.array([rank]))

    def __getitem__(self, which: Integers) -> Boxes:
        return Boxes(self.low[which], self.high[which], self.rank[which])

    def __add__(self, other: Boxes) -> Boxes:
        pairs = zip((self.low, self.high, self.rank), (other.low, other.high, other.rank), strict=True)
        return Boxes(*(np.concatenate(pair) for pair in pairs))

    def __len__(self) -> int:
        return len(self.rank)

    def first(self) -> tuple[Boxes, Boxes]:
        """Return the boxes to halve next, and the others."""
        order = np.argsort(-self.rank, kind="stable")
        count = max(BATCH, len(self) // 16)
        return self[order[:count]], self[order[count:]]

    def ranges(self, subject: Subject, ranges: BoxRanges, work: Work) -> tuple[Integers, Integers]:
        """Return bounds of the sum over every box, (N,) each."""
        cuts = range(0, len(self), BATCH)
        found = [ranges.over(self.low[k : k + BATCH], self.high[k : k + BATCH]) for k in cuts]
        work.spend(len(self) * (BOX_STEPS + RANGE_STEPS * len(subject.plan.wires)))
        return np.concatenate([low for low, _ in found]), np.concatenate([high for _, high in found])

    def halved(self, influence: Floats) -> Boxes:
        """Return both halves of every box, each cut across the word that moves the sum most; the rank is kept."""
        rows = np.arange(len(self))
        axis = ((self.high - self.low) * influence).argmax(axis=1)
        middle = (self.low[rows, axis] + self.high[rows, axis]) >> 1
        first, second = self.high.copy(), self.low.copy()
        first[rows, axis], second[rows, axis] = middle, middle + 1
        return Boxes(self.low, first, self.rank) + Boxes(second, self.high, self.rank)

    def fits(self, work: Work) -> bool:
        """Return whether there is memory for more boxes; noted as what stopped the work where there is not."""
        if len(self) * (16 * self.low.shape[1] + 8) > MAX_BYTES:
            work.stopped = "memory"
        return not work.stopped


def boxes_looked_at(count: int) -> str:
    """Return what was done, for people."""
    return f"{count:,} box{'es' * (count != 1)} of input words looked at"


def ranges_of(subject: Subject) -> BoxRanges:
    """Return what bounds the sum of a subject over boxes."""
    return (FloatRanges if subject.plan.in_floats else SumRanges)(subject.plan, subject.tables)


def largest_sum(subject: Subject, direction: int, work: Work) -> Bracket:
    """Return a bracket of the largest sum (`direction` 1), or of minus the smallest one (−1).

    It closes, found and bound of one rounded word, unless something stops the work: then it is the bracket so far.
    """
    ranges, influence = ranges_of(subject), np.ones(len(subject.inputs))

    def bounds(boxes: Boxes) -> Integers:
        least, most = boxes.ranges(subject, ranges, work)
        return most if direction > 0 else -least

    whole = Boxes.whole(subject, 0)
    best = whole.low[0]
    with work.interruptible():
        influence = influence_of(subject)
        best = good_state(subject, direction, work)
    found = int(direction * subject.sums(best[None])[0])
    opened = Boxes(whole.low, whole.high, bounds(whole))
    looked = 1
    with work.interruptible():
        while True:
            opened = opened[np.flatnonzero(opened.rank >= _next_word(subject, found, direction))]
            if not len(opened) or not work.goes_on() or not opened.fits(work):
                break
            chosen, others = opened.first()
            halves = chosen.halved(influence)
            made = Boxes(halves.low, halves.high, bounds(halves))
            looked += len(made)
            middle = (made.low + made.high) >> 1
            tried = direction * subject.sums(middle)
            at = int(tried.argmax())
            if tried[at] > found:
                best, found = middle[at], int(tried[at])
            # a box of one state has no more than its sum
            opened = others + made[np.flatnonzero((made.low < made.high).any(axis=1))]
    if work.stopped in ("work", "time", "memory"):  # what the boxes found may be improved word by word
        with work.interruptible():
            best = good_state(subject, direction, work, best)
    found = int(direction * subject.sums(best[None])[0])
    # boxes that were left out hold no larger word, but perhaps a larger sum of the same one
    bound = max(_next_word(subject, found, direction) - 1, int(opened.rank.max(initial=found)))
    state = subject.wrapped(best[None])[0].tolist()
    return Bracket(found, dict(zip(subject.names, state, strict=True)), bound, looked)


def _next_word(subject: Subject, found: int, direction: int) -> int:
    """Return the least sum (of its direction) that has a larger word than the sum `found`; beyond all if none can."""
    word = int(subject.rounded(direction * found))
    end = subject.output.high if direction > 0 else subject.output.low
    if word == end:
        return 1 << 62
    return subject.least_total(word + 1) if direction > 0 else 1 - subject.least_total(word)


def good_state(subject: Subject, direction: int, work: Work, start: Integers | None = None) -> Integers:
    """Return a state (inputs,) of a large (`direction` 1) or small (−1) sum; no bound is proved.

    It is the best of random ones, and of `start`, each improved one word at a time.
    """
    lowest, highest = np.array([subject.ends(wire) for wire in subject.inputs], dtype=np.int64).reshape(-1, 2).T
    rng = np.random.default_rng(0 if start is None else 1)
    best = rng.integers(lowest, highest, (STARTS, len(highest)), endpoint=True)
    if start is not None:
        best[0] = start
    steps = [word_steps(wire.bits) for wire in subject.inputs]
    for _ in range(ROUNDS):
        for column, changes in enumerate(steps):
            tried = np.stack([best] * (1 + len(changes)))
            for k, change in enumerate(changes, 1):
                tried[k, :, column] = np.clip(best[:, column] + change, lowest[column], highest[column])
            sums = direction * subject.sums(tried.reshape(-1, len(highest))).reshape(tried.shape[:2])
            best = tried[sums.argmax(axis=0), np.arange(STARTS)]
    work.spend(ROUNDS * STARTS * sum(1 + len(changes) for changes in steps) * len(subject.plan.wires))
    winner: Integers = best[int((direction * subject.sums(best)).argmax())]
    return winner


def influence_of(subject: Subject) -> Floats:
    """Return how far each word moved the sum at most, a unit of the word, on some random states; (inputs,).

    Ranges believe what the plan states of its words: a word that leaves its stated range on these states is refused.
    """
    here = random_words(subject.inputs, 2 * SEEN, subject.within)
    first, other = ({name: words[half] for name, words in here.items()} for half in (slice(SEEN), slice(SEEN, None)))
    if not subject.plan.in_floats:
        check_words(subject.plan, run_wires(subject.plan, subject.tables, first))
    at = subject.total(first)
    moved = [np.abs((subject.total({**first, name: other[name]}) - at).astype(np.float64)).max() for name in first]
    lengths = [max(1, last - first) for first, last in map(subject.ends, subject.inputs)]
    return (np.array(moved) + 1.0) / lengths

"""Branch and bound: the largest sum of a subject, as a state that has it and a proof that no state has more.

Boxes of input words are halved until the bound's word is the word of the best state found, or the work is done. Which
word of a box is halved only decides how long that takes: the one that moves the sum most, by what was seen on random
states.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bddtorque.plan.reference import run_wires
from bddtorque.proof.branch_and_bound import Boxes, BranchAndBound
from bddtorque.proof.saturation import word_steps
from bddtorque.questions.box_ranges import BoxRanges, Ends, check_words
from bddtorque.questions.enumeration import random_words
from bddtorque.questions.search_work import Work
from bddtorque.questions.subjects import Integers, State, Subject

Floats = npt.NDArray[np.float64]

BATCH = 2048
"""Boxes halved at a time, at least."""
BOX_STEPS, RANGE_STEPS = 100, 8
"""Steps of keeping a box, and of the range of one of its words.

With them a million steps take about ten milliseconds: counting planar2r at 8 bits, source recursive, took 15 ms a
million (`time bddtorque ask FILE --at-least 7.8 --work 300`).
"""
MAX_BYTES = 300 * 2**20
"""Memory of the boxes that are open."""
STARTS, ROUNDS = 96, 3
"""Random states that the search for a good one begins at, and how often it changes every word of them."""
SEEN = 256
"""Random states on which the words' influence is seen."""


@dataclass(frozen=True)
class Bracket:
    """Largest sum, as far as it is known.

    Attributes
    ----------
    found, state
        The largest sum found, and the state that has it.
    bound
        No state has a larger sum.
    detail, way
        Account of the search, for people, and the method.
    """

    found: int
    state: State
    bound: int
    detail: str
    way: str = "branch and bound"


class WordBoxes:
    """Boxes of the input words of a subject, each halved across the word that moves the sum most.

    Attributes
    ----------
    looked
        Number of boxes that were looked at.
    """

    def __init__(self, subject: Subject, work: Work) -> None:
        self.subject, self.work, self.looked = subject, work, 0
        self._ranges = BoxRanges(subject.plan, subject.tables)
        self._influence = np.ones(len(subject.inputs))

    @property
    def detail(self) -> str:
        """Account of the search, for people."""
        return f"{self.looked:,} box{'es' * (self.looked != 1)} of input words looked at"

    @property
    def whole(self) -> Ends:
        """The ends (1, inputs) of the one box of all states."""
        low, high = self.subject.box
        return low[None], high[None]

    def find_influence(self) -> None:
        """Find which words move the sum most, on random states; until then all do alike."""
        self._influence = influence_of(self.subject)

    def bounded(self, low: Integers, high: Integers, bound: Integers) -> Boxes:
        """Return boxes with their bounds, and the words to halve."""
        return Boxes(low, high, bound, ((high - low) * self._influence).argmax(axis=1))

    def sums(self, low: Integers, high: Integers) -> Ends:
        """Return bounds of the sum over boxes, (N,) each."""
        found = [self._ranges.over(low[k : k + BATCH], high[k : k + BATCH]) for k in range(0, len(low), BATCH)]
        self.looked += len(low)
        self.work.spend(len(low) * (BOX_STEPS + RANGE_STEPS * len(self.subject.plan.wires)))
        least, most = (np.concatenate(ends) for ends in zip(*found, strict=True))
        return least, most

    def search(self, boxes: Boxes, aim: Callable[[], float], look: Callable[[Boxes], Boxes]) -> BranchAndBound:
        """Look at boxes until no bound is above the aim, or work or memory are used up, or somebody interrupts."""
        opened = BranchAndBound(boxes)

        def batch(count: int) -> tuple[int, int]:
            total = max(BATCH, count // 16)
            return total, total

        def goes_on() -> bool:
            if self.work.goes_on() and len(opened.boxes) * (16 * len(self.subject.inputs) + 8) > MAX_BYTES:
                self.work.stopped = "memory"
            return not self.work.stopped

        with self.work.interruptible():
            opened.run(aim, batch, look, goes_on)
        return opened


def halves(boxes: Boxes) -> Ends:
    """Return the ends of the lower halves of all boxes, then of the upper ones."""
    rows = np.arange(len(boxes))
    middle = (boxes.low[rows, boxes.axis] + boxes.high[rows, boxes.axis]) >> 1
    top, bottom = boxes.high.copy(), boxes.low.copy()
    top[rows, boxes.axis], bottom[rows, boxes.axis] = middle, middle + 1
    return np.concatenate((boxes.low, bottom)), np.concatenate((top, boxes.high))


def largest_sum(subject: Subject, direction: int, work: Work) -> Bracket:
    """Return a bracket of the largest sum (`direction` 1), or of minus the smallest one (−1).

    It closes, found and bound of one rounded word, unless something stops the work: then it is the bracket so far.
    """
    words = WordBoxes(subject, work)

    best = words.whole[0][0]
    with work.interruptible():
        words.find_influence()
        best = good_state(subject, direction, work)
    found = int(direction * subject.sums(best[None])[0])

    def bounded(low: Integers, high: Integers) -> Boxes:
        least, most = words.sums(low, high)
        return words.bounded(low, high, most if direction > 0 else -least)

    def look(boxes: Boxes) -> Boxes:
        nonlocal best, found
        parts = bounded(*halves(boxes))
        middle = (parts.low + parts.high) >> 1
        sums = direction * subject.sums(middle)
        at = int(sums.argmax())
        if sums[at] > found:
            best, found = middle[at], int(sums[at])
        return parts[(parts.low < parts.high).any(axis=1)]  # a box of one state has no more than its sum

    opened = words.search(bounded(*words.whole), lambda: _next_word(subject, found, direction) - 1, look)
    if work.stopped in ("work", "time", "memory"):  # what the boxes found may be improved word by word
        with work.interruptible():
            best = good_state(subject, direction, work, best)
    found = int(direction * subject.sums(best[None])[0])
    state = subject.wrapped(best[None])[0].tolist()
    bound = int(max(found, opened.bound))
    return Bracket(found, dict(zip(subject.names, state, strict=True)), bound, words.detail)


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
    lowest, highest = subject.box
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

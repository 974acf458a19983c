"""Branch and bound: the largest sum of a subject, as a state that has it and a proof that no state has more.

Boxes of input words are halved, those of the largest bound first, until the bound's word is the word of the best state
found, or a limit is reached. Which word of a box is halved only decides how long that takes: the one that moves the sum
most, by what was seen on random states.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bddtorque.plan.reference import run_wires
from bddtorque.questions.subjects import Integers, State, Subject
from bddtorque.questions.wire_ranges import Ranges, check_words

Floats = npt.NDArray[np.float64]

BATCH = 2048
"""Boxes halved at a time."""
MOST_BYTES = 300 * 2**20
"""Memory of the boxes that are open."""
STARTS, ROUNDS = 96, 3
"""Random states that the search for a good one begins at, and how often it changes every word of them."""
STEPS = (-(2**31), -64, -8, -1, 1, 8, 64, 2**31)
"""Changes tried on a word; the largest reach its ends."""
SEEN = 256
"""Random states on which the words' influence is seen."""

Told = Callable[[float], None]
"""Called now and then with the seconds since the last call."""


@dataclass(frozen=True)
class Bracket:
    """What is known of the largest sum.

    Attributes
    ----------
    found, state : the largest sum found, and the state that has it
    bound : no state has a larger sum
    boxes : how many boxes were looked at
    stopped : why it ended early (``"limit"``, ``"memory"`` or ``"interrupted"``); empty if it did not
    """

    found: int
    state: State
    bound: int
    boxes: int
    stopped: str


@dataclass(frozen=True)
class _Boxes:
    """Open boxes: ends of the words (N, inputs), and bounds of the sum (N,)."""

    low: Integers
    high: Integers
    bound: Integers

    def __getitem__(self, which: Integers) -> _Boxes:
        return _Boxes(self.low[which], self.high[which], self.bound[which])

    def __add__(self, other: _Boxes) -> _Boxes:
        pairs = zip((self.low, self.high, self.bound), (other.low, other.high, other.bound), strict=True)
        return _Boxes(*(np.concatenate(pair) for pair in pairs))

    def __len__(self) -> int:
        return len(self.bound)


def largest_sum(subject: Subject, direction: int, seconds: float, told: Told = lambda _: None) -> Bracket:
    """Return a bracket of the largest sum (`direction` 1), or of minus the smallest one (−1).

    It closes, found and bound of one rounded word, unless `seconds` are over, memory is full, or somebody interrupts:
    then the bracket as it is so far is returned.
    """
    ranges = Ranges(subject.plan, subject.tables)
    names = [wire.name for wire in subject.inputs]
    lowest = np.array([[-(1 << (wire.bits - 1)) for wire in subject.inputs]], dtype=np.int64)
    highest = -lowest - 1
    rng = np.random.default_rng(0)

    def sums(states: Integers) -> Integers:
        inputs = dict(zip(names, states.T, strict=True))
        return direction * np.broadcast_to(subject.total(inputs), len(states))

    def bounds(low: Integers, high: Integers) -> Integers:
        least, most = ranges.over(low, high)
        return most if direction > 0 else -least

    started = last = time.monotonic()
    best = climbed(sums, lowest[0], highest[0], rng)
    found = int(sums(best[None])[0])
    influence = influence_of(subject)
    opened = _Boxes(lowest, highest, bounds(lowest, highest))
    looked, stopped = 1, ""
    most_boxes = MOST_BYTES // (16 * max(len(names), 1) + 8)
    try:
        while True:
            opened = opened[np.flatnonzero(opened.bound >= _next_word(subject, found, direction))]
            if not len(opened):
                break
            now = time.monotonic()
            told(now - last)
            last = now
            if now - started > seconds or len(opened) > most_boxes:
                stopped = "limit" if now - started > seconds else "memory"
                break
            order = np.argsort(-opened.bound, kind="stable")
            chosen = opened[order[:BATCH]]
            halves = halved(chosen.low, chosen.high, influence)
            made = _Boxes(*halves, bounds(*halves))
            looked += len(made)
            middle = (made.low + made.high) >> 1
            tried = sums(middle)
            at = int(tried.argmax())
            if tried[at] > found:
                found, best = int(tried[at]), middle[at]
            # a box of one state has no more than its sum
            made = made[np.flatnonzero((made.low < made.high).any(axis=1))]
            opened = opened[order[BATCH:]] + made
    except KeyboardInterrupt:
        stopped, found = "interrupted", int(sums(best[None])[0])
    if stopped in ("limit", "memory"):  # what the boxes found may be improved word by word
        best = climbed(sums, lowest[0], highest[0], rng, best)
        found = int(sums(best[None])[0])
    # no open box, no larger word: what is left are sums of the same word
    bound = max(found, int(opened.bound.max(initial=found))) if stopped else _next_word(subject, found, direction) - 1
    return Bracket(found, dict(zip(names, best.tolist(), strict=True)), bound, looked, stopped)


def _next_word(subject: Subject, found: int, direction: int) -> int:
    """Return the least sum (of its direction) that has a larger word than the sum `found`; beyond all if none can."""
    word = int(subject.rounded(direction * found))
    end = subject.output.high if direction > 0 else subject.output.low
    if word == end:
        return 1 << 62
    return subject.least_total(word + 1) if direction > 0 else 1 - subject.least_total(word)


def climbed(
    sums: Callable[[Integers], Integers],
    lowest: Integers,
    highest: Integers,
    rng: np.random.Generator,
    start: Integers | None = None,
) -> Integers:
    """Return a state of a large sum: the best of random ones (and of `start`), each improved one word at a time."""
    best = rng.integers(lowest, highest, (STARTS, len(lowest)), endpoint=True)
    if start is not None:
        best[0] = start
    for _ in range(ROUNDS):
        for column in range(len(lowest)):
            tried = np.stack([best] * (1 + len(STEPS)))
            for k, change in enumerate(STEPS, 1):
                tried[k, :, column] = np.clip(best[:, column] + change, lowest[column], highest[column])
            found = sums(tried.reshape(-1, len(lowest))).reshape(tried.shape[:2])
            best = tried[found.argmax(axis=0), np.arange(STARTS)]
    winner: Integers = best[int(sums(best).argmax())]
    return winner


def state_of_large_sum(subject: Subject, direction: int) -> tuple[int, State]:
    """Return a large sum (`direction` 1), or minus a small one (−1), and the state that has it; no bound is proved."""
    names = [wire.name for wire in subject.inputs]
    highest = np.array([(1 << (wire.bits - 1)) - 1 for wire in subject.inputs], dtype=np.int64)

    def sums(states: Integers) -> Integers:
        inputs = dict(zip(names, states.T, strict=True))
        return direction * np.broadcast_to(subject.total(inputs), len(states))

    best = climbed(sums, -highest - 1, highest, np.random.default_rng(0))
    return int(sums(best[None])[0]), dict(zip(names, best.tolist(), strict=True))


def influence_of(subject: Subject) -> Floats:
    """Return how far each word moved the sum at most, a unit of the word, on some random states; (inputs,).

    Ranges believe what the plan states of its words: a word that leaves its stated range on these states is refused.
    """
    names = [wire.name for wire in subject.inputs]
    highest = np.array([(1 << (wire.bits - 1)) - 1 for wire in subject.inputs], dtype=np.int64)
    rng = np.random.default_rng(0)

    def sums(states: Integers) -> Integers:
        return np.broadcast_to(subject.total(dict(zip(names, states.T, strict=True))), len(states))

    here = rng.integers(-highest - 1, highest, (SEEN, len(highest)), endpoint=True)
    check_words(subject.plan, run_wires(subject.plan, subject.tables, dict(zip(names, here.T, strict=True))))
    at = sums(here)
    moved = np.zeros(len(highest))
    for column in range(len(highest)):
        other = here.copy()
        other[:, column] = rng.integers(-highest[column] - 1, highest[column], SEEN, endpoint=True)
        moved[column] = np.abs((sums(other) - at).astype(np.float64)).max() + 1.0
    return moved / (2 * highest + 1)


def halved(low: Integers, high: Integers, influence: Floats) -> tuple[Integers, Integers]:
    """Return both halves of boxes, each cut across the word that moves the sum most."""
    rows = np.arange(len(low))
    axis = ((high - low) * influence).argmax(axis=1)
    middle = (low[rows, axis] + high[rows, axis]) >> 1
    first, second = high.copy(), low.copy()
    first[rows, axis], second[rows, axis] = middle, middle + 1
    return np.concatenate([low, second]), np.concatenate([first, high])

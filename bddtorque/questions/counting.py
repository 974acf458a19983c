"""Count of the states of a subject whose sum is at least a threshold: of every state, by groups, or by boxes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bddtorque.proof.branch_and_bound import Boxes
from bddtorque.questions.bounding import WordBoxes, good_state, halves
from bddtorque.questions.convolving import (
    CountedWord,
    count_exactly,
    count_in_bins,
    counted,
    distinct,
    prepared,
    steps_of,
)
from bddtorque.questions.enumeration import EASY_BITS, MAX_BITS, runs
from bddtorque.questions.search_work import Work
from bddtorque.questions.separation import Group, Separation, separated
from bddtorque.questions.subjects import Integers, Subject

FIRST_LOOK = 1 / 64
"""Share of the work for a first look at some boxes."""
SAMPLED = 24
"""Values of the held words on which the work of an exact count is estimated."""
MAX_BINS, MIN_BINS = 1 << 15, 1 << 8
"""Bins of the sum where an exact count would take too long."""
BIN_STEPS = 3
"""Steps of convolving a bin of one group."""
MAX_HALVINGS = 60
"""Halvings of a box that is still larger than others."""
LISTS_BYTES = 400 * 2**20
"""Memory of lists that are kept because other states may have the same."""


class Counts(NamedTuple):
    """Bounds of a number of states, both included and equal where it is known; the way to them, and what was done."""

    low: int
    high: int
    way: str
    detail: str

    def times(self, states: int) -> Counts:
        """Return the bounds where each state stands for so many."""
        return self._replace(low=self.low * states, high=self.high * states)


def states_at_least(subject: Subject, threshold: int, work: Work) -> Counts:
    """Return how many states of all input words have a sum of at least `threshold`; bounds where work is too little."""
    return _count(subject, threshold, work).times(subject.unread)


def _count(subject: Subject, threshold: int, work: Work) -> Counts:
    if subject.bits <= EASY_BITS:
        return _enumerated(subject, threshold, work)
    # a few boxes tell where no state, or every state, is beyond the threshold
    first = work.part(FIRST_LOOK)
    easy = _in_boxes(subject, threshold, first)
    if easy.low == easy.high or work.stopped:
        return easy
    counts = easy
    with work.interruptible():
        parted = None if subject.plan.in_floats else separated(subject, work)
        own = None if parted is None else _by_groups(parted, threshold, work)
        if parted is not None and own is not None:
            counts = own.times(parted.subject.unread // subject.unread)
        elif subject.bits <= MAX_BITS:
            counts = _enumerated(subject, threshold, work)
        else:
            counts = _with_states(subject, threshold, _in_boxes(subject, threshold, work), work)
    return counts._replace(low=max(counts.low, easy.low), high=min(counts.high, easy.high))


def _with_states(subject: Subject, threshold: int, counts: Counts, work: Work) -> Counts:
    """Return bounds that know of one state on either side, where boxes left open whether there is one."""
    low, high = counts.low, counts.high
    if low == 0 and subject.sums(good_state(subject, 1, work)[None])[0] >= threshold:
        low = 1
    if high == subject.read_states and subject.sums(good_state(subject, -1, work)[None])[0] < threshold:
        high -= 1
    return counts._replace(low=low, high=high)


def _enumerated(subject: Subject, threshold: int, work: Work) -> Counts:
    """Run all states, or as many as work allows where they are many; those not run may be on either side."""
    above = run = 0
    with work.interruptible():
        for _, total in runs(subject, work):
            above += int(np.count_nonzero(total >= threshold))
            run += total.size
    left = subject.read_states - run
    much = f"{run:,} of the {subject.read_states:,}" if left else f"all {run:,}"
    return Counts(above, above + left, "enumeration", f"{much} states of its words were run")


def _by_groups(parted: Separation, threshold: int, work: Work) -> Counts | None:
    """Return the count by groups: exact where there is work for it, else in bins; None if even the lists are too much.

    All that is not counted when the work is done, or somebody interrupts, may be on either side.
    """
    low, high = parted.bounds()
    rest = math.prod(int(group.counts.sum()) for group in parted.groups)
    undecided = np.flatnonzero((low < threshold) & (high >= threshold))
    least = most = int(np.count_nonzero(low >= threshold)) * rest
    most += len(undecided) * rest
    # the same words give the same count
    columns = [words[undecided] for words in (parted.fixed, *parted.read.values())]
    (fixed, *read), times = distinct(columns) if len(undecided) else (columns, undecided)
    states = [dict(zip(parted.read, words, strict=True)) for words in np.transpose(read).tolist()] or [{}] * len(fixed)
    lists = _Lists(parted.groups)
    spare = work.left - lists.steps_for(parted, undecided)
    if spare < 0:
        return None
    exact = _estimated(lists, threshold, fixed, states) <= spare
    bins = MAX_BINS
    while bins > MIN_BINS and bins * BIN_STEPS * len(parted.groups) * len(states) > spare:
        bins >>= 1
    bin_steps = bins * BIN_STEPS * len(parted.groups)
    binned = False
    with work.interruptible():
        for k, (own, words, count) in enumerate(zip(fixed.tolist(), states, times.tolist(), strict=True)):
            if not work.goes_on():
                break
            task = prepared(lists.at(words, work), threshold - own)
            steps = 0.0
            if isinstance(task, int):
                fewest = greatest = task
            elif (steps := steps_of(task)) <= max(bin_steps, spare - (len(states) - k) * bin_steps if exact else 0):
                fewest = greatest = count_exactly(task)
            else:
                fewest, greatest = count_in_bins(lists.at(words, work), threshold - own, bins)
                binned, steps = True, bin_steps
            spare -= steps
            work.spend(steps)
            least, most = least + fewest * count, most - (rest - greatest) * count
    held = ", ".join(parted.names) or "nothing"
    detail = f"{held} held still, counts of {len(parted.groups)} groups convolved"
    return Counts(least, most, "conditioning", detail + (f" in {bins:,} bins" if binned else ""))


def _estimated(lists: _Lists, threshold: int, fixed: Integers, states: list[dict[str, int]]) -> float:
    """Return about how many steps exact counts take, by some of the states of the held words."""
    places = np.unique(np.linspace(0, len(states) - 1, SAMPLED).astype(np.int64)).tolist() if states else []
    tasks = [prepared(lists.at(states[k]), threshold - int(fixed[k])) for k in places]
    steps = [0.0 if isinstance(task, int) else steps_of(task) for task in tasks]
    return float(np.mean(steps or [0.0])) * len(states)


class _Lists:
    """The values of all groups in a state of the held words; the same words give the same list, made once."""

    def __init__(self, groups: tuple[Group, ...]) -> None:
        self._groups = groups
        self._made: dict[tuple[int, ...], CountedWord] = {}
        self._bytes = 0

    def at(self, words: dict[str, int], work: Work | None = None) -> list[CountedWord]:
        """Return the list of every group for the words that groups read."""
        lists = []
        for k, group in enumerate(self._groups):
            key = (k, *(words[name] for name in group.held))
            if key not in self._made:
                if self._bytes > LISTS_BYTES:
                    self._made, self._bytes = {}, 0
                self._made[key] = counted(group.multiples(words), group.counts, group.unit)
                self._bytes += 16 * len(self._made[key].values)
                if work is not None:
                    work.spend(group.list_steps)
            lists.append(self._made[key])
        return lists

    def steps_for(self, parted: Separation, states: Integers) -> int:
        """Return how many steps all lists of some states take to make."""
        total = 0
        for group in self._groups:
            held = [parted.read[name][states] for name in group.held]
            total += group.list_steps * (len(distinct(held)[1]) if held and len(states) else 1)
        return total


def _in_boxes(subject: Subject, threshold: int, work: Work) -> Counts:
    """Return bounds of the count: boxes are halved, the largest first, until all their states are on one side."""
    words, inside, undecided = WordBoxes(subject, work), 0, subject.read_states

    def look(boxes: Boxes) -> Boxes:
        nonlocal inside, undecided
        least, most = words.sums(boxes.low, boxes.high)
        split = (least < threshold) & (most >= threshold)
        inside += _states(boxes[least >= threshold])
        undecided -= _states(boxes[~split])
        return words.bounded(*halves(boxes[split]), np.tile(boxes.bound[split] >> 1, 2))

    with work.interruptible():
        words.find_influence()
        # in place of a bound: how large a box is, as a share of the whole
        words.search(words.bounded(*words.whole, np.array([1 << MAX_HALVINGS])), lambda: -1, look)
    return Counts(inside, inside + undecided, "branch and bound", words.detail)


def _states(boxes: Boxes) -> int:
    """Return how many states boxes have together."""
    if not len(boxes):
        return 0
    sizes, counts = np.unique(np.sort(boxes.high - boxes.low + 1, axis=1), axis=0, return_counts=True)
    return sum(math.prod(size) * count for size, count in zip(sizes.tolist(), counts.tolist(), strict=True))

"""How many states of a subject have a sum of at least a threshold: every state, by groups, or by boxes."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np

from bddtorque.questions.bounding import MOST_BYTES, Told, halved, influence_of, state_of_large_sum
from bddtorque.questions.convolving import (
    Counted,
    count_exactly,
    count_in_bins,
    counted,
    prepared,
    seconds_of,
)
from bddtorque.questions.enumeration import MOST_BITS, runs
from bddtorque.questions.groups import Group, distinct
from bddtorque.questions.separation import Separation, separated
from bddtorque.questions.subjects import Integers, Subject
from bddtorque.questions.wire_ranges import Ranges

EASY_BITS = 22
"""Input bits of a subject whose states are run at once: a second or so."""
SAMPLED = 24
"""Values of the held words on which the time of an exact count is estimated."""
BINS = 1 << 15
"""Bins of the sum where an exact count would take too long."""
LISTS_BYTES = 400 * 2**20
"""Memory of lists that are kept because other states may have the same."""
SEPARATING = 0.5
"""Share of the time that finding groups, and the tuples of words in them, may take."""
HOPELESS = 4.0
"""Times the limit that lists may take: beyond it most states would be left open, and boxes do better."""
BATCH = 4096
"""Boxes halved at a time."""


@dataclass(frozen=True)
class Counts:
    """Bounds of a number of states, and how they were found; equal where the number is known.

    Attributes
    ----------
    low, high : both included
    way : ``"enumeration"``, ``"conditioning"`` or ``"branch and bound"``
    detail : what was done, for people
    interrupted : whether somebody stopped it
    """

    low: int
    high: int
    way: str
    detail: str
    interrupted: bool = False

    def within(self, other: Counts) -> Counts:
        """Return the bounds that hold where those of both do."""
        return replace(self, low=max(self.low, other.low), high=min(self.high, other.high))


def states_at_least(subject: Subject, threshold: int, seconds: float, told: Told = lambda _: None) -> Counts:
    """Return how many states of all input words have a sum of at least `threshold`; bounds after about `seconds`."""
    found = _count(subject, threshold, seconds, told)
    return replace(found, low=found.low << subject.unread, high=found.high << subject.unread)


def _count(subject: Subject, threshold: int, seconds: float, told: Told) -> Counts:
    if subject.bits <= EASY_BITS:
        return _enumerated(subject, threshold, math.inf, told)
    end = time.monotonic() + seconds
    # a few boxes tell where no state, or every state, is beyond the threshold
    easy = _in_boxes(subject, threshold, 0.2, told)
    if easy.low == easy.high or easy.interrupted:
        return easy
    try:
        parted = separated(subject, seconds * SEPARATING)
        if parted is not None:
            own = _by_groups(parted, threshold, end - time.monotonic(), told)
            if own is not None:
                more = parted.subject.unread - subject.unread
                return replace(own, low=own.low << more, high=own.high << more).within(easy)
    except KeyboardInterrupt:
        return replace(easy, detail=f"{easy.detail}; interrupted", interrupted=True)
    if subject.bits <= MOST_BITS:
        return _enumerated(subject, threshold, end - time.monotonic(), told).within(easy)
    found = _in_boxes(subject, threshold, end - time.monotonic(), told).within(easy)
    return found if found.interrupted else _with_states(subject, threshold, found)


def _with_states(subject: Subject, threshold: int, found: Counts) -> Counts:
    """Return bounds that know of one state on either side, where boxes left open whether there is one."""
    low, high = found.low, found.high
    if low == 0 and state_of_large_sum(subject, 1)[0] >= threshold:
        low = 1
    if high == 1 << subject.bits and -state_of_large_sum(subject, -1)[0] < threshold:
        high -= 1
    return replace(found, low=low, high=high)


def _enumerated(subject: Subject, threshold: int, seconds: float, told: Told) -> Counts:
    """Run every state; those that time is too short for may be on either side."""
    found, run, stopped = 0, 0, ""
    started = last = time.monotonic()
    try:
        for _, total in runs(subject):
            found += int(np.count_nonzero(total >= threshold))
            run += total.size
            now = time.monotonic()
            told(now - last)
            last = now
            if now - started > seconds:
                break
    except KeyboardInterrupt:
        stopped = "; interrupted"
    left = (1 << subject.bits) - run
    much = f"{run:,} of the {1 << subject.bits:,}" if left else f"all {run:,}"
    detail = f"{much} states of its words were run{stopped}"
    return Counts(found, found + left, "enumeration", detail, bool(stopped))


def _by_groups(
    parted: Separation, threshold: int, seconds: float, told: Told, exact: bool | None = None
) -> Counts | None:
    """Return the count by groups: exact if that is done in time, else in bins; None if even that takes far too long.

    When time is over, or somebody interrupts, what is not counted yet may be on either side.
    """
    end = time.monotonic() + seconds
    low, high = parted.bounds()
    rest = 1 << sum(int(group.counts.sum()).bit_length() - 1 for group in parted.groups)
    inside, undecided = np.count_nonzero(low >= threshold), np.flatnonzero((low < threshold) & (high >= threshold))
    lists = _Lists(parted.groups)
    counting, listing = _estimated(parted, lists, threshold, undecided, time.monotonic() + seconds / 4)
    if listing > HOPELESS * seconds:
        return None
    if exact is None:
        exact = counting + listing <= seconds
    pace = _Pace(time.monotonic(), end, len(undecided))
    least = most = int(inside) * rest
    known: dict[tuple[int, ...], tuple[int, int]] = {}
    last = time.monotonic()
    binned = done = 0
    stopped = ""
    try:
        for k in undecided.tolist():
            key = (int(parted.fixed[k]), *parted.words_at(k).values())
            if key not in known:
                now = time.monotonic()
                told(now - last)
                last = now
                if now > end:
                    stopped = "; stopped by the limit"
                    break
                exact = exact and pace.kept(done, now)
                known[key] = _of_lists(lists.at(parted, k), threshold - key[0], end - now if exact else 0.0)
                binned += known[key][0] != known[key][1]
            least, most, done = least + known[key][0], most + known[key][1], done + 1
    except KeyboardInterrupt:
        stopped = "; interrupted"
    most += (len(undecided) - done) * rest
    held = ", ".join(parted.names) or "nothing"
    detail = f"{held} held still, counts of {len(parted.groups)} groups convolved"
    detail += (f" in {BINS:,} bins" if binned else "") + stopped
    return Counts(least, most, "conditioning", detail, stopped == "; interrupted")


def _estimated(
    parted: Separation, lists: _Lists, threshold: int, undecided: Integers, end: float
) -> tuple[float, float]:
    """Return about how many seconds exact counts take, and lists for them, by some states looked at until `end`."""
    times = []
    for k in _some(undecided):
        task = prepared(lists.at(parted, k), threshold - int(parted.fixed[k]))
        times.append(0.0 if isinstance(task, int) else seconds_of(task))
        if time.monotonic() > end:
            break
    return float(np.mean(times or [0.0])) * len(undecided), lists.seconds_for(parted, undecided)


@dataclass(frozen=True)
class _Pace:
    """Whether exact counts go on fast enough to be done when time is over; the estimate may have been wrong."""

    started: float
    end: float
    total: int

    def kept(self, done: int, now: float) -> bool:
        """Return whether so many counts at a moment are enough; nobody knows in the first half of the time."""
        spent, seconds = now - self.started, self.end - self.started
        return spent < seconds / 2 or spent * self.total < 1.2 * seconds * done


def _of_lists(lists: list[Counted], threshold: int, seconds: float) -> tuple[int, int]:
    """Return bounds of the count: exact where that takes no longer than some seconds."""
    task = prepared(lists, threshold)
    if isinstance(task, int):
        return task, task
    if seconds_of(task) > seconds:
        return count_in_bins(lists, threshold, BINS)
    found = count_exactly(task)
    return found, found


class _Lists:
    """The values of all groups in a state of the held words; the same words give the same list, made once."""

    def __init__(self, groups: tuple[Group, ...]) -> None:
        self._groups = groups
        self._made: dict[tuple[int, ...], Counted] = {}
        self._bytes = 0
        self._spent = [0.0] * len(groups)
        self._count = [0] * len(groups)

    def at(self, parted: Separation, state: int) -> list[Counted]:
        """Return the list of every group in one state of the held words, given by its place among all of them."""
        words = parted.words_at(state)
        found = []
        for k, group in enumerate(self._groups):
            key = (k, *(words[name] for name in group.held))
            if key not in self._made:
                if self._bytes > LISTS_BYTES:
                    self._made, self._bytes = {}, 0
                started = time.monotonic()
                self._made[key] = counted(group.multiples(words), group.counts, group.unit)
                self._bytes += 16 * len(self._made[key].values)
                self._spent[k] += time.monotonic() - started
                self._count[k] += 1
            found.append(self._made[key])
        return found

    def seconds_for(self, parted: Separation, states: Integers) -> float:
        """Return about how long all lists of some states take to make, by those that were made so far."""
        total = 0.0
        for group, spent, count in zip(self._groups, self._spent, self._count, strict=True):
            if count:
                held = [parted.read[name][states] for name in group.held]
                total += spent / count * (len(distinct(held)[1]) if held else 1)
        return total


def _some(places: Integers) -> list[int]:
    """Return some places, evenly spread."""
    return places[np.unique(np.linspace(0, len(places) - 1, SAMPLED).astype(np.int64))].tolist() if len(places) else []


def _in_boxes(subject: Subject, threshold: int, seconds: float, told: Told) -> Counts:
    """Return bounds of the count: boxes are halved, the largest first, until all their states are on one side."""
    ranges, inputs = Ranges(subject.plan, subject.tables), subject.inputs
    low = np.array([[-(1 << (wire.bits - 1)) for wire in inputs]], dtype=np.int64)
    high = -low - 1
    sizes = np.array([sum(wire.bits for wire in inputs)])  # bits: a box is a power of two of states
    inside, undecided = 0, 1 << int(sizes[0])
    weight = influence_of(subject)
    started = last = time.monotonic()
    looked = 0
    most_boxes = MOST_BYTES // (16 * max(len(inputs), 1) + 8)
    try:
        while len(sizes):
            least, most = ranges.over(low[:BATCH], high[:BATCH])
            looked += len(least)
            here = sizes[:BATCH]
            all_in, split = least >= threshold, (least < threshold) & (most >= threshold)
            inside += _states(here[all_in])
            undecided -= _states(here[~split])
            halves = halved(low[:BATCH][split], high[:BATCH][split], weight)
            low, high = np.concatenate([low[BATCH:], halves[0]]), np.concatenate([high[BATCH:], halves[1]])
            sizes = np.concatenate([sizes[BATCH:], np.tile(here[split] - 1, 2)])
            order = np.argsort(-sizes, kind="stable")
            low, high, sizes = low[order], high[order], sizes[order]
            now = time.monotonic()
            told(now - last)
            last = now
            if now - started > seconds or len(sizes) > most_boxes:
                break
    except KeyboardInterrupt:
        detail = f"{looked:,} boxes looked at; interrupted"
        return Counts(inside, inside + undecided, "branch and bound", detail, True)
    return Counts(
        inside, inside + undecided, "branch and bound", f"{looked:,} box{'es' * (looked > 1)} of input words looked at"
    )


def _states(bits: Integers) -> int:
    """Return how many states boxes of so many bits have together."""
    return sum(count << bit for bit, count in enumerate(np.bincount(bits).tolist()))

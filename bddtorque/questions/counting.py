"""How many states of a subject have a sum of at least a threshold: every state, by groups, or by boxes."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

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
from bddtorque.questions.groups import Group
from bddtorque.questions.ranges import Ranges
from bddtorque.questions.separation import Separation, separated
from bddtorque.questions.subjects import Integers, Subject

EASY_BITS = 22
"""Input bits of a subject whose states are run at once: a second or so."""
SAMPLED = 24
"""Values of the held words on which the time of an exact count is estimated."""
BINS = 1 << 15
"""Bins of the sum where an exact count would take too long."""
LISTS_BYTES = 400 * 2**20
"""Memory of lists that are kept because other states may have the same."""
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
    """

    low: int
    high: int
    way: str
    detail: str


def states_at_least(subject: Subject, threshold: int, seconds: float, told: Told = lambda _: None) -> Counts:
    """Return how many states of all input words have a sum of at least `threshold`; bounds after about `seconds`."""
    found = _count(subject, threshold, seconds, told)
    return Counts(found.low << subject.unread, found.high << subject.unread, found.way, found.detail)


def _count(subject: Subject, threshold: int, seconds: float, told: Told) -> Counts:
    if subject.bits <= EASY_BITS:
        return _enumerated(subject, threshold, told)
    started = time.monotonic()
    # a few boxes tell where no state, or every state, is beyond the threshold
    easy = _in_boxes(subject, threshold, 0.2, told)
    if easy.low == easy.high or "interrupted" in easy.detail:
        return easy
    parted = separated(subject)
    if parted is not None:
        left = seconds - (time.monotonic() - started)
        own = _by_groups(parted, threshold, left, told)
        more = parted.subject.unread - subject.unread
        return Counts(own.low << more, own.high << more, own.way, own.detail)
    if subject.bits <= MOST_BITS:
        return _enumerated(subject, threshold, told)
    found = _in_boxes(subject, threshold, seconds - (time.monotonic() - started), told)
    return found if "interrupted" in found.detail else _with_states(subject, threshold, found)


def _with_states(subject: Subject, threshold: int, found: Counts) -> Counts:
    """Return bounds that know of one state on either side, where boxes left open whether there is one."""
    low, high = found.low, found.high
    if low == 0 and state_of_large_sum(subject, 1)[0] >= threshold:
        low = 1
    if high == 1 << subject.bits and -state_of_large_sum(subject, -1)[0] < threshold:
        high -= 1
    return Counts(low, high, found.way, found.detail)


def _enumerated(subject: Subject, threshold: int, told: Told) -> Counts:
    found, last = 0, time.monotonic()
    for _, total in runs(subject):
        found += int(np.count_nonzero(total >= threshold))
        now = time.monotonic()
        told(now - last)
        last = now
    return Counts(found, found, "enumeration", f"all {1 << subject.bits:,} states of its words were run")


def _by_groups(parted: Separation, threshold: int, seconds: float, told: Told) -> Counts:
    """Return the count by groups: exact if that is done in time, else in bins."""
    low, high = parted.bounds()
    rest = 1 << sum(int(group.counts.sum()).bit_length() - 1 for group in parted.groups)
    inside, undecided = np.count_nonzero(low >= threshold), np.flatnonzero((low < threshold) & (high >= threshold))
    lists = _Lists(parted.groups)
    tasks = (prepared(lists.at(parted, k), threshold - int(parted.fixed[k])) for k in _some(undecided))
    times = [0.0 if isinstance(task, int) else seconds_of(task) for task in tasks]
    exact = not times or float(np.mean(times)) * len(undecided) <= seconds
    least = most = int(inside) * rest
    known: dict[tuple[int, ...], tuple[int, int]] = {}
    started = last = time.monotonic()
    binned = 0
    for k in undecided.tolist():
        words = parted.words_at(k)
        key = (int(parted.fixed[k]), *words.values())
        if key not in known:
            now = time.monotonic()
            told(now - last)
            last = now
            exact = exact and now - started < 2 * seconds  # the estimate was wrong
            known[key] = _of_lists(lists.at(parted, k), threshold - key[0], exact)
            binned += known[key][0] != known[key][1]
        least, most = least + known[key][0], most + known[key][1]
    held = ", ".join(parted.names) or "nothing"
    detail = f"{held} held still, counts of {len(parted.groups)} groups convolved"
    return Counts(least, most, "conditioning", detail + (f" in {BINS:,} bins" if binned else ""))


def _of_lists(lists: list[Counted], threshold: int, exact: bool) -> tuple[int, int]:
    task = prepared(lists, threshold)
    if isinstance(task, int):
        return task, task
    if not exact or seconds_of(task) == math.inf:
        return count_in_bins(lists, threshold, BINS)
    found = count_exactly(task)
    return found, found


class _Lists:
    """The values of all groups in a state of the held words; the same words give the same list, made once."""

    def __init__(self, groups: tuple[Group, ...]) -> None:
        self._groups = groups
        self._made: dict[tuple[int, ...], Counted] = {}
        self._bytes = 0

    def at(self, parted: Separation, state: int) -> list[Counted]:
        words = parted.words_at(state)
        found = []
        for k, group in enumerate(self._groups):
            key = (k, *(words[name] for name in group.held))
            if key not in self._made:
                if self._bytes > LISTS_BYTES:
                    self._made, self._bytes = {}, 0
                self._made[key] = counted(group.multiples(words), group.counts, group.unit)
                self._bytes += 16 * len(self._made[key].values)
            found.append(self._made[key])
        return found


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
        return Counts(inside, inside + undecided, "branch and bound", f"{looked:,} boxes looked at; interrupted")
    return Counts(
        inside, inside + undecided, "branch and bound", f"{looked:,} box{'es' * (looked > 1)} of input words looked at"
    )


def _states(bits: Integers) -> int:
    """Return how many states boxes of so many bits have together."""
    return sum(count << bit for bit, count in enumerate(np.bincount(bits).tolist()))

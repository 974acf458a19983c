"""Separable sums: with a few shared words held still, the summands fall apart into groups that share none.

    tau1 of planar2r, q2 held still:  A(qdd1) + B(qdd2) + C(qd1, qd2) + D(q1)

Then extremes add, and counts convolve (`convolving.py`). The groups are read from the plan: which wires depend on which
inputs, nothing else. Three steps make them small:

- a sum of angles that is the only reader of one of them is a free word itself: q1 + q2 takes every value equally often,
  whatever q2 is, if q1 is read nowhere else;
- sums that are not rounded are taken apart into their summands;
- of the words inside a group only those matter that meet the words held still: C depends on q̇1 and q̇2 through two words
  with half a million pairs of values, found once, in place of sixteen million states.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from bddtorque.plan.plan import Plan
from bddtorque.plan.reference import run_sum, run_wires
from bddtorque.plan.table import Table
from bddtorque.plan.wires import AngleSum, Input, Sum
from bddtorque.questions.box_ranges import BoxRanges
from bddtorque.questions.convolving import distinct
from bddtorque.questions.enumeration import Piece, pieces
from bddtorque.questions.search_work import Work
from bddtorque.questions.subjects import Integers, Subject, sliced, unclamped

MAX_HELD_BITS = 16
"""Bits of the words held still."""
MAX_GROUP_BITS = 24
"""Bits of the words of one group."""
TUPLE_STEPS = 25
"""Steps of a state of a group whose tuple is found."""
SEPARATING = 0.5
"""Share of the work that finding the tuples of all groups may take."""
MAX_HELD = 3
"""Words held still."""
MAX_COUNTED_BITS = 62
"""Bits of all groups together: their counts, and products of them, stay within int64."""
MAX_EXACT_TUPLES = 1 << 14
"""Tuples of a group whose extremes are found by trying them all, for every state of the held words."""
MAX_EXACT_SUMS = 1 << 27
"""Sums of all these together that are tried: about two seconds."""
LIST_STEPS = 2
"""Steps of finding one of the sums, and of counting it."""
MAX_AT_ONCE = 1 << 20
"""Sums tried at a time."""


@dataclass(frozen=True)
class Group:
    """Summands that share words with one another, and with no other group but words that are held still.

    Attributes
    ----------
    plan
        Their sum, from the words of the tuples and the held words.
    tables
        As those of the subject.
    tuples
        The distinct tuples of words that states of the group give, a name each.
    total
        The sum of the summands that no held word meets, for each tuple, in units.
    counts
        Number of states that give each tuple, int64.
    held
        The wires of the held words that its plan reads.
    unit
        Common divisor of all sums of the group.
    """

    plan: Plan
    tables: tuple[Table, ...]
    tuples: dict[str, Integers]
    total: Integers
    counts: Integers
    held: tuple[str, ...]
    unit: int

    @property
    def list_steps(self) -> int:
        """Steps of making the list of its sums for one state of the held words."""
        return len(self.counts) * LIST_STEPS

    def multiples(self, held: Mapping[str, Any]) -> Integers:
        """Return the sums of the group in units, for each tuple along the last axis, and states of the held words."""
        inputs = {**self.tuples, **{name: np.asarray(held[name]) for name in self.held}}
        return run_sum(self.plan.outputs[0], run_wires(self.plan, self.tables, inputs)) + self.total

    def bounds(self, read: dict[str, Integers], states: int) -> tuple[Integers, Integers]:
        """Return bounds of the group's sum for all states of the held words; those of small groups are exact.

        `read` are the words that groups read in each of the `states`.
        """
        if not self.held:
            sums = self.multiples({}) * self.unit
            return np.full(states, sums.min()), np.full(states, sums.max())
        rows, place = np.unique(np.stack([read[name] for name in self.held]), axis=1, return_inverse=True)
        exact = len(self.counts) <= MAX_EXACT_TUPLES and len(self.counts) * rows.shape[1] <= MAX_EXACT_SUMS
        low, high = (self._extremes if exact else self._ranges)(rows)
        return low[place.reshape(-1)] * self.unit, high[place.reshape(-1)] * self.unit

    def _extremes(self, rows: Integers) -> tuple[Integers, Integers]:
        low, high = np.empty(rows.shape[1], dtype=np.int64), np.empty(rows.shape[1], dtype=np.int64)
        step = max(1, MAX_AT_ONCE // len(self.counts))
        for first in range(0, rows.shape[1], step):
            some = slice(first, first + step)
            held = {name: row[some, None] for name, row in zip(self.held, rows, strict=True)}
            sums = self.multiples(held)
            low[some], high[some] = sums.min(axis=1), sums.max(axis=1)
        return low, high

    def _ranges(self, rows: Integers) -> tuple[Integers, Integers]:
        known = dict(zip(self.held, rows, strict=True))
        inputs = [wire.name for wire in self.plan.inputs]
        ends = []
        for end in (np.min, np.max):
            same = {name: np.full(rows.shape[1], end(words)) for name, words in self.tuples.items()}
            ends.append(np.stack([{**same, **known}[name] for name in inputs], axis=1))
        low, high = BoxRanges(self.plan, self.tables).over(*ends)
        return low + self.total.min(), high + self.total.max()


@dataclass(frozen=True)
class Separation:
    """A subject's sum as a sum of groups.

    Attributes
    ----------
    subject
        With angle sums that are free words as inputs of their own.
    names
        The words held still.
    groups
        The groups that fall apart.
    read
        The words that groups read of them, (states,) each, by wire.
    fixed
        Part of the sum that they fix: its constant, and summands of held words alone, (states,).
    """

    subject: Subject
    names: tuple[str, ...]
    groups: tuple[Group, ...]
    read: dict[str, Integers]
    fixed: Integers

    def bounds(self) -> tuple[Integers, Integers]:
        """Return bounds of the whole sum for every state of the held words, (states,) each."""
        low, high = self.fixed.copy(), self.fixed.copy()
        for group in self.groups:
            own = group.bounds(self.read, len(self.fixed))
            low, high = low + own[0], high + own[1]
        return low, high


def separated(subject: Subject, work: Work) -> Separation | None:
    """Return a subject's sum as a sum of groups, or None where no few words separate it, or that is too much work."""
    subject = flattened(freed(subject))
    names = _held_words(subject, work.left * SEPARATING / TUPLE_STEPS)
    if names is None:
        return None
    support = supports(subject.plan)
    bit = {wire.name: 1 << k for k, wire in enumerate(subject.inputs)}
    mask = sum(bit[name] for name in names)
    parted = _components(subject, support, mask)
    groups, wanted = [], set()
    for own, parts in parted:
        group, read = _group(subject, support, mask, own, parts)
        groups.append(group)
        wanted |= read
        own_ends = [subject.ends(wire) for k, wire in enumerate(subject.inputs) if own >> k & 1]
        work.spend(TUPLE_STEPS * math.prod(last - first + 1 for first, last in own_ends))
    fixed = tuple(part for part in subject.output.parts if not support[part[0]] & ~mask)
    return Separation(subject, names, tuple(groups), *_held_states(subject, names, sorted(wanted), fixed))


def supports(plan: Plan) -> list[int]:
    """Return which inputs each wire depends on, a bit for each input in their order."""
    masks: list[int] = []
    count = 0
    for wire in plan.wires:
        if isinstance(wire, Input):
            masks.append(1 << count)
            count += 1
        else:
            own = 0
            for source in wire.sources:
                own |= masks[source]
            masks.append(own)
    return masks


def freed(subject: Subject) -> Subject:
    """Return the subject with angle sums as inputs where they are the only reader of one of their words."""
    plan = subject.plan
    readers: list[list[int]] = [[] for _ in plan.wires]
    for k, wire in enumerate(plan.wires):
        for source in wire.sources:
            readers[source].append(k)
    summed = {wire for wire, _ in plan.outputs[0].parts}
    given = {}
    for k, wire in enumerate(plan.wires):
        if isinstance(wire, AngleSum):
            for source, multiplier, shift in wire.parts:
                own = plan.wires[source]
                alone = isinstance(own, Input) and readers[source] == [k] and source not in summed
                # an odd multiple of a word takes every value once
                free = alone and own.name not in subject.within
                if free and multiplier & 1 and not shift and own.bits == wire.bits:  # type: ignore[union-attr]
                    given[k] = Input(wire.name, wire.bits, True)
    names = [wire.name for wire in (*subject.inputs, *given.values())]
    if not given or len(set(names)) < len(names):
        return subject
    return _with_plan(subject, sliced(plan, subject.output, given))


def flattened(subject: Subject) -> Subject:
    """Return the subject with sums that are not rounded taken apart into their summands."""
    plan, output = subject.plan, subject.output
    factors: dict[int, int] = {}
    constant = output.constant
    waiting = list(output.parts)
    while waiting:
        wire, factor = waiting.pop()
        step = plan.wires[wire]
        if isinstance(step, Sum) and not step.shift:
            waiting += [(source, factor * own) for source, own in step.parts]
            constant += factor * step.constant
        else:
            factors[wire] = factors.get(wire, 0) + factor
    parts = tuple(sorted((wire, factor) for wire, factor in factors.items() if factor))
    return _with_plan(subject, sliced(plan, replace(output, parts=parts, constant=constant)))


def _with_plan(subject: Subject, plan: Plan) -> Subject:
    """Return the subject with a plan that reads fewer words: those left out are free, and multiply what is counted."""
    made = replace(subject, plan=plan)
    return replace(made, unread=subject.unread * subject.read_states // made.read_states)


def _components(subject: Subject, support: Sequence[int], mask: int) -> list[tuple[int, list[tuple[int, int]]]]:
    """Return the groups of summands, each with the inputs that it depends on besides the held ones."""
    groups: list[tuple[int, list[tuple[int, int]]]] = []
    for part in subject.output.parts:
        own, parts = support[part[0]] & ~mask, [part]
        if own:
            for other in [each for each in groups if each[0] & own]:
                groups.remove(other)
                own, parts = own | other[0], other[1] + parts
            groups.append((own, parts))
    return groups


def _held_words(subject: Subject, most_states: float) -> tuple[str, ...] | None:
    """Return the words to hold still that leave the least to do, or None if none are few enough.

    All groups together have at most `most_states`: each is run once.
    """
    support, inputs = supports(subject.plan), subject.inputs
    lengths = [math.log2(last - first + 1) for first, last in map(subject.ends, inputs)]
    best: tuple[float, tuple[str, ...]] | None = None
    for count in range(min(MAX_HELD, len(inputs)) + 1):
        for chosen in combinations(range(len(inputs)), count):
            held = sum(lengths[k] for k in chosen)
            if held > MAX_HELD_BITS:
                continue
            groups = _components(subject, support, sum(1 << k for k in chosen))
            bits = [sum(each for k, each in enumerate(lengths) if own >> k & 1) for own, _ in groups]
            if max(bits, default=0) > MAX_GROUP_BITS or sum(bits) > MAX_COUNTED_BITS:
                continue
            if sum(2.0**each for each in bits) > most_states:
                continue
            work = 2.0**held * sum(2.0**each for each in bits)
            if best is None or work < best[0]:
                best = work, tuple(inputs[k].name for k in chosen)
    return None if best is None else best[1]


def _group(
    subject: Subject, support: Sequence[int], mask: int, own: int, parts: list[tuple[int, int]]
) -> tuple[Group, set[int]]:
    """Return a group, and the wires of held words that it reads."""
    plan = subject.plan
    inner = [part for part in parts if not support[part[0]] & mask]
    meeting: set[int] = set()  # words of the group that meet held ones
    read: set[int] = set()
    waiting = [wire for wire, _ in parts if support[wire] & mask]
    while waiting:
        for source in plan.wires[waiting.pop()].sources:
            if not support[source] & mask:
                meeting.add(source)
            elif not support[source] & ~mask:
                read.add(source)
            else:
                waiting.append(source)
    given = {wire: Input(_name(wire), plan.bits_of(wire), False) for wire in meeting | read}
    tuples, total, counts = _tuples(subject, own, sorted(meeting), inner)
    unit = math.gcd(*(factor for _, factor in parts))
    outer = tuple((wire, factor // unit) for wire, factor in parts if support[wire] & mask)
    made = sliced(plan, unclamped("group", outer), given)
    return Group(made, subject.tables, tuples, total // unit, counts, tuple(sorted(map(_name, read))), unit), read


def _name(wire: int) -> str:
    return f"w{wire}"


def _tuples(
    subject: Subject, own: int, meeting: Sequence[int], inner: Sequence[tuple[int, int]]
) -> tuple[dict[str, Integers], Integers, Integers]:
    """Return the distinct tuples of some words over a group's states, the sum of others, and how many give each."""
    columns: list[Integers] = []
    counts = np.empty(0, dtype=np.int64)
    for piece in pieces([wire for k, wire in enumerate(subject.inputs) if own >> k & 1], within=subject.within):
        rows, times = distinct(_columns(subject, piece, meeting, inner, 0))
        both = [np.concatenate(pair) for pair in zip(columns, rows, strict=True)] if columns else rows
        columns, counts = distinct(both, np.concatenate([counts, times]))
    *words, total = columns
    return dict(zip(map(_name, meeting), words, strict=True)), total, counts


def _held_states(
    subject: Subject, names: tuple[str, ...], wanted: Sequence[int], fixed: Sequence[tuple[int, int]]
) -> tuple[dict[str, Integers], Integers]:
    """Return the words that groups read of all values of the held words, and what these fix of the sum."""
    (piece,) = pieces([wire for wire in subject.inputs if wire.name in names], MAX_HELD_BITS, subject.within)
    *read, total = _columns(subject, piece, wanted, fixed, subject.output.constant)
    return dict(zip(map(_name, wanted), read, strict=True)), total


def _columns(
    subject: Subject, piece: Piece, wires: Sequence[int], summands: Sequence[tuple[int, int]], constant: int
) -> list[Integers]:
    """Return some words, and last a sum of others, in all states of a piece, (states,) each."""
    whole = sliced(subject.plan, unclamped("columns", (*((wire, 1) for wire in wires), *summands)))
    words = run_wires(whole, subject.tables, piece.words)
    parts = whole.outputs[0].parts
    columns = [words[wire] for wire, _ in parts[: len(wires)]]
    start = np.full((1,) * len(piece.shape), constant)
    columns.append(sum((factor * words[wire] for wire, factor in parts[len(wires) :]), start=start))
    return [np.broadcast_to(column, piece.shape).reshape(-1) for column in columns]

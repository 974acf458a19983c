"""The best schedule by branch and bound, as Luh and Lin scheduled Newton-Euler: tasks bound to processors, or free.

Schedules are built one task at a time (Giffler and Thompson): of all tasks that may come next, take the one that could
end first, at c; whatever starts before c and competes with it is a branch, and nothing else needs to be tried. A branch
is cut where its lower bound is not below the best schedule found so far.

The lower bounds are the longest path from what is placed, and for bound tasks the best preemptive schedule of each
processor by itself (Jackson's rule on heads and tails), which no schedule can beat.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bddtorque.base.errors import BddTorqueError
from bddtorque.evaluate.scheduling import Placement, Priority, Schedule, TimedTask, in_order, list_schedule, tails

SLACK = 1e-9
"""Two times closer than this are the same."""


@dataclass(frozen=True)
class Search:
    """Result of a search: the best schedule, a bound no schedule can beat, whether the two are proved to meet."""

    schedule: Schedule
    lower_bound: float
    optimal: bool
    visited: int


def branch_and_bound(tasks: Sequence[TimedTask], processors: int, most_nodes: int = 20_000) -> Search:
    """Return the best schedule of tasks that are all bound to processors or all free, within a bounded search.

    The search ends when nothing is left to try or after `most_nodes` partial schedules, where `optimal` is False unless
    the lower bound is reached. It does not look at the clock, so that every machine finds the same schedule.
    """
    bound = {task.processor is not None for task in tasks}
    if len(bound) > 1:
        raise BddTorqueError("branch and bound: all tasks must be bound to processors or none, got some of each")
    return _Search(in_order(tasks), processors, bound == {True}).run(most_nodes)


class _Partial(NamedTuple):
    """Some tasks placed: when they end and where they are, when processors are free, the last one, a lower bound."""

    ends: dict[int, float]
    where: dict[int, int]
    free: list[float]
    last: tuple[float, int]
    lower: float


class _Search:
    """One search; tasks are known by their place in an order in which predecessors come first."""

    def __init__(self, tasks: list[TimedTask], processors: int, bound: bool) -> None:
        place = {task.name: k for k, task in enumerate(tasks)}
        longest = tails(tasks)
        self.tasks, self.processors, self.bound = tasks, processors, bound
        self.durations = [task.duration for task in tasks]
        self.tails = [longest[task.name] for task in tasks]
        self.before = [sorted({place[name] for name in task.predecessors}) for task in tasks]
        self.on = [[k for k, task in enumerate(tasks) if task.processor == p] for p in range(processors)]

    def run(self, most_nodes: int) -> Search:
        """Search depth first, and return what was found."""
        rules: tuple[Priority, ...] = ("critical_path", "longest_task")
        lists = (list_schedule(self.tasks, self.processors, rule) for rule in rules)
        best = min(lists, key=lambda schedule: schedule.makespan)
        free, visited = [0.0] * self.processors, 0
        waiting = [_Partial({}, {}, free, (-1.0, -1), self.lower_bound({}, free))]
        while waiting and visited < most_nodes:
            partial = waiting.pop()
            if partial.lower >= best.makespan - SLACK:
                continue
            visited += 1
            if len(partial.ends) == len(self.tasks):
                best = self.schedule(partial)
            else:
                waiting += self.branches(partial, best.makespan)
        # what was not looked at any more can be no better than its own bound
        lower = min([best.makespan, *(partial.lower for partial in waiting)])
        return Search(best, lower, lower >= best.makespan - SLACK, visited)

    def heads(self, ends: dict[int, float], free: list[float]) -> list[float]:
        """Return the earliest start of every task, given the ends of those placed and when processors are free."""
        starts: list[float] = []
        finish: list[float] = []
        soonest = min(free)
        for k, task in enumerate(self.tasks):
            if k in ends:
                start, end = ends[k] - self.durations[k], ends[k]
            else:
                start = soonest if task.processor is None else free[task.processor]
                for p in self.before[k]:
                    start = max(start, finish[p])
                end = start + self.durations[k]
            starts.append(start)
            finish.append(end)
        return starts

    def lower_bound(self, ends: dict[int, float], free: list[float]) -> float:
        """Return a time that no completion of this partial schedule can beat."""
        heads = self.heads(ends, free)
        left = [k for k in range(len(self.tasks)) if k not in ends]
        lower = max(free)
        for k in left:
            lower = max(lower, heads[k] + self.tails[k])
        if self.bound:
            for mine in self.on:
                lower = max(lower, self.one_processor([k for k in mine if k not in ends], heads))
            return lower
        return max(lower, (sum(free) + sum(self.durations[k] for k in left)) / self.processors)

    def one_processor(self, mine: list[int], heads: list[float]) -> float:
        """Return the best preemptive makespan of these tasks on one processor, heads and tails kept (Jackson)."""
        waiting = sorted(mine, key=lambda k: heads[k], reverse=True)
        ready: list[tuple[float, float]] = []  # (−what follows, work left)
        now = lower = 0.0
        while waiting or ready:
            if not ready:
                now = max(now, heads[waiting[-1]])
            while waiting and heads[waiting[-1]] <= now + SLACK:
                k = waiting.pop()
                heapq.heappush(ready, (self.durations[k] - self.tails[k], self.durations[k]))
            follows, work = heapq.heappop(ready)
            until = heads[waiting[-1]] if waiting else now + work
            if now + work <= until + SLACK:
                now += work
                lower = max(lower, now - follows)
            else:
                heapq.heappush(ready, (follows, work - (until - now)))
                now = until
        return lower

    def branches(self, partial: _Partial, best: float) -> list[_Partial]:
        """Return every way to go on from a partial schedule that could still beat the best, the most hopeful last."""
        found = []
        for start, k, processor in self.conflicts(partial):
            end = start + self.durations[k]
            free = [end if p == processor else until for p, until in enumerate(partial.free)]
            ends = {**partial.ends, k: end}
            lower = self.lower_bound(ends, free)
            if lower < best - SLACK:
                found.append(_Partial(ends, {**partial.where, k: processor}, free, (start, k), lower))
        return sorted(found, key=lambda each: (each.lower, -self.tails[each.last[1]]), reverse=True)

    def conflicts(self, partial: _Partial) -> list[tuple[float, int, int]]:
        """Return the branches: (start, task, processor) of the tasks that compete to come next."""
        ends, free = partial.ends, partial.free
        eligible = []
        for k, task in enumerate(self.tasks):
            if k in ends or any(p not in ends for p in self.before[k]):
                continue
            # identical processors: the one that is free first is as good as any
            processor = min(range(self.processors), key=free.__getitem__) if task.processor is None else task.processor
            start = max([free[processor], *(ends[p] for p in self.before[k])])
            eligible.append((start, k, processor))
        first_end, first_processor = min((start + self.durations[k], processor) for start, k, processor in eligible)
        if self.bound:
            return [
                (start, k, processor)
                for start, k, processor in eligible
                if processor == first_processor
                and (start < first_end - SLACK or start + self.durations[k] <= first_end + SLACK)
            ]
        # free tasks are placed in the order of their starts: the same schedule is not built twice
        return [each for each in eligible if each[0] <= first_end + SLACK and (each[0], each[1]) > partial.last]

    def schedule(self, partial: _Partial) -> Schedule:
        """Return a partial schedule that has every task as data."""
        placements = [
            Placement(self.tasks[k].name, partial.where[k], end - self.durations[k], end)
            for k, end in partial.ends.items()
        ]
        return Schedule(tuple(sorted(placements, key=lambda one: (one.start, one.processor))), self.processors)

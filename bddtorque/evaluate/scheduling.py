"""Tasks with precedence on a number of processors: longest paths, list schedules, schedules as data.

Time has no unit here: durations are in whatever the caller counts (multiplications and additions, cycles, node visits).
A task may be bound to a processor; one that is not goes where it can start first.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from bddtorque.base.errors import BddTorqueError

Priority = Literal["critical_path", "longest_task"]


@dataclass(frozen=True, slots=True)
class TimedTask:
    """A piece of work that, once begun, runs to its end on one processor."""

    name: str  # unique among the tasks scheduled together
    duration: float  # >= 0, in the caller's unit of time
    predecessors: tuple[str, ...] = ()  # names of the tasks that must have ended before this one starts
    processor: int | None = None  # the processor it is bound to, counted from 0; None where any will do


@dataclass(frozen=True, slots=True)
class Placement:
    """When and where one task runs."""

    task: str
    processor: int
    start: float
    end: float


@dataclass(frozen=True)
class Schedule:
    """A placement for every task, in the order of their starts, on `processors` processors."""

    placements: tuple[Placement, ...]
    processors: int

    @property
    def makespan(self) -> float:
        """When the last task ends."""
        return max((placement.end for placement in self.placements), default=0.0)

    @property
    def work(self) -> float:
        """The durations of all tasks together: what one processor would need."""
        return sum(placement.end - placement.start for placement in self.placements)

    @property
    def concurrency(self) -> float:
        """Work over makespan: how many processors are busy on the average."""
        return self.work / self.makespan if self.makespan > 0 else 0.0

    def check(self, tasks: Sequence[TimedTask], tolerance: float = 1e-9) -> None:
        """Refuse a schedule that forgets a task, starts one too early, binds it elsewhere or lets two overlap."""
        placed = {placement.task: placement for placement in self.placements}
        if sorted(placed) != sorted(task.name for task in tasks) or len(placed) != len(self.placements):
            raise BddTorqueError(
                f"schedule: each of {len(tasks)} tasks must be placed once, got {len(self.placements)} placements"
            )
        for task in tasks:
            here = placed[task.name]
            if abs(here.end - here.start - task.duration) > tolerance or here.start < 0:
                raise BddTorqueError(f"schedule: task '{task.name}' must take {task.duration}, got {here}")
            if task.processor is not None and here.processor != task.processor:
                raise BddTorqueError(f"schedule: task '{task.name}' must be on processor {task.processor}, got {here}")
            for name in task.predecessors:
                if placed[name].end > here.start + tolerance:
                    raise BddTorqueError(f"schedule: '{name}' must end before '{task.name}' starts, got {here}")
        for processor, mine in self.by_processor().items():
            if not 0 <= processor < self.processors:
                raise BddTorqueError(f"schedule: processors must be 0 to {self.processors - 1}, got {processor}")
            for first, second in pairwise(mine):
                if first.end > second.start + tolerance:
                    raise BddTorqueError(f"schedule: a processor does one task at a time, got {first} and {second}")

    def by_processor(self) -> dict[int, list[Placement]]:
        """Return the placements of each processor that has any, in the order of their starts."""
        found: dict[int, list[Placement]] = {}
        for placement in sorted(self.placements, key=lambda one: (one.processor, one.start, one.end)):
            found.setdefault(placement.processor, []).append(placement)
        return found


def in_order(tasks: Sequence[TimedTask]) -> list[TimedTask]:
    """Return the tasks with every predecessor before its successors, else as given; refuse what has no such order."""
    by_name = {task.name: task for task in tasks}
    if len(by_name) != len(tasks):
        raise BddTorqueError(f"tasks: names must differ, got {len(tasks)} tasks with {len(by_name)} names")
    position = {task.name: k for k, task in enumerate(tasks)}
    waiting: dict[str, int] = {}
    for task in tasks:
        if not task.duration >= 0:
            raise BddTorqueError(f"task '{task.name}': the duration must be at least 0, got {task.duration}")
        for name in task.predecessors:
            if name not in by_name:
                raise BddTorqueError(f"task '{task.name}': the predecessor '{name}' is not among the tasks")
        waiting[task.name] = len(set(task.predecessors))
    after = successors(tasks)
    ready = [position[name] for name, count in waiting.items() if count == 0]
    heapq.heapify(ready)
    ordered: list[TimedTask] = []
    while ready:
        task = tasks[heapq.heappop(ready)]
        ordered.append(task)
        for name in after[task.name]:
            waiting[name] -= 1
            if waiting[name] == 0:
                heapq.heappush(ready, position[name])
    if len(ordered) != len(tasks):
        stuck = next(name for name, count in waiting.items() if count > 0)
        raise BddTorqueError(f"tasks: '{stuck}' waits for itself")
    return ordered


def joined_tasks(tasks: Sequence[TimedTask], groups: Mapping[str, str]) -> dict[TimedTask, list[TimedTask]]:
    """Return one task for each group of tasks, which are done one after another on one processor; and those it joins.

    `groups` has the group of every task by name. A group waits for the groups that its tasks wait for.
    """
    joined: dict[str, list[TimedTask]] = {}
    for task in tasks:
        joined.setdefault(groups[task.name], []).append(task)
    whole = {}
    for group, own in joined.items():
        before = dict.fromkeys(groups[name] for task in own for name in task.predecessors if groups[name] != group)
        whole[TimedTask(group, sum((task.duration for task in own), 0.0), tuple(before), own[0].processor)] = own
    return whole


def successors(tasks: Sequence[TimedTask]) -> dict[str, list[str]]:
    """Return, for each task, the names of the tasks that wait for it, each once."""
    after: dict[str, list[str]] = {task.name: [] for task in tasks}
    for task in tasks:
        for name in dict.fromkeys(task.predecessors):
            after[name].append(task.name)
    return after


def earliest_ends(tasks: Sequence[TimedTask]) -> dict[str, float]:
    """Return when each task ends if every task has a processor of its own."""
    ends: dict[str, float] = {}
    for task in in_order(tasks):
        ends[task.name] = max((ends[name] for name in task.predecessors), default=0.0) + task.duration
    return ends


def longest_path(tasks: Sequence[TimedTask]) -> float:
    """Return the length of the critical path: no number of processors is faster."""
    return max(earliest_ends(tasks).values(), default=0.0)


def tails(tasks: Sequence[TimedTask]) -> dict[str, float]:
    """Return the longest path from the start of each task to the end of everything, the task itself included."""
    after = successors(tasks)
    longest: dict[str, float] = {}
    for task in reversed(in_order(tasks)):
        longest[task.name] = task.duration + max((longest[name] for name in after[task.name]), default=0.0)
    return longest


def list_schedule(
    tasks: Sequence[TimedTask], processors: int, priority: Priority | Mapping[str, float] = "critical_path"
) -> Schedule:
    """Return the list schedule: whenever a processor is free, the ready task of highest priority starts there.

    `priority` is ``"critical_path"`` (the longest path from the task to the end), ``"longest_task"`` (longest
    processing time first, LPT) or a number for each task, higher first; ties go to the task that was given first.
    """
    if processors < 1:
        raise BddTorqueError(f"list schedule: there must be at least one processor, got {processors}")
    ordered = in_order(tasks)
    for task in ordered:
        if task.processor is not None and not 0 <= task.processor < processors:
            raise BddTorqueError(
                f"task '{task.name}': the processor must be 0 to {processors - 1}, got {task.processor}"
            )
    rank = _ranks(ordered, priority)
    after, by_name = successors(ordered), {task.name: task for task in ordered}
    waiting = {task.name: len(set(task.predecessors)) for task in ordered}
    position = {task.name: k for k, task in enumerate(ordered)}
    # tasks that may start, best first: one queue a processor for those bound to it, the last one for all others
    queues: list[list[tuple[float, int]]] = [[] for _ in range(processors + 1)]
    idle = list(range(processors))
    running: list[tuple[float, int, int]] = []  # (end, position, processor)
    placements: list[Placement] = []

    def queue(task: TimedTask) -> None:
        place = processors if task.processor is None else task.processor
        heapq.heappush(queues[place], (-rank[task.name], position[task.name]))

    for task in ordered:
        if waiting[task.name] == 0:
            queue(task)
    now = 0.0
    while len(placements) < len(ordered):
        still_idle = []
        for processor in idle:
            candidates = [queue for queue in (queues[processor], queues[processors]) if queue]
            if not candidates:
                still_idle.append(processor)
                continue
            task = ordered[heapq.heappop(min(candidates, key=lambda queue: queue[0]))[1]]
            placements.append(Placement(task.name, processor, now, now + task.duration))
            heapq.heappush(running, (now + task.duration, position[task.name], processor))
        idle = still_idle
        if not running:
            break
        now = running[0][0]
        while running and running[0][0] <= now:
            _, k, processor = heapq.heappop(running)
            idle.append(processor)
            for name in after[ordered[k].name]:
                waiting[name] -= 1
                if waiting[name] == 0:
                    queue(by_name[name])
        idle.sort()
    return Schedule(tuple(sorted(placements, key=lambda one: (one.start, one.processor, one.end))), processors)


def list_schedule_with_latency(tasks: Sequence[TimedTask], processors: int, latency: float) -> Schedule:
    """Return a list schedule of tasks bound to no processor, where what another processor made comes `latency` late.

    The processor that is free first takes a ready task: of those that wait there the least, the one with the longest
    path to the end. Where the task could start sooner on another processor, it goes there.
    """
    ordered = in_order(tasks)
    rank, after = tails(ordered), successors(ordered)
    waiting = {task.name: len(set(task.predecessors)) for task in ordered}
    position = {task.name: k for k, task in enumerate(ordered)}
    ends: dict[str, Placement] = {}
    free = [0.0] * processors
    arrivals: dict[str, list[float]] = {}  # of ready tasks: when everything is there, on each processor

    def make_ready(task: TimedTask) -> None:
        made = [ends[name] for name in task.predecessors]
        arrivals[task.name] = [
            max((each.end + (latency if each.processor != place else 0.0) for each in made), default=0.0)
            for place in range(processors)
        ]

    for task in ordered:
        if waiting[task.name] == 0:
            make_ready(task)
    while arrivals:
        first = min(range(processors), key=free.__getitem__)
        name = min(arrivals, key=lambda name: (max(arrivals[name][first], free[first]), -rank[name], position[name]))
        starts = [max(there, own) for there, own in zip(arrivals.pop(name), free, strict=True)]
        place = min(range(processors), key=lambda place: (starts[place], place != first))
        task = ordered[position[name]]
        ends[name] = Placement(name, place, starts[place], starts[place] + task.duration)
        free[place] = ends[name].end
        for successor in after[name]:
            waiting[successor] -= 1
            if waiting[successor] == 0:
                make_ready(ordered[position[successor]])
    return Schedule(tuple(sorted(ends.values(), key=lambda one: (one.start, one.processor, one.end))), processors)


def _ranks(tasks: Sequence[TimedTask], priority: Priority | Mapping[str, float]) -> Mapping[str, float]:
    if priority == "critical_path":
        return tails(tasks)
    if priority == "longest_task":
        return {task.name: task.duration for task in tasks}
    if isinstance(priority, str):
        raise BddTorqueError(f"priority must be 'critical_path', 'longest_task' or numbers, got {priority!r}")
    return priority

"""Spread the operations of a plan over processors by longest processing time, and count what that takes.

Two ways. `spread_bits`: everything is computed once, wherever there is room; what another processor needs is sent
there. `spread_terms`: every processor computes some summands of the torques from the input words by itself, so that
nothing crosses but partial sums; what two summands share is computed twice if they lie apart.

Input words are on every processor from the beginning; torques stay where they are made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from bddtorque.base.errors import BddTorqueError, not_among
from bddtorque.base.system import checked_processors
from bddtorque.evaluate.operations import (
    WORD_STEPS,
    Operation,
    StepCosts,
    operations_by_terms,
    operations_of,
    wire_owner,
)
from bddtorque.evaluate.scheduling import (
    Placement,
    Schedule,
    TimedTask,
    joined_tasks,
    list_schedule,
    list_schedule_with_latency,
    longest_path,
)
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.plan import Plan

SpreadWay = Literal["bits", "terms"]
Grain = Literal["operation", "wire"]
"""Unit that stays on one processor: a single walk or addition, or all that makes one wire of the plan."""


class Spreadable(Protocol):
    """A plan, and one diagram per block."""

    @property
    def plan(self) -> Plan:
        """The plan, wire by wire."""

    @property
    def diagrams(self) -> Sequence[Diagram]:
        """One per block of the plan."""


@dataclass(frozen=True)
class Spreading:
    """A plan spread over processors; times in steps of `costs`."""

    # what is done, in an order in which it can be; with `spread_terms`, some of it by several processors
    operations: tuple[Operation, ...]
    schedule: Schedule  # when and where
    costs: StepCosts  # the steps of each operation
    serial: float  # what one processor takes that computes everything once
    longest: float  # the longest path: no number of processors is faster
    messages: int  # what processors send to others, see `messages`

    @property
    def processors(self) -> int:
        """Number of processors, busy or not."""
        return self.schedule.processors

    @property
    def time(self) -> float:
        """Steps until the last torque is done."""
        return self.schedule.makespan

    @property
    def speed_up(self) -> float:
        """Ratio to the time of one processor that computes everything once."""
        return self.serial / self.time if self.time > 0 else 1.0

    @property
    def efficiency(self) -> float:
        """Speed-up a processor."""
        return self.speed_up / self.processors

    @property
    def recomputed(self) -> float:
        """Steps that are done more than once, all processors together; sums in another order add or spare a few."""
        return self.schedule.work - self.serial


def tasks_of(
    operations: Sequence[Operation], costs: StepCosts = WORD_STEPS, bound: Mapping[str, int] | None = None
) -> list[TimedTask]:
    """Return operations as tasks for a scheduler; `bound` gives the processor of those that have no choice."""
    where = bound or {}
    return [TimedTask(each.name, costs.duration(each), each.predecessors, where.get(each.name)) for each in operations]


def spread_bits(
    operations: Sequence[Operation],
    processors: int,
    costs: StepCosts = WORD_STEPS,
    grain: Grain = "operation",
    latency: float = 0.0,
) -> Spreading:
    """Return every operation once, on whichever processor is free: the one with the longest way to the end first.

    For walks that wait for nothing, the terms of the paper that are one table each, this is longest processing time.
    With the grain ``"wire"`` all bits of a word are made on one processor: less is spread, and much less is sent.
    With a `latency` what is sent is not used before so many steps have passed, if there is anything else to do.
    """
    tasks = tasks_of(operations, costs)
    groups = [each.owner if grain == "wire" else each.name for each in operations]
    schedule = _schedule(tasks, processors, groups, latency)
    serial = sum(task.duration for task in tasks)
    return Spreading(tuple(operations), schedule, costs, serial, longest_path(tasks), messages(operations, schedule))


def _schedule(tasks: Sequence[TimedTask], processors: int, groups: Sequence[str], latency: float = 0.0) -> Schedule:
    """Return a list schedule in which the tasks of a group run one after another on one processor."""
    whole = joined_tasks(tasks, {task.name: group for task, group in zip(tasks, groups, strict=True)})
    joined, units = {group.name: own for group, own in whole.items()}, list(whole)
    made = list_schedule_with_latency(units, processors, latency) if latency else list_schedule(units, processors)
    placements = []
    for placed in made.placements:
        start = placed.start
        for task in joined[placed.task]:
            placements.append(Placement(task.name, placed.processor, start, start + task.duration))
            start += task.duration
    return Schedule(tuple(sorted(placements, key=lambda one: (one.start, one.processor, one.end))), processors)


def spread_terms(
    plan: Plan,
    diagrams: Sequence[Diagram],
    processors: int,
    costs: StepCosts = WORD_STEPS,
    grain: Grain = "operation",
) -> Spreading:
    """Return the summands of all torques on processors that compute them by themselves: the heaviest first.

    A summand goes to the processor that then has the least to do; what it shares with the summands already there
    costs nothing more. More processors than summands find nothing to do. The grain decides only the order of the work.
    """
    once = operations_of(plan, diagrams, costs)
    places = {wire_owner(place): place for place in range(len(plan.wires))}
    own = np.zeros(len(plan.wires))
    for each in once:
        if each.owner in places:  # not the last sum of an output
            own[places[each.owner]] += costs.duration(each)
    owners = _lightest(plan, own, processors)
    operations, bound = operations_by_terms(plan, diagrams, owners, costs)
    tasks = tasks_of(operations, costs, bound)
    # what is done by one processor for itself may stay together; the last sums of torques are of several
    alone = [grain == "wire" and each.name.endswith(f"@{bound[each.name]}") for each in operations]
    groups = [
        f"{each.owner}@{bound[each.name]}" if own else each.name for each, own in zip(operations, alone, strict=True)
    ]
    schedule = _schedule(tasks, processors, groups)
    serial = sum(costs.duration(each) for each in once)
    return Spreading(tuple(operations), schedule, costs, serial, longest_path(tasks), messages(operations, schedule))


def _lightest(plan: Plan, own: np.ndarray, processors: int) -> dict[int, int]:
    """Return the processor of each summand's wire; `own` is what each wire costs without those it reads."""
    wires = sorted({wire for output in plan.outputs for wire, _ in output.parts})
    cones = np.zeros((len(wires), len(plan.wires)), dtype=np.bool_)
    for row, wire in enumerate(wires):
        cones[row, plan.needed([wire])] = True
    held = np.zeros((processors, len(plan.wires)), dtype=np.bool_)
    owners = {}
    for row in np.argsort(-(cones @ own), kind="stable"):
        loads = (held | cones[row]) @ own
        lightest = int(loads.argmin())
        held[lightest] |= cones[row]
        owners[wires[row]] = lightest
    return owners


def schedule_model(
    model: Spreadable,
    processors: int | None = None,
    way: SpreadWay = "bits",
    costs: StepCosts = WORD_STEPS,
    grain: Grain = "operation",
    latency: float = 0.0,
) -> Spreading:
    """Return how so many processors would compute one state of a compiled model.

    Parameters
    ----------
    processors
        1 or more; by default as many as the evaluator ``"parallel"`` would use.
    way
        ``"bits"`` or ``"terms"``, see the module.
    costs
        Steps of each operation.
    grain
        ``"operation"`` or ``"wire"``: what stays on one processor.
    latency
        Steps that the schedule leaves for what is sent, if it can; for the way ``"bits"``.
    """
    count, plan = checked_processors(processors), model.plan.require_tables("a schedule of processors", "this model")
    if way == "terms":
        return spread_terms(plan, model.diagrams, count, costs, grain)
    if way != "bits":
        raise BddTorqueError(not_among("way of spreading", way, ("bits", "terms")))
    return spread_bits(operations_of(plan, model.diagrams, costs), count, costs, grain, latency)


def messages(operations: Sequence[Operation], schedule: Schedule) -> int:
    """Return how many messages there are, each what one processor sends another of one word."""
    place = {each.task: each.processor for each in schedule.placements}
    word = {each.name: each.word for each in operations}
    sent = ((name, place[name], place[each.name]) for each in operations for name in each.predecessors)
    return len({(word[name], sender, receiver) for name, sender, receiver in sent if sender != receiver})


def delayed(spreading: Spreading, latency: float) -> Schedule:
    """Return the schedule where every message takes `latency` steps: who does what, and in which order, is kept."""
    place = {each.task: each.processor for each in spreading.schedule.placements}
    duration = {each.name: spreading.costs.duration(each) for each in spreading.operations}
    before = {each.name: each.predecessors for each in spreading.operations}
    number = {each.name: k for k, each in enumerate(spreading.operations)}
    ends: dict[str, float] = {}
    free = [0.0] * spreading.processors
    found = []
    for each in sorted(spreading.schedule.placements, key=lambda one: (one.start, one.end, number[one.task])):
        arrivals = (ends[name] + (latency if place[name] != each.processor else 0.0) for name in before[each.task])
        start = max(arrivals, default=0.0)
        start = max(start, free[each.processor])
        ends[each.task] = free[each.processor] = start + duration[each.task]
        found.append(Placement(each.task, each.processor, start, ends[each.task]))
    return Schedule(tuple(sorted(found, key=lambda one: (one.start, one.processor, one.end))), spreading.processors)

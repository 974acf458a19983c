"""A program of vector operations as a pipeline, simulated step by step: a stream of states in, a stream of torques out.

Every processor starts its operation for state k at a fixed time after state k entered, and state k enters at k times
the interval. The simulation keeps real values: a processor that starts reads its operands from the buffers they wait
in, where they must be, of the right state; a processor that is still busy is refused. What is counted (latency, values
waiting, processors busy) is what happened.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.evaluate.scheduling import list_schedule
from machines.lathrop.vector_program import Operation, Program, Times, availability, tasks_of

Naming = Callable[[Operation], str]
"""From an operation to the processor that does it."""


def own_processor(operation: Operation) -> str:
    """Return a processor of its own for every operation: the systolic form."""
    return operation.result


def one_node(operation: Operation) -> str:
    """Return the processor that does this step for every link: one node with feedback, the single device."""
    return f"{operation.place.split()[0]} {operation.step}"


def one_tier(nodes: int) -> Naming:
    """Return the processors of one tier of so many nodes with feedback, which do every tier and every leaf."""

    def name(operation: Operation) -> str:
        sweep, *_, number = operation.place.split()
        return f"{sweep} node {(int(number) - 1) % nodes + 1} {operation.step}"

    return name


@dataclass(frozen=True)
class Pipeline:
    """A program with a processor and a start for every operation; times are whole numbers of steps."""

    program: Program
    starts: Mapping[str, int]  # when each operation starts, after its state entered
    durations: Mapping[str, int]  # how long each takes
    processor_of: Mapping[str, str]  # which processor does it

    @property
    def processors(self) -> int:
        """The number of matrix-vector processors (a product of matrices takes three)."""
        widest: dict[str, int] = defaultdict(int)
        for operation in self.program:
            name = self.processor_of[operation.result]
            widest[name] = max(widest[name], operation.primitive.processors)
        return sum(widest.values())

    def latency(self) -> int:
        """Return when everything of a state is done, after it entered."""
        return max(self.starts[name] + self.durations[name] for name in self.starts)

    def smallest_interval(self) -> int:
        """Return the least interval at which no processor is asked to do two operations at once."""
        most = self.latency() + 1
        return next(interval for interval in range(1, most + 1) if not self.collides(interval))

    def collides(self, interval: int) -> bool:
        """Return whether some processor would be busy with two operations at once."""
        taken: dict[str, set[int]] = defaultdict(set)
        for operation in self.program:
            mine, start = taken[self.processor_of[operation.result]], self.starts[operation.result]
            for time in range(start, start + self.durations[operation.result]):
                if time % interval in mine:
                    return True
                mine.add(time % interval)
        return False


def pipeline(program: Program, times: Times, processor_of: Naming = own_processor) -> Pipeline:
    """Return a pipeline whose latency is as short as its processors allow.

    With a processor for every operation each starts as soon as it can; shared processors are given to the operation
    with the longest way to go.
    """
    durations = {operation.result: _steps(times.of(operation.primitive)) for operation in program}
    names = {operation.result: processor_of(operation) for operation in program}
    if len(set(names.values())) == len(names):
        ends = availability(program, times)
        starts = {name: _steps(ends[name]) - durations[name] for name in names}
    else:
        number = {name: k for k, name in enumerate(dict.fromkeys(names.values()))}
        bound = [replace(task, processor=number[names[task.name]]) for task in tasks_of(program, times)]
        schedule = list_schedule(bound, len(number))
        starts = {placement.task: _steps(placement.start) for placement in schedule.placements}
    return Pipeline(program, starts, durations, names)


def _steps(time: float) -> int:
    if time != int(time):
        raise BddTorqueError(f"pipeline: times must be whole steps, got {time}")
    return int(time)


@dataclass(frozen=True)
class PipelineRun:
    """A stream that went through a pipeline."""

    values: tuple[dict[str, Any], ...]  # for each state, the values of the outputs asked for
    done: tuple[int, ...]  # when all outputs of each state were there
    waiting: dict[str, int]  # for each result, the most values that ever waited for their last reader
    inputs_waiting: dict[str, int]  # the same for inputs, from when a state enters
    busy: float  # the part of the time between first and last step that the processors worked, on the average

    @property
    def buffers(self) -> int:
        """The buffers needed between processors, each for one vector (or matrix)."""
        return sum(self.waiting.values())


def simulate(
    machine: Pipeline, stream: Sequence[Mapping[str, Any]], outputs: Sequence[str], interval: int
) -> PipelineRun:
    """Feed states, one every `interval` steps, through a pipeline and return what came out, and when."""
    by_result = {operation.result: operation for operation in machine.program}
    readers = Counter(name for operation in machine.program for name in set(operation.operands))
    starting: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for k in range(len(stream)):
        for name, start in machine.starts.items():
            starting[k * interval + start].append((k, name))
    ending: dict[int, list[tuple[int, str, Any]]] = defaultdict(list)
    held: dict[str, dict[int, tuple[Any, int]]] = defaultdict(dict)  # values and readers still to come, by state
    busy_until: dict[str, int] = defaultdict(int)
    waiting: Counter[str] = Counter()
    inputs_waiting: Counter[str] = Counter()
    values: list[dict[str, Any]] = [{} for _ in stream]
    done, worked = [0] * len(stream), 0
    last = (len(stream) - 1) * interval + machine.latency()
    for now in range(last + 1):
        if now % interval == 0 and now // interval < len(stream):
            for name, value in stream[now // interval].items():
                if readers[name]:
                    held[name][now // interval] = (value, readers[name])
        for k, name, value in ending.pop(now, []):
            if name in outputs:
                values[k][name] = value
                done[k] = max(done[k], now)
            if readers[name]:
                held[name][k] = (value, readers[name])
        starters = starting.pop(now, [])
        # what takes no time (a shift) is there at once for those that start with it
        for k, name in sorted(starters, key=lambda each: machine.durations[each[1]] > 0):
            operation, duration = by_result[name], machine.durations[name]
            result = operation.primitive.compute(*(_read(held, operand, k, name) for operand in operation.operands))
            for operand in set(operation.operands):
                _take(held, operand, k)
            if duration == 0:
                held[name][k] = (result, readers[name])
                continue
            processor = machine.processor_of[name]
            if busy_until[processor] > now:
                raise BddTorqueError(f"pipeline: processor '{processor}' is still busy at step {now}")
            busy_until[processor] = now + duration
            worked += duration * operation.primitive.processors
            ending[now + duration].append((k, name, result))
        for name, states in held.items():
            count = inputs_waiting if name not in by_result else waiting
            count[name] = max(count[name], len(states))
    return PipelineRun(
        tuple(values), tuple(done), dict(+waiting), dict(+inputs_waiting), worked / (machine.processors * last)
    )


def _read(held: Mapping[str, Mapping[int, tuple[Any, int]]], operand: str, state: int, reader: str) -> Any:
    if state not in held[operand]:
        raise BddTorqueError(f"pipeline: '{reader}' reads '{operand}' of state {state}, which is not there")
    return held[operand][state][0]


def _take(held: dict[str, dict[int, tuple[Any, int]]], operand: str, state: int) -> None:
    """Note that one more reader is done with a value; the last one frees its buffer."""
    value, left = held[operand].pop(state)
    if left > 1:
        held[operand][state] = (value, left - 1)

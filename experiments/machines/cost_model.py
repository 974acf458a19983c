"""Prices and facts of machines: steps of a cost model, processors, messages.

What processors send each other is counted on the tasks: one message for every value and every other processor that
reads it, a vector or a word each. What takes no time (wires, constants) is on no processor.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from bddtorque.dynamics.graph import Graph
from bddtorque.evaluate.scheduling import TimedTask, earliest_ends
from machines.lathrop.vector_program import Times

Unit = Literal["word", "matrix-vector", "bit"]
"""A processor: an adder and a multiplier (or a table) of words; Lathrop's, of three modules; a tester of one bit."""


@dataclass(frozen=True)
class CostModel:
    """Steps that everything takes."""

    name: str
    # multiplication, addition: of two words in a recursion
    multiplication: float
    addition: float
    # load, load_bit: of a table: for every load, and for every bit of its index; putting an index together is wiring
    load: float
    load_bit: float
    test: float  # one bit tested by a diagram's walk
    # table_addition, addition_bit: an addition in a table scheme, and what every bit of its result takes on top
    table_addition: float
    addition_bit: float
    hop: float  # one packet to a neighbour, where hops are charged
    position_bits: int  # bits of a position word, the index of a sine table

    @property
    def times(self) -> Times:
        """Multiplication and addition, for vector programs."""
        return Times(self.multiplication, self.addition)

    def loading(self, index_bits: int) -> float:
        """Return the steps of one table load."""
        return self.load + self.load_bit * index_bits

    def of_graph(self) -> dict[str, float]:
        """Return the costs of a traced graph's operations."""
        sine = self.loading(self.position_bits)
        return {"sum": self.addition, "product": self.multiplication, "sine_cosine": sine}

    def serial(self, graph: Graph) -> float:
        """Return what one processor takes for a graph."""
        counts, costs = graph.counts(), self.of_graph()
        return sum(counts[f"{kind}s"] * cost for kind, cost in costs.items())


def word_steps(position_bits: int) -> CostModel:
    """Return the model of word-wide processors: everything that is done to a word is one step; so is a bit test."""
    return CostModel("word", 1, 1, 1, 0, 1, 1, 0, 1, position_bits)


def bit_steps(position_bits: int, word_bits: int) -> CostModel:
    """Return the model of one-bit processors: additions bit by bit, products bit by bit by bit, an index bit by bit.

    `word_bits` is the width that a recursion needs for the same accuracy; tables add words of their own widths.
    """
    b = word_bits
    return CostModel("bit", b * b, b, 0, 1, 1, 0, 1, b, position_bits)


def cell_steps(position_bits: int, word_bits: int) -> CostModel:
    """Return bit steps with multipliers of one cell a bit, which take two steps a bit: b cells more a multiplier."""
    return replace(bit_steps(position_bits, word_bits), name="cell", multiplication=2 * word_bits)


@dataclass(frozen=True)
class Machine:
    """A machine on an arm, in steps of a cost model."""

    name: str
    unit: Unit
    processors: int
    # from a state to its torques; None where the machine does not support the arm, and `note` says why
    time: float | None
    interval: float | None  # from one torque set to the next where states follow each other as fast as they can
    multipliers: int  # in all its processors
    messages: int = 0  # values that processors send each other for one torque set, see the module
    table_bytes: int = 0  # of its tables, sines not counted
    exact: bool = True  # whether torques are those of the state alone; else of older data too
    note: str = ""


def unsupported(name: str, unit: Unit, why: str) -> Machine:
    """Return the line of a machine that cannot do the arm."""
    return Machine(name, unit, 0, None, None, 0, note=why)


def most_busy(tasks: Sequence[TimedTask]) -> tuple[float, int]:
    """Return the longest path, and how many tasks run at once at most if each starts as soon as it can."""
    ends = earliest_ends(tasks)
    events = sorted(
        event
        for task in tasks
        if task.duration > 0
        for event in ((ends[task.name] - task.duration, 1), (ends[task.name], -1))
    )
    busy = np.cumsum([change for _, change in events]) if events else np.zeros(1, dtype=int)
    return max(ends.values(), default=0.0), int(busy.max())


def processors_shared(tasks: Sequence[TimedTask]) -> dict[str, int]:
    """Return a processor for every task that takes time, each starting as soon as it can: as few as are ever busy."""
    ends = earliest_ends(tasks)
    free: list[int] = []
    busy: list[tuple[float, int]] = []
    place: dict[str, int] = {}
    working = [task for task in tasks if task.duration > 0]
    for task in sorted(working, key=lambda task: ends[task.name] - task.duration):
        start = ends[task.name] - task.duration
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        place[task.name] = heapq.heappop(free) if free else len(busy)
        heapq.heappush(busy, (ends[task.name], place[task.name]))
    return place


def messages_of(tasks: Sequence[TimedTask], place: Mapping[str, int]) -> int:
    """Return how many values are sent where `place` has the processor of every task that takes time."""
    before: dict[str, set[str]] = {}
    """Inputs of a task, seen through tasks that take no time."""
    for task in tasks:
        before[task.name] = set().union(*({name} if name in place else before[name] for name in task.predecessors))
    return len({(name, place[reader]) for reader in place for name in before[reader] if place[name] != place[reader]})


def by_operations(
    name: str, tasks: Sequence[TimedTask], unit: Unit, *, multiplies: bool, table_bytes: int = 0
) -> list[Machine]:
    """Return three machines of the same operations: one processor, as many as are busy at once, one an operation.

    The last is piped: it takes the next state as soon as its slowest processor is free.
    """
    serial = sum(task.duration for task in tasks)
    longest, busy = most_busy(tasks)
    working = [task for task in tasks if task.duration > 0]
    slowest = max(task.duration for task in working)
    products = sum(task.name.startswith("product") for task in working)
    apart = {task.name: k for k, task in enumerate(working)}
    sent = (0, messages_of(tasks, processors_shared(tasks)), messages_of(tasks, apart))
    shape = ((1, serial, serial, 1), (busy, longest, longest, busy), (len(working), longest, slowest, products))
    return [
        Machine(f"{name}, {way}", unit, count, time, interval, own if multiplies else 0, messages, table_bytes)
        for way, messages, (count, time, interval, own) in zip(("serial", "spread", "piped"), sent, shape, strict=True)
    ]

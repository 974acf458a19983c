"""Carry out a schedule, processor by processor: what the counted machine computes must be the torque words.

Every processor has a memory of its own. It finds there the input words, what it computed itself, and what was sent to
it; a value is sent once to each processor that reads it, and only after it was computed. Bits of one word that go the
same way are one message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.jit import njit
from bddtorque.evaluate.operations import Operation, WordView
from bddtorque.evaluate.scheduling import Schedule
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.forms.bit_forms import Bits, walk_bit
from bddtorque.words.integer_range import wrap

Integers = npt.NDArray[np.int64]
Memory = dict[str, Integers]


@dataclass(frozen=True)
class Run:
    """What a schedule computed.

    Attributes
    ----------
    torques : (N, n) int64, the torque words
    tests : (N,) int64, tests that all walks of a state took together
    messages : words, or bits of them, that were sent from one processor to another, for one state
    """

    torques: Integers
    tests: Integers
    messages: int


def run_schedule(
    operations: Sequence[Operation], schedule: Schedule, diagrams: Sequence[Diagram], inputs: Mapping[str, Any]
) -> Run:
    """Run N states as the schedule says, all in step.

    Parameters
    ----------
    inputs : (N,) words by name, each within its format

    Raises
    ------
    BddTorqueError
        If an operation starts before a value it reads is there, or gives a value beyond its ends.
    """
    by_name = {each.name: each for each in operations}
    number = {each.name: k for k, each in enumerate(operations)}
    made = {each.task: each for each in schedule.placements}
    forms = [Bits.from_diagram(diagram) for diagram in diagrams]
    given = {name: np.asarray(words, dtype=np.int64) for name, words in inputs.items()}
    count = len(next(iter(given.values())))
    memories: list[Memory] = [{} for _ in range(schedule.processors)]
    tests = np.zeros(count, dtype=np.int64)
    sent: set[tuple[str, int, int]] = set()
    torques: dict[int, Integers] = {}
    for placement in sorted(schedule.placements, key=lambda each: (each.start, each.end, number[each.task])):
        operation, memory = by_name[placement.task], memories[placement.processor]
        for name in operation.predecessors:
            sender = made[name]
            if sender.end > placement.start or name not in memories[sender.processor]:
                raise BddTorqueError(f"schedule: '{name}' must end before '{placement.task}' starts")
            if name not in memory:
                memory[name] = memories[sender.processor][name]
                sent.add((by_name[name].word, sender.processor, placement.processor))
        memory[operation.name] = result = _result(operation, memory, given, forms, tests, count)
        if result.min() < operation.low or result.max() > operation.high:
            ends = f"{operation.low} to {operation.high}"
            raise BddTorqueError(f"schedule: '{operation.name}' must be {ends}, got {result.min()} to {result.max()}")
        if operation.output >= 0:
            torques[operation.output] = result
    return Run(np.stack([torques[k] for k in sorted(torques)], axis=1), tests, len(sent))


def _result(
    operation: Operation,
    memory: Memory,
    inputs: Mapping[str, Integers],
    forms: Sequence[Bits],
    tests: Integers,
    count: int,
) -> Integers:
    """Return what an operation makes of a processor's memory."""
    if operation.kind == "walk":
        return _walked(operation, memory, inputs, forms[operation.block], tests, count)
    words = [_read(word, memory, inputs, count) for word in operation.operands]
    match operation.kind:
        case "add":
            return operation.signs[0] * words[0] + operation.signs[1] * words[1]
        case "magnitude":
            return np.abs(words[0])
        case "sign":
            return np.where((words[1] < 0) != (words[2] < 0), -words[0], words[0])
        case "clamp":
            return np.clip(words[0], operation.low, operation.high)


def _walked(
    operation: Operation,
    memory: Memory,
    inputs: Mapping[str, Integers],
    form: Bits,
    tests: Integers,
    count: int,
) -> Integers:
    """Return one output bit, 0 or 1; of the words only the bits that are in memory are there, others read 0."""
    index = np.zeros(count, dtype=np.int64)
    for word, width in zip(operation.operands, operation.widths, strict=True):
        index = (index << width) | (_read(word, memory, inputs, count) & ((1 << width) - 1))
    result = np.empty(count, dtype=np.int64)
    _walk(index, form.roots[operation.bit], form.positions, form.successors, result, tests)
    return result


def _read(word: WordView, memory: Memory, inputs: Mapping[str, Integers], count: int) -> Integers:
    """Return a word as its reader sees it."""
    if word.bits_apart:
        held = np.zeros(count, dtype=np.int64)
        for bit, name in enumerate(word.sources):
            weight = -1 if word.signed and bit == len(word.sources) - 1 else 1
            held += weight * (memory.get(name, 0) << bit)
    elif word.sources:
        held = memory.get(word.sources[0], np.zeros(count, dtype=np.int64))
    elif word.input is not None:
        held = inputs[word.input]
    else:
        held = np.full(count, word.constant, dtype=np.int64)
    seen = (held >> word.shift) << word.scale
    if word.wrap:
        seen = wrap(seen, word.wrap)
    return seen


@njit
def _walk(index: Integers, edge: int, positions: Any, successors: Any, result: Integers, tests: Integers) -> None:
    for state in range(len(index)):
        result[state], visits = walk_bit(edge, index[state], positions, successors)
        tests[state] += visits

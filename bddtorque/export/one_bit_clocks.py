"""The counted one-bit machine: runs the code of every core clock by clock, and counts.

In one clock a core tests one bit of a walk, or makes one bit of a sum. What a step makes may be read by the next. A bit
for other cores goes into the core's one-bit buffer in its last clock, and from there over a bus that carries one bit
per clock, the first core first; a core whose buffer is still full waits. A bit that the bus carries in clock u can end
a wait in clock u + 2. A state takes `BEGIN` clocks on top: one to see that all cores are ready, one to start them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bddtorque.base.jit import njit
from bddtorque.evaluate.core_clocks import CORE_CLOCKS, MESSAGE
from bddtorque.evaluate.spreading import Grain, SpreadWay, schedule_model
from bddtorque.export.one_bit_program import (
    CHOOSE,
    CONDITION,
    CONDITIONAL,
    FIRST,
    NEGATE,
    NODE,
    SEND,
    SIDE,
    SIGN,
    START,
    TARGET,
    WAIT,
    WALK,
    WRITE,
    A,
    B,
    Function,
    OneBitMachine,
    assemble,
)

Integers = npt.NDArray[np.int64]
BEGIN = 2
SEED, TRIED = 20240607, 64
"""States by which schedules are compared."""
NEVER = 1 << 60
MAX_CLOCKS = 1 << 20
"""No program of ours takes as many: a core that waits longer waits for ever."""


@dataclass(frozen=True)
class CountedClocks:
    """What a machine made of some states."""

    words: Integers  # (N, outputs) int64
    clocks: Integers  # (N,) int64, from one start to the next where states wait
    tests: Integers  # (N,) int64, of bits, on all cores together


def count_clocks(machine: OneBitMachine, states: Integers) -> CountedClocks:
    """Run states, (N, inputs) words, through a machine and return its words, clocks and tests."""
    columns = [
        states[:, place] >> bit & 1 for place, bits in enumerate(machine.inputs.values()) for bit in range(bits)[::-1]
    ]
    given = np.stack(columns, axis=1) if columns else np.zeros((len(states), 0), np.int64)
    ends = np.cumsum([0, *(len(core.code) for core in machine.cores)])
    rows = np.cumsum([0, *(len(core.nodes) for core in machine.cores)])
    found = np.zeros((len(states), machine.output_bits), np.int64)
    clocks, tests = np.zeros(len(states), np.int64), np.zeros(len(states), np.int64)
    remote = 1 << (machine.read_bits - 1) if machine.several else 0
    _run(
        given,
        np.concatenate([core.code for core in machine.cores]),
        ends,
        np.concatenate([core.nodes for core in machine.cores]),
        rows,
        (machine.input_start, machine.output_start, 1 << machine.address_bits, 1 << machine.local_bits, remote),
        found,
        clocks,
        tests,
    )
    if (clocks < 0).any():
        raise ValueError("a core of this machine waits forever")
    words, start = [], 0
    for bits in machine.outputs.values():
        weights = [1 << bit for bit in range(bits - 1)] + [-(1 << (bits - 1))]
        words.append(found[:, start : start + bits] @ np.array(weights, np.int64))
        start += bits
    return CountedClocks(np.stack(words, axis=1), clocks + BEGIN, tests)


def spread_over_cores(
    function: Function, inputs: Mapping[str, int], outputs: Mapping[str, int], processors: int, spread: SpreadWay
) -> OneBitMachine:
    """Return the machine of so many cores, by the schedules of the evaluator ``"parallel"``.

    Bits are made one by one or a word at a time, with more or less time for messages: as takes the fewest clocks over
    some states.
    """
    ways: list[tuple[Grain, float]] = [("operation", 0.0), ("wire", 0.0)]
    if spread == "bits" and processors > 1:
        ways = [("operation", MESSAGE), ("operation", 10 * MESSAGE), ("wire", MESSAGE)]
    machines = [
        assemble(function, schedule_model(function, processors, spread, CORE_CLOCKS, *way), inputs, outputs)
        for way in ways
    ]
    rng = np.random.default_rng(SEED)
    states = np.array([rng.integers(0, 1 << bits, TRIED) for bits in inputs.values()], np.int64).reshape(-1, TRIED).T
    return min(machines, key=lambda machine: int(count_clocks(machine, states).clocks.sum()))


@njit
def _run(
    given: Integers,
    code: Integers,
    ends: Integers,
    nodes: Integers,
    rows: Integers,
    sizes: tuple[int, int, int, int, int],
    found: Integers,
    clocks: Integers,
    tests: Integers,
) -> None:
    input_start, output_start, shared_size, local_size, remote = sizes
    cores = len(ends) - 1
    shared, arrived = np.zeros(shared_size, np.int64), np.zeros(shared_size, np.int64)
    local = np.zeros((cores, local_size), np.int64)
    buffer = np.full((cores, 2), -1, np.int64)  # address and bit; none where the address is negative
    place, node, sign = np.zeros(cores, np.int64), np.zeros(cores, np.int64), np.zeros(cores, np.int64)
    tested, carry, condition = np.zeros(cores, np.int64), np.zeros(cores, np.int64), np.zeros(cores, np.int64)
    for state in range(len(given)):
        shared[1] = 1
        arrived[:] = NEVER
        for k in range(given.shape[1]):
            shared[input_start + k] = given[state, k]
        for k in range(cores):
            place[k] = ends[k]
            first = code[ends[k]]
            node[k], sign[k], tested[k] = first[NODE], first[SIGN], first[A]
        clock = 0
        while True:
            clock += 1
            busy, granted = 0, -1
            for k in range(cores - 1, -1, -1):
                if buffer[k, 0] >= 0:
                    granted, busy = k, 1
                if code[place[k], START] == 0:
                    busy = 1
            if busy == 0 or clock > MAX_CLOCKS:
                clocks[state] = clock - 1 if busy == 0 else -1
                break
            sent_address, sent_bit = (buffer[granted, 0], buffer[granted, 1]) if granted >= 0 else (-1, -1)
            for k in range(cores):
                step = code[place[k]]
                if step[START]:
                    continue
                one, total = _read(tested[k], shared, local[k], remote), 0
                if step[WALK]:
                    side = nodes[rows[k] + node[k], one * SIDE : (one + 1) * SIDE]
                    if side[0] == 0:
                        sign[k] ^= side[1]
                        node[k], tested[k] = side[2], side[3]
                        tests[state] += 1
                        continue
                    result = sign[k] ^ side[1]
                elif step[WAIT]:
                    if arrived[step[A] & (shared_size - 1)] + 2 > clock:
                        continue
                    result = 0
                else:
                    other = _read(step[B], shared, local[k], remote)
                    flip = step[NEGATE] | (step[CONDITIONAL] & condition[k])
                    before = flip if step[FIRST] else carry[k]
                    total = one + (other ^ flip) + before
                    result = (other if condition[k] else one) if step[CHOOSE] else total & 1
                if step[WRITE] and step[SEND] and remote and buffer[k, 0] >= 0 and granted != k:
                    continue
                if step[WALK]:
                    tests[state] += 1
                elif step[WAIT] == 0:
                    carry[k] = total >> 1
                if step[CONDITION]:
                    condition[k] = result
                if step[WRITE]:
                    target = step[TARGET]
                    if remote:
                        local[k, target] = result
                        if step[SEND]:
                            buffer[k, 0], buffer[k, 1] = target, result
                            if granted == k:
                                granted = -2  # full again: it is not emptied below
                    else:
                        shared[target] = result
                        if target >= output_start:
                            found[state, target - output_start] = result
                place[k] += 1
                following = code[place[k]]
                node[k], sign[k], tested[k] = following[NODE], following[SIGN], following[A]
            if granted >= 0:
                buffer[granted, 0] = -1
            if sent_address >= 0:
                shared[sent_address], arrived[sent_address] = sent_bit, clock
                if sent_address >= output_start:
                    found[state, sent_address - output_start] = sent_bit


@njit
def _read(address: int, shared: Integers, local: Integers, remote: int) -> int:
    """Return the bit at an address of a core."""
    if remote == 0 or address & remote:
        return int(shared[address & (len(shared) - 1)])
    return int(local[address])

"""A model, spread over one-bit cores by a schedule, as code and nodes with addresses; and the counted machine.

Every core has a memory of single bits, code (a row per step) and nodes (a row per node of its diagrams). With one core,
all bits lie in one memory. With several there are two: what a core makes for itself is local; input words, and what
crosses from one core to another, lie at the same address in a copy on every core. What a core sends lies in its own
local memory too. An address with the bit `REMOTE` of its program set is one of the copies.

The counted machine runs the code of every core clock by clock, and counts. In one clock a core tests one bit of a walk,
or makes one bit of a sum. What a step makes may be read by the next. A bit for other cores goes into the core's one-bit
buffer in its last clock, and from there over a bus that carries one bit per clock, the first core first; a core whose
buffer is still full waits. A bit that the bus carries in clock u can end a wait in clock u + 2. A state takes `BEGIN`
clocks on top: one to see that all cores are ready, one to start them.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bddtorque.base.jit import njit
from bddtorque.evaluate.operations import CORE_CLOCKS, MESSAGE
from bddtorque.evaluate.spreading import Grain, Spreading, SpreadWay, schedule_model
from bddtorque.export.one_bit_steps import Bit, Diagrammed, Step, StepMaker
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.plan import Plan

Integers = npt.NDArray[np.int64]
COLUMNS = (
    "a", "b", "node", "sign", "target", "walk", "wait", "write", "send", "first", "negate", "conditional", "condition",
    "choose", "start",
)  # fmt: skip
"""Of code: what a step reads (bits, or a node and whether its walk is complemented), where its bit goes, and flags."""
A, B, NODE, SIGN, TARGET, WALK, WAIT, WRITE, SEND, FIRST, NEGATE, CONDITIONAL, CONDITION, CHOOSE, START = range(15)
SIDE = 4
"""Columns of nodes, first for 0 and then for 1: whether the walk ends, complement, next node, the bit it tests."""


@dataclass(frozen=True)
class Function:
    """A function to spread: the plan of a model or of one of its terms, and the model's diagrams."""

    plan: Plan
    diagrams: Sequence[Diagram]


@dataclass(frozen=True, eq=False)
class CoreProgram:
    """The code and the nodes of one core."""

    code: Integers  # (steps + 1, 15) int64, columns as in `COLUMNS`; the last row is where it waits for a state
    nodes: Integers  # (rows, 8) int64, see `SIDE`


@dataclass(frozen=True, eq=False)
class OneBitMachine:
    """One-bit cores with all that they run."""

    cores: tuple[CoreProgram, ...]  # one or more
    spreading: Spreading  # the schedule that they follow
    # inputs, outputs: bits of the words that go in and come out, by name
    inputs: dict[str, int]
    outputs: dict[str, int]
    # address_bits, local_bits: of bit memories, of the one that all cores have alike and of a core's own
    address_bits: int
    local_bits: int
    input_start: int  # where the bits of the input words begin, first word first, its most significant bit first
    output_start: int  # where those of the output words begin, first word first, its least significant bit first

    @property
    def several(self) -> bool:
        """True if there is more than one core."""
        return len(self.cores) > 1

    @property
    def read_bits(self) -> int:
        """Bits of the address of a bit that is read."""
        return max(self.address_bits, self.local_bits) + self.several

    @property
    def input_bits(self) -> int:
        """Bits of all input words."""
        return sum(self.inputs.values())

    @property
    def output_bits(self) -> int:
        """Bits of all output words."""
        return sum(self.outputs.values())


def assemble(
    function: Function, spreading: Spreading, inputs: Mapping[str, int], outputs: Mapping[str, int]
) -> OneBitMachine:
    """Return the machine whose cores follow a schedule of a function.

    `inputs` and `outputs`: bits of the words that go in and come out, by name, in the order in which they do.
    """
    return _Assembler(function, spreading, dict(inputs), dict(outputs)).machine()


@dataclass
class _Assembler:
    function: Function
    spreading: Spreading
    inputs: dict[str, int]
    outputs: dict[str, int]

    def machine(self) -> OneBitMachine:
        output_bits = list(self.outputs.values())
        self.maker = StepMaker(self.spreading, self.function.diagrams, self.inputs, output_bits)
        cores = [self._apart(steps) for steps in self.maker.cores()]
        self.several = len(cores) > 1
        self._lay_out_shared(cores)
        zone = 1 << max((sum(output_bits) - 1).bit_length(), 1)
        address_bits = self._address_bits(self.shared.values(), zone)
        self.outputs_from = (1 << address_bits) - zone
        places = [self._lay_out(steps) for steps in cores]
        used = [number for held in places for number in held.values()]
        local_bits = max([*used, (1 << address_bits) - 1]).bit_length()
        if not self.several:
            address_bits = self._address_bits([*self.shared.values(), *used], zone)
            self.outputs_from, local_bits = (1 << address_bits) - zone, 0
        self.remote = 1 << max(address_bits, local_bits) if self.several else 0
        return OneBitMachine(
            tuple(self._core(steps, held) for steps, held in zip(cores, places, strict=True)),
            self.spreading,
            self.inputs,
            self.outputs,
            address_bits,
            local_bits,
            self.input_start,
            self.outputs_from,
        )

    @staticmethod
    def _address_bits(used: Iterable[int], zone: int) -> int:
        """Return how many bits address those places and, at the end, a zone for output words."""
        return (max([zone, *used]) + zone).bit_length()

    def _apart(self, steps: list[Step]) -> list[Step]:
        """Return steps with an empty one where the next would read a bit in the clock in which it is written."""
        made: list[Step] = []
        for step in steps:
            if made and made[-1].target is not None and made[-1].target in self._first_reads(step):
                made.append(Step(operation=step.operation))
            made.append(step)
        return made

    def _first_reads(self, step: Step) -> tuple[Bit, ...]:
        return (step.a, step.b) if step.walk is None else (self._tested(step.walk, step.edge >> 1),)

    def _tested(self, walk: Diagrammed, node: int) -> Bit:
        diagram = self.function.diagrams[walk.block]
        return walk.bits[diagram.order[int(diagram.level[node])]]

    def _lay_out_shared(self, cores: Sequence[Sequence[Step]]) -> None:
        """Give addresses to constants, input words, and bits that cross."""
        maker = {step.target: core for core, steps in enumerate(cores) for step in steps if step.target is not None}
        count = sum(self.inputs.values())
        end = 1 << (count + 1).bit_length()
        self.input_start = end - count
        places = (Bit("input", name, bit) for name, bits in self.inputs.items() for bit in range(bits)[::-1])
        self.shared = {Bit("constant", "", 0): 0, Bit("constant", "", 1): 1}
        self.shared |= {bit: self.input_start + k for k, bit in enumerate(places)}
        crossing = dict.fromkeys(
            bit
            for core, steps in enumerate(cores)
            for step in steps
            for bit in self.maker.reads(step)
            if bit.kind == "made" and maker[bit] != core
        )
        self.free = [*range(2, self.input_start), *range(end, end + sum(map(len, cores)) + 1)]
        self.shared |= dict(zip(crossing, self.free, strict=False))

    def _lay_out(self, steps: Sequence[Step]) -> dict[Bit, int]:
        """Return the local address of each bit that a core makes; addresses are used again once a bit was last read."""
        last = {bit: place for place, step in enumerate(steps) for bit in self.maker.reads(step)}
        own = {step.target for step in steps if step.target in self.shared}
        taken = {self.shared[bit] for bit in own if bit is not None}
        taken |= set(range(self.outputs_from, self.outputs_from + sum(self.outputs.values())))
        numbers = iter(self.free) if not self.several else (k for k in range(1 << 30) if k not in taken)
        waiting: list[int] = []
        ends: list[tuple[int, int]] = []
        held: dict[Bit, int] = {}
        for bit in sorted(bit for bit in last if bit.kind == "window"):  # they stay where they are
            held[bit] = next(numbers)
        for place, step in enumerate(steps):
            while ends and ends[0][0] <= place:
                heapq.heappush(waiting, heapq.heappop(ends)[1])
            made = step.target
            if made is None or made in held or step.output >= 0:
                continue
            if made in self.shared:
                held[made] = self.shared[made]
            elif made in last:
                held[made] = heapq.heappop(waiting) if waiting else next(numbers)
                heapq.heappush(ends, (last[made], held[made]))
        return held

    def _core(self, steps: Sequence[Step], held: dict[Bit, int]) -> CoreProgram:
        """Return what a core runs."""

        def address(bit: Bit) -> int:
            return held[bit] if bit in held else self.shared[bit] | self.remote

        rows: list[tuple[int, ...]] = []
        nodes: dict[tuple[Diagrammed, int], int] = {}
        waiting: deque[tuple[Diagrammed, int]] = deque()

        def node(walk: Diagrammed, place: int) -> int:
            if (walk, place) not in nodes:
                nodes[walk, place] = len(nodes)
                waiting.append((walk, place))
            return nodes[walk, place]

        code = []
        for step in steps:
            row = [0] * len(COLUMNS)
            if step.walk is None:
                row[A], row[B] = address(step.a), address(step.b)
            else:
                row[A], row[NODE] = address(self._tested(step.walk, step.edge >> 1)), node(step.walk, step.edge >> 1)
                row[SIGN], row[WALK] = step.edge & 1, 1
            if step.output >= 0:
                row[TARGET], row[WRITE], row[SEND] = self.outputs_from + step.output, 1, 1
            elif step.target is not None and step.target in held:
                row[TARGET], row[WRITE] = held[step.target], 1
                row[SEND] = int(not self.several or step.target in self.shared)
            row[WAIT], row[FIRST], row[NEGATE] = step.waits, step.first, step.negate
            row[CONDITIONAL], row[CONDITION], row[CHOOSE] = step.conditional, step.condition, step.choose
            code.append(row)
        code.append([0] * START + [1])
        while waiting:
            walk, place = waiting.popleft()
            diagram = self.function.diagrams[walk.block]
            row = []
            for edge in (int(diagram.low[place]), int(diagram.high[place])):
                below = edge >> 1
                row += (
                    [0, edge & 1, node(walk, below), address(self._tested(walk, below))] if below else [1, edge, 0, 0]
                )
            rows.append(tuple(row))
        return CoreProgram(
            np.array(code, dtype=np.int64), np.array(rows or [(1, 0, 0, 0) * 2], dtype=np.int64).reshape(-1, 2 * SIDE)
        )


BEGIN = 2
SEED, TRIED = 20240607, 64
"""States by which schedules are compared."""
NEVER = 1 << 60
MAX_CLOCKS = 1 << 20
"""No program of ours takes as many: a core that waits longer waits for ever."""


@dataclass(frozen=True)
class CountedClocks:
    """The words, clocks and tests of some states."""

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

"""A circuit as stages, each of which keeps the word of an expression in a register, and when each stage runs.

Expressions are Verilog with ``@0``, ``@1``, ... for the words of other stages, and every one of their parts has the
width that it is used with: linters find nothing to complain about.

Stages run as late or as early as keeps the fewest bits waiting. Time counts clocks from the one in which a state is at
the ports. A state enters every `interval` clocks. With an interval of 1 every register takes over a new word in every
clock, and a word that is read later goes through one more register for each clock. With a longer interval a register
holds its word for so many clocks, and products of one state take turns on the multipliers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from bddtorque.base.errors import BddTorqueError
from bddtorque.words.integer_range import Range

Kind = Literal["input", "logic", "memory", "network", "product"]


@dataclass(frozen=True)
class Memory:
    """A ROM: what it holds, as bits of so many a word, by address; equal ones are one."""

    words: tuple[int, ...]
    bits: int

    @property
    def address_bits(self) -> int:
        """Bits of an address."""
        return max((len(self.words) - 1).bit_length(), 1)


@dataclass(frozen=True)
class Stage:
    """One register of a circuit."""

    operands: tuple[int, ...]  # the stages that its expression reads
    text: str  # the expression; of a memory, its address
    range: Range  # numbers that the register can hold, two's complement if one is negative
    kind: Kind = "logic"  # or an input port, a read of a memory, a network of multiplexers, a product of two words
    drop: int = 0  # low bits of the expression that are not kept
    latency: int = 1  # clocks from the operands to the register
    place: int = -1  # number of the memory, of the block or of the input port

    @property
    def signed(self) -> bool:
        """True if the word is two's complement."""
        return self.range.low < 0

    @property
    def bits(self) -> int:
        """Bits of the register."""
        return register_bits(self.range)


def register_bits(reach: Range) -> int:
    """Return the bits of a register that holds the numbers of a range; without a sign where none is negative."""
    return reach.bits if reach.low < 0 else max(reach.high.bit_length(), 1)


@dataclass
class Circuit:
    """Stages in an order in which each stands after those that it reads; equal stages are made once.

    A `plain` circuit is one to compare with: constant factors are multiplied by, tables are whole, and stages run as
    soon as they can.
    """

    stages: list[Stage] = field(default_factory=list)
    memories: list[Memory] = field(default_factory=list)
    notes: dict[int, str] = field(default_factory=dict)
    ready: list[int] = field(default_factory=list)
    """The first clock in which the word of a stage can be read, if every stage runs as soon as it can."""
    outputs: list[int] = field(default_factory=list)
    plain: bool = False
    _known: dict[Stage, int] = field(default_factory=dict)
    _places: dict[Memory, int] = field(default_factory=dict)

    def add(self, stage: Stage) -> int:
        """Return the number of a stage."""
        if stage not in self._known:
            self._known[stage] = len(self.stages)
            self.stages.append(stage)
            self.ready.append(max((self.ready[each] for each in stage.operands), default=0) + stage.latency)
        return self._known[stage]

    def logic(self, operands: Sequence[int], text: str, reach: Range, drop: int = 0) -> int:
        """Return the number of a stage of logic."""
        return self.add(Stage(tuple(operands), text, reach, drop=drop))

    def memory(self, memory: Memory) -> int:
        """Return the number of a memory."""
        if memory not in self._places:
            self._places[memory] = len(self.memories)
            self.memories.append(memory)
        return self._places[memory]

    def networks(self) -> list[int]:
        """Return the blocks that are networks."""
        return sorted({stage.place for stage in self.stages if stage.kind == "network"})

    def note(self, stage: int, text: str) -> None:
        """Say what a stage holds, unless that has been said."""
        self.notes.setdefault(stage, text)

    def operand(self, place: int, stage: int, width: int, shift: int = 0, pad: int = 0, start: int = 0) -> str:
        """Return the text of operand `place`, which is `stage`: `width` bits of word·2^shift + pad, from `start` on.

        `pad` takes the place of the zeros that the shift brings in.
        """
        return word_text(f"@{place}", self.stages[stage].bits, self.stages[stage].signed, width, shift, pad, start)

    def needed(self) -> Circuit:
        """Return the circuit without the stages that no output depends on; inputs stay."""
        wanted = set(self.outputs) | {k for k, stage in enumerate(self.stages) if stage.kind == "input"}
        for k in range(len(self.stages) - 1, -1, -1):
            if k in wanted:
                wanted.update(self.stages[k].operands)
        kept = Circuit(plain=self.plain)
        places: dict[int, int] = {}
        for k in sorted(wanted):
            stage = self.stages[k]
            place = kept.memory(self.memories[stage.place]) if stage.kind == "memory" else stage.place
            places[k] = kept.add(replace(stage, operands=tuple(places[each] for each in stage.operands), place=place))
            if k in self.notes:
                kept.note(places[k], self.notes[k])
        kept.outputs = [places[k] for k in self.outputs]
        return kept


def literal(value: int, width: int) -> str:
    """Return a constant, modulo 2^width."""
    return f"{width}'h{value % (1 << width):x}"


def joined(parts: Sequence[str]) -> str:
    """Return texts side by side, the most significant first."""
    return parts[0] if len(parts) == 1 else f"{{{', '.join(parts)}}}"


def word_text(name: str, bits: int, signed: bool, width: int, shift: int = 0, pad: int = 0, start: int = 0) -> str:
    """Return bits `start` to `start + width` of a word times 2^shift plus `pad` (below 2^shift), sign-extended."""
    parts: list[str] = []
    end, top = start + width, shift + bits
    if end > top:
        above = end - max(top, start)
        parts.append(f"{{{above}{{{name}[{bits - 1}]}}}}" if signed else literal(0, above))
    low, high = max(start - shift, 0), min(end, top) - shift
    if high > low:
        parts.append(name if (low, high) == (0, bits) else f"{name}[{high - 1}:{low}]")
    if start < shift:
        parts.append(literal(pad >> start, min(shift, end) - start))
    return joined(parts)


MAX_PASSES = 60
"""Of moving stages; they settle long before."""


@dataclass(frozen=True)
class Times:
    """The clocks in which stages run."""

    interval: int  # clocks from one state to the next
    start: tuple[int, ...]  # by stage: the clock in which it reads its operands
    ready: tuple[int, ...]  # by stage: the first clock in which its word can be read
    units: dict[int, int]  # by product: the multiplier it runs on; empty where every product has its own
    latency: int  # clocks from the ports to the outputs

    def hold(self, stage: int) -> int:
        """Return for how many clocks the word of a stage can be read where it comes out."""
        return 1 if stage in self.units else self.interval


def stage_times(circuit: Circuit, multipliers: int | None = None) -> Times:
    """Return when each stage runs; with `multipliers`, products take turns on at most so many."""
    products = [k for k, stage in enumerate(circuit.stages) if stage.kind == "product"]
    if multipliers is None or multipliers >= len(products):
        start = _early(circuit) if circuit.plain else _best(circuit, _early(circuit), frozenset())
        return _times(circuit, start, 1, {})
    if multipliers < 1:
        raise BddTorqueError(f"share must be at least 1 multiplier, got {multipliers}")
    interval = -(-len(products) // multipliers)
    start, units = _take_turns(circuit, multipliers, interval)
    start = _best(circuit, start, frozenset(products))
    return _times(circuit, start, interval, units)


def _times(circuit: Circuit, start: Sequence[int], interval: int, units: dict[int, int]) -> Times:
    ready = [clock + stage.latency for clock, stage in zip(start, circuit.stages, strict=True)]
    return Times(interval, tuple(start), tuple(ready), units, max(ready[each] for each in circuit.outputs))


def _early(circuit: Circuit) -> list[int]:
    return [ready - stage.latency for ready, stage in zip(circuit.ready, circuit.stages, strict=True)]


def _take_turns(circuit: Circuit, multipliers: int, interval: int) -> tuple[list[int], dict[int, int]]:
    """Return starts with at most so many products in any clock, modulo the interval, and who runs where.

    Products that the longest paths lead through go first.
    """
    after = [0] * len(circuit.stages)
    for k in range(len(circuit.stages) - 1, -1, -1):
        for source in circuit.stages[k].operands:
            after[source] = max(after[source], after[k] + circuit.stages[k].latency)
    taken = [0] * interval
    start: dict[int, int] = {}
    units: dict[int, int] = {}
    waiting = set(range(len(circuit.stages)))
    clock = 0
    while waiting:
        able = [
            k for k in waiting
            if all(source in start and start[source] + circuit.stages[source].latency <= clock
                   for source in circuit.stages[k].operands)
        ]  # fmt: skip
        for k in sorted(able, key=lambda each: (-after[each], each)):
            if circuit.stages[k].kind == "product":
                if taken[clock % interval] == multipliers:
                    continue
                units[k] = taken[clock % interval]
                taken[clock % interval] += 1
            start[k] = clock
            waiting.discard(k)
        clock += 1
    return [start[k] for k in range(len(circuit.stages))], units


def _best(circuit: Circuit, start: list[int], fixed: frozenset[int]) -> list[int]:
    """Return starts that keep fewer bits waiting: from early ones and from late ones, whichever comes out better."""
    search = _Search(circuit, fixed)
    found = [search.settle(list(start)), search.settle(search.late(start))]
    return min(found, key=search.waiting)


class _Search:
    """Moves stages one by one; the latency stays."""

    def __init__(self, circuit: Circuit, fixed: frozenset[int]) -> None:
        self.circuit = circuit
        stages = circuit.stages
        self.readers: list[list[int]] = [[] for _ in stages]
        for k, stage in enumerate(stages):
            for source in dict.fromkeys(stage.operands):
                self.readers[source].append(k)
        self.bits = [stage.bits for stage in stages]
        self.latency = [stage.latency for stage in stages]
        self.ends = set(circuit.outputs)
        self.fixed = fixed | {k for k, stage in enumerate(stages) if stage.kind == "input"}

    def end(self, start: Sequence[int]) -> int:
        """Return the clock in which all outputs are read."""
        return max(start[k] + self.latency[k] for k in self.ends)

    def last_read(self, k: int, start: Sequence[int], end: int, but: int = -1) -> int:
        """Return the clock in which a word is read last, by stages other than `but`."""
        last = end if k in self.ends else 0
        for reader in self.readers[k]:
            if reader != but and start[reader] > last:
                last = start[reader]
        return last

    def waiting(self, start: Sequence[int]) -> int:
        """Return the bits that wait, times clocks."""
        end = self.end(start)
        return sum(
            self.bits[k] * max(0, self.last_read(k, start, end) - start[k] - self.latency[k]) for k in range(len(start))
        )

    def late(self, start: Sequence[int]) -> list[int]:
        """Return starts as late as the latency allows."""
        end, found = self.end(start), list(start)
        for k in range(len(found) - 1, -1, -1):
            if k not in self.fixed:
                found[k] = self._latest(k, found, end)
        return found

    def _latest(self, k: int, start: Sequence[int], end: int) -> int:
        reads = [start[reader] for reader in self.readers[k]]
        return min([*reads, *([end] if k in self.ends else [])], default=end) - self.latency[k]

    def settle(self, start: list[int]) -> list[int]:
        """Move stages, later or earlier, as long as fewer bits wait; what changes nothing is done too, in turns."""
        end = self.end(start)
        free = [k for k in range(len(start)) if k not in self.fixed]
        best, known = list(start), self.waiting(start)
        for turn in range(MAX_PASSES):
            later = turn % 2 == 0
            moved = False
            for k in reversed(free) if later else free:
                clock = self._place(k, start, end, later)
                moved |= clock != start[k]
                start[k] = clock
            now = self.waiting(start)
            if now < known:
                best, known = list(start), now
            elif not moved or turn > MAX_PASSES // 2:
                break
        return best

    def _place(self, k: int, start: Sequence[int], end: int, later: bool) -> int:
        """Return the clock for a stage, all others left, that keeps the fewest bits waiting."""
        operands = dict.fromkeys(self.circuit.stages[k].operands)
        first = max((start[source] + self.latency[source] for source in operands), default=0)
        last = self._latest(k, start, end)
        others = [(self.bits[source], self.last_read(source, start, end, but=k)) for source in operands]
        clocks = {first, last, *(read for _, read in others if first < read < last)}

        def cost(clock: int) -> tuple[int, int]:
            held = sum(bits * max(0, clock - read) for bits, read in others) - self.bits[k] * clock
            return held, -clock if later else clock

        return min(clocks, key=cost)

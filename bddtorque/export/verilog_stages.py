"""A circuit as stages: each keeps the word of an expression in a register, from one clock to the next.

Expressions are Verilog with ``@0``, ``@1``, ... for the words of other stages, and every one of their parts has the
width that it is used with: linters find nothing to complain about. When a stage runs is decided later (`timetable`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

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
    """One register of a circuit.

    Attributes
    ----------
    operands
        The stages that its expression reads.
    text
        The expression; of a memory, its address.
    range
        The numbers that the register can hold, two's complement if one is negative.
    kind
        An input port, logic, a read of a memory, a network of multiplexers, or a product of two words.
    drop
        Low bits of the expression that are not kept.
    latency
        Clocks from the operands to the register.
    place
        Number of the memory, of the block or of the input port.
    """

    operands: tuple[int, ...]
    text: str
    range: Range
    kind: Kind = "logic"
    drop: int = 0
    latency: int = 1
    place: int = -1

    @property
    def signed(self) -> bool:
        """Whether the word is two's complement."""
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
            operands = tuple(places[each] for each in stage.operands)
            moved = Stage(operands, stage.text, stage.range, stage.kind, stage.drop, stage.latency, place)
            places[k] = kept.add(moved)
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

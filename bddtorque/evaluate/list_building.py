"""`ProcessorLists`: what each of P processors does for one state, as plain arrays that compiled code runs.

The lists come from a `Spreading`, the schedule that the counted model prices: each processor does its own operations in
their scheduled order. What stands together is done together: walks of neighbouring bits of one look-up are one
instruction, an addition whose result only the next instruction reads is part of that one, and so are both look-ups of
a product by quarter squares.

A row is an instruction. It reads Σ factor·(slot << left >> right) over rows of `operands` (slot, left, right, factor,
width); on the left bits beyond 64 are lost, so that a word can be cut to its bits. Where there is a width, the sum so
far is the next word of a table's index, of so many bits.

    op         target  a      b      c       d       e        f
    WALK       slot    first  end    block
    SQUARES    slot    first  end    block   middle  width    constant   a word from first, another from middle on
    SUM        slot    first  end
    MAGNITUDE  slot    first  end
    SIGN       slot    first  end                            the third word, negated where the others' signs differ
    CLAMP      slot    first  end    shift   lowest  highest
    WAIT       -       sender number                         until the sender has posted this number, or a later one
    POST       -       number                                what was done up to here may be read by others

Slots lie in one array, each processor's together: first what others read, in the order in which it is made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bddtorque.evaluate.operations import Operation
from bddtorque.evaluate.program import BITS, INPUT, LOCKSTEP, Program
from bddtorque.evaluate.spreading import Spreading
from bddtorque.evaluate.wiring import WordView
from bddtorque.plan.forms.lockstep import LANES

Integers = npt.NDArray[np.int64]
WALK, SUM, MAGNITUDE, SIGN, CLAMP, WAIT, POST, SQUARES = range(8)
KINDS = {"walk": WALK, "add": SUM, "magnitude": MAGNITUDE, "sign": SIGN, "clamp": CLAMP}
COLUMNS, OPERAND_COLUMNS = 8, 5
LINE = 16
"""Words that lie together in the caches: what two processors write must not share a line, nor two neighbouring ones."""


class ProcessorLists(NamedTuple):
    """Arrays that compiled code reads.

    Attributes
    ----------
    program
        The blocks and their pools, with rows for parts of look-ups; its code reads the input words.
    code
        (rows, 8) int64, processor after processor.
    starts
        (P + 1,) int64, where the rows of each begin.
    operands
        (m, 5) int64.
    outputs
        (n,) int64, the slots of the output words.
    one
        The slot that holds 1.
    slots
        How many there are.
    meetings
        How many waits for another processor there are.
    """

    program: Program
    code: Integers
    starts: Integers
    operands: Integers
    outputs: Integers
    one: int
    slots: int
    meetings: int


Slot = tuple[str, object]
"""A place in memory before it has a number: an input, the constant 1, or the result of an instruction."""
Shifts = tuple[int, int]
"""Part of a slot that is kept: it is shifted to the left, where bits beyond 64 are lost, and then back to the right."""
WHOLE: Shifts = (0, 0)
Summand = tuple[Slot, Shifts, int]
"""factor · (slot << left >> right), as (slot, shifts, factor)."""
ONE: Slot = ("one", -1)


@dataclass
class _Instruction:
    """Operations that are done as one."""

    operations: list[Operation]
    processor: int
    number: int = 0
    """Counted from 1 on its processor."""
    parts: list[list[Summand]] = field(default_factory=list)
    """The words it reads."""
    reads: set[int] = field(default_factory=set)
    """Instructions whose results it reads, by their places in the list of all."""

    @property
    def last(self) -> Operation:
        return self.operations[-1]


def processor_lists(spreading: Spreading, program: Program, inputs: Sequence[str]) -> ProcessorLists:
    """Return the lists of a schedule, for blocks in the forms of a program.

    Bits of one look-up that are done apart need a form that walks bit by bit.

    Parameters
    ----------
    program
        Of the plan that was spread.
    inputs
        The names of its input words, in the order of its instructions.
    """
    return _ListBuilder(spreading, program).built(inputs)


class _ListBuilder:
    """Lists in the making."""

    def __init__(self, spreading: Spreading, program: Program) -> None:
        self.program, self.processors = program, spreading.processors
        self.instructions: list[_Instruction] = []
        self.maker: dict[str, int] = {}
        """The instruction that does an operation, by its place among all."""
        self.widths = Counter(each.word for each in spreading.operations if each.kind == "walk")
        self.blocks: list[list[int]] = program.blocks.tolist()
        self.roots = program.roots
        self.cut: dict[tuple[int, int, int], int] = {}
        number = {each.name: k for k, each in enumerate(spreading.operations)}
        by_name = {each.name: each for each in spreading.operations}
        for placed in sorted(
            spreading.schedule.placements, key=lambda one: (one.processor, one.start, one.end, number[one.task])
        ):
            self._place(by_name[placed.task], placed.processor)
        self.readers = self._readers()
        self.inside = self._inside()
        self.squares = self._squares()
        self.inside |= {walk for pair, _ in self.squares.values() for walk in pair}
        self.own: list[list[int]] = [[] for _ in range(self.processors)]
        for place, each in enumerate(self.instructions):
            if place not in self.inside:
                self.own[each.processor].append(place)
                each.number = len(self.own[each.processor])
                self._read(place)

    def built(self, inputs: Sequence[str]) -> ProcessorLists:
        """Return the lists; `inputs` are the names of the program's input words, one after another."""
        slots, outputs, size = self._slots(inputs)
        waits: list[dict[int, int]] = []
        """Of each instruction: how far others must have come, where that is not known from before."""
        for mine in self.own:
            known = dict.fromkeys(range(self.processors), 0)
            for place in mine:
                wanted: dict[int, int] = {}
                for maker in self.instructions[place].reads:
                    made = self.instructions[maker]
                    if made.processor != self.instructions[place].processor:
                        wanted[made.processor] = max(made.number, wanted.get(made.processor, 0))
                wanted = {sender: far for sender, far in wanted.items() if far > known[sender]}
                known |= wanted
                waits.append(wanted)
        posts = {(sender, far) for wanted in waits for sender, far in wanted.items()}
        code: list[list[int]] = []
        operands: list[tuple[int, ...]] = []
        starts = [0]
        waiting = iter(waits)
        for processor, mine in enumerate(self.own):
            for place in mine:
                each = self.instructions[place]
                code += [[WAIT, 0, sender, far] for sender, far in next(waiting).items()]
                first = len(operands)
                operands += self._operands(each, slots)
                kind = SQUARES if place in self.squares else KINDS[each.last.kind]
                settings = self._settings(place, first)
                code.append([kind, slots["made", place], first, len(operands), *settings])
                if (processor, each.number) in posts:
                    code.append([POST, 0, each.number])
            starts.append(len(code))
        loads = self.program.code[self.program.code[:, 0] == INPUT]
        loads[:, 1] = [slots["input", name] for name in inputs]
        held = self.program._replace(code=loads, blocks=np.array(self.blocks, dtype=np.int64), roots=self.roots)
        return ProcessorLists(
            held,
            np.array([row + [0] * (COLUMNS - len(row)) for row in code], dtype=np.int64).reshape(-1, COLUMNS),
            np.array(starts, dtype=np.int64),
            np.array(operands, dtype=np.int64).reshape(-1, OPERAND_COLUMNS),
            np.array(outputs, dtype=np.int64),
            slots[ONE],
            size,
            sum(map(len, waits)),
        )

    def _place(self, operation: Operation, processor: int) -> None:
        """Put an operation after those its processor has: into the last instruction, if that walks on here."""
        last = self.instructions[-1] if self.instructions else None
        if (
            last is not None
            and last.processor == processor
            and operation.kind == last.last.kind == "walk"
            and (operation.word, operation.bit) == (last.last.word, last.last.bit + 1)
        ):
            last.operations.append(operation)
        else:
            self.instructions.append(_Instruction([operation], processor))
        self.maker[operation.name] = len(self.instructions) - 1

    def _readers(self) -> dict[int, set[int]]:
        """Return who reads what each instruction makes."""
        readers: dict[int, set[int]] = {}
        for place, each in enumerate(self.instructions):
            for operation in each.operations:
                for word in operation.operands:
                    for name in word.sources:
                        readers.setdefault(self.maker[name], set()).add(place)
        return readers

    def _inside(self) -> set[int]:
        """Return the additions that are part of the one instruction that reads them."""
        apart: set[int] = set()
        for each in self.instructions:
            for operation in each.operations:
                for word in operation.operands:
                    cut = word.shift and (operation.kind != "clamp" or word.scale)
                    wraps = word.wrap and operation.kind != "walk"
                    if operation.kind not in ("add", "walk", "clamp") or cut or wraps:
                        apart |= {self.maker[name] for name in word.sources}
        return {
            place
            for place, each in enumerate(self.instructions)
            if each.last.kind == "add" and place not in apart and self._has_one_reader_beside(place)
        }

    def _has_one_reader_beside(self, place: int) -> bool:
        """Tell whether one instruction reads what another makes, on the same processor."""
        readers = self.readers.get(place, set())
        return len(readers) == 1 and self._processor(min(readers)) == self._processor(place)

    def _processor(self, place: int) -> int:
        return self.instructions[place].processor

    def _squares(self) -> dict[int, tuple[tuple[int, int], int]]:
        """Return the differences of two look-ups in one table, of a + b and a - b, that nothing else reads.

        By the instruction that subtracts: both look-ups, and the constant that it adds.
        """
        found = {}
        for place, each in enumerate(self.instructions):
            if each.last.kind != "add" or place in self.inside:
                continue
            summands = self._summands(_Instruction([], 0), each.last)
            walks = {
                factor: maker
                for (kind, maker), shifts, factor in summands
                if kind == "made" and isinstance(maker, int) and shifts == WHOLE
            }
            others = [slot for slot, _, _ in summands if slot not in [("made", walk) for walk in walks.values()]]
            if walks.keys() != {1, -1} or len(summands) - len(others) != 2 or set(others) - {ONE}:
                continue
            pair = walks[1], walks[-1]
            if all(map(self._is_whole_look_up, pair)) and self._sides(_Instruction([], 0), *pair):
                found[place] = pair, sum(factor for slot, _, factor in summands if slot == ONE)
        return found

    def _is_whole_look_up(self, place: int) -> bool:
        """Tell whether an instruction looks one word up that one other reads."""
        each = self.instructions[place]
        whole = each.last.kind == "walk" and len(each.operations) == self.widths[each.last.word]
        return whole and len(each.last.operands) == 1 and self._has_one_reader_beside(place)

    def _sides(self, reader: _Instruction, plus: int, minus: int) -> list[list[Summand]]:
        """Return a and b where one instruction looks a + b up and another one a - b in the same table; else nothing."""
        factors: list[dict[tuple[Slot, Shifts], int]] = [{}, {}]
        for place, own in zip((plus, minus), factors, strict=True):
            each = self.instructions[place]
            needed = {name for operation in each.operations for name in operation.predecessors}
            for slot, shifts, factor in self._word(reader, each.last.operands[0], needed):
                own[slot, shifts] = own.get((slot, shifts), 0) + factor
        first, second = factors
        alike = self.instructions[plus].last.block == self.instructions[minus].last.block
        if not alike or any(abs(factor) != abs(second.get(key, 0)) for key, factor in first.items()):
            return []
        sides = [[(*key, factor) for key, factor in first.items() if second[key] == sign * factor] for sign in (1, -1)]
        return sides if len(first) == len(second) and all(sides) else []

    def _read(self, place: int) -> None:
        """Find what an instruction reads."""
        each = self.instructions[place]
        needed = {name for operation in each.operations for name in operation.predecessors}
        words = each.last.operands
        if place in self.squares:
            each.parts = self._sides(each, *self.squares[place][0])
        elif each.last.kind == "walk":
            each.parts = [self._word(each, word, needed) for word in words]
        elif each.last.kind == "sign":  # the word itself last
            each.parts = [self._word(each, word, needed) for word in (*words[1:], words[0])]
        else:
            each.parts = [self._summands(each, each.last)]

    def _summands(self, reader: _Instruction, operation: Operation) -> list[Summand]:
        """Return what an operation adds up; one that reads a single word reads it so."""
        needed = set(operation.predecessors)
        return [
            (slot, shifts, sign * factor)
            for word, sign in zip(operation.operands, operation.signs or (1,), strict=True)
            for slot, shifts, factor in self._word(reader, word, needed, wraps=True)
        ]

    def _word(self, reader: _Instruction, word: WordView, needed: Set[str], wraps: bool = False) -> list[Summand]:
        """Return a word as a sum of slots; of bits apart only those that are needed.

        Low bits of what wraps are right anyway, as far as a table's index reads them; as a summand (`wraps`) it is
        brought to its bits.
        """
        factor, shifts = 1 << word.scale, (0, word.shift)
        if word.wrap and wraps:
            lost = 64 - (word.wrap - word.scale)
            shifts = (lost - word.shift, lost)
        if word.input is not None:
            return [(("input", word.input), shifts, factor)]
        if not word.sources:
            return [(ONE, WHOLE, (word.constant >> word.shift) << word.scale)]
        makers = dict.fromkeys(self.maker[name] for name in word.sources if name in needed)
        if word.shift and len(makers) > 1:
            raise ValueError("a word of several instructions is read as it is")
        summands: list[Summand] = []
        for maker in makers:
            made = self.instructions[maker]
            if maker in self.inside:
                inner = self._summands(reader, made.last)
                summands += [(slot, own, factor * each) for slot, own, each in inner]
            else:
                reader.reads.add(maker)
                weight = 1 << made.operations[0].bit if word.bits_apart else 1
                summands.append((("made", maker), shifts, factor * weight))
        return summands

    def _operands(self, each: _Instruction, slots: Mapping[Slot, int]) -> list[tuple[int, ...]]:
        """Return the rows of what an instruction reads, equal slots once; a width ends each word but the last."""
        widths = each.last.widths if each.last.kind == "walk" else (1,) * (len(each.parts) - 1) + (0,)
        rows: list[tuple[int, ...]] = []
        for part, width in zip(each.parts, widths, strict=True):
            factors: dict[tuple[Slot, Shifts], int] = {}
            for slot, shifts, factor in part:
                factors[slot, shifts] = factors.get((slot, shifts), 0) + factor
            word = [(slots[slot], *shifts, factor, 0) for (slot, shifts), factor in factors.items() if factor]
            word = word or [(slots[ONE], *WHOLE, 0, 0)]
            rows += [*word[:-1], (*word[-1][:-1], width)]
        return rows

    def _settings(self, place: int, first: int) -> list[int]:
        """Return what an instruction must know beside what it reads, from row `first` of the operands on."""
        each = self.instructions[place]
        if place in self.squares:
            (plus, _), constant = self.squares[place]
            walk = self.instructions[plus].last
            return [walk.block, first + len(each.parts[0]), walk.widths[0], constant]
        if each.last.kind == "walk":
            return [self._block(each)]
        if each.last.kind == "clamp":
            (word,) = each.last.operands
            shift = word.shift if any(self.maker[name] in self.inside for name in word.sources) else 0
            return [shift, each.last.low, each.last.high]
        return []

    def _block(self, each: _Instruction) -> int:
        """Return the row of a look-up, or a new one of those of its bits that an instruction walks."""
        block, first, count = each.last.block, each.operations[0].bit, len(each.operations)
        bits = self.widths[each.last.word]
        if count == bits:
            return block
        if (block, first, count) not in self.cut:
            row = self.blocks[block]
            if row[0] not in (BITS, LOCKSTEP):
                raise ValueError("only walks bit by bit are done in parts")
            roots = self.program.roots[row[1] + first : row[1] + first + count]
            if row[0] == LOCKSTEP:
                roots = np.append(roots, np.repeat(roots[:1], -count % LANES))
            signed = row[5] if first + count == bits else 0
            ends = (len(self.roots), len(self.roots) + len(roots))
            self.cut[block, first, count] = len(self.blocks)
            self.blocks.append([row[0], *ends, *row[3:5], signed, row[6], count if row[0] == LOCKSTEP else 0])
            self.roots = np.append(self.roots, roots)
        return self.cut[block, first, count]

    def _slots(self, inputs: Sequence[str]) -> tuple[dict[Slot, int], list[int], int]:
        """Return the place of each slot, the slots of outputs, and how many there are."""
        crossing = {
            maker
            for each in self.instructions
            for maker in each.reads
            if self.instructions[maker].processor != each.processor
        }
        outputs = {each.last.output: place for place, each in enumerate(self.instructions) if each.last.output >= 0}
        crossing |= set(outputs.values())
        regions: list[list[Slot]] = [[ONE, *(("input", name) for name in inputs)]]
        regions += [[("made", place) for place in mine] for mine in self.own]
        slots: dict[Slot, int] = {}
        size = 0
        for region in regions:
            for name in sorted(region, key=lambda name: name[1] not in crossing):
                slots[name] = size
                size += 1
            size += -size % LINE
        return slots, [slots["made", outputs[k]] for k in sorted(outputs)], size

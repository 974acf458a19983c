"""`ProcessorCode`: what each of P processors does for one state, as generated code.

The lists come from a `Spreading`, the schedule that the counted model prices: each processor does its own operations in
their scheduled order. A list is cut into sections where a processor waits for another, and after what others wait for;
a section is straight-line code. Words that leave a section lie in `slots`, each processor's together: first what others
read, in the order in which it is made. Walks of neighbouring bits of one look-up are one walk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from bddtorque.evaluate.code_writer import CodeWriter, plans_folder
from bddtorque.evaluate.operations import Operation, WordView
from bddtorque.evaluate.pointers import entry
from bddtorque.evaluate.single import plan_kinds
from bddtorque.evaluate.spreading import Spreading
from bddtorque.evaluate.statements import PART_CHARACTERS, Statement, check_inputs, hand_over, load_inputs, wrapped
from bddtorque.evaluate.straight import (
    HEADER,
    Evaluable,
    TablePool,
    Walkable,
    WalkPool,
    blocks_read,
    join_index,
    walkable_forms,
)
from bddtorque.evaluate.threads import LINE
from bddtorque.plan.forms import Lockstep
from bddtorque.plan.forms.bit_forms import LANES

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ProcessorCode:
    """Generated code, and the arrays that say when it is run."""

    read: int  # the address of what loads the inputs of a state, (arrays, out, slots, counts)
    sections: Integers  # (sections, 5), processor after processor
    starts: Integers  # (P + 1,): where the sections of each begin
    waits: Integers  # (meetings, 2)
    outputs: Integers  # (n,): the slots of the output words
    slots: int  # how many there are
    table: Integers  # what look-ups read
    kept: Any  # must live as long as the code


@dataclass
class _Step:
    """Operations that are done as one."""

    operations: list[Operation]
    processor: int
    number: int  # counted from 1 on its processor
    statement: Statement = field(default_factory=lambda: Statement("", ""))

    @property
    def last(self) -> Operation:
        return self.operations[-1]


def processor_code(model: Evaluable, form: str, spreading: Spreading) -> ProcessorCode:
    """Return the code of a schedule, blocks being in a form. Bits of a look-up that are done apart need diagrams."""
    return _ProcessorWriter(model, form, spreading).compiled()


class _ProcessorWriter(CodeWriter):
    """The module of a schedule."""

    def __init__(self, model: Evaluable, form: str, spreading: Spreading) -> None:
        super().__init__(model.plan, model.formats, HEADER)
        self.model, self.processors = model, spreading.processors
        self.forms: Sequence[Walkable] = walkable_forms(model, form)
        plan = model.plan
        self.pool = WalkPool(plan, self.forms) if self.forms else TablePool(plan, blocks_read(plan, False))
        self.inputs_by_name = {plan.wires[word.wire].name: f"x{word.wire}" for word in self.inputs}
        self.widths = Counter(operation.word for operation in spreading.operations if operation.kind == "walk")
        self.cut_rows: dict[tuple[int, int, int], int] = {}
        self.steps: list[_Step] = []
        self.maker: dict[str, int] = {}  # the step that does an operation
        self._place_operations(spreading)
        for place, step in enumerate(self.steps):
            step.statement = self._statement(f"v{place}", step)

    def compiled(self) -> ProcessorCode:
        """Return the code, compiled, with the arrays that it needs."""
        waits = self._waits()
        posted = {(sender, far) for wanted in waits for sender, far in wanted.items()}
        groups: list[list[Statement]] = []
        rows: list[tuple[int, int, int]] = []  # first wait, end, post
        starts, every_wait = [0], list[tuple[int, int]]()
        for processor in range(self.processors):
            size = PART_CHARACTERS  # begin a section
            for step, wanted in zip(self.steps, waits, strict=True):
                if step.processor != processor:
                    continue
                if wanted or size >= PART_CHARACTERS:
                    first = len(every_wait)
                    every_wait += list(wanted.items())
                    groups.append([])
                    rows.append((first, len(every_wait), 0))
                    size = 0
                groups[-1].append(step.statement)
                size += len(str(step.statement))
                if (processor, step.number) in posted:
                    rows[-1] = (*rows[-1][:2], step.number)
                    size = PART_CHARACTERS
            starts.append(len(groups))
        slots, outputs, count = self._slots(groups)
        places = {name: f"slots[{slot}]" for name, slot in slots.items()}
        parts = self._write_sections(hand_over(groups, (), places, lambda name: places[name]))
        keep = [f"{places[f'x{word.wire}']} = {_held(word)}" for word in self.inputs]
        load = [*load_inputs(self.counted), *check_inputs(self.counted, True), *keep]
        call = self.add_block("load", [*self.names, "slots", "counts", "s"], load)
        self.add("read(arrays, out, slots, counts)", [self.taken_apart, "s = 0", call])
        return self._arrays(rows, parts, starts, every_wait, outputs, count)

    def _arrays(self, rows: Any, parts: Any, starts: Any, waits: Any, outputs: Any, slots: int) -> ProcessorCode:
        module = self.module(plans_folder())
        if isinstance(self.pool, WalkPool):
            table = self.pool.descriptor()
        else:
            table = self.pool.values(self.model.tables).astype(np.int64)
        words: Any = types.Array(types.int64, 1, "C")
        names = dict.fromkeys(name for name, _ in parts)
        addresses = {name: entry(getattr(module, name), (types.int64, words, words)) for name in names}
        sections = [(addresses[name], number, *row) for (name, number), row in zip(parts, rows, strict=True)]
        return ProcessorCode(
            entry(module.read, plan_kinds(len(self.names), table)),
            np.array(sections, dtype=np.int64).reshape(-1, 5),
            np.array(starts, dtype=np.int64),
            np.array(waits, dtype=np.int64).reshape(-1, 2),
            np.array(outputs, dtype=np.int64),
            slots,
            table,
            self.pool,
        )

    def _write_sections(self, bodies: Sequence[Sequence[str]]) -> list[tuple[str, int]]:
        """Add functions that do the sections, and return the function of each and its number there."""
        parts: list[list[str]] = []
        found: list[tuple[str, int]] = []
        size, number = PART_CHARACTERS, 0
        for body in bodies:
            if size >= PART_CHARACTERS:
                parts.append(["match section:"])
                size = number = 0
            parts[-1] += [f"    case {number}:", *(f"        {line}" for line in body)]
            found.append((f"part{len(parts) - 1}", number))
            size, number = size + sum(map(len, body)), number + 1
        given = ["section", "slots", "table"]
        for place, part in enumerate(parts):
            self.add(f"part{place}({', '.join(given)})", [self.add_block(f"block_part{place}", given, part)])
        return found

    def _place_operations(self, spreading: Spreading) -> None:
        """Put operations in the steps of their processors: a walk into the last step, if that walks on here."""
        order = {operation.name: k for k, operation in enumerate(spreading.operations)}
        numbers: Counter[int] = Counter()
        for placed in sorted(
            spreading.schedule.placements, key=lambda task: (task.processor, task.start, task.end, order[task.task])
        ):
            operation, processor = spreading.operations[order[placed.task]], placed.processor
            last = self.steps[-1] if self.steps else None
            if last and last.processor == processor and _walks_on(last.last, operation):
                last.operations.append(operation)
            else:
                numbers[processor] += 1
                self.steps.append(_Step([operation], processor, numbers[processor]))
            self.maker[operation.name] = len(self.steps) - 1

    def _waits(self) -> list[dict[int, int]]:
        """Return how far others must have come before each step, where that is not known from before."""
        waits, known = [], [[0] * self.processors for _ in range(self.processors)]
        for step in self.steps:
            wanted: dict[int, int] = {}
            for name in step.statement.reads:
                made = self.steps[int(name[1:])] if name.startswith("v") else step
                if made.processor != step.processor and made.number > known[step.processor][made.processor]:
                    wanted[made.processor] = max(made.number, wanted.get(made.processor, 0))
            for sender, far in wanted.items():
                known[step.processor][sender] = far
            waits.append(wanted)
        return waits

    def _slots(self, groups: Sequence[Sequence[Statement]]) -> tuple[dict[str, int], list[int], int]:
        """Return the slots of inputs and of words that leave a section, those of outputs, and how many there are."""
        setter = {statement.target: group for group, own in enumerate(groups) for statement in own}
        processor = {f"v{k}": step.processor for k, step in enumerate(self.steps)}
        outputs = {step.last.output: f"v{k}" for k, step in enumerate(self.steps) if step.last.output >= 0}
        leaving, crossing = set(outputs.values()), set(outputs.values())
        for group, own in enumerate(groups):
            for statement in own:
                read = {name for name in statement.reads if setter.get(name, group) != group}
                leaving |= read
                crossing |= {name for name in read if processor[name] != processor[statement.target]}
        regions: list[list[str]] = [list(self.inputs_by_name.values()), *([] for _ in range(self.processors))]
        for name, own_processor in processor.items():
            if name in leaving:
                regions[1 + own_processor].append(name)
        slots: dict[str, int] = {}
        size = 0
        for region in regions:
            for name in sorted(region, key=lambda name: name not in crossing):
                slots[name] = size
                size += 1
            size += -size % LINE
        return slots, [slots[outputs[k]] for k in sorted(outputs)], size

    def _statement(self, target: str, step: _Step) -> Statement:
        """Return what a step does."""
        operation = step.last
        needed = {name for part in step.operations for name in part.predecessors}
        words = [self._word(word, needed, operation.kind != "walk") for word in operation.operands]
        texts = [text for text, _ in words]
        match operation.kind:
            case "walk":
                value = self._look_up(step, join_index(texts, operation.widths))
            case "add":
                signs = ("+" if sign > 0 else "-" for sign in operation.signs)
                value = " ".join(["int64(0)", *(f"{sign} {text}" for sign, text in zip(signs, texts, strict=True))])
            case "magnitude":
                value = f"abs({texts[0]})"
            case "sign":
                value = f"(-{texts[0]} if ({texts[1]} < 0) != ({texts[2]} < 0) else {texts[0]})"
            case "clamp":
                value = f"min(max({texts[0]}, {operation.low}), {operation.high})"
        return Statement(target, value, tuple(dict.fromkeys(name for _, reads in words for name in reads)))

    def _word(self, word: WordView, needed: set[str], wraps: bool) -> tuple[str, list[str]]:
        """Return a word as its reader sees it, and the names it is made of; of bits apart only those that are needed.

        An index needs only its low bits: other words are brought to theirs (`wraps`).
        """
        if word.input is not None:
            reads = [self.inputs_by_name[word.input]]
            text = reads[0]
        elif word.sources:
            makers = dict.fromkeys(self.maker[name] for name in word.sources if name in needed)
            reads = [f"v{maker}" for maker in makers]
            firsts = [self.steps[maker].operations[0].bit if word.bits_apart else 0 for maker in makers]
            terms = [f"({name} << {first})" if first else name for name, first in zip(reads, firsts, strict=True)]
            text = f"({' + '.join(terms or ['int64(0)'])})"
        else:
            reads, text = [], f"int64({word.constant})"
        text = f"({text} >> {word.shift})" if word.shift else text
        text = f"({text} << {word.scale})" if word.scale else text
        return f"({wrapped(text, word.wrap)})" if word.wrap and wraps else text, reads

    def _look_up(self, step: _Step, index: str) -> str:
        """Return the expression that looks up the bits of a step: all of a block's, or walks from some of its roots."""
        block, first, count = step.last.block, step.operations[0].bit, len(step.operations)
        bits = self.widths[step.last.word]
        if count == bits:
            return f"int64({self.pool.entry(block, index)})"
        if not isinstance(self.pool, WalkPool):
            raise ValueError("only walks bit by bit are done in parts")
        if (block, first, count) not in self.cut_rows:
            form = self.forms[block]
            roots = form.roots[first : first + count]
            if isinstance(form, Lockstep):
                roots = np.append(roots, np.repeat(roots[:1], -count % LANES))
            signed = form.signed and first + count == bits
            self.cut_rows[block, first, count] = self.pool.add_row(form, roots, count, signed)
        return f"walk(table, {self.cut_rows[block, first, count]}, {index})"


def _walks_on(last: Operation, operation: Operation) -> bool:
    """Tell whether an operation walks the bit after that of another one, of the same word."""
    alike = last.kind == operation.kind == "walk" and operation.word == last.word
    return alike and operation.bit == last.bit + 1


def _held(word: Any) -> str:
    x = f"x{word.wire}"
    return wrapped(x, word.bits) if word.wraps else x

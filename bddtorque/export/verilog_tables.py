"""Tables as ROMs: block memory by size, folded where that saves a block; small ones as logic.

A block of memory has 4,096 bits, as on the iCE40; larger ones of other families hold a multiple of it. A folded table
keeps half or a quarter of its words (`plan.forms.word_forms`): the index is mirrored before, the word negated after,
and the one word in the middle of the fold, which has no place among a power of two of them, is a constant. A table of
several words whose rows or columns are alike keeps each once, where that saves a block: f(x, y) = T[r[x] + c[y]]. Its
index is split into a high part x (the row) and a low part y (the column), between the two words where the parts are
most nearly of one length (the earlier place of two equally good ones).

The diagram of a block as a network of multiplexers: one per node, with registers every few levels.

It is what a diagram is in gates. A ROM of the same table takes block memory instead and one clock or two; which of the
two is smaller is for the user to see (`bddtorque bench --fpga`), and mostly it is the ROM.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.export.verilog_stages import Circuit, Memory, Stage, joined, literal, register_bits
from bddtorque.export.verilog_sums import sum_stage
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.forms.word_forms import find_rule
from bddtorque.plan.rows import merge_rows
from bddtorque.plan.table import IntegerArray, Table
from bddtorque.words.integer_range import Range


@dataclass(frozen=True, eq=False)
class RowClasses:
    """The classes of a table of several words."""

    rows: IntegerArray  # (2**row_bits,): r, for each row its class times the number of column classes
    columns: IntegerArray  # (2**column_bits,): c, for each column its class
    words: IntegerArray  # (row classes * column classes,): T

    @classmethod
    def from_table(cls, table: Table) -> RowClasses:
        """Merge the rows that are alike, then the columns; classes are numbered in the order they are met."""
        row_bits = split_at(table.input_widths)
        rows, kept = merge_rows(table.values.reshape(1 << row_bits, -1))
        columns, kept = merge_rows(np.ascontiguousarray(kept.T))
        return cls(rows.astype(np.int64) * kept.shape[0], columns, np.ascontiguousarray(kept.T).reshape(-1))

    def expand(self) -> IntegerArray:
        """Return all values of the table."""
        values: IntegerArray = self.words[(self.rows[:, None] + self.columns).reshape(-1)]
        return values


def split_at(input_widths: tuple[int, ...]) -> int:
    """Return the bits of the row part, by the rule of this module."""
    total = sum(input_widths)
    return min(list(accumulate(input_widths))[:-1], key=lambda bits: abs(2 * bits - total))


LEVELS = 4
"""Levels of multiplexers between two registers."""
MAX_NODES = 20_000
"""Of a diagram that is written as a network: more take a synthesiser hours."""


def network_clocks(diagram: Diagram) -> int:
    """Return the clocks that a network takes, the register behind it included."""
    return max(-(-len(diagram.order) // LEVELS), 1)


def check_network(block: int, diagram: Diagram) -> None:
    """Refuse a diagram that is too large."""
    nodes = len(diagram.level) - 1
    if nodes > MAX_NODES:
        raise BddTorqueError(
            f"block {block} has {nodes:,} nodes, and a network of multiplexers may have {MAX_NODES:,}: "
            "use ROMs (without --bits-network), fewer bits or smaller --block-bits"
        )


def network_text(name: str, diagram: Diagram) -> str:
    """Return a module: index x in, most significant bit first in the diagram's order, word y out.

    Clocks are counted from the terminals up, as values flow. A node at level L is computed in clock (depth − 1 − L) //
    LEVELS; what an earlier clock computed, and the bits of x that later clocks test, go through registers.
    """
    bits, depth = diagram.input_bits, len(diagram.order)
    lines = [
        f"module {name} (input wire clk, input wire [{bits - 1}:0] x, output wire [{diagram.output_bits - 1}:0] y);"
    ]
    last = network_clocks(diagram) - 1
    delayed: list[str] = []
    declared: list[str] = []
    copies: dict[tuple[str, int], str] = {}

    def at(signal: str, made: int, clock: int) -> str:
        """Return a signal that a clock made, as another clock reads it."""
        for k in range(made, clock):
            key = (signal, k + 1)
            if key not in copies:
                copies[key] = f"{signal}_{k + 1}"
                declared.append(f"    reg {copies[key]};")
                delayed.append(f"        {copies[key]} <= {copies.get((signal, k), signal)};")
        return copies[signal, clock] if clock > made else signal

    inputs = {variable: f"x{variable}" for variable in diagram.order}
    used = sorted({int(level) for level in diagram.level[1:].tolist()})
    for level in used:
        variable = diagram.order[level]
        declared.append(f"    wire x{variable} = x[{bits - 1 - variable}];")
    unread = [f"x[{bits - 1 - variable}]" for level, variable in enumerate(diagram.order) if level not in used]
    columns = (array[1:].tolist() for array in (diagram.level, diagram.low, diagram.high))
    clocks = [0]
    for node, (level, low, high) in enumerate(zip(*columns, strict=True), 1):
        clock = (depth - 1 - level) // LEVELS
        clocks.append(clock)

        def edge(reference: int, clock: int = clock) -> str:
            child, inverted = reference >> 1, reference & 1
            if child == 0:
                return "1'b1" if inverted else "1'b0"
            return f"{'~' * inverted}{at(f'n{child}', clocks[child], clock)}"

        choice = at(inputs[diagram.order[level]], 0, clock)
        declared.append(f"    wire n{node} = {choice} ? {edge(high)} : {edge(low)};")
    for bit, root in enumerate(diagram.roots.tolist()):
        child, inverted = root >> 1, root & 1
        word = (
            ("1'b1" if inverted else "1'b0")
            if child == 0
            else f"{'~' * inverted}{at(f'n{child}', clocks[child], last)}"
        )
        declared.append(f"    assign y[{bit}] = {word};")
    lines += declared
    if delayed:
        lines += ["    always @(posedge clk) begin", *delayed, "    end"]
    else:
        unread.append("clk")
    if unread:
        lines.append(f"    wire unused = &{{1'b0, {', '.join(unread)}}};")
    return "\n".join([*lines, "endmodule", ""])


SMALL_ADDRESS = 6
"""Bits of an index up to which a table is logic: 64 words take 7 look-up tables of 4 inputs for each bit."""
BLOCK_SHAPES = ((8, 16), (9, 8), (10, 4), (11, 2))
"""Address bits and bits of a word that one block of memory holds."""
MEMORY_CLOCKS = 2
"""A memory is slow to answer: its word goes into a register before anything is done with it."""


def memory_blocks(address_bits: int, bits: int) -> int:
    """Return the blocks that a ROM takes; none if it is logic."""
    if address_bits <= SMALL_ADDRESS:
        return 0
    for most, width in BLOCK_SHAPES:
        if address_bits <= most:
            return -(-bits // width)
    most, width = BLOCK_SHAPES[-1]
    return -(-bits // width) << (address_bits - most)


def table_stage(circuit: Circuit, table: Table, words: Sequence[int]) -> int:
    """Return the stage of a table's word at the words of some stages; bits above the table's are ignored."""
    whole = memory_blocks(table.input_bits, register_bits(table.range))
    if len(words) == 1 and whole and not circuit.plain:
        fold = find_rule(table, 0)
        if fold[3] and 0 < memory_blocks((fold[1] - 1).bit_length() - 1, register_bits(_kept(table, fold)[1])) < whole:
            return _folded(circuit, table, words[0], fold)
    if len(words) > 1 and whole and not circuit.plain:
        classes = RowClasses.from_table(table)
        if sum(memory_blocks(address, bits) for address, bits in _class_shapes(classes)) < whole:
            return _by_classes(circuit, table, classes, words)
    index = joined(
        [
            circuit.operand(k, stage, width)
            for k, (stage, width) in enumerate(zip(words, table.input_widths, strict=True))
        ]
    )
    return rom_stage(circuit, table.values.tolist(), table.range, words, index)


def _class_shapes(classes: RowClasses) -> list[tuple[int, int]]:
    """Return address bits and bits of the three ROMs of a table of classes."""
    return [
        (max((len(rom) - 1).bit_length(), 1), register_bits(Range(int(rom.min()), int(rom.max()))))
        for rom in (classes.rows, classes.columns, classes.words)
    ]


def _by_classes(circuit: Circuit, table: Table, classes: RowClasses, words: Sequence[int]) -> int:
    """Return the stage of a table's word by the classes of its first and its last words."""
    parts: list[tuple[int, int]] = []
    start, taken = 0, 0
    for values in (classes.rows, classes.columns):
        used: list[int] = []
        while 1 << taken < len(values):
            used.append(start + len(used))
            taken += table.input_widths[used[-1]]
        texts = [circuit.operand(k, words[each], table.input_widths[each]) for k, each in enumerate(used)]
        reach = Range(0, int(values.max()))
        parts.append((rom_stage(circuit, values.tolist(), reach, [words[each] for each in used], joined(texts)), 1))
        start, taken = start + len(used), 0
    place = sum_stage(circuit, parts, 0, 0, Range(0, len(classes.words) - 1))
    address = circuit.operand(0, place, max((len(classes.words) - 1).bit_length(), 1))
    return rom_stage(circuit, classes.words.tolist(), table.range, (place,), address)


def rom_stage(circuit: Circuit, values: Sequence[int], reach: Range, words: Sequence[int], index: str) -> int:
    """Return the stage of a ROM's word; `index` is its address, made of the words of some stages."""
    bits = register_bits(reach)
    place = circuit.memory(Memory(tuple(value & ((1 << bits) - 1) for value in values), bits))
    latency = MEMORY_CLOCKS if memory_blocks(circuit.memories[place].address_bits, bits) else 1
    return circuit.add(Stage(tuple(words), index, reach, "memory", latency=latency, place=place))


def _kept(table: Table, fold: Sequence[int]) -> tuple[list[int], Range, int]:
    """Return the words of a folded table but the last, their range, and the last."""
    bits, length, centre = fold[:3]
    kept = table.values[(np.arange(length) + centre) & ((1 << bits) - 1)].tolist()
    return kept[:-1], Range(min(kept[:-1]), max(kept[:-1])), kept[-1]


def _folded(circuit: Circuit, table: Table, word: int, fold: Sequence[int]) -> int:
    """Return the stage of a folded table's word: index and signs first, then the ROM, then the word with its sign."""
    bits, _, centre, first, second = fold
    values, reach, last = _kept(table, fold)
    text = circuit.operand(0, word, bits)
    if not text.startswith("@") or "[" in text:
        word = circuit.logic((word,), text, Range(-(1 << (bits - 1)), (1 << (bits - 1)) - 1))
    sign, below = (f"~(@0[{bits - 1}] ^ @0[{bits - 2}])", f"~@0[{bits - 2}]") if centre else (
        f"@0[{bits - 1}]", f"@0[{bits - 2}]")  # fmt: skip
    if second:  # a quarter is left: odd quarters are mirrored
        low, mirrored, size = f"@0[{bits - 3}:0]", below, bits - 2
        lowest = f"{sign} & ~({below}) & ~|@0[{size - 1}:0]"
    else:
        low, mirrored, size = joined([below, f"@0[{bits - 3}:0]"]), sign, bits - 1
        lowest = f"{sign} & ~({below}) & ~|@0[{bits - 3}:0]"
    zero = f"~|@0[{bits - 3}:0]" + ("" if second else f" & ~({below})")
    middle = f"({mirrored}) & {zero}"
    index = circuit.logic((word,), f"{mirrored} ? {literal(0, size)} - {low} : {low}", Range(0, (1 << size) - 1))
    special = circuit.logic((word,), middle, Range(0, 1))
    flips = []
    if first < 0:
        flips.append(f"({sign} & ~({lowest}))")
    if second < 0:  # beyond the middle, and not on it
        flips.append(f"(({sign} ^ {below}) & ~({middle}))")
    rom = rom_stage(circuit, values, reach, (index,), "@0")
    result = table.range
    width = register_bits(result)
    own, constant = circuit.operand(0, rom, width), literal(last, width)
    if not flips:
        return circuit.logic((rom, special), f"@1[0] ? {constant} : {own}", result)
    flip = circuit.logic((word,), " ^ ".join(flips), Range(0, 1))
    turned, negated = f"{literal(0, width)} - {own}", literal(-last, width)
    fixed = constant if last == 0 else f"(@2[0] ? {negated} : {constant})"
    return circuit.logic((rom, special, flip), f"@1[0] ? {fixed} : (@2[0] ? {turned} : {own})", result)


def case_function(name: str, memory: Memory) -> list[str]:
    """Return a small ROM as a function."""
    address, bits = memory.address_bits, memory.bits
    lines = [f"function [{bits - 1}:0] {name};", f"    input [{address - 1}:0] x;", "    case (x)"]
    lines += [f"        {address}'d{place}: {name} = {bits}'h{word:x};" for place, word in enumerate(memory.words[:-1])]
    lines += [f"        default: {name} = {bits}'h{memory.words[-1]:x};", "    endcase", "endfunction"]
    return lines


def hex_text(words: Iterable[int], bits: int) -> str:
    """Return words as `$readmemh` reads them."""
    digits = -(-bits // 4)
    return "".join(f"{word:0{digits}x}\n" for word in words)


def is_block(memory: Memory) -> bool:
    """Tell if a ROM is in block memory."""
    return memory.address_bits > SMALL_ADDRESS

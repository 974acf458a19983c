"""A word-wide processor beside the one-bit one: registers, arithmetic, tables; three ways to compute a block.

    bit tests       the same IF-THEN-ELSE, an AND and a branch for every test, output bit after output bit
    word tests      one walk through the multi-terminal diagram, which ends in a whole word
    table           the input words are put together to an index, and the word is loaded

Instructions have a fixed width and at most one constant or address. Input words are in registers 0, 1, ... when a
program starts, its output word is in register `RESULT` when it halts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from bddtorque.base.jit import njit
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.table import Table

Integers = npt.NDArray[np.int64]

REGISTERS = 16
RESULT, SCRATCH, LINK = 13, 14, 15
INSTRUCTION_BITS = 32


class WordOp(IntEnum):
    """Operation of an instruction on registers r and a, and the constant (or address, or register) k."""

    SET = 0  # r = k
    AND = 1  # r = a & k
    SHIFT = 2  # r = a << k
    OR = 3  # r = r | a
    OR_CONSTANT = 4  # r = r | k
    LOAD = 5  # r = table[a]
    BRANCH = 6  # if a ≠ 0, go on at k
    JUMP = 7  # go on at k
    CALL = 8  # LINK = next address, go on at k
    RETURN = 9  # go on at LINK
    HALT = 10


@dataclass(frozen=True, eq=False)
class WordProgram:
    """Instructions (length, 4) int64 of (op, r, a, k), and the table they load from, with the bits of its entries."""

    code: Integers
    input_widths: tuple[int, ...]
    table: Integers = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    table_bits: int = 0

    @property
    def code_bits(self) -> int:
        """Memory of the program, without its table."""
        return len(self.code) * INSTRUCTION_BITS

    @property
    def data_bits(self) -> int:
        """Memory of the table."""
        return len(self.table) * self.table_bits

    def run(self, indices: Integers) -> tuple[Integers, Integers]:
        """Return output words and executed instructions, each (N,), for table indices (N,); words are unsigned."""
        rest, words = np.asarray(indices, dtype=np.int64), []
        for width in reversed(self.input_widths):
            words.append(rest & ((1 << width) - 1))
            rest = rest >> width
        registers = np.zeros((len(indices), REGISTERS), dtype=np.int64)
        registers[:, : len(words)] = np.stack(words[::-1], axis=1)
        executed = np.zeros(len(indices), dtype=np.int64)
        _run(self.code, self.table, registers, executed)
        return registers[:, RESULT].copy(), executed


@njit
def _run(code: Integers, table: Integers, registers: Integers, executed: Integers) -> None:
    for state in range(len(registers)):
        own = registers[state]
        address = 0
        while True:
            op, r, a, k = code[address, 0], code[address, 1], code[address, 2], code[address, 3]
            executed[state] += 1
            address += 1
            if op == 0:
                own[r] = k
            elif op == 1:
                own[r] = own[a] & k
            elif op == 2:
                own[r] = own[a] << k
            elif op == 3:
                own[r] |= own[a]
            elif op == 4:
                own[r] |= k
            elif op == 5:
                own[r] = table[own[a]]
            elif op == 6:
                address = k if own[a] != 0 else address
            elif op == 7:
                address = k
            elif op == 8:
                own[15] = address
                address = k
            elif op == 9:
                address = own[15]
            else:
                break


Line = tuple[int, int, int, int]
Children = Callable[[int], tuple[int, int, int] | None]
"""Of a node: the variable it tests and what follows on 0 and 1; None at an end."""


class _Code:
    """Lays tests out: what follows on 0 comes next, so that a test is an AND and a branch."""

    def __init__(self, input_widths: tuple[int, ...]) -> None:
        self.input_widths = input_widths
        self.lines: list[Line] = []
        self.address: dict[int, int] = {}
        self._bits = [(word, bit) for word, width in enumerate(input_widths) for bit in range(width)[::-1]]

    def place(self, root: int, children: Children, ending: Callable[[int], list[Line]]) -> int:
        """Place what is not yet there; return where the root is."""
        waiting, branches = [root], []
        while waiting:
            node = waiting.pop()
            if node in self.address:
                continue
            while node not in self.address:
                self.address[node] = len(self.lines)
                below = children(node)
                if below is None:
                    self.lines += ending(node)
                    break
                variable, low, high = below
                register, bit = self._bits[variable]
                self.lines.append((WordOp.AND, SCRATCH, register, 1 << bit))
                branches.append((len(self.lines), high))
                self.lines.append((WordOp.BRANCH, 0, SCRATCH, 0))
                waiting.append(high)
                node = low
            else:
                self._again(node, children, ending)
        for line, target in branches:
            self.lines[line] = (WordOp.BRANCH, 0, SCRATCH, self.address[target])
        return self.address[root]

    def _again(self, node: int, children: Children, ending: Callable[[int], list[Line]]) -> None:
        """Go on with what stands elsewhere: an end is repeated, to save the way; else jump."""
        self.lines += ending(node) if children(node) is None else [(WordOp.JUMP, 0, 0, self.address[node])]

    def program(self) -> WordProgram:
        return WordProgram(np.array(self.lines, dtype=np.int64), self.input_widths)


def table_program(table: Table) -> WordProgram:
    """Return the program that puts the index together and loads the word."""
    code: list[Line] = [(WordOp.SHIFT, SCRATCH, 0, 0)]  # the first word as it is
    for register, width in list(enumerate(table.input_widths))[1:]:
        code += [(WordOp.SHIFT, SCRATCH, SCRATCH, width), (WordOp.OR, SCRATCH, register, 0)]
    code += [(WordOp.LOAD, RESULT, SCRATCH, 0), (WordOp.HALT, 0, 0, 0)]
    values = table.values.astype(np.int64) & ((1 << table.output_bits) - 1)
    return WordProgram(np.array(code, dtype=np.int64), table.input_widths, values, table.output_bits)


def bit_test_program(diagram: Diagram, input_widths: Sequence[int]) -> WordProgram:
    """Return the IF-THEN-ELSE of all output bits: shared subroutines, called for one output bit after another."""
    code = _Code(tuple(input_widths))
    start: list[Line] = [(WordOp.SET, RESULT, 0, 0)]
    calls: list[tuple[int, int]] = []
    for bit in range(diagram.output_bits):
        calls.append((len(start), int(diagram.roots[bit])))
        # the subroutine leaves 0 or 1 in SCRATCH
        start += [(WordOp.CALL, 0, 0, 0), (WordOp.SHIFT, SCRATCH, SCRATCH, bit), (WordOp.OR, RESULT, SCRATCH, 0)]
    start.append((WordOp.HALT, 0, 0, 0))
    code.lines = start
    low, high, level = diagram.low, diagram.high, diagram.level

    def children(edge: int) -> tuple[int, int, int] | None:
        node, sign = edge >> 1, edge & 1
        return None if edge <= 1 else (diagram.order[level[node]], int(low[node]) ^ sign, int(high[node]) ^ sign)

    def ending(edge: int) -> list[Line]:
        return [(WordOp.SET, SCRATCH, 0, edge), (WordOp.RETURN, 0, 0, 0)]

    for line, root in calls:
        code.lines[line] = (WordOp.CALL, 0, 0, code.place(root, children, ending))
    return code.program()


def word_test_program(table: Table, order: tuple[int, ...]) -> WordProgram:
    """Return one walk that ends in the whole word: the multi-terminal diagram of a table under an order."""
    code = _Code(table.input_widths)
    nodes: dict[tuple[int, int, int], int] = {}  # variable, what follows on 0, what follows on 1
    ends = table.reordered(order).astype(np.int64) & ((1 << table.output_bits) - 1)
    row = (~ends).tolist()  # an end is the complement of its word, and negative; a node is its number
    for variable in reversed(order):
        pairs = zip(row[::2], row[1::2], strict=True)
        row = [low if low == high else nodes.setdefault((variable, low, high), len(nodes)) for low, high in pairs]
    tests = list(nodes)

    def children(node: int) -> tuple[int, int, int] | None:
        return None if node < 0 else tests[node]

    def ending(node: int) -> list[Line]:
        return [(WordOp.SET, RESULT, 0, ~node), (WordOp.HALT, 0, 0, 0)]

    code.place(row[0], children, ending)
    return code.program()

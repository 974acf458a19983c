"""The one-bit processor of the Boolean/BDD paper, section IV: it tests a bit and branches, and gives a bit out.

The paper writes an output bit as nested IF-THEN-ELSE on single input bits and remarks that processors of a single bit
with very few instructions would suit this better than byte-wide ones. This is such a processor. It has no registers, no
arithmetic and no memory but its program; its two instructions are

    BRANCH bit, address    if input bit `bit` is 1, go on at `address`, else with the next instruction
    OUTPUT value           give out 0 or 1, and stop

Bit number v, one beyond the v input bits, is always 1: a BRANCH on it is a jump. Complement edges of the diagram are
taken apart, since the processor could not remember that it passed one: a node may stand in the program twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bddtorque.base.jit import njit
from bddtorque.plan.bdd import Diagram

Integers = npt.NDArray[np.int64]

OUTPUT = -1
"""In place of the tested bit: this instruction gives out its `argument`."""


@dataclass(frozen=True, eq=False)
class OneBitProgram:
    """Instructions of a one-bit processor."""

    # (length,) int64, the input bit that an instruction tests (0 = least significant of the index), `input_bits` for
    # the bit that is always 1, `OUTPUT` for an output
    tested: Integers
    argument: Integers  # (length,) int64, the address to branch to, or the value to give out
    entries: tuple[int, ...]  # for each output bit that the program computes, where it begins
    input_bits: int  # v

    def __len__(self) -> int:
        return len(self.tested)

    @property
    def instruction_bits(self) -> int:
        """Width of an instruction: which of the two it is, the bit it tests (or the value), the address."""
        return 1 + self.input_bits.bit_length() + max(len(self) - 1, 1).bit_length()

    @property
    def code_bits(self) -> int:
        """Memory of the program."""
        return len(self) * self.instruction_bits

    @property
    def jumps(self) -> int:
        """Instructions that only jump: where what comes next already stands elsewhere."""
        return int(np.count_nonzero(self.tested == self.input_bits))

    def run(self, indices: Integers) -> tuple[Integers, Integers]:
        """Return output bits and executed instructions, each (N, outputs), for table indices (N,)."""
        bits = np.empty((len(indices), len(self.entries)), dtype=np.int64)
        executed = np.empty_like(bits)
        entries = np.array(self.entries, dtype=np.int64)
        _run(np.asarray(indices, dtype=np.int64), self.tested, self.argument, entries, self.input_bits, bits, executed)
        return bits, executed


@njit
def _run(
    indices: Integers,
    tested: Integers,
    argument: Integers,
    entries: Integers,
    input_bits: int,
    bits: Integers,
    executed: Integers,
) -> None:
    for state in range(len(indices)):
        inputs = indices[state] | (np.int64(1) << input_bits)
        for output in range(len(entries)):
            address, count = entries[output], 1
            while tested[address] >= 0:
                address = argument[address] if (inputs >> tested[address]) & 1 else address + 1
                count += 1
            bits[state, output] = argument[address]
            executed[state, output] = count


def one_bit_program(diagram: Diagram, outputs: Sequence[int] | None = None) -> OneBitProgram:
    """Return one program for some output bits of a diagram (all by default); what they share stands in it once.

    What follows a test on 0 comes next in memory, so that an instruction holds one address only.
    """
    chosen = range(diagram.output_bits) if outputs is None else outputs
    layout = _Layout(diagram)
    entries = [layout.place_all(int(diagram.roots[output])) for output in chosen]
    return layout.program(entries)


class _Layout:
    """Lays instructions out, a chain of low branches after another."""

    def __init__(self, diagram: Diagram) -> None:
        self.diagram = diagram
        self.positions = diagram.positions.tolist()
        self.address: dict[int, int] = {}
        """Of every edge that is placed."""
        self.tested: list[int] = []
        self.follows: list[int] = []
        """The edge that a branch leads to, or the value of an output."""

    def place_all(self, root: int) -> int:
        """Place everything below an edge that is not yet there; return where the edge itself is."""
        waiting = [root]
        while waiting:
            edge = waiting.pop()
            if edge not in self.address:
                self._chain(edge, waiting)
        return self.address[root]

    def _chain(self, edge: int, waiting: list[int]) -> None:
        """Place an edge and what follows it on zeros, until there is an end."""
        diagram = self.diagram
        while edge > 1 and edge not in self.address:
            node, sign = edge >> 1, edge & 1
            self.address[edge] = len(self.tested)
            high = int(diagram.high[node]) ^ sign
            waiting.append(high)
            self._add(self.positions[diagram.level[node]], high)
            edge = int(diagram.low[node]) ^ sign
        if edge <= 1:  # an output is as short as a jump to one, and saves the way
            self.address.setdefault(edge, len(self.tested))
            self._add(OUTPUT, edge)
        else:
            self._add(diagram.input_bits, edge)

    def _add(self, tested: int, follows: int) -> None:
        self.tested.append(tested)
        self.follows.append(follows)

    def program(self, entries: Sequence[int]) -> OneBitProgram:
        argument = [
            follows if tested == OUTPUT else self.address[follows]
            for tested, follows in zip(self.tested, self.follows, strict=True)
        ]
        return OneBitProgram(
            np.array(self.tested, dtype=np.int64),
            np.array(argument, dtype=np.int64),
            tuple(entries),
            self.diagram.input_bits,
        )

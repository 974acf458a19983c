"""The test bench of one-bit cores: states in bit by bit, words and counted clocks compared."""

from __future__ import annotations

import numpy as np

from bddtorque.export.one_bit_clocks import Counted, Integers
from bddtorque.export.one_bit_program import OneBitMachine
from bddtorque.export.template_files import fill, template

CLOCK_BITS = 32


def vectors_text(machine: OneBitMachine, states: Integers, counted: Counted) -> str:
    """Return clocks, expected words and states as `$readmemh` reads them.

    The first output is least significant; the first bit of a state that goes in is its most significant.
    """
    digits = -(-(CLOCK_BITS + machine.output_bits + machine.input_bits) // 4)
    lines = []
    for clocks, words, state in zip(counted.clocks.tolist(), counted.words.tolist(), states.tolist(), strict=True):
        packed = clocks
        for word, bits in reversed([*zip(words, machine.outputs.values(), strict=True)]):
            packed = packed << bits | word & ((1 << bits) - 1)
        for word, bits in zip(state, machine.inputs.values(), strict=True):
            packed = packed << bits | word & ((1 << bits) - 1)
        lines.append(f"{packed:0{digits}x}")
    return "\n".join(lines) + "\n"


def testbench_text(name: str, machine: OneBitMachine, counted: Counted) -> str:
    """Return a module that feeds all states and ends with OK, or with what differs first."""
    given, wanted = machine.input_bits, machine.output_bits
    zone = max((wanted - 1).bit_length(), 1)
    count = len(counted.clocks)
    limit = int(np.sum(counted.clocks)) + count * (8 * given + 100) + 1000
    return fill(
        template("one_bit_testbench.v"),
        name=name,
        count=count,
        row_top=CLOCK_BITS + wanted + given - 1,
        wanted_top=wanted - 1,
        wanted=wanted,
        given=given,
        index_top=zone - 1,
        limit=limit,
        words_top=wanted + given - 1,
        clocks_low=wanted + given,
    )

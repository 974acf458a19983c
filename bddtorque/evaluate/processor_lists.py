"""`ProcessorLists`: what each of P processors does for one state, as plain arrays that compiled code runs.

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

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bddtorque.evaluate.program import Program

WALK, SUM, MAGNITUDE, SIGN, CLAMP, WAIT, POST, SQUARES = range(8)
KINDS = {"walk": WALK, "add": SUM, "magnitude": MAGNITUDE, "sign": SIGN, "clamp": CLAMP}
COLUMNS, OPERAND_COLUMNS = 8, 5
LINE = 16
"""Words that lie together in the caches: what two processors write must not share a line, nor two neighbouring ones."""

Integers = npt.NDArray[np.int64]


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

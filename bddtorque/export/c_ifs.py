"""Blocks as test-and-branch code: the IF-THEN-ELSE of the Boolean/BDD paper, one diagram per output bit.

A node is a test of one input bit and a branch to either successor. Nodes that several paths of an output bit reach are
written once and jumped to. Complement edges are opened: a node that is reached both plain and complemented stands there
twice, so that no path carries a sign. Output bits share no code, since each continues with the next bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.jit import njit
from bddtorque.plan.forms import Bits
from bddtorque.plan.table import Int32Array

MAX_TESTS = 50_000
"""Tests of all blocks together: gcc takes a minute or two for so many, and the flash of a small chip ends before."""
BYTES_A_TEST = 9
"""Of object code, as an estimate: gcc makes 6 to 7 on AVR, 7 to 9 in Thumb, 10 to 11 on x86-64."""
PRAGMA = """\
#if defined(__GNUC__) && !defined(__clang__)
/* Passes that look for a better way through so many branches take minutes and find none. */
#pragma GCC optimize ("O1", "no-thread-jumps", "no-tree-fre", "no-tree-dominator-opts")
#endif
"""


def check_tests(forms: Sequence[Bits]) -> None:
    """Refuse blocks that would take too much code, and say how much."""
    tests = sum(int(reached_edges(form.successors, form.roots)[:, 2:].sum()) for form in forms)
    if tests > MAX_TESTS:
        raise BddTorqueError(
            f"form 'ifs' would take {tests:,} tests, about {tests * BYTES_A_TEST:,} bytes of code, and at most "
            f"{MAX_TESTS:,} tests can be exported: compile with fewer bits or a smaller block_bits, or use form 'bits'"
        )


def reached_edges(successors: Int32Array, roots: Int32Array) -> npt.NDArray[np.bool_]:
    """Return which edges are followed from each root, shape ``(output_bits, 2 * (nodes + 1))``."""
    reached = np.zeros((len(roots), len(successors)), np.bool_)
    _reach(successors, roots, reached)
    return reached


@njit
def _reach(successors: Int32Array, roots: Int32Array, reached: npt.NDArray[np.bool_]) -> None:
    for bit in range(len(roots)):
        reached[bit, roots[bit]] = True
        for edge in range(len(successors) - 1, 1, -1):  # children have smaller numbers
            if reached[bit, edge]:
                sign = edge & 1
                reached[bit, successors[edge & ~1] ^ sign] = True
                reached[bit, successors[edge | 1] ^ sign] = True


def if_code(form: Bits, tests: Sequence[str]) -> list[str]:
    """Return the statements that find a word bit by bit.

    `form`: the diagrams; `tests`: for each position of the index, 0 = least significant: an expression that is not zero
    if that bit is set.
    """
    lines = ["uint32_t word = 0;", ""]
    top = len(form.roots) - 1
    waiting = False  # the label that ends a bit stands before whatever comes next
    for bit, root in enumerate(form.roots.tolist()):
        bits = (1 << 32) - (1 << bit) if form.signed and bit == top else 1 << bit
        if waiting:
            lines.append(f"end_{bit - 1}:")
        waiting = False
        if root > 1:
            body, waiting = _tests(form, bit, root, tests)
            lines += body
        if root:
            lines.append(f"word |= UINT32_C({bits});")
    if waiting:
        lines.append(f"end_{top}:")
    return [*lines, "return signed32(word);" if form.signed else "return (int32_t)word;"]


def _tests(form: Bits, bit: int, root: int, tests: Sequence[str]) -> tuple[list[str], bool]:
    """Return the tests of an output bit, and whether one jumps to its end.

    What follows the tests sets the bit, and ``end_BIT`` comes after that.
    """
    successors, positions = form.successors.tolist(), form.positions.tolist()
    order: list[int] = []
    seen, stack = {0, 1}, [root]
    while stack:  # a path first, so that one of the two successors mostly comes next
        edge = stack.pop()
        if edge not in seen:
            seen.add(edge)
            order.append(edge)
            stack += [successors[edge | 1] ^ (edge & 1), successors[edge & ~1] ^ (edge & 1)]
    order.append(1)  # what is true falls out of the tests
    branches: dict[int, list[tuple[str, int]]] = {}  # of each edge: conditions, and where they jump to
    for edge, following in pairwise(order):
        low, high = (successors[place] ^ (edge & 1) for place in (edge & ~1, edge | 1))
        test = tests[positions[edge >> 1]]
        if high == following:
            branches[edge] = [(f"if (!({test})) ", low)]
        else:
            branches[edge] = [(f"if ({test}) ", high), *([("", low)] if low != following else [])]
    jumps = {place for taken in branches.values() for _, place in taken}
    lines: list[str] = []
    for edge in order:
        lines += [f"{_label(bit, edge)}:"] if edge in jumps else []
        lines += [f"{test}goto {_label(bit, place)};" for test, place in branches.get(edge, ())]
    return lines, 0 in jumps


def _label(bit: int, edge: int) -> str:
    """Return the label of an edge within an output bit: true is where the bit is set, false is its end."""
    return f"end_{bit}" if edge == 0 else f"set_{bit}" if edge == 1 else f"bit_{bit}_{edge}"

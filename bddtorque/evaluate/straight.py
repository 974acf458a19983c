"""Straight-line code: a plan as functions of its own, every wire a local variable. What a PC runs fastest.

    states(arrays, out, table, counts)  one state after another
    bare(arrays, out, table)            the same, counting nothing: what a kernel runs

Words are 64-bit integers. A word out of range is looked for in a way that costs next to nothing, and only then clamped
and counted. The statements of a large plan are cut into functions of bounded size (`cutting`): they run a little
slower, and are compiled in seconds instead of hours.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bddtorque.evaluate.code_writer import CodeWriter, Straight
from bddtorque.evaluate.input_code import angle_sums, check_inputs, clamp_outputs, load_inputs
from bddtorque.evaluate.integer_code import integer_statements
from bddtorque.evaluate.table_pool import TablePool, blocks_read
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.words.interface import Interface

HEADER = '''"""A compiled plan, written by bddtorque; made anew whenever it is missing."""
from numba import int64, njit
from numba.extending import intrinsic
import numpy as np

from bddtorque.evaluate.llvm_code import clamp_to_int64, emitted
from bddtorque.evaluate.pointers import array_at, space_of

real = np.float64
'''


def straight(plan: Plan, formats: Interface, tables: Sequence[Table], directory: Path, native: bool = True) -> Straight:
    """Return the straight-line code of a plan; with `native` products, or from tables alone.

    It is compiled when first called: in seconds, or a minute and more for the largest plans, unless that was done
    before and kept in `directory`.
    """
    pool = TablePool(plan, blocks_read(plan, native))
    module = Source(plan, formats, pool, native).module(directory)
    return Straight(module.states, module.bare, pool.values(tables))


class Source(CodeWriter):
    """The module of a plan."""

    def __init__(self, plan: Plan, formats: Interface, pool: TablePool, native: bool) -> None:
        super().__init__(plan, formats, HEADER)
        body = list(integer_statements(plan, pool, self.inputs, native))
        self.write_state(body, list(angle_sums(plan, pool)))
        for name, counting in (("states", True), ("bare", False)):
            load = [*load_inputs(self.inputs), *check_inputs(self.inputs, counting)]
            self.add_states(name, counting, load, list(clamp_outputs(plan)))

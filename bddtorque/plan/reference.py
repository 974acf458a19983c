"""The plain interpreter: a plan run on whole arrays in NumPy, one wire after another, straight from the tables.

Nothing is shared with the compiled machine but the plan and the tables; products are the machine's own multiplication.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.plan.wires import Algebra, AngleSum, Input, Lookup, Output, Product, Sum
from bddtorque.words.integer_range import hold, wrap
from bddtorque.words.rounding import half_up_shift

Integers = npt.NDArray[np.int64]


class WordArrays(Algebra[Any]):
    """Words as int64 arrays of shapes that go together; inputs, by name, are masked and clamped as wires are."""

    def __init__(self, tables: Sequence[Table], inputs: Mapping[str, Any]) -> None:
        self.tables, self.inputs = tables, inputs

    def input(self, wire: Input) -> Integers:
        """Return the words of an input: masked or clamped."""
        return hold(self.inputs[wire.name], wire.bits, wire.wraps)

    def table(self, wire: Lookup, words: Sequence[Any]) -> Integers:
        """Return the entries of a table."""
        table = self.tables[wire.block]
        entries: Integers = table.values[table.index(words)].astype(np.int64)
        return entries

    def wrapped(self, total: Any, wire: AngleSum) -> Any:
        """Return the low bits of a sum, two's complement."""
        return wrap(total, wire.bits)

    def rounded(self, exact: Any, wire: Product | Sum | Output) -> Any:
        """Return floor(exact/2^shift + 1/2)."""
        return half_up_shift(exact, wire.shift)


def run_plan(plan: Plan, tables: Sequence[Table], inputs: Mapping[str, Any]) -> list[Integers]:
    """Return the output words (N,) for input words (N,) by name."""
    wires = run_wires(plan, tables, inputs)
    none = np.zeros(np.broadcast_shapes(*map(np.shape, inputs.values())), dtype=np.int64)
    algebra = WordArrays(tables, inputs)
    # an output may depend on no input at all
    return [np.clip(output.evaluate(algebra, wires) + none, output.low, output.high) for output in plan.outputs]


def run_wires(plan: Plan, tables: Sequence[Table], inputs: Mapping[str, Any]) -> list[Integers]:
    """Return the words (N,) of every wire."""
    return [np.asarray(words) for words in plan.evaluate(WordArrays(tables, inputs))]


def run_sum(output: Sum | Output, wires: Sequence[Integers]) -> Integers:
    """Return the exact sums of a wire or an output, before they are rounded, from the words of all wires."""
    return np.asarray(output.total(Algebra[Any](), wires), dtype=np.int64)

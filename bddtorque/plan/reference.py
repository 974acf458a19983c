"""The plain interpreter of a plan: whole arrays in NumPy, one wire after another. It says what words are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import bddtorque.plan.wires as w
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.words.float_sine import float_sines, turn_on_grid
from bddtorque.words.ieee import fused
from bddtorque.words.integer_range import wrap, wrap_or_clamp
from bddtorque.words.rounding import half_up_shift

Integers = npt.NDArray[np.int64]
BEYOND_WORDS = 2.0**62
"""A float beyond all words, which is still exact in single precision, and an int64."""


class PlanArrays(w.Algebra[Any]):
    """Words as int64 arrays, floats as arrays of the plan's precision, of shapes that go together.

    Inputs, by name, are masked and clamped as wires are.
    """

    def __init__(self, plan: Plan, tables: Sequence[Table], inputs: Mapping[str, Any]) -> None:
        self.plan, self.tables, self.inputs = plan, tables, inputs

    def input(self, wire: w.Input) -> Integers:
        """Return the words of an input: masked or clamped."""
        return wrap_or_clamp(self.inputs[wire.name], wire.bits, wire.wraps, wire.signed)

    def table(self, wire: w.Lookup, words: Sequence[Any]) -> Integers:
        """Return the entries of a table."""
        table = self.tables[wire.block]
        entries: Integers = table.values[table.index(words)].astype(np.int64)
        return entries

    def wrapped(self, total: Any, wire: w.AngleSum) -> Any:
        """Return the low bits of a sum, two's complement."""
        return wrap(total, wire.bits)

    def rounded(self, exact: Any, wire: w.Product | w.Sum | w.Output) -> Any:
        """Return floor(exact/2^shift + 1/2); of a float the nearest integer, ties to even."""
        if self.plan.in_floats:
            return np.rint(np.clip(exact, -BEYOND_WORDS, BEYOND_WORDS)).astype(np.int64)
        return half_up_shift(exact, wire.shift)

    def number(self, wire: w.Number, word: Any) -> Any:
        """Return words as floats."""
        return np.asarray(word).astype(self.plan.floats.dtype)

    def constant(self, wire: w.Constant) -> Any:
        """Return the nearest float."""
        return self.plan.floats.dtype(self.plan.floats.nearest(wire.value))

    def sine(self, wire: w.Sine, word: Any) -> Any:
        """Return sines or cosines of angle words."""
        precision = self.plan.floats
        turn = turn_on_grid(wire.rest, precision)
        return float_sines(np.asarray(word), self.plan.bits_of(wire.word), turn, wire.cosine, precision)

    def add(self, wire: w.Add, left: Any, right: Any) -> Any:
        """Return sums, or differences."""
        return left + right if wire.sign > 0 else left - right

    def multiply(self, wire: w.Multiply, left: Any, right: Any) -> Any:
        """Return products."""
        return left * right

    def fused(self, wire: w.Fused, left: Any, right: Any, addend: Any) -> Any:
        """Return products and sums, rounded once."""
        return fused(left if wire.product_sign > 0 else -left, right, addend if wire.addend_sign > 0 else -addend)


def run_plan(plan: Plan, tables: Sequence[Table], inputs: Mapping[str, Any]) -> list[Integers]:
    """Return the output words (N,) for input words (N,) by name."""
    words = run_unclamped(plan, tables, inputs, range(len(plan.outputs)))
    return [np.clip(word, output.low, output.high) for output, word in zip(plan.outputs, words, strict=True)]


def run_unclamped(
    plan: Plan, tables: Sequence[Table], inputs: Mapping[str, Any], places: Iterable[int]
) -> list[Integers]:
    """Return the words (N,) of some outputs, by their places, before they are clamped."""
    wires = run_wires(plan, tables, inputs)
    none = np.zeros(np.broadcast_shapes(*map(np.shape, inputs.values())), dtype=np.int64)
    algebra = PlanArrays(plan, tables, inputs)
    # an output may depend on no input at all
    return [plan.outputs[place].evaluate(algebra, wires) + none for place in places]


def run_wires(plan: Plan, tables: Sequence[Table], inputs: Mapping[str, Any]) -> list[npt.NDArray[Any]]:
    """Return the words or floats (N,) of every wire, for input words (N,) by name."""
    return [np.asarray(values) for values in plan.evaluate(PlanArrays(plan, tables, inputs))]


def run_sum(output: w.Sum | w.Output, wires: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return the exact sums of a wire or an output, before they are rounded, from the words of all wires.

    The sum of an output in floats is the float itself.
    """
    return np.asarray(output.total(w.Algebra[Any](), wires))

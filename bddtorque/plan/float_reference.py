"""The plain interpreter of a plan in floats: whole arrays in NumPy, one wire after another. It says what words are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.plan.float_plan import FloatPlan
from bddtorque.plan.float_wires import Add, Constant, FloatAlgebra, FloatOutput, Fused, Multiply, Number, Sine
from bddtorque.plan.reference import WordArrays
from bddtorque.plan.table import Table
from bddtorque.words.float_sine import float_sines, turn_on_grid
from bddtorque.words.ieee import fused

Integers = npt.NDArray[np.int64]


class FloatArrays(WordArrays, FloatAlgebra[Any]):
    """Words as int64 arrays, floats as arrays of the plan's precision, of shapes that go together."""

    def __init__(self, plan: FloatPlan, tables: Sequence[Table], inputs: Mapping[str, Any]) -> None:
        super().__init__(tables, inputs)
        self.plan, self.dtype = plan, plan.precision.dtype

    def number(self, wire: Number, word: Any) -> Any:
        """Return words as floats."""
        return np.asarray(word).astype(self.dtype)

    def constant(self, wire: Constant) -> Any:
        """Return the nearest float."""
        return self.dtype(self.plan.precision.nearest(wire.value))

    def sine(self, wire: Sine, word: Any) -> Any:
        """Return sines or cosines of angle words."""
        precision = self.plan.precision
        turn = turn_on_grid(wire.rest, precision)
        return float_sines(np.asarray(word), self.plan.bits_of(wire.word), turn, wire.cosine, precision)

    def add(self, wire: Add, left: Any, right: Any) -> Any:
        """Return sums, or differences."""
        return left + right if wire.sign > 0 else left - right

    def multiply(self, wire: Multiply, left: Any, right: Any) -> Any:
        """Return products."""
        return left * right

    def fused(self, wire: Fused, left: Any, right: Any, addend: Any) -> Any:
        """Return products and sums, rounded once."""
        return fused(left if wire.product_sign > 0 else -left, right, addend if wire.addend_sign > 0 else -addend)


def run_float_wires(plan: FloatPlan, tables: Sequence[Table], inputs: Mapping[str, Any]) -> list[npt.NDArray[Any]]:
    """Return the words or floats (N,) of every wire, for input words (N,) by name."""
    return [np.asarray(values) for values in plan.evaluate(FloatArrays(plan, tables, inputs))]


def run_float_plan(plan: FloatPlan, tables: Sequence[Table], inputs: Mapping[str, Any]) -> list[Integers]:
    """Return the output words (N,) for input words (N,) by name."""
    values = run_float_wires(plan, tables, inputs)
    none = np.zeros(np.broadcast_shapes(*map(np.shape, inputs.values())), dtype=np.int64)
    return [rounded_output(output, values) + none for output in plan.outputs]  # one may depend on no input at all


def rounded_output(output: FloatOutput, values: Sequence[npt.NDArray[Any]]) -> Integers:
    """Return the words of an output from the values of all wires."""
    words: Integers = np.rint(np.clip(values[output.wire], output.low, output.high)).astype(np.int64)
    return words

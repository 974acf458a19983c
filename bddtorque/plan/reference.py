"""The plain interpreter: a plan run on whole arrays in NumPy, one wire after another, straight from the tables.

Nothing is shared with the compiled machine but the plan and the tables; products are the machine's own multiplication.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.plan.plan import AngleSum, Input, Lookup, Plan, Product, Sum
from bddtorque.plan.table import Table
from bddtorque.words.rounding import half_up_shift

Integers = npt.NDArray[np.int64]


def run_plan(plan: Plan, tables: Sequence[Table], inputs: Mapping[str, Any]) -> list[Integers]:
    """Return the output words (N,) for input words (N,) by name; inputs are masked and clamped as wires are."""
    wires = run_wires(plan, tables, inputs)
    outputs = []
    none = np.zeros(np.broadcast_shapes(*map(np.shape, inputs.values())), dtype=np.int64)
    for output in plan.outputs:
        # an output may depend on no input at all
        total = sum((factor * wires[wire] for wire, factor in output.parts), start=none + output.constant)
        outputs.append(np.clip(half_up_shift(total, output.shift), output.low, output.high))
    return outputs


def run_wires(plan: Plan, tables: Sequence[Table], inputs: Mapping[str, Any]) -> list[Integers]:
    """Return the words (N,) of every wire."""
    wires: list[Integers] = []
    for wire in plan.wires:
        match wire:
            case Input(name=name, bits=bits, wraps=wraps):
                wires.append(_held(np.asarray(inputs[name]), bits, wraps))
            case AngleSum(bits=bits, parts=parts):
                total = sum(multiplier * (wires[source] << shift) for source, multiplier, shift in parts)
                wires.append(_wrapped(np.asarray(total) + wire.constant, bits))
            case Lookup(block=block, wires=sources):
                index = np.zeros_like(wires[sources[0]])
                for source, width in zip(sources, plan.blocks[block].input_widths, strict=True):
                    index = (index << width) | (wires[source] & ((1 << width) - 1))
                wires.append(tables[block].values[index].astype(np.int64))
            case Product(left=left, right=right, shift=shift):
                wires.append(half_up_shift(wires[left] * wires[right], shift))
            case Sum(parts=parts, constant=constant, shift=shift):
                added = sum((factor * wires[source] for source, factor in parts), start=np.int64(constant))
                wires.append(np.asarray(half_up_shift(added, shift)))
    return wires


def _held(given: npt.NDArray[Any], bits: int, wraps: bool) -> Integers:
    """Return integers as a wire holds them: masked or clamped."""
    if wraps:
        return _wrapped(given.astype(np.int64), bits)
    half = 1 << (bits - 1)
    if given.dtype == np.uint64:  # before the cast, or large words would turn negative
        given = np.minimum(given, np.uint64(half))
    return np.clip(given.astype(np.int64), -half, half - 1)


def _wrapped(words: Integers, bits: int) -> Integers:
    half = 1 << (bits - 1)
    return ((words + half) & (2 * half - 1)) - half

"""Tabulate a block: every entry exactly rounded, and the largest error proved.

A real function is evaluated in float64 with a radius (`words.bounded`). An entry whose value lies so close to a tie
that the radius, or `TIE_WINDOW`, covers it is decided in extended precision; all others are right as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.diagrams.table import Table
from bddtorque.errors import BddTorqueError
from bddtorque.plan.bound import ROOM, BlockFacts
from bddtorque.plan.plan import Block, FunctionBlock, ProductBlock, output_format
from bddtorque.words.bounded import ULP, Bounded, BoundedArithmetic
from bddtorque.words.rounding import half_up_shift, round_half_away

CHUNK = 1 << 20
"""Entries evaluated at a time: memory is bounded by this, not by the table."""
TIE_WINDOW = 1e-9
"""Units; closer to a tie than this, extended precision decides."""
BYTES_PER_ENTRY = 120
"""What evaluating one entry of a chunk takes at the most: a dozen float64 arrays."""

Integers = npt.NDArray[np.int64]


def tabulate(block: Block) -> tuple[Table, BlockFacts]:
    """Return the table of a block and what is proved of it; the error is in the value the word stands for."""
    if isinstance(block, ProductBlock):
        values, error = _products(block), 0.0  # the composition charges the rounding shift itself
    else:
        parts = list(_function_chunks(block))
        values, error = np.concatenate([words for words, _ in parts]), max(error for _, error in parts)
    low, high = int(values.min()), int(values.max())
    if low < block.low or high > block.high:
        raise BddTorqueError(
            f"table: words from {block.low} to {block.high} required by the plan, {low} to {high} found: "
            "the range of the plan is not sound, please report it"
        )
    bits, signed = output_format(block)
    return Table(values, block.input_widths, bits, signed), BlockFacts(error, low, high)


def _products(block: ProductBlock) -> Integers:
    left, right = (_index_words(width, block.signed) for width in block.widths)
    products: Integers = half_up_shift(left[:, None] * right[None, :], block.shift)
    return products.reshape(-1)


def _index_words(bits: int, signed: bool) -> Integers:
    """Return the words in the order of a table's index."""
    index = np.arange(1 << bits, dtype=np.int64)
    return index - ((index >> (bits - 1)) << bits) if signed else index


def _function_chunks(block: FunctionBlock) -> Iterator[tuple[Integers, float]]:
    """Yield words and the largest error, for slices of the first argument, in the order of the index."""
    axes = [_index_words(argument.bits, True) for argument in block.arguments]
    inner = 1 << sum(block.input_widths[1:])
    step = max(1, CHUNK // inner)
    for start in range(0, len(axes[0]), step):
        yield _evaluated(block, [axes[0][start : start + step], *axes[1:]])


def _evaluated(block: FunctionBlock, axes: list[Integers]) -> tuple[Integers, float]:
    """Return the rounded words over a grid of argument words, and the largest error of their values."""
    shape = tuple(map(len, axes))
    grid = [words.reshape([-1 if k == axis else 1 for k in range(len(axes))]) for axis, words in enumerate(axes)]
    inputs = {f"x{k}": block.arguments[k].bounded(words) for k, words in enumerate(grid)}
    found = block.graph.evaluate(inputs, BoundedArithmetic())[0]
    found = found if isinstance(found, Bounded) else Bounded(np.float64(found))
    unit = float(block.lsb)
    units = found.value / unit
    radius = (np.abs(found.radius) / unit + 2 * ULP * np.abs(units)) * ROOM
    units, radius = (np.broadcast_to(array, shape) for array in (units, radius))
    words = round_half_away(units)
    distance = np.abs(units - words)
    doubtful = np.argwhere(distance + np.maximum(radius, TIE_WINDOW) >= 0.5)
    if len(doubtful):
        words[tuple(doubtful.T)] = _decided(block, axes, doubtful)
        distance = np.abs(units - words)
    error = float((distance + radius).max()) * unit * ROOM
    return words.reshape(-1), error


def _decided(block: FunctionBlock, axes: list[Integers], places: npt.NDArray[Any]) -> list[int]:
    """Round the entries at some places of the grid in extended precision."""
    from bddtorque.words.extended import rounded_exactly  # noqa: PLC0415 - mpmath is for the compiler alone

    arguments = {f"x{k}": argument for k, argument in enumerate(block.arguments)}
    states = [{f"x{k}": int(axes[k][place]) for k, place in enumerate(entry)} for entry in places]
    return rounded_exactly(block.graph, arguments, states, block.lsb)

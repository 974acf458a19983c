"""Tabulate a block: every entry exactly rounded, and the largest error proved.

A real function is evaluated in float64 with a radius (`words.bounded`). An entry whose value lies so close to a tie
that the radius, or `TIE_WINDOW`, covers it is decided in extended precision; all others are right as they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.diagrams.table import Table, word_dtype
from bddtorque.errors import BddTorqueError
from bddtorque.plan.bound import ROOM, BlockFacts
from bddtorque.plan.plan import Block, FunctionBlock, ProductBlock, SquareBlock, output_format
from bddtorque.words.bounded import ULP, Bounded, BoundedArithmetic
from bddtorque.words.rounding import half_up_shift, round_half_away

CHUNK_BYTES = 128 * 2**20
"""What evaluating a chunk of entries may take: memory is bounded by this, not by the table."""
TIE_WINDOW = 1e-9
"""Units; closer to a tie than this, extended precision decides."""
ERROR_GRID = 2.0**-20
"""Units; the error found is rounded up to this, so that it does not depend on whose sine was used."""

Integers = npt.NDArray[np.int64]


def tabulate(block: Block) -> tuple[Table, BlockFacts]:
    """Return the table of a block and what is proved of it; the error is in the value the word stands for."""
    bits, signed = output_format(block)
    if isinstance(block, ProductBlock):
        values, error = _products(block), 0.0  # the composition charges the rounding shift itself
        _check_range(block, values)
    elif isinstance(block, SquareBlock):
        values, error = _index_words(block.bits, True) ** 2 >> 2, 0.0
    else:
        values = np.empty(1 << sum(block.input_widths), dtype=word_dtype(bits, signed))
        done, units = 0, 0.0
        for words, largest in _function_chunks(block):
            _check_range(block, words)
            values[done : done + len(words)] = words
            done, units = done + len(words), max(units, largest)
        error = math.ceil(units / ERROR_GRID) * ERROR_GRID * float(block.lsb) * ROOM
    return Table(values, block.input_widths, bits, signed), BlockFacts(error, int(values.min()), int(values.max()))


def memory_needed(block: Block) -> int:
    """Return the bytes that tabulating a block takes at its peak, the finished table left out."""
    rows = 1 << sum(block.input_widths)
    if isinstance(block, FunctionBlock):
        return min(rows, _entries_at_once(block)) * _bytes_per_entry(block)
    return 24 * rows


def _bytes_per_entry(block: FunctionBlock) -> int:
    """Every node of the graph keeps a value and a radius; rounding takes a few arrays more."""
    return 16 * len(block.graph.nodes) + 96


def _entries_at_once(block: FunctionBlock) -> int:
    return max(1, CHUNK_BYTES // _bytes_per_entry(block))


def _check_range(block: Block, words: npt.NDArray[Any]) -> None:
    low, high = int(words.min()), int(words.max())
    if low < block.low or high > block.high:
        raise BddTorqueError(
            f"table: words from {block.low} to {block.high} required by the plan, {low} to {high} found: "
            "the range of the plan is not sound, please report it"
        )


def _products(block: ProductBlock) -> Integers:
    left, right = (_index_words(width, block.signed) for width in block.widths)
    products: Integers = half_up_shift(left[:, None] * right[None, :], block.shift)
    return products.reshape(-1)


def _index_words(bits: int, signed: bool) -> Integers:
    """Return the words in the order of a table's index."""
    index = np.arange(1 << bits, dtype=np.int64)
    return index - ((index >> (bits - 1)) << bits) if signed else index


def _function_chunks(block: FunctionBlock) -> Iterator[tuple[Integers, float]]:
    """Yield words and the largest error in units, slice by slice in the order of the index.

    Leading arguments take one word at a time, the next one a range of words, those after it all their words.
    """
    axes = [_index_words(argument.bits, True) for argument in block.arguments]
    most, split, inner = _entries_at_once(block), len(axes) - 1, 1
    while split > 0 and inner * len(axes[split]) <= most:
        inner *= len(axes[split])
        split -= 1
    step = max(1, most // inner)
    for leading in product(*(range(len(axis)) for axis in axes[:split])):
        fixed = [axis[k : k + 1] for axis, k in zip(axes[:split], leading, strict=True)]
        for start in range(0, len(axes[split]), step):
            yield _evaluated(block, [*fixed, axes[split][start : start + step], *axes[split + 1 :]])


def _evaluated(block: FunctionBlock, axes: list[Integers]) -> tuple[Integers, float]:
    """Return the rounded words over a grid of argument words, and their largest error, in units."""
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
    return words.reshape(-1), float((distance + radius).max()) * ROOM


def _decided(block: FunctionBlock, axes: list[Integers], places: npt.NDArray[Any]) -> list[int]:
    """Round the entries at some places of the grid in extended precision."""
    from bddtorque.words.extended import rounded_exactly  # noqa: PLC0415 - mpmath is for the compiler alone

    arguments = {f"x{k}": argument for k, argument in enumerate(block.arguments)}
    states = [{f"x{k}": int(axes[k][place]) for k, place in enumerate(entry)} for entry in places]
    return rounded_exactly(block.graph, arguments, states, block.lsb)

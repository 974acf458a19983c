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

from bddtorque.base.errors import BddTorqueError
from bddtorque.laws.extended import law_rounded_exactly, rounded_exactly
from bddtorque.plan.blocks import (
    Block,
    FunctionBlock,
    GivenBlock,
    LawBlock,
    ProductBlock,
    SquareBlock,
    block_key,
    output_format,
)
from bddtorque.plan.bound import BlockFacts
from bddtorque.plan.table import Table, word_dtype
from bddtorque.words.argument import Argument
from bddtorque.words.bounded import ROOM, TIE_WINDOW, ULP, Bounded, BoundedArithmetic
from bddtorque.words.integer_range import index_words, wrap
from bddtorque.words.rounding import half_up_shift, round_half_away

LAW_BYTES = 512
"""What an entry of a law takes while it is evaluated: a few dozen arrays."""
CHUNK_BYTES = 128 * 2**20
"""What evaluating a chunk of entries may take: memory is bounded by this, not by the table."""
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
        values, error = index_words(block.bits) ** 2 >> 2, 0.0
    elif isinstance(block, GivenBlock):
        raise BddTorqueError(f"table: the words of block {block_key(block)} were given, and cannot be made anew")
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
    if isinstance(block, FunctionBlock | LawBlock):
        return min(rows, _entries_at_once(block)) * _bytes_per_entry(block)
    return 24 * rows


def _bytes_per_entry(block: FunctionBlock | LawBlock) -> int:
    """Every node of the graph keeps a value and a radius; rounding takes a few arrays more."""
    if isinstance(block, LawBlock):
        return LAW_BYTES
    return 16 * len(block.graph.nodes) + 96


def _entries_at_once(block: FunctionBlock | LawBlock) -> int:
    return max(1, CHUNK_BYTES // _bytes_per_entry(block))


def _check_range(block: Block, words: npt.NDArray[Any]) -> None:
    low, high = int(words.min()), int(words.max())
    if low < block.low or high > block.high:
        raise BddTorqueError(
            f"table: words must be from {block.low} to {block.high} by the plan, got {low} to {high}: "
            "the range of the plan is not sound, please report it"
        )


def _products(block: ProductBlock) -> Integers:
    left, right = (index_words(width, block.signed) for width in block.widths)
    products: Integers = half_up_shift(left[:, None] * right[None, :], block.shift)
    return products.reshape(-1)


def _function_chunks(block: FunctionBlock | LawBlock) -> Iterator[tuple[Integers, float]]:
    """Yield words and the largest error in units, slice by slice in the order of the index.

    Leading arguments take one word at a time, the next one a range of words, those after it all their words.
    """
    axes = [argument.words() for argument in block.arguments]
    most, split, inner = _entries_at_once(block), len(axes) - 1, 1
    while split > 0 and inner * len(axes[split]) <= most:
        inner *= len(axes[split])
        split -= 1
    step = max(1, most // inner)
    evaluate: Any = _evaluated_law if isinstance(block, LawBlock) else _evaluated
    for leading in product(*(range(len(axis)) for axis in axes[:split])):
        fixed = [axis[k : k + 1] for axis, k in zip(axes[:split], leading, strict=True)]
        for start in range(0, len(axes[split]), step):
            yield evaluate(block, [*fixed, axes[split][start : start + step], *axes[split + 1 :]])


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
    arguments = {f"x{k}": argument for k, argument in enumerate(block.arguments)}
    states = [{f"x{k}": int(axes[k][place]) for k, place in enumerate(entry)} for entry in places]
    return rounded_exactly(block.graph, arguments, states, block.lsb)


def _evaluated_law(block: LawBlock, axes: list[Integers]) -> tuple[Integers, float]:
    """Return the words of a law over a grid of argument words, rounded and clamped; their largest error in units."""
    shape = tuple(map(len, axes))
    grid = [
        np.broadcast_to(words.reshape([-1 if k == axis else 1 for k in range(len(axes))]), shape).reshape(-1)
        for axis, words in enumerate(axes)
    ]
    found = block.law.bounded([_values(a, words) for a, words in zip(block.arguments, grid, strict=True)])
    unit, centre = float(block.lsb), float(block.centre)
    units = (block.sign * found.value - centre) / unit
    radius = np.broadcast_to(
        (np.abs(found.radius) / unit + 4 * ULP * (np.abs(found.value) + abs(centre)) / unit) * ROOM, units.shape
    )
    units = np.clip(units, block.low, block.high)
    words = round_half_away(units)
    distance = np.abs(units - words)
    if block.law.transcendental:
        doubtful = np.flatnonzero(distance + np.maximum(radius, TIE_WINDOW) >= 0.5)
        for place in doubtful.tolist():
            words[place] = _law_decided(block, [int(each[place]) for each in grid])
        distance = np.abs(units - words)
    return words, float((distance + radius).max()) * ROOM


def _values(argument: Argument, words: Integers) -> Bounded:
    """Return what words stand for, in floats with a radius: angles as radians within half a turn, and their offset."""
    if argument.kind == "word":
        found = argument.bounded(words)
        assert isinstance(found, Bounded)
        return found
    value = wrap(words * int(argument.scale), argument.bits) * (2 * np.pi / (1 << argument.bits)) + float(
        argument.centre
    )
    return Bounded(value, 8 * ULP * (np.pi + abs(float(argument.centre))))


def _law_decided(block: LawBlock, words: list[int]) -> int:
    """Round one entry of a law in extended precision; its arguments are rational."""
    values = [argument.scale * word + argument.centre for argument, word in zip(block.arguments, words, strict=True)]
    word = law_rounded_exactly(block.law, values, block.lsb, block.centre, block.sign)
    return min(max(word, block.low), block.high)

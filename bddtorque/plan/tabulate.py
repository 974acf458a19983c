"""Tabulate a block: every entry exactly rounded, and the largest error proved.

A real function is evaluated in float64 with a radius (`words.bounded`). An entry whose value lies so close to a tie
that the radius, or `TIE_WINDOW`, covers it is decided in extended precision, by mpmath; all others are right as they
are.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.graph import Graph
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
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table, word_dtype
from bddtorque.plan.wires import Product
from bddtorque.words.argument import Argument
from bddtorque.words.bounded import ROUND_UP, TIE_WINDOW, Turn
from bddtorque.words.integer_range import index_words
from bddtorque.words.law import Law
from bddtorque.words.rounding import half_up_shift, round_half_away

LAW_BYTES = 512
"""Bytes of an entry of a law while it is evaluated: a few dozen arrays."""
CHUNK_BYTES = 128 * 2**20
"""Bytes that evaluating a chunk of entries may take: memory is bounded by this, not by the table."""
ERROR_GRID = 2.0**-20
"""Units; the error found is rounded up to this, so that it does not depend on whose sine was used."""

DIGITS = 60
TIE = 1e-45
"""Units: a value this close to a tie is one; nothing but an exact tie comes near."""
_precision = threading.Lock()
"""mpmath's precision belongs to the whole process: threads that make tables side by side take turns here."""

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
        raise BddTorqueError(f"table: the words of block {block_key(block)} were given and cannot be computed again")
    else:
        values = np.empty(1 << sum(block.input_widths), dtype=word_dtype(bits, signed))
        done, units = 0, 0.0
        for words, largest in _function_chunks(block):
            _check_range(block, words)
            values[done : done + len(words)] = words
            done, units = done + len(words), max(units, largest)
        error = math.ceil(units / ERROR_GRID) * ERROR_GRID * float(block.lsb) * ROUND_UP
    return Table(values, block.input_widths, bits, signed), BlockFacts(error, int(values.min()), int(values.max()))


def check_products(plan: Plan, tables: Sequence[Table]) -> None:
    """Refuse tables of products or squares that hold anything else: the range of a product is that of its factors'."""
    for block in sorted({wire.block for wire in plan.wires if isinstance(wire, Product) and wire.block >= 0}):
        if not np.array_equal(tabulate(plan.blocks[block])[0].values, tables[block].values):
            raise BddTorqueError(f"export, block {block} must be a table of products, got other words")


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
    for leading in product(*(range(len(axis)) for axis in axes[:split])):
        fixed = [axis[k : k + 1] for axis, k in zip(axes[:split], leading, strict=True)]
        for start in range(0, len(axes[split]), step):
            yield _evaluated(block, [*fixed, axes[split][start : start + step], *axes[split + 1 :]])


def _evaluated(block: FunctionBlock | LawBlock, axes: list[Integers]) -> tuple[Integers, float]:
    """Return the rounded words over a grid of argument words, and their largest error, in units."""
    shape = tuple(map(len, axes))
    grid = [words.reshape([-1 if k == axis else 1 for k in range(len(axes))]) for axis, words in enumerate(axes)]
    found = block.units(grid)
    units, radius = (np.broadcast_to(array, shape) for array in (found.value, found.radius))
    words = round_half_away(units)
    distance = np.abs(units - words) + radius
    if isinstance(block, FunctionBlock) or block.law.real_valued:
        doubtful = np.argwhere(np.abs(units - words) + np.maximum(radius, TIE_WINDOW) >= 0.5)
        states = [[int(axes[k][place]) for k, place in enumerate(entry)] for entry in doubtful]
        at = tuple(doubtful.T)
        if states and isinstance(block, FunctionBlock):
            words[at] = _decided(block, states)
            distance = np.abs(units - words) + radius
        elif (
            isinstance(block, LawBlock) and states
        ):  # beside a jump the radius holds all of it, so the distance is decided too
            words[at], distance[at] = zip(*(_decided_law(block, state) for state in states), strict=True)
    return words.reshape(-1), float(distance.max()) * ROUND_UP


def _decided(block: FunctionBlock, states: list[list[int]]) -> list[int]:
    """Round the entries at some argument words in extended precision."""
    arguments = {f"x{k}": argument for k, argument in enumerate(block.arguments)}
    named = [{f"x{k}": word for k, word in enumerate(state)} for state in states]
    return rounded_exactly(block.graph, arguments, named, block.lsb)


def _decided_law(block: LawBlock, state: list[int]) -> tuple[int, float]:
    """Round the entry of a law at some argument words, which are rational, in extended precision; and its distance."""
    values = [argument.scale * word + argument.centre for argument, word in zip(block.arguments, state, strict=True)]
    return law_rounded_exactly(block.law, values, block.lsb, block.centre, block.sign, block.low, block.high)


class _ExtendedSines:
    """Sines and cosines, as mpmath numbers, of exact angles."""

    @staticmethod
    def sin(angle: Turn, quarters: int = 0) -> Any:
        halves = _real(2 * Fraction(angle.numerator, 1 << angle.bits) + Fraction(quarters, 2))
        if angle.rest == 0:
            return mpmath.sinpi(halves)
        rest = _real(angle.rest)
        return mpmath.sinpi(halves) * mpmath.cos(rest) + mpmath.cospi(halves) * mpmath.sin(rest)

    @classmethod
    def cos(cls, angle: Turn) -> Any:
        return cls.sin(angle, 1)


def _real(number: Fraction) -> Any:
    return mpmath.mpf(number.numerator) / number.denominator


def rounded_exactly(
    graph: Graph, arguments: Mapping[str, Argument], words: Sequence[Mapping[str, int]], lsb: Fraction
) -> list[int]:
    """Return the one output of the graph, in units of `lsb`, at each set of words: nearest, ties away from zero."""
    with _precision, mpmath.workdps(DIGITS):
        unit = _real(lsb)
        results = []
        for state in words:
            inputs = {name: _value(arguments[name], int(word)) for name, word in state.items()}
            results.append(_half_away(graph.evaluate(inputs, _ExtendedSines)[0] / unit))
        return results


def law_rounded_exactly(
    law: Law, values: Sequence[Fraction], lsb: Fraction, centre: Fraction, sign: int, low: int, high: int
) -> tuple[int, float]:
    """Return sign·law − centre at rational arguments, in units of `lsb`, clamped to low..high, and its distance.

    The word is the nearest, ties away from zero; the distance from it is rounded up.
    """
    with _precision, mpmath.workdps(DIGITS):
        units = (sign * law.exact(values) - _real(centre)) / _real(lsb)
        units = min(max(units, mpmath.mpf(low)), mpmath.mpf(high))
        word = _half_away(units)
        return word, math.nextafter(float(abs(units - word)), math.inf)


def _half_away(units: Any) -> int:
    magnitude = abs(units)
    below = int(mpmath.floor(magnitude))
    up = bool(magnitude - below >= mpmath.mpf(1) / 2 - TIE)
    return (below + up) * (-1 if units < 0 else 1)


def _value(argument: Argument, word: int) -> Any:
    if argument.kind == "angle":
        return argument.bounded(word)
    return _real(argument.centre + argument.scale * word)

"""Tables: expanded from their diagrams, every entry computed anew, and how far the words are from what they stand for.

A diagram must be reduced and in its one canonical form.
Real functions are computed in floats with a radius; an entry that the radius leaves undecided is decided in whole
numbers (`enclosures`). Products and squares are whole numbers anyway.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from .archive import ARRAYS, array_of, sha256
from .enclosures import TINY, ULP, Ball, Enclosure, ExactAlgebra, ball_of, exactly, nearest_word, sine_and_cosine
from .findings import RefusedError, require, work
from .graph import Angle, evaluate
from .plan import Argument, Block
from .ranges import Span

Integers = npt.NDArray[np.int64]

CHUNK = 1 << 21
"""Entries times operations that are computed together: memory stays small."""
MAX_UNDECIDED = 2_000_000
"""Entries of a table that may have to be decided in whole numbers: beyond, it would take hours."""
FINE = 50
"""Bits of a turn to which fractions of angles are cut off before their sines are computed in floats."""
UP = 1 + 1e-13


def table_of(entries: dict[str, bytes], place: int, block: Block) -> npt.NDArray[np.int32]:
    """Return the words of a block in the order of the index, from a diagram found canonical."""
    arrays = {name: array_of(entries, f"blocks/{place}/{name}.npy", descr) for name, descr in ARRAYS.items()}
    where = f"block {place}, diagram"
    variables, bits = sum(block.widths), block.output_bits
    require(len(arrays["roots"]) == bits, f"{where}: expected {bits} output bits, got {len(arrays['roots'])}")
    require(
        len(arrays["order"]) == variables and sorted(arrays["order"].tolist()) == list(range(variables)),
        f"{where}: expected an order of {variables} variables",
    )
    check_canonical(arrays, variables, where)
    return _expanded(arrays, variables, bits, block.signed)


def check_canonical(arrays: dict[str, npt.NDArray[Any]], variables: int, where: str) -> None:
    """Refuse a diagram that is not reduced, or whose nodes are not sorted, or that holds nodes nobody reaches."""
    level, low, high, roots = (arrays[name].astype(np.int64) for name in ("level", "low", "high", "roots"))
    count = len(level)
    require(count > 0 and len(low) == len(high) == count, f"{where}: expected as many edges as nodes")
    require((level[0], low[0], high[0]) == (variables, 0, 0), f"{where}: expected node 0 as the constant")
    edges = np.concatenate([low, high, roots])
    require(bool(((edges >= 0) & (edges < 2 * count)).all()), f"{where}: expected edges to nodes of the diagram")
    rest = slice(1, None)
    require(bool(((level[rest] >= 0) & (level[rest] < variables)).all()), f"{where}: expected levels of variables")
    require(not (low & 1).any(), f"{where}: expected low edges without complement")
    require(bool((low[rest] != high[rest]).all()), f"{where}: expected nodes that test something")
    for edge in (low, high):
        require(bool((level[edge[rest] >> 1] > level[rest]).all()), f"{where}: expected children on deeper levels")
    order = np.lexsort((high[rest], low[rest], -level[rest]))
    require(bool((order == np.arange(count - 1)).all()), f"{where}: expected sorted nodes")
    keys = np.stack([level[rest], low[rest], high[rest]])
    require(not (keys[:, 1:] == keys[:, :-1]).all(axis=0).any(), f"{where}: expected no two equal nodes")
    reached = np.zeros(count, dtype=bool)
    reached[0] = True
    reached[roots >> 1] = True
    for each in range(variables):  # children lie deeper: level by level from the top, all are marked
        here = np.flatnonzero((level == each) & reached)
        reached[low[here] >> 1] = True
        reached[high[here] >> 1] = True
    require(bool(reached.all()), f"{where}: expected nodes that a root reaches")


def _expanded(arrays: dict[str, npt.NDArray[Any]], variables: int, bits: int, signed: bool) -> npt.NDArray[np.int32]:
    """Return the words; edges are spread level by level, then the axes put in the order of the index."""
    level, low, high = arrays["level"], arrays["low"], arrays["high"]
    words = np.zeros(1 << variables, dtype=np.int32)
    for bit, root in enumerate(arrays["roots"].tolist()):
        edges = np.array([root], dtype=np.int32)
        for each in range(variables):
            node, complement = edges >> 1, edges & 1
            tests = level[node] == each
            spread = np.empty(2 * len(edges), dtype=np.int32)
            spread[0::2] = np.where(tests, low[node] ^ complement, edges)
            spread[1::2] = np.where(tests, high[node] ^ complement, edges)
            edges = spread
        weight = -(1 << bit) if signed and bit == bits - 1 else 1 << bit
        words += (edges & 1) * np.int32(weight)
    axes = np.argsort(arrays["order"])
    return words.reshape((2,) * variables).transpose(axes).reshape(-1)


def table_key(words: npt.NDArray[Any], block: Block) -> str:
    """Return the key of a table."""
    bits = block.output_bits
    size = next(size for size in (1, 2, 4) if 8 * size >= bits + (not block.signed))
    widths = ",".join(map(str, block.widths))
    return sha256(f"table:{widths}:{bits}:{int(block.signed)}:".encode() + words.astype(f"<i{size}").tobytes())


@dataclass(frozen=True)
class Facts:
    """Facts of a table: the largest distance of a word from what it stands for, in units; the ends; ties.

    `clamped` tells whether a law was cut off at the ends of the block, `reach` is what its own values are within.
    """

    error: float
    low: int
    high: int
    undecided: int = 0
    clamped: bool = False
    reach: Span = (math.inf, -math.inf)


def check_table(block: Block, words: npt.NDArray[np.int32], where: str) -> Facts:
    """Refuse a table that differs from its definition anywhere; return what was found of it."""
    low, high = int(words.min()), int(words.max())
    require(block.low <= low and high <= block.high, f"{where}: expected words from {block.low} to {block.high}")
    if block.kind == "given":
        require((block.low, block.high) == (low, high), f"{where}: expected the range {low} to {high} of its words")
        return Facts(float(Fraction(block.error) / block.lsb) * UP, low, high)
    if block.kind in ("product", "square"):
        _compare(_whole_numbers(block), words, 0, where)
        return Facts(0.0, low, high)
    error, undecided, start, clamped, reach = 0.0, 0, 0, False, (math.inf, -math.inf)
    operations = 24 if block.graph is None else 8 + len(block.graph.nodes)
    for axes in _chunks(block.arguments, max(64, CHUNK // operations)):
        found, largest, ties, cut, ends = _rounded(block, axes)
        work(len(found) * operations)
        _compare(found, words, start, where)
        start += len(found)
        error, undecided, clamped = max(error, largest), undecided + ties, clamped or cut
        reach = min(reach[0], ends[0]), max(reach[1], ends[1])
        require(undecided <= MAX_UNDECIDED, f"{where}: there are more entries on ties than can be decided")
    return Facts(error, low, high, undecided, clamped, reach)


def index_words(bits: int, signed: bool = True) -> Integers:
    """Return all words in the order of the index."""
    index = np.arange(1 << bits, dtype=np.int64)
    return np.where(index >> (bits - 1) & 1, index - (1 << bits), index) if signed else index


def _compare(expected: Integers, words: npt.NDArray[np.int32], start: int, where: str) -> None:
    given = words[start : start + len(expected)]
    if not np.array_equal(expected, given):
        at = int(np.argmax(expected != given))
        raise RefusedError(f"{where}: entry {start + at} must be {expected[at]}, it is {given[at]}")


def _whole_numbers(block: Block) -> Integers:
    if block.kind == "square":
        words = index_words(block.widths[0])
        return words * words >> 2
    left, right = (index_words(width, block.signed) for width in block.widths)
    exact = left[:, None] * right[None, :]  # 26 bits at most in all
    return (exact + ((1 << block.shift) >> 1) >> block.shift).reshape(-1)


def _chunks(arguments: tuple[Argument, ...], most: int) -> Iterator[list[Integers]]:
    """Yield the words of every argument for runs of at most so many entries, in the order of the index."""
    axes = [index_words(each.bits, each.signed) for each in arguments]
    split, inner = len(axes) - 1, 1
    while split and inner * len(axes[split]) <= most:
        inner *= len(axes[split])
        split -= 1
    step = max(1, most // inner)
    for leading in product(*(range(len(axis)) for axis in axes[:split])):
        fixed = [axis[k : k + 1] for axis, k in zip(axes[:split], leading, strict=True)]
        for start in range(0, len(axes[split]), step):
            yield [*fixed, axes[split][start : start + step], *axes[split + 1 :]]


class _TableAlgebra:
    """Graphs over the words of a chunk, each argument along an axis of its own."""

    def __init__(self, arguments: tuple[Argument, ...], axes: list[Integers]) -> None:
        self.arguments = arguments
        self.axes = [words.reshape([-1 if k == j else 1 for j in range(len(axes))]) for k, words in enumerate(axes)]

    @staticmethod
    def number(value: Fraction) -> Ball:
        """Return a rational as a ball."""
        return ball_of(value)

    def wave(self, angle: Angle, cosine: bool) -> Ball:
        """Return the sine or cosine of an angle at all words."""
        if any(Fraction(multiplier).denominator > 1 for _, multiplier in angle.multipliers):
            return self._wave_of_fraction(angle, cosine)
        denominator = math.lcm(angle.turns.denominator, *(1 << self.arguments[k].bits for k, _ in angle.multipliers))
        require(denominator <= 1 << 40, "expected angles of fewer bits")
        total: Any = np.int64(int(angle.turns * denominator))
        for k, multiplier in angle.multipliers:
            scale = denominator >> self.arguments[k].bits if denominator & (denominator - 1) == 0 else 0
            require(scale > 0 and abs(multiplier) < 1 << 16, "expected whole multiples of binary angles")
            total = total + self.axes[k] * (int(multiplier) * scale)
        return sine_and_cosine(total, denominator, angle.rest)[cosine]

    def _wave_of_fraction(self, angle: Angle, cosine: bool) -> Ball:
        """Return the wave of a fraction of an angle: its turns cut off to 2^-FINE, which the radius covers."""
        require(len(angle.multipliers) == 1 and not angle.turns, "expected a fraction of one angle alone")
        ((k, multiplier),) = angle.multipliers
        whole = multiplier.denominator << self.arguments[k].bits
        turns = self.axes[k].astype(object) * multiplier.numerator % whole
        cut = ((turns << FINE) // whole).astype(np.int64)
        wave = sine_and_cosine(cut, 1 << FINE, angle.rest)[cosine]
        return Ball(wave.value, wave.radius + 2 * math.pi * 2.0**-FINE * UP)


def _rounded(block: Block, axes: list[Integers]) -> tuple[Integers, float, int, bool, Span]:
    """Return the words of a chunk, the largest distance in units, how many ties were decided, and whether cut off.

    Last is what the values themselves are within.
    """
    shape = tuple(map(len, axes))
    units = _law_units(block, axes) if block.law else _graph_values(block, axes) * ball_of(1 / block.lsb)
    if block.law is None and not np.ndim(units.value):  # the same everywhere
        word, apart = nearest_word(_decided(block, [int(axis[0]) for axis in axes]))
        error = float(apart) * UP
        return np.full(math.prod(shape), word), error, 0, False, (word - error, word + error)
    near = np.broadcast_to(units.value, shape).reshape(-1).copy()
    radius = np.broadcast_to(units.radius, shape).reshape(-1) + ULP * np.abs(near) + TINY
    require(bool(np.isfinite(near).all() and np.isfinite(radius).all()), "expected finite values of a table")
    cut = bool(((near < block.low - 0.5) | (near > block.high + 0.5)).any())
    if block.law:
        near = np.clip(near, block.low, block.high)
    size = np.abs(near)
    below = np.floor(size)
    words = np.copysign(below + (size - below >= 0.5), near).astype(np.int64)
    distance = np.abs(near - words) + radius
    exact = block.law is None or block.law.real_valued
    undecided = np.flatnonzero(distance >= 0.5) if exact else np.array([], dtype=np.int64)
    largest = float(np.max(np.delete(distance, undecided), initial=0.0)) * UP
    for place in undecided.tolist():
        at = np.unravel_index(place, shape)
        found = _decided(block, [int(axis[k]) for axis, k in zip(axes, at, strict=True)])
        word, off = nearest_word(found)
        if block.law:
            word = min(max(word, block.low), block.high)
            ends = [min(max(end, Fraction(block.low)), Fraction(block.high)) for end in (found.low, found.high)]
            off = max(abs(end - word) for end in ends)
        words[place], near[place], radius[place] = word, word, float(off) * UP
        largest = max(largest, float(radius[place]))
    within = float(np.min(near - radius * UP)), float(np.max(near + radius * UP))
    return words, largest, len(undecided), cut, within


def _graph_values(block: Block, axes: list[Integers]) -> Ball:
    if block.graph is None:
        raise RefusedError("expected a function with a graph")
    algebra = _TableAlgebra(block.arguments, axes)
    numbers = [Ball(words.astype(np.float64)) for words in algebra.axes]
    found = evaluate(block.graph, _values(block.arguments, numbers, ball_of), algebra)
    return found if isinstance(found, Ball) else ball_of(found)


def _law_units(block: Block, axes: list[Integers]) -> Ball:
    """Return (sign·law − centre)/lsb in the float operations that docs/format.md lists for laws."""
    if block.law is None:
        raise RefusedError("expected a block with a law")
    arguments = []
    for k, (argument, words) in enumerate(zip(block.arguments, axes, strict=True)):
        spread = np.broadcast_to(words.reshape([-1 if k == j else 1 for j in range(len(axes))]), tuple(map(len, axes)))
        arguments.append(_law_argument(argument, spread))
    found = block.law.values(arguments)
    centre, unit = float(block.centre), float(block.lsb)
    slack = 4 * ULP * (np.abs(found.value) + abs(centre))
    return Ball((block.sign * found.value - centre) / unit, (found.radius + slack) / unit * UP)


def _law_argument(argument: Argument, words: Integers) -> Ball:
    """Return the value of words in the float operations that docs/format.md lists for laws."""
    scale, centre = float(argument.scale), float(argument.centre)
    if not argument.angle:
        return Ball(words * scale + centre, 4 * ULP * (np.abs(words * scale) + abs(centre)))
    half = 1 << (argument.bits - 1)
    held = (words * int(argument.scale) + half) % (2 * half) - half
    return Ball(held * (2 * math.pi / (2 * half)) + centre, 8 * ULP * (math.pi + abs(centre)))


def _values(arguments: tuple[Argument, ...], words: list[Any], number: Callable[[Fraction], Any]) -> dict[str, Any]:
    """Return what words stand for: numbers, of a kind that rationals become, and angles as symbols."""
    return {
        f"x{k}": Angle(((k, argument.scale),) if argument.scale else (), Fraction(0), argument.centre)
        if argument.angle
        else word * number(argument.scale) + number(argument.centre)
        for k, (argument, word) in enumerate(zip(arguments, words, strict=True))
    }


def _decided(block: Block, words: list[int]) -> Enclosure:
    """Return one entry in units, in whole numbers."""
    arguments = block.arguments
    turns = {
        k: Fraction(word, 1 << argument.bits) for k, (argument, word) in enumerate(zip(arguments, words, strict=True))
    }
    values = _values(arguments, [exactly(Fraction(word)) for word in words], exactly)
    unit = exactly(1 / block.lsb)
    if block.graph is not None:
        value: Enclosure = evaluate(block.graph, values, ExactAlgebra(turns))
        return value * unit
    law: Any = block.law
    found: Enclosure = law.exact(values["x0"].low)
    return (exactly(Fraction(block.sign)) * found + exactly(-block.centre)) * unit

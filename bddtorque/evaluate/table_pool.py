"""The blocks that straight-line code reads, as tables in one array or as diagrams, and the expressions that read them.

`TablePool` has tables one after another. A table that is read at an angle and at the same angle a quarter turn on
(cosine and sine) is turned and a little longer than a turn, so that one index serves both. `WalkPool` has diagrams:
each look-up calls one precompiled walk, the same for all plans.

    [address of the walk, row of block 0, row of block 1, ...]

A row says where the arrays of a block lie and how long they are (roots, positions, successors), how many bits a word
has, and whether it is signed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from bddtorque.base.jit import inlined, njit_without_refcounts
from bddtorque.evaluate.pointers import array_at, entry
from bddtorque.plan.forms import Bits, Lockstep
from bddtorque.plan.forms.bit_forms import walk_lanes
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.plan.wires import AngleSum, Lookup, Product


@dataclass(frozen=True)
class Place:
    """Where a table begins in the pool, by how many entries it is turned, and how many it has, counted twice or not."""

    start: int
    turned: int
    length: int


def join_index(words: Sequence[str], widths: Sequence[int]) -> str:
    """Return the index of a table: the low bits of words, the first one on top."""
    shifts = [sum(widths[k + 1 :]) for k in range(len(widths))]
    parts = zip(words, widths, shifts, strict=True)
    return " | ".join(f"((({word}) & {(1 << width) - 1}) << {shift})" for word, width, shift in parts)


class TablePool:
    """Where every table stands, and the statements that read it."""

    def __init__(self, plan: Plan, blocks: Sequence[int]) -> None:
        self.plan = plan
        self.places: dict[int, Place] = {}
        length = 1  # never empty: Numba wants a type
        for block in blocks:
            rows = 1 << sum(plan.blocks[block].input_widths)
            offsets = sorted(
                {
                    self._source(wire)[1] % rows
                    for wire in plan.wires
                    if isinstance(wire, Lookup) and wire.block == block
                }
                or {0}
            )
            turned = min(offsets, key=lambda first: max((offset - first) % rows for offset in offsets))
            more = max((offset - turned) % rows for offset in offsets)
            self.places[block] = Place(length, turned, rows + more)
            length += rows + more
        self.length = length

    def values(self, tables: Sequence[Table]) -> npt.NDArray[Any]:
        """Return the pool: the words of every table, in 16 bits if all fit, so that the fastest cache holds more."""
        ranges = (tables[block].range for block in self.places)
        narrow = all(np.iinfo(np.int16).min <= low and high <= np.iinfo(np.int16).max for low, high in ranges)
        pool = np.zeros(self.length, dtype=np.int16 if narrow else np.int32)
        for block, place in self.places.items():
            words = tables[block].values
            index = (np.arange(place.length) + place.turned) % len(words)
            pool[place.start : place.start + place.length] = words[index]
        return pool

    def lookup(self, wire: Lookup) -> str:
        """Return the expression that looks a wire up, from the integers of its inputs."""
        widths = self.plan.blocks[wire.block].input_widths
        if len(widths) == 1:
            return self._entry_at_angle(wire, *self._source(wire))
        return self.entry(wire.block, join_index([f"x{source}" for source in wire.wires], widths))

    def _entry_at_angle(self, wire: Lookup, source: int, offset: int) -> str:
        """Return the expression that looks a table of one word up, at a word and an offset."""
        place, rows = self.places[wire.block], 1 << self.plan.blocks[wire.block].input_widths[0]
        return f"table[(x{source} & {rows - 1}) + {place.start + (offset - place.turned) % rows}]"

    def reads(self, wire: Lookup) -> tuple[str, ...]:
        """Return the names in the expression that looks a wire up."""
        return tuple(f"x{source}" for source in dict.fromkeys(self._sources(wire)))

    def entry(self, block: int, index: str) -> str:
        """Return the expression that looks a block up at an index."""
        place, rows = self.places[block], 1 << sum(self.plan.blocks[block].input_widths)
        index = f"(({index}) - {place.turned}) & {rows - 1}" if place.turned else index
        return f"table[{place.start} + ({index})]"

    def angles_needed(self) -> list[int]:
        """Return the sums of angles that must be made: the others are an angle and an offset."""
        read = {source for wire in self.plan.wires if isinstance(wire, Lookup) for source in self._sources(wire)}
        return sorted(k for k in read if isinstance(self.plan.wires[k], AngleSum))

    def _sources(self, wire: Lookup) -> tuple[int, ...]:
        return (self._source(wire)[0],) if len(wire.wires) == 1 else wire.wires

    def _source(self, wire: Lookup) -> tuple[int, int]:
        """Return the wire whose word is the index of a table of one word, and what is added to it."""
        if len(wire.wires) > 1:
            return wire.wires[0], 0
        angle = self.plan.wires[wire.wires[0]]
        if isinstance(angle, AngleSum) and len(angle.parts) == 1 and angle.parts[0][1:] == (1, 0):
            return angle.parts[0][0], angle.constant
        return wire.wires[0], 0


def blocks_read(plan: Plan, native: bool) -> list[int]:
    """Return the blocks that straight-line code looks up; with native products, only those of functions."""
    found = {wire.block for wire in plan.wires if isinstance(wire, Lookup)}
    if not native:
        found |= {wire.block for wire in plan.wires if isinstance(wire, Product)}
    return sorted(found)


Walkable = Bits | Lockstep
ROOTS, COUNT, POSITIONS, LEVELS, SUCCESSORS, ENTRIES, OUTPUT_BITS, SIGNED, COLUMNS = range(9)


class WalkPool(TablePool):
    """The rows of all blocks, and the expressions that walk.

    Attributes
    ----------
    walk
        The function that walks one block.
    kept
        The arrays at which the rows point.
    """

    def __init__(self, plan: Plan, forms: Sequence[Walkable]) -> None:
        super().__init__(plan, ())
        self.walk = walk_in_lockstep if isinstance(forms[0], Lockstep) else walk_bits
        self.rows: list[int] = []
        self.kept: list[npt.NDArray[Any]] = []
        for form in forms:
            bits = form.output_bits if isinstance(form, Lockstep) else len(form.roots)
            self.add_row(form, form.roots, bits, form.signed)

    def add_row(self, form: Walkable, roots: npt.NDArray[Any], bits: int, signed: bool) -> int:
        """Add the row of walks from some roots, and return where it begins."""
        kinds = ((roots, np.int32), (form.positions, np.int8), (form.successors, np.uint32))
        arrays = [np.ascontiguousarray(array, dtype=kind) for array, kind in kinds]
        self.kept += arrays
        begin = 1 + len(self.rows)
        for array in arrays:
            self.rows += [array.ctypes.data, len(array)]
        self.rows += [bits, int(signed)]
        return begin

    def entry(self, block: int, index: str) -> str:
        """Return the expression that looks a block up at an index; bits above the block's are ignored."""
        return f"walk(table, {1 + COLUMNS * block}, {index})"

    def descriptor(self) -> npt.NDArray[np.int64]:
        """Return the array; it lives no longer than the pool."""
        return np.array([entry(self.walk, (types.int64, types.int64)), *self.rows], dtype=np.int64)

    def _entry_at_angle(self, wire: Lookup, source: int, offset: int) -> str:
        return self.entry(wire.block, f"x{source} + {offset}" if offset else f"x{source}")


@inlined
def _signed_word(word: Any, bits: Any, signed: Any) -> Any:
    """Return an unsigned word of `bits` bits as two's complement if `signed` is 1, as it is if 0."""
    return word - (((word >> (bits - 1)) & signed) << bits)


@njit_without_refcounts
def walk_in_lockstep(address: Any, index: Any) -> Any:
    """Return the word of the block whose row lies at an address, in the form `lockstep`."""
    row = array_at(address, (COLUMNS,), np.int64)
    count, levels, bits = row[COUNT], row[LEVELS], row[OUTPUT_BITS]
    roots, positions = array_at(row[ROOTS], (count,), np.int32), array_at(row[POSITIONS], (levels,), np.int8)
    successors = array_at(row[SUCCESSORS], (row[ENTRIES],), np.uint32)
    word = np.int64(walk_lanes(index, positions, 0, levels, successors, 0, roots, 0, count))
    return _signed_word(word & ((np.int64(1) << bits) - 1), bits, row[SIGNED])


@njit_without_refcounts
def walk_bits(address: Any, index: Any) -> Any:
    """Return the word of the block whose row lies at an address, in the form `bits`."""
    row = array_at(address, (COLUMNS,), np.int64)
    count = row[COUNT]
    roots, positions = array_at(row[ROOTS], (count,), np.int32), array_at(row[POSITIONS], (row[LEVELS],), np.int8)
    successors = array_at(row[SUCCESSORS], (row[ENTRIES],), np.uint32)
    one, tested, word = np.uint64(1), np.uint64(index), np.int64(0)
    for bit in range(count):
        edge = np.uint64(roots[bit])
        while edge > one:
            side = (tested >> np.uint64(positions[edge >> one])) & one
            edge = np.uint64(successors[(edge & ~one) | side]) ^ (edge & one)
        word |= np.int64(edge) << bit
    return _signed_word(word, count, row[SIGNED])

"""The tables of straight-line code, one after another in one array.

A table that is read at an angle and at the same angle a quarter turn on (cosine and sine) is turned and a little
longer than a turn, so that one index serves both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.plan.wires import AngleSum, Lookup, Product


@dataclass(frozen=True)
class Place:
    """Where a table begins in the pool, by how many entries it is turned, and how many it has, counted twice or not."""

    start: int
    turned: int
    length: int


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
        place = self.places[wire.block]
        if len(widths) == 1:
            source, offset = self._source(wire)
            rows = 1 << widths[0]
            return f"table[(x{source} & {rows - 1}) + {place.start + (offset - place.turned) % rows}]"
        index, shift = [], sum(widths)
        for each, width in zip(wire.wires, widths, strict=True):
            shift -= width
            index.append(f"((x{each} & {(1 << width) - 1}) << {shift})")
        return f"table[({' | '.join(index)}) + {place.start}]"

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

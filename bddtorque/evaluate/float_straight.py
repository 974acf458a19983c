"""Straight-line code of a plan in floats, every wire a local variable.

    states(arrays, out, table, counts)            one state after another
    bare(arrays, out, table)                      the same, counting nothing: what a kernel runs
    unchecked(arrays, out, table)                 the same for words that are known to be in range
    tiles(arrays, out, table, counts, rows, end)  many at once, in the lanes of vector instructions
    columns(...)                                  the same for arrays (n, N), column by column

The last two take the first `end` states, and leave what is beyond a multiple of `TILE` as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from bddtorque.base.jit import DISABLE_JIT
from bddtorque.evaluate.code_writer import DECORATOR, CodeWriter, Straight, indented
from bddtorque.evaluate.cutting import cut, is_large
from bddtorque.evaluate.float_code import FloatCode, FloatPool
from bddtorque.evaluate.ieee_code import vector_lanes, warn_without_fma
from bddtorque.evaluate.input_code import check_inputs, count, load_inputs, unread_words
from bddtorque.evaluate.pointers import LINE_BYTES
from bddtorque.evaluate.state_layouts import TILE, InColumns, InRows
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.words.interface import Interface

HEADER = '''"""A compiled plan in floats, written by bddtorque; made anew whenever it is missing."""
from numba import int32, int64, njit
from numba.extending import intrinsic
import numpy as np

from bddtorque.evaluate.ieee_code import fma, lrint, rint
from bddtorque.evaluate.lane_code import emitted_in_lanes
from bddtorque.evaluate.llvm_code import clamp_to_int64, emitted
from bddtorque.evaluate.pointers import address_of, align_stack, array_at, space_of

real = np.{dtype}
'''
INLINED = DECORATOR.replace("_nrt", "forceinline=True, _nrt")
"""Of what kernels call: within a loop of the user's no array is passed, and no reference to a row counted."""


def float_straight(plan: Plan, formats: Interface, tables: Sequence[Table], directory: Path) -> Straight:
    """Return the straight-line code of a plan in floats; compiled when first called, or found in `directory`."""
    warn_without_fma()
    pool = FloatPool(plan)
    source = FloatSource(plan, formats, pool)
    module = source.module(directory)
    return Straight(
        module.states, module.bare, pool.values(tables), module.tiles, module.columns, module.unchecked, source.room,
        TILE, plan.floats.dtype,
    )  # fmt: skip


class TileWriter(CodeWriter):
    """A module of functions that take a tile of states at once, one in each lane of a vector.

    Attributes
    ----------
    lanes
        Of a vector.
    length
        States of which something is kept in memory at once.
    room
        How many floats the array `rows` must have, which may begin anywhere.
    """

    def __init__(self, plan: Plan, formats: Interface, header: str) -> None:
        super().__init__(plan, formats, header)
        self.lanes, self._size = vector_lanes(plan.floats.dtype), plan.floats.dtype().itemsize
        self.length, self.room, self._rows = self.lanes, 0, 0

    def begin(self, dtype: str) -> list[str]:
        """Return how a function begins that takes tiles of the arrays that are `flat`."""
        aligned = f"(address_of(rows) + {LINE_BYTES - 1}) & {-LINE_BYTES}"
        words = (f"{each}_ = array_at(address_of({each}), ({each}.size,), {dtype})" for each in sorted(self.flat))
        return ["align_stack()", f"rows = array_at({aligned}, (rows.size,), real)", *words]

    def row_names(self, names: Iterable[str]) -> dict[str, str]:
        """Return the places of names in rows of their own: the element of state i. Other rows are forgotten."""
        self._rows = 0
        return {name: self._new_row(name) for name in names}

    def add_tile(self, name: str, arguments: Sequence[str], places: dict[str, str], body: Sequence[str]) -> list[str]:
        """Add statements that read names from their places, as functions, and return what calls them for a tile."""
        if is_large(body) and not DISABLE_JIT:
            return self.add_parts(name, arguments, cut(body, [], dict(places), self._new_row), self.lanes)
        loads = [f"{each} = {place}" for each, place in places.items()]
        return [self.add_block(name, arguments, [*loads, *body], lanes=self.lanes)]

    def _new_row(self, name: str) -> str:
        self._rows += 1
        self.room = max(self.room, self._rows * self.length + LINE_BYTES // self._size)
        return f"rows[{(self._rows - 1) * self.length} + i]"


class FloatSource(TileWriter):
    """The module of a plan in floats."""

    def __init__(self, plan: Plan, formats: Interface, pool: FloatPool) -> None:
        dtype = plan.floats.dtype.__name__
        super().__init__(plan, formats, HEADER.format(dtype=dtype))
        self.counted = [*self.inputs, *unread_words(plan, self.arrays)]
        self.flat = {*self.names, "out"}
        self._add_states(FloatCode(plan, pool, lookups=True), dtype)
        self._add_batches(FloatCode(plan, pool, lookups=False))

    def _add_states(self, code: FloatCode, dtype: str) -> None:
        """Add the functions that take one state after another."""
        results = [f"r{k} = lrint({code.clamped(k)})" for k in self.outputs]
        self.write_state([*code.body, *results], [], dtype)
        self.add_states("states", True, [*load_inputs(self.counted), *check_inputs(self.counted, True)])
        load, decorator = list(load_inputs(self.inputs)), DECORATOR if self.parts else INLINED
        self.add_states("bare", False, [*load, *check_inputs(self.inputs, False)], (), decorator)
        self.add_states("unchecked", False, load, (), decorator)

    def _add_batches(self, code: FloatCode) -> None:
        """Add the functions that take many states at once, for states in rows and in columns.

        What has a word out of range is read once more, clamped and counted.
        """
        told = code, self.counted, self.arrays, self.outputs, self.lanes
        for layout in (InRows(*told), InColumns(*told)):
            name, tallies = layout.name, layout.tallies.values()
            self.length = layout.length
            places = self.row_names(code.words)
            *widths, out_width = layout.widths.values() or [""]
            given = ["rows", "out", "first", "i", *([out_width] if out_width else [])]
            body = [*code.body, *(f"r{k} = rint({code.clamped(k)})" for k in self.outputs), *layout.write()]
            compute = self.add_tile(f"compute_{name}", given, places, body)
            read = self.add_block(
                f"read_{name}", ["table", "rows", *self.names, "first", *widths], layout.read(places),
                ["outside", *tallies], self.lanes,
            )  # fmt: skip
            again, end = [], []
            for word in self.counted:
                x = f"x{word.wire}"
                again.append(f"{x} = {layout.element(word)}")
                if word.wire in layout.tallies:
                    end.append(count(word, f"t{word.wire}"))
                elif not word.wraps:
                    again.append(count(word, f"({x} < {-word.half}) | ({x} > {word.half - 1})"))
                    again.append(f"{x} = min(max({x}, {-word.half}), {word.half - 1})")
            again += [f"{places[each]} = {value.text()}" for each, value in code.words.items()]
            clamp = self.add_block(f"clamp_{name}", [*self.names, "table", "counts", "rows", "first", "i"], again)
            if end:
                end = [self.add_block(f"count_{name}", ["counts", *(f"t{wire}" for wire in layout.tallies)], end)]
            tile = [f"{', '.join(['outside', *tallies])}, = {read}"]
            tile += [f"t{wire} += {tally}" for wire, tally in layout.tallies.items()]
            tile += ["if outside:", f"    for i in range({self.length}):", f"        {clamp}"]
            tile += [f"for i in range(0, {self.length}, {self.lanes}):", *indented(compute)]
            begin = [self.taken_apart, *self.begin("np.int64")]
            begin += [f"{width} = {array}.shape[1]" for array, width in layout.widths.items()]
            begin += [f"t{wire} = int64(0)" for wire in layout.tallies]
            loop = [f"for first in range(0, end - end % {TILE}, {self.length}):", *indented(tile)]
            self.add(f"{name}(arrays, out, table, counts, rows, end)", [*begin, *loop, *end])

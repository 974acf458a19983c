"""Straight-line code of a plan in floats, every wire a local variable.

    states(q, qd, qdd, tau, table, counts)            one state after another
    bare(q, qd, qdd, tau, table)                      the same, counting nothing: what a kernel runs
    unchecked(q, qd, qdd, tau, table)                 the same for words that are known to be in range
    tiles(q, qd, qdd, tau, table, counts, rows, end)  many at once, in the lanes of vector instructions
    columns(...)                                      the same for arrays (n, N), joint by joint

The last two take the first `end` states, and leave what is beyond a multiple of `TILE` as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from bddtorque.base.jit import DISABLE_JIT
from bddtorque.evaluate.code_writer import DECORATOR, CodeWriter, Straight, indented
from bddtorque.evaluate.cutting import cut, is_large
from bddtorque.evaluate.float_code import FloatCode, FloatPool
from bddtorque.evaluate.ieee_code import warn_without_fma
from bddtorque.evaluate.input_code import InputWord, check_inputs, load_inputs, unread_words
from bddtorque.evaluate.program import QUANTITIES
from bddtorque.plan.float_plan import FloatPlan
from bddtorque.plan.table import Table
from bddtorque.words import Formats

TILE = 128
"""States that `tiles` takes at once: what they need lies in the fastest cache."""

HEADER = '''"""A compiled plan in floats, written by bddtorque; made anew whenever it is missing."""
from numba import int32, int64, njit
from numba.extending import intrinsic
import numpy as np

from bddtorque.evaluate.ieee_code import fma, lrint, rint
from bddtorque.evaluate.llvm_code import emitted
from bddtorque.evaluate.pointers import array_at, space_of

real = np.{dtype}
'''
INLINED = DECORATOR.replace("_nrt", "forceinline=True, _nrt")
"""Of what kernels call: within a loop of the user's no array is passed, and no reference to a row counted."""


def float_straight(plan: FloatPlan, formats: Formats, tables: Sequence[Table], directory: Path) -> Straight:
    """Return the straight-line code of a plan in floats; compiled when first called, or found in `directory`."""
    warn_without_fma()
    pool = FloatPool(plan)
    source = FloatSource(plan, formats, pool)
    module = source.module(directory)
    return Straight(
        module.states, module.bare, pool.values(tables), module.tiles, module.columns, module.unchecked, source.rows,
        TILE, plan.precision.dtype,
    )  # fmt: skip


class TileWriter(CodeWriter):
    """A module of functions that take a tile of states at once.

    What crosses loops over a tile stands in one array, a constant apart: only so does the compiler see that nothing
    overlaps.

    Attributes
    ----------
    rows : how many rows of TILE floats a tile needs
    """

    def __init__(self, plan: FloatPlan, formats: Formats, header: str) -> None:
        super().__init__(plan, formats, header)
        self.rows = 0

    def row_names(self, names: Iterable[str]) -> dict[str, str]:
        """Return the places of names in rows of their own."""
        return {name: self._new_row(name) for name in names}

    def add_tile(self, name: str, places: dict[str, str], body: Sequence[str]) -> list[str]:
        """Add statements that read names from their places, as functions, and return what does them for a tile."""
        if is_large(body) and not DISABLE_JIT:
            return self.add_parts(name, ["rows"], cut(body, [], places, self._new_row), tiled)
        loads = [f"{each} = {place}" for each, place in places.items()]
        return tiled([self.add_block(name, ["rows", "i"], [*loads, *body])])

    def _new_row(self, name: str) -> str:
        self.rows += 1
        return f"rows[{(self.rows - 1) * TILE} + i]"


class FloatSource(TileWriter):
    """The module of a plan in floats."""

    def __init__(self, plan: FloatPlan, formats: Formats, pool: FloatPool) -> None:
        dtype = plan.precision.dtype.__name__
        super().__init__(plan, formats, HEADER.format(dtype=dtype))
        self.counted = [*self.inputs, *unread_words(plan, formats)]
        self._add_states(FloatCode(plan, pool, lookups=True), dtype)
        self._add_batches(FloatCode(plan, pool, lookups=False))

    def _add_states(self, code: FloatCode, dtype: str) -> None:
        """Add the functions that take one state after another."""
        results = [f"r{k} = lrint({code.clamped(k)})" for k in self.outputs]
        begin, lines = self.state_lines([*code.body, *results], [], dtype)
        for head, words, check in (
            ("states(q, qd, qdd, tau, table, counts)", self.counted, check_inputs(self.counted, True)),
            ("bare(q, qd, qdd, tau, table)", self.inputs, check_inputs(self.inputs, False)),
            ("unchecked(q, qd, qdd, tau, table)", self.inputs, ()),
        ):
            body = [*begin, "for s in range(q.shape[0]):", *indented([*load_inputs(words), *check, *lines])]
            self.add(head, body, INLINED if not self.parts and not head.startswith("states") else DECORATOR)

    def _add_batches(self, code: FloatCode) -> None:
        """Add the functions that take many states at once, for states in rows and in columns.

        A tile with a word out of range is read once more, clamped and counted.
        """
        places = self.row_names(code.words)
        results = {k: self._new_row("") for k in self.outputs}
        body = [*code.body, *(f"{place} = rint({code.clamped(k)})" for k, place in results.items())]
        compute = self.add_tile("compute", dict(places), body)
        names = [f"x{word.wire}" for word in self.counted]
        clamps = [f"{x} = min(max({x}, {-word.half}), {word.half - 1})"
                  for x, word in zip(names, self.counted, strict=True) if not word.wraps]  # fmt: skip
        makes = [f"{places[each]} = {value}" for each, value in code.words.items()]
        clamp = self.add_block("clamp", ["table", "rows", "i", *names], [*clamps, *makes])
        for name, load, store in (
            ("tiles", "{}[first + i, {}]", "tau[first + i, {}]"),
            ("columns", "{}[{}, first + i]", "tau[{}, first + i]"),
        ):
            given = {f"x{word.wire}": load.format(word.quantity, word.joint) for word in self.counted}
            waiting = {f"x{word.wire}": word for word in self.counted if not (word.wraps and word.whole)}
            tile = ["outside = int64(0)", *(f"n{word.wire} = int64(0)" for word in waiting.values() if word.wraps)]
            for each, value in code.words.items():
                loads = _loads(value)
                checks = [_check(waiting.pop(x)) for x in loads if x in waiting]
                tile += tiled([*(f"{x} = {given[x]}" for x in loads), f"{places[each]} = {value}", *checks])
            for x, word in waiting.items():  # what no torque depends on
                tile += tiled([f"{x} = {given[x]}", _check(word)])
            again = [f"{x} = {value}" for x, value in given.items()]
            for x, word in zip(names, self.counted, strict=True):
                place = f"counts[{QUANTITIES.index(word.quantity)}, {word.joint}]"
                if word.wraps and not word.whole:
                    tile.append(f"{place} += n{word.wire}")
                elif not word.wraps:
                    again.append(f"{place} += int64({x} < {-word.half} or {x} >= {word.half})")
            tile += ["if outside:", *indented(tiled([*again, clamp])), *compute]
            for k, place in results.items():
                tile += tiled([f"{store.format(k)} = int64({code.word_kind}({place}))"])
            head = f"{name}(q, qd, qdd, tau, table, counts, rows, end)"
            self.add(head, [f"for first in range(0, end - end % {TILE}, {TILE}):", *indented(tile)])


def _check(word: InputWord) -> str:
    """Return the statement that looks whether a word of a tile is out of range; of an angle, counts those that are."""
    x, mask = f"x{word.wire}", (1 << word.bits) - 1
    if not word.wraps:
        return f"outside |= ({x} + {word.half}) & {-1 << word.bits}"
    # from the first word in range on, around the turn
    return f"n{word.wire} += int64((({x} - {word.low}) & {mask}) > {(word.high - word.low) & mask})"


def _loads(value: str) -> list[str]:
    """Return the words that an expression reads."""
    return list(dict.fromkeys(re.findall(r"\bx\d+\b", value)))


def tiled(lines: Sequence[str]) -> list[str]:
    """Return a loop over the states of a tile."""
    return [f"for i in range({TILE}):", *indented(lines or ["pass"])]

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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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

TILE = 64
"""States that `tiles` takes at once: what they need lies in the fastest cache."""

HEADER = '''"""A compiled plan in floats, written by bddtorque; made anew whenever it is missing."""
from numba import int32, int64, njit
from numba.extending import intrinsic
import numpy as np

from bddtorque.evaluate.ieee_code import fma, lrint, rint
from bddtorque.evaluate.llvm_code import emitted
from bddtorque.evaluate.pointers import address_of, array_at, space_of

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
    rows
        How many rows of TILE floats a tile needs.
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
        # angles beyond their limits are counted in floats, in a row for each joint
        angles = {word.wire: f"a{word.wire}" for word in self.counted if word.wraps and not word.whole}
        tallies = {wire: (places[a], self._new_row("")) for wire, a in angles.items() if a in places}
        flat = _Flat(len(self.formats.q), self.rows * TILE * code.plan.precision.dtype().itemsize)
        self.rows += flat.joints
        for name, load in (("tiles", "{}[first + i, {}]"), ("columns", "{}[{}, first + i]")):
            given = {f"x{word.wire}": load.format(word.quantity, word.joint) for word in self.counted}
            waiting = {f"x{word.wire}": word for word in self.counted if not (word.wraps and word.whole)}
            tile = ["outside = int64(0)", *(f"n{wire} = int64(0)" for wire in angles if wire not in tallies)]
            made: set[str] = set()
            for quantity, template, names_of in self._alike(code) if name == "tiles" else ():
                word, *_ = (each for each in self.inputs if each.quantity == quantity)
                check = [] if word.wraps else [_check(word).replace(f"x{word.wire}", "x")]
                tile += flat.read(quantity, template, check)
                tile += tiled([f"{places[each]} = {flat.element(joint)}" for each, joint in names_of.items()])
                made |= set(names_of)
                waiting = {x: each for x, each in waiting.items() if each.wraps or each.quantity != quantity}
            for each, value in code.words.items():
                loads = _loads(value)
                checks = [_check(waiting.pop(x), tallies) for x in loads if x in waiting]
                makes = [] if each in made else [*(f"{x} = {given[x]}" for x in loads), f"{places[each]} = {value}"]
                tile += tiled([*makes, *checks]) if makes or checks else []
            for x, word in waiting.items():  # what no torque depends on
                tile += tiled([f"{x} = {given[x]}", _check(word)])
            again = [f"{x} = {value}" for x, value in given.items()]
            begin, end = [], []
            for x, word in zip(names, self.counted, strict=True):
                place = f"counts[{QUANTITIES.index(word.quantity)}, {word.joint}]"
                if word.wire in tallies:
                    _, row = tallies[word.wire]
                    begin += tiled([f"{row} = real(0)"])
                    end += tiled([f"{place} += int64({row})"])
                elif word.wire in angles:
                    tile.append(f"{place} += n{word.wire}")
                elif not word.wraps:
                    again.append(f"{place} += int64({x} < {-word.half} or {x} >= {word.half})")
            tile += ["if outside:", *indented(tiled([*again, clamp])), *compute]
            word_of = f"int64({code.word_kind}({{}}))"
            if name == "tiles":
                begin += flat.begin()
                tile += tiled([f"{flat.element(k)} = {place}" for k, place in results.items()])
                tile += flat.write("tau", word_of)
            else:
                for k, place in results.items():
                    tile += tiled([f"tau[{k}, first + i] = {word_of.format(place)}"])
            loop = [f"for first in range(0, end - end % {TILE}, {TILE}):", *indented(tile)]
            self.add(f"{name}(q, qd, qdd, tau, table, counts, rows, end)", [*begin, *loop, *end])

    def _alike(self, code: FloatCode) -> Iterator[tuple[str, str, dict[str, int]]]:
        """Yield quantities whose floats are made of their words in one way, that with x for the word, and their joints.

        Their words, all of one format, can be converted as they lie in memory.
        """
        for quantity, formats in zip(QUANTITIES, self.formats.inputs, strict=True):
            joints = {f"x{word.wire}": word.joint for word in self.inputs if word.quantity == quantity}
            own = {each: value for each, value in code.words.items() if not joints.keys().isdisjoint(_loads(value))}
            templates = {re.sub(r"\bx\d+\b", "x", value) for value in own.values()}
            single = all(len(_loads(value)) == 1 for value in own.values())
            if single and len(templates) == 1 and len({(word.kind, word.bits) for word in formats}) == 1:
                yield quantity, templates.pop(), {each: joints[_loads(value)[0]] for each, value in own.items()}


@dataclass(frozen=True)
class _Flat:
    """Statements about a tile of states in rows, which are taken as they lie in memory, joint after joint.

    Attributes
    ----------
    joints
        Words of a state.
    offset
        Bytes from the start of `rows` to where the floats of a tile lie in this order.
    """

    joints: int
    offset: int

    def begin(self) -> list[str]:
        """Return what gives names to the memory."""
        words = [
            f"{each}_words = array_at(address_of({each}), ({each}.size,), np.int64)" for each in (*QUANTITIES, "tau")
        ]
        return [f"flat = array_at(address_of(rows) + {self.offset}, ({self.joints * TILE},), real)", *words]

    def read(self, quantity: str, template: str, check: Sequence[str]) -> list[str]:
        """Return what makes floats of all words of a quantity."""
        return self._loop([f"x = {quantity}_words[{self.joints} * first + k]", f"flat[k] = {template}", *check])

    def write(self, quantity: str, word_of: str) -> list[str]:
        """Return what makes words of all floats."""
        return self._loop([f"{quantity}_words[{self.joints} * first + k] = {word_of.format('flat[k]')}"])

    def element(self, joint: int) -> str:
        """Return the float of a joint of state i."""
        return f"flat[{self.joints} * i + {joint}]"

    def _loop(self, lines: Sequence[str]) -> list[str]:
        return [f"for k in range({self.joints * TILE}):", *indented(lines)]


def _check(word: InputWord, tallies: Mapping[int, tuple[str, str]] | None = None) -> str:
    """Return the statement that looks whether a word of a tile is out of range; of an angle, counts those that are.

    `tallies` has the places of angles in quarter turns, and where they are counted, by wire.
    """
    x, mask = f"x{word.wire}", (1 << word.bits) - 1
    if not word.wraps:
        return f"outside |= ({x} + {word.half}) & {-1 << word.bits}"
    if tallies and word.wire in tallies:
        angle, row = tallies[word.wire]
        low, high = (f"real({end * 2.0 ** (2 - word.bits)!r})" for end in (word.low, word.high))
        return f"{row} += real(({angle} < {low}) {'&' if word.around else '|'} ({angle} > {high}))"
    # from the first word in range on, around the turn
    return f"n{word.wire} += int64((({x} - {word.low}) & {mask}) > {(word.high - word.low) & mask})"


def _loads(value: str) -> list[str]:
    """Return the words that an expression reads."""
    return list(dict.fromkeys(re.findall(r"\bx\d+\b", value)))


def tiled(lines: Sequence[str]) -> list[str]:
    """Return a loop over the states of a tile."""
    return [f"for i in range({TILE}):", *indented(lines or ["pass"])]

"""Straight-line code of a plan in floats, every wire a local variable.

    states(arrays, out, table, counts)            one state after another
    bare(arrays, out, table)                      the same, counting nothing: what a kernel runs
    unchecked(arrays, out, table)                 the same for words that are known to be in range
    tiles(arrays, out, table, counts, rows, end)  many at once, in the lanes of vector instructions
    columns(...)                                  the same for arrays (n, N), column by column

The last two take the first `end` states, and leave what is beyond a multiple of `TILE` as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from bddtorque.base.jit import DISABLE_JIT
from bddtorque.evaluate.code_writer import DECORATOR, CodeWriter, Straight, indented
from bddtorque.evaluate.float_code import FloatCode, FloatPool, vector_lanes, warn_without_fma
from bddtorque.evaluate.llvm_code import lane_step
from bddtorque.evaluate.pointers import LINE_BYTES
from bddtorque.evaluate.state_arrays import StateArrays
from bddtorque.evaluate.statements import (
    InputWord,
    Statement,
    array_names,
    check_inputs,
    count,
    cut,
    is_large,
    load_inputs,
)
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.words.interface import Interface

TILE = 64
"""States of which columns are read at once; a multiple of the lanes of any vector."""


class InColumns:
    """Statements about states in columns (see `llvm_code`): the words of a column lie on end."""

    name = "columns"

    def __init__(
        self, code: FloatCode, words: Sequence[InputWord], arrays: StateArrays, outputs: range, lanes: int
    ) -> None:
        self.code, self.arrays, self.outputs, self.lanes, self.length = code, arrays, outputs, lanes, TILE
        self.words = {word.wire: word for word in words}
        # names of the numbers of angles beyond their limits, by wire
        self.tallies = {word.wire: f"n{word.wire}" for word in words if word.wraps and not word.covers_all_words}
        # names of the numbers of states that lie between columns, by array
        self.widths = {name: f"{name}_width" for name in (*array_names(arrays), "out")}

    def element(self, word: InputWord) -> str:
        """Return the word of the state in lane i."""
        return f"{word.array}[{word.place.column}, first + i]"

    def read(self, places: Mapping[str, str]) -> list[str]:
        """Return what makes floats of words, counts angles beyond their limits, and looks for other words beyond."""
        begin = ["outside = 0", *(f"{tally} = 0" for tally in self.tallies.values())]
        return [*begin, *self._read(places), "outside = any(outside)"]

    def write(self) -> list[Statement]:
        """Return what writes the outputs."""
        kind = self.code.word_kind
        return [
            Statement(f"out[{k} * out_width + first + i]", f"int64({kind}(r{k}))", (f"r{k}",)) for k in self.outputs
        ]

    def _read(self, places: Mapping[str, str]) -> Iterator[str]:
        """Yield the statements, one float after another: columns of round lengths compete for lines of a cache."""
        unchecked = dict(self.words)
        for name, value in self.code.words.items():
            yield from self._read_words(value.wires, unchecked, name, f"{name} = {value.text()}", places[name])
            unchecked = {wire: word for wire, word in unchecked.items() if wire not in value.wires}
        for wire in list(unchecked):
            yield from self._read_words((wire,), unchecked)

    def _read_words(
        self, wires: Sequence[int], unchecked: Mapping[int, InputWord], name: str = "", make: str = "", place: str = ""
    ) -> Iterator[str]:
        """Yield what reads words of all states, makes a float of them, if any, and checks those not checked."""
        for first in range(0, self.length, self.lanes):
            for wire in wires:
                word = self.words[wire]
                column = f"{word.place.column} * {word.array}_width"
                yield f"x{wire} = {word.array}[{column} + first + {first}]"
            if make:
                yield make
                yield f"{place.replace('i', str(first))} = {name}"
            for wire in wires:
                if wire in unchecked:
                    yield from self._check(f"x{wire}", unchecked[wire], name if name == f"a{wire}" else "")

    def _check(self, x: str, word: InputWord, angle: str = "") -> Iterator[str]:
        """Yield what looks whether a word is out of range; an angle (`angle` in quarter turns, if known) is counted."""
        mask, tally = (1 << word.bits) - 1, self.tallies.get(word.wire)
        if not word.wraps:
            yield f"outside = outside | (({x} + {-word.lowest}) & {~mask})"
        if tally is None:
            return
        # from the first word in range on, around the turn
        test = f"(({x} - {word.low}) & {mask}) > {(word.high - word.low) & mask}"
        if angle:
            low, high = (self.code.number(end * 2.0 ** (2 - word.bits)) for end in (word.low, word.high))
            test = f"({angle} < {low}) {'&' if word.wraps_around else '|'} ({angle} > {high})"
        yield f"{tally} = {tally} + count({test})"


class InRows(InColumns):
    """The same for states in rows: all words of a state lie on end, in each array."""

    name = "tiles"

    def __init__(
        self, code: FloatCode, words: Sequence[InputWord], arrays: StateArrays, outputs: range, lanes: int
    ) -> None:
        super().__init__(code, words, arrays, outputs, lanes)
        self.length, self.widths = lanes, {}
        self.step = lane_step(len(outputs), lanes)  # states stand in lanes as `together` wants them

    def element(self, word: InputWord) -> str:
        """Return the word of the state in lane i, which `apart` has put there."""
        state = f"({pow(self.step, -1, self.lanes)} * i & {self.lanes - 1})"
        return f"{word.array}[first + {state}, {word.place.column}]"

    def write(self) -> list[Statement]:
        """Return what writes the outputs."""
        results = tuple(f"r{k}" for k in self.outputs)
        rows = f"int64({self.code.word_kind}(together({', '.join(results)})))"
        return [Statement(f"out[{len(self.outputs)} * first]", rows, results)]

    def _read(self, places: Mapping[str, str]) -> Iterator[str]:
        """Yield the statements; words of one kind are made floats before they are taken apart: half the bytes."""
        left = dict(self.code.words)
        for k, array in enumerate(array_names(self.arrays)):
            own = {word.place.column: word for word in self.words.values() if word.place.array == k}
            width = len(self.arrays.inputs[k])
            vectors = [f"{array}_{column}" for column in range(width)] if own else []
            for column, vector in enumerate(vectors):
                yield f"{vector} = {array}[{width} * first + {column * self.lanes}]"
            names = self._made_alike(k, own)
            if names:
                first = self.code.words[next(name for name in names.values() if name in self.code.words)]
                yield self._apart(names, [first.text({first.wires[0]: vector}) for vector in vectors])
                left = {name: value for name, value in left.items() if name not in names.values()}
                for vector in [] if own[min(own)].wraps else vectors:
                    yield from self._check(vector, own[min(own)])
            elif own:
                yield self._apart({column: f"x{word.wire}" for column, word in own.items()}, vectors)
            for column, word in own.items() if not names or own[min(own)].wraps else ():
                yield from self._check(f"x{word.wire}", word, names.get(column, ""))
        for name, value in left.items():
            yield f"{name} = {value.text()}"
        for name in self.code.words:
            yield f"{places[name]} = {name}"

    def _apart(self, names: Mapping[int, str], vectors: Sequence[str]) -> str:
        made = ", ".join(names.get(column, "unread") for column in range(len(vectors)))
        return f"{made}, = apart({self.step}, {', '.join(vectors)})"

    def _made_alike(self, array: int, words: Mapping[int, InputWord]) -> dict[int, str]:
        """Return the floats of one array's words by column, if each is made of one word, and all in the same way."""
        columns = {word.wire: column for column, word in words.items()}
        own = {name: value for name, value in self.code.words.items() if not columns.keys().isdisjoint(value.wires)}
        if not own or any(len(value.wires) != 1 for value in own.values()):
            return {}
        names = {columns[value.wires[0]]: name for name, value in own.items()}
        ways = {value.text({value.wires[0]: "x"}) for value in own.values()}
        kinds = {(word.kind, word.bits) for word in self.arrays.inputs[array]}
        limited = {column: f"a{word.wire}" for column, word in words.items() if word.wire in self.tallies}
        if len(ways) > 1 or len(names) < len(own) or len(kinds) > 1:
            return {}
        if limited and not all(name.startswith("a") for name in names.values()):
            return {}
        return limited | names  # limits of words that no output depends on matter too


HEADER = '''"""A compiled plan in floats, written by bddtorque; made anew whenever it is missing."""
from numba import int32, int64, njit
from numba.extending import intrinsic
import numpy as np

from bddtorque.evaluate.float_code import fma, lrint, rint
from bddtorque.evaluate.llvm_code import emitted_in_lanes
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
    """A module of functions that take a tile of states at once, one in each lane of a vector."""

    def __init__(self, plan: Plan, formats: Interface, header: str) -> None:
        super().__init__(plan, formats, header)
        self.lanes, self._size = vector_lanes(plan.floats.dtype), plan.floats.dtype().itemsize
        self.length = self.lanes  # states of which something is kept in memory at once
        self.room, self._rows = 0, 0  # floats that the array `rows` must have, which may begin anywhere

    def begin(self, dtype: str) -> list[str]:
        """Return how a function begins that takes tiles of the arrays that are `flat`."""
        aligned = f"(address_of(rows) + {LINE_BYTES - 1}) & {-LINE_BYTES}"
        words = (f"{each}_ = array_at(address_of({each}), ({each}.size,), {dtype})" for each in sorted(self.flat))
        return ["align_stack()", f"rows = array_at({aligned}, (rows.size,), real)", *words]

    def row_names(self, names: Iterable[str]) -> dict[str, str]:
        """Return the places of names in rows of their own: the element of state i. Other rows are forgotten."""
        self._rows = 0
        return {name: self._new_row(name) for name in names}

    def add_tile(
        self, name: str, arguments: Sequence[str], places: dict[str, str], body: Sequence[Statement]
    ) -> list[str]:
        """Add statements that read names from their places, as functions, and return what calls them for a tile."""
        if is_large(body) and not DISABLE_JIT:
            return self.add_parts(name, arguments, cut(body, [], dict(places), self._new_row), self.lanes)
        loads = [f"{each} = {place}" for each, place in places.items()]
        return [self.add_block(name, arguments, [*loads, *map(str, body)], lanes=self.lanes)]

    def _new_row(self, name: str) -> str:
        self._rows += 1
        self.room = max(self.room, self._rows * self.length + LINE_BYTES // self._size)
        return f"rows[{(self._rows - 1) * self.length} + i]"


class FloatSource(TileWriter):
    """The module of a plan in floats."""

    def __init__(self, plan: Plan, formats: Interface, pool: FloatPool) -> None:
        dtype = plan.floats.dtype.__name__
        super().__init__(plan, formats, HEADER.format(dtype=dtype))
        self.flat = {*self.names, "out"}
        self._add_states(FloatCode(plan, pool, lookups=True), dtype)
        self._add_batches(FloatCode(plan, pool, lookups=False))

    def _add_states(self, code: FloatCode, dtype: str) -> None:
        """Add the functions that take one state after another."""
        results = [code.output(k, "lrint") for k in self.outputs]
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
            body = [*code.body, *(code.output(k, "rint") for k in self.outputs), *layout.write()]
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
                    again.append(count(word, f"({x} < {word.lowest}) | ({x} > {word.highest})"))
                    again.append(f"{x} = min(max({x}, {word.lowest}), {word.highest})")
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

"""Straight-line code: a plan as functions of its own, every wire a local variable. What a PC runs fastest.

    states(q, qd, qdd, tau, table, constants, counts)            one state after another
    bare(q, qd, qdd, tau, table, constants)                      the same, counting nothing: what a kernel runs
    tiles(q, qd, qdd, tau, table, constants, counts, rows, out)  many at once, in the lanes of vector instructions
    columns(...)                                                 the same for arrays (n, N), joint by joint

Words are held in floats where they fit (`float_code`), else in 64-bit integers. A word out of range is looked for in a
way that costs next to nothing, and only then clamped and counted. The statements of a large plan are cut into functions
of bounded size (`cutting`): they run a little slower, and are compiled in seconds instead of hours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.jit import DISABLE_JIT
from bddtorque.evaluate.cutting import before_use, cut, is_large
from bddtorque.evaluate.float_code import FloatCode, held_in_floats, single_precision
from bddtorque.evaluate.generated import generated_module
from bddtorque.evaluate.input_code import angle_sums, as_float, check_inputs, input_words, load_inputs
from bddtorque.evaluate.integer_code import integer_statements
from bddtorque.evaluate.program import QUANTITIES
from bddtorque.evaluate.table_pool import Pool, blocks_read
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.words import Formats

Floats = npt.NDArray[np.float64]

TILE = 32
"""States that `tiles` takes at once: what they need lies in the fastest cache."""

HEADER = '''"""A compiled plan, written by bddtorque; made anew whenever it is missing."""
from numba import int64, njit
import numpy as np

from bddtorque.evaluate.inline import bits_of
from bddtorque.evaluate.pointers import array_at, space_of
'''
DECORATOR = '@njit(cache=True, nogil=True, _nrt=False, error_model="numpy", fastmath={"contract", "nsz"})\n'
"""Contraction changes nothing: what is contracted is exact either way. A zero has no sign in words."""


@dataclass(frozen=True)
class Straight:
    """Straight-line code of a plan, and its tables.

    Attributes
    ----------
    states, bare : compiled when first called, as are the others
    tiles, columns : None where words are held in integers
    table, constants : what all take as such
    rows, words : how many rows of `tile` floats and of `tile` integers a tile needs
    unchecked : as `bare`, for words that are known to be in range; None where there is no such function
    tile, kind : states of a tile, and the type of its floats
    """

    states: Callable[..., None]
    bare: Callable[..., None]
    tiles: Callable[..., None] | None
    columns: Callable[..., None] | None
    table: npt.NDArray[Any]
    constants: Floats
    rows: int
    words: int
    unchecked: Callable[..., None] | None = None
    tile: int = TILE
    kind: Any = np.float64


def straight(plan: Plan, formats: Formats, tables: Sequence[Table], directory: Path, native: bool = True) -> Straight:
    """Return the straight-line code of a plan; with `native` products, or from tables alone.

    It is compiled when first called: in seconds, or a minute and more for the largest plans. Those are announced in the
    log, unless they were made before and kept in `directory`.
    """
    used = blocks_read(plan, native)
    pool = Pool(plan, used)
    code = _float_code(plan) if native else None
    source = Source(plan, formats, pool, code, native)
    note = (
        f"compiling straight-line code of {len(plan.wires)} wires in {source.parts} functions: this takes a while, once"
    )
    module = generated_module(source.text, directory, note if source.parts else "")
    scales = [code.block_scale(k) if code else 1 for k in range(len(plan.blocks))]
    dtype: Any = np.int32 if code is None else np.float32 if single_precision(plan, code, used) else np.float64
    values = pool.values(tables, scales, dtype)
    constants = np.array([*code.constants, 0.0] if code else [0.0])
    tiles, columns = (module.tiles, module.columns) if code else (None, None)
    return Straight(module.states, module.bare, tiles, columns, values, constants, source.rows, source.words)


def _float_code(plan: Plan) -> FloatCode | None:
    """Return the statements in floats, or None where words do not fit them."""
    if not held_in_floats(plan):
        return None
    try:
        return FloatCode(plan)
    except ArithmeticError:
        return None


class Source:
    """The module of a plan.

    Attributes
    ----------
    text : what is written to a file
    parts : how many functions the statements were cut into, 0 if they were not
    rows, words : as those of `Straight`
    """

    def __init__(self, plan: Plan, formats: Formats, pool: Pool, code: FloatCode | None, native: bool) -> None:
        self.plan, self.pool, self.code = plan, pool, code
        self.inputs = input_words(plan, formats)
        self.outputs = range(len(plan.outputs))
        self.angles = list(angle_sums(plan, pool))
        self.functions = [HEADER]
        self.parts = self.rows = 0
        self.words = len(plan.outputs) + len(self.inputs)
        if code:
            self._add_states([f"w{k} = {as_float(plan, pool, k, self.inputs)}" for k in code.floats_read()], code.body)
            self._add_batches(code)
        else:
            self._add_states([], list(integer_statements(plan, pool, self.inputs, native)))
        self.text = "\n\n".join(self.functions)

    def _add_states(self, lookups: list[str], body: list[str]) -> None:
        """Add the functions that take one state after another."""
        begin = []
        lines = [*self.angles, *lookups, *body, *(f"tau[s, {k}] = r{k}" for k in self.outputs)]
        if is_large(lines) and not DISABLE_JIT:
            names = [f"x{word.wire}" for word in self.inputs]
            places = {name: f"ints[{k}]" for k, name in enumerate([*names, *(f"r{k}" for k in self.outputs)])}
            sizes = {"ints": len(places), "floats": 0}

            def new_place(name: str) -> str:
                kind = "floats" if self.code and name[0] not in "xr" else "ints"
                sizes[kind] += 1
                return f"{kind}[{sizes[kind] - 1}]"

            literal = self.code.vector_body if self.code else body  # no loop, out of which constants would be moved
            bodies = cut(before_use(lookups, literal), self.angles, places, new_place)
            calls = self._add_parts("part", "ints, floats, table", bodies)
            begin = [
                f"{kind} = array_at(space_of({size}), ({size},), np.{dtype})"
                for (kind, size), dtype in zip(sizes.items(), ("int64", "float64"), strict=True)
            ]
            results = [f"tau[s, {k}] = {places[f'r{k}']}" for k in self.outputs]
            lines = [*(f"{places[name]} = {name}" for name in names), *calls, *results]
        for head, counting in (
            ("states(q, qd, qdd, tau, table, constants, counts)", True),
            ("bare(q, qd, qdd, tau, table, constants)", False),
        ):
            state = [*load_inputs(self.inputs), *check_inputs(self.inputs, counting), *lines]
            self._add(head, [*begin, "for s in range(q.shape[0]):", *_indented(state)])

    def _add_batches(self, code: FloatCode) -> None:
        """Add the functions that take many states at once, for states in rows and in columns.

        Each tile is read, checked, computed in vectors and written. Rows of a tile stand in one array, a constant
        apart: only so does the compiler see that nothing overlaps. A tile with a word out of range is left to `states`.
        """
        inputs = self.inputs
        checked = [word for word in inputs if not (word.wraps and word.whole)]
        held = sorted({*code.floats_read(), *(word.wire for word in checked)})  # read by the body, or to be checked
        places = {k: f"rows[{row * TILE} + i]" for row, k in enumerate(held)}
        self.rows = len(held)
        begin, checks, counting = ["outside = int64(0)"], [], []
        for word in checked:
            x, both = places[word.wire], "&" if word.around else "|"
            test = f"int64({x} < {word.low}.0) {both} int64({x} > {word.high}.0)"
            if word.wraps:  # an angle beyond its limits is counted, and used as it is
                begin.append(f"n{word.wire} = int64(0)")
                checks.append(f"n{word.wire} += {test}")
                counting.append(f"counts[{QUANTITIES.index(word.quantity)}, {word.joint}] += n{word.wire}")
            else:
                checks.append(f"outside |= {test}")
        floats = {k: f"{place} = {as_float(self.plan, self.pool, k, inputs)}" for k, place in places.items()}
        results = [f"out[{k * TILE} + i] = r{k}" for k in self.outputs]
        read = {f"w{k}": places[k] for k in code.floats_read()}
        given = {word.wire: f"{word.quantity}[first + i, {word.joint}]" for word in inputs}
        turned = {word.wire: f"{word.quantity}[{word.joint}, first + i]" for word in inputs}
        if is_large([*self.angles, *floats.values(), *code.vector_body]) and not DISABLE_JIT:
            words = {wire: f"out[{(len(self.outputs) + k) * TILE} + i]" for k, wire in enumerate(given)}
            found = cut([*floats.values()], self.angles, {f"x{wire}": place for wire, place in words.items()}, str)
            computed = cut([*code.vector_body, *results], [], read, self._new_row)
            find = self._add_parts("find", "rows, out, table", map(_tile, found))
            compute = self._add_parts("compute", "rows, out", map(_tile, computed))
            by_rows = [*_tile([f"{words[wire]} = {x}" for wire, x in given.items()]), *find]
            by_columns = [*(line for wire, x in turned.items() for line in _tile([f"{words[wire]} = {x}"])), *find]
        else:
            compute = _tile([*(f"{name} = {place}" for name, place in read.items()), *code.vector_body, *results])
            loads = {wire: f"x{wire} = {x}" for wire, x in given.items()}
            by_rows = _tile([*loads.values(), *self.angles, *floats.values()])
            # columns are read one after another, each in vectors; look-ups at the end, all together
            loads = {wire: f"x{wire} = {x}" for wire, x in turned.items()}
            by_columns = [line for k in held if k in loads for line in _tile([loads[k], floats[k]])]
            by_columns += _tile(
                [*loads.values(), *self.angles, *(line for k, line in floats.items() if k not in loads)]
            )
        written = _tile([f"tau[first + i, {k}] = out[{k * TILE} + i]" for k in self.outputs])
        turned_written = [line for k in self.outputs for line in _tile([f"tau[{k}, first + i] = out[{k * TILE} + i]"])]
        for name, load, write, part, axis in (
            ("tiles", by_rows, written, "{}[{}]", 0),
            ("columns", by_columns, turned_written, "{}[:, {}].T", 1),
        ):
            left, rest = (
                "states("
                + ", ".join(part.format(each, ends) for each in ("q", "qd", "qdd", "tau"))
                + ", table, constants, counts)"
                for ends in ("first:end", "last:")
            )
            tile = [
                *load,
                *begin,
                *_tile(checks),
                "if outside:",
                f"    end = first + {TILE}",
                f"    {left}",
                "    continue",
            ]
            tile += [*counting, *compute, *write]
            lines = [f"last = q.shape[{axis}] - q.shape[{axis}] % {TILE}", f"for first in range(0, last, {TILE}):"]
            self._add(f"{name}(q, qd, qdd, tau, table, constants, counts, rows, out)", [*lines, *_indented(tile), rest])

    def _new_row(self, name: str) -> str:
        self.rows += 1
        return f"rows[{(self.rows - 1) * TILE} + i]"

    def _add_parts(self, name: str, arguments: str, bodies: Iterable[Sequence[str]]) -> list[str]:
        """Add functions, and return the statements that call them."""
        calls: list[str] = []
        for body in bodies:
            calls.append(f"{name}{len(calls)}({arguments})")
            self._add(calls[-1], body)
        self.parts += len(calls)
        return calls

    def _add(self, head: str, body: Sequence[str]) -> None:
        self.functions.append("\n".join([f"{DECORATOR}def {head}:", *_indented(body), ""]))


def _tile(lines: Sequence[str]) -> list[str]:
    """Return a loop over the states of a tile."""
    return [f"for i in range({TILE}):", *_indented(lines or ["pass"])]


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]

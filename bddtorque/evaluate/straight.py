"""Straight-line code: a plan as functions of its own, every wire a local variable. What a PC runs fastest.

    states(q, qd, qdd, tau, table, constants, counts)            one state after another
    bare(q, qd, qdd, tau, table, constants)                      the same, counting nothing: what a kernel runs
    tiles(q, qd, qdd, tau, table, constants, counts, rows, out)  many at once, in the lanes of vector instructions
    columns(...)                                                 the same for arrays (n, N), joint by joint

Words are held in floats where they fit (`floats`), else in 64-bit integers. A word out of range is looked for in a way
that costs next to nothing, and only then clamped and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.evaluate.float_code import FloatCode, held_in_floats, single_precision
from bddtorque.evaluate.generated import generated_module
from bddtorque.evaluate.integer_code import integer_statements, wrapped
from bddtorque.evaluate.program import QUANTITIES, limits
from bddtorque.evaluate.table_pool import Pool, blocks_read
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.plan.wires import AngleSum, Input, Lookup
from bddtorque.words import Formats

Floats = npt.NDArray[np.float64]

TILE = 32
"""States that `tiles` takes at once: what they need lies in the fastest cache."""

HEADER = '''"""A compiled plan, written by bddtorque; made anew whenever it is missing."""
from numba import int64, njit

from bddtorque.evaluate.inline import bits_of


'''
DECORATOR = '@njit(cache=True, nogil=True, _nrt=False, error_model="numpy", fastmath={"contract", "nsz"})\n'
"""Contraction changes nothing: what is contracted is exact either way. A zero has no sign in words."""


@dataclass(frozen=True)
class InputWord:
    """An input of a plan: its wire, where it stands, and the words that are in range, `low` to `high`, or around."""

    wire: int
    quantity: str
    joint: int
    bits: int
    wraps: bool
    low: int
    high: int

    @property
    def half(self) -> int:
        """Half the number of words."""
        return 1 << (self.bits - 1)

    @property
    def whole(self) -> bool:
        """Whether every word of the format is in range."""
        return (self.low, self.high) == (-self.half, self.half - 1)

    @property
    def around(self) -> bool:
        """Whether the words in range are those at and beyond `low` and those up to `high`."""
        return self.low > self.high


@dataclass(frozen=True)
class Straight:
    """Straight-line code of a plan, and its tables.

    Attributes
    ----------
    states, bare : compiled when first called, as are the others
    tiles, columns : None where words are held in integers
    table, constants : what all take as such
    rows : how many rows of TILE floats a tile needs
    """

    states: Callable[..., None]
    bare: Callable[..., None]
    tiles: Callable[..., None] | None
    columns: Callable[..., None] | None
    table: npt.NDArray[Any]
    constants: Floats
    rows: int


def straight(plan: Plan, formats: Formats, tables: Sequence[Table], directory: Path, native: bool = True) -> Straight:
    """Return the straight-line code of a plan; with `native` products, or from tables alone."""
    used = blocks_read(plan, native)
    pool = Pool(plan, used)
    code = _float_code(plan) if native else None
    module = generated_module(source_of(plan, formats, pool, code, native), directory)
    scales = [code.block_scale(k) if code else 1 for k in range(len(plan.blocks))]
    dtype: Any = np.int32 if code is None else np.float32 if single_precision(plan, code, used) else np.float64
    values = pool.values(tables, scales, dtype)
    if code is None:
        return Straight(module.states, module.bare, None, None, values, np.zeros(1), 0)
    rows, constants = len(_rows(plan, formats, code)), np.array([*code.constants, 0.0])
    return Straight(module.states, module.bare, module.tiles, module.columns, values, constants, rows)


def _float_code(plan: Plan) -> FloatCode | None:
    """Return the statements in floats, or None where words do not fit them."""
    if not held_in_floats(plan):
        return None
    try:
        return FloatCode(plan)
    except ArithmeticError:
        return None


def source_of(plan: Plan, formats: Formats, pool: Pool, code: FloatCode | None, native: bool) -> str:
    """Return the module of a plan."""
    inputs = input_words(plan, formats)
    lines = list(_angles(plan, pool))
    if code:
        lines += [f"w{k} = {_float(plan, pool, k, inputs)}" for k in code.floats_read()]
        lines += code.body
        lines += [f"tau[s, {k}] = r{k}" for k in range(len(plan.outputs))]
    else:
        lines += integer_statements(plan, pool, inputs, native)

    def function(head: str, counting: bool) -> str:
        body = "\n".join(f"        {line}" for line in [*_loaded(inputs), *_checked(inputs, counting), *lines])
        return f"{DECORATOR}def {head}:\n    for s in range(q.shape[0]):\n{body}\n"

    states = function("states(q, qd, qdd, tau, table, constants, counts)", counting=True)
    bare = function("bare(q, qd, qdd, tau, table, constants)", counting=False)
    return f"{HEADER}{states}\n\n{bare}" + (_batches(plan, formats, pool, code) if code else "")


def input_words(plan: Plan, formats: Formats) -> list[InputWord]:
    """Return the inputs of a plan."""
    found = []
    for k, wire in enumerate(plan.wires):
        if isinstance(wire, Input):
            quantity = wire.name.rstrip("0123456789")
            joint = int(wire.name.removeprefix(quantity)) - 1
            ends = limits(getattr(formats, quantity)[joint])
            found.append(InputWord(k, quantity, joint, wire.bits, wire.wraps, *ends))
    return found


def _loaded(inputs: Sequence[InputWord]) -> Iterator[str]:
    for word in inputs:
        given = f"{word.quantity}[s, {word.joint}]"
        yield f"x{word.wire} = int64({given} | {given})"  # floats have no `|` and are refused
        if not word.wraps:  # an unsigned word that int64 cannot hold is as high as any; else nothing is left of this
            yield f"if x{word.wire} < 0 and {given} > 0:"
            yield f"    x{word.wire} = {1 << 62}"


def _checked(inputs: Sequence[InputWord], counting: bool) -> Iterator[str]:
    """Yield a test that some word may be out of range, and the exact treatment of each below it.

    Angles beyond their limits are used as they are, so that they matter only where they are counted.
    """
    inputs = [word for word in inputs if counting or not word.wraps]
    plain: dict[int, list[str]] = {}
    signs = []
    for word in inputs:
        x = f"x{word.wire}"
        if word.wraps and word.whole:
            continue
        if word.whole:
            plain.setdefault(word.bits, []).append(f"({x} + {word.half})")
        elif word.around:
            signs.append(f"(({word.high} - {x}) & ({x} - {word.low}))")
            plain.setdefault(word.bits, []).append(f"({x} + {word.half})")
        else:
            signs.append(f"({x} - ({word.low})) | ({word.high} - {x})")
    tests = [f"(({' | '.join(sums)}) >> {bits}) != 0" for bits, sums in plain.items()]
    tests += [f"({' | '.join(signs)}) < 0"] if signs else []
    if not tests:
        return
    yield f"if {' or '.join(tests)}:"
    for word in inputs:
        if word.wraps and word.whole:
            continue
        x = f"x{word.wire}"
        if word.wraps:
            yield f"    {x} = {wrapped(x, word.bits)}"
        if counting:
            yield f"    if {x} < {word.low} {'and' if word.around else 'or'} {x} > {word.high}:"
            yield f"        counts[{QUANTITIES.index(word.quantity)}, {word.joint}] += 1"
        if not word.wraps:
            yield f"    {x} = min(max({x}, {-word.half}), {word.half - 1})"


def _angles(plan: Plan, pool: Pool) -> Iterator[str]:
    for k in pool.angles_needed():
        angle = plan.wires[k]
        assert isinstance(angle, AngleSum)
        terms = [
            f"x{source}" if factor << shift == 1 else f"{factor << shift} * x{source}"
            for source, factor, shift in angle.parts
        ]
        yield f"x{k} = {' + '.join(terms)} + {angle.constant}"


def _float(plan: Plan, pool: Pool, k: int, inputs: Sequence[InputWord]) -> str:
    """Return the float of an input or a look-up."""
    wire = plan.wires[k]
    if isinstance(wire, Lookup):
        return f"float({pool.lookup(wire)})"
    (word,) = [each for each in inputs if each.wire == k]
    return f"float({wrapped(f'x{k}', word.bits) if word.wraps else f'x{k}'})"


def _rows(plan: Plan, formats: Formats, code: FloatCode) -> list[int]:
    """Return the wires that have a row in a tile: what the body reads, and what must be checked."""
    checked = [word.wire for word in input_words(plan, formats) if not (word.wraps and word.whole)]
    return sorted({*code.floats_read(), *checked})


def _batches(plan: Plan, formats: Formats, pool: Pool, code: FloatCode) -> str:
    """Return the functions that take many states at once, for states in rows and in columns.

    Each tile is read, checked, computed in vectors and written. Rows of a tile stand in one array, a constant apart:
    only so does the compiler see that nothing overlaps. A tile with a word out of range is left to `states`.
    """
    inputs = input_words(plan, formats)
    places = {k: row * TILE for row, k in enumerate(_rows(plan, formats, code))}
    checks, counted = [], []
    for word in inputs:
        if not (word.wraps and word.whole):
            x = f"rows[{places[word.wire]} + i]"
            both = "&" if word.around else "|"
            test = f"int64({x} < {word.low}.0) {both} int64({x} > {word.high}.0)"
            if word.wraps:  # an angle beyond its limits is counted, and used as it is
                checks.append(f"n{word.wire} += {test}")
                counted.append(word)
            else:
                checks.append(f"outside |= {test}")
    begin = "".join(f"        {name} = int64(0)\n" for name in ("outside", *(f"n{word.wire}" for word in counted)))
    counting = "".join(
        f"        counts[{QUANTITIES.index(word.quantity)}, {word.joint}] += n{word.wire}\n" for word in counted
    )
    compute = [f"w{k} = rows[{places[k]} + i]" for k in code.floats_read()]
    compute += [*code.vector_body, *(f"out[{k * TILE} + i] = r{k}" for k in range(len(plan.outputs)))]
    floats = {k: f"rows[{place} + i] = {_float(plan, pool, k, inputs)}" for k, place in places.items()}
    angles = list(_angles(plan, pool))

    def loop(lines: Sequence[str]) -> str:
        return f"        for i in range({TILE}):\n" + "".join(f"            {line}\n" for line in lines or ["pass"])

    def function(name: str, read: str, write: str, part: str) -> str:
        def of(ends: str) -> str:
            return ", ".join(part.format(name=each, ends=ends) for each in ("q", "qd", "qdd", "tau"))

        count = "q.shape[0]" if name == "tiles" else "q.shape[1]"
        return (
            f"\n\n{DECORATOR}def {name}(q, qd, qdd, tau, table, constants, counts, rows, out):\n"
            f"    last = {count} - {count} % {TILE}\n"
            f"    for first in range(0, last, {TILE}):\n"
            f"{read}{begin}{loop(checks)}"
            f"        if outside:\n            end = first + {TILE}\n"
            f"            states({of('first:end')}, table, constants, counts)\n            continue\n"
            f"{counting}{loop(compute)}{write}"
            f"    states({of('last:')}, table, constants, counts)\n"
        )

    loads = [f"x{word.wire} = {word.quantity}[first + i, {word.joint}]" for word in inputs]
    stores = [f"tau[first + i, {k}] = out[{k * TILE} + i]" for k in range(len(plan.outputs))]
    by_rows = function("tiles", loop([*loads, *angles, *floats.values()]), loop(stores), "{name}[{ends}]")
    # columns are read one after another, each in vectors; look-ups at the end, all together
    columns = {word.wire: f"x{word.wire} = {word.quantity}[{word.joint}, first + i]" for word in inputs}
    plain = [loop([columns[k], line]) for k, line in floats.items() if k in columns]
    found = loop([*columns.values(), *angles, *(line for k, line in floats.items() if k not in columns)])
    written = "".join(loop([f"tau[{k}, first + i] = out[{k * TILE} + i]"]) for k in range(len(plan.outputs)))
    by_columns = function("columns", "".join(plain) + found, written, "{name}[:, {ends}].T")
    return by_rows + by_columns

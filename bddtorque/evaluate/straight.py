"""Straight-line code in 64-bit integers: a plan as functions of its own, every wire a local variable.

    states(arrays, out, table, counts)  one state after another
    bare(arrays, out, table)            the same, counting nothing: what a kernel runs

It serves words that outgrow a float, and tables without any product. A word out of range is looked for in a way that
costs next to nothing, and only then clamped and counted. The statements of a large plan are cut into functions of
bounded size (`statements`): they run a little slower, and are compiled in seconds instead of hours.

Blocks are read as tables in one array (`TablePool`) or as diagrams (`WalkPool`): then each look-up calls one
precompiled walk, the same for all plans.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from numba import types

from bddtorque.base.jit import DISABLE_JIT, inlined, njit_without_refcounts
from bddtorque.evaluate.code_writer import CodeWriter, Straight
from bddtorque.evaluate.operations import twos
from bddtorque.evaluate.pointers import array_at, entry
from bddtorque.evaluate.spreading import Spreadable
from bddtorque.evaluate.statements import InputWord, Statement, check_inputs, clamp_outputs, load_inputs, wrapped
from bddtorque.plan.forms import BIT_FORMS, Bits, Lockstep, check_form, make_form
from bddtorque.plan.forms.bit_forms import walk_lanes
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.plan.wires import AngleSum, Input, Lookup, Output, Product, Sum
from bddtorque.words.interface import Interface


def integer_statements(plan: Plan, pool: TablePool, inputs: Sequence[InputWord], native: bool) -> Iterator[Statement]:
    """Yield the statements from the integers x0, x1, ... of the inputs to r0, r1, ..., torques not clamped yet."""
    for word in inputs:
        x = f"x{word.wire}"
        yield Statement(f"w{word.wire}", wrapped(x, word.bits) if word.wraps else x, (x,))
    indices = {source for wire in plan.wires if isinstance(wire, Lookup) for source in wire.wires}
    numbers = {source for wire in plan.wires if isinstance(wire, Product | Sum) for source in wire.sources}
    numbers |= {source for output in plan.outputs for source in output.sources}
    for k, wire in enumerate(plan.wires):
        match wire:
            case Lookup():
                yield Statement(f"w{k}", f"int64({pool.lookup(wire)})", pool.reads(wire))
            case Product():
                yield from _product(plan, wire, k, pool, native)
            case Sum():
                yield Statement(f"w{k}", _summed(wire), _names("w", wire.sources))
            case AngleSum() if k in numbers:  # a difference of angles
                terms = (f"{factor << shift} * x{source}" for source, factor, shift in wire.parts)
                total = wrapped(" + ".join([*terms, str(wire.constant)]), wire.bits)
                yield Statement(f"w{k}", total, _names("x", wire.sources))
                continue
            case Input() | AngleSum():
                continue
        if k in indices:
            yield Statement(f"x{k}", f"w{k}", (f"w{k}",))
    for k, output in enumerate(plan.outputs):
        yield Statement(f"r{k}", _summed(output), _names("w", output.sources))


def angle_sums(plan: Plan, pool: TablePool) -> Iterator[Statement]:
    """Yield the statements that make the sums of angles at which tables are read."""
    for k in pool.angles_needed():
        angle = plan.wires[k]
        assert isinstance(angle, AngleSum)
        terms = [
            f"x{source}" if factor << shift == 1 else f"{factor << shift} * x{source}"
            for source, factor, shift in angle.parts
        ]
        reads = tuple(f"x{source}" for source in angle.sources)
        yield Statement(f"x{k}", f"{' + '.join(terms)} + {angle.constant}", reads)


def _product(plan: Plan, wire: Product, k: int, pool: TablePool, native: bool) -> Iterator[Statement]:
    """Yield the statements of a product: multiplied, or looked up in its block as its method says."""
    reads = left, right = f"w{wire.left}", f"w{wire.right}"
    if native:
        yield Statement(f"w{k}", _rounded(f"{left} * {right}", wire.shift), reads)
        return
    widths = plan.blocks[wire.block].input_widths
    match wire.method:
        case "blocks":
            yield Statement(f"w{k}", f"int64({pool.entry(wire.block, join_index(reads, widths))})", reads)
        case "squares":
            mask = (1 << widths[0]) - 1
            pieces = (f"int64({pool.entry(wire.block, f'({left} {sign} {right}) & {mask}')})" for sign in "+-")
            yield Statement(f"w{k}", _rounded(" - ".join(pieces), wire.shift), reads)
        case _:
            size = wire.piece_bits
            yield Statement(f"a{k}", f"abs({left})", (left,))
            yield Statement(f"b{k}", f"abs({right})", (right,))
            counts = [-(-(plan.bits_of(each)) // size) for each in (wire.left, wire.right)]
            products = []
            for i, j in product(range(counts[0]), range(counts[1])):
                index = join_index([f"a{k} >> {i * size}", f"b{k} >> {j * size}"], widths)
                products.append(f"(int64({pool.entry(wire.block, index)}) << {(i + j) * size})")
            yield Statement(f"p{k}", " + ".join(products), (f"a{k}", f"b{k}"))
            signed = f"(-p{k} if ({left} < 0) != ({right} < 0) else p{k})"
            yield Statement(f"w{k}", _rounded(signed, wire.shift), (f"p{k}", *reads))


def _summed(each: Sum | Output) -> str:
    """Return a sum, shifted and rounded.

    A power of two that all factors have is taken from the shift instead. Words whose factors differ by a power of two,
    or in sign, are added before they are multiplied.
    """
    parts = [(wire, factor) for wire, factor in each.parts if factor]
    common = min([each.shift, *(twos(factor) for _, factor in parts)])
    groups: dict[int, list[tuple[int, int]]] = {}
    for wire, factor in parts:
        odd = factor >> twos(factor)
        key = -odd if -odd in groups else odd
        groups.setdefault(key, []).append((factor // key >> common, wire))
    terms = []
    for odd, words in groups.items():
        size = 1 << min(twos(factor) for factor, _ in words)
        inner = " + ".join(_times(factor // size, f"w{wire}") for factor, wire in words)
        terms.append(_times(odd * size, f"({inner})"))
    constant = (each.constant + (1 << each.shift >> 1)) >> common
    return f"({' + '.join([*terms, f'int64({constant})'])}) >> {each.shift - common}"


def _names(kind: str, wires: Iterable[int]) -> tuple[str, ...]:
    return tuple(f"{kind}{wire}" for wire in dict.fromkeys(wires))


def _times(factor: int, word: str) -> str:
    return word if factor == 1 else f"-{word}" if factor == -1 else f"{factor} * {word}"


def _rounded(expression: str, shift: int) -> str:
    return f"({expression} + {1 << (shift - 1)}) >> {shift}" if shift else f"({expression})"


HEADER = '''"""A compiled plan, written by bddtorque; made anew whenever it is missing."""
from numba import int64, njit
from numba.extending import intrinsic
import numpy as np

from bddtorque.evaluate.llvm_code import clamp_to_int64, emitted
from bddtorque.evaluate.pointers import array_at, space_of

real = np.float64
'''


def straight(
    plan: Plan,
    formats: Interface,
    tables: Sequence[Table],
    directory: Path,
    native: bool = True,
    forms: Sequence[Walkable] = (),
) -> Straight:
    """Return the straight-line code of a plan: with `native` products, from tables alone, or from diagrams in `forms`.

    It is compiled when first called: in seconds, or a minute and more for the largest plans, unless that was done
    before and kept in `directory`.
    """
    if forms and not DISABLE_JIT:
        walks = WalkPool(plan, forms)
        module = StraightSource(plan, formats, walks, native=False).module(directory)
        return Straight(module.states, module.bare, walks.descriptor(), kept=walks)
    native = native and not forms
    pool = TablePool(plan, blocks_read(plan, native))
    module = StraightSource(plan, formats, pool, native).module(directory)
    return Straight(module.states, module.bare, pool.values(tables))


class StraightSource(CodeWriter):
    """The module of a plan."""

    def __init__(self, plan: Plan, formats: Interface, pool: TablePool, native: bool) -> None:
        super().__init__(plan, formats, HEADER)
        body = list(integer_statements(plan, pool, self.inputs, native))
        self.write_state(body, list(angle_sums(plan, pool)))
        for name, counting in (("states", True), ("bare", False)):
            words = self.counted if counting else self.inputs
            load = [*load_inputs(words), *check_inputs(words, counting)]
            self.add_states(name, counting, load, list(clamp_outputs(plan)))


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
    """Where every table stands, and the statements that read it.

    A table that is read at an angle and at the same angle a quarter turn on (cosine and sine) is turned and a little
    longer than a turn, so that one index serves both.
    """

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

        [address of the walk, row of block 0, row of block 1, ...]

    A row says where the arrays of a block lie and how long they are (roots, positions, successors), how many bits a
    word has, and whether it is signed.
    """

    def __init__(self, plan: Plan, forms: Sequence[Walkable]) -> None:
        super().__init__(plan, ())
        self.walk = walk_in_lockstep if isinstance(forms[0], Lockstep) else walk_bits
        self.rows: list[int] = []
        self.kept: list[npt.NDArray[Any]] = []  # the arrays at which the rows point
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


class Evaluable(Spreadable, Protocol):
    """A compiled model: words, a plan, and one table and one diagram per block."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def formats(self) -> Interface:
        """The words that go in and come out."""

    @property
    def tables(self) -> Sequence[Table]:
        """One per block of the plan."""

    def require_torque(self, where: str = "") -> None:
        """Raise unless it is the torque of a robot."""


def walkable_forms(model: Evaluable, form: str) -> list[Walkable]:
    """Return the diagrams of a model in a form, each compared with its table on every entry; none for other forms."""
    if form not in BIT_FORMS:
        return []
    made = [make_form(form, table, diagram) for table, diagram in zip(model.tables, model.diagrams, strict=True)]
    for walkable, table in zip(made, model.tables, strict=True):
        check_form(walkable, table)
    return [walkable for walkable in made if isinstance(walkable, Bits | Lockstep)]

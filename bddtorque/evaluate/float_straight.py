"""Straight-line code of a plan in floats, every wire a local variable.

    states(q, qd, qdd, tau, table, counts)            one state after another
    bare(q, qd, qdd, tau, table)                      the same, counting nothing: what a kernel runs
    unchecked(q, qd, qdd, tau, table)                 the same for words that are known to be in range
    tiles(q, qd, qdd, tau, table, counts, rows, end)  many at once, in the lanes of vector instructions
    columns(...)                                      the same for arrays (n, N), joint by joint

The last two take the first `end` states, and leave what is beyond a multiple of `TILE` as it is.

One state looks its sines up in a table, which the polynomial of `bddtorque.words.float_sine` has made; lanes compute
the polynomial itself, and so does everything where words have more than `MOST_TABLE_BITS` bits. The words are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.jit import DISABLE_JIT
from bddtorque.evaluate.cutting import cut, is_large
from bddtorque.evaluate.generated import generated_module
from bddtorque.evaluate.ieee_code import converts_int64, warn_without_fma
from bddtorque.evaluate.input_code import InputWord, check_inputs, input_words, load_inputs, unread_words
from bddtorque.evaluate.integer_code import wrapped
from bddtorque.evaluate.program import QUANTITIES
from bddtorque.evaluate.straight import Straight
from bddtorque.plan.float_plan import FloatPlan
from bddtorque.plan.float_wires import Add, Constant, Fused, Multiply, Number, Sine
from bddtorque.plan.table import Table
from bddtorque.plan.wires import AngleSum, Input, Lookup
from bddtorque.words import Formats
from bddtorque.words.float_sine import angle_bits, sine_factors, sine_table, turn_on_grid

MOST_TABLE_BITS = 14
"""Bits of angle words whose sines are looked up: beyond, a table is slower than the polynomial."""
TILE = 128
"""States that `tiles` takes at once: what they need lies in the fastest cache."""

HEADER = '''"""A compiled plan in floats, written by bddtorque; made anew whenever it is missing."""
from numba import int32, int64, njit
import numpy as np

from bddtorque.evaluate.ieee_code import fma, fold_cosine, fold_sine, lrint, rint
from bddtorque.evaluate.pointers import array_at, space_of

real = np.{dtype}
'''
DECORATOR = '@njit(cache=True, nogil=True, _nrt=False, error_model="numpy")\n'
"""No fast-math flag: every operation is rounded as it stands."""
INLINED = DECORATOR.replace("_nrt", "forceinline=True, _nrt")
"""Of what kernels call: within a loop of the user's no array is passed, and no reference to a row counted."""


def float_straight(plan: FloatPlan, formats: Formats, tables: Sequence[Table], directory: Path) -> Straight:
    """Return the straight-line code of a plan in floats; compiled when first called, or found in `directory`."""
    warn_without_fma()
    pool = FloatPool(plan)
    source = FloatSource(plan, formats, pool)
    module = generated_module(source.text, directory, len(plan.wires), source.parts)
    return Straight(
        module.states, module.bare, pool.values(tables), module.tiles, module.columns, source.rows, module.unchecked,
        TILE, plan.precision.dtype,
    )  # fmt: skip


class FloatPool:
    """The tables of a plan in floats, one after another in one array, and the expressions that read them.

    A table of sines is a quarter longer than a turn, so that one index serves sine and cosine.
    """

    def __init__(self, plan: FloatPlan) -> None:
        self.plan = plan
        self.places: dict[tuple[Any, ...], int] = {}
        self.length = 1  # never empty: Numba wants a type
        for wire in plan.wires:
            if isinstance(wire, Sine) and self.tabled(wire):
                self._place(self._key(wire), 5 << (plan.bits_of(wire.word) - 2))
            elif isinstance(wire, Lookup):
                self._place(("block", wire.block), 1 << plan.bits_of(wire.wires[0]))

    def _place(self, key: tuple[Any, ...], rows: int) -> None:
        if key not in self.places:
            self.places[key] = self.length
            self.length += rows

    def _key(self, wire: Sine) -> tuple[Any, ...]:
        return "sine", self.plan.bits_of(wire.word), wire.rest

    def tabled(self, wire: Sine) -> bool:
        """Whether one state looks a sine up."""
        return self.plan.bits_of(wire.word) <= MOST_TABLE_BITS

    def sine(self, wire: Sine) -> str:
        """Return the expression that looks a sine up, at the index of its angle."""
        start = self.places[self._key(wire)] + (wire.cosine << (self.plan.bits_of(wire.word) - 2))
        return f"table[{start} + i{wire.word}]"

    def lookup(self, wire: Lookup, word: str) -> str:
        """Return the expression that looks the value of a law up at a word."""
        mask = (1 << self.plan.bits_of(wire.wires[0])) - 1
        return f"table[{self.places['block', wire.block]} + ({word} & {mask})]"

    def values(self, tables: Sequence[Table]) -> npt.NDArray[Any]:
        """Return the array."""
        pool = np.zeros(self.length, dtype=self.plan.precision.dtype)
        for (kind, *which), start in self.places.items():
            if kind == "block":
                words = tables[which[0]].values
                pool[start : start + len(words)] = words
                continue
            bits, rest = which
            sines = sine_table(bits, turn_on_grid(rest, self.plan.precision), False, self.plan.precision)
            pool[start : start + len(sines)] = sines
            pool[start + len(sines) : start + 5 * len(sines) // 4] = sines[: len(sines) // 4]
        return pool


class FloatCode:
    """The statements of a plan's wires: x<k> is a word, w<k> a float, r<k> a torque word.

    One state (`lookups`) reads sines of short words from the table, at i<k>. Else they are computed from a<k>, the
    angle in quarter turns, and what is made of words stands apart: words among floats would halve the vector lanes.

    Attributes
    ----------
    words : what floats are made of words by, name by name; none of one state, which has them in `body`
    body : all other statements
    """

    def __init__(self, plan: FloatPlan, pool: FloatPool, lookups: bool) -> None:
        self.plan, self.pool, self.lookups = plan, pool, lookups
        self.word_kind = "int64" if converts_int64() else "int32"
        self.words: dict[str, str] = {}
        self.body: list[str] = []
        self._made: set[str] = set()
        for k, wire in enumerate(plan.wires):
            self._write(k, wire)

    def number(self, value: float) -> str:
        """Return a float as it is written: exactly."""
        return f"real({value!r})"

    def word(self, k: int) -> str:
        """Return the expression of a word that is no input, or the name of one."""
        wire = self.plan.wires[k]
        if not isinstance(wire, AngleSum):
            return f"x{k}"
        terms = " + ".join(
            self.word(source) if factor << shift == 1 else f"{factor << shift} * {self.word(source)}"
            for source, factor, shift in wire.parts
        )
        return f"({terms} + {wire.constant})"

    def _write(self, k: int, wire: Any) -> None:
        match wire:
            case Number(word=word):
                source = self.plan.wires[word]
                if isinstance(source, Lookup):
                    self._from_words(f"w{k}", self.pool.lookup(source, self.word(source.wires[0])))
                else:
                    wraps = not isinstance(source, Input) or source.wraps
                    x = wrapped(self.word(word), self.plan.bits_of(word)) if wraps else self.word(word)
                    self._from_words(f"w{k}", f"real({self.word_kind}({x}))")
            case Sine() if self.lookups and self.pool.tabled(wire):
                self._once(f"i{wire.word}", f"{self.word(wire.word)} & {(1 << self.plan.bits_of(wire.word)) - 1}")
                self.body.append(f"w{k} = {self.pool.sine(wire)}")
            case Sine():
                self._write_sine(k, wire)
            case Add():
                sign = "+" if wire.sign > 0 else "-"
                self.body.append(f"w{k} = {self.value(wire.left)} {sign} {self.value(wire.right)}")
            case Multiply():
                self.body.append(f"w{k} = {self.value(wire.left)} * {self.value(wire.right)}")
            case Fused():
                left, addend = self.value(wire.left), self.value(wire.addend)
                left = left if wire.product_sign > 0 else f"-{left}"
                addend = addend if wire.addend_sign > 0 else f"-{addend}"
                self.body.append(f"w{k} = fma({left}, {self.value(wire.right)}, {addend})")

    def value(self, k: int) -> str:
        """Return a float wire: its name, or the constant itself."""
        wire = self.plan.wires[k]
        return self.number(self.plan.precision.nearest(wire.value)) if isinstance(wire, Constant) else f"w{k}"

    def _once(self, name: str, value: str) -> None:
        if name not in self._made:
            self._made.add(name)
            self.body.append(f"{name} = {value}")

    def _from_words(self, name: str, value: str) -> None:
        """Set a float that is made of words, once."""
        if self.lookups:
            self._once(name, value)
        else:
            self.words[name] = value

    def _write_sine(self, k: int, wire: Sine) -> None:
        """Write the polynomial; an angle without a constant is folded as a float, which is exact."""
        precision, bits = self.plan.precision, self.plan.bits_of(wire.word)
        turn = turn_on_grid(wire.rest, precision)
        wide = angle_bits(bits, turn, precision)
        if turn:
            half, unit = 1 << (wide - 1), self.number(2.0 ** (2 - wide))
            angle = wrapped(f"({self.word(wire.word)} << {wide - bits}) + {turn}", wide)
            folded = f"fold_cosine({angle}, {half})" if wire.cosine else f"fold_sine({angle}, {half})"
            self._from_words(f"y{k}", f"real({folded}) * {unit}")
        else:
            # a word at the upper end of an integer wraps by itself
            a, two = f"a{wire.word}", self.number(2.0)
            length = int(self.word_kind.removeprefix("int"))
            shifted = f"{self.word_kind}({self.word(wire.word)} << {length - bits})"
            self._from_words(a, f"real({shifted}) * {self.number(2.0 ** (2 - length))}")
            folded = f"{self.number(1.0)} - abs({a})" if wire.cosine else f"max(min({a}, {two} - {a}), -{two} - {a})"
            self.body.append(f"y{k} = {folded}")
        self.body.append(f"z{k} = y{k} * y{k}")
        *factors, total = (self.number(factor) for factor in sine_factors(precision))
        for place, factor in enumerate(reversed(factors)):
            self.body.append(f"p{k}_{place} = fma({total}, z{k}, {factor})")
            total = f"p{k}_{place}"
        self.body.append(f"w{k} = fma(y{k}, {total}, y{k})")

    def clamped(self, k: int) -> str:
        """Return output k in units, clamped to the ends of its word."""
        output = self.plan.outputs[k]
        low, high = self.number(float(output.low)), self.number(float(output.high))
        return f"min(max({self.value(output.wire)}, {low}), {high})"


class FloatSource:
    """The module of a plan in floats.

    Attributes
    ----------
    text : what is written to a file
    parts : how many functions the statements were cut into, 0 if they were not
    rows : how many rows of TILE floats a tile needs
    """

    def __init__(self, plan: FloatPlan, formats: Formats, pool: FloatPool) -> None:
        self.plan, self.pool = plan, pool
        self.dtype = plan.precision.dtype.__name__
        self.inputs = input_words(plan, formats)
        self.counted = [*self.inputs, *unread_words(plan, formats)]
        self.outputs = range(len(plan.outputs))
        self.functions = [HEADER.format(dtype=self.dtype)]
        self.parts = self.rows = 0
        self._add_states(FloatCode(plan, pool, lookups=True))
        self._add_batches(FloatCode(plan, pool, lookups=False))
        self.text = "\n\n".join(self.functions)

    def _add_states(self, code: FloatCode) -> None:
        """Add the functions that take one state after another."""
        begin: list[str] = []
        results = [f"r{k} = lrint({code.clamped(k)})" for k in self.outputs]
        lines = [*code.body, *results, *(f"tau[s, {k}] = r{k}" for k in self.outputs)]
        if is_large(lines) and not DISABLE_JIT:
            names = [f"x{word.wire}" for word in self.inputs]
            places = {name: f"ints[{k}]" for k, name in enumerate([*names, *(f"r{k}" for k in self.outputs)])}
            sizes = {"ints": len(places), "floats": 0}

            def new_place(name: str) -> str:
                kind = "ints" if name[0] in "xir" else "floats"
                sizes[kind] += 1
                return f"{kind}[{sizes[kind] - 1}]"

            bodies = cut([*code.body, *results], [], places, new_place)
            calls = self._add_parts("part", "ints, floats, table", bodies)
            begin = [
                f"{kind} = array_at(space_of({size}), ({size},), np.{dtype})"
                for (kind, size), dtype in zip(sizes.items(), ("int64", self.dtype), strict=True)
            ]
            lines = [*(f"{places[name]} = {name}" for name in names), *calls]
            lines += [f"tau[s, {k}] = {places[f'r{k}']}" for k in self.outputs]
        for head, words, check in (
            ("states(q, qd, qdd, tau, table, counts)", self.counted, check_inputs(self.counted, True)),
            ("bare(q, qd, qdd, tau, table)", self.inputs, check_inputs(self.inputs, False)),
            ("unchecked(q, qd, qdd, tau, table)", self.inputs, ()),
        ):
            body = [*begin, "for s in range(q.shape[0]):", *_indented([*load_inputs(words), *check, *lines])]
            self._add(head, body, INLINED if not self.parts and not head.startswith("states") else DECORATOR)

    def _add_batches(self, code: FloatCode) -> None:
        """Add the functions that take many states at once, for states in rows and in columns.

        What words are made into stands in one array, a constant apart: only so does the compiler see that nothing
        overlaps. A tile with a word out of range is read once more, clamped and counted.
        """
        places = {name: f"rows[{row * TILE} + i]" for row, name in enumerate(code.words)}
        results = {k: f"rows[{(len(places) + k) * TILE} + i]" for k in self.outputs}
        self.rows = len(places) + len(results)
        body = [*code.body, *(f"{place} = rint({code.clamped(k)})" for k, place in results.items())]
        if is_large(body) and not DISABLE_JIT:
            compute = self._add_parts("compute", "rows", map(_tile, cut(body, [], dict(places), self._new_row)))
        else:
            compute = _tile([*(f"{name} = {place}" for name, place in places.items()), *body])
        for name, load, store in (
            ("tiles", "{}[first + i, {}]", "tau[first + i, {}]"),
            ("columns", "{}[{}, first + i]", "tau[{}, first + i]"),
        ):
            given = {f"x{word.wire}": load.format(word.quantity, word.joint) for word in self.counted}
            clamped = given | {
                f"x{word.wire}": f"min(max({given[f'x{word.wire}']}, {-word.half}), {word.half - 1})"
                for word in self.counted
                if not word.wraps
            }
            waiting = {f"x{word.wire}": word for word in self.counted if not (word.wraps and word.whole)}
            tile = ["outside = int64(0)", *(f"n{word.wire} = int64(0)" for word in waiting.values() if word.wraps)]
            for each, value in code.words.items():
                loads = _loads(value)
                checks = [_check(waiting.pop(x)) for x in loads if x in waiting]
                tile += _tile([*(f"{x} = {given[x]}" for x in loads), f"{places[each]} = {value}", *checks])
            for x, word in waiting.items():  # what no torque depends on
                tile += _tile([f"{x} = {given[x]}", _check(word)])
            again = []
            for word in self.counted:
                x, place = f"x{word.wire}", f"counts[{QUANTITIES.index(word.quantity)}, {word.joint}]"
                if word.wraps and not word.whole:
                    tile.append(f"{place} += n{word.wire}")
                elif not word.wraps:
                    again += _tile([f"{place} += int64({given[x]} != {clamped[x]})"])
            for each, value in code.words.items():
                loads = [f"{x} = {clamped[x]}" for x in _loads(value)]
                again += _tile([*loads, f"{places[each]} = {value}"])
            tile += ["if outside:", *_indented(again or ["pass"]), *compute]
            for k, place in results.items():
                tile += _tile([f"{store.format(k)} = int64({code.word_kind}({place}))"])
            head = f"{name}(q, qd, qdd, tau, table, counts, rows, end)"
            self._add(head, [f"for first in range(0, end - end % {TILE}, {TILE}):", *_indented(tile)])

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

    def _add(self, head: str, body: Sequence[str], decorator: str = DECORATOR) -> None:
        self.functions.append("\n".join([f"{decorator}def {head}:", *_indented(body), ""]))


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


def _tile(lines: Sequence[str]) -> list[str]:
    """Return a loop over the states of a tile."""
    return [f"for i in range({TILE}):", *_indented(lines or ["pass"])]


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]

"""The statements of a plan in floats, and the tables that they read.

One state looks its sines up in a table, which the polynomial of `bddtorque.words.float_sine` has made; lanes compute
the polynomial itself, and so does everything where words have more than `MAX_TABLE_BITS` bits. The words are the same.

LLVM contracts nothing by itself where no fast-math flag is set, so that compiled code rounds where a plan rounds. On a
processor without fused multiply-add a library's function takes its place: slow, and the same floats. `fma`, `rint` and
`lrint` are its operations in plain Python, for NUMBA_DISABLE_JIT.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import numpy.typing as npt

from bddtorque.evaluate.statements import Statement, wrapped
from bddtorque.plan.plan import Plan
from bddtorque.plan.table import Table
from bddtorque.plan.wires import Add, AngleSum, Constant, Fused, Input, Lookup, Multiply, Number, Sine
from bddtorque.words.float_sine import angle_bits, sine_factors, sine_table, turn_on_grid
from bddtorque.words.ieee import DOUBLE, fused

fma, rint = fused, np.rint


def lrint(value: Any) -> Any:
    """Return the nearest integer, ties to even, as an int64."""
    return np.int64(np.rint(value))


@cache
def converts_int64() -> bool:
    """Tell whether vector instructions convert between int64 and double: else they do so by way of int32."""
    return bool(llvm.get_host_cpu_features().get("avx512dq", False))


@cache
def vector_lanes(dtype: Any) -> int:
    """Return how many floats of a type a vector of this processor has."""
    features = llvm.get_host_cpu_features()
    length = 64 if features.get("avx512f", False) else 32 if features.get("avx", False) else 16
    return int(length // np.dtype(dtype).itemsize)


@cache
def warn_without_fma() -> None:
    """Say once that this processor has no fused multiply-add."""
    of_x86 = llvm.get_process_triple().startswith(("x86_64", "i686", "i386"))
    if of_x86 and not llvm.get_host_cpu_features().get("fma", False):
        logging.getLogger("bddtorque").warning(
            "this processor has no fused multiply-add: plans for target 'float' give the same words, but slowly"
        )


MAX_TABLE_BITS = 14
"""Bits of angle words whose sines are looked up: beyond, a table is slower than the polynomial."""


class FloatPool:
    """The tables of a plan in floats, one after another in one array, and the expressions that read them.

    A table of sines is a quarter longer than a turn, so that one index serves sine and cosine.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.places: dict[tuple[Any, ...], int] = {}
        self.length = 1  # never empty: Numba wants a type
        for wire in plan.wires:
            if isinstance(wire, Sine) and self.tabled(wire):
                self._place(self._key(wire), 5 << (plan.bits_of(wire.word) - 2))
            elif isinstance(wire, Lookup):
                self._place(("block", wire.block), 1 << sum(plan.blocks[wire.block].input_widths))

    def _place(self, key: tuple[Any, ...], rows: int) -> None:
        if key not in self.places:
            self.places[key] = self.length
            self.length += rows

    def _key(self, wire: Sine) -> tuple[Any, ...]:
        return "sine", self.plan.bits_of(wire.word), wire.rest

    def tabled(self, wire: Sine) -> bool:
        """Tell whether one state looks a sine up."""
        return self.plan.bits_of(wire.word) <= MAX_TABLE_BITS

    def sine(self, wire: Sine) -> str:
        """Return the expression that looks a sine up, at the index of its angle."""
        start = self.places[self._key(wire)] + (wire.cosine << (self.plan.bits_of(wire.word) - 2))
        return f"table[{start} + i{wire.word}]"

    def lookup(self, wire: Lookup, word: str) -> str:
        """Return the expression that looks the value of a law up at a word."""
        mask = (1 << sum(self.plan.blocks[wire.block].input_widths)) - 1
        return f"table[{self.places['block', wire.block]} + ({word} & {mask})]"

    def values(self, tables: Sequence[Table]) -> npt.NDArray[Any]:
        """Return the array."""
        pool = np.zeros(self.length, dtype=self.plan.floats.dtype)
        for (kind, *which), start in self.places.items():
            if kind == "block":
                words = tables[which[0]].values
                pool[start : start + len(words)] = words
                continue
            bits, rest = which
            sines = sine_table(bits, turn_on_grid(rest, self.plan.floats), False, self.plan.floats)
            pool[start : start + len(sines)] = sines
            pool[start + len(sines) : start + 5 * len(sines) // 4] = sines[: len(sines) // 4]
        return pool


@dataclass(frozen=True)
class OfWords:
    """An expression that makes a float of input words."""

    template: str  # with {x3} in the place of the word of wire 3
    wires: tuple[int, ...]  # the inputs that it reads

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the words."""
        return tuple(f"x{wire}" for wire in self.wires)

    def text(self, names: Mapping[int, str] | None = None) -> str:
        """Return the expression; the word of wire 3 is called x3 unless `names` calls it otherwise."""
        return self.template.format(**{f"x{wire}": (names or {}).get(wire, f"x{wire}") for wire in self.wires})


class FloatCode:
    """The statements of a plan's wires: x<k> is a word, w<k> a float, r<k> an output word.

    One state (`lookups`) reads sines of short words from the table, at i<k>. Else they are computed from a<k>, the
    angle in quarter turns, and what is made of words stands apart: words among floats would halve the vector lanes.
    """

    def __init__(self, plan: Plan, pool: FloatPool, lookups: bool) -> None:
        self.plan, self.pool, self.lookups = plan, pool, lookups
        doubles = plan.floats == DOUBLE and converts_int64()
        self.word_kind = "int64" if lookups or doubles else "int32"  # integers that vectors convert faster
        self.words: dict[str, OfWords] = {}  # what floats are made of words by; of one state it is in `body`
        self.body: list[Statement] = []
        self._made: set[str] = set()
        for k, wire in enumerate(plan.wires):
            self._write(k, wire)

    def number(self, value: float) -> str:
        """Return a float as it is written: exactly."""
        return f"real({value!r})"

    def _word(self, k: int) -> OfWords:
        """Return the expression of a word: an input, or a sum of angles."""
        wire = self.plan.wires[k]
        if not isinstance(wire, AngleSum):
            return OfWords(f"{{x{k}}}", (k,))
        parts = [(self._word(source), factor << shift) for source, factor, shift in wire.parts]
        terms = (part.template if factor == 1 else f"{factor} * {part.template}" for part, factor in parts)
        wires = dict.fromkeys(each for part, _ in parts for each in part.wires)
        return OfWords(f"({' + '.join(terms)} + {wire.constant})", tuple(wires))

    def _write(self, k: int, wire: Any) -> None:
        match wire:
            case Number(word=word):
                source = self.plan.wires[word]
                if isinstance(source, Lookup):
                    index = self._word(source.wires[0])
                    self._from_words(f"w{k}", self.pool.lookup(source, index.template), index)
                else:
                    wraps, own = not isinstance(source, Input) or source.wraps, self._word(word)
                    x = wrapped(own.template, self.plan.bits_of(word)) if wraps else own.template
                    self._from_words(f"w{k}", f"real({self.word_kind}({x}))", own)
            case Sine() if self.lookups and self.pool.tabled(wire):
                mask = (1 << self.plan.bits_of(wire.word)) - 1
                angle = self._word(wire.word)
                self._once(f"i{wire.word}", OfWords(f"{angle.template} & {mask}", angle.wires))
                self.assign(f"w{k}", self.pool.sine(wire), f"i{wire.word}")
            case Sine():
                self._write_sine(k, wire)
            case Add():
                sign = "+" if wire.sign > 0 else "-"
                self.assign(f"w{k}", f"{self.value(wire.left)} {sign} {self.value(wire.right)}", *self.names_read(wire))
            case Multiply():
                self.assign(f"w{k}", f"{self.value(wire.left)} * {self.value(wire.right)}", *self.names_read(wire))
            case Fused():
                left, addend = self.value(wire.left), self.value(wire.addend)
                left = left if wire.product_sign > 0 else f"-{left}"
                addend = addend if wire.addend_sign > 0 else f"-{addend}"
                self.assign(f"w{k}", f"fma({left}, {self.value(wire.right)}, {addend})", *self.names_read(wire))

    def value(self, k: int) -> str:
        """Return a float wire: its name, or the constant itself."""
        wire = self.plan.wires[k]
        return self.number(self.plan.floats.nearest(wire.value)) if isinstance(wire, Constant) else f"w{k}"

    def names_read(self, wire: Any) -> list[str]:
        """Return the names of the floats that a wire reads: constants have none."""
        return [f"w{k}" for k in wire.sources if not isinstance(self.plan.wires[k], Constant)]

    def assign(self, name: str, value: str, *reads: str) -> None:
        """Write a statement that sets a name."""
        self.body.append(Statement(name, value, reads))

    def _once(self, name: str, value: OfWords) -> None:
        if name not in self._made:
            self._made.add(name)
            self.assign(name, value.text(), *value.reads)

    def _from_words(self, name: str, template: str, word: OfWords) -> None:
        """Set a float that is made of a word, once."""
        value = OfWords(template, word.wires)
        if self.lookups:
            self._once(name, value)
        else:
            self.words[name] = value

    def _write_sine(self, k: int, wire: Sine) -> None:
        """Write the polynomial; an angle without a constant is folded as a float, which is exact."""
        precision, bits = self.plan.floats, self.plan.bits_of(wire.word)
        turn = turn_on_grid(wire.rest, precision)
        wide, word = angle_bits(bits, turn, precision), self._word(wire.word)
        if turn:
            half, unit = 1 << (wide - 1), self.number(2.0 ** (2 - wide))
            angle = f"({wrapped(f'({word.template} << {wide - bits}) + {turn}', wide)})"
            folded = f"max(min({angle}, {half} - {angle}), {-half} - {angle})"
            if wire.cosine:
                folded = f"{half // 2} - abs({angle})"
            self._from_words(f"y{k}", f"real({folded}) * {unit}", word)
            self._write_polynomial(k)
        else:
            # a word at the upper end of an integer wraps by itself
            a = f"a{wire.word}"
            length = int(self.word_kind.removeprefix("int"))
            shifted = f"{self.word_kind}({word.template} << {length - bits})"
            self._from_words(a, f"real({shifted}) * {self.number(2.0 ** (2 - length))}", word)
            self.write_folded(k, a, wire.cosine)

    def write_folded(self, k: int, a: str, cosine: bool) -> None:
        """Write the sine or cosine of an angle in quarter turns, at most half a turn."""
        two = self.number(2.0)
        folded = f"{self.number(1.0)} - abs({a})" if cosine else f"max(min({a}, {two} - {a}), -{two} - {a})"
        self.assign(f"y{k}", folded, a)
        self._write_polynomial(k)

    def _write_polynomial(self, k: int) -> None:
        self.assign(f"z{k}", f"y{k} * y{k}", f"y{k}")
        *factors, total = (self.number(factor) for factor in sine_factors(self.plan.floats))
        for place, factor in enumerate(reversed(factors)):
            reads = (total,) if place else ()
            self.assign(f"p{k}_{place}", f"fma({total}, z{k}, {factor})", *reads, f"z{k}")
            total = f"p{k}_{place}"
        self.assign(f"w{k}", f"fma(y{k}, {total}, y{k})", f"y{k}", *([total] if factors else []))

    def output(self, k: int, convert: str) -> Statement:
        """Return the statement that sets output k in units, clamped to the ends of its word and then rounded."""
        output = self.plan.outputs[k]
        low, high = self.number(float(output.low)), self.number(float(output.high))
        value = f"{convert}(min(max({self.value(output.wire)}, {low}), {high}))"
        return Statement(f"r{k}", value, tuple(self.names_read(output)))

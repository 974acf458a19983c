"""The float baselines, called peers: the same graph, the same words in, the same words out, without tables.

    float64   customised: the traced recursion with libm's sine and cosine
    polynomial   the same with polynomials for sine and cosine on the reduced angle
    float32   the same in single precision with a sine table of 4096 entries: the strongest of them
    vector    for batches: float32 on structure of arrays, in the lanes of vector instructions

The vector peer takes word arrays (k, N), one contiguous row per word, N a multiple of `TILE`. Its sine and cosine are
polynomials, so that nothing has to be gathered from a table. Sixty-four states are taken at a time: their words are
turned into floats in one scratch array, a constant apart, so that the compiler sees that nothing overlaps; the whole
graph is then one loop over the scratch array; output words are written from there.

Conversion of words, scaling, rounding and clamping are part of each. They may contract and reorder operations as they
like (`fastmath`): nothing is proved of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numba
import numpy as np

from bddtorque.bench.bench_options import TILE
from bddtorque.dynamics.graph import Graph, Node, Op
from bddtorque.targets.target import LawTerm
from bddtorque.words.friction import Friction
from bddtorque.words.interface import Interface

Laws = tuple[LawTerm, ...]
PEERS = ("float64", "polynomial", "float32")
TABLE_BITS = 12

DEGREES = {np.float64: 17, np.float32: 9}
"""Of the polynomials for sines on ±90°: as close there as the last bit of a number."""
OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": True, "error_model": "numpy"}


@lru_cache(maxsize=16)  # both targets of an arm have the same peers
def peer(graph: Graph, formats: Interface, kind: str, laws: Laws = ()) -> Callable[..., None]:
    """Return a compiled function states(array, ..., out) on word arrays (N, k) that computes a graph in floats.

    Laws of single input words, such as friction, are added to its outputs.
    """
    return _compiled(_RowWriter(graph, formats, laws, kind), OPTIONS)


@lru_cache(maxsize=16)
def vector_peer(graph: Graph, formats: Interface, laws: Laws = ()) -> tuple[Callable[..., None], int]:
    """Return a compiled function states(array, ..., out, scratch) on word arrays (k, N), and the size of its scratch.

    The scratch array has so many float32.
    """
    writer = _LaneWriter(graph, formats, laws)
    return _compiled(writer, OPTIONS | {"_nrt": False}), writer.rows * TILE


def _compiled(writer: _RowWriter | _LaneWriter, options: dict[str, Any]) -> Callable[..., None]:
    exec(compile(writer.source(), "<bddtorque peer>", "exec"), writer.names)
    function: Callable[..., None] = numba.njit(**options)(writer.names["states"])
    return function


@dataclass(frozen=True)
class FloatInput:
    """A word that a baseline reads, or one derived from such words: the text of its integer, and its value."""

    text: str
    # value = scale * word + centre
    scale: float
    centre: float
    bits: int
    turns: bool  # whether all its words are one turn
    lowest: int


class GraphWriter:
    """Writes a graph as statements that compute node k as v<k> in floats, and the laws that are added to its outputs.

    The templates are those of Python; a subclass for another language has its own.
    """

    word = "a{array}[s, {place}]"
    factor = "{factor} * {text}"
    wrapped = "((({total} + {half}) & {mask}) - {half})"
    cast = "real({})"
    choice = "({first} if {condition} else {second})"
    statement = "{} = {}"

    def __init__(self, graph: Graph, formats: Interface, laws: Laws) -> None:
        self.graph, self.formats, self.laws = graph, formats, laws
        self.words: dict[str, FloatInput] = {}
        for k, array in enumerate(formats.inputs):
            for place, (name, word) in enumerate(zip(array.word_names, array, strict=True)):
                scale, centre = word.sign * word.lsb, word.sign * word.centre + word.offset
                text = self.word.format(array=k, place=place, name=name)
                self.words[name] = FloatInput(text, scale, centre, word.bits, word.kind == "angle", word.lowest)
        for derived in formats.derived:
            bits, half = derived.argument.bits, 1 << (derived.argument.bits - 1)
            parts = (self.factor.format(factor=factor, text=self.words[name].text) for name, factor in derived.parts)
            text = self.wrapped.format(total=" + ".join(parts), bits=bits, half=half, mask=2 * half - 1)
            self.words[derived.name] = FloatInput(text, float(derived.argument.scale), 0.0, bits, False, -half)

    def constant(self, value: float) -> str:
        """Return how a float is written."""
        raise NotImplementedError

    def table(self, values: Any) -> str:
        """Return the name of a table of floats."""
        raise NotImplementedError

    def sine(self, k: int, node: Node) -> Iterator[str]:
        """Yield the statements of a sine or cosine."""
        raise NotImplementedError

    def tabled_angle(self, node: Node) -> tuple[str, float] | None:
        """Return the word and the constant of the angle of a sine that is read from a table; None of any other."""
        return None

    def angle(self, node: Node) -> tuple[str, float] | None:
        """Return the angle word and the constant of a sine's or cosine's argument, q or q + constant, if it is one."""
        nodes, reference, rest = self.graph.nodes, node.left, 0.0
        if nodes[reference >> 1].op is Op.SUM and not reference & 1:
            total = nodes[reference >> 1]
            for angle, addend in ((total.left, total.right), (total.right, total.left)):
                constant = nodes[addend >> 1]
                if constant.op is Op.CONSTANT:
                    reference, rest = angle, constant.value * (-1 if addend & 1 else 1)
                    break
        word = nodes[reference >> 1]
        if reference & 1 or word.op is not Op.INPUT or not self.words[word.name].turns:
            return None
        return word.name, rest

    def take(self, reference: int) -> str:
        """Return a value with its sign."""
        node = self.graph.nodes[reference >> 1]
        text = self.constant(node.value) if node.op is Op.CONSTANT else f"v{reference >> 1}"
        return f"(-{text})" if reference & 1 else text

    def float_nodes(self) -> list[int]:
        """Return the nodes that are floats: an angle that only tables read, and what is made of it, are not."""
        read, waiting = set(), [reference >> 1 for reference in self.graph.outputs]
        while waiting:
            k = waiting.pop()
            node = self.graph.nodes[k]
            if k in read or node.op is Op.CONSTANT:
                continue
            read.add(k)
            if node.op in (Op.SUM, Op.PRODUCT):
                waiting += [node.left >> 1, node.right >> 1]
            elif node.op is not Op.INPUT and self.tabled_angle(node) is None:
                waiting.append(node.left >> 1)
        return sorted(read)

    def statements(self) -> Iterator[str]:
        """Yield the statements of all nodes that are floats."""
        for k in self.float_nodes():
            node = self.graph.nodes[k]
            match node.op:
                case Op.INPUT:
                    yield self.statement.format(f"v{k}", self.value(node.name))
                case Op.SUM | Op.PRODUCT:
                    sign = "+" if node.op is Op.SUM else "*"
                    yield self.statement.format(f"v{k}", f"{self.take(node.left)} {sign} {self.take(node.right)}")
                case _:
                    yield from self.sine(k, node)

    def value(self, name: str) -> str:
        """Return the value of an input word, or of one derived from them."""
        word = self.words[name]
        text = f"{self.cast.format(word.text)} * {self.constant(word.scale)}"
        return f"{text} + {self.constant(word.centre)}" if word.centre else text

    def output(self, k: int) -> str:
        """Return an output, with the laws that are added to it."""
        total = [self.take(self.graph.outputs[k])]
        total += [self._law(term) for term in self.laws if term.output == k]
        return total[0] if len(total) == 1 else f"({' + '.join(total)})"

    def _law(self, term: LawTerm) -> str:
        """Return a law of one word: arithmetic if it can be, or a table of all words."""
        word, law, value = self.words[term.name], term.law, f"({self.value(term.name)})"
        if isinstance(law, Friction) and law.static is None:
            forward, backward = law.coulomb  # type: ignore[misc]
            still = self.constant(law.standstill)
            back, none = self.constant(-backward), self.constant(0.0)
            dry = self.choice.format(condition=f"{value} < -{still}", first=back, second=none)
            dry = self.choice.format(condition=f"{value} > {still}", first=self.constant(forward), second=dry)
            return f"({value} * {self.constant(law.viscous)} + {dry})"
        values = np.asarray(law((np.arange(1 << word.bits) + word.lowest) * word.scale + word.centre))
        return f"{self.table(values)}[{self.place(term.name)} + {-word.lowest}]"

    def place(self, name: str) -> str:
        """Return an input word as an integer."""
        return self.words[name].text


class _PeerWriter(GraphWriter):
    """Writes Python for Numba; `names` are the globals of the code."""

    def __init__(self, graph: Graph, formats: Interface, laws: Laws, real: Any) -> None:
        super().__init__(graph, formats, laws)
        self.names: dict[str, Any] = {"floor": np.floor, "sin": np.sin, "cos": np.cos, "int64": np.int64, "real": real}
        self._constants: dict[float, str] = {}

    @property
    def parameters(self) -> str:
        """The arrays that the function takes, but for the scratch array."""
        return ", ".join([*(f"a{k}" for k in range(len(self.formats.inputs))), "out"])

    def constant(self, value: float) -> str:
        if value not in self._constants:
            self._constants[value] = self._named("c", self.names["real"](value))
        return self._constants[value]

    def table(self, values: Any) -> str:
        return self._named("t", values.astype(self.names["real"]))

    def _named(self, letter: str, value: Any) -> str:
        name = f"{letter}{len(self.names)}"
        self.names[name] = value
        return name

    def sine(self, k: int, node: Node) -> Iterator[str]:
        """Yield a sine or cosine: the angle brought to ±180°, folded to ±90°, then a polynomial."""
        yield f"a{k} = {self.take(node.left)}"
        argument = self.graph.nodes[node.left >> 1]
        # a word is within half a turn as it is
        if argument.op is not Op.INPUT or not self.words[argument.name].turns or self.words[argument.name].centre:
            turns = f"floor(a{k} * {self.constant(0.5 / np.pi)} + {self.constant(0.5)})"
            yield f"a{k} = a{k} - real({turns}) * {self.constant(2 * np.pi)}"
        half = self.constant(np.pi)
        if node.op is Op.COSINE:
            yield f"y{k} = {self.constant(np.pi / 2)} - abs(a{k})"
        else:
            yield f"y{k} = max(min(a{k}, {half} - a{k}), -{half} - a{k})"
        yield f"z{k} = y{k} * y{k}"
        *factors, total = [self.constant(factor) for factor in _sine_factors(DEGREES[self.names["real"]])]
        for factor in reversed(factors):
            total = f"({total} * z{k} + {factor})"
        yield f"v{k} = y{k} * {total}"

    def results(self, rounded: str) -> Iterator[str]:
        """Yield each output as a rounded and clamped number of units."""
        for k, word in enumerate(self.formats.results.values()):
            begin = (word.sign * word.offset + word.centre) / word.lsb
            units = f"{self.output(k)} * {self.constant(word.sign / word.lsb)}"
            units = rounded.format(f"floor({units} + {self.constant(0.5 - begin)})")
            yield f"min(max({units}, {self.constant(word.lowest)}), {self.constant(word.highest)})"


class _RowWriter(_PeerWriter):
    """One state after another."""

    def __init__(self, graph: Graph, formats: Interface, laws: Laws, kind: str) -> None:
        super().__init__(graph, formats, laws, np.float32 if kind == "float32" else np.float64)
        self.kind = kind

    def source(self) -> str:
        """Return the function's text."""
        lines = [*self.statements()]
        lines += [f"out[s, {k}] = int({result})" for k, result in enumerate(self.results("{}"))]
        body = "\n".join(f"        {line}" for line in lines)
        return f"def states({self.parameters}):\n    for s in range(a0.shape[0]):\n{body}\n"

    def tabled_angle(self, node: Node) -> tuple[str, float] | None:
        return self.angle(node) if self.kind == "float32" else None

    def sine(self, k: int, node: Node) -> Iterator[str]:
        function, angle = "sin" if node.op is Op.SINE else "cos", self.tabled_angle(node)
        if self.kind == "float64":
            yield f"v{k} = {function}({self.take(node.left)})"
        elif angle is None:
            yield from super().sine(k, node)
        else:
            name, offset = angle
            word = self.words[name]
            turns = np.arange(1 << TABLE_BITS) / (1 << TABLE_BITS)
            angles = 2 * np.pi * turns * np.sign(word.scale) + word.centre + offset
            shift = word.bits - TABLE_BITS
            index = f"({word.text} >> {shift})" if shift > 0 else f"({word.text} << {-shift})"
            yield f"v{k} = {self.table(getattr(np, function)(angles))}[{index} & {(1 << TABLE_BITS) - 1}]"


class _LaneWriter(_PeerWriter):
    """Many states at once: rows of the scratch array for what crosses loops, local variables for everything else."""

    word = "a{array}[{place}, first + i]"
    cast = "{}"

    def __init__(self, graph: Graph, formats: Interface, laws: Laws) -> None:
        super().__init__(graph, formats, laws, np.float32)
        names = [node.name for node in graph.nodes if node.op is Op.INPUT]
        inputs = list(dict.fromkeys([*names, *(term.name for term in laws)]))
        self.rows = len(inputs) + len(graph.outputs)
        self.loads = {self._cell(row): self.words[name].text for row, name in enumerate(inputs)}
        for cell, name in zip(self.loads, inputs, strict=True):
            self.words[name] = replace(self.words[name], text=cell)

    def source(self) -> str:
        """Return the function's text."""
        lines = [f"def states({self.parameters}, scratch):", "    count = a0.shape[1]"]
        lines += [f"    for first in range(0, count - count % {TILE}, {TILE}):"]
        for cell, text in self.loads.items():
            lines += self._loop([f"{cell} = real({text})"])
        outputs = [self._cell(len(self.loads) + k) for k in range(len(self.graph.outputs))]
        results = [f"{cell} = {result}" for cell, result in zip(outputs, self.results("real({})"), strict=True)]
        lines += self._loop([*self.statements(), *results])
        for k, cell in enumerate(outputs):
            lines += self._loop([f"out[{k}, first + i] = int64({cell})"])
        return "\n".join(lines) + "\n"

    @staticmethod
    def _cell(row: int) -> str:
        return f"scratch[{row * TILE} + i]"

    @staticmethod
    def _loop(lines: Sequence[str]) -> list[str]:
        return [f"        for i in range({TILE}):", *(f"            {line}" for line in lines)]

    def place(self, name: str) -> str:
        return f"int64({self.words[name].text})"


def _sine_factors(degree: int) -> list[float]:
    """Return the factors of x, x³, x⁵, ... that interpolate the sine on ±90° at Chebyshev's points."""
    fit = np.polynomial.Chebyshev.interpolate(np.sin, degree + 1, domain=[-np.pi / 2, np.pi / 2])
    powers = fit.convert(kind=np.polynomial.Polynomial).coef
    return [float(factor) for factor in powers[1 : degree + 1 : 2]]

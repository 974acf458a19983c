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
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numba
import numpy as np

from bddtorque.bench.bench_options import TILE
from bddtorque.dynamics.graph import Graph, Node, Op
from bddtorque.targets.extra_terms import LawTerm
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
    writer = _RowWriter(graph, formats, laws, kind)
    exec(compile(writer.source(), f"<bddtorque peer {kind}>", "exec"), writer.names)
    function: Callable[..., None] = numba.njit(**OPTIONS)(writer.names["states"])
    return function


@lru_cache(maxsize=16)
def vector_peer(graph: Graph, formats: Interface, laws: Laws = ()) -> tuple[Callable[..., None], int]:
    """Return a compiled function states(array, ..., out, scratch) on word arrays (k, N), and the size of its scratch.

    The scratch array has so many float32.
    """
    writer = _LaneWriter(graph, formats, laws)
    exec(compile(writer.source(), "<bddtorque vector peer>", "exec"), writer.names)
    function: Callable[..., None] = numba.njit(**OPTIONS | {"_nrt": False})(writer.names["states"])
    return function, writer.rows * TILE


@dataclass(frozen=True)
class PeerInput:
    """A word that peers read: what stands for it in the text of the function, and the value of a word.

    ``{}`` in `text` is the state.
    """

    text: str
    # value = scale * word + centre
    scale: float
    centre: float
    bits: int
    turns: bool  # whether all its words are one turn


def input_words(formats: Interface, index: str) -> dict[str, PeerInput]:
    """Return all input words, and those derived from them, by name; `index` is how the word of an array is read."""
    found = {}
    for k, array in enumerate(formats.inputs):
        for place, (name, word) in enumerate(zip(array.word_names, array, strict=True)):
            centre = word.sign * word.centre + word.offset
            text = index.format(array=f"a{k}", place=place)
            found[name] = PeerInput(text, word.sign * word.lsb, centre, word.bits, word.kind == "angle")
    for derived in formats.derived:
        half = 1 << (derived.argument.bits - 1)
        total = " + ".join(f"{factor} * {found[name].text}" for name, factor in derived.parts)
        text = f"((({total} + {half}) & {2 * half - 1}) - {half})"
        found[derived.name] = PeerInput(text, float(derived.argument.scale), 0.0, derived.argument.bits, False)
    return found


class _Writer:
    """Writes a graph as Python statements that compute node k as v<k>; `names` are the globals of the code."""

    def __init__(self, graph: Graph, formats: Interface, laws: Laws, real: Any, index: str) -> None:
        self.graph, self.formats, self.laws = graph, formats, laws
        self.words = input_words(formats, index)
        self.names: dict[str, Any] = {"floor": np.floor, "sin": np.sin, "cos": np.cos, "int64": np.int64, "real": real}
        self._written: list[str] = []

    @property
    def parameters(self) -> str:
        """The arrays that the function takes, but for the scratch array."""
        return ", ".join([*(f"a{k}" for k in range(len(self.formats.inputs))), "out"])

    def constant(self, value: float) -> str:
        return self.named("c", self.names["real"](value))

    def named(self, letter: str, value: Any) -> str:
        name = f"{letter}{len(self.names)}"
        self.names[name] = value
        return name

    def take(self, reference: int) -> str:
        text = self._written[reference >> 1]
        return f"(-{text})" if reference & 1 else text

    def statements(self) -> Iterator[str]:
        """Yield the statements of all nodes."""
        for k, node in enumerate(self.graph.nodes):
            match node.op:
                case Op.CONSTANT:
                    self._written.append(self.constant(node.value))
                    continue
                case Op.INPUT:
                    yield from self.read_input(k, node)
                case Op.SUM:
                    sign = "-" if node.right & 1 else "+"
                    yield f"v{k} = {self.take(node.left)} {sign} {self.take(node.right & ~1)}"
                case Op.PRODUCT:
                    yield f"v{k} = {self.take(node.left)} * {self.take(node.right)}"
                case _:
                    yield from self.turn(k, node)
            self._written.append(f"v{k}")

    def read_input(self, k: int, node: Node) -> Iterator[str]:
        """Yield the statements that set v<k> to what an input word stands for."""
        raise NotImplementedError

    def turn(self, k: int, node: Node) -> Iterator[str]:
        """Yield a sine or cosine: the angle brought to ±180°, folded to ±90°, then a polynomial."""
        yield f"a{k} = {self.take(node.left)}"
        source = self.graph.nodes[node.left >> 1]
        # a word is within half a turn as it is
        if source.op is not Op.INPUT or not self.words[source.name].turns or self.words[source.name].centre:
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

    def value(self, units: str, word: PeerInput) -> str:
        return f"{units} * {self.constant(word.scale)} + {self.constant(word.centre)}"

    def law(self, term: LawTerm, place: str) -> str:
        """Return a law of one word, which stands at `place` as an integer: arithmetic if it can be, or a table."""
        word, law = self.words[term.name], term.law
        if isinstance(law, Friction) and law.static is None:
            value, still = self.value(f"real({place})", word), self.constant(law.standstill)
            forward, backward = (self.constant(side) for side in (law.coulomb[0], -law.coulomb[1]))  # type: ignore[index]
            dry = f"({forward} if {value} > {still} else {backward} if {value} < -{still} else {self.constant(0.0)})"
            return f"({value}) * {self.constant(law.viscous)} + {dry}"
        half = 1 << (word.bits - 1)
        values = law(np.arange(-half, half) * word.scale + word.centre)
        return f"{self.named('t', np.asarray(values).astype(self.names['real']))}[{place} + {half}]"

    def results(self, rounded: str) -> Iterator[str]:
        """Yield each output as a rounded and clamped number of units."""
        for k, (reference, word) in enumerate(zip(self.graph.outputs, self.formats.results.values(), strict=True)):
            total = self.take(reference)
            for term in self.laws:
                if term.output == k:
                    total = f"({total} + {self.law(term, self.place_of(term.name))})"
            begin = (word.sign * word.offset + word.centre) / word.lsb
            units = f"{total} * {self.constant(word.sign / word.lsb)}"
            units = rounded.format(f"floor({units} + {self.constant(0.5 - begin)})")
            yield f"min(max({units}, {self.constant(word.lowest)}), {self.constant(word.highest)})"

    def place_of(self, name: str) -> str:
        """Return an input word as an integer."""
        raise NotImplementedError


class _RowWriter(_Writer):
    """One state after another."""

    def __init__(self, graph: Graph, formats: Interface, laws: Laws, kind: str) -> None:
        super().__init__(graph, formats, laws, np.float32 if kind == "float32" else np.float64, "{array}[s, {place}]")
        self.kind = kind

    def source(self) -> str:
        """Return the function's text."""
        lines = [*self.statements()]
        lines += [f"out[s, {k}] = int({result})" for k, result in enumerate(self.results("{}"))]
        body = "\n".join(f"        {line}" for line in lines)
        return f"def states({self.parameters}):\n    for s in range(a0.shape[0]):\n{body}\n"

    def place_of(self, name: str) -> str:
        return self.words[name].text

    def read_input(self, k: int, node: Node) -> Iterator[str]:
        word = self.words[node.name]
        yield f"w{k} = {word.text}"
        # of an angle in single precision the table is read by the word itself
        if word.turns and self.kind == "float32" and k not in self.read_as_floats:
            yield f"v{k} = real(0)"
        else:
            yield f"v{k} = {self.value(f'real(w{k})', word)}"

    @cached_property
    def read_as_floats(self) -> set[int]:
        """Nodes that something else reads than a table of sines, by the word itself."""
        found = {reference >> 1 for reference in self.graph.outputs}
        for node in self.graph.nodes:
            if node.op in (Op.SUM, Op.PRODUCT):
                found |= {node.left >> 1, node.right >> 1}
            elif node.op in (Op.SINE, Op.COSINE) and self._angle(node) is None:
                found.add(node.left >> 1)
        return found

    def turn(self, k: int, node: Node) -> Iterator[str]:
        function = "sin" if node.op is Op.SINE else "cos"
        angle = self._angle(node) if self.kind == "float32" else None
        if self.kind == "float64":
            yield f"v{k} = {function}({self.take(node.left)})"
        elif angle is None:
            yield from super().turn(k, node)
        else:
            source, offset = angle
            word = self.words[self.graph.nodes[source].name]
            turns = np.arange(1 << TABLE_BITS) / (1 << TABLE_BITS)
            angles = 2 * np.pi * turns * np.sign(word.scale) + word.centre + offset
            table = self.named("t", getattr(np, function)(angles).astype(np.float32))
            shift = word.bits - TABLE_BITS
            index = f"(w{source} >> {shift})" if shift > 0 else f"(w{source} << {-shift})"
            yield f"v{k} = {table}[{index} & {(1 << TABLE_BITS) - 1}]"

    def _angle(self, node: Node) -> tuple[int, float] | None:
        """Return the angle word and the constant of a sine's or cosine's argument, q or q + constant, if it is one."""
        nodes = self.graph.nodes
        source, rest = node.left, 0.0
        argument = nodes[source >> 1]
        if argument.op is Op.SUM:
            parts = [argument.left, argument.right]
            constants = [part for part in parts if nodes[part >> 1].op is Op.CONSTANT]
            if len(constants) != 1 or source & 1:
                return None
            (source,) = [part for part in parts if part not in constants]
            rest = nodes[constants[0] >> 1].value * (-1 if constants[0] & 1 else 1)
        argument = nodes[source >> 1]
        if source & 1 or argument.op is not Op.INPUT or not self.words[argument.name].turns:
            return None
        return source >> 1, rest


class _LaneWriter(_Writer):
    """Many states at once: rows of the scratch array for what crosses loops, local variables for everything else."""

    def __init__(self, graph: Graph, formats: Interface, laws: Laws) -> None:
        super().__init__(graph, formats, laws, np.float32, "{array}[{place}, first + i]")
        names = [node.name for node in graph.nodes if node.op is Op.INPUT]
        self.inputs = list(dict.fromkeys([*names, *(term.name for term in laws)]))
        self.places = {name: row * TILE for row, name in enumerate(self.inputs)}
        self.rows = len(self.inputs) + len(graph.outputs)

    def source(self) -> str:
        """Return the function's text."""
        lines = [f"def states({self.parameters}, scratch):", "    count = a0.shape[1]"]
        lines += [f"    for first in range(0, count - count % {TILE}, {TILE}):"]
        for name, place in self.places.items():
            lines += self._loop([f"scratch[{place} + i] = real({self.words[name].text})"])
        outputs = [(len(self.inputs) + k) * TILE for k in range(len(self.graph.outputs))]
        computed = [*self.statements()]
        results = zip(outputs, self.results("real({})"), strict=True)
        lines += self._loop([*computed, *(f"scratch[{place} + i] = {result}" for place, result in results)])
        for k, place in enumerate(outputs):
            lines += self._loop([f"out[{k}, first + i] = int64(scratch[{place} + i])"])
        return "\n".join(lines) + "\n"

    @staticmethod
    def _loop(lines: Sequence[str]) -> list[str]:
        return [f"        for i in range({TILE}):", *(f"            {line}" for line in lines)]

    def place_of(self, name: str) -> str:
        return f"int64(scratch[{self.places[name]} + i])"

    def read_input(self, k: int, node: Node) -> Iterator[str]:
        yield f"v{k} = {self.value(f'scratch[{self.places[node.name]} + i]', self.words[node.name])}"


def _sine_factors(degree: int) -> list[float]:
    """Return the factors of x, x³, x⁵, ... that interpolate the sine on ±90° at Chebyshev's points."""
    fit = np.polynomial.Chebyshev.interpolate(np.sin, degree + 1, domain=[-np.pi / 2, np.pi / 2])
    powers = fit.convert(kind=np.polynomial.Polynomial).coef
    return [float(factor) for factor in powers[1 : degree + 1 : 2]]

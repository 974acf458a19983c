"""The float baselines, called peers: the same graph, the same words in, the same words out, without tables.

    float64   customised: the traced recursion with libm's sine and cosine
    polynomial   the same with polynomials for sine and cosine on the reduced angle
    float32   the same in single precision with a sine table of 4096 entries: the strongest of them
    vector    for batches: float32 on structure of arrays, in the lanes of vector instructions

The vector peer takes word arrays (n, N), one contiguous row per joint, N a multiple of `TILE`. Its sine and cosine are
polynomials, so that nothing has to be gathered from a table. Sixty-four states are taken at a time: their words are
turned into floats in one scratch array, a constant apart, so that the compiler sees that nothing overlaps; the whole
graph is then one loop over the scratch array; torque words are written from there.

Conversion of words, scaling, rounding and clamping are part of each. They may contract and reorder operations as they
like (`fastmath`): nothing is proved of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numba
import numpy as np

from bddtorque.dynamics.graph import Graph, Node, Op
from bddtorque.words.formats import Format
from bddtorque.words.interface import Interface

PEERS = ("float64", "polynomial", "float32")
TABLE_BITS = 12
TILE = 64
"""States that the vector peer takes at once: what they need lies in the fastest cache."""

DEGREES = {np.float64: 17, np.float32: 9}
"""Of the polynomials for sines on ±90°: as close there as the last bit of a number."""
OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": True, "error_model": "numpy"}


@lru_cache(maxsize=16)  # both targets of an arm have the same peers
def peer(graph: Graph, formats: Interface, kind: str) -> Callable[..., None]:
    """Return a compiled function states(q, qd, qdd, tau) on word arrays (N, n) that computes a graph in floats."""
    writer = _RowWriter(graph, formats, kind)
    exec(compile(writer.source(), f"<bddtorque peer {kind}>", "exec"), writer.names)
    function: Callable[..., None] = numba.njit(**OPTIONS)(writer.names["states"])
    return function


@lru_cache(maxsize=16)
def vector_peer(graph: Graph, formats: Interface) -> tuple[Callable[..., None], int]:
    """Return a compiled function states(q, qd, qdd, tau, scratch), and how many float32 its scratch array must have."""
    writer = _LaneWriter(graph, formats)
    exec(compile(writer.source(), "<bddtorque vector peer>", "exec"), writer.names)
    function: Callable[..., None] = numba.njit(**OPTIONS | {"_nrt": False})(writer.names["states"])
    return function, writer.rows * TILE


class _Writer:
    """Writes a graph as Python statements that compute node k as v<k>; `names` are the globals of the code."""

    def __init__(self, graph: Graph, formats: Interface, real: Any) -> None:
        self.graph, self.formats = graph, formats
        self.names: dict[str, Any] = {"floor": np.floor, "sin": np.sin, "cos": np.cos, "int64": np.int64, "real": real}
        self._written: list[str] = []

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
        if source.op is not Op.INPUT or self.word_of(source)[2].offset != 0.0:  # a word is within half a turn as it is
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

    def value(self, units: str, word: Format) -> str:
        scale, begin = word.sign * word.lsb, word.sign * word.centre + word.offset
        return f"{units} * {self.constant(scale)} + {self.constant(begin)}"

    def torques(self, rounded: str) -> Iterator[str]:
        """Yield each torque as a rounded and clamped number of units."""
        for reference, word in zip(self.graph.outputs, self.formats.tau, strict=True):
            units = f"{self.take(reference)} * {self.constant(word.sign / word.lsb)}"
            units = rounded.format(f"floor({units} + {self.constant(0.5 - word.centre / word.lsb)})")
            yield f"min(max({units}, {self.constant(word.lowest)}), {self.constant(word.highest)})"

    def word_of(self, node: Node) -> tuple[str, int, Format]:
        """Return the quantity, the joint (from 0) and the format of an input of the graph, such as ``"qd2"``."""
        quantity = node.name.rstrip("0123456789")
        joint = int(node.name.removeprefix(quantity)) - 1
        return quantity, joint, getattr(self.formats, quantity)[joint]


class _RowWriter(_Writer):
    """One state after another."""

    def __init__(self, graph: Graph, formats: Interface, kind: str) -> None:
        super().__init__(graph, formats, np.float32 if kind == "float32" else np.float64)
        self.kind = kind

    def source(self) -> str:
        """Return the function's text."""
        lines = [*self.statements()]
        lines += [f"tau[s, {j}] = int({torque})" for j, torque in enumerate(self.torques("{}"))]
        body = "\n".join(f"        {line}" for line in lines)
        return f"def states(q, qd, qdd, tau):\n    for s in range(q.shape[0]):\n{body}\n"

    def read_input(self, k: int, node: Node) -> Iterator[str]:
        quantity, joint, word = self.word_of(node)
        yield f"w{k} = {quantity}[s, {joint}]"
        # of an angle in single precision the table is read by the word itself
        by_word = word.kind == "angle" and self.kind == "float32"
        yield f"v{k} = real(0)" if by_word else f"v{k} = {self.value(f'real(w{k})', word)}"

    def turn(self, k: int, node: Node) -> Iterator[str]:
        function = "sin" if node.op is Op.SINE else "cos"
        if self.kind == "float64":
            yield f"v{k} = {function}({self.take(node.left)})"
        elif self.kind == "polynomial":
            yield from super().turn(k, node)
        else:
            source, offset = self._angle(node)
            _, _, word = self.word_of(self.graph.nodes[source])
            turns = np.arange(1 << TABLE_BITS) / (1 << TABLE_BITS)
            angles = 2 * np.pi * turns * word.sign + word.offset + offset
            table = self.named("t", getattr(np, function)(angles).astype(np.float32))
            shift = word.bits - TABLE_BITS
            index = f"(w{source} >> {shift})" if shift > 0 else f"(w{source} << {-shift})"
            yield f"v{k} = {table}[{index} & {(1 << TABLE_BITS) - 1}]"

    def _angle(self, node: Node) -> tuple[int, float]:
        """Return the input and the constant of a sine's or cosine's argument, q or q + constant."""
        nodes = self.graph.nodes
        argument = nodes[node.left >> 1]
        if argument.op is Op.INPUT:
            return node.left >> 1, 0.0
        parts = [argument.left, argument.right]
        (source,) = [part >> 1 for part in parts if nodes[part >> 1].op is Op.INPUT]
        (rest,) = [part for part in parts if nodes[part >> 1].op is Op.CONSTANT]
        return source, nodes[rest >> 1].value * (-1 if rest & 1 else 1)


class _LaneWriter(_Writer):
    """Many states at once: rows of the scratch array for what crosses loops, local variables for everything else."""

    def __init__(self, graph: Graph, formats: Interface) -> None:
        super().__init__(graph, formats, np.float32)
        self.inputs = [(k, *self.word_of(node)) for k, node in enumerate(graph.nodes) if node.op is Op.INPUT]
        self.places = {k: row * TILE for row, (k, *_) in enumerate(self.inputs)}
        self.rows = len(self.inputs) + len(graph.outputs)

    def source(self) -> str:
        """Return the function's text."""
        lines = ["def states(q, qd, qdd, tau, scratch):", "    count = q.shape[1]"]
        lines += [f"    for first in range(0, count - count % {TILE}, {TILE}):"]
        for k, quantity, joint, _ in self.inputs:
            lines += self._loop([f"scratch[{self.places[k]} + i] = real({quantity}[{joint}, first + i])"])
        outputs = [(len(self.inputs) + joint) * TILE for joint in range(len(self.graph.outputs))]
        computed = [*self.statements()]
        torques = zip(outputs, self.torques("real({})"), strict=True)
        lines += self._loop([*computed, *(f"scratch[{place} + i] = {torque}" for place, torque in torques)])
        for joint, place in enumerate(outputs):
            lines += self._loop([f"tau[{joint}, first + i] = int64(scratch[{place} + i])"])
        return "\n".join(lines) + "\n"

    @staticmethod
    def _loop(lines: Sequence[str]) -> list[str]:
        return [f"        for i in range({TILE}):", *(f"            {line}" for line in lines)]

    def read_input(self, k: int, node: Node) -> Iterator[str]:
        yield f"v{k} = {self.value(f'scratch[{self.places[k]} + i]', self.word_of(node)[2])}"


def _sine_factors(degree: int) -> list[float]:
    """Return the factors of x, x³, x⁵, ... that interpolate the sine on ±90° at Chebyshev's points."""
    fit = np.polynomial.Chebyshev.interpolate(np.sin, degree + 1, domain=[-np.pi / 2, np.pi / 2])
    powers = fit.convert(kind=np.polynomial.Polynomial).coef
    return [float(factor) for factor in powers[1 : degree + 1 : 2]]

"""The peer for batches: customised float32 on structure of arrays, in the lanes of vector instructions.

    states(q, qd, qdd, tau, scratch)    word arrays (n, N), one contiguous row a joint, N a multiple of `TILE`

Sine and cosine are polynomials, so that nothing has to be gathered from a table. Sixty-four states are taken at a time:
their words are turned into floats in one scratch array, a constant apart, so that the compiler sees that nothing
overlaps; the whole graph is then one loop over the scratch array; torque words are written from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numba
import numpy as np

from bddtorque.bench.peers import word_of
from bddtorque.graph.graph import Graph, Op
from bddtorque.words import Formats

TILE = 64
"""States taken at once: what they need lies in the fastest cache."""

DEGREE = 9
"""Of the sine's polynomial on ±90°: below 10⁻⁷ there, the last bit of a float32."""


def _sine_factors() -> list[float]:
    """Return the factors of x, x³, x⁵, ... that interpolate the sine on ±90° at Chebyshev's points."""
    fit = np.polynomial.Chebyshev.interpolate(np.sin, DEGREE + 1, domain=[-np.pi / 2, np.pi / 2])
    powers = fit.convert(kind=np.polynomial.Polynomial).coef
    return [float(each) for each in powers[1 : DEGREE + 1 : 2]]


@lru_cache(maxsize=16)
def vector_peer(graph: Graph, formats: Formats) -> tuple[Callable[..., None], int]:
    """Return a compiled function states(q, qd, qdd, tau, scratch), and how many float32 its scratch array must have."""
    maker = _Maker(graph, formats)
    source = maker.source()
    exec(compile(source, "<bddtorque vector peer>", "exec"), maker.names)
    options: dict[str, Any] = {"nogil": True, "fastmath": True, "error_model": "numpy", "_nrt": False}
    function: Callable[..., None] = numba.njit(**options)(maker.names["states"])
    return function, maker.rows * TILE


class _Maker:
    """Writes the source: rows of the scratch array for what crosses loops, local variables for everything else."""

    def __init__(self, graph: Graph, formats: Formats) -> None:
        self.graph, self.formats = graph, formats
        self.names: dict[str, Any] = {"np": np, "floor": np.floor, "int64": np.int64, "single": np.float32}
        inputs = [(k, *word_of(node.name, formats)) for k, node in enumerate(graph.nodes) if node.op is Op.INPUT]
        self.inputs = inputs
        self.places = {k: row * TILE for row, (k, *_) in enumerate(inputs)}
        self.rows = len(inputs) + len(graph.outputs)

    def constant(self, value: float) -> str:
        name = f"c{len(self.names)}"
        self.names[name] = np.float32(value)
        return name

    def source(self) -> str:
        """Return the function's text."""
        lines = ["def states(q, qd, qdd, tau, scratch):", "    count = q.shape[1]"]
        lines += [f"    for first in range(0, count - count % {TILE}, {TILE}):"]
        for k, quantity, joint, _ in self.inputs:
            lines += self._loop([f"scratch[{self.places[k]} + i] = single({quantity}[{joint}, first + i])"])
        lines += self._loop([*self._computed()])
        for joint in range(len(self.graph.outputs)):
            lines += self._loop([f"tau[{joint}, first + i] = int64(scratch[{self._output(joint)} + i])"])
        return "\n".join(lines) + "\n"

    def _output(self, joint: int) -> int:
        return (len(self.inputs) + joint) * TILE

    @staticmethod
    def _loop(lines: Sequence[str]) -> list[str]:
        return [f"        for i in range({TILE}):", *(f"            {line}" for line in lines)]

    def _computed(self) -> Iterator[str]:
        written: list[str] = []

        def take(reference: int) -> str:
            return f"(-{written[reference >> 1]})" if reference & 1 else written[reference >> 1]

        for k, node in enumerate(self.graph.nodes):
            match node.op:
                case Op.INPUT:
                    _, _, word = word_of(node.name, self.formats)
                    scale, begin = word.sign * word.lsb, word.sign * word.centre + word.offset
                    value = f"scratch[{self.places[k]} + i] * {self.constant(scale)} + {self.constant(begin)}"
                case Op.CONSTANT:
                    written.append(self.constant(node.value))
                    continue
                case Op.SUM:
                    value = f"{take(node.left)} {'-' if node.right & 1 else '+'} {written[node.right >> 1]}"
                case Op.PRODUCT:
                    value = f"{take(node.left)} * {take(node.right)}"
                case _:
                    yield from self._turned(k, take(node.left), node.op is Op.COSINE)
                    written.append(f"v{k}")
                    continue
            yield f"v{k} = {value}"
            written.append(f"v{k}")
        for joint, (reference, word) in enumerate(zip(self.graph.outputs, self.formats.tau, strict=True)):
            units = f"{take(reference)} * {self.constant(word.sign / word.lsb)}"
            units = f"single(floor({units} + {self.constant(0.5 - word.centre / word.lsb)}))"
            ends = f"{self.constant(word.lowest)}), {self.constant(word.highest)}"
            yield f"scratch[{self._output(joint)} + i] = min(max({units}, {ends})"

    def _turned(self, k: int, angle: str, cosine: bool) -> Iterator[str]:
        """Yield a sine or cosine: the angle brought to ±180°, folded to ±90°, then a polynomial."""
        yield f"a{k} = {angle}"
        if not self._is_word(k):  # a word is within half a turn as it is
            turns = f"floor(a{k} * {self.constant(0.5 / np.pi)} + {self.constant(0.5)})"
            yield f"a{k} = a{k} - single({turns}) * {self.constant(2 * np.pi)}"
        half = self.constant(np.pi)
        if cosine:
            yield f"y{k} = {self.constant(np.pi / 2)} - abs(a{k})"
        else:
            yield f"y{k} = max(min(a{k}, {half} - a{k}), -{half} - a{k})"
        yield f"z{k} = y{k} * y{k}"
        *factors, total = [self.constant(each) for each in _sine_factors()]
        for factor in reversed(factors):
            total = f"({total} * z{k} + {factor})"
        yield f"v{k} = y{k} * {total}"

    def _is_word(self, k: int) -> bool:
        """Whether what a sine or cosine is taken of is the word of an angle and nothing else."""
        source = self.graph.nodes[self.graph.nodes[k].left >> 1]
        return source.op is Op.INPUT and word_of(source.name, self.formats)[2].offset == 0.0

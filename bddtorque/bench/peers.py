"""The peers: what a person would write instead of tables; the same graph, the same words in, the same words out.

    float64   customised: the traced recursion with libm's sine and cosine
    polynomial   the same with a polynomial sine-cosine on the reduced angle
    float32   the same in single precision with a sine table of 4096 entries: the strongest of them

Conversion of words, scaling, rounding and clamping are part of each. They may contract and reorder operations as they
like (`fastmath`): nothing is proved of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numba
import numpy as np

from bddtorque.graph.graph import Graph, Node, Op
from bddtorque.words import Format, Formats

PEERS = ("float64", "polynomial", "float32")
TABLE_BITS = 12

SINE = (1.0, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880, -1 / 39916800, 1 / 6227020800)
COSINE = (1.0, -1 / 2, 1 / 24, -1 / 720, 1 / 40320, -1 / 3628800, 1 / 479001600)
"""Taylor's series to x¹³ and x¹²: below 10⁻¹³ on ±45°."""


@lru_cache(maxsize=16)  # both targets of an arm have the same peers
def peer(graph: Graph, formats: Formats, kind: str) -> Callable[..., None]:
    """Return a compiled function states(q, qd, qdd, tau) on word arrays (N, n) that computes a graph in floats."""
    names: dict[str, Any] = {"floor": np.floor, "sin": np.sin, "cos": np.cos, "real": np.float64}
    if kind == "float32":
        names["real"] = np.float32
    if kind == "polynomial":
        names["sine_cosine"] = numba.njit(inline="always", fastmath=True)(_sine_cosine)
    lines = list(_lines(graph, formats, kind, names))
    body = "\n".join(f"        {line}" for line in lines)
    source = f"def states(q, qd, qdd, tau):\n    for s in range(q.shape[0]):\n{body}\n"
    exec(compile(source, f"<bddtorque peer {kind}>", "exec"), names)
    function: Callable[..., None] = numba.njit(nogil=True, fastmath=True, error_model="numpy")(names["states"])
    return function


def _lines(graph: Graph, formats: Formats, kind: str, names: dict[str, Any]) -> Iterator[str]:
    written: list[str] = []

    def constant(value: float) -> str:
        name = f"c{len(names)}"
        names[name] = names["real"](value)
        return name

    def take(reference: int) -> str:
        return f"(-{written[reference >> 1]})" if reference & 1 else written[reference >> 1]

    for k, node in enumerate(graph.nodes):
        match node.op:
            case Op.INPUT:
                yield from _input(node, k, formats, kind, constant)
                written.append(f"v{k}")
                continue
            case Op.CONSTANT:
                written.append(constant(node.value))
                continue
            case Op.SUM:
                value = f"{take(node.left)} {'-' if node.right & 1 else '+'} {written[node.right >> 1]}"
            case Op.PRODUCT:
                value = f"{take(node.left)} * {take(node.right)}"
            case _:
                value = _turned(graph, node, formats, kind, names, take(node.left))
        yield f"v{k} = {value}"
        written.append(f"v{k}")
    for j, (reference, word) in enumerate(zip(graph.outputs, formats.tau, strict=True)):
        units = (
            f"floor({take(reference)} * {constant(word.sign / word.lsb)} + {constant(0.5 - word.centre / word.lsb)})"
        )
        yield f"tau[s, {j}] = int(min(max({units}, {constant(word.lowest)}), {constant(word.highest)}))"


def _input(node: Node, k: int, formats: Formats, kind: str, constant: Callable[[float], str]) -> Iterator[str]:
    quantity, joint, word = word_of(node.name, formats)
    yield f"w{k} = {quantity}[s, {joint}]"
    if word.kind == "angle" and kind == "float32":
        yield f"v{k} = real(0)"  # the table is read by the word itself
        return
    yield f"v{k} = real(w{k}) * {constant(word.sign * word.lsb)} + {constant(word.sign * word.centre + word.offset)}"


def _turned(graph: Graph, node: Node, formats: Formats, kind: str, names: dict[str, Any], angle: str) -> str:
    function = "sin" if node.op is Op.SINE else "cos"
    if kind == "float64":
        return f"{function}({angle})"
    if kind == "polynomial":
        return f"sine_cosine({angle})[{int(node.op is Op.COSINE)}]"
    source, offset = _angle(graph, node)
    _, _, word = word_of(graph.nodes[source].name, formats)
    turns = np.arange(1 << TABLE_BITS) / (1 << TABLE_BITS)
    table = getattr(np, function)(2 * np.pi * turns * word.sign + word.offset + offset).astype(np.float32)
    name = f"t{len(names)}"
    names[name] = table
    shift = word.bits - TABLE_BITS
    index = f"(w{source} >> {shift})" if shift > 0 else f"(w{source} << {-shift})"
    return f"{name}[{index} & {(1 << TABLE_BITS) - 1}]"


def _angle(graph: Graph, node: Node) -> tuple[int, float]:
    """Return the input and the constant of a sine's or cosine's argument, q or q + constant."""
    argument = graph.nodes[node.left >> 1]
    if argument.op is Op.INPUT:
        return node.left >> 1, 0.0
    parts = [argument.left, argument.right]
    (source,) = [part >> 1 for part in parts if graph.nodes[part >> 1].op is Op.INPUT]
    (rest,) = [part for part in parts if graph.nodes[part >> 1].op is Op.CONSTANT]
    return source, graph.nodes[rest >> 1].value * (-1 if rest & 1 else 1)


def word_of(name: str, formats: Formats) -> tuple[str, int, Format]:
    """Return the quantity, the joint (from 0) and the format of an input of a graph, such as ``"qd2"``."""
    quantity = name.rstrip("0123456789")
    joint = int(name.removeprefix(quantity)) - 1
    return quantity, joint, getattr(formats, quantity)[joint]


def _sine_cosine(x: float) -> tuple[float, float]:
    """Return sine and cosine by polynomials on ±45° and the quadrant."""
    k = np.floor(x * 0.6366197723675814 + 0.5)
    y = x - k * 1.5707963267948966
    z = y * y
    s, c = SINE[6], COSINE[6]
    for degree in range(5, -1, -1):
        s = s * z + SINE[degree]
        c = c * z + COSINE[degree]
    s = s * y
    quadrant = int(k) & 3
    sine = c if quadrant & 1 else s
    cosine = s if quadrant & 1 else c
    return -sine if quadrant & 2 else sine, -cosine if (quadrant + 1) & 2 else cosine

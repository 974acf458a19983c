"""Graphs as source code: one straight-line function, compiled by Numba."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np

from bddtorque.dynamics.graph import Graph, Op


def python_source(graph: Graph, name: str = "evaluate") -> str:
    """Return a function of the graph's inputs (in the order of `input_names`) that returns a tuple of its outputs.

    Only names of our own making and numbers appear in it: inputs are called x0, x1, ... whatever their names.
    """
    arguments = {name_: f"x{k}" for k, name_ in enumerate(graph.input_names)}
    lines = [f"def {name}({', '.join(arguments.values())}):"]
    written: list[str] = []

    def take(reference: int) -> str:
        text = written[reference >> 1]
        return f"(-{text})" if reference & 1 else text

    for index, node in enumerate(graph.nodes):
        if node.op is Op.INPUT:
            written.append(arguments[node.name])
            continue
        if node.op is Op.CONSTANT:
            written.append(repr(node.value))
            continue
        match node.op:
            case Op.SUM:
                sign = "-" if node.right & 1 else "+"
                value = f"{take(node.left)} {sign} {written[node.right >> 1]}"
            case Op.PRODUCT:
                value = f"{take(node.left)} * {take(node.right)}"
            case Op.SINE:
                value = f"sin({take(node.left)})"
            case _:
                value = f"cos({take(node.left)})"
        lines.append(f"    v{index} = {value}")
        written.append(f"v{index}")
    lines.append(f"    return ({', '.join(map(take, graph.outputs))},)")
    return "\n".join(lines) + "\n"


def numba_rows(graph: Graph, inputs: Sequence[str]) -> Callable[..., None]:
    """Return the graph as a compiled function f(rows, out) on float64 arrays (N, inputs) and (N, outputs).

    `inputs` names the columns of `rows`; a column that the graph does not read is passed over.
    """
    row = _defined("evaluate", python_source(graph), {"sin": np.sin, "cos": np.cos})
    arguments = ", ".join(f"rows[k, {inputs.index(name)}]" for name in graph.input_names)
    targets = ", ".join(f"out[k, {k}]" for k in range(len(graph.outputs)))
    loop = f"def run(rows, out):\n    for k in range(len(rows)):\n        {targets}, = row({arguments})\n"
    compiled = numba.njit(nogil=True)(row)
    function: Callable[..., None] = numba.njit(nogil=True)(_defined("run", loop, {"row": compiled}))
    return function


def _defined(name: str, source: str, names: dict[str, Any]) -> Callable[..., Any]:
    """Return the function `name` that our own source text defines; tracebacks show its lines."""
    place = f"<bddtorque graph {abs(hash(source)):x}>"
    linecache.cache[place] = (len(source), None, source.splitlines(keepends=True), place)
    namespace = dict(names)
    exec(compile(source, place, "exec"), namespace)
    function: Callable[..., Any] = namespace[name]
    return function

"""What a compiled function or quantity is compared with, here and in the page's script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.quantity_origin import origins_of
from bddtorque.graph.graph import Graph, Op
from bddtorque.laws.law import Law
from bddtorque.model.model import Model
from bddtorque.model.quantity_truth import true_values
from bddtorque.model.source import FunctionSource, QuantitySource
from bddtorque.plan.blocks import LawBlock

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.int64]

CLOSE = 1e-4
"""Units of the last bit that the graph in a page may differ from the true values: the page shows three digits."""
MOST_NUMBERS = 20_000
"""Numbers of a law, or nodes of a graph, that go along with a page."""


def true_units(model: Model, words: Mapping[str, Words]) -> Floats | None:
    """Return the true outputs in units of their words, (N, outputs), at words (N,) by name.

    None where nobody knows them but the function that was compiled.
    """
    source = model.source
    outputs = list(source.outputs.values())
    if isinstance(source, QuantitySource):
        values = true_values(source, words)
    elif isinstance(source, FunctionSource):
        arguments = {name: word.dequantise(words[name]) for name, word in source.words.items()}
        if source.graph is not None:
            values = _graph_values(source.graph, arguments)
        elif (law := _law(model)) is not None:
            values = np.asarray(law(*arguments.values()))[:, None]
        else:
            return None
    else:
        raise TypeError(f"{source.kind} has torques: use sweeps.measuring")
    return np.stack([word.units(values[:, k]) for k, word in enumerate(outputs)], axis=1)


def page_truth(model: Model, words: Mapping[str, Words]) -> dict[str, Any] | None:
    """Return plain data that `page/functions.js` computes the true outputs from; None where it cannot.

    `words` (N,) by name are tried first: a graph that does not give the true values there stays out.
    """
    source = model.source
    if isinstance(source, FunctionSource) and source.graph is None:
        law = _law(model)
        plain = None if law is None else law.to_plain()
        small = plain is not None and _numbers(plain) <= MOST_NUMBERS
        return {"law": plain} if small else None
    graph = source.graph if isinstance(source, FunctionSource) else _quantity_graph(model)
    names = list(source.words)
    if graph is None or len(graph.nodes) > MOST_NUMBERS or not set(graph.input_names) <= set(names):
        return None
    arguments = {name: word.dequantise(words[name]) for name, word in source.words.items()}
    found, true = _graph_values(graph, arguments), true_units(model, words)
    units = np.stack([word.units(found[:, k]) for k, word in enumerate(source.outputs.values())], axis=1)
    if true is None or not np.allclose(units, true, rtol=0, atol=CLOSE):
        return None
    nodes = [
        [int(node.op), node.value if node.op is Op.CONSTANT else names.index(node.name)]
        if node.op in (Op.INPUT, Op.CONSTANT)
        else [int(node.op), *node.operands]
        for node in graph.nodes
    ]
    return {"graph": {"nodes": nodes, "outputs": list(graph.outputs)}}


def _graph_values(graph: Graph, arguments: Mapping[str, Floats]) -> Floats:
    """Return the outputs of a graph, (N, outputs)."""
    count = len(next(iter(arguments.values())))
    return np.stack([np.broadcast_to(value, count) for value in graph.evaluate(arguments)], axis=1)


def _quantity_graph(model: Model) -> Graph | None:
    """Return the graph of a quantity, over its words' values; None for those with friction, which is no part of it."""
    try:
        return None if model.robot.has_friction else origins_of(model.spec, model.robot)[0].graph
    except BddTorqueError:
        return None


def _law(model: Model) -> Law | None:
    """Return the law that a function's one table was made of, if it was."""
    blocks = model.plan.blocks
    return blocks[0].law if len(blocks) == 1 and isinstance(blocks[0], LawBlock) else None


def _numbers(plain: Any) -> int:
    if isinstance(plain, dict):
        return sum(map(_numbers, plain.values()))
    return sum(map(_numbers, plain)) if isinstance(plain, list | tuple) else 1

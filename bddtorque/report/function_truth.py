"""What the page's script compares a compiled function or quantity with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.origin import origins_of
from bddtorque.dynamics.graph import Graph, Op
from bddtorque.model.model import Model
from bddtorque.model.provenance import graph_values
from bddtorque.plan.blocks import LawBlock

Words = npt.NDArray[np.int64]

CLOSE = 1e-4
"""Units of the last bit that the graph in a page may differ from the true values: the page shows three digits."""
MOST_NUMBERS = 20_000
"""Numbers of a law, or nodes of a graph, that go along with a page."""


def page_truth(model: Model, words: Mapping[str, Words]) -> dict[str, Any] | None:
    """Return plain data that `page/functions.js` computes the true outputs from; None where it cannot.

    `words` (N,) by name are tried first: a graph that does not give the true values there stays out.
    """
    graph, blocks = model.provenance.graph, model.plan.blocks
    if model.provenance.robot is None and graph is None:
        plain = blocks[0].law.to_plain() if len(blocks) == 1 and isinstance(blocks[0], LawBlock) else None
        small = plain is not None and _numbers(plain) <= MOST_NUMBERS
        return {"law": plain} if small else None
    graph = graph or _quantity_graph(model)
    names = list(model.formats.words)
    if graph is None or len(graph.nodes) > MOST_NUMBERS or not set(graph.input_names) <= set(names):
        return None
    arguments = {name: word.dequantise(words[name]) for name, word in model.formats.words.items()}
    found, true = graph_values(graph, arguments), model.true_units(words)
    units = np.stack([word.units(found[:, k]) for k, word in enumerate(model.formats.results.values())], axis=1)
    if true is None or not np.allclose(units, true, rtol=0, atol=CLOSE):
        return None
    nodes = [
        [int(node.op), node.value if node.op is Op.CONSTANT else names.index(node.name)]
        if node.op in (Op.INPUT, Op.CONSTANT)
        else [int(node.op), *node.operands]
        for node in graph.nodes
    ]
    return {"graph": {"nodes": nodes, "outputs": list(graph.outputs)}}


def _quantity_graph(model: Model) -> Graph | None:
    """Return the graph of a quantity, over its words' values; None for those with friction, which is no part of it."""
    try:
        return None if model.robot.has_friction else origins_of(model.spec, model.robot, model.formats.inputs)[0].graph
    except BddTorqueError:
        return None


def _numbers(plain: Any) -> int:
    if isinstance(plain, dict):
        return sum(map(_numbers, plain.values()))
    return sum(map(_numbers, plain)) if isinstance(plain, list | tuple) else 1

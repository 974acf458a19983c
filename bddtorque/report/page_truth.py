"""What the page's script computes true outputs from: a graph over the input words, and laws that are added to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.compiler.true_graph import TrueGraph, true_graph
from bddtorque.dynamics.graph import Op
from bddtorque.model.model import Model
from bddtorque.model.provenance import derived_values, graph_values

Words = npt.NDArray[np.int64]

CLOSE = 1e-4
"""Units of the last bit that the graph in a page may differ from the true values: the page shows three digits."""
MAX_NUMBERS = 20_000
"""Numbers of laws and nodes of a graph that go along with a page: some 400 kB of text."""


def page_truth(model: Model, words: Mapping[str, Words]) -> dict[str, Any] | None:
    """Return plain data that `page/truth.js` computes the true outputs from; None where it cannot.

    `words` (N,) by name are tried first: what does not give the true values there stays out.
    """
    known, formats = true_graph(model), model.formats
    if known is None:
        return None
    graph, names = known.graph, [*formats.words, *(word.name for word in formats.derived)]
    laws = [[output, [names.index(name) for name in read], law.to_plain()] for output, read, law in known.laws]
    if len(graph.nodes) + _numbers(laws) > MAX_NUMBERS or not _gives_true_values(model, known, words):
        return None
    nodes = [
        [int(node.op), node.value if node.op is Op.CONSTANT else names.index(node.name)]
        if node.op in (Op.INPUT, Op.CONSTANT)
        else [int(node.op), *node.operands]
        for node in graph.nodes
    ]
    derived = [
        {
            "parts": [[names.index(name), factor] for name, factor in word.parts],
            "bits": word.argument.bits,
            "scale": float(word.argument.scale),
        }
        for word in formats.derived
    ]
    return {"graph": {"nodes": nodes, "outputs": list(graph.outputs)}, "laws": laws, "derived": derived}


def _gives_true_values(model: Model, known: TrueGraph, words: Mapping[str, Words]) -> bool:
    formats, true = model.formats, model.true_units(words)
    arguments = {name: word.dequantise(words[name]) for name, word in formats.words.items()}
    arguments |= derived_values(formats, words)
    values = graph_values(known.graph, arguments)
    for output, read, law in known.laws:
        values[:, output] += law(*(arguments[name] for name in read))
    units = np.stack([word.units(values[:, k]) for k, word in enumerate(formats.results.values())], axis=1)
    return true is not None and np.allclose(units, true, rtol=0, atol=CLOSE)


def _numbers(plain: Any) -> int:
    if isinstance(plain, dict):
        return sum(map(_numbers, plain.values()))
    return sum(map(_numbers, plain)) if isinstance(plain, list | tuple) else 1

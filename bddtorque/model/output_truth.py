"""The true outputs of a compiled function or quantity in float64: what its words are compared with."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.graph import Graph
from bddtorque.model.model import Model
from bddtorque.model.quantity_truth import true_values
from bddtorque.model.source import FunctionSource, QuantitySource
from bddtorque.plan.blocks import LawBlock
from bddtorque.words.law import Law

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.int64]


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
            values = graph_values(source.graph, arguments)
        elif (law := law_of(model)) is not None:
            values = np.asarray(law(*arguments.values()))[:, None]
        else:
            return None
    else:
        raise TypeError(f"{source.kind} has torques: use sweeps.measuring")
    return np.stack([word.units(values[:, k]) for k, word in enumerate(outputs)], axis=1)


def graph_values(graph: Graph, arguments: Mapping[str, Floats]) -> Floats:
    """Return the outputs of a graph, (N, outputs)."""
    count = len(next(iter(arguments.values())))
    return np.stack([np.broadcast_to(value, count) for value in graph.evaluate(arguments)], axis=1)


def law_of(model: Model) -> Law | None:
    """Return the law that a function's one table was made of, if it was."""
    blocks = model.plan.blocks
    return blocks[0].law if len(blocks) == 1 and isinstance(blocks[0], LawBlock) else None

"""States of a model for its page: where the page begins, and states whose words are compared with true values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from itertools import cycle
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.compiler.origin import TrueGraph, true_graph
from bddtorque.dynamics.graph import Op
from bddtorque.model.model import Model
from bddtorque.model.provenance import derived_values, graph_values
from bddtorque.sweeps.states import by_array, by_name, input_arrays
from bddtorque.words.formats import Format
from bddtorque.words.interface import Interface

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

RANDOM_STATES, CORNER_STATES = 4096, 512
"""States that every report compares with true values."""
MAX_ALL_BITS = 16
"""Input bits up to which all states are compared: 65,536 take some tenths of a second."""
CHECKS = 96
"""States whose words go along with the page, so that every page compares itself with the evaluator."""
SHARES = ((0.09, -0.17, 0.21, -0.12, 0.15, -0.08, 0.11), (0.3, -0.22, 0.26, -0.31, 0.19), (-0.24, 0.29, 0.2, -0.27))
"""Of the whole of each word's range, by array and then word: where a page begins; an arm is bent, and moves."""
CLOSE = 1e-4
"""Units of the last bit that the graph in a page may differ from the true values: the page shows three digits."""
MAX_NUMBERS = 20_000
"""Numbers of laws and nodes of a graph that go along with a page: some 400 kB of text."""
MOVING = ("qd", "qdd")
"""Arrays of velocities and accelerations, and how the names of those that are desired begin."""


class ComparedStates:
    """Input words of a model as rows (N, inputs) in the order of `Interface.words`, and the outputs there."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.words: list[Format] = list(model.formats.words.values())
        self.outputs: list[Format] = list(model.formats.results.values())
        self.start = start_words(model.formats)  # that the page begins with
        self.rest = rest_words(model)
        compared = self._compared()
        found, true = self.output_words(compared), self.true_units(compared)
        # states, largest: how many were compared with true values, and the largest error of each output, in units;
        # none where nobody knows the true values
        self.states = 0
        self.largest: tuple[float, ...] = ()
        if true is not None:
            low, high = ([getattr(word, end) for word in self.outputs] for end in ("lowest", "highest"))
            errors = np.abs(found - np.clip(true, low, high)).max(axis=0)
            self.states, self.largest = len(compared), tuple(errors.tolist())
        few = np.linspace(0, len(compared) - 1, min(CHECKS, len(compared))).astype(np.int64)
        self.checks = compared[few], found[few]  # input words and output words
        self.truth = page_truth(
            model, by_name(model.formats, compared[few].T)
        )  # None if a page cannot compute true outputs

    def _compared(self) -> Integers:
        """Return all input words there are, or random ones and corners."""
        if sum(word.bits for word in self.words) <= MAX_ALL_BITS:
            axes = [np.arange(word.lowest, word.highest + 1) for word in self.words]
            return np.stack([column.reshape(-1) for column in np.meshgrid(*axes, indexing="ij")], axis=1)
        rng = np.random.default_rng(0)
        columns = [
            np.concatenate(
                [
                    rng.integers(word.lowest, word.highest, RANDOM_STATES, endpoint=True),
                    rng.choice(word.held([word.lowest, -1, 0, 1, word.highest]), CORNER_STATES),
                ]
            )
            for word in self.words
        ]
        return np.stack(columns, axis=1)

    def output_words(self, words: Integers) -> Integers:
        """Return the output words (N, outputs)."""
        formats = self.model.formats
        return np.asarray(self._evaluator.output_words(**input_arrays(formats, by_array(formats, words.T))))

    @cached_property
    def _evaluator(self) -> Any:
        return self.model.evaluator()

    def true_units(self, words: Integers) -> Floats | None:
        """Return the true outputs (N, outputs) in units; None where nobody knows them."""
        return self.model.true_units(by_name(self.model.formats, words.T))


def start_words(formats: Interface) -> list[int]:
    """Return the input words that a page begins with, which show something of everything."""
    words = []
    for place, array in enumerate(formats.inputs):
        shares = SHARES[place % len(SHARES)] if array.shape else (SHARES[0][place % len(SHARES[0])],)
        words += [
            _within_limits(word, round(share * (1 << word.bits)))
            for word, share in zip(array, cycle(shares), strict=False)
        ]
    return words


def rest_words(model: Model) -> list[int | None] | None:
    """Return the input words nearest to zero for velocities and accelerations, None for others; None if all are."""
    words: list[int | None] = []
    for array in model.formats.inputs:
        moves = model.provenance.robot is not None and array.name.partition("_")[0] in MOVING
        words += [int(word.quantise(0.0)) if moves else None for word in array]
    return None if all(word is None for word in words) else words


def _within_limits(word: Format, place: int) -> int:
    """Return a word within the limits that an angle may have."""
    low, high = word.lowest, word.highest
    if word.kind == "angle":
        low = max(low, math.ceil(word.low / word.lsb)) if word.low > -math.pi else low
        high = min(high, math.floor(word.high / word.lsb)) if word.high < math.pi else high
    return min(max(place, low), high)


def page_truth(model: Model, words: Mapping[str, Integers]) -> dict[str, Any] | None:
    """Return plain data that `page/truth.js` computes the true outputs from; None where it cannot.

    `words` (N,) by name are tried first: what does not give the true values there stays out.
    """
    known, formats = true_graph(model), model.formats
    if known is None:
        return None
    graph, names = known.graph, [*formats.words, *(word.name for word in formats.derived)]
    laws = [[term.output, [names.index(name) for name in term.names], term.law.to_plain()] for term in known.laws]
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


def _gives_true_values(model: Model, known: TrueGraph, words: Mapping[str, Integers]) -> bool:
    formats, true = model.formats, model.true_units(words)
    arguments = {name: word.dequantise(words[name]) for name, word in formats.words.items()}
    arguments |= derived_values(formats, words)
    values = graph_values(known.graph, arguments)
    for term in known.laws:
        values[:, term.output] += term.law(*(arguments[name] for name in term.names))
    units = np.stack([word.units(values[:, k]) for k, word in enumerate(formats.results.values())], axis=1)
    return true is not None and np.allclose(units, true, rtol=0, atol=CLOSE)


def _numbers(plain: Any) -> int:
    if isinstance(plain, dict):
        return sum(map(_numbers, plain.values()))
    return sum(map(_numbers, plain)) if isinstance(plain, list | tuple) else 1

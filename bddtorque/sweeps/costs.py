"""What a model takes: bytes of its file and its tables, and the time of a state beside its true values in float64."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bddtorque.model.model import Model
from bddtorque.sweeps.states import by_name, random_words

STATES, ROUNDS = 8192, 7


@dataclass(frozen=True)
class ModelCost:
    """Size and speed of a model."""

    # file_bytes, table_bytes, nodes: of the .bdt file, of the dense tables, of the diagrams
    file_bytes: int
    table_bytes: int
    nodes: int
    form: str  # how the evaluator `words` ran it
    nanoseconds: float  # median processor time of a state in a batch, words to words, on one core
    float_nanoseconds: float  # that of the true value in float64, run in turn with it

    @property
    def ratio(self) -> float:
        """Time of a state as a share of the true value's in float64: what may be compared between machines and runs."""
        return self.nanoseconds / self.float_nanoseconds

    def to_plain(self) -> dict[str, Any]:
        """Return numbers by name."""
        return {
            "file_bytes": self.file_bytes,
            "table_bytes": self.table_bytes,
            "nodes": self.nodes,
            "form": self.form,
            "ns_per_state": self.nanoseconds,
            "float_ns_per_state": self.float_nanoseconds,
            "ratio": self.ratio,
        }


def cost_of(model: Model, file_bytes: int) -> ModelCost:
    """Return what a model takes, its time measured here and now on random words.

    `file_bytes` is the length of its .bdt file.
    """
    words = random_words(model.formats, STATES, 0)
    arrays = {array.name: array.shaped(own) for array, own in zip(model.formats.inputs, words, strict=True)}
    named = by_name(model.formats, np.hstack(words).T)
    evaluator = model.evaluator("words", on_range="saturate")
    runs: list[Callable[[], Any]] = [
        lambda: evaluator.output_words(**arrays),
        lambda: model.true_values(named),
    ]
    seconds: list[list[float]] = [[], []]
    for _ in range(ROUNDS + 1):
        for run, own in zip(runs, seconds, strict=True):
            started = time.thread_time()  # others that use the machine do not count
            run()
            own.append(time.thread_time() - started)
    compiled, floats = (statistics.median(own[1:]) / STATES * 1e9 for own in seconds)  # the first warms up
    return ModelCost(
        file_bytes,
        sum(table.stored_bytes for table in model.tables),
        sum(diagram.node_count for diagram in model.diagrams),
        evaluator.form,
        compiled,
        floats,
    )

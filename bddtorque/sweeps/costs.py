"""What a model takes: bytes of its file and its tables, and the time of a state beside float Newton-Euler."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bddtorque.dynamics.batch import inverse_dynamics
from bddtorque.model.model import Model
from bddtorque.sweeps.states import random_words

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
    float_nanoseconds: float  # that of float Newton-Euler, run in turn with it

    @property
    def ratio(self) -> float:
        """Time of a state as a share of float Newton-Euler's: what may be compared between machines and runs."""
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
    values = [kind.dequantise(each) for kind, each in zip(model.formats.inputs, words, strict=True)]
    evaluator = model.evaluator("words", on_range="saturate")
    runs: list[Callable[[], Any]] = [
        lambda: evaluator.torque_words(*words),
        lambda: inverse_dynamics(model.robot, *values),
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

"""What is measured of a compiled quantity other than torques: batches and single calls, beside general float64 code."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.bench.timing import CALLS, Call, calling, in_turn
from bddtorque.model.model import Model
from bddtorque.model.quantity_truth import true_values
from bddtorque.model.source import QuantitySource

GENERAL = "general float64 code, batch"


@dataclass(frozen=True)
class QuantityReport:
    """What `measure_quantity` found."""

    # robot, quantity, target, source: the model's
    robot: str
    quantity: str
    target: str
    source: str
    bits: tuple[int, ...]  # of the output words
    bound: float  # proved, of the worst output, in units of the last bit
    # nanoseconds of one state; ratios are multiples of general float64 code for batches, round by round
    calls: tuple[Call, ...]

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self)


def measure_quantity(model: Model, states: int, rounds: int, seed: int = 0) -> QuantityReport:
    """Measure a compiled quantity: a batch of random words, and single calls of kernel, `words` and `value`."""
    source = model.source
    if not isinstance(source, QuantitySource):
        raise BddTorqueError("measure_quantity takes a model of a quantity other than torques")
    random = np.random.default_rng(seed)
    columns = {
        name: random.integers(word.lowest, word.highest, states, endpoint=True) for name, word in source.words.items()
    }
    arrays = {name: np.stack(words, axis=1) for name, words in source.arrays.grouped(columns).items()}
    first = [each[0].copy() for each in arrays.values()]
    floats = [array.dequantise(each) for array, each in zip(source.arrays.inputs, first, strict=True)]
    evaluator, out = model.evaluator("words"), np.empty(len(model.plan.outputs), dtype=np.int64)
    ways = {
        "words, batch": (calling(lambda: evaluator.output_words(**arrays)), 1, states),
        "kernel, one call from Python": (calling(model.kernel(), *first, out), CALLS, 1),
        "words, one call from Python": (calling(model.words, *first), CALLS // 20, 1),
        "value, one call from Python": (calling(model.value, *floats), CALLS // 20, 1),
        GENERAL: (calling(lambda: true_values(source, columns)), 1, states),
    }
    found = in_turn(ways, rounds, GENERAL)
    bits = tuple(word.bits for word in source.outputs.values())
    return QuantityReport(
        model.robot.name, source.spec.quantity, model.plan.target, model.plan.source, bits,
        max(model.certificate.bounds), tuple(found),
    )  # fmt: skip

"""What is measured of a compiled quantity other than torques: batches and single calls, beside general float64 code."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.bench.timing import CALLS, Call, calling, in_turn
from bddtorque.model.model import Model

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
    formats = model.formats
    if not model.provenance.other_quantity:
        raise BddTorqueError("measure_quantity takes a model of a quantity other than torques")
    random = np.random.default_rng(seed)
    columns = {
        name: random.integers(word.lowest, word.highest, states, endpoint=True) for name, word in formats.words.items()
    }
    arrays = {name: np.stack(words, axis=1) for name, words in formats.grouped(columns).items()}
    first = [each[0].copy() for each in arrays.values()]
    floats = [array.dequantise(each) for array, each in zip(formats.inputs, first, strict=True)]
    evaluator, out = model.evaluator("words"), np.empty(len(model.plan.outputs), dtype=np.int64)
    ways = {
        "words, batch": (calling(lambda: evaluator.output_words(**arrays)), 1, states),
        "kernel, one call from Python": (calling(model.kernel(), *first, out), CALLS, 1),
        "words, one call from Python": (calling(model.words, *first), CALLS // 20, 1),
        "value, one call from Python": (calling(model.value, *floats), CALLS // 20, 1),
        GENERAL: (calling(lambda: model.true_values(columns)), 1, states),
    }
    found = in_turn(ways, rounds, GENERAL)
    bits = tuple(word.bits for word in formats.results.values())
    return QuantityReport(
        model.robot.name, model.quantity, model.plan.target, model.plan.source, bits,
        max(model.certificate.bounds), tuple(found),
    )  # fmt: skip

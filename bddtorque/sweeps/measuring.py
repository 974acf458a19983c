"""Measure one part of a sweep: a pure function on plain data, for any worker.

Three errors, each in units of the output's last bit, the truth being float64 clamped to the output's words:

    tables   compiled − truth at the exact values of the input words: what the certificate bounds
    inputs   truth at the values of the input words − truth at the states: what the words of the sensors cost
    total    compiled − truth at the states

Memory is that of one batch: largest errors, sums of squares and counts in bins are kept, never the errors themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.jit import DISABLE_JIT
from bddtorque.model.applicability import require
from bddtorque.model.model import Model, from_bytes
from bddtorque.sweeps.figures import float_error
from bddtorque.sweeps.states import Given, Part, by_array, by_name, units_of
from bddtorque.sweeps.tallying import BINS, BINS_PER_OCTAVE, MIN_OCTAVE, PICTURE_BINS, round_units, tally
from bddtorque.sweeps.truth_code import TruthCode, truth_code
from bddtorque.words.interface import Interface

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.int64]

ANY_SIZE = 1 << 62
"""Bytes: a model that this very process holds already is not too large for it."""


@dataclass(frozen=True)
class SweptModel:
    """What is measured: a model, and how it is run: words (N, words) of every input array in, output words out."""

    model: Model
    run: Callable[..., Words]
    traced: TruthCode | None = None  # the true values as code for this model alone; else they are the model's own

    @property
    def formats(self) -> Interface:
        """The words of the model."""
        return self.model.formats

    @property
    def proved(self) -> Floats:
        """What is proved of the error of each output, in units."""
        return np.array(self.model.certificate.bounds)

    @property
    def ends(self) -> Words:
        """The lowest and the highest word of each output, (2, outputs)."""
        return np.array([(word.lowest, word.highest) for word in self.formats.results.values()]).T

    def truth(self, *values: Floats) -> Floats:
        """Return the true outputs in units, neither rounded nor clamped, (N, outputs), at values of every array."""
        columns = np.hstack(values).T
        units = [word.units(column) for word, column in zip(chain(*self.formats.inputs), columns, strict=True)]
        return self.truth_of_units(np.stack(units)).T

    def truth_of_units(self, units: Floats) -> Floats:
        """Return the same, (outputs, N), of states in units of their words, one word below another."""
        if self.traced is None:
            true = self.model.true_units(by_name(self.formats, units))
            assert true is not None, "a sweep needs true values"
            return np.ascontiguousarray(true.T)
        outputs = self.traced(units)
        given, quantity = by_name(self.formats, units), self.model.provenance.quantity
        if quantity is not None and quantity.friction:
            for j, (joint, word) in enumerate(zip(self.model.robot.joints, self.formats.results.values(), strict=True)):
                if joint.friction is not None:
                    velocity = self.formats.words[f"qd{j + 1}"].value(given[f"qd{j + 1}"])
                    outputs[j] += word.sign * joint.friction(velocity) / word.lsb
        return outputs

    def table_errors(self, words: Sequence[Words]) -> Floats:
        """Return the errors of the tables at input words (N, words) of every array, (N, outputs), in units."""
        true = self.model.true_units(by_name(self.formats, np.hstack(list(words)).T))
        assert true is not None, "a sweep needs true values"
        low, high = self.ends
        return np.asarray(self.run(*words) - np.clip(true, low, high), dtype=np.float64)


def subject_of(model: Model, evaluator: str = "words", form: str | None = None, traced: bool = False) -> SweptModel:
    """Return a model as what is measured, run by one of its evaluators; `traced` truths pay for long sweeps."""
    require(model, "sweeps")
    runner, inputs = model.evaluator(evaluator, form=form, on_range="saturate"), model.formats.inputs

    def run(*words: Words) -> Words:
        return runner.output_words(**{array.name: array.shaped(own) for array, own in zip(inputs, words, strict=True)})

    own = truth_code(model) if traced and not DISABLE_JIT else None
    bits = [word.bits for word in model.formats.results.values()]
    if own and any(error > float_error(each) for error, each in zip(own.error, bits, strict=True)):
        own = None
    return SweptModel(model, run, own)


@lru_cache(maxsize=4)
def subject_from(data: bytes, evaluator: str, form: str | None, traced: bool) -> SweptModel:
    """Return the model of a .bdt file's bytes as what is measured; read once a process."""
    return subject_of(from_bytes(data, memory=ANY_SIZE), evaluator, form, traced)


def measure(
    data: bytes, evaluator: str, form: str | None, traced: bool, seed: int, parts: Sequence[Part]
) -> dict[str, Any]:
    """Return what was found on some batches of states by the model in `data`; see `measure_subject`."""
    return measure_subject(subject_from(data, evaluator, form, traced), seed, parts)


def measure_subject(subject: SweptModel, seed: int, parts: Sequence[Part]) -> dict[str, Any]:
    """Return what was found on the states of some batches, for k input words and m output words.

    Returns
    -------
    largest, squares : (3, m), over all states that are no corners
    corner_largest : (m,), of the first error over the corner states
    bins : (3, m, BINS) and picture : (m, PICTURE_BINS), over all states that are no corners
    saturated : (m,), how many states of either kind need a value beyond the words
    outside : (k,), how many given values were out of range
    worst, worst_states : (m,) the largest first error of all states, and (m, k) the input words that gave it
    overshoot, overshoot_states : (m,) how far true values at words lie beyond their words at most, and where
    """
    return joined([_measured(subject, seed, part) for part in parts])


def _measured(subject: SweptModel, seed: int, part: Part) -> dict[str, Any]:
    formats, m = subject.formats, len(subject.formats.results)
    units, outside = units_of(part, formats, seed), np.zeros(len(formats.words), dtype=np.int64)
    words = np.empty(units.shape, dtype=np.int64)
    if isinstance(part, Given):
        pairs = [array.quantise_counted(values) for array, values in zip(formats.inputs, part.arrays, strict=True)]
        words[:], outside[:] = np.hstack([own for own, _ in pairs]).T, np.concatenate([count for _, count in pairs])
    else:
        kinds = list(chain(*formats.inputs))
        halves, wraps = np.array([-word.lowest for word in kinds]), np.array([word.kind == "angle" for word in kinds])
        round_units(units, halves, wraps, words)
    found: dict[str, Any] = {
        "largest": np.zeros((3, m)),
        "squares": np.zeros((3, m)),
        "bins": np.zeros((3, m, BINS), dtype=np.int64),
        "picture": np.zeros((m, PICTURE_BINS), dtype=np.int64),
        "saturated": np.zeros(m, dtype=np.int64),
        "worst": np.full(m, -1.0),
        "worst_places": np.zeros(m, dtype=np.int64),
        "overshoot": np.zeros(m),
        "overshoot_places": np.zeros(m, dtype=np.int64),
    }
    at_words, at_states = subject.truth_of_units(words.astype(np.float64)), subject.truth_of_units(units)
    compiled = np.ascontiguousarray(subject.run(*by_array(formats, words)).T)
    reach = np.where(subject.proved > 0, subject.proved, 1.0)
    tally(compiled, at_words, at_states, subject.ends, reach, part.corner, *found.values())
    places = {name: found.pop(f"{name}_places") for name in ("worst", "overshoot")}
    worst = found["worst"]
    return {
        **found,
        "corner_largest": worst if part.corner else np.zeros_like(worst),
        "outside": outside,
        **{f"{name}_states": words[:, place].T.copy() for name, place in places.items()},
    }


def joined(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what several parts of a sweep found together."""
    total = {key: np.array(value) for key, value in parts[0].items()}
    for part in parts[1:]:
        for key in ("squares", "bins", "picture", "saturated", "outside"):
            total[key] += part[key]
        for key in ("largest", "corner_largest"):
            np.maximum(total[key], part[key], out=total[key])
        for key in ("worst", "overshoot"):
            more = part[key] > total[key]
            total[key][more] = part[key][more]
            total[f"{key}_states"][more] = part[f"{key}_states"][more]
    return total


def percentile(bins: Words, share: float, largest: float) -> float:
    """Return the |error| that a share (0 to 1) of the states does not exceed, at most 1.1 % too large."""
    place = int(np.searchsorted(np.cumsum(bins), share * bins.sum()))
    upper: float = 2.0 ** (MIN_OCTAVE + (place + 1) / BINS_PER_OCTAVE)
    return min(upper, largest)

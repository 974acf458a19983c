"""Measure one part of a sweep: a pure function on plain data, for any worker.

Three errors, each in units of the output's last bit, the truth being float64 clamped to the output's words:

    tables   compiled − truth at the exact values of the input words: what the certificate bounds
    inputs   truth at the values of the input words − truth at the states: what the words of the sensors cost
    total    compiled − truth at the states

Memory is that of one batch: largest errors, sums of squares and counts in bins are kept, never the errors themselves.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.jit import DISABLE_JIT, njit
from bddtorque.model.applicability import require
from bddtorque.model.model import Model, from_bytes
from bddtorque.sweeps.figures import ModelCost, float_error
from bddtorque.sweeps.states import Given, Part, by_array, by_name, input_arrays, random_words, units_of
from bddtorque.sweeps.truth_code import TruthCode, truth_code
from bddtorque.words.interface import Interface
from bddtorque.words.kernels import half_away

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.int64]

ANY_SIZE = 1 << 62
"""Bytes: a model that this very process holds already is not too large for it."""
COST_STATES, COST_ROUNDS = 8192, 7
"""States of a round and rounds by which a model is timed."""
BINS_PER_OCTAVE = 64
MIN_OCTAVE, MAX_OCTAVE = -16, 24
BINS = BINS_PER_OCTAVE * (MAX_OCTAVE - MIN_OCTAVE)
"""Bins of |error|, 1.1 % apart, from 2^-16 to 2^24 units: percentiles are read from these."""
PICTURE_BINS = 512
"""Even bins of the signed error from minus to plus the proved bound, or a unit where that is 0: for pictures."""

CELLS = 128
"""Even parts of an octave that hold at most one edge between two bins each."""
EDGES = 2.0 ** (np.arange(BINS_PER_OCTAVE + 1) / BINS_PER_OCTAVE)
"""Of the bins between 1 and 2."""
FIRST = np.searchsorted(EDGES, 1 + np.arange(CELLS) / CELLS, side="right") - 1
"""The bin in which each part begins."""


@dataclass(frozen=True)
class SweptModel:
    """A model, and how it is run: words (N, words) of every input array in, output words out."""

    model: Model
    run: Callable[..., Words]
    traced: TruthCode | None = None  # the true values as code for this model alone; else they are the model's own

    @property
    def formats(self) -> Interface:
        """The words of the model."""
        return self.model.formats

    @property
    def proved(self) -> Floats:
        """The proved bound of each output, in units."""
        return np.array(self.model.certificate.bounds)

    @property
    def ends(self) -> Words:
        """The lowest and the highest word of each output, (2, outputs)."""
        return np.array([(word.lowest, word.highest) for word in self.formats.results.values()]).T

    def truth_of_units(self, units: Floats) -> Floats:
        """Return the true outputs (outputs, N) of states (words, N), in units, neither rounded nor clamped."""
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
    """Return a model that is run by one of its evaluators; `traced` truths pay for long sweeps."""
    require(model, "sweeps")
    runner = model.evaluator(evaluator, form=form, on_range="saturate")

    def run(*words: Words) -> Words:
        return runner.output_words(**input_arrays(model.formats, words))

    code = truth_code(model) if traced and not DISABLE_JIT else None
    outputs = model.formats.results.values()
    if code and any(error > float_error(word.bits) for error, word in zip(code.error, outputs, strict=True)):
        code = None
    return SweptModel(model, run, code)


@lru_cache(maxsize=4)
def subject_from(data: bytes, evaluator: str, form: str | None, traced: bool) -> SweptModel:
    """Return the model of a .bdt file's bytes, ready to be measured; read once a process."""
    return subject_of(from_bytes(data, memory=ANY_SIZE), evaluator, form, traced)


def measure(
    data: bytes, evaluator: str, form: str | None, traced: bool, seed: int, parts: Sequence[Part]
) -> dict[str, Any]:
    """Return the errors of the model in `data` on some batches of states; see `measure_subject`."""
    return measure_subject(subject_from(data, evaluator, form, traced), seed, parts)


def measure_subject(subject: SweptModel, seed: int, parts: Sequence[Part]) -> dict[str, Any]:
    """Return the errors on the states of some batches, for k input words and m output words.

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
        ends = np.array([(word.lowest, word.highest) for word in kinds])
        round_units(units, ends, np.array([word.kind == "angle" for word in kinds]), words)
    totals: dict[str, Any] = {
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
    tally(compiled, at_words, at_states, subject.ends, reach, part.corner, *totals.values())
    places = {name: totals.pop(f"{name}_places") for name in ("worst", "overshoot")}
    worst = totals["worst"]
    return {
        **totals,
        "corner_largest": worst if part.corner else np.zeros_like(worst),
        "outside": outside,
        **{f"{name}_states": words[:, place].T.copy() for name, place in places.items()},
    }


def joined(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the errors of several parts of a sweep together."""
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


def cost_of(model: Model, file_bytes: int) -> ModelCost:
    """Return the size and speed of a model, its time measured here and now on random words.

    `file_bytes` is the length of its .bdt file.
    """
    words = random_words(model.formats, COST_STATES, 0)
    arrays, columns = input_arrays(model.formats, words), by_name(model.formats, np.hstack(words).T)
    evaluator = model.evaluator("words", on_range="saturate")
    runs: tuple[Callable[[], Any], ...] = (
        lambda: evaluator.output_words(**arrays),
        lambda: model.true_values(columns),
    )
    seconds: tuple[list[float], ...] = ([], [])
    for _ in range(COST_ROUNDS + 1):
        for run, spent in zip(runs, seconds, strict=True):
            started = time.thread_time()  # others that use the machine do not count
            run()
            spent.append(time.thread_time() - started)
    return ModelCost(
        file_bytes,
        sum(table.stored_bytes for table in model.tables),
        sum(diagram.node_count for diagram in model.diagrams),
        evaluator.form,
        *(statistics.median(spent[1:]) / COST_STATES * 1e9 for spent in seconds),  # the first run warms up
    )


@njit
def round_units(units: Any, ends: Any, wraps: Any, words: Any) -> None:
    """Write the words nearest to units (k, N), as `Format.quantise` has them: angles wrap, others are clamped.

    No angle may be more than half a turn out of range; `ends` are the lowest and the highest word of each row.
    """
    for k in range(units.shape[0]):
        lowest, highest = int(ends[k, 0]), int(ends[k, 1])
        for s in range(units.shape[1]):
            word = int(half_away(units[k, s]))
            if wraps[k]:
                words[k, s] = ((word - lowest) & (highest - lowest)) + lowest
            else:
                words[k, s] = min(max(word, lowest), highest)


@njit
def bin_of(size: float) -> int:
    """Return the bin of an |error|."""
    if not size > 2.0**MIN_OCTAVE:
        return 0
    if size >= 2.0**MAX_OCTAVE:
        return BINS - 1
    mantissa, exponent = math.frexp(size)
    mantissa *= 2.0
    place = FIRST[int((mantissa - 1.0) * CELLS)]
    place += mantissa >= EDGES[place + 1]
    return (exponent - 1 - MIN_OCTAVE) * BINS_PER_OCTAVE + place  # type: ignore[no-any-return]


@njit
def tally(
    compiled: Any,
    at_words: Any,
    at_states: Any,
    ends: Any,
    reach: Any,
    corner: Any,
    largest: Any,
    squares: Any,
    bins: Any,
    picture: Any,
    saturated: Any,
    worst: Any,
    worst_places: Any,
    overshoot: Any,
    overshoot_places: Any,
) -> None:
    """Add up the three errors of N states, see above; of corners only the worst.

    Given are outputs (m, N), compiled and true ones at words and at states, the lowest and highest words (2, m) and
    how far pictures reach (m,). Of a value that needs more than its words hold, both truths are clamped, and it is
    counted; `overshoot` is how far beyond the end words one lies at most.
    """
    for j in range(at_words.shape[0]):
        low, high, half_bins = ends[0, j], ends[1, j], PICTURE_BINS / 2
        for s in range(at_words.shape[1]):
            truth = at_words[j, s]
            if truth < low - 0.5 or truth > high + 0.5:
                saturated[j] += 1
            if max(low - truth, truth - high) > overshoot[j]:
                overshoot[j], overshoot_places[j] = max(low - truth, truth - high), s
            truth, state = min(max(truth, low), high), min(max(at_states[j, s], low), high)
            errors = compiled[j, s] - truth, truth - state, compiled[j, s] - state
            if abs(errors[0]) > worst[j]:
                worst[j], worst_places[j] = abs(errors[0]), s
            if corner:
                continue
            for kind in range(3):
                size = abs(errors[kind])
                largest[kind, j] = max(largest[kind, j], size)
                squares[kind, j] += size * size
                bins[kind, j, bin_of(size)] += 1
            drawn = (errors[0] / reach[j] + 1) * half_bins
            if 0 <= drawn <= PICTURE_BINS:
                picture[j, min(int(drawn), PICTURE_BINS - 1)] += 1

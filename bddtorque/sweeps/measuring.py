"""Measure one part of a sweep: a pure function on plain data, for any worker.

Three errors, each in units of the torque's last bit, the truth being float Newton-Euler clamped to the torque's words:

    tables   compiled − truth at the exact values of the input words: what the certificate bounds
    inputs   truth at the values of the input words − truth at the states: what the words of the sensors cost
    total    compiled − truth at the states

Memory is that of one batch: largest errors, sums of squares and counts in bins are kept, never the errors themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.batch import inverse_dynamics
from bddtorque.model.model import Model, from_bytes
from bddtorque.robots.robot import Robot
from bddtorque.sweeps.states import Given, Part, State, states_of
from bddtorque.words import Formats

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.int64]

BINS_PER_OCTAVE = 64
SMALLEST_OCTAVE, LARGEST_OCTAVE = -16, 24
BINS = BINS_PER_OCTAVE * (LARGEST_OCTAVE - SMALLEST_OCTAVE)
"""Bins of |error|, 1.1 % apart, from 2^-16 to 2^24 units: percentiles are read from these."""
PICTURE_BINS = 512
"""Even bins of the signed error from minus to plus the proved bound: for pictures."""
ANY_SIZE = 1 << 62
"""Bytes: a model that this very process holds already is not too large for it."""


@dataclass(frozen=True)
class Subject:
    """What is measured: a robot, its words, what is proved of each torque (n,), and words (N, n) in, words out."""

    robot: Robot
    formats: Formats
    proved: Floats
    run: Callable[[Words, Words, Words], Words]

    def truth(self, q: Floats, qd: Floats, qdd: Floats) -> Floats:
        """Return the true torques in units of their words, neither rounded nor clamped, (N, n)."""
        torques = inverse_dynamics(self.robot, q, qd, qdd)
        return np.stack([word.units(torques[:, j]) for j, word in enumerate(self.formats.tau)], axis=1)

    def clamped(self, units: Floats) -> Floats:
        """Return torques in units, clamped to their words."""
        return np.clip(units, self.formats.tau.lowest, self.formats.tau.highest)

    def table_errors(self, words: Sequence[Words]) -> Floats:
        """Return the errors of the tables at input words q, qd and qdd, (N, n), in units."""
        values = (kind.dequantise(each) for kind, each in zip(self.formats.inputs, words, strict=True))
        errors: Floats = self.run(*words) - self.clamped(self.truth(*values))
        return errors


def subject_of(model: Model, evaluator: str = "words", form: str | None = None) -> Subject:
    """Return a model as what is measured, run by one of its evaluators."""
    run = model.evaluator(evaluator, form=form).torque_words
    return Subject(model.robot, model.formats, np.array(model.certificate.bounds), run)


@lru_cache(maxsize=4)
def subject_from(data: bytes, evaluator: str, form: str | None) -> Subject:
    """Return the model of a .bdt file's bytes as what is measured; read once a process."""
    return subject_of(from_bytes(data, memory=ANY_SIZE), evaluator, form)


def measure(data: bytes, evaluator: str, form: str | None, seed: int, parts: Sequence[Part]) -> dict[str, Any]:
    """Return what was found on some batches of states by the model in `data`; see `measure_subject`."""
    return measure_subject(subject_from(data, evaluator, form), seed, parts)


def measure_subject(subject: Subject, seed: int, parts: Sequence[Part]) -> dict[str, Any]:
    """Return what was found on the states of some batches.

    Returns
    -------
    largest, squares : (3, n), over all states that are no corners
    corner_largest : (n,), of the first error over the corner states
    bins : (3, n, BINS) and picture : (n, PICTURE_BINS), over all states that are no corners
    saturated : (n,), how many states of either kind need a torque beyond the words
    outside : (3, n), how many given positions, velocities and accelerations were out of range
    worst, worst_states : (n,) the largest first error of all states, and (n, 3, n) the input words that gave it
    """
    return joined([_measured(subject, seed, part) for part in parts])


def _measured(subject: Subject, seed: int, part: Part) -> dict[str, Any]:
    states = states_of(part, subject.formats, seed)
    counted = [kind.quantise_counted(each) for kind, each in zip(subject.formats.inputs, states, strict=True)]
    words = [each for each, _ in counted]
    errors, saturated = _errors(subject, words, states)
    sizes = np.abs(errors)
    worst, place = sizes[0].max(axis=0), sizes[0].argmax(axis=0)
    own = slice(0 if part.corner else None)  # of corners only the largest and the worst count
    return {
        "largest": sizes[:, own].max(axis=1, initial=0.0),
        "squares": np.einsum("ksj,ksj->kj", errors[:, own], errors[:, own]),
        "corner_largest": worst if part.corner else np.zeros_like(worst),
        **_counts(sizes[:, own], errors[0, own], subject.proved),
        "saturated": saturated,
        "outside": np.stack([outside for _, outside in counted]) * isinstance(part, Given),
        "worst": worst,
        "worst_states": np.stack([each[place] for each in words], axis=1),
    }


def joined(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what several parts of a sweep found together."""
    total = {key: np.array(value) for key, value in parts[0].items()}
    for part in parts[1:]:
        for key in ("squares", "bins", "picture", "saturated", "outside"):
            total[key] += part[key]
        for key in ("largest", "corner_largest"):
            np.maximum(total[key], part[key], out=total[key])
        better = part["worst"] > total["worst"]
        total["worst"][better] = part["worst"][better]
        total["worst_states"][better] = part["worst_states"][better]
    return total


def percentile(bins: Words, share: float, largest: float) -> float:
    """Return the |error| that a share (0 to 1) of the states does not exceed, at most 1.1 % too large."""
    place = int(np.searchsorted(np.cumsum(bins), share * bins.sum()))
    upper: float = 2.0 ** (SMALLEST_OCTAVE + (place + 1) / BINS_PER_OCTAVE)
    return min(upper, largest)


def _errors(subject: Subject, words: Sequence[Words], states: State) -> tuple[Floats, Words]:
    """Return the three errors, (3, N, n), and for each joint how many states need more than its words hold."""
    formats = subject.formats
    values = (kind.dequantise(each) for kind, each in zip(formats.inputs, words, strict=True))
    at_words = subject.truth(*values)
    beyond = (at_words < formats.tau.lowest - 0.5) | (at_words > formats.tau.highest + 0.5)
    at_words = subject.clamped(at_words)
    at_states = subject.clamped(subject.truth(*states))
    compiled = subject.run(*words)
    errors = np.stack([compiled - at_words, at_words - at_states, compiled - at_states])
    return errors, np.count_nonzero(beyond, axis=0).astype(np.int64)


def _counts(sizes: Floats, signed: Floats, proved: Floats) -> dict[str, Words]:
    """Return the counts in bins, `bins` of |errors| (3, N, n) and `picture` of errors (N, n)."""
    octaves = np.log2(np.maximum(sizes, 2.0**SMALLEST_OCTAVE)) - SMALLEST_OCTAVE
    places = np.minimum((octaves * BINS_PER_OCTAVE).astype(np.int64), BINS - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = (signed / proved + 1) * (PICTURE_BINS / 2)
    inside = (drawn >= 0) & (drawn <= PICTURE_BINS)
    columns = np.minimum(np.where(inside, drawn, 0).astype(np.int64), PICTURE_BINS - 1)
    bins = [[np.bincount(each, minlength=BINS) for each in kind.T] for kind in places]
    picture = [np.bincount(columns[inside[:, j], j], minlength=PICTURE_BINS) for j in range(len(proved))]
    return {"bins": np.array(bins), "picture": np.array(picture)}

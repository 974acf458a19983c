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

from bddtorque.base.jit import DISABLE_JIT
from bddtorque.dynamics.batch import inverse_dynamics
from bddtorque.model.model import Model, from_bytes
from bddtorque.robots.robot import Robot
from bddtorque.sweeps.states import Given, Part, units_of
from bddtorque.sweeps.tallying import BINS, BINS_PER_OCTAVE, PICTURE_BINS, SMALLEST_OCTAVE, round_units, tally
from bddtorque.sweeps.true_torques import TrueTorques, float_error, true_torques
from bddtorque.words.interface import Interface

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.int64]

ANY_SIZE = 1 << 62
"""Bytes: a model that this very process holds already is not too large for it."""


@dataclass(frozen=True)
class Subject:
    """What is measured: a robot, its words, what is proved of each torque (n,), and words (N, n) in, words out."""

    robot: Robot
    formats: Interface
    proved: Floats
    run: Callable[[Words, Words, Words], Words]
    # the true torques as code for this robot alone; else they are those of the recursion for any robot
    traced: TrueTorques | None = None

    def truth(self, q: Floats, qd: Floats, qdd: Floats) -> Floats:
        """Return the true torques in units of their words, neither rounded nor clamped, (N, n)."""
        torques = inverse_dynamics(self.robot, q, qd, qdd)
        return np.stack([word.units(torques[:, j]) for j, word in enumerate(self.formats.tau)], axis=1)

    def truth_of_units(self, units: Floats) -> Floats:
        """Return the same, (n, N), of states in units of their words, q, qd and qdd one below another, (3n, N)."""
        inputs = [word for kind in self.formats.inputs for word in kind]
        n = len(inputs) // 3
        if self.traced is None:
            columns = np.stack([word.value(row) for word, row in zip(inputs, units, strict=True)], axis=1)
            return np.ascontiguousarray(self.truth(*(columns[:, k * n : (k + 1) * n] for k in range(3))).T)
        torques = self.traced(units)
        for j, (joint, word) in enumerate(zip(self.robot.joints, self.formats.tau, strict=True)):
            if joint.friction is not None:
                torques[j] += word.sign * joint.friction(inputs[n + j].value(units[n + j])) / word.lsb
        return torques

    def table_errors(self, words: Sequence[Words]) -> Floats:
        """Return the errors of the tables at input words q, qd and qdd, (N, n), in units."""
        values = (kind.dequantise(each) for kind, each in zip(self.formats.inputs, words, strict=True))
        true = np.clip(self.truth(*values), self.formats.tau.lowest, self.formats.tau.highest)
        errors: Floats = self.run(*words) - true
        return errors


def subject_of(model: Model, evaluator: str = "words", form: str | None = None, traced: bool = False) -> Subject:
    """Return a model as what is measured, run by one of its evaluators; `traced` truths pay for long sweeps."""
    run = model.evaluator(evaluator, form=form, on_range="saturate").torque_words
    own = true_torques(model) if traced and not DISABLE_JIT else None
    if own and any(error > float_error(bits) for error, bits in zip(own.error, model.formats.tau.bits, strict=True)):
        own = None
    return Subject(model.robot, model.formats, np.array(model.certificate.bounds), run, own)


@lru_cache(maxsize=4)
def subject_from(data: bytes, evaluator: str, form: str | None, traced: bool) -> Subject:
    """Return the model of a .bdt file's bytes as what is measured; read once a process."""
    return subject_of(from_bytes(data, memory=ANY_SIZE), evaluator, form, traced)


def measure(
    data: bytes, evaluator: str, form: str | None, traced: bool, seed: int, parts: Sequence[Part]
) -> dict[str, Any]:
    """Return what was found on some batches of states by the model in `data`; see `measure_subject`."""
    return measure_subject(subject_from(data, evaluator, form, traced), seed, parts)


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
    overshoot, overshoot_states : (n,) how far true torques at words lie beyond their words at most, and where
    """
    return joined([_measured(subject, seed, part) for part in parts])


def _measured(subject: Subject, seed: int, part: Part) -> dict[str, Any]:
    formats, n = subject.formats, len(subject.formats.tau)
    units, outside = units_of(part, formats, seed), np.zeros((3, n), dtype=np.int64)
    words = np.empty(units.shape, dtype=np.int64)
    if isinstance(part, Given):
        for k, (kind, values) in enumerate(zip(formats.inputs, (part.q, part.qd, part.qdd), strict=True)):
            quantised, outside[k] = kind.quantise_counted(values)
            words[k * n : (k + 1) * n] = quantised.T
    else:
        kinds = [word for kind in formats.inputs for word in kind]
        halves, wraps = np.array([-word.lowest for word in kinds]), np.array([word.kind == "angle" for word in kinds])
        round_units(units, halves, wraps, words)
    by_quantity = [words[k * n : (k + 1) * n].T for k in range(3)]
    found: dict[str, Any] = {
        "largest": np.zeros((3, n)),
        "squares": np.zeros((3, n)),
        "bins": np.zeros((3, n, BINS), dtype=np.int64),
        "picture": np.zeros((n, PICTURE_BINS), dtype=np.int64),
        "saturated": np.zeros(n, dtype=np.int64),
        "worst": np.full(n, -1.0),
        "worst_places": np.zeros(n, dtype=np.int64),
        "overshoot": np.zeros(n),
        "overshoot_places": np.zeros(n, dtype=np.int64),
    }
    ends = np.stack([formats.tau.lowest, formats.tau.highest])
    at_words, at_states = subject.truth_of_units(words.astype(np.float64)), subject.truth_of_units(units)
    compiled = np.ascontiguousarray(subject.run(*by_quantity).T)
    tally(compiled, at_words, at_states, ends, subject.proved, part.corner, *found.values())
    places = {name: found.pop(f"{name}_places") for name in ("worst", "overshoot")}
    worst = found["worst"]
    return {
        **found,
        "corner_largest": worst if part.corner else np.zeros_like(worst),
        "outside": outside,
        **{f"{name}_states": np.stack([each[place] for each in by_quantity], 1) for name, place in places.items()},
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
    upper: float = 2.0 ** (SMALLEST_OCTAVE + (place + 1) / BINS_PER_OCTAVE)
    return min(upper, largest)

"""Measure one part of a sweep: a pure function on plain data, for any worker.

Three errors, each in units of the torque's last bit, the truth being float Newton-Euler clamped to the torque's words:

    tables   compiled − truth at the exact values of the input words: what the certificate bounds
    inputs   truth at the values of the input words − truth at the states: what the words of the sensors cost
    total    compiled − truth at the states

Memory is that of one batch: largest errors, sums of squares and counts in bins are kept, never the errors themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.batch import inverse_dynamics
from bddtorque.evaluate.machine import run_states
from bddtorque.evaluate.program import Program
from bddtorque.robots.model import Robot
from bddtorque.sweep.states import Batch, State, states_of
from bddtorque.words import Formats

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.int64]

ERRORS = ("tables", "inputs", "total")
BINS_PER_OCTAVE = 64
SMALLEST_OCTAVE, LARGEST_OCTAVE = -16, 24
BINS = BINS_PER_OCTAVE * (LARGEST_OCTAVE - SMALLEST_OCTAVE)
"""Bins of |error|, 1.1 % apart, from 2^-16 to 2^24 units: percentiles are read from these."""
PICTURE_BINS = 512
"""Even bins of the signed error from minus to plus the proved bound: for pictures."""


def measure(
    robot: Robot,
    formats: Formats,
    program: tuple[Any, ...],
    registers: int,
    proved: Floats,
    seed: int,
    parts: Sequence[Batch],
) -> dict[str, Any]:
    """Return what was found on the states of some batches.

    Parameters
    ----------
    program, registers : what the kernel runs, the fields of a `Program`, and how many wires it has
    proved : the bound of each torque in units, shape (n,)
    parts : which batches

    Returns
    -------
    largest, squares : (3, n), over the random states
    corner_largest : (n,), of the first error over the corner states
    bins : (3, n, BINS) and picture : (n, PICTURE_BINS), over the random states
    saturated : (n,), how many states of either kind need a torque beyond the words
    worst, worst_states : (n,) the largest first error of all states, and (n, 3, n) the input words that gave it
    """
    n = robot.degrees_of_freedom
    found: dict[str, Any] = {
        "largest": np.zeros((3, n)),
        "squares": np.zeros((3, n)),
        "corner_largest": np.zeros(n),
        "bins": np.zeros((3, n, BINS), dtype=np.int64),
        "picture": np.zeros((n, PICTURE_BINS), dtype=np.int64),
        "saturated": np.zeros(n, dtype=np.int64),
        "worst": np.full(n, -1.0),
        "worst_states": np.zeros((n, 3, n), dtype=np.int64),
    }
    for part in parts:
        states = states_of(part, formats, seed)
        words = tuple(kind.quantise(each) for kind, each in zip(formats.inputs, states, strict=True))
        compiled = np.empty(words[0].shape, dtype=np.int64)
        counts = np.zeros((3, n), dtype=np.int64)
        run_states(
            Program(*program), words[0], words[1], words[2], compiled, np.empty(registers, dtype=np.int64), counts
        )
        errors, saturated = _errors(robot, formats, compiled, words, states)
        found["saturated"] += saturated
        _keep_worst(found, np.abs(errors[0]), words)
        if part.corner:
            np.maximum(found["corner_largest"], np.abs(errors[0]).max(axis=0), out=found["corner_largest"])
            continue
        np.maximum(found["largest"], np.abs(errors).max(axis=1), out=found["largest"])
        found["squares"] += (errors**2).sum(axis=1)
        _count(found, errors, proved)
    return found


def joined(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what several parts of a sweep found together."""
    total = {key: np.array(value) for key, value in parts[0].items()}
    for part in parts[1:]:
        for key in ("squares", "bins", "picture", "saturated"):
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


def _errors(
    robot: Robot, formats: Formats, compiled: Words, words: tuple[Words, ...], states: State
) -> tuple[Floats, Words]:
    """Return the three errors, (3, N, n), and for each joint how many states need more than its words hold."""
    values = [kind.dequantise(each) for kind, each in zip(formats.inputs, words, strict=True)]
    at_words = _in_units(formats, inverse_dynamics(robot, *values))
    lowest, highest = formats.tau.lowest, formats.tau.highest
    saturated = np.count_nonzero((at_words < lowest - 0.5) | (at_words > highest + 0.5), axis=0)
    at_words = np.clip(at_words, lowest, highest)
    at_states = np.clip(_in_units(formats, inverse_dynamics(robot, *states)), lowest, highest)
    return np.stack([compiled - at_words, at_words - at_states, compiled - at_states]), saturated.astype(np.int64)


def _in_units(formats: Formats, torques: Floats) -> Floats:
    """Return torques in units of their words: the inverse of `dequantise`, without rounding."""
    units = np.empty_like(torques)
    for j, word in enumerate(formats.tau):
        units[:, j] = (word.sign * (torques[:, j] - word.offset) - word.centre) / word.lsb
    return units


def _keep_worst(found: dict[str, Any], error: Floats, words: tuple[Words, ...]) -> None:
    for joint, place in enumerate(error.argmax(axis=0)):
        if error[place, joint] > found["worst"][joint]:
            found["worst"][joint] = error[place, joint]
            found["worst_states"][joint] = np.stack([each[place] for each in words])


def _count(found: dict[str, Any], errors: Floats, proved: Floats) -> None:
    octaves = np.log2(np.maximum(np.abs(errors), 2.0**SMALLEST_OCTAVE)) - SMALLEST_OCTAVE
    places = np.minimum((octaves * BINS_PER_OCTAVE).astype(np.int64), BINS - 1)
    for kind, joint in np.ndindex(places.shape[0], places.shape[2]):
        found["bins"][kind, joint] += np.bincount(places[kind, :, joint], minlength=BINS)
    for joint, bound in enumerate(proved):
        counts, _ = np.histogram(errors[0, :, joint], PICTURE_BINS, (-bound, bound))
        found["picture"][joint] += counts

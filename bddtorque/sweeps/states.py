"""The states of a sweep: drawn evenly, corners, or along a trajectory, in batches that are the same whoever makes them.

Trajectories are given as states, or made from the ranges of a model: moves from point to point by the quintic
polynomial 10u³ − 15u⁴ + 6u⁵, which starts and ends at rest, and sines of unlike frequencies. Both keep to `SHARE` of
every range, so that no word saturates, and both reach it in velocity or acceleration where the positions leave room.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.words.formats import TURN, Format
from bddtorque.words.interface import Interface

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.int64]

BATCH = 1 << 15
"""States of a batch: what is held in memory at a time."""
CORNER_SHARE = 8
"""One corner state is added for so many random ones."""
SHARE = 0.9
"""Of each range."""
MOVES = 8
"""Moves of the quintic trajectory."""
PERIODS = 4
"""Periods of the slowest sine."""
QUINTIC_SPEED, QUINTIC_ACCELERATION = 15 / 8, 10 / math.sqrt(3)
"""Largest first and second derivatives of 10u³ − 15u⁴ + 6u⁵ on 0 ≤ u ≤ 1."""


@dataclass(frozen=True)
class Batch:
    """Drawn states of a sweep."""

    corner: bool  # words from the ends and the middle of their formats, else states drawn evenly
    index: int  # which batch of its kind; with the seed it decides the states
    count: int  # number of states


@dataclass(frozen=True)
class Given:
    """States that somebody gave, such as a piece of a trajectory: values (N, words) of every input array."""

    arrays: tuple[Floats, ...]

    corner = False

    @property
    def count(self) -> int:
        """Number of states."""
        return len(self.arrays[0])


Part = Batch | Given
"""States that are measured at a time."""


def pieces(arrays: tuple[Floats, ...]) -> list[Given]:
    """Return given states, each array (N, words), in batches."""
    return [Given(tuple(array[k : k + BATCH] for array in arrays)) for k in range(0, len(arrays[0]), BATCH)]


def batches(states: int, corners: int) -> list[Batch]:
    """Return the batches of a sweep, the random ones first."""
    return [
        Batch(corner, index, min(BATCH, total - index * BATCH))
        for corner, total in ((False, states), (True, corners))
        for index in range(-(-total // BATCH))
    ]


def by_array(formats: Interface, rows: npt.NDArray[Any]) -> list[Any]:
    """Return rows (all input words, N), one word below another, as arrays (N, words) in the order of the inputs."""
    ends = np.cumsum([len(array) for array in formats.inputs])
    return [rows[end - len(array) : end].T for array, end in zip(formats.inputs, ends.tolist(), strict=True)]


def by_name(formats: Interface, rows: npt.NDArray[Any]) -> dict[str, Any]:
    """Return rows (all input words, N) by the names that plans have for the words."""
    return dict(zip(formats.words, rows, strict=True))


def input_arrays(formats: Interface, columns: Sequence[npt.NDArray[Any]]) -> dict[str, Any]:
    """Return words (N, words) of every input array in the shapes that evaluators take, by name."""
    return {array.name: array.shaped(words) for array, words in zip(formats.inputs, columns, strict=True)}


def quantise(formats: Interface, states: Sequence[Floats]) -> list[Words]:
    """Return the words of states (N, words) of every input array."""
    return [array.quantise(values) for array, values in zip(formats.inputs, states, strict=True)]


def states_of(batch: Part, formats: Interface, seed: int) -> tuple[Floats, ...]:
    """Return the states of a batch in the units of the inputs, (N, words) of each input array."""
    if isinstance(batch, Given):
        return batch.arrays
    units = units_of(batch, formats, seed)
    values = np.stack([word.value(row) for word, row in zip(chain(*formats.inputs), units, strict=True)])
    return tuple(by_array(formats, values))


def units_of(batch: Part, formats: Interface, seed: int) -> Floats:
    """Return the states of a batch in units of their words, one word below another, (all input words, N).

    Random states are even over all that the words can hold, half a unit beyond the end words included. Corner states
    are words; the first of them are all combinations of lowest and highest words.
    """
    words = list(chain(*formats.inputs))
    if isinstance(batch, Given):
        return np.stack([word.units(row) for word, row in zip(words, np.hstack(batch.arrays).T, strict=True)])
    rng = np.random.default_rng([seed, int(batch.corner), batch.index])
    if batch.corner:
        return _corners(batch, words, rng)
    units = rng.random((len(words), batch.count))
    units *= np.array([[1 << word.bits] for word in words])
    units += np.array([[word.lowest - 0.5] for word in words])
    return units


def _corners(batch: Batch, words: list[Format], rng: np.random.Generator) -> Floats:
    places = batch.index * BATCH + np.arange(batch.count)
    pure = places < 1 << min(len(words), 62)
    rows = []
    for k, word in enumerate(words):
        drawn = rng.choice(special_words(word), batch.count)
        ends = np.where((places >> min(k, 62)) & 1, word.highest, word.lowest)
        rows.append(np.where(pure, ends, drawn))
    return np.array(rows, dtype=np.float64)


@lru_cache(maxsize=256)
def special_words(word: Format) -> Words:
    """Return the words where tables go wrong first: the ends, zero, quarter turns, and their neighbours."""
    around = [word.lowest, 0, word.highest]
    if word.kind == "angle":
        quarter = 1 << (word.bits - 2)
        around += [-quarter, quarter]
    near = {place + step for place in around for step in (-1, 0, 1)}
    low, high = word.lowest, word.highest
    return np.array(sorted(place for place in near if low <= place <= high), dtype=np.int64)


def random_words(formats: Interface, count: int, seed: int) -> list[Words]:
    """Return words of every input array, (count, words): every word of each format as likely as any other."""
    rng = np.random.default_rng(seed)
    return [
        np.stack([rng.integers(word.lowest, word.highest, count, endpoint=True) for word in array], axis=1)
        for array in formats.inputs
    ]


@dataclass(frozen=True)
class Trajectory:
    """A sequence of states."""

    name: str  # "quintic", "sine", or the file it was read from
    time: Floats  # times, shape (N,), in s; the number of the state if no time is known
    timed: bool  # whether `time` is in s
    arrays: dict[str, Floats]  # values (N, words) of every input array of the model: q, qd, qdd, in rad or m and s

    def of(self, formats: Interface) -> tuple[Floats, ...]:
        """Return the arrays in the order of a model's inputs; refuse missing ones, other ones, and bad shapes."""
        names = [array.name for array in formats.inputs]
        if set(names) != set(self.arrays):
            raise BddTorqueError(
                f"trajectory '{self.name:.40}' must give {', '.join(names)}, got {', '.join(self.arrays)}"
            )
        values = tuple(self.arrays[name] for name in names)
        quantise(formats, values)  # refuses what is not finite, and other shapes
        return values


def quintic(formats: Interface, count: int, seed: int = 0) -> Trajectory:
    """Return `count` states of moves between positions drawn at random, all joints starting and arriving together."""
    rng = np.random.default_rng([seed, 2])
    low, high, speed, acceleration = _reaches(formats)
    points = rng.uniform(low, high, (MOVES + 1, len(low)))
    distances = np.diff(points, axis=0)
    by_speed = (QUINTIC_SPEED * np.abs(distances) / speed).max(axis=1)
    by_acceleration = np.sqrt(QUINTIC_ACCELERATION * np.abs(distances) / acceleration).max(axis=1)
    durations = np.maximum(by_speed, by_acceleration)
    starts = np.concatenate([[0.0], np.cumsum(durations)])
    time = np.linspace(0.0, starts[-1], count)
    move = np.clip(np.searchsorted(starts, time, side="right") - 1, 0, MOVES - 1)
    T = durations[move][:, None]
    u = np.clip((time - starts[move])[:, None] / T, 0.0, 1.0)
    distance = distances[move]
    arrays = {
        "q": points[move] + distance * u**3 * (10 - 15 * u + 6 * u**2),
        "qd": distance * 30 * u**2 * (1 - u) ** 2 / T,
        "qdd": distance * 60 * u * (1 - u) * (1 - 2 * u) / T**2,
    }
    return Trajectory("quintic", time, True, arrays)


def sine(formats: Interface, count: int, seed: int = 0) -> Trajectory:
    """Return `count` states of q = middle + A sin(ωt + φ), each joint with its own ω, and φ drawn at random."""
    rng = np.random.default_rng([seed, 3])
    low, high, speed, acceleration = _reaches(formats)
    n = len(low)
    # at this frequency a sine reaches the largest velocity and acceleration both; golden parts keep the joints apart
    spread = 1 - 0.5 * (np.arange(n) * (math.sqrt(5) - 1) / 2 % 1)
    omega = acceleration / speed * spread
    size = np.minimum.reduce([(high - low) / 2, speed / omega, acceleration / omega**2])
    time = np.linspace(0.0, PERIODS * TURN / omega.min(), count)
    phase = time[:, None] * omega + rng.uniform(0, TURN, n)
    q, qdd = (low + high) / 2 + size * np.sin(phase), -size * omega**2 * np.sin(phase)
    return Trajectory("sine", time, True, {"q": q, "qd": size * omega * np.cos(phase), "qdd": qdd})


BUILT_IN = {"quintic": quintic, "sine": sine}
"""Trajectories by name."""


def from_states(name: str, **arrays: Floats) -> Trajectory:
    """Return given states, values (N, words) of every input array by name, as a trajectory whose time is not known."""
    counts = {len(array) for array in arrays.values()}
    if counts in (set(), {0}):
        raise BddTorqueError(f"{name}: a trajectory must have at least one state")
    if len(counts) > 1:
        raise BddTorqueError(f"{name}: all arrays of a trajectory must have the same length, got {sorted(counts)}")
    return Trajectory(name, np.arange(counts.pop(), dtype=np.float64), False, dict(arrays))


def _reaches(formats: Interface) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the parts of the ranges that are used, each (n,): lowest and highest position, speed, acceleration."""
    ends = np.array([_position_ends(word) for word in formats.q])
    middle, half = ends.mean(axis=1), SHARE * np.diff(ends, axis=1)[:, 0] / 2
    speed, acceleration = (
        SHARE * np.array([_both_ways(word) for word in array]) for array in (formats.qd, formats.qdd)
    )
    return middle - half, middle + half, speed, acceleration


def _position_ends(word: Format) -> tuple[float, float]:
    """Return the lowest and highest position at the joint: of an angle its limits, or a turn."""
    if word.kind == "range":
        return word.span
    whole = word.high - word.low >= TURN
    raw = (-TURN / 2, TURN / 2) if whole else (word.low, word.high)
    first, last = sorted(word.sign * end + word.offset for end in raw)
    return first, last


def _both_ways(word: Format) -> float:
    low, high = word.span
    reach = min(-low, high)
    if reach <= 0:
        raise BddTorqueError(
            f"{word.name}: a trajectory needs a range on both sides of zero, got {low:.6g} to {high:.6g}"
        )
    return reach

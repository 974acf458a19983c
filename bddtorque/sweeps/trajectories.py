"""Trajectories to sweep along: made from the ranges of a model, or given as states.

Built in are moves from point to point by the quintic polynomial 10u³ − 15u⁴ + 6u⁵, which starts and ends at rest, and
sines of unlike frequencies. Both keep to `SHARE` of every range, so that no word saturates, and both reach it in
velocity or acceleration where the positions leave room.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.words.formats import TURN, Format
from bddtorque.words.interface import Interface

Floats = npt.NDArray[np.float64]

SHARE = 0.9
"""Of each range."""
MOVES = 8
"""Moves of the quintic trajectory."""
PERIODS = 4
"""Periods of the slowest sine."""
QUINTIC_SPEED, QUINTIC_ACCELERATION = 15 / 8, 10 / math.sqrt(3)
"""Largest first and second derivatives of 10u³ − 15u⁴ + 6u⁵ on 0 ≤ u ≤ 1."""


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
        for array in formats.inputs:
            array.quantise(self.arrays[array.name])  # refuses what is not finite, and other shapes
        return tuple(self.arrays[name] for name in names)


def quintic(formats: Interface, count: int, seed: int = 0) -> Trajectory:
    """Return `count` states of moves between positions drawn at random, all joints starting and arriving together."""
    rng = np.random.default_rng([seed, 2])
    low, high, speed, acceleration = _reaches(formats)
    points = rng.uniform(low, high, (MOVES + 1, len(low)))
    ways = np.diff(points, axis=0)
    by_speed = (QUINTIC_SPEED * np.abs(ways) / speed).max(axis=1)
    by_acceleration = np.sqrt(QUINTIC_ACCELERATION * np.abs(ways) / acceleration).max(axis=1)
    durations = np.maximum(by_speed, by_acceleration)
    starts = np.concatenate([[0.0], np.cumsum(durations)])
    time = np.linspace(0.0, starts[-1], count)
    move = np.clip(np.searchsorted(starts, time, side="right") - 1, 0, MOVES - 1)
    T = durations[move][:, None]
    u = np.clip((time - starts[move])[:, None] / T, 0.0, 1.0)
    way = ways[move]
    arrays = {
        "q": points[move] + way * u**3 * (10 - 15 * u + 6 * u**2),
        "qd": way * 30 * u**2 * (1 - u) ** 2 / T,
        "qdd": way * 60 * u * (1 - u) * (1 - 2 * u) / T**2,
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
    """Return what is used of the ranges, each (n,): lowest and highest position, and speed and acceleration."""
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

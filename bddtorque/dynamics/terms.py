"""The separate terms of the torques: inertial, Coriolis, centripetal and gravity coefficients, and their harmonics.

    tau_i = Σ_j J_ij q̈_j + Σ_{j<k} C_ijk q̇_j q̇_k + Σ_j C_ijj q̇_j² + G_i

Each coefficient is a function of positions alone: a trigonometric polynomial of at most second degree in every joint
that turns and a polynomial of at most second degree in every one that slides. Sampled on five (three) points a joint it
is therefore known exactly, and a discrete Fourier transform gives it as a sum of

    (A cos m·q + B sin m·q) · Π q_p^power ,   m integer, the first non-zero m positive.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, groupby
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.batch import Floats, torques
from bddtorque.dynamics.chain import Chain, chain_of
from bddtorque.dynamics.matrices import weightless
from bddtorque.robots.library import RobotLike, load_robot
from bddtorque.robots.robot import Robot

TermKind = Literal["inertial", "centripetal", "coriolis", "gravity"]
KINDS: tuple[TermKind, ...] = get_args(TermKind)
Key = tuple[TermKind, int, tuple[int, ...]]
Integers = npt.NDArray[np.int64]

MAX_JOINTS = 7
"""5⁷ = 78,125 samples a coefficient; every further joint costs five times more."""
TURNING_POINTS, SLIDING_POINTS = 5, 3
FIFTH_SINES = (0.0, 0.9510565162951535, 0.5877852522924731, -0.5877852522924731, -0.9510565162951535)
FIFTH_COSINES = (1.0, 0.30901699437494745, -0.8090169943749475, -0.8090169943749475, 0.30901699437494745)
"""Of fifths of a turn, correctly rounded: plans depend on them, and must not differ by machine."""
PARABOLA = np.array([[0.0, 1.0, 0.0], [-0.5, 0.0, 0.5], [0.5, -1.0, 0.5]])
"""From values at −1, 0 and 1 to what 1, q and q² are multiplied with."""
NOISE = 1e-12
"""An amplitude below this, relative to the parts its coefficient is summed from, is rounding noise.

Nothing is left out that is above this relative to the largest amplitude of its kind, unless all of a coefficient is."""
AT_ONCE = 2**18
"""Harmonics (times states) that are evaluated at once, so that memory stays small."""


@dataclass(frozen=True)
class Expansion:
    """A coefficient as a sum of H harmonics.

    Attributes
    ----------
    multipliers
        Integers m, shape (H, n); zero for joints that slide.
    powers
        Integers, shape (H, n); zero for joints that turn.
    cosine, sine
        The amplitudes A and B, shape (H,).
    """

    multipliers: Integers
    powers: Integers
    cosine: Floats
    sine: Floats

    @property
    def depends_on(self) -> tuple[int, ...]:
        """The joints, counted from 0, whose position it depends on."""
        return tuple(
            int(j) for j in np.flatnonzero((self.multipliers != 0).any(axis=0) | (self.powers != 0).any(axis=0))
        )

    def __len__(self) -> int:
        return len(self.cosine)

    def __call__(self, q: Floats) -> Floats:
        """Return the coefficient at positions (N, n), shape (N,)."""
        total = np.empty(len(q))
        rows = max(1, AT_ONCE // max(1, len(self)))
        for first in range(0, len(q), rows):
            some = q[first : first + rows]
            phase = some @ self.multipliers.T
            waves = self.cosine * np.cos(phase) + self.sine * np.sin(phase)
            if self.powers.any():
                waves *= np.prod(some[:, None, :] ** self.powers, axis=2)
            total[first : first + rows] = waves.sum(axis=1)
        return total


@dataclass(frozen=True)
class Term:
    """One term: its kind, the torque it belongs to, the joints whose motion multiplies it, and its coefficient.

    An inertial term (i, (j,)) with i < j also occurs in torque j, times q̈_i: J is symmetric and counted once. Joints
    count from 0.
    """

    kind: TermKind
    joint: int
    motion: tuple[int, ...]
    expansion: Expansion

    @property
    def name(self) -> str:
        """J12, C1_22, C1_12 or G1, with joints counted from 1 as in the papers."""
        if self.kind == "inertial":
            return f"J{self.joint + 1}{self.motion[0] + 1}"
        if self.kind == "gravity":
            return f"G{self.joint + 1}"
        return f"C{self.joint + 1}_" + "".join(str(j + 1) for j in self.motion)

    def summands(self) -> list[tuple[int, tuple[str, ...]]]:
        """Return where the term occurs: (torque, names of the motion inputs that multiply it)."""
        if self.kind == "gravity":
            return [(self.joint, ())]
        if self.kind != "inertial":
            return [(self.joint, tuple(f"qd{j + 1}" for j in self.motion))]
        (j,) = self.motion
        own = (self.joint, (f"qdd{j + 1}",))
        return [own] if j == self.joint else [own, (j, (f"qdd{self.joint + 1}",))]


@dataclass(frozen=True)
class Terms:
    """All non-zero terms of a robot."""

    robot: Robot
    terms: tuple[Term, ...]

    def counts(self) -> dict[str, int]:
        """Return the numbers of terms, harmonics (over all terms) and distinct phases m·q."""
        phases = {tuple(m) for term in self.terms for m in term.expansion.multipliers if m.any()}
        return {
            "terms": len(self.terms),
            "harmonics": sum(len(term.expansion) for term in self.terms),
            "phases": len(phases),
        }


def terms_of(robot: RobotLike) -> Terms:
    """Return every non-zero inertial, Coriolis, centripetal and gravity term of a robot, expanded in harmonics.

    Parameters
    ----------
    robot
        A `Robot` with at most 7 joints, or what `load_robot` takes.

    Returns
    -------
    Terms
        The terms.
    """
    robot = load_robot(robot)
    n = robot.degrees_of_freedom
    if n > MAX_JOINTS:
        raise BddTorqueError(
            f"terms of robot '{robot.name}': there must be at most {MAX_JOINTS} joints, got {n} "
            f'({TURNING_POINTS}^{n} = {TURNING_POINTS**n:,} samples per coefficient); use source = "recursive"'
        )
    chain = chain_of(robot)
    if robot.coupled:
        moved = [member.joint.name for member in robot.members if member.joint.name not in robot.joint_names]
        raise BddTorqueError(
            f"terms of robot '{robot.name}': joint '{moved[0]}' follows another, and terms of such joints are not "
            'expanded; use source = "recursive"'
        )
    turns = chain.turns.tolist()
    grid = sample_grid(turns)
    inertial, gravity = _part_sizes(chain)
    terms = []
    for _, group in groupby(sample_coefficients(chain, grid, grid_turns(turns)), key=lambda sampled: sampled[0][0]):
        found = []
        for key, values in group:
            _, joint, motion = key
            parts = sum(inertial[joint, j] for j in motion) if motion else gravity[joint]
            amplitude = _amplitudes(values, turns)
            if np.abs(amplitude).max() > NOISE * parts:
                found.append((key, amplitude, float(parts)))
        largest = max((float(np.abs(amplitude).max()) for _, amplitude, _ in found), default=0.0)
        terms += [
            Term(*key, _expansion(amplitude, turns, NOISE * min(parts, largest))) for key, amplitude, parts in found
        ]
    return Terms(robot, tuple(sorted(terms, key=lambda term: (KINDS.index(term.kind), term.joint, term.motion))))


@lru_cache(maxsize=2)  # ranges, plan and proof of a robot ask for them one after another
def known_terms(robot: Robot) -> Terms:
    """Return the terms of a robot, shared by all who ask: their arrays must not be changed."""
    return terms_of(robot)


def sample_grid(turns: list[bool]) -> Floats:
    """Return the sample positions (points, n): fifths of a turn, and −1, 0, 1 m."""
    fifths = 2 * np.pi * np.arange(TURNING_POINTS) / TURNING_POINTS
    axes = [fifths if each else np.array([-1.0, 0.0, 1.0]) for each in turns]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(turns))


def grid_turns(turns: list[bool]) -> tuple[Floats, Floats]:
    """Return sines and cosines (points, n) of the sample positions, the same floats on every machine."""
    axes = [range(TURNING_POINTS) if each else [0] * SLIDING_POINTS for each in turns]
    fifths = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(turns))
    return np.array(FIFTH_SINES)[fifths], np.array(FIFTH_COSINES)[fifths]


def _part_sizes(chain: Chain) -> tuple[Floats, Floats]:
    """Return how large the parts are that J_ij (n, n) and G_i (n,) are summed from, however much of them cancels.

    A body l with moments P, h, m adds to J_ij at most [1, d_il] [[|P|, |h|], [|h|, m]] [1, d_jl]ᵀ, where d_il is the
    way from joint i to link l, and [1, d] is [0, 1] for a sliding joint. What C_ijk is summed from is of the size of
    J_ij and J_ik. Each coefficient has its own measure, so that a light wrist on a heavy arm keeps its terms.
    """
    n, sliding = len(chain.turns), ~chain.turns
    way, moves = np.linalg.norm(chain.translation, axis=1) + sliding, np.eye(n, dtype=np.bool_)
    for i, carrier in enumerate(chain.parent.tolist()):  # samples slide as far as 1 m
        if carrier >= 0:
            way[i] = way[carrier] + way[i]
            moves[:, i] |= moves[:, carrier]
    lever = np.stack([np.ones((n, n)), way - way[:, None]], axis=-1)  # joint, link, (turning, moving)
    lever[sliding] = (0.0, 1.0)
    lever[~moves] = 0.0  # joints move the links beyond them
    moments = np.empty((n, 2, 2))
    moments[:, 0, 0] = np.linalg.norm(chain.body[:, :3, :3], axis=(1, 2))
    moments[:, 0, 1] = moments[:, 1, 0] = np.linalg.norm(chain.body[:, :3, 3], axis=1)
    moments[:, 1, 1] = chain.body[:, 3, 3]
    inertial: Floats = np.einsum("ila,lab,jlb->ij", lever, moments, lever)
    gravity: Floats = np.einsum("ila,la->i", lever, moments[:, :, 1]) * np.linalg.norm(chain.base_acceleration)
    return inertial, gravity


def sample_coefficients(chain: Chain, grid: Floats, turned: tuple[Floats, Floats]) -> Iterable[tuple[Key, Floats]]:
    """Return each coefficient at the points of the grid: the torques of unit motions, differences where two move.

    `turned` are the sines and cosines of the grid.
    """
    n = grid.shape[1]
    zero, unit, floating = np.zeros(n), np.eye(n), weightless(chain)

    def at(which: Chain, qd: Floats, qdd: Floats) -> Floats:
        return torques(which, grid, qd, qdd, turned)

    squares = [at(floating, unit[j], zero) for j in range(n)]
    for j in range(n):
        column = at(floating, zero, unit[j])
        yield from ((("inertial", i, (j,)), column[:, i]) for i in range(j + 1))
    for j in range(n):
        yield from ((("centripetal", i, (j, j)), squares[j][:, i]) for i in range(n))
    for j, k in combinations(range(n), 2):
        both = at(floating, unit[j] + unit[k], zero) - squares[j] - squares[k]
        yield from ((("coriolis", i, (j, k)), both[:, i]) for i in range(n))
    weight = at(chain, zero, zero)
    yield from ((("gravity", i, ()), weight[:, i]) for i in range(n))


def _amplitudes(values: Floats, turns: list[bool]) -> npt.NDArray[np.complex128]:
    """Return the complex amplitudes over (m_1 or power_1, m_2 or power_2, ...): Fourier, or the parabola's.

    Real sums of single products, in order: a library's transform may add differently on another machine.
    """
    shape = [TURNING_POINTS if each else SLIDING_POINTS for each in turns]
    real, imaginary = values.reshape(shape), np.zeros(shape)
    turn = np.outer(np.arange(TURNING_POINTS), np.arange(TURNING_POINTS)) % TURNING_POINTS
    cosines, sines = (np.array(fifths)[turn] / TURNING_POINTS for fifths in (FIFTH_COSINES, FIFTH_SINES))
    for axis, each in enumerate(turns):
        if each:  # (a + ib)(c − is)
            real, imaginary = (
                mix(cosines, real, axis) + mix(sines, imaginary, axis),
                mix(cosines, imaginary, axis) - mix(sines, real, axis),
            )
        else:
            real, imaginary = mix(PARABOLA, real, axis), mix(PARABOLA, imaginary, axis)
    return real + 1j * imaginary


def mix(matrix: Floats, values: Floats, axis: int) -> Floats:
    """Return the product of a small matrix with one axis of an array."""
    points = values.reshape(math.prod(values.shape[:axis]), len(matrix), -1)
    mixed = np.zeros(points.shape)
    for k in range(len(matrix)):  # all rows at once, each in the order of its products
        mixed += matrix[:, k, None] * points[:, None, k]
    return mixed.reshape(values.shape)


def _expansion(amplitude: npt.NDArray[np.complex128], turns: list[bool], noise: float) -> Expansion:
    """Return the harmonics above the noise; of m and −m, which are conjugate, the one whose first m is positive."""
    places = np.argwhere(np.abs(amplitude) > noise / 2)
    values = amplitude[tuple(places.T)]
    turning = np.array(turns)
    multipliers = np.where(turning, (places + 2) % TURNING_POINTS - 2, 0)
    powers = np.where(turning, 0, places)
    first = np.take_along_axis(multipliers, (multipliers != 0).argmax(axis=1)[:, None], axis=1)[:, 0]
    keep = first >= 0
    twice = np.where(first == 0, 1.0, 2.0)
    cosine, sine = twice * values.real, -twice * values.imag
    cosine, sine = (np.where(np.abs(part) > noise, part, 0.0) for part in (cosine, sine))
    keep &= (cosine != 0) | (sine != 0)
    order = np.lexsort((*multipliers[keep].T[::-1], *powers[keep].T[::-1]))
    return Expansion(
        multipliers[keep][order].astype(np.int64),
        powers[keep][order].astype(np.int64),
        cosine[keep][order],
        sine[keep][order],
    )

"""Distance of separate terms from the true torque of the robot.

What is compiled is a graph whose constants were found in float64: harmonics by a Fourier transform. Both it and the
torque of a robot with orthonormal rotations are, in every joint that turns, trigonometric polynomials of at most second
degree (parabolas in those that slide), times the motions of the joints. Their difference is one too: on a grid of five
(three) points a joint it is evaluated with proved radii, and a polynomial that is small there is small everywhere. The
rotations of the robot itself may be a little off, which is charged (`recursion_truth`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.chain import Chain
from bddtorque.dynamics.matrices import weightless
from bddtorque.dynamics.terms import Key, Terms, sample_grid
from bddtorque.proof.recursion_truth import bounded_chain, bounded_torques, rotation_errors
from bddtorque.robots.robot import Robot
from bddtorque.words.bounded import SINE_RADIUS, ULP, Bounded

Floats = npt.NDArray[np.float64]

Samples = dict[Key, Bounded]
"""Coefficients on the grid, by kind, torque and moving joints as in `Term`."""


def term_errors(robot: Robot, compiled: Terms, reach: Sequence[float], motion: Mapping[str, float]) -> Floats:
    """Return, for each torque, how far its terms can be from the true torque, N·m or N, shape (n,).

    `reach` is the largest |position| (n,), `motion` the largest magnitude of every qd and qdd by name.
    """
    grid = _grid(robot)
    truth = _chain_samples(bounded_chain(robot), grid)
    other = _expansion_samples(compiled, grid)
    spread = _spread(robot, grid, reach)
    errors = np.zeros(robot.degrees_of_freedom)
    for (kind, i, moved), sample in truth.items():
        # J is symmetric and its expansion is found once, from the samples above the diagonal
        found = other.get((kind, i, moved), other.get((kind, moved[0], (i,))) if kind == "inertial" else None)
        difference = sample - found if found is not None else sample
        worst = float((np.abs(difference.value) + difference.radius).max())
        names = [f"{'qdd' if kind == 'inertial' else 'qd'}{j + 1}" for j in moved]
        errors[i] += worst * spread * float(np.prod([motion[name] for name in names]))
    # how far the sampled robot is from one with orthonormal rotations counts on the grid, for each of the terms, and
    # once more beside it
    skewed = rotation_errors(robot, reach, motion)
    counted = len(truth) / robot.degrees_of_freedom
    errors += skewed * (spread * counted + 1)
    return errors


def _grid(robot: Robot) -> Floats:
    """Return the sample positions; the first joint stands still where its position cannot matter.

    Its rotation, orthonormal or not, only tells how gravity falls on the first axis: this is asked without rounding.
    """
    first = robot.joints[0]
    grid = sample_grid([joint.kind.turns for joint in robot.joints])
    across = (
        sum(Fraction(row[k]) * Fraction(g) for row, g in zip(first.rotation, robot.gravity, strict=True))
        for k in (0, 1)
    )
    if (first.kind.turns and any(across)) or not robot.serial:
        return grid
    still: Floats = grid[grid[:, 0] == grid[0, 0]]
    return still


def _spread(robot: Robot, grid: Floats, reach: Sequence[float]) -> float:
    """Return how much larger than on the grid a polynomial can be anywhere: all its amplitudes, at full reach.

    An amplitude is a mean over the grid, or a row of the parabola's matrix, which sums up to 2; a power of a position
    beyond 1 m makes it larger.
    """
    spread = float(len(grid))
    for joint, far in zip(robot.joints, reach, strict=True):
        if not joint.kind.turns:
            spread *= 2.0 * max(1.0, far) ** 2
    return spread


def _chain_samples(chain: Chain, grid: Floats) -> Samples:
    """Return every coefficient of a chain on the grid, with radii."""
    n = grid.shape[1]
    floating = weightless(chain)
    sine, cosine, q = (np.empty(n, dtype=object) for _ in range(3))
    for j in range(n):
        angle = grid[:, j]
        radius = SINE_RADIUS + 8 * ULP * np.abs(angle)
        sine[j], cosine[j] = Bounded(np.sin(angle), radius), Bounded(np.cos(angle), radius)
        q[j] = Bounded(grid[:, j].copy(), 0.0)

    def run(which: Chain, qd: Floats, qdd: Floats) -> list[Bounded]:
        return bounded_torques(which, sine, cosine, q, qd, qdd)

    unit, zero = np.eye(n), np.zeros(n)
    samples: Samples = {}
    squares = []
    for j in range(n):
        for i, value in enumerate(run(floating, zero, unit[j])):
            samples["inertial", i, (j,)] = value
        squares.append(run(floating, unit[j], zero))
        for i, value in enumerate(squares[j]):
            samples["centripetal", i, (j, j)] = value
    for j, k in combinations(range(n), 2):
        for i, value in enumerate(run(floating, unit[j] + unit[k], zero)):
            samples["coriolis", i, (j, k)] = value - squares[j][i] - squares[k][i]
    for i, value in enumerate(run(chain, zero, zero)):
        samples["gravity", i, ()] = value
    return samples


def _expansion_samples(terms: Terms, grid: Floats) -> Samples:
    """Return the expansions on the grid, with radii; those that were not found are zero and left out."""
    samples: Samples = {}
    for term in terms.terms:
        size = float(np.abs(term.expansion.cosine).sum() + np.abs(term.expansion.sine).sum())
        # every harmonic: its sine, the rounding of its argument (some turns), three products; then the sum
        radius = size * (SINE_RADIUS + ULP * (200.0 + len(term.expansion)))
        samples[term.kind, term.joint, term.motion] = Bounded(term.expansion(grid), radius)
    return samples

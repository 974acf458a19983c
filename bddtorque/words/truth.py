"""How far the harmonics found in float64 can be from the real functions they stand for.

The samples behind the harmonics (`dynamics.terms`) are taken again with a proved radius. A discrete Fourier transform
averages, so that no amplitude errs by more than the worst sample and the rounding of the transform itself; the error of
the function is at most that of all amplitudes together, and what was dropped as noise.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.chain import Chain, chain_of
from bddtorque.dynamics.matrices import weightless
from bddtorque.dynamics.newton_euler import WRENCH, newton_euler
from bddtorque.dynamics.terms import NOISE, TermKind, Terms, sample_grid
from bddtorque.robots.model import Robot
from bddtorque.words.bounded import SINE_RADIUS, ULP, Bounded

Floats = npt.NDArray[np.float64]

TRANSFORM_ULPS = 64
"""Units in the last place, of the largest sample, that a transform along one axis can lose (five or three terms)."""


Samples = dict[tuple[TermKind, int, tuple[int, ...]], Bounded]
"""Coefficients on the grid, by kind, torque and moving joints as in `Term`."""


def torque_errors(terms: Terms, reach: Floats, motion: dict[str, float]) -> Floats:
    """Return, for each torque, how far the sum of expansions can be from the true torque, N·m or N, shape (n,).

    `reach` is the largest |position| (n,), `motion` the largest magnitude of every qd and qdd by name. Terms that were
    left out as noise are charged as well.
    """
    robot = terms.robot
    revolute = [joint.revolute for joint in robot.joints]
    grid = sample_grid(revolute)
    found = {(term.kind, term.joint, term.motion) for term in terms.terms}
    largest = _largest_by_kind(terms)
    # what an error of all amplitudes can amount to: a power of a position beyond 1 m makes it larger
    spread = len(grid) * float(
        np.prod([1.0 if turns else max(1.0, far) ** 2 for turns, far in zip(revolute, reach, strict=True)])
    )
    errors = np.zeros(robot.degrees_of_freedom)
    samples = _bounded_samples(robot, grid)
    for kind, i, moved in samples:
        # J is symmetric and its expansion is found once, from the samples above the diagonal
        key = (kind, moved[0], (i,)) if kind == "inertial" and i > moved[0] else (kind, i, moved)
        sample, noise = samples[key], NOISE * largest.get(kind, 0.0)
        if key in found:
            error = _amplitude_error(sample, revolute) + noise
        else:  # not found at all, for it is below the noise wherever it was sampled
            error = float((np.abs(sample.value) + sample.radius).max()) * _parabolas(revolute) + noise
        names = [f"{'qdd' if kind == 'inertial' else 'qd'}{j + 1}" for j in moved]
        errors[i] += error * spread * float(np.prod([motion[name] for name in names]))
    return errors


def _amplitude_error(sample: Bounded, revolute: list[bool]) -> float:
    """Return how far an amplitude can be off that was found from another rounding of the same samples."""
    rounding = TRANSFORM_ULPS * len(revolute) * ULP * float(np.abs(sample.value).max())
    # either rounding is within its radius of the truth
    return (2 * float(np.max(sample.radius)) + rounding) * _parabolas(revolute)


def _parabolas(revolute: list[bool]) -> float:
    """Return how much larger than its samples an amplitude can be: a row of the parabola's matrix sums up to 2."""
    return 2.0 ** revolute.count(False)


def _largest_by_kind(terms: Terms) -> dict[TermKind, float]:
    largest: dict[TermKind, float] = {}
    for term in terms.terms:
        amplitude = float(np.abs(np.concatenate([term.expansion.cosine, term.expansion.sine])).max())
        largest[term.kind] = max(largest.get(term.kind, 0.0), amplitude)
    return largest


def bounded_chain(robot: Robot) -> Chain:
    """Return the robot's chain with a radius on what was computed from its parameters: the pseudo-inertias."""
    chain = chain_of(robot)
    body = np.empty(chain.body.shape, dtype=object)
    for i in range(len(body)):
        # every entry is a sum of a few products no larger than these; the payload's move is two matrix products
        scale = float(np.abs(chain.body[i]).max()) * (1 + float(np.abs(np.array(robot.tip.translation)).max())) ** 2
        for row, column in np.ndindex(4, 4):
            value = float(chain.body[i][row, column])
            body[i, row, column] = value if value == 0.0 else Bounded(value, 64 * ULP * scale)
    return chain._replace(body=body)


def _bounded_samples(robot: Robot, grid: Floats) -> Samples:
    """Return every coefficient on the grid, with radii; keys as in `Term`."""
    n = robot.degrees_of_freedom
    chain = bounded_chain(robot)
    floating = weightless(chain)
    angles = [Bounded(grid[:, j].copy(), 4 * ULP * np.abs(grid[:, j])) for j in range(n)]
    sine, cosine = np.empty(n, dtype=object), np.empty(n, dtype=object)
    for j in range(n):
        radius = SINE_RADIUS + 4 * ULP * 2 * np.pi
        sine[j], cosine[j] = Bounded(np.sin(grid[:, j]), radius), Bounded(np.cos(grid[:, j]), radius)
    q = np.array(angles, dtype=object)

    def run(which: Chain, qd: Floats, qdd: Floats) -> list[Bounded]:
        tau, wrench = np.zeros(n, dtype=object), np.zeros((n, WRENCH), dtype=object)
        newton_euler(which, sine, cosine, q, qd, qdd, tau, wrench)
        return [value if isinstance(value, Bounded) else Bounded(np.float64(value)) for value in tau]

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

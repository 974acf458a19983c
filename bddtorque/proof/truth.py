"""How far the real function that is compiled can be from the true torque of the robot.

What is compiled is a graph whose constants were found in float64: harmonics by a Fourier transform, or a chain
regrouped for fewer operations. Both it and the truth are, in every revolute joint, trigonometric polynomials of at most
second degree (parabolas in prismatic ones), times the motions of the joints. Their difference is one too: on a grid of
five (three) points a joint it is evaluated with proved radii, and a polynomial that is small there is small everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.chain import Chain, chain_of
from bddtorque.dynamics.coupling import drive_torques
from bddtorque.dynamics.matrices import weightless
from bddtorque.dynamics.newton_euler import WRENCH, newton_euler
from bddtorque.dynamics.regroup import Regrouped
from bddtorque.dynamics.terms import Key, Terms, sample_grid
from bddtorque.graph.graph import Graph, Op
from bddtorque.robots.robot import Robot
from bddtorque.words.bounded import SINE_RADIUS, ULP, Bounded, Interval

Floats = npt.NDArray[np.float64]

Samples = dict[Key, Bounded]
"""Coefficients on the grid, by kind, torque and moving joints as in `Term`."""


def torque_errors(
    robot: Robot, compiled: Terms | Regrouped, reach: Sequence[float], motion: dict[str, float]
) -> Floats:
    """Return, for each torque, how far what is compiled can be from the true torque, N·m or N, shape (n,).

    `reach` is the largest |position| (n,), `motion` the largest magnitude of every qd and qdd by name.
    """
    grid = _grid(robot)
    truth = chain_samples(bounded_chain(robot), grid, np.zeros(robot.degrees_of_freedom))
    if isinstance(compiled, Terms):
        other = _expansion_samples(compiled, grid)
    else:
        other = chain_samples(compiled.chain, grid, compiled.offset)
    spread = _spread(robot, grid, reach)
    errors = np.zeros(robot.degrees_of_freedom)
    for (kind, i, moved), sample in truth.items():
        # J is symmetric and its expansion is found once, from the samples above the diagonal
        found = other.get((kind, i, moved), other.get((kind, moved[0], (i,))) if kind == "inertial" else None)
        difference = sample - found if found is not None else sample
        worst = float((np.abs(difference.value) + difference.radius).max())
        names = [f"{'qdd' if kind == 'inertial' else 'qd'}{j + 1}" for j in moved]
        errors[i] += worst * spread * float(np.prod([motion[name] for name in names]))
    return errors


def folding_errors(graph: Graph, ranges: Sequence[Interval]) -> list[float]:
    """Return, for each output, what float64 can have lost where the tracer folded constants; `ranges` holds the nodes.

    Every constant is taken to be off by a few units in its last place; the errors are carried to the outputs by the
    largest magnitudes.
    """
    errors: list[float] = []
    for index, node in enumerate(graph.nodes):
        left, right = node.left >> 1, node.right >> 1
        match node.op:
            case Op.INPUT:
                errors.append(0.0)
            case Op.CONSTANT:
                errors.append(16 * ULP * ranges[index].magnitude)
            case Op.SUM:
                errors.append(errors[left] + errors[right])
            case Op.PRODUCT if not math.isfinite(ranges[right].magnitude):
                errors.append(0.0)  # a multiple of an angle is exact
            case Op.PRODUCT:
                crossed = ranges[left].magnitude * errors[right] + ranges[right].magnitude * errors[left]
                errors.append(crossed + errors[left] * errors[right])
            case _:
                errors.append(errors[left])  # sine and cosine are no steeper than their argument
    return [errors[reference >> 1] * (1 + 1e-9) for reference in graph.outputs]


def _grid(robot: Robot) -> Floats:
    """Return the sample positions; the first joint stands still where its position cannot matter."""
    grid = sample_grid([joint.revolute for joint in robot.joints])
    falling = np.array(robot.joints[0].rotation).T @ np.array(robot.gravity)
    if (robot.joints[0].revolute and falling[:2].any()) or not robot.serial:
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
        if not joint.revolute:
            spread *= 2.0 * max(1.0, far) ** 2
    return spread


def bounded_chain(robot: Robot) -> Chain:
    """Return the robot's chain with a radius on what was computed from its parameters: the pseudo-inertias."""
    chain = chain_of(robot)
    largest = _largest_parts(robot)
    body = np.empty(chain.body.shape, dtype=object)
    for place in np.ndindex(body.shape):
        value = float(chain.body[place])
        body[place] = Bounded(value, 64 * ULP * largest[place]) if largest[place] else value
    return chain._replace(body=body)


def _largest_parts(robot: Robot) -> Floats:
    """Return (k, 4, 4): for each entry of the pseudo-inertias, what its summands amount to without regard to sign."""
    bodies = []
    for link in (*(member.link for member in robot.members), *([robot.payload] if robot.payload else [])):
        c, K = np.abs(np.array(link.centre_of_mass)), np.abs(np.array(link.inertia))
        K = K + K.T + link.mass * (c @ c * np.eye(3) + np.outer(c, c))
        parts = np.zeros((4, 4))
        parts[:3, :3] = K + np.trace(K) / 2 * np.eye(3)
        parts[:3, 3] = parts[3, :3] = link.mass * c
        parts[3, 3] = link.mass
        bodies.append(parts)
    if robot.payload:
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = np.abs(np.array(robot.tip.rotation)), np.abs(np.array(robot.tip.translation))
        payload, place = bodies.pop(), robot.tip_member("a payload")
        bodies[place] = bodies[place] + T @ payload @ T.T
    return np.array(bodies)


def bounded_torques(chain: Chain, sine: Any, cosine: Any, q: Any, qd: Any, qdd: Any) -> list[Bounded]:
    """Return the torques of the drives of a chain, all arguments (k,) arrays of floats or `Bounded`."""
    tau, wrench = np.zeros(len(q), dtype=object), np.zeros((len(q), WRENCH), dtype=object)
    newton_euler(chain, sine, cosine, q, qd, qdd, tau, wrench)
    drives = drive_torques(chain, tau)
    return [value if isinstance(value, Bounded) else Bounded(np.float64(value)) for value in drives]


def chain_samples(chain: Chain, grid: Floats, offset: Floats) -> Samples:
    """Return every coefficient of a chain on the grid, with radii; revolute joints stand at q + offset."""
    n = grid.shape[1]
    floating = weightless(chain)
    sine, cosine, q = (np.empty(n, dtype=object) for _ in range(3))
    for j in range(n):
        angle = grid[:, j] + offset[j]
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

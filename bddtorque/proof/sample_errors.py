"""How far the coefficients of a torque that `terms` samples in float64 can be from the true ones.

Newton-Euler is run on magnitudes: every number is replaced by the largest that it can be at any position, sines and
cosines by 1, and nothing cancels. Each operation adds what it can round off, and what its operands are off by (forward
error analysis, as in N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition). So one run holds for all
positions, and for each of three robots that differ by no more than the radii of their numbers:

- the true one, whose pseudo-inertias are those of its parameters;
- the one that is sampled, in float64;
- an ideal one, whose rotations are orthogonal, whose axes are parallel and whose first axis is vertical where they
  almost are. Its coefficients are of the second degree exactly, so that fifths of a turn are enough.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.chain import Chain, chain_of
from bddtorque.dynamics.matrices import weightless
from bddtorque.proof.truth import bounded_chain, bounded_torques
from bddtorque.robots.robot import Robot
from bddtorque.words.bounded import ULP, Bounded, Magnitude

Floats = npt.NDArray[np.float64]

NOTHING = 1e-12
"""Of an axis, and of gravity: what is no more across is taken to be none, and counted."""
ROUNDING = 2.0**-53
"""How much of a result float64 may lose, once."""
ROUNDINGS = 2.0**15
"""How often it may lose that on the way to a bound, of all control points together: see `rounding_loss`."""
FURTHEST_CONTROL = 1.51
"""No control point of 1, a sine or a cosine is further out, over arcs of a quarter turn."""
_SLACK = 1 + 1e-9
"""Magnitudes are rounded, too: by far less."""


@lru_cache(maxsize=2)
def sample_errors(robot: Robot, far: tuple[float, ...]) -> dict[tuple[str, int, int], Floats]:
    """Return how far each coefficient of all torques can be off, (n,), N·m or N for motions of 1.

    Keys are those of `Rows`. `far` is how far each position goes, at least 1 m where it slides.
    """
    chain, n = _magnitudes(robot), len(far)
    pairs = [*combinations(range(n), 2)]
    moving = np.concatenate([np.zeros((n, n)), np.eye(n), *(np.eye(n)[[pair]].sum(axis=1) for pair in pairs)])
    pushed = np.zeros_like(moving)
    pushed[:n] = np.eye(n)
    sine = [Magnitude(1.0, ULP)] * n
    q = [Magnitude(each) for each in far]
    motion = [[Magnitude(column) for column in each.T] for each in (moving, pushed)]
    still = [0.0] * n
    found = {}
    tau = bounded_torques(weightless(chain), sine, sine, q, *motion)
    errors = np.stack([np.broadcast_to(each.radius, len(moving)) for each in tau], axis=1)
    sizes = np.stack([np.broadcast_to(each.value, len(moving)) for each in tau], axis=1)
    for j in range(n):
        found["qdd", j, -1], found["qd", j, j] = errors[j], errors[n + j]
    for k, (i, j) in enumerate(pairs, 2 * n):  # less two squares, neither of them larger
        found["qd", j, i] = 3.0 * errors[k] + 4.0 * ULP * sizes[k]
    found["still", -1, -1] = np.array([each.radius for each in bounded_torques(chain, sine, sine, q, still, still)])
    return {key: _SLACK * each for key, each in found.items()}


def rounding_loss(positions: int) -> float:
    """Return how much float64 may lose from coefficients to a bound, relative to the magnitudes they are summed from.

    With u = 2^-53, and s these magnitudes, control points of d positions and all rows together are below b = 1.51^d s.
    Losses are counted in u·b, for at most 7 velocities and 36 rows, to the first order; the second is far below what is
    left of ROUNDINGS:

    - coefficients, each a sum of at most 36 products of three, and three products and sums for a sliding position: 64;
    - control points: entries of matrices are off by 400 u at most (sines by 9 u), and are multiplied and added five
      times; 7 positions, then 3 halvings, which are means: 10 · 406. Ends of halves are rounded, and are taken for
      those of each other: 7 · 16;
    - the bound by corners: 36 rows, added up; then 37 changes of a velocity, which change each slope by up to 2 rows,
      37 · 3, and the sum by up to 2 slopes, 37 · (2 · 111 + 3). Together 8,400;
    - or the bound of a form, of which this is the smaller: 28 products of three, added up, 32; 7 tangents, each off by
      95 with its slope below 5 b, and their sum, below 78 b, 15 times: 1,900. Where Cholesky's factors are found a form
      is concave but for u (v + 1) times its trace (Higham, theorem 10.3), 81, times 4 · 7 for how far velocities are
      from where the tangent touches, or 8 times that where its diagonal dominates: 2,500.
    """
    return ROUNDINGS * ROUNDING * FURTHEST_CONTROL**positions


def _magnitudes(robot: Robot) -> Chain:
    """Return a chain of magnitudes, with radii that hold the true robot, the sampled and the ideal one."""
    plain, bounded = chain_of(robot), bounded_chain(robot)
    rotation = np.abs(plain.rotation)
    defect = np.abs(np.einsum("kji,kjl->kil", plain.rotation, plain.rotation) - np.eye(3)).max(axis=(1, 2)) + 8 * ULP
    across = rotation[:, :2, 2].max(axis=1)
    radii = defect + np.where(across <= NOTHING, 2.0 * across, 0.0)
    up = np.abs(plain.base_acceleration)
    slack = 2.0 * across_gravity(plain) + 8 * ULP * float(up.max()) if turns_idly(plain) else 0.0
    return plain._replace(
        rotation=_objects(rotation, np.broadcast_to(radii[:, None, None], rotation.shape)),
        translation=_objects(np.abs(plain.translation), np.zeros(plain.translation.shape)),
        body=np.vectorize(_magnitude, otypes=[object])(bounded.body),
        rotor=_objects(np.abs(plain.rotor), np.zeros(plain.rotor.shape)),
        base_acceleration=_objects(up, np.full(3, slack)),
    )


def turns_idly(chain: Chain) -> bool:
    """Whether no torque depends on the first position: it turns about the vertical."""
    largest = float(np.abs(chain.base_acceleration).max())
    return bool(chain.revolute[0] and across_gravity(chain) <= NOTHING * max(1.0, largest))


def across_gravity(chain: Chain) -> float:
    """Return how much of gravity is across the first axis, m/s²."""
    return float(np.abs(np.cross(chain.rotation[0][:, 2], chain.base_acceleration)).max())


def _magnitude(number: Bounded | float) -> Magnitude:
    return (
        Magnitude(abs(number.value), number.radius) if isinstance(number, Bounded) else Magnitude(np.abs(float(number)))
    )


def _objects(values: Floats, radii: Floats) -> npt.NDArray[np.object_]:
    objects: npt.NDArray[np.object_] = np.vectorize(Magnitude, otypes=[object])(values, radii)
    return objects

"""Distance of the coefficients of a torque that `terms` samples in float64 from the true ones.

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
from bddtorque.dynamics.terms import MAX_JOINTS
from bddtorque.proof.recursion_truth import bounded_chain, bounded_torques
from bddtorque.robots.robot import Robot
from bddtorque.words.bounded import ULP, Bounded, Magnitude

Floats = npt.NDArray[np.float64]

NOTHING = 1e-12
"""Of an axis, and of gravity: what is no more across is taken to be none, and counted."""
ROUNDING = 2.0**-53
"""Share of a result that float64 may lose, once."""
HALVINGS = 6
"""Of a box whose control points are computed from coefficients, at most: its halves have means of them."""
MAX_CONTROL = 1.51
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


def gamma(count: int) -> float:
    """Return n·u / (1 - n·u), u = 2^-53: a product of n factors 1 + d or 1 / (1 + d), |d| ≤ u, is that near to 1.

    Terms of all orders are in it; and γ_m + γ_n + γ_m·γ_n ≤ γ_(m+n), so that the counts of steps one after the other
    add up (Higham, lemmas 3.1 and 3.3).
    """
    return count * ROUNDING / (1.0 - count * ROUNDING)


def rounding_loss(positions: int) -> float:
    """Return how much float64 may lose from coefficients to a bound, relative to the magnitudes they are summed from.

    With s these magnitudes, control points of d positions and all rows together are below b = 1.51^d s, and so are
    bounds. The loss is at most γ_n·b, with n the sum of what is counted here for seven joints: 43 rows, and v = 8
    motions of a form, the constant 1 among them where velocities do not run from -x to x. Operations that are exact
    (times 1/2, 1 or 2) do not count, and where an error is relative to less than b, b is taken.

    - Coefficients, each a sum of at most 36 products of three: 38. A sliding position mixes them: 8 each.
    - Control points. Entries of matrices of positions are off by 400 u at most, and those of halvings, which are means,
      by 69 u of themselves (cosines by 10 u, of 0.7 or more). (1 + 400 u)^k - 1 ≤ γ_400k. Five products are added up:
      6 more.
    - Middles of boxes are rounded, by 2 u each, and a whole turn is; a torque changes by 2 s a rad at most: 16 for
      each position.
    - Bounds are means of bounds in halves: as control points, once more for every halving.
    - The bound by corners: 43 rows added up, 45. Then T = v - 2 + 2^(v-2) changes of a velocity. A slope is below b,
      and changes by one addition: e' ≤ (1 + u) e + u b gives γ_T b. The sum changes by at most two slopes:
      e' ≤ (1 + u) (e + 2 γ_T b) + u b gives γ_(T (2 T + 1)) b. One more slope, and three additions of up to 2 b: T + 6.
    - Or the bound of a form, of which this is the smaller: 36 products of three, added up, 38, and 8 more additions. 7
      tangents: slopes below 5 b off by 25, times 2, and 112 for all that is multiplied and added to a sum below 78 b:
      1,134. Where Cholesky's factors are found a form is concave but for γ_8 / (1 - γ_8) times its trace, below 8 b,
      and the rounding of its diagonal (Higham, theorem 10.3): 81 with room. Times 4 · 7 for the squares of how far
      velocities are from where the tangent touches: 2,268. Where its diagonal dominates instead, by sums off by 10, it
      is less. Together below 3,500.
    """
    v = MAX_JOINTS + 1
    rows, changes = v * (v + 1) // 2 - 1 + MAX_JOINTS + 1, v - 2 + 2 ** (v - 2)
    coefficients = 38 + 8 * MAX_JOINTS
    controls = (MAX_JOINTS + HALVINGS) * (400 + 6) + 16 * MAX_JOINTS
    corners = rows + 2 + changes * (2 * changes + 1) + changes + 6
    count = coefficients + controls + HALVINGS * (400 + 6) + corners
    return _SLACK * gamma(count) * MAX_CONTROL**positions


def grid_loss(positions: int, sliding: int, motions: int) -> float:
    """Return how much float64 may lose from coefficients to a bound by grids (`grid_search`), relative to magnitudes.

    These are those that coefficients are summed from, each times the multipliers of its waves. With v = `motions`
    velocities, the constant 1 among them where these do not run from -x to x, and as many accelerations, there are at
    most r = v (v + 1) / 2 + v + 1 rows. What is counted is counted as in `rounding_loss`:

    - Coefficients, each a sum of at most r products of three: r + 2. A sliding position mixes them: 8 each.
    - Multipliers are quotients of two sums of up to 128 products of sines off by 10 u, of which half are not small:
      1000. A table has them times a cosine off by 10 u. Five products are added up: 6 more. Together 1100 a position.
    - Amplitudes: sums of at most 5^d squares, and their roots: 5^d + 4, and 3^d of these are added up.
    - All rows together: r + 2. Corners and forms, as there, where v = 8 has 3500.
    """
    rows, changes = motions * (motions + 1) // 2 + motions + 1, max(0, motions - 2) + 2 ** max(0, motions - 2)
    count = 2 * rows + 4 + 8 * sliding + 1100 * positions + 5**positions + 3**positions + 4
    count += changes * (2 * changes + 1) + changes + 6 + 60 * max(8, motions) ** 2
    return _SLACK * gamma(count)


def _magnitudes(robot: Robot) -> Chain:
    """Return a chain of magnitudes, with radii that hold the true robot, the sampled and the ideal one."""
    plain, bounded = chain_of(robot), bounded_chain(robot)
    rotation = np.abs(plain.rotation)
    defect = np.abs(np.einsum("kji,kjl->kil", plain.rotation, plain.rotation) - np.eye(3)).max(axis=(1, 2)) + 8 * ULP
    across = rotation[:, :2, 2].max(axis=1)
    radii = defect + np.where(across <= NOTHING, 2.0 * across, 0.0)
    up = np.abs(plain.base_acceleration)
    idle = idle_positions(plain) & plain.turns
    slack = 2.0 * across_gravity(plain) + 8 * ULP * float(up.max()) if idle.any() else 0.0
    return plain._replace(
        rotation=_objects(rotation, np.broadcast_to(radii[:, None, None], rotation.shape)),
        translation=_objects(np.abs(plain.translation), np.zeros(plain.translation.shape)),
        body=np.vectorize(_magnitude, otypes=[object])(bounded.body),
        rotor=_objects(np.abs(plain.rotor), np.zeros(plain.rotor.shape)),
        base_acceleration=_objects(up, np.full(3, slack)),
    )


def idle_positions(chain: Chain) -> npt.NDArray[np.bool_]:
    """Return which positions matter to no torque.

    Those of joints that slide on a base at rest, or on others that do; and that of the first to turn, if it does so
    about the vertical and all before it slide along that.
    """
    idle, floating, upright = np.zeros((3, len(chain.turns)), dtype=np.bool_)
    vertical = across_gravity(chain) <= NOTHING * max(1.0, float(np.abs(chain.base_acceleration).max()))
    for k, carrier in enumerate(chain.parent.tolist()):
        across = float(np.abs(chain.rotation[k][:2, 2]).max())
        upright[k] = (upright[carrier] and across <= NOTHING) if carrier >= 0 else vertical and k == 0
        on_sliders = carrier < 0 or floating[carrier]
        floating[k] = on_sliders and not chain.turns[k]
        idle[k] = floating[k] or (on_sliders and upright[k])
    return idle


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

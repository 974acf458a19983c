"""The coefficients of one torque, as a function of positions, for motions that run from -1 to 1.

    tau = G + Σ_j J_j q̈_j + Σ_{j≤k} C_jk q̇_j q̇_k ,    q̇_j = middle_j + radius_j · y_j ,  -1 ≤ y_j ≤ 1 .

Each coefficient is a tensor of what 1, cos q, sin q, cos 2q, sin 2q of every angle, or 1, x, x² of a sliding position,
are multiplied with: known from its values at fifths of a turn, as in `terms`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.chain import chain_of
from bddtorque.dynamics.terms import (
    FIFTH_COSINES,
    FIFTH_SINES,
    MAX_JOINTS,
    PARABOLA,
    SLIDING_POINTS,
    TURNING_POINTS,
    grid_turns,
    mix,
    sample_coefficients,
    sample_grid,
)
from bddtorque.proof.control_points import POINTS
from bddtorque.proof.sample_errors import NOTHING, gamma, idle_positions, rounding_loss, sample_errors
from bddtorque.robots.robot import Robot
from bddtorque.words.formats import TURN

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Rows = dict[tuple[str, int, int], Floats]
"""Tensors of what is multiplied with nothing, ("still", -1, -1), an acceleration, ("qdd", j, -1), or two velocities."""

NEARLY_EVEN = 5e-4
"""Of its radius: a velocity whose middle is closer to 0 is taken to run from -x to x, a little further than it does."""


@dataclass(frozen=True)
class MotionRows:
    """The coefficients of one torque, in the form `control_points` reads.

    Attributes
    ----------
    positions
        (d,), which positions matter.
    turned
        (n, n), integers: what makes positions of the joints out of these.
    coefficients, layout
        Of all rows one after the other; and (rows, d + 1) strides of the positions in each row, and where it begins.
    products, accelerations, still
        Rows of what is multiplied with two velocities, (v, v) below the diagonal, with an acceleration, and with
        nothing, (1,); -1 for none.
    even
        True if velocities run from -x to x: then any one sign may be chosen. Else the first of the v is the constant 1.
    factors
        (2, rows), which two motions a coefficient is multiplied with: velocities, accelerations, and 1.
    shares
        (rows, 2): what a coefficient, and its magnitude, are multiplied with in a bound; 0 for two velocities.
    moving, pushed
        The joints whose velocities and whose accelerations matter, in the order of these rows.
    total
        No torque is larger: all coefficients together.
    off
        Most that the torque may differ from these rows, but for rounding.
    summed
        Magnitudes of all that these rows are summed from.
    """

    positions: Integers
    turned: Integers
    coefficients: Floats
    layout: Integers
    products: Integers
    accelerations: Integers
    still: Integers
    even: bool
    factors: Integers
    shares: Floats
    moving: Integers
    pushed: Integers
    total: float
    off: float
    summed: float

    @property
    def left_out(self) -> float:
        """Most that the torque may differ from these rows, and float64 may lose on the way to a bound by boxes."""
        return self.off + rounding_loss(len(self.positions)) * self.summed


def motion_rows(robot: Robot, place: int, direction: int, low: Floats, high: Floats) -> MotionRows | None:
    """Return the coefficients of a torque, or of minus it, for inputs (3n,) between two ends; None if there are none.

    There are none of robots with too many positions that matter, and of joints that follow others or are made of
    several motions.
    """
    if robot.coupled or np.count_nonzero(~idle_positions(chain_of(robot))) > MAX_JOINTS:
        return None
    n = len(robot.joints)
    middle, radius = 0.5 * (low + high), 0.5 * (high - low)
    speed, widest = middle[n : 2 * n].copy(), radius[n : 2 * n].copy()
    even = bool(np.all(np.abs(speed) <= NEARLY_EVEN * widest))
    if even:
        widest, speed = widest + np.abs(speed), 0.0 * speed
    turned = _absolute_angles(robot, low, high)
    reach = (np.abs(middle) + radius).tolist()
    far = tuple(1.0 if joint.kind.turns else max(1.0, reach[j]) for j, joint in enumerate(robot.joints))
    rows, errors = _rows(robot, place, tuple(map(tuple, turned.tolist())), far)
    own, size, off = _moved(rows, errors, direction, (speed, widest), (middle[2 * n :], radius[2 * n :]))
    for j, joint in enumerate(robot.joints):
        if not joint.kind.turns:  # x = middle + radius · y
            m, r = middle[j], radius[j]
            size *= far[j] ** 2
            about = _padded(np.array([[1.0, m, m * m], [0.0, r, 2 * m * r], [0.0, 0.0, r * r]]))
            own = {key: each if each.shape[j] == 1 else mix(about, each, j) for key, each in own.items()}
    return _laid_out(own, turned, even, size, off) if own else None


def _absolute_angles(robot: Robot, low: Floats, high: Floats) -> Integers:
    """Return integers (n, n) that turn other positions into those of the joints, in which fewer matter to each row.

    Of joints with parallel axes, one on the other, every link has the sum of their angles up to it. Where a joint goes
    all around, so does that sum, whatever the others are.
    """
    chain, n = chain_of(robot), len(robot.joints)
    turned, side = np.eye(n, dtype=np.int64), np.ones(n, dtype=np.int64)
    idle = idle_positions(chain)
    for k in range(1, n):
        axis = chain.rotation[k][:, 2]
        whole = not idle[k - 1] and chain.turns[k - 1] and chain.turns[k] and high[k] - low[k] >= TURN
        if whole and chain.parent[k] == k - 1 and np.abs(axis[:2]).max() <= NOTHING:
            side[k] = side[k - 1] * (1 if axis[2] > 0 else -1)
            turned[k, k - 1 : k + 1] = -side[k], side[k]
    return turned


def _padded(matrix: Floats) -> Floats:
    """Return a matrix (3, 3) as one (5, 5)."""
    padded = np.zeros((POINTS, POINTS))
    padded[:3, :3] = matrix
    return padded


@lru_cache(maxsize=2)
def _rows(
    robot: Robot, place: int, turned: tuple[tuple[int, ...], ...], far: tuple[float, ...]
) -> tuple[Rows, dict[tuple[str, int, int], float]]:
    """Return the coefficients of one torque, and how far off they are, for motions in their own units.

    Positions are those that `turned` turns back; `far` is how far they go.
    """
    chain = chain_of(robot)
    turns, idle = chain.turns.tolist(), idle_positions(chain).tolist()
    shape = [
        1 if alone else TURNING_POINTS if turning else SLIDING_POINTS
        for alone, turning in zip(idle, turns, strict=True)
    ]
    points = np.stack(np.unravel_index(np.arange(math.prod(shape)), shape))
    kept = np.flatnonzero(~np.array(idle))
    some = [turns[k] for k in kept]
    grid, sines, cosines = np.zeros((3, points.shape[1], len(turns)))
    cosines += 1.0
    if some:
        grid[:, kept] = sample_grid(some)
        sines[:, kept], cosines[:, kept] = grid_turns(some)
    order = np.ravel_multi_index(list((np.array(turned) @ points) % POINTS), shape)
    found: Rows = {}
    for (kind, joint, motion), values in sample_coefficients(chain, grid, (sines, cosines)):
        if kind == "inertial" and place in (joint, *motion):
            found["qdd", motion[0] if joint == place else joint, -1] = values
        elif kind in ("centripetal", "coriolis") and joint == place:
            found["qd", max(motion), min(motion)] = values
        elif kind == "gravity" and joint == place:
            found["still", -1, -1] = values
    errors, spread, expanding = {}, 1.0, gamma(12 * len(shape))
    for points_, reach in zip(shape, far, strict=True):
        # a polynomial is no further out between points; the magnitudes of a matrix of `_expanded` add up to so much
        spread *= 1.0 if points_ == 1 else 2.0 * reach**2
        expanding *= 1.0 if points_ == 1 else 6.2 * reach**2
    for key, off in sample_errors(robot, far).items():
        worst = off[place]
        if key[0] == "qdd":  # the same coefficient of another torque may have been sampled
            worst = max(worst, sample_errors(robot, far)["qdd", place, -1][key[1]])
        errors[key] = (2.0 + spread) * worst + expanding * float(np.abs(found.get(key, 0.0)).max())
    rows = {key: _expanded(each[order].reshape(shape), turns) for key, each in found.items() if each.any()}
    return rows, errors


def _expanded(values: Floats, turns: list[bool]) -> Floats:
    """Return what the functions of each position are multiplied with, for values at fifths of a turn, or -1, 0, 1."""
    fifths = np.outer([1, 2], np.arange(TURNING_POINTS)) % TURNING_POINTS
    cosines, sines = np.array(FIFTH_COSINES)[fifths] * 0.4, np.array(FIFTH_SINES)[fifths] * 0.4
    from_turn = np.stack([np.full(5, 0.2), cosines[0], sines[0], cosines[1], sines[1]])
    for axis, turning in enumerate(turns):
        if values.shape[axis] == 1:
            continue
        if not turning:
            shape = list(values.shape)
            shape[axis] = POINTS - len(PARABOLA)
            values = np.concatenate((mix(PARABOLA, values, axis), np.zeros(shape)), axis=axis)
        else:
            values = mix(from_turn, values, axis)
    return values


def _moved(
    rows: Rows,
    errors: dict[tuple[str, int, int], float],
    direction: int,
    velocities: tuple[Floats, Floats],
    accelerations: tuple[Floats, Floats],
) -> tuple[Rows, float, float]:
    """Return the rows of motions from -1 to 1, the magnitudes of all that they are summed from, and how far off it is.

    ("qd", j, -1) is what a velocity alone is multiplied with.
    """
    moved: dict[tuple[str, int, int], Floats] = {}
    size = off = 0.0
    middle, radius = velocities
    for key, error in errors.items():
        kind, j, k = key
        parts = [(("still", -1, -1), 1.0)]
        if kind == "qdd":
            parts = [(("still", -1, -1), accelerations[0][j]), (key, accelerations[1][j])]
        elif kind == "qd":
            parts = [(("still", -1, -1), middle[j] * middle[k]), (key, radius[j] * radius[k])]
            parts += [(("qd", j, -1), radius[j] * middle[k]), (("qd", k, -1), radius[k] * middle[j])]
        for part, factor in parts:
            off += abs(factor) * error
            if factor and key in rows:
                size += abs(factor) * float(np.abs(rows[key]).sum())
                moved[part] = moved.get(part, 0.0) + direction * factor * rows[key]
    return moved, size, off


def _laid_out(rows: Rows, turned: Integers, even: bool, summed: float, off: float) -> MotionRows:
    """Return the rows one after the other, each with the positions it depends on.

    They are summed from magnitudes `summed`, and the torque may be `off` from them by so much.
    """
    n, total = len(turned), sum(float(np.abs(each).sum()) for each in rows.values())
    left_out, parts = off, {}
    for key, full in rows.items():
        row = full
        if (whole := float(np.abs(full).sum())) <= NOTHING * total:
            left_out += whole
            continue
        for axis in range(n):
            others = row.take(range(1, row.shape[axis]), axis=axis)
            if (rest := float(np.abs(others).sum())) <= NOTHING * total:
                left_out += rest
                row = row.take([0], axis=axis)
        if row.size > 1 or row.any():
            parts[key] = row
    positions = np.array([j for j in range(n) if any(each.shape[j] > 1 for each in parts.values())], np.int64)
    d = len(positions)
    layout = np.zeros((len(parts), d + 1), np.int64)
    layout[:, d] = np.cumsum([0, *(each.size for each in parts.values())])[:-1]
    for m, row in enumerate(parts.values()):
        size = 1
        for k in range(d - 1, -1, -1):
            if row.shape[positions[k]] > 1:
                layout[m, k], size = size, size * POINTS
    keys = list(parts)
    moving = sorted({j for kind, *joints in keys if kind == "qd" for j in joints if j >= 0})
    pushed = sorted({j for kind, j, _ in keys if kind == "qdd"})
    places = [-1, *moving] if moving and not even else moving
    products = np.full((len(places), len(places)), -1, np.int64)
    factors, shares = np.full((2, len(keys)), len(places) + len(pushed)), np.empty((len(keys), 2))
    for m, (kind, j, k) in enumerate(keys):
        if kind == "qd":
            factors[:, m] = places.index(j), places.index(k)
            products[factors[0, m], factors[1, m]] = m
        elif kind == "qdd":
            factors[0, m] = len(places) + pushed.index(j)
        # a square of a velocity adds nothing or all of it
        shares[m] = {"still": (1.0, 0.0), "qdd": (0.0, 1.0)}.get(kind, (0.5, 0.5) if j == k else (0.0, 0.0))
    still = keys.index(("still", -1, -1)) if ("still", -1, -1) in parts else -1
    return MotionRows(
        positions,
        turned,
        np.concatenate([np.ravel(each) for each in parts.values()]) if parts else np.zeros(0),
        layout,
        products,
        np.array([keys.index(("qdd", j, -1)) for j in pushed], np.int64),
        np.array([still]),
        even,
        factors,
        shares,
        np.array(moving, np.int64),
        np.array(pushed, np.int64),
        total,
        left_out * (1 + 1e-9),
        summed,
    )

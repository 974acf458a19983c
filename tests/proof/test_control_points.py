"""Bounds of a torque at control points: of all motions, and with what float64 loses on the way."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from exact_torques import exact_torques, mp
from examples_tried import examples

import bddtorque as bt
from bddtorque.dynamics.chain import chain_of
from bddtorque.dynamics.matrices import weightless
from bddtorque.dynamics.terms import FIFTH_COSINES, FIFTH_SINES, sample_coefficients
from bddtorque.proof.control_points import arc_controls, corner_bounds, halvings, largest_motions, size_bounds
from bddtorque.proof.motion_rows import motion_rows
from bddtorque.proof.sample_errors import MAX_CONTROL, gamma, rounding_loss, sample_errors
from bddtorque.proof.torque_boxes import MAX_ARC, TorqueSearch


@pytest.mark.parametrize("name", ["stanford", "planar3r_b", "ur5"])
def test_coefficients_are_the_torque(name: str) -> None:
    """One state is a box, too: its bound is the torque, with what float64 loses, and that is little."""
    robot = bt.load_robot(name)
    x = np.random.default_rng(0).uniform(-1, 1, 3 * len(robot.joints))
    tau = exact_torques(chain_of(robot), *np.split(x, 3))
    for place, direction in product(range(len(tau)), (1, -1)):
        own = motion_rows(robot, place, direction, x, x)
        assert own is not None
        search = TorqueSearch(own, robot, place, direction, x, x, 4)
        assert search.run(0.0, None, 10_000)
        assert 0.0 <= direction * (search.bound - tau[place]) <= 1e-6 * own.total


@pytest.mark.parametrize("name", ["stanford", "planar3r_b"])
def test_samples_are_off_by_no_more_than_is_counted(name: str) -> None:
    robot = bt.load_robot(name)
    revolute = [joint.kind.turns for joint in robot.joints]
    chain, n = chain_of(robot), len(revolute)
    floating, zero, unit = weightless(chain), np.zeros(n), np.eye(n)
    errors = sample_errors(robot, (1.0,) * n)
    fifths = np.random.default_rng(2).integers(0, 5, n)
    q = [2 * mp.pi * int(k) / 5 if turns else 0 for k, turns in zip(fifths, revolute, strict=True)]
    turned = np.array([FIFTH_SINES])[:, fifths], np.array([FIFTH_COSINES])[:, fifths]
    at = np.where(revolute, 2 * np.pi * fifths / 5, 0.0)
    squares = [exact_torques(floating, q, unit[j], zero) for j in range(n)]
    worst = 0.0
    for (kind, i, moved), values in sample_coefficients(chain, at[None], turned):
        if kind == "inertial":
            exact, key = exact_torques(floating, q, zero, unit[moved[0]])[i], ("qdd", moved[0], -1)
        elif kind == "gravity":
            exact, key = exact_torques(chain, q, zero, zero)[i], ("still", -1, -1)
        else:
            j, k = moved
            exact, key = squares[j][i], ("qd", k, j)
            if j != k:
                exact = exact_torques(floating, q, unit[j] + unit[k], zero)[i] - exact - squares[k][i]
        off = float(abs(values[0] - exact))
        assert off <= errors[key][i]
        worst = max(worst, off / errors[key][i])
    assert worst > 1e-3  # what is counted is no fancy


def test_control_points_are_off_by_no_more_than_is_counted() -> None:
    """See `rounding_loss`: 400 units, and no further out than 1.51, over the widest arcs and any others."""
    rng = np.random.default_rng(4)
    for width in (MAX_ARC * (1 + 1e-9), *rng.uniform(0.01, MAX_ARC, 5)):
        low = float(rng.uniform(-math.pi, math.pi))
        found = arc_controls(low, low + width)
        with mpmath.workdps(60):
            r, t = (mpmath.mpf(low + width) - low) / 2, (mpmath.mpf(low + width) + low) / 2
            c = mpmath.cos(r)
            weights = [1, 4 * c, 2 + 4 * c * c, 4 * c, 1]
            steps = [k * r / 2 for k in range(-2, 3)]
            basis = mpmath.matrix(
                [
                    [
                        w * mpmath.sin((r - x) / 2) ** (4 - i) * mpmath.sin((r + x) / 2) ** i / mpmath.sin(r) ** 4
                        for i, w in enumerate(weights)
                    ]
                    for x in steps
                ]
            )
            for column, function in enumerate((mpmath.cos, mpmath.sin)):
                for times in (1, 2):
                    values = mpmath.matrix([function(times * (t + x)) for x in steps])
                    exact = mpmath.lu_solve(basis, values)
                    own = found[:, 2 * times - 1 + column]
                    assert max(abs(a - b) for a, b in zip(own, exact, strict=True)) <= 400 * 2.0**-53
        assert np.abs(found).max() <= MAX_CONTROL


def test_means_of_halves_are_off_by_no_more_than_is_counted() -> None:
    """See `rounding_loss`: 69 units of themselves."""
    for radius in (MAX_ARC / 2 * (1 + 1e-9), *np.random.default_rng(8).uniform(1e-3, MAX_ARC / 2, 5)):
        with mpmath.workdps(40):
            c = mpmath.cos(mpmath.mpf(float(radius)))
            weights = [1, 4 * c, 2 + 4 * c * c, 4 * c, 1]
            for k, row in enumerate(halvings(float(radius))[0]):
                exact = [math.comb(4 - i, 4 - k) * w if i <= k else 0 for i, w in enumerate(weights)]
                for own, part in zip(row.tolist(), exact, strict=True):
                    assert abs(own - part / sum(exact)) <= 69 * 2.0**-53 * part / sum(exact)


def test_halves_have_the_same_function() -> None:
    for centre, radius in ((0.3, 0.7), (-2.0, math.pi / 4), (1.0, 1e-3)):
        whole = arc_controls(centre - radius, centre + radius)
        for side, matrix in zip((-1, 1), halvings(radius), strict=True):
            end = centre + side * radius
            half = arc_controls(*sorted((centre, end)))
            assert matrix.min() >= 0.0 and matrix.sum(axis=1) == pytest.approx(1.0, abs=1e-14)
            assert matrix @ whole == pytest.approx(half, abs=1e-13)
            ends = [1.0, math.cos(end), math.sin(end), math.cos(2 * end), math.sin(2 * end)]
            assert half[4 if side > 0 else 0] == pytest.approx(ends, abs=1e-13)


def test_roundings_multiply_to_no_more_than_gamma() -> None:
    """Terms of all orders: (1 + u)^n and its inverse, exactly; and counts of steps one after the other add up."""
    u = Fraction(1, 2**53)
    for count in (1, 2, 70, 9870, 20_000):
        bound = Fraction(gamma(count)) * (1 + 2 * u)  # which is itself rounded
        assert (1 + u) ** count - 1 <= bound and 1 / (1 - u) ** count - 1 <= bound
        assert count * u < bound <= count * u * (1 + 2 * (count + 2) * u)


@pytest.mark.parametrize("name", ["planar2r", "scara", "stanford", "puma560", "ur5"])
def test_what_is_lost_is_little(name: str) -> None:
    """A millionth of all coefficients, which was taken for it before, is more."""
    robot = bt.load_robot(name)
    high = np.repeat([math.pi, 2.0, 5.0], len(robot.joints))
    for place in (0, len(robot.joints) - 1):
        own = motion_rows(robot, place, 1, -high, high)
        assert own is not None and own.left_out <= 1e-7 * own.total
        of_samples = 5.0 * sample_errors(robot, (1.0,) * len(robot.joints))["qdd", place, -1][place]
        assert own.left_out > of_samples + rounding_loss(len(own.positions)) * own.total * 0.999


def _form(rng: np.random.Generator, count: int, even: bool) -> np.ndarray:
    """Return a random form, or one of few squares that open downward: of sums of velocities, as parallel axes have."""
    if rng.integers(2):
        own = rng.normal(size=(count, count)) * rng.uniform(0, 1, (count, count)) ** 2
    else:
        sums = rng.integers(-1, 2, (2, count))
        own = -np.einsum("ij,ik->jk", sums, sums) + 0.01 * rng.normal(size=(count, count))
    own = np.tril(own + own.T - np.diag(np.diag(own)))
    own[0, 0] = own[0, 0] if even else 0.0
    return own


def _largest_form(form: np.ndarray, even: bool) -> tuple[float, np.ndarray]:
    """Return the bound of a form, and where it is large: its coefficients are rows of one control point each."""
    count = len(form)
    rows = np.tril(np.arange(count**2).reshape(count, count) + 1) - 1
    nothing, at = np.zeros(0, np.int64), np.zeros(count)
    square = np.empty((count, count))
    room = (square, square.copy(), *np.empty((3, count)), np.empty(count, np.int64), np.empty(count**2, np.int64))
    layout, roles = np.arange(count**2).reshape(-1, 1), (rows, nothing, np.array([-1]))
    known = np.array([math.inf])
    assert largest_motions(form.ravel(), np.array([0]), known, layout, roles, even, room, at) == 0
    return float(known[0]), at


@pytest.mark.parametrize("even", [True, False])
def test_no_velocity_is_beyond_the_bound_of_a_form(even: bool) -> None:
    rng = np.random.default_rng(5)
    for _ in range(examples(200)):
        count = int(rng.integers(1, 6))
        form = _form(rng, count, even)
        bound, at = _largest_form(form, even)
        points = np.concatenate(
            [np.array([*product((-1.0, 0.0, 1.0), repeat=count)]), rng.uniform(-1, 1, (300, count)), at[None]]
        )
        if not even:
            points[:, 0] = 1.0
        values = np.einsum("pi,ij,pj->p", points, form, points)
        size = np.abs(form).sum()
        assert values.max() <= bound + rounding_loss(0) * size
        if (np.linalg.eigvalsh(0.5 * (form + form.T)) <= 0).all():  # a hill has one top
            assert bound <= values.max() + 0.2 * size


def test_a_sum_of_velocities_is_no_sum_of_squares() -> None:
    """-(a + b + c)² is never above 0, though its products are."""
    form = np.tril(np.full((3, 3), -2.0)) + np.eye(3)
    assert 0.0 <= _largest_form(form, True)[0] < 1e-5


def _alone(rows: int, motions: int) -> tuple[Any, Any, Any]:
    """Return where rows of one control point are, its lanes, and room to work in."""
    room = np.empty((rows, 1)), np.empty((motions, 1)), *np.empty((3, 1)), np.empty(motions)
    return np.arange(rows)[None], np.zeros((rows, 1), np.int64), (*room, tuple(np.empty((3, 1), np.int64)))


def test_bounds_by_corners_are_the_best_corners() -> None:
    """Squares at 1 or nothing, accelerations at their magnitudes, products of velocities at the best of all corners."""
    rng = np.random.default_rng(6)
    for _ in range(examples(60)):
        count = int(rng.integers(1, 6))
        form = _form(rng, count, True) * (rng.random((count, count)) < 0.8)
        values = np.append(form[np.tril_indices(count)], rng.normal(size=2))  # then an acceleration, and what is still
        rows = np.full((count, count), -1)
        rows[np.tril_indices(count)] = np.arange(len(values) - 2)
        shares = np.zeros((len(values), 2))
        shares[np.diag(rows)], shares[-2], shares[-1] = 0.5, (0.0, 1.0), (1.0, 0.0)
        (starts, lanes, room), known = _alone(len(values), count), np.empty(1)
        size_bounds(values, starts, lanes, shares, room, known)
        off = np.tril(form, -1)
        others = np.maximum(np.diag(form), 0.0).sum() + abs(values[-2]) + values[-1]
        least = others + max(float(np.array(x) @ off @ np.array(x)) for x in product((-1.0, 1.0), repeat=count))
        size = float(known[0])
        assert size == pytest.approx(others + np.abs(off).sum(), abs=1e-12) and size >= least - 1e-12
        corner_bounds(values, starts, lanes, shares, rows, size, room, known)
        assert known[0] == size  # not above the floor
        corner_bounds(values, starts, lanes, shares, rows, -math.inf, room, known)
        assert known[0] == pytest.approx(least, abs=1e-12)


def test_corners_lose_no_more_than_is_counted() -> None:
    """Eight motions, as seven joints have, beside fractions; numbers of very different sizes round at every step."""
    rng = np.random.default_rng(9)
    rows = np.full((8, 8), -1)
    rows[np.tril_indices(8)] = np.arange(36)
    shares = np.zeros((36, 2))
    shares[np.diag(rows)] = 0.5
    for _ in range(3):
        values = rng.normal(size=36) * 2.0 ** rng.uniform(-20, 0, 36)
        exact = [Fraction(each) for each in values.tolist()]
        squares = sum(max(exact[m], Fraction(0)) for m in np.diag(rows).tolist())
        best = max(
            sum(exact[rows[j, k]] * x[j] * x[k] for j in range(8) for k in range(j))
            for x in product((1,), *[(-1, 1)] * 7)
        )
        starts, lanes, room = _alone(36, 8)
        known = np.array([math.inf])
        corner_bounds(values, starts, lanes, shares, rows, -math.inf, room, known)
        assert abs(Fraction(float(known[0])) - squares - best) <= rounding_loss(0) * float(np.abs(values).sum())

"""Stability limits at frozen configurations, to the digits recorded (F32, F33 of docs/papers.md)."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import crba, pinocchio_model

from bddtorque.robots import load_robot
from machines.control.closed_loop import Experiment, Sinusoid, simulate
from machines.control.frozen_stability import (
    alternating_limit,
    critical_product,
    impulse_responses,
    leading_mode,
    loop_matrix,
    spectral_radius,
)
from machines.hamilton.speculation_methods import BINDER_HERZOG, FIRST_ORDER, METHODS, NEW, NEWBOX, SERIAL

A, B = load_robot("planar3r_a"), load_robot("planar3r_b")
STRETCHED, BENT, FOLDED = (0.0, 0.0, 0.0), (0.5, 0.4, 0.3), (0.0, np.pi / 2, np.pi / 2)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["planar3r_b", "puma560"])
def test_impulse_responses_add_up_to_the_mass_matrix(name: str, method) -> None:
    robot = load_robot(name)
    q = np.linspace(-0.7, 1.1, robot.degrees_of_freedom)
    responses = impulse_responses(robot, method, q)
    mass = crba(pinocchio_model(robot), q)
    assert np.abs(responses.sum(axis=0) - mass).max() < 1e-10 * np.abs(mass).max()
    # no shorter filter would do: the last response is felt
    assert np.abs(responses[-1]).max() > 1e-3 * np.abs(mass).max() or name == "puma560"


@pytest.mark.parametrize(
    ("robot", "q", "expected"),
    [
        (A, STRETCHED, ("1.0000", "0.00941", "0.0198", "0.0280", "0.0005")),
        (A, BENT, ("1.0000", "0.0124", "0.0252", "0.0368", "0.0007")),
        (A, (0.3, 0.5, 0.7), ("1.0000", "0.0153", "0.0313", "0.0475", "0.00085")),
        (A, FOLDED, ("1.0000", "0.1415", "0.1501", "0.1209", "0.0084")),
        (B, STRETCHED, ("1.0000", "0.0283", "0.0567", "0.0897", "0.0020")),
        (B, BENT, ("1.0000", "0.0339", "0.0661", "0.1070", "0.0025")),
        (B, (0.3, 0.5, 0.7), ("1.0000", "0.0418", "0.0822", "0.1220", "0.0029")),
        (B, FOLDED, ("1.0000", "0.2867", "0.1816", "0.1401", "0.0227")),
    ],
)
def test_critical_products(robot, q, expected) -> None:
    """F32: all 40 limits to the digits recorded."""
    for method, digits in zip((SERIAL, BINDER_HERZOG, NEWBOX, NEW, FIRST_ORDER), expected, strict=True):
        found = critical_product(impulse_responses(robot, method, q), steps_per_decade=60)
        assert f"{found:.{len(digits) - 2}f}" == digits, method.name


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (BINDER_HERZOG, (0.0339, 0.0603, 0.0339, 0.0412)),
        (NEW, (0.1070, 0.0661, 0.0843, 0.0661)),
        (NEWBOX, (0.0661, 0.1070, 0.0661, 0.0843)),
    ],
)
def test_latency_changes_the_order(method, expected) -> None:
    """Robot B, latency 0 to 3 samples."""
    responses = impulse_responses(B, method, BENT)
    found = [critical_product(responses, latency, steps_per_decade=60) for latency in range(4)]
    assert np.allclose(found, expected, rtol=0, atol=6e-5)


def test_the_error_flips_every_sample_in_the_unstable_mode() -> None:
    """The closed form 1/λ_max, exact for bh and newbox at stretched poses, no such mode in new; roots."""
    for robot, limit in ((A, 0.009407), (B, 0.02834)):
        for method in (BINDER_HERZOG, NEWBOX):
            responses = impulse_responses(robot, method, STRETCHED)
            assert alternating_limit(responses) == pytest.approx(critical_product(responses), rel=1e-5)
        assert alternating_limit(impulse_responses(robot, BINDER_HERZOG, STRETCHED)) == pytest.approx(limit, rel=2e-4)
        assert alternating_limit(impulse_responses(robot, NEW, STRETCHED)) == np.inf


@pytest.mark.parametrize(
    ("robot", "period", "root", "shape"), [(A, 0.002, -1.22, (0.29, 0.81, 1)), (B, 0.005, -1.20, (0.14, 0.53, 1))]
)
def test_the_last_joint_leads(robot, period, root, shape) -> None:
    """F33: mode shape and root of the unstable bh mode."""
    mode = leading_mode(loop_matrix(impulse_responses(robot, BINDER_HERZOG, BENT), period, 100.0, 20.0), 3)
    assert mode.root == pytest.approx(root, abs=0.005)
    assert np.allclose(np.abs(mode.shape), shape, atol=0.006)


@pytest.mark.everything
def test_the_linear_limit_is_that_of_the_simulated_loop() -> None:
    """A small oscillation about a pose dies below the limit and grows above it: two programs, one verdict."""
    limit = critical_product(impulse_responses(B, BINDER_HERZOG, STRETCHED)) / 10.0
    still = Experiment(Sinusoid((1e-3, 1e-3, 1e-3), 1.0), duration=6.0, too_far=0.05)
    floating = B.with_gravity((0.0, 0.0, 0.0))
    assert simulate(floating, BINDER_HERZOG, 0.97 * limit, still).tracks
    assert not simulate(floating, BINDER_HERZOG, 1.05 * limit, still).tracks


def test_serial_loop_matrix_is_the_sampled_double_integrator() -> None:
    """One joint: e'' = −u held over T; the matrix by hand."""
    matrix = loop_matrix(np.array([[[2.0]]]), 0.1, 100.0, 20.0)
    assert np.allclose(matrix, [[1 - 0.5, 0.1 - 0.1], [-10.0, 1 - 2.0]])
    delayed = loop_matrix(np.array([[[2.0]]]), 0.1, 100.0, 20.0, latency=1)
    assert np.allclose(delayed, [[1, 0.1, -0.005], [0, 1, -0.1], [100.0, 20.0, 0]])
    assert spectral_radius(np.diag([0.5, -0.9])) == pytest.approx(0.9)


def test_in_the_plane_new_is_newbox_one_sample_later() -> None:
    """Everything goes from the outward to the inward sweep through one unboxed operand: its age is pure latency."""
    for robot in (A, B):
        newbox, new, yamakita = (impulse_responses(robot, method, BENT) for method in (NEWBOX, NEW, METHODS[-1]))
        none = np.zeros((1, 3, 3))
        assert np.allclose(new, np.concatenate([none, newbox]), atol=1e-13)
        assert np.allclose(yamakita, np.concatenate([none, none, newbox]), atol=1e-13)

"""The simulated loop against pinocchio, against recorded runs, and its laws (F31, F32, F34 of docs/papers.md)."""

from __future__ import annotations

import numpy as np
import pytest
from examples_tried import examples
from hypothesis import given, settings
from oracle import aba, pinocchio_model, random_states
from strategies import robots, seeds

from bddtorque.base.errors import BddTorqueError
from bddtorque.robots import load_robot
from bddtorque.robots.robot import Robot
from machines.control.closed_loop import (
    FAST,
    Experiment,
    Sinusoid,
    accelerations,
    move_plant,
    plant_of,
    simulate,
)
from machines.control.open_loop import quintic, torque_errors
from machines.hamilton.hamilton_equations import HAMILTON
from machines.hamilton.speculation_equations import LATHROP
from machines.hamilton.speculation_machine import SpeculativeMachine
from machines.hamilton.speculation_methods import BINDER_HERZOG, FIRST_ORDER, NEW, NEWBOX, SERIAL, mixed

A, B = load_robot("planar3r_a"), load_robot("planar3r_b")


@settings(max_examples=examples(30))
@given(robots(most=5), seeds)
def test_the_plant_accelerates_as_pinocchio_says(robot: Robot, seed: int) -> None:
    q, qd, tau = random_states(robot, 1, seed)
    found = np.zeros(robot.degrees_of_freedom)
    accelerations(plant_of(robot, 1e-3), q[0], qd[0], tau[0], found)
    expected = aba(pinocchio_model(robot), q[0], qd[0], tau[0])
    assert np.abs(found - expected).max() <= 1e-7 * max(1.0, np.abs(expected).max())


@pytest.mark.everything
def test_the_plant_is_integrated_to_fourth_order() -> None:
    """Halving the sub-step divides the error by 16."""
    start = np.array([0.3, -0.5, 0.8]), np.array([1.0, 2.0, -3.0])

    def after(substeps: int) -> np.ndarray:
        q, qd = start[0].copy(), start[1].copy()
        move_plant(plant_of(B, 0.1)._replace(substeps=substeps), 0.1, q, qd, np.array([3.0, 1.0, 0.1]))
        return q

    exact = after(4000)
    ratio = np.linalg.norm(after(10) - exact) / np.linalg.norm(after(20) - exact)
    assert 14 < ratio < 18


DIVERGED = {
    (1.5, "bh"): 1.94, (2.0, "bh"): 1.77, (2.5, "bh"): 1.73, (3.0, "bh"): 1.73, (4.0, "bh"): 1.72,
    (2.5, "newbox"): 3.29, (3.0, "newbox"): 2.57, (4.0, "newbox"): 2.19, (4.0, "new"): 3.42,
}  # fmt: skip


@pytest.mark.parametrize(
    "period", [4.0, *(pytest.param(period, marks=pytest.mark.everything) for period in (1.5, 2.0, 2.5, 3.0))]
)
def test_robot_a_loses_and_keeps_its_way_as_found_before(period: float) -> None:
    """F32: times of divergence to the digits recorded, and no others diverge."""
    for method in (SERIAL, BINDER_HERZOG, NEWBOX, NEW):
        run = simulate(A, method, period * 1e-3)
        expected = DIVERGED.get((period, method.name))
        assert (run.diverged is None) == (expected is None)
        assert expected is None or run.diverged == pytest.approx(expected, abs=0.0076)


@pytest.mark.parametrize(
    ("method", "period", "expected"),
    [
        (SERIAL, 0.5e-3, (6e-6, 1.5e-5, 1e-6)),
        (BINDER_HERZOG, 0.5e-3, (2.6e-5, 2.6e-5, 6.3e-5)),
        (NEW, 1e-3, (5.1e-5, 5.8e-5, 6.7e-5)),
        (NEWBOX, 1e-3, (5.0e-5, 5.8e-5, 6.6e-5)),
        (NEW, 3e-3, (1.5e-4, 1.7e-4, 2.0e-4)),
    ],
)
def test_tracking_errors_of_robot_a(method, period, expected) -> None:
    """As recorded, to two digits."""
    assert np.allclose(simulate(A, method, period).rms(), expected, rtol=0.04, atol=5e-7)


def test_robot_b_and_the_fast_task() -> None:
    """F32: who tracks and who diverges on the other robot and task."""
    assert simulate(B, BINDER_HERZOG, 5e-3).diverged == pytest.approx(2.02, abs=0.01)
    assert simulate(B, NEW, 5e-3).tracks and simulate(B, SERIAL, 5e-3).tracks
    assert simulate(B, NEW, 15e-3).diverged == pytest.approx(4.29, abs=0.01)
    assert simulate(B, BINDER_HERZOG, 3e-3, Experiment(FAST)).rms()[2] == pytest.approx(0.21, abs=0.005)


def test_variants_of_robot_b() -> None:
    """Predictions that are accurate in open loop are unstable in closed loop; f and t exact is best."""
    assert not simulate(B, FIRST_ORDER, 1e-3).tracks
    assert not simulate(B, BINDER_HERZOG.with_output_prediction(), 2e-3).tracks
    assert simulate(B, NEW.with_output_prediction(), 3e-3).tracks
    assert not simulate(B, NEW.with_output_prediction(), 4e-3).tracks
    assert not simulate(B, mixed("w", "wd", "al"), 8e-3).tracks
    assert simulate(B, mixed("ae"), 12e-3).tracks and not simulate(B, mixed("ae"), 20e-3).tracks
    assert simulate(B, mixed("f", "t"), 20e-3).tracks
    ahead, plain = simulate(B, NEW.with_one_step_ahead(), 2e-3).rms(), simulate(B, NEW, 2e-3).rms()
    assert ahead[1] < 0.3 * plain[1] and 1.2 < ahead[0] / plain[0] < 1.4 and 1.2 < ahead[2] / plain[2] < 1.4


def test_at_equal_periods_the_serial_recursion_tracks_best() -> None:
    """Speculation gains by its rate alone."""
    for task in (Sinusoid((0.4, 0.4, 0.4)), FAST):
        serial = simulate(B, SERIAL, 2e-3, Experiment(task)).rms_norm()
        assert serial < min(simulate(B, method, 2e-3, Experiment(task)).rms_norm() for method in (BINDER_HERZOG, NEW))


def test_at_its_own_rate_old_data_tracks_better_when_slow_and_worse_when_fast() -> None:
    """F34: the papers say the reverse; cycles of HAM's schedules on one and on four processors, 2 µs each."""
    ratios = []
    for task in (Sinusoid((0.4, 0.4, 0.4)), FAST):
        serial, new = (
            simulate(B, method, cycles * 2e-6, Experiment(task)).rms_norm()
            for method, cycles in ((SERIAL, 3153), (NEW, 857))
        )
        ratios.append(serial / new)
    assert ratios == pytest.approx([2.18, 0.29], rel=0.03)


def test_before_the_switch_every_method_is_the_serial_one() -> None:
    serial, bh = (simulate(B, method, 5e-3) for method in (SERIAL, BINDER_HERZOG))
    first = int(np.ceil(1.57 / 5e-3))
    assert np.array_equal(serial.q[: first + 1], bh.q[: first + 1])  # torque k moves sample k+1
    assert np.array_equal(serial.tau[:first], bh.tau[:first]) and not np.array_equal(serial.tau[first], bh.tau[first])


@pytest.mark.parametrize(
    "method", [BINDER_HERZOG, NEW.with_one_step_ahead(), NEW.with_output_prediction()], ids=lambda each: each.name
)
@pytest.mark.parametrize("latency", [0, 2])
def test_the_compiled_loop_is_the_machine_and_the_plant_step_by_step(method, latency: int) -> None:
    """The loop in Numba, replayed in Python: control law, predictions, switch, latency, every torque and position."""
    period, experiment = 2e-3, Experiment(duration=0.3, switch=0.1, latency=latency)
    run = simulate(B, method, period, experiment)
    machine, plant = SpeculativeMachine(B, method, HAMILTON), plant_of(B, period)
    size = np.array(experiment.task.amplitude)
    q, qd, error, applied = np.zeros(3), size.copy(), np.zeros(3), []
    for k, t in enumerate(run.time):
        assert np.allclose(q, run.q[k], rtol=0, atol=1e-12)
        u = -size * np.sin(t) + 20 * (size * np.cos(t) - qd) + 100 * (size * np.sin(t) - q)
        if t < experiment.switch:
            tau = machine.start(q, qd, u)
        else:
            predicted = size * np.sin(t + period) - error if method.one_step_ahead else q
            tau = machine.step(predicted, qd, u)
        error = size * np.sin(t) - q
        assert np.allclose(tau, run.tau[k], rtol=0, atol=1e-9)
        applied.append(tau)
        move_plant(plant, period, q, qd, applied[max(k - latency, 0)])


def test_latency_delays_the_torque() -> None:
    """One sample late costs the serial loop accuracy; many samples late cost it its stability (Nigam and Lee)."""
    errors = [simulate(B, SERIAL, 2e-3, Experiment(latency=m)).rms_norm() for m in (0, 1, 4)]
    assert errors == sorted(errors) and errors[2] > 5 * errors[0]
    assert not simulate(B, SERIAL, 5e-3, Experiment(latency=20)).tracks


def test_the_lathrop_recursion_in_the_loop() -> None:
    """The same loop on the other recursion; serial is serial whatever the equations."""
    ours, other = simulate(B, SERIAL, 4e-3), simulate(B, SERIAL, 4e-3, recursion=LATHROP)
    assert np.allclose(ours.q, other.q, atol=1e-9)


@pytest.mark.parametrize(
    ("duration", "expected", "peak"),
    [
        (8.0, (0.028, 0.00016, 0.023, 0.066, 0.067), 34.0),
        (2.0, (0.39, 0.013, 0.25, 0.63, 0.78), 37.1),
        (1.0, (2.98, 0.20, 1.94, 4.57, 5.50), 47.2),
    ],
)
def test_torque_errors_in_open_loop(duration: float, expected: tuple[float, ...], peak: float) -> None:
    """All fifteen errors as recorded."""
    motion = quintic((0, 0, 0), (1.2, -0.8, 0.6), duration, 0.01)
    methods = BINDER_HERZOG, FIRST_ORDER, BINDER_HERZOG.with_output_prediction(), NEWBOX, NEW
    errors = [torque_errors(B, method, motion) for method in methods]
    assert np.allclose([each.largest.max() for each in errors], expected, rtol=0.035)
    assert np.abs(errors[0].exact).max() == pytest.approx(peak, abs=0.05)


def test_errors_fall_with_the_period() -> None:
    """F31: halving T halves zero-order errors and quarters first-order ones."""
    for method, factor in ((BINDER_HERZOG, 2.0), (NEW, 2.0), (FIRST_ORDER, 4.0)):
        motions = [quintic((0, 0, 0), (1.2, -0.8, 0.6), 8.0, T) for T in (0.02, 0.01, 0.005)]
        errors = [torque_errors(B, method, motion).largest.max() for motion in motions]
        assert np.allclose(np.divide(errors[:-1], errors[1:]), factor, rtol=0.02)


def test_a_quintic_starts_and_ends_at_rest() -> None:
    motion = quintic((0.0, 1.0), (2.0, -1.0), 2.0, 0.01)
    assert np.allclose(motion.q[[0, -1]], [(0, 1), (2, -1)]) and np.allclose(motion.qd[[0, -1]], 0)
    assert np.allclose(np.gradient(motion.q[:, 0], 0.01)[1:-1], motion.qd[1:-1, 0], atol=1e-3)
    assert np.allclose(np.gradient(motion.qd[:, 0], 0.01)[1:-1], motion.qdd[1:-1, 0], atol=1e-2)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(BddTorqueError, match="robot 'planar3r_b' needs 3 amplitudes, got 2"):
        simulate(B, SERIAL, 1e-3, Experiment(Sinusoid((0.1, 0.2))))
    with pytest.raises(BddTorqueError, match="period must be above 0 s, got 0"):
        simulate(B, SERIAL, 0.0)

"""The compiled tables as a controller, and speculative machines against their certificate once they have converged."""

from __future__ import annotations

import numpy as np
import pytest

import bddtorque as bt
from machines.control.closed_loop import Experiment, move_plant, plant_of, simulate
from machines.control.closed_loop_words import WordsLoop
from machines.hamilton.hamilton_equations import HAMILTON
from machines.hamilton.speculation_equations import LATHROP
from machines.hamilton.speculation_machine import SpeculativeMachine
from machines.hamilton.speculation_methods import METHODS, SERIAL, iterations_to_exact

KINDS = ["revolute"] * 3
SHORT = Experiment(duration=2.0, switch=0.5)


@pytest.fixture(scope="module")
def model():
    return bt.compile("planar3r_b", bits=8)


@pytest.mark.everything  # the machine is compiled for it alone
@pytest.mark.parametrize("recursion", [HAMILTON, LATHROP], ids=lambda each: each.name)
@pytest.mark.parametrize("method", METHODS, ids=lambda each: each.name)
def test_converged_machines_agree_with_the_tables_within_the_certificate(model, method, recursion) -> None:
    """Frozen words, 60 random states one after the other: after 2n−1 .. 4n−3 iterations within the proved bound."""
    random = np.random.default_rng(8)
    words = [random.integers(-128, 128, (60, 3)) for _ in range(3)]
    states = [getattr(model.formats, name).dequantise(w) for name, w in zip(("q", "qd", "qdd"), words, strict=True)]
    machine = SpeculativeMachine(model.robot, method, recursion)
    iterations = iterations_to_exact(recursion, method, KINDS)
    tau = np.array(
        [
            machine.step(*(np.repeat(row[None], iterations, axis=0) for row in state))[-1]
            for state in zip(*states, strict=True)
        ]
    )
    lsb = np.array([each.lsb for each in model.formats.tau])
    lowest, highest = (np.array([getattr(each, end) for each in model.formats.tau]) for end in ("lowest", "highest"))
    units = np.abs(model.torque_words(*words) - np.clip(tau / lsb, lowest, highest))
    assert (units <= np.array(model.certificate.bounds) + 1e-9).all()
    assert units.max() > 0.3  # words are not floats


@pytest.mark.everything
def test_float_controllers_on_words(model) -> None:
    """Words cost accuracy, torque words more; the sensed state is what the formats say it is."""
    loop = WordsLoop(model)
    exact = simulate(model.robot, SERIAL, 5e-3, SHORT).rms_norm()
    on_words, rounded = (loop.simulate(each, 5e-3, SHORT) for each in ("float on words", "rounded float"))
    assert exact < on_words.rms_norm() < rounded.rms_norm() < 0.02
    for run, whole in ((on_words, False), (rounded, True)):
        units = run.tau / np.array([each.lsb for each in model.formats.tau])
        assert np.allclose(units, np.round(units), atol=1e-9) == whole


@pytest.mark.everything
def test_the_tables_in_the_compiled_loop_are_the_models_own_torques(model) -> None:
    """The kernel inside the njit loop gives at every sample what `model.torque` gives outside it."""
    period = 5e-3
    run = WordsLoop(model).simulate("tables", period, SHORT)
    assert run.tracks
    amplitude = np.array(SHORT.task.amplitude)
    q, rate = run.q[0].copy(), amplitude * SHORT.task.frequency
    plant = plant_of(model.robot, period)
    for k in range(len(run.time)):
        assert np.array_equal(q, run.q[k])
        sensed_q = model.formats.q.dequantise(model.formats.q.quantise(q))
        sensed_qd = model.formats.qd.dequantise(model.formats.qd.quantise(rate))
        t = run.time[k]
        wanted_qd, wanted_qdd = amplitude * np.cos(t), -amplitude * np.sin(t)
        u = wanted_qdd + 20.0 * (wanted_qd - sensed_qd) + 100.0 * (run.desired[k] - sensed_q)
        assert np.allclose(run.tau[k], model.torque(q, rate, u), rtol=0, atol=1e-9)
        move_plant(plant, period, q, rate, run.tau[k])

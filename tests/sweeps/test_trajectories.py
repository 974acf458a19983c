"""Trajectories: derivatives that belong together, within the ranges, and what a sweep along one finds."""

import numpy as np
import pytest
from compiled import values_of

import bddtorque as bt
from bddtorque.spec.spec_files import spec_and_robot
from bddtorque.sweeps import from_states, quintic, sine, sweep
from bddtorque.sweeps.states import quantise
from bddtorque.sweeps.sweep_pictures import figure_of

MADE = {"quintic": quintic, "sine": sine}


@pytest.mark.parametrize("name", MADE)
def test_velocities_and_accelerations_are_the_derivatives(model, name):
    made = MADE[name](model.formats, 40_001, seed=2)
    step = made.time[1] - made.time[0]
    for position, derivative in ((made.arrays["q"], made.arrays["qd"]), (made.arrays["qd"], made.arrays["qdd"])):
        measured = (position[2:] - position[:-2]) / (2 * step)
        # a jolt between two moves is the only place where a difference over two steps is off by more than its square
        assert np.abs(measured - derivative[1:-1]).max() < 2e-2 * np.abs(derivative).max()


@pytest.mark.parametrize("robot", ["planar2r", "scara", "ur5"])
@pytest.mark.parametrize("name", MADE)
def test_they_keep_to_the_ranges_and_use_them(name, robot):
    spec, arm, _ = spec_and_robot(robot, {})
    formats = spec.formats(arm)
    made = MADE[name](formats, 5_000, seed=1)
    for kind, given in zip(formats.inputs, (made.arrays["q"], made.arrays["qd"], made.arrays["qdd"]), strict=True):
        assert kind.quantise_counted(given)[1].sum() == 0
    used = [
        np.abs(given).max(axis=0) / [word.span[1] for word in kind]
        for kind, given in zip(formats.inputs[1:], (made.arrays["qd"], made.arrays["qdd"]), strict=True)
    ]
    assert max(each.max() for each in used) == pytest.approx(0.9, abs=0.01)


def test_moves_start_and_end_at_rest(model):
    made = quintic(model.formats, 1_000)
    assert not made.arrays["qd"][[0, -1]].any()
    assert made.arrays["qdd"][[0, -1]] == pytest.approx(np.zeros((2, 2)), abs=1e-9)


def test_the_same_seed_gives_the_same_trajectory(model):
    for make in MADE.values():
        assert (make(model.formats, 50, 4).arrays["q"] == make(model.formats, 50, 4).arrays["q"]).all()
        assert (make(model.formats, 50, 4).arrays["q"] != make(model.formats, 50, 5).arrays["q"]).any()


def test_a_range_to_one_side_of_zero_is_refused():
    spec = bt.spec.from_toml(
        'robot = "planar2r"\nbits = 4\n[ranges]\nvelocity = [[1, 2], [1, 2]]\nacceleration = 1.0\ntorque = 200.0\n'
    )
    one_sided = bt.compile(spec, workers=1)
    with pytest.raises(bt.BddTorqueError, match="joint 'shoulder': a trajectory needs a range on both sides"):
        sweep(one_sided, 10, trajectory="sine")


def test_a_sweep_along_a_trajectory_finds_what_the_plain_computation_does(model):
    made = sine(model.formats, 3_000, seed=7)
    found = sweep(model, 3_000, seed=7, trajectory="sine")
    assert found == sweep(model, trajectory=made, seed=7)
    states = (made.arrays["q"], made.arrays["qd"], made.arrays["qdd"])
    words = quantise(model.formats, states)
    lsb = model.formats.tau.lsb
    compiled = model.formats.tau.dequantise(model.torque_words(*words))
    at_words, at_states = (
        bt.inverse_dynamics(model.robot, *values_of(model, words)),
        bt.inverse_dynamics(model.robot, *states),
    )
    for j, joint in enumerate(found.outputs):
        expected = {"tables": compiled - at_words, "inputs": at_words - at_states, "total": compiled - at_states}
        for kind, errors in expected.items():
            units = errors[:, j] / lsb[j]
            assert getattr(joint, kind).largest == pytest.approx(np.abs(units).max(), abs=1e-9)
            assert getattr(joint, kind).rms == pytest.approx(np.sqrt((units**2).mean()))
    assert (found.states, found.corners, found.searched, found.along, found.outside) == (3_000, 0, 0, "sine", 0)


def test_what_a_trajectory_has_out_of_range_is_counted(model):
    fast = np.array([[9.0, 0.0], [0.0, -9.0], [0.0, 0.0]])
    zero = np.zeros((3, 2))
    found = sweep(model, trajectory=from_states("fast", q=zero + 1.0, qd=fast, qdd=zero))
    assert found.outside == 2
    assert not found.exceeding  # of the tables at the words; what saturating costs is charged to the input words
    assert found.outputs[0].inputs.largest > 3 * found.outputs[0].proved
    with pytest.raises(bt.BddTorqueError, match="none: a trajectory must have at least one state"):
        from_states("none", q=zero[:0], qd=zero[:0], qdd=zero[:0])


def test_unknown_names_are_refused(model):
    with pytest.raises(bt.BddTorqueError, match=r"trajectory must be 'quintic', 'sine' or states, got 'cosine'"):
        sweep(model, 10, trajectory="cosine")


def test_the_picture_shows_torques_and_errors(model):
    found = sweep(model, 500, trajectory="quintic")
    figure = figure_of([found])
    assert len(figure.axes) == 2 * len(found.outputs)
    drawn = figure.axes[1].lines[0].get_ydata()
    assert np.abs(drawn).max() == pytest.approx(found.outputs[0].found)
    assert figure.axes[0].lines[0].get_xdata()[-1] == found.traces.time[-1]

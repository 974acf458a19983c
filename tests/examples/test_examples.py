"""The examples run as a user would run them, and show what they say."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bddtorque as bt

FOLDER = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """Compile in this process: the arms are small."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)


@pytest.fixture
def example():
    """Return the names that an example defines, without running its main."""

    def names(name: str) -> dict:
        return runpy.run_path(str(FOLDER / f"{name}.py"), run_name=name)

    return names


def test_computed_torque_in_python(example, capsys):
    names = example("computed_torque")
    seen = names["main"]([])
    runs, unit = seen["runs"], seen["model"].formats.q[0].lsb
    assert 0.001 < max(runs["float"].largest) < 0.003  # the unknown mass alone
    assert np.abs(runs["compiled"].q - runs["float on words"].q).max() < 0.2 * unit
    assert np.abs(runs["compiled"].q - runs["float"].q).max() < unit
    assert "compiled" in capsys.readouterr().out


def test_the_unknown_mass_is_what_floats_are_off_by(example):
    names = example("computed_torque")
    robot = bt.load_robot("planar2r")

    def torque(q, qd, qdd):
        return bt.inverse_dynamics(robot, q, qd, qdd)

    run = names["track"](robot, names["as_it_is"], torque, 2.0)
    assert max(run.largest) < 1e-4


@pytest.mark.everything
def test_whole_numbers_in_one_compiled_loop(example, capsys):
    names = example("computed_torque_njit")
    seen = names["main"](["--bits", "8", "--duration", "3"])
    model, words = seen["model"], seen["words"]
    assert (seen["found"] <= model.certificate.bounds).all()
    assert seen["error"].max() < 2 * model.formats.q[0].lsb
    assert np.array_equal(words[:, 3], model.torque_words(words[:, 0], words[:, 1], words[:, 2]))
    assert "and every torque word" in capsys.readouterr().out


def test_the_arm_of_the_compiled_loop_is_the_robot(example):
    names = example("computed_torque_njit")
    robot = bt.load_robot("planar2r").with_payload(0.25)
    arm = names["arm_of"](robot)
    arm = arm._replace(m2=arm.m2 + 0.25)
    random = np.random.default_rng(5)
    for q, qd, tau in random.uniform(-3, 3, (20, 3, 2)):
        found = names["accelerations"](arm, q, qd, 30 * tau)
        assert np.allclose(found, bt.forward_dynamics(robot, q, qd, 30 * tau), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["ur5", "panda", "scara"])
def test_mujoco_means_the_same_arm(example, name):
    mujoco = pytest.importorskip("mujoco")
    robot = bt.load_robot(name)
    if name == "scara":
        robot = robot.with_payload(1.5, (0.01, -0.02, 0.05), np.diag([2e-3, 2e-3, 1e-3])).with_gravity((1.0, 2.0, -9.0))
    model = mujoco.MjModel.from_xml_string(example("mujoco_ur5")["mjcf"](robot, 0.001))
    data, random = mujoco.MjData(model), np.random.default_rng(7)
    for q, qd, qdd in random.uniform(-3, 3, (50, 3, robot.degrees_of_freedom)):
        data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
        mujoco.mj_inverse(model, data)
        ours = bt.inverse_dynamics(robot, q, qd, qdd)
        assert np.abs(ours - data.qfrc_inverse).max() < 1e-12 * np.abs(ours).max()


@pytest.mark.everything  # compiles the UR5 twice
def test_mujoco_tracks(example, tmp_path, capsys):
    pytest.importorskip("mujoco")
    picture = tmp_path / "new" / "tracking.png"
    seen = example("mujoco_ur5")["main"](["--bits", "8", "--duration", "1", "--picture", str(picture)])
    rms = {name: run.rms for name, run in seen["runs"].items()}
    unit = seen["wide"].formats.q[0].lsb
    assert all(torque.saturation == "cannot" for torque in seen["narrow"].certificate.torques)
    assert rms["float"].max() < 3e-4
    assert rms["float on words"].max() < 0.2 * unit
    assert rms["compiled, needed ranges"].max() < 0.3 * unit < rms["compiled, motor ranges"].max()  # the light wrist
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "wrist_3_joint" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["computed_torque", pytest.param("computed_torque_njit", marks=pytest.mark.everything)]
)
def test_an_example_runs_as_a_script_from_anywhere(name, tmp_path):
    script = FOLDER / f"{name}.py"
    ran = subprocess.run([sys.executable, "-W", "error", script, "--bits", "6", "--duration", "0.2"], cwd=tmp_path,
                         capture_output=True, text=True, check=False)  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")
    assert {"computed_torque": "float on words", "computed_torque_njit": "torque error proved"}[name] in ran.stdout


def test_gravity_compensation_holds_a_load_that_is_known_at_run_time(example, capsys):
    names = example("gravity_compensation")
    seen = names["main"](["--bits", "12"])
    assert seen["no compensation"] > 0.3
    assert seen["empty arm"] > 0.1
    assert seen["with its load"] < 5e-3
    assert "mx, my, mz" in capsys.readouterr().out


def test_the_low_cost_arm_means_the_same_in_mujoco(example):
    mujoco = pytest.importorskip("mujoco")
    names = example("low_cost_arm")
    robot, arm, rng = bt.load_robot(names["FILE"]), names["Arm"](), np.random.default_rng(5)
    for mass in (0.0, names["LOAD"]):
        loaded = robot.with_payload(mass, names["PLACE"]) if mass else robot
        if mass:
            arm.pick_up(mass)
        for _ in range(5):
            q, qd, qdd = rng.uniform(-1, 1, (3, 5))
            arm.data.qpos[:], arm.data.qvel[:], arm.data.qacc[:] = q, qd, qdd
            mujoco.mj_inverse(arm.model, arm.data)
            dry = 0.02 * np.sign(qd)  # MuJoCo has dry friction among its constraints, which are no part of this
            forces = arm.data.qfrc_inverse + arm.data.qfrc_constraint
            np.testing.assert_allclose(bt.inverse_dynamics(loaded, q, qd, qdd) - dry, forces, atol=1e-7)


@pytest.mark.everything
def test_the_low_cost_arm_stays_where_it_is_left_and_tracks(example, tmp_path, capsys):
    pytest.importorskip("mujoco")
    names = example("low_cost_arm")
    seen = names["main"](["--picture", str(tmp_path / "arm.png")])
    at = round(names["LOADED"] / names["PERIOD"])
    moved = {name: float(np.abs(run.q[-1] - run.q[at]).max()) for name, run in seen["guided"].items()}
    assert moved["told of the load"] < 0.002
    assert moved["not told"] > 0.1
    after = {name: float(np.abs(run.error[at:]).max()) for name, run in seen["tracked"].items()}
    assert after["words, told"] < 0.01
    assert after["words, not told"] > 0.05
    assert (tmp_path / "arm.png").read_bytes().startswith(b"\x89PNG")
    assert "proved within" in capsys.readouterr().out

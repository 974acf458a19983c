"""Drives: words that are counts, bounds at the motor, rotors through the gear."""

import math
import subprocess

import numpy as np
import pytest
from oracle import pinocchio_model, rnea

import bddtorque as bt
from bddtorque.compiler.verify import verify
from bddtorque.export.c_exporter import export_c
from bddtorque.independent import check_bytes
from bddtorque.model.model import from_bytes, to_bytes
from bddtorque.spec import JointSpec, Spec, from_toml

DRIVE = {"gear": 100, "encoder": 4096, "torque_constant": 0.05, "rotor_inertia": 2e-5, "velocity": 50}


def arm(target="float", quantity="torque", bits=12, drive=DRIVE, **joint):
    joints = (
        JointSpec("shoulder", drive=drive, **joint),
        JointSpec("elbow", drive={"gear": 50, "torque_constant": 0.1, "current": 0.002}, torque="drive"),
    )
    spec = Spec("planar2r", bits=bits, target=target, quantity=quantity, joints=joints)
    return bt.compile(spec, velocity={"elbow": 2.0}, acceleration=1.0, cache=None, workers=1)


def test_words_are_counts_of_the_drive():
    model = arm(velocity="drive", torque="drive")
    formats = model.formats
    assert formats.qd[0].lsb == pytest.approx(50 * 2 * math.pi / 409600)  # 50 counts per second
    assert formats.tau[0].lsb == pytest.approx(0.001 * 0.05 * 100)  # 1 mA
    assert formats.tau[1].lsb == pytest.approx(0.002 * 0.1 * 50)  # one count of the driver
    shoulder, elbow = model.drives
    np.testing.assert_array_equal(shoulder.velocity_words([500, -25050]), [10, -501])
    np.testing.assert_allclose(shoulder.efforts([7, -3]), [7, -3])
    np.testing.assert_allclose(elbow.efforts([7, -3]), [7, -3])
    turn = 409600
    np.testing.assert_array_equal(shoulder.position_words([0, 100, turn // 4, turn + 100, -100]), [0, 1, 1024, 1, -1])
    with pytest.raises(bt.BddTorqueError, match="joint 'elbow': its drive has no encoder"):
        elbow.position_words([1])


def test_the_certificate_and_c_state_bounds_at_the_motor(tmp_path):
    model = arm("integer", torque="drive", velocity="drive", sign=-1, offset=0.5)
    first, second = model.certificate.outputs
    assert first.effort[0] == "mA" and second.effort[0] == "count"
    assert first.bound_drive == pytest.approx(first.bound)  # one unit is one mA
    assert second.bound_drive == pytest.approx(second.bound)
    assert "bound at the motor" in str(model.certificate) and " mA" in str(model.certificate)
    again = from_bytes(to_bytes(model))
    assert str(again.certificate) == str(model.certificate)
    assert all(check.passed for check in verify(model, workers=1))
    assert all(check.passed for check in check_bytes(to_bytes(model)))
    export_c(model, tmp_path / "c")
    header = (tmp_path / "c" / "planar2r.h").read_text(encoding="utf-8")
    assert "PLANAR2R_QD0_DRIVE_PER_LSB 5" in header or "PLANAR2R_QD0_DRIVE_PER_LSB 49.99" in header
    assert "PLANAR2R_TAU1_BOUND_DRIVE" in header
    made = subprocess.run(["make", "-s", "check"], cwd=tmp_path / "c", capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr


def test_a_sign_turns_encoder_and_motor_about():
    model = arm(sign=-1, torque="drive", velocity="drive")
    (shoulder, _) = model.drives
    words = shoulder.position_words([102400])
    np.testing.assert_allclose(model.formats.q[0].dequantise(words), [-math.pi / 2])
    tau = model.formats.tau[0]
    assert shoulder.efforts(tau.quantise([5.0]))[0] == pytest.approx(-5.0 / (0.05 * 100) * 1000, abs=1)


def test_the_rotor_counts_through_the_gear():
    model = arm(torque="drive", velocity="drive")
    assert model.robot.joints[0].rotor_inertia == pytest.approx(2e-5 * 100**2)
    assert model.robot.joints[1].rotor_inertia == bt.load_robot("planar2r").joints[1].rotor_inertia
    rng = np.random.default_rng(1)
    words = [np.stack([rng.integers(w.lowest, w.highest, 50) for w in kind], axis=1) for kind in model.formats.inputs]
    values = [kind.dequantise(each) for kind, each in zip(model.formats.inputs, words, strict=True)]
    true = rnea(pinocchio_model(model.robot), *values)
    from bddtorque.plan.reference import run_plan

    named = {f"{name}{j + 1}": each[:, j] for name, each in zip(("q", "qd", "qdd"), words, strict=True) for j in (0, 1)}
    found = np.stack(run_plan(model.plan, model.tables, named), axis=1)
    for j, word in enumerate(model.formats.tau):
        units = np.clip(word.units(true[:, j]), word.lowest, word.highest)
        assert np.abs(found[:, j] - units).max() <= model.certificate.bounds[j] + 1e-6


def test_gravity_compensation_in_milliamperes():
    model = arm(quantity="gravity", torque="drive")
    assert model.certificate.outputs[0].bound_drive == pytest.approx(model.certificate.bounds[0])
    assert set(model.drives[0].to_plain()) == {"joint", "q", "tau"}


def test_a_sliding_joint_counts_by_the_metre():
    drive = {"gear": 200, "encoder": 1000, "torque_constant": 0.1, "rotor_inertia": 1e-5}
    known = JointSpec("boom", drive=drive).drive
    assert known.counts(False) == 200 * 1000
    assert known.effort(False)[1] == pytest.approx(1000 / (0.1 * 2 * math.pi * 200))
    assert known.reflected_inertia(False) == pytest.approx(1e-5 * (2 * math.pi * 200) ** 2)


def test_specs_say_drives_and_are_read_back():
    spec = Spec("planar2r", joints=(JointSpec("shoulder", drive=DRIVE, torque="drive", velocity="drive"),))
    assert from_toml(str(spec)) == spec
    assert "drive" not in str(bt.load_spec("planar2r"))


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        ({"torque": "drive"}, "torque = 'drive' needs a drive"),
        ({"torque": "drive", "drive": {"gear": 10}}, "needs the torque_constant"),
        ({"velocity": "drive", "drive": {"gear": 10}}, "needs the encoder"),
        ({"drive": {"gear": 0}}, "gear must be above 0"),
        ({"drive": {"gear": float("nan")}}, "gear must be a finite number"),
        ({"drive": {"gears": 10}}, "did you mean 'gear'"),
        ({"drive": {"rotor_inertia": -1}}, "at least 0"),
        ({"torque": "drives"}, "torque must be 'auto', 'limits', 'drive' or a range"),
    ],
)
def test_bad_drives_are_refused(joint, message):
    with pytest.raises(bt.BddTorqueError, match=message):
        bt.compile(Spec("planar2r", joints=(JointSpec("shoulder", **joint),), target="float"), cache=None)

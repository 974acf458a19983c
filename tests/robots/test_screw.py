"""Screw joints: what pinocchio says of them, what mechanics says of them, and compiled words of every state."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from compiled import check_every_word
from hypothesis import given
from hypothesis import strategies as st
from oracle import crba, inertia, rnea
from strategies import GEOMETRIES, random_robot

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.tip import tip_jacobian, tip_pose
from bddtorque.robots.joint_kinds import Revolute, Screw, joint_kind
from bddtorque.robots.parts import Joint, Link
from bddtorque.robots.robot import Robot
from bddtorque.robots.toml_reader import from_toml
from machines.serial_arm import require_serial

PRESS = """
name = "press"
gravity = [0, 0, -9.81]
[[joint]]
name = "spindle"
type = "screw"
pitch = "40 mm"
limits = { position = [-2.5, 2.5], velocity = 6.0, acceleration = 20.0 }
rotor_inertia = 0.001
link = { mass = 3.0, centre_of_mass = [0.05, 0.02, 0.1], inertia = [0.02, 0.03, 0.01] }
"""
ARM = (
    PRESS
    + """
[[joint]]
name = "arm"
type = "revolute"
origin = { xyz = [0.2, 0.0, 0.1], rpy = ["pi/2", 0, 0.3] }
limits = { position = [-1.5, 1.5], velocity = 3.0, acceleration = 10.0 }
link = { mass = 1.0, centre_of_mass = [0.2, 0.0, 0.0], inertia = [0.001, 0.01, 0.01] }
"""
)
TARGETS = ("tables", "integer", "float")
OTHERS = ("gravity", "bias", "mass_matrix", "kinematics", "jacobian", "energy", "computed_torque")

seeds = st.integers(0, 2**32 - 1)


@st.composite
def screw_chains(draw: st.DrawFn, longest: int = 5) -> Robot:
    """Return chains with at least one screw."""
    kinds = draw(st.lists(st.sampled_from(["revolute", "prismatic", "screw"]), min_size=1, max_size=longest))
    kinds[draw(st.integers(0, len(kinds) - 1))] = "screw"
    pitches = [draw(st.floats(-2.0, 2.0)) for _ in kinds]
    records = [
        joint_kind(kind, "joint", {"pitch": pitch} if kind == "screw" else {})
        for kind, pitch in zip(kinds, pitches, strict=True)
    ]
    geometries = [draw(st.sampled_from(GEOMETRIES)) for _ in kinds]
    return random_robot(records, geometries, draw(seeds), payload=draw(st.booleans()))


def by_pinocchio(robot: Robot) -> pin.Model:
    """Return a chain as a pinocchio model, with its helical joints."""
    model = pin.Model()
    model.gravity = pin.Motion(np.array(robot.gravity), np.zeros(3))
    parent = 0
    for joint, link in zip(robot.joints, robot.links, strict=True):
        kind: Any = pin.JointModelRZ() if joint.kind.turns else pin.JointModelPZ()
        if isinstance(joint.kind, Screw):
            kind = pin.JointModelHZ(joint.kind.pitch / math.tau)
        placement = pin.SE3(np.array(joint.rotation), np.array(joint.translation))
        parent = model.addJoint(parent, kind, placement, joint.name)
        model.appendBodyToJoint(parent, inertia(link), pin.SE3.Identity())
    tip = pin.SE3(np.array(robot.tip.rotation), np.array(robot.tip.translation))
    if robot.payload is not None:
        model.appendBodyToJoint(parent, inertia(robot.payload), tip)
    model.armature = np.array([joint.rotor_inertia for joint in robot.joints])
    model.addFrame(pin.Frame("tip", parent, 0, tip, pin.FrameType.OP_FRAME))
    return model


def states(robot: Robot, seed: int, count: int = 5) -> np.ndarray:
    """Return q, qd and qdd, (3, count, n)."""
    return np.random.default_rng(seed).uniform(-3, 3, (3, count, robot.degrees_of_freedom))


def close(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, atol=1e-10 * max(1.0, np.abs(expected).max()))


@given(screw_chains(), seeds)
def test_dynamics_are_those_of_pinocchio(robot: Robot, seed: int) -> None:
    model, (q, qd, qdd) = by_pinocchio(robot), states(robot, seed)
    close(bt.inverse_dynamics(robot, q, qd, qdd), rnea(model, q, qd, qdd))
    close(bt.mass_matrix(robot, q), crba(model, q))
    close(bt.forward_dynamics(robot, q, qd, bt.inverse_dynamics(robot, q, qd, qdd)), qdd)


@given(screw_chains(), seeds)
def test_pose_and_jacobian_are_those_of_pinocchio(robot: Robot, seed: int) -> None:
    model, (q, _, _) = by_pinocchio(robot), states(robot, seed)
    data, tip = model.createData(), model.getFrameId("tip")
    place, rotation, _ = tip_pose(robot, q)
    jacobian = tip_jacobian(robot, q)
    for k, state in enumerate(q):
        own = pin.computeFrameJacobian(model, data, state, tip, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        pin.framesForwardKinematics(model, data, state)
        close(place[k], data.oMf[tip].translation)
        close(rotation[k], data.oMf[tip].rotation)
        close(jacobian[k], own.reshape(6, -1))


@given(screw_chains(), seeds)
def test_models_of_pinocchio_are_read(robot: Robot, seed: int) -> None:
    q, qd, qdd = states(robot, seed)
    read = bt.load_robot(by_pinocchio(replace(robot, payload=None)))
    assert [type(joint.kind) for joint in read.joints] == [type(joint.kind) for joint in robot.joints]
    expected = bt.inverse_dynamics(replace(robot, payload=None), q, qd, qdd)
    close(bt.inverse_dynamics(read, q, qd, qdd), expected)


def test_unaligned_models_of_pinocchio_are_read() -> None:
    model = pin.Model()
    axis = np.array([1.0, 2.0, 2.0]) / 3
    placement = pin.SE3(np.eye(3), np.array([0.1, 0.2, 0.3]))
    body = pin.Inertia(2.0, np.array([0.1, 0.2, 0.3]), np.diag([0.1, 0.2, 0.15]))
    model.appendBodyToJoint(
        model.addJoint(0, pin.JointModelHelicalUnaligned(*axis, 0.05), placement, "h"), body, pin.SE3.Identity()
    )
    q, qd, qdd = np.random.default_rng(0).uniform(-3, 3, (3, 20, 1))
    robot = bt.load_robot(model)
    assert robot.joints[0].kind == Screw(0.05 * math.tau)
    close(bt.inverse_dynamics(robot, q, qd, qdd), rnea(model, q, qd, qdd))


@given(screw_chains(), seeds)
def test_of_pitch_zero_it_is_a_revolute_joint(robot: Robot, seed: int) -> None:
    q, qd, qdd = states(robot, seed)

    def with_kind(kind: Any) -> Robot:
        return replace(
            robot,
            joints=tuple(
                replace(joint, kind=kind) if isinstance(joint.kind, Screw) else joint for joint in robot.joints
            ),
        )

    flat, turning = with_kind(Screw(0.0)), with_kind(Revolute())
    np.testing.assert_array_equal(bt.inverse_dynamics(flat, q, qd, qdd), bt.inverse_dynamics(turning, q, qd, qdd))
    assert not Screw(0.0).one_turn


def test_a_weight_on_a_spindle() -> None:
    """Lifting a weight takes pitch/2π of it, whatever the angle; the drive feels its mass times (pitch/2π)²."""
    spindle = Robot("spindle", (Joint("s", Screw(0.01)),), (Link("nut", 50.0),))
    lift = 0.01 / math.tau
    np.testing.assert_allclose(bt.gravity_torque(spindle, [[0.0], [2.0]]), 50 * 9.81 * lift, rtol=1e-14)
    np.testing.assert_allclose(bt.mass_matrix(spindle, [1.0]), [[50 * lift**2]], rtol=1e-14)


@pytest.mark.parametrize("target", TARGETS)
def test_every_torque_is_within_the_certificate(target: str) -> None:
    model = bt.compile(from_toml(PRESS), bits=5, target=target, cache=None, workers=1)
    check_every_word(model)
    assert max(model.certificate.bounds) < 1
    assert all(check.passed for check in bt.verify(model))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("quantity", OTHERS)
def test_other_quantities_of_an_arm_on_a_screw(target: str, quantity: str) -> None:
    options: dict[str, Any] = {"gains": {"kp": 10, "kv": 2}} if quantity == "computed_torque" else {}
    model = bt.compile(
        from_toml(ARM), bits=6, quantity=quantity, target=target, cache=None, workers=1, **options
    )  # fmt: skip
    check_every_word(model, 1 << 12)
    assert all(check.passed for check in bt.verify(model))


def test_a_payload_and_gravity_at_run_time() -> None:
    payload = {"mass": 0.5, "runtime": True}
    model = bt.compile(
        from_toml(ARM), bits=8, target="float", payload=payload, gravity={"runtime": True}, cache=None, workers=1
    )
    check_every_word(model, 1 << 12)


def test_files_hold_the_pitch(tmp_path: Path) -> None:
    model = bt.compile(from_toml(PRESS), bits=8, target="float", quantity="gravity", cache=None, workers=1)
    model.save(tmp_path / "press.bdt")
    assert bt.load(tmp_path / "press.bdt").robot == model.robot
    assert model.robot.joints[0].kind == Screw(0.04)
    assert [word.unit for word in (*model.formats.q, *model.formats.tau)] == ["rad", "N·m"]
    assert "screw" in str(model.robot)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('pitch = "40 mm"', "", r"joint 1 'spindle': key 'pitch' is missing"),
        ('"40 mm"', '"40 deg"', r"joint 1 'spindle': pitch must be a number, or text such as"),
        ('"40 mm"', "inf", r"joint 1 'spindle': pitch must be"),
        ('"screw"', '"revolute"', r"joint 1 'spindle': unknown key 'pitch'"),
    ],
)
def test_what_is_wrong_in_a_file_is_said(old: str, new: str, message: str) -> None:
    with pytest.raises(BddTorqueError, match=message):
        from_toml(PRESS.replace(old, new))


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ("", r"screw joint 'spindle' has no range of position in rad"),
        ("position = [-3.0, 4.0], ", r"screw joint 'spindle': words of 'spindle' hold one turn.*got -3 to 4 rad"),
    ],
)
def test_it_must_stay_within_a_turn(limits: str, message: str) -> None:
    robot = from_toml(PRESS.replace("position = [-2.5, 2.5], ", limits))
    with pytest.raises(BddTorqueError, match=message):
        bt.compile(robot, bits=8, quantity="gravity", cache=None)


def test_what_takes_plain_joints_says_so() -> None:
    with pytest.raises(BddTorqueError, match=r"joint 'spindle' of robot 'press' is a screw joint"):
        require_serial(from_toml(PRESS), "this machine")
    with pytest.raises(BddTorqueError, match=r"terms of such joints are not expanded"):
        bt.terms_of(from_toml(PRESS))

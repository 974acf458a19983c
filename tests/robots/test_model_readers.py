"""MJCF, models of MuJoCo and pinocchio, and xacro: the torques of those who made them, or one clear line."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from sample_robots import TWO_LINKS, example_urdf, extended, joint
from test_trees import assert_same_torques

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.independent import check_bytes
from bddtorque.model.model import to_bytes
from bddtorque.robots import load_robot
from bddtorque.spec import from_toml as from_spec_toml

MJCF = """
<mujoco model="crane">
  <compiler angle="radian" autolimits="true"/>
  <option gravity="0.5 -1 -9"/>
  <worldbody>
    <body name="mast" pos="0.1 0 0.2" quat="0.9 0.1 0.2 0.3">
      <inertial pos="0.1 0.2 0.3" quat="0.8 0.1 0.4 0.2" mass="2" diaginertia="0.03 0.04 0.05"/>
      <joint name="turn" axis="0 1 2" pos="0.1 0.2 0.3" armature="0.3" damping="0.4" ref="0.3" range="-1 2"/>
      <joint name="lift" type="slide" axis="1 0 1" pos="0.3 0 0.1" armature="0.1" frictionloss="0.2" ref="0.1"/>
      <body name="jib" pos="0.5 0 0.1" euler="0.1 0.2 0.3">
        <inertial pos="0.1 0 0" mass="1" fullinertia="0.03 0.04 0.05 0.001 0.002 0.003"/>
        <joint name="swing" type="hinge" axis="1 0 0" pos="0 0.1 0"/>
        <body name="plate" pos="0.2 0.1 0"><inertial pos="0 0 0.1" mass="0.3" diaginertia="0.01 0.01 0.01"/></body>
      </body>
      <body name="other" pos="0 0.4 0.1">
        <inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.02"/>
        <joint name="nod" type="hinge" axis="0 0 1"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="nod" gear="50" forcerange="-0.2 0.1"/><motor joint="turn"/></actuator>
</mujoco>
"""


TIE = '<equality><joint name="tie" joint1="swing" joint2="nod"/></equality>'
ROPE = '<tendon><fixed name="rope"><joint joint="nod" coef="1"/></fixed></tendon>'


def mujoco_torques(model: mujoco.MjModel, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Return what MuJoCo's inverse dynamics asks of the drives: with armature, damping and friction loss."""
    data = mujoco.MjData(model)
    data.qpos, data.qvel, data.qacc = q, qd, qdd
    mujoco.mj_inverse(model, data)
    return np.array(data.qfrc_inverse) + model.dof_frictionloss * np.sign(qd) + np.array(data.qfrc_constraint)


def test_torques_are_those_of_mujoco(tmp_path: Path) -> None:
    model = mujoco.MjModel.from_xml_string(MJCF)
    file = tmp_path / "crane.xml"
    file.write_text(MJCF)
    robot, from_file = load_robot(model), load_robot(file)
    assert robot.joints == from_file.joints
    assert (robot.name, from_file.source) == ("crane", "MJCF crane.xml")
    assert robot.joint_names == ("turn", "lift", "swing", "nod")
    turn, _, _, nod = robot.joints
    assert (turn.lower, turn.upper, turn.rotor_inertia) == (-1.0, 2.0, 0.3)
    assert nod.effort == pytest.approx(10.0)
    assert robot.gravity == (0.5, -1.0, -9.0)
    random = np.random.default_rng(0)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    for q, qd, qdd in random.uniform(-1, 1, (10, 3, 4)):
        expected = mujoco_torques(model, q, qd, qdd)
        assert bt.inverse_dynamics(robot, q, qd, qdd) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_mujoco_options_and_compilation() -> None:
    model = mujoco.MjModel.from_xml_string(MJCF)
    chain = load_robot(model, tip="jib", lock={"nod": 0.2}, ignore_friction=True)
    assert chain.serial
    assert not chain.has_friction
    compiled = bt.compile(
        model, tip="jib", lock="others", bits=4, velocity=1, acceleration=2, position={"lift": 0.3}, target="float",
        workers=1, cache=None,
    )  # fmt: skip
    assert compiled.formats.q.labels == ("turn", "lift", "swing")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("<actuator>", f"{TIE}<actuator>", "equality constraint 'tie'"),
        ("<actuator>", f"{ROPE}<actuator>", "tendon 'rope'"),
        ('axis="1 0 0"', 'axis="1 0 0" stiffness="3"', r"the spring \(stiffness\) of joint 'swing'"),
        ('name="jib"', 'name="jib" gravcomp="1"', "gravity compensation"),
        ("<option ", '<option density="1.2" ', "a medium"),
        ('type="hinge" axis="1 0 0" pos="0 0.1 0"', 'type="ball"', "continuous, prismatic or fixed, got ball"),
        ('axis="1 0 0"', 'axis="1 0 0" type="bolt"', "MuJoCo does not compile it"),
        ("<worldbody>", "", "MuJoCo does not compile it"),
    ],
)  # fmt: skip
def test_what_mujoco_has_and_a_tree_has_not(old: str, new: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "crane.xml"
    file.write_text(MJCF.replace(old, new, 1))
    with pytest.raises(BddTorqueError, match=said) as problem:
        load_robot(file)
    assert str(problem.value).startswith(str(file))
    assert "\n" not in str(problem.value)


def test_constraints_on_locked_joints_do_not_matter(tmp_path: Path) -> None:
    model = mujoco.MjModel.from_xml_string(MJCF.replace("<actuator>", f"{TIE}<actuator>"))
    assert load_robot(model, lock={"swing": 0.0, "nod": 0.0}).joint_names == ("turn", "lift")
    free = re.sub('<joint name="(turn|lift)".*/>', "", MJCF).replace('<motor joint="turn"/>', "")
    free = free.replace("<inertial", '<freejoint name="float"/><inertial', 1)
    path = tmp_path / "free.mjcf"
    path.write_text(free)
    with pytest.raises(BddTorqueError, match="joint 'float': a joint that moves must be"):
        load_robot(path)
    assert load_robot(path, base="mast", gravity=[0, 0, -9.81]).joint_names == ("swing", "nod")


def test_names_that_are_no_text_and_warnings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "crane.xml"
    path.write_bytes(MJCF.encode().replace(b'name="nod"', b'name="n\xfed"').replace(b'joint="nod"', b'joint="n\xfed"'))
    with pytest.raises(BddTorqueError, match="joint name must be printable text"):
        load_robot(path)
    path.write_text(MJCF.replace('diaginertia="0.01 0.02 0.02"', 'diaginertia="0.01 0.02 nan"'))
    with pytest.raises(BddTorqueError):
        load_robot(path)
    assert [each.name for each in tmp_path.iterdir()] == ["crane.xml"]  # no log of MuJoCo's beside it


def test_urdf_in_an_xml_file(tmp_path: Path) -> None:
    path = tmp_path / "two.xml"
    path.write_text(
        TWO_LINKS.replace('<link name="base"/>', '<mujoco><compiler strippath="true"/></mujoco><link name="base"/>')
    )
    assert load_robot(path).joint_names == ("shoulder", "elbow")


def test_pinocchio_models() -> None:
    text = extended(joint("flap", "continuous", "upper", "side")).replace(
        'damping="0" friction="0.0"', 'damping="0.3" friction="0.2"'
    )
    model = pin.buildModelFromXML(text)
    model.armature = np.array([0.1, 0.2, 0.3])
    robot = load_robot(model)
    assert robot.joint_names == tuple(model.names)[1:]
    assert [each.rotor_inertia for each in robot.joints] == pytest.approx([0.1, 0.2, 0.3])
    assert [each.friction is not None for each in robot.joints] == [False, True, False]
    shoulder = robot.joints[0]
    assert (shoulder.lower, shoulder.upper, shoulder.velocity, shoulder.effort) == (-2.0, 2.0, 3.0, 40.0)
    data = model.createData()
    random = np.random.default_rng(0)
    for q, qd, qdd in random.uniform(-1, 1, (5, 3, 3)):
        full = np.array([q[0], q[1], np.cos(q[2]), np.sin(q[2])])
        expected = pin.rnea(model, data, full, qd, qdd) + model.damping * qd + model.friction * np.sign(qd)
        assert bt.inverse_dynamics(robot, q, qd, qdd) == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert load_robot(model, tip="elbow", lock={"flap": 0.1}, ignore_friction=True).serial
    floating = pin.buildModelFromXML(TWO_LINKS, pin.JointModelFreeFlyer())
    with pytest.raises(BddTorqueError, match=r"pinocchio.Model, joint 'root_joint'.*got FreeFlyer"):
        load_robot(floating)


XACRO = """<?xml version="1.0"?>
<robot name="two" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="mass" default="2"/>
  <xacro:property name="reach" value="${0.1 + 0.2}"/>
"""


def test_xacro(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = TWO_LINKS.split('<robot name="two">')[1].replace('mass value="2"', 'mass value="$(arg mass)"')
    text = XACRO + body.replace('xyz="0.3 0 0"', 'xyz="${reach} 0 0"')
    path = tmp_path / "two.urdf.xacro"
    path.write_text(text)
    robot = load_robot(path)
    assert robot.links[0].mass == 2.0
    assert robot.joints[1].translation[0] == pytest.approx(0.3)
    path.write_text(text.replace("${reach}", "${nothing}"))
    with pytest.raises(BddTorqueError, match=r"xacro cannot be expanded: .*nothing"):
        load_robot(path)
    monkeypatch.setitem(sys.modules, "xacrodoc", None)
    with pytest.raises(BddTorqueError, match=r"needs xacrodoc: pip install"):
        load_robot(path)


def test_xacro_arguments(tmp_path: Path) -> None:
    body = TWO_LINKS.split('<robot name="two">')[1].replace('mass value="2"', 'mass value="$(arg mass)"')
    path = tmp_path / "two.urdf.xacro"
    path.write_text(
        f"""{XACRO}<xacro:arg name="frozen" default="false"/><xacro:if value="$(arg frozen)"><link name="ice"/>
        <joint name="i" type="fixed"><parent link="lower"/><child link="ice"/></joint></xacro:if>{body}"""
    )
    robot = load_robot(path, xacro_args={"mass": 3.5, "frozen": True})
    assert robot.links[0].mass == 3.5
    assert load_robot(path, frame="ice", xacro_args={"frozen": "true"}).links[0].mass == 2.0
    model = bt.compile(path, quantity="gravity", target="float", bits=8, cache=None, xacro_args={"mass": "3.5"})
    assert model.robot.links == robot.links
    again = from_spec_toml(str(model.spec))
    assert again.xacro_args == model.spec.xacro_args == (("mass", "3.5"),)
    assert all(check.passed for check in check_bytes(to_bytes(model)))
    assert {each.kind for each in bt.lint(path, xacro_args={"mass": 0.0001})} != {each.kind for each in bt.lint(path)}


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("two.xacro", {"mas": 1}, r"two\.xacro: xacro_args: unknown argument 'mas'; did you mean 'mass'\?"),
        ("two.xacro", {"mass": [1]}, r"xacro_args: 'mass' must be text, a number, true or false, got \[1\]"),
        ("two.xacro", {"": 1}, r"xacro_args: the name of an argument must be printable text"),
        ("two.xacro", "mass=1", r"xacro_args must be arguments by name with their values, got 'mass=1'"),
        ("two.xacro", {"mass": "much"}, r"two\.xacro.*much"),
        ("two.urdf", {"mass": 1}, r"two\.urdf: xacro_args is only for \.xacro files"),
        ("ur5", {"mass": 1}, r"built-in robot 'ur5': xacro_args is for \.xacro files only"),
    ],
)
def test_wrong_xacro_arguments(tmp_path: Path, name: str, given: Any, message: str) -> None:
    body = TWO_LINKS.split('<robot name="two">')[1].replace('mass value="2"', 'mass value="$(arg mass)"')
    (tmp_path / "two.xacro").write_text(XACRO + body)
    (tmp_path / "two.urdf").write_text(TWO_LINKS)
    source = name if name == "ur5" else tmp_path / name
    with pytest.raises(BddTorqueError, match=message):
        load_robot(source, xacro_args=given)
    if isinstance(source, Path):
        with pytest.raises(BddTorqueError, match=message.replace("xacro_args: ", "xacro_args.*")):
            bt.compile(source, cache=None, xacro_args=given)


def test_without_mujoco(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "arm.xml"
    path.write_text(MJCF)
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(BddTorqueError, match="reading MJCF needs MuJoCo: pip install"):
        load_robot(path)


def test_strangers() -> None:
    with pytest.raises(BddTorqueError, match="robot must be a name, a file or a Robot, got"):
        load_robot(pin.Data())


def test_a_quadruped_from_pinocchio() -> None:
    path = example_urdf("solo_description/robots/solo12.urdf")
    assert_same_torques(path.read_text(), load_robot(pin.buildModelFromUrdf(str(path)), ignore_friction=True))

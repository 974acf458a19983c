"""Pose, Jacobian and payload at a named link of a tree: within their certificates of pinocchio, and proved again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from oracle import pinocchio_torques
from sample_robots import TREE, example_urdf

import bddtorque as bt
from bddtorque.compiler.verify import verify
from bddtorque.independent import check_bytes
from bddtorque.model.model import from_bytes, to_bytes
from bddtorque.robots import from_toml, from_urdf, load_robot
from bddtorque.robots.robot_data import robot_from_plain, robot_to_plain

TOOLS = TREE.replace(
    "</robot>",
    '<link name="tool"/><joint name="mount" type="fixed"><parent link="two"/><child link="tool"/>'
    '<origin xyz="0.1 -0.2 0.3" rpy="0.5 0 -0.4"/></joint></robot>',
)
"""A tree in which a follower carries the tool."""
BOX: dict[str, Any] = {"mass": [1, 5], "com": [[-0.1, 0.1], 0, [0, 0.2]], "runtime": True}


def words_of(model: bt.Model, count: int) -> dict[str, np.ndarray]:
    """Return random words by the names of the plan's inputs."""
    rng = np.random.default_rng(count)
    formats = {f"{each.name}{k}": word for each in model.formats.inputs for k, word in enumerate(each, 1)}
    return {name: rng.integers(word.lowest, word.highest + 1, count) for name, word in formats.items()}


def check_file(model: bt.Model) -> None:
    """It is read back as it is, and both checkers prove it again."""
    data = to_bytes(model)
    assert from_bytes(data).robot == model.robot
    assert all(check.passed for check in verify(data, workers=1))
    found = check_bytes(data)
    assert all(check.passed for check in found), found[-1]


def test_a_fixed_payload_in_torques() -> None:
    robot = from_urdf(TOOLS, frame="tool").with_payload(2.0, (0.1, 0.0, 0.2))
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.uniform(-1, 1, (3, 20, 3))
    c = np.array([0.1, 0.0, 0.2])
    model = pin.buildModelFromXML(TOOLS)
    place = model.frames[model.getFrameId("tool")]
    model.appendBodyToJoint(place.parentJoint, pin.Inertia(2.0, c, np.zeros((3, 3))), place.placement)
    expected = pinocchio_torques(model, robot, q, qd, qdd)
    np.testing.assert_allclose(bt.inverse_dynamics(robot, q, qd, qdd), expected, rtol=1e-10, atol=1e-10)
    assert robot_from_plain(robot_to_plain(robot)) == robot


def test_the_foot_of_a_quadruped() -> None:
    path = str(example_urdf("solo_description/robots/solo12.urdf"))
    model = bt.compile(path, quantity="kinematics", frame="FR_FOOT", target="float", cache=None)
    q = model.formats.q.dequantise(words_of(model, 1)["q1"] * np.ones((5, 12), dtype=np.int64))
    arm = pin.buildModelFromUrdf(path)
    data = arm.createData()
    for state in q:
        order = [state[model.robot.joint_names.index(name)] for name in list(arm.names)[1:]]
        pin.framesForwardKinematics(arm, data, np.array(order))
        foot = data.oMf[arm.getFrameId("FR_FOOT")]
        np.testing.assert_allclose(
            model.value(state).position, foot.translation, atol=2 * model.formats["position"][0].lsb
        )
    assert model.spec.frame == "FR_FOOT"
    check_file(model)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quantity": "kinematics"}, r"quantity 'kinematics' needs frame.*last links are 'two', 'three'"),
        ({"quantity": "jacobian"}, r"quantity 'jacobian' needs frame"),
        ({"payload": 1.0}, r"a payload needs frame"),
        ({"payload": BOX}, r"a payload at run time needs frame"),
        ({"quantity": "kinematics", "frame": "tol"}, r"frame: unknown link 'tol'; did you mean 'tool'"),
        ({"quantity": "kinematics", "frame": "base"}, r"frame 'base': no joint moves it"),
        ({"quantity": "kinematics", "frame": 3}, r"frame must be the name of a link, got 3"),
    ],
)
def test_refusals(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    path = tmp_path / "tree.urdf"
    path.write_text(TOOLS)
    with pytest.raises(bt.BddTorqueError, match=message):
        bt.compile(str(path), cache=None, **options)


def test_a_frame_off_the_chain_is_refused() -> None:
    with pytest.raises(bt.BddTorqueError, match="frame 'FR_FOOT': joint 'FR_KFE', which carries it, does not move"):
        load_robot(example_urdf("solo_description/robots/solo12.urdf"), tip="FL_FOOT", frame="FR_FOOT")


def test_a_link_of_a_chain_and_of_a_toml_file() -> None:
    upper = load_robot("planar2r", frame=names("planar2r")[0])
    assert upper.tip.parent == "shoulder"
    model = bt.compile(upper, quantity="kinematics", target="float", bits=12, cache=None)
    assert not model.value([0.3, 0.5]).position[2]
    np.testing.assert_array_equal(model.value([0.3, 0.5]).position, model.value([0.3, -1.5]).position)
    check_file(model)
    last = load_robot("planar2r", frame=names("planar2r")[1])
    assert last.tip.parent is None
    with pytest.raises(bt.BddTorqueError, match=r"planar2r\.toml: frame: unknown link 'hand'"):
        load_robot("planar2r", frame="hand")
    with pytest.raises(bt.BddTorqueError, match="robot 'planar2r': frame is for files and models only"):
        load_robot(last, frame="hand")


def names(robot: str) -> list[str]:
    return [link.name for link in load_robot(robot).links]


def test_the_tip_of_a_tree_in_toml() -> None:
    link = "link = { mass = 1.0, centre_of_mass = [0.1, 0.0, 0.0], inertia = [0.01, 0.01, 0.01] }"
    joints = "".join(
        f'[[joint]]\nname = "{name}"\nparent = "{parent}"\ntype = "revolute"\norigin.xyz = [0.2, 0, 0]\n{link}\n'
        for name, parent in (("trunk", "base"), ("left", "trunk"), ("right", "trunk"))
    )
    tip = '[tip]\nparent = "left"\nxyz = [0.5, 0.0, 0.0]\n'
    payload = "[payload]\nmass = 1.0\ncentre_of_mass = [0.0, 0.0, 0.0]\ninertia = [0.0, 0.0, 0.0]\n"
    robot = from_toml(f'name = "arms"\ngravity = [0, -9.81, 0]\n{joints}{tip}{payload}')
    bare = from_toml(f'name = "arms"\ngravity = [0, -9.81, 0]\n{joints}')
    weight = bt.gravity_torque(robot, np.zeros(3)) - bt.gravity_torque(bare, np.zeros(3))
    np.testing.assert_allclose(weight, [9.81 * 0.7, 9.81 * 0.5, 0.0], atol=1e-12)
    with pytest.raises(bt.BddTorqueError, match="parent: unknown joint 'lef'"):
        from_toml(f'name = "arms"\n{joints}{tip.replace("left", "lef")}')
    with pytest.raises(bt.BddTorqueError, match="a payload needs frame"):
        from_toml(f'name = "arms"\n{joints}{payload}')

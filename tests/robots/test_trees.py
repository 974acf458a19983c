"""Trees and coupled joints: torques against pinocchio, readers, plain data, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from oracle import pinocchio_torques
from sample_robots import LIMIT, TWO_LINKS, example_urdf, extended, joint

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.robots import from_toml, from_urdf, load_urdf
from bddtorque.robots.parts import Follower, Joint, Link
from bddtorque.robots.robot import Robot
from bddtorque.robots.robot_data import robot_from_plain, robot_to_plain

SIDE = joint("flap", "revolute", "upper", "side", LIMIT)
HAND = (
    joint("left", "prismatic", "lower", "one", f'<axis xyz="1 2 0"/>{LIMIT}'),
    joint("right", "revolute", "one", "two", LIMIT + '<mimic joint="shoulder" multiplier="-2" offset="0.3"/>'),
    joint("tip", "revolute", "two", "three", LIMIT),
    joint("other", "prismatic", "base", "four", LIMIT + '<mimic joint="left" multiplier="0.7" offset="-0.1"/>'),
    joint("third", "prismatic", "four", "five", LIMIT + '<mimic joint="other" multiplier="2" offset="0.5"/>'),
)


def assert_same_torques(text: str, robot: Robot) -> None:
    random = np.random.default_rng(1)
    q, qd, qdd = random.uniform(-1, 1, (3, 20, robot.degrees_of_freedom))
    expected = pinocchio_torques(pin.buildModelFromXML(text), robot, q, qd, qdd)
    assert np.abs(bt.inverse_dynamics(robot, q, qd, qdd) - expected).max() < 1e-11 * np.abs(expected).max()


@pytest.mark.parametrize("elements", [(SIDE,), (*HAND,), (SIDE, *HAND)])
def test_torques_are_those_of_pinocchio(elements: tuple[str, ...]) -> None:
    text = extended(*elements).replace("damping=", "none=")
    assert_same_torques(text, from_urdf(text))


@pytest.mark.parametrize(
    "file", ["solo_description/robots/solo12.urdf", "allegro_hand_description/urdf/allegro_left_hand.urdf"]
)
def test_robots_people_have(file: str) -> None:
    path = example_urdf(file)
    assert_same_torques(path.read_text(), load_urdf(path, ignore_friction=True, allow_unphysical=True))


def test_a_chain_of_a_tree_with_the_others_locked() -> None:
    text = extended(SIDE)
    whole, held = from_urdf(text), from_urdf(text, lock={"flap": 0.4})
    assert held.serial
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    still = (np.append(each, rest) for each, rest in ((q, 0.4), (qd, 0.0), (qdd, 0.0)))
    assert np.allclose(bt.inverse_dynamics(held, q, qd, qdd), bt.inverse_dynamics(whole, *still)[:2], rtol=1e-12)


def test_friction_of_a_follower_loads_its_leader() -> None:
    dynamics = '<dynamics damping="0.5" friction="0.25"/>'
    mimic = '<mimic joint="shoulder" multiplier="-2"/>'
    text = extended(joint("flap", "revolute", "upper", "side", f"{LIMIT}{mimic}{dynamics}"))
    robot = from_urdf(text)
    bare = from_urdf(text, ignore_friction=True)
    v = np.array([1.5, 0.0])
    rubbed = bt.inverse_dynamics(robot, [0, 0], v, [0, 0]) - bt.inverse_dynamics(bare, [0, 0], v, [0, 0])
    assert rubbed == pytest.approx([4 * 0.5 * 1.5 + 2 * 0.25, 0.0])


def test_plain_data_and_back() -> None:
    for text in (TWO_LINKS, extended(SIDE), extended(*HAND)):
        robot = from_urdf(text)
        plain = robot_to_plain(robot)
        assert robot_from_plain(plain) == robot
        assert ("followers" in plain) == bool(robot.followers)
        assert all("parent" not in each for each in plain["joints"]) == robot.serial or robot.followers


TOML = """
name = "tree"
[[joint]]
name = "waist"
type = "revolute"
link = { mass = 1.0, centre_of_mass = [0.1, 0, 0], inertia = [0.01, 0.02, 0.02] }
[[joint]]
name = "left"
type = "revolute"
origin = { xyz = [0, 0.2, 0] }
axis = [1, 0, 0]
link = { mass = 1.0, centre_of_mass = [0.1, 0, 0], inertia = [0.01, 0.02, 0.02] }
[[joint]]
name = "right"
parent = "waist"
mimic = { joint = "left", multiplier = -1, offset = "90 deg" }
type = "revolute"
origin = { xyz = [0, -0.2, 0] }
axis = [1, 0, 0]
link = { mass = 2.0, centre_of_mass = [0.1, 0, 0], inertia = [0.01, 0.02, 0.02] }
[[joint]]
name = "mast"
parent = "base"
type = "prismatic"
link = { mass = 3.0, centre_of_mass = [0.1, 0, 0], inertia = [0.01, 0.02, 0.02] }
"""


def test_toml() -> None:
    robot = from_toml(TOML)
    assert robot.joint_names == ("waist", "left", "mast")
    assert [joint.parent for joint in robot.joints] == [None, None, ""]
    (follower,) = robot.followers
    assert (follower.leader, follower.multiplier, follower.joint.parent) == ("left", -1.0, "waist")
    assert follower.offset == pytest.approx(np.pi / 2)
    assert bt.gravity_torque(robot, [0.0, 0.0, 0.0])[2] == pytest.approx(3.0 * 9.81)
    with pytest.raises(
        BddTorqueError, match=r"joint 2 'left': parent: unknown joint 'right'.*a parent must come before its children"
    ):
        from_toml(TOML.replace('name = "left"\n', 'name = "left"\nparent = "right"\n'))
    with pytest.raises(BddTorqueError, match="leader of joint 'right': unknown joint 'lift'; did you mean 'left'"):
        from_toml(TOML.replace('joint = "left"', 'joint = "lift"'))


def test_a_tree_is_shown_as_one() -> None:
    shown = str(from_toml(TOML))
    assert "sits on" in shown
    assert "the base" in shown
    assert "-1 · left +1.571" in shown
    assert "sits on" not in str(bt.load_robot("ur5"))


def test_refusals() -> None:
    a, b, body = Joint("a", "revolute"), Joint("b", "revolute"), Link("l", 1.0)
    with pytest.raises(BddTorqueError, match="parent of joint 'b': unknown joint 'c'"):
        Robot("r", (a, replace(b, parent="c")), (body, body))
    with pytest.raises(BddTorqueError, match="joints must form a tree, joint 'a' is part of a loop"):
        Robot("r", (replace(a, parent="b"), replace(b, parent="a")), (body, body))
    with pytest.raises(BddTorqueError, match="joint 'a' must come after the joint that carries it"):
        Robot("r", (replace(a, parent="b"), replace(b, parent="")), (body, body))
    with pytest.raises(BddTorqueError, match=r"a payload needs frame.*its last links are 'l', 'l'"):
        Robot("r", (a, replace(b, parent="")), (body, body)).with_payload(1.0)
    with pytest.raises(BddTorqueError, match="multiplier must not be 0"):
        Follower(replace(b, parent="a"), body, "a", 0.0)
    with pytest.raises(BddTorqueError, match="must have a parent"):
        Follower(b, body, "a")
    with pytest.raises(BddTorqueError, match="multiplier must be a finite number"):
        Follower(replace(b, parent="a"), body, "a", float("nan"))
    assert Robot("r", (a, replace(b, parent="a")), (body, body)).serial

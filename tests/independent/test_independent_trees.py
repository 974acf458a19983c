"""The independent checker on trees and joints that follow others: torques against pinocchio, proofs, and refusals."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from mutations import at, proved_findings, refusal, taken_apart
from oracle import pinocchio_torques
from recursion_numbers import Number, Plain
from sample_robots import example_urdf, extended, joint

import bddtorque as bt
from bddtorque.independent import comparison
from bddtorque.independent.dynamics import State, torques
from bddtorque.independent.findings import RefusedError
from bddtorque.independent.robots import robot_of
from bddtorque.model.model import to_bytes
from bddtorque.robots import from_urdf, load_urdf
from bddtorque.robots.robot_data import robot_to_plain

LIMIT = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'
FLAP = joint("flap", "revolute", "upper", "side", LIMIT)
TREE = extended(
    FLAP,
    joint("right", "revolute", "lower", "two", LIMIT + '<mimic joint="flap" multiplier="-2" offset="0.3"/>'),
    joint("slide", "prismatic", "side", "three", LIMIT + '<mimic joint="elbow" multiplier="0.7" offset="-0.1"/>'),
    joint("wing", "revolute", "three", "four", LIMIT + '<mimic joint="shoulder" multiplier="1" offset="-0.2"/>'),
).replace("damping=", "none=")


def plain_tree() -> dict[str, Any]:
    return json.loads(json.dumps(robot_to_plain(from_urdf(TREE))))


def compiled_tree(**options: Any) -> bytes:
    return to_bytes(bt.compile(from_urdf(TREE), workers=1, cache=None, **options))


def test_torques_are_pinocchios():
    robot = from_urdf(TREE)
    rng = np.random.default_rng(2)
    q, qd, qdd = rng.uniform(-1, 1, (3, 20, robot.degrees_of_freedom))
    own = robot_of(plain_tree())
    columns: list[list[Number]] = [[] for _ in range(5)]
    for member in own.members:
        k, offset = float(member.multiplier), float(member.offset)
        position = k * q[:, member.drive] + offset
        moved = (position, np.sin(position), np.cos(position), k * qd[:, member.drive], k * qdd[:, member.drive])
        for column, values in zip(columns, moved, strict=True):
            column.append(Number(values))
    found = np.stack([each.value for each in torques(own, State(*columns), Plain())], axis=1)
    expected = pinocchio_torques(pin.buildModelFromXML(TREE), robot, q, qd, qdd)
    assert np.abs(found - expected).max() < 1e-11 * np.abs(expected).max()


def test_a_quadruped_is_proved_leg_by_leg(monkeypatch):
    """A leg needs a grid of 2,648 numbers, all four together would need four times as many; a wrong leg is found."""
    robot = load_urdf(example_urdf("solo_description/robots/solo12.urdf"))
    data = to_bytes(bt.compile(robot, acceleration=50, target="float", workers=1, cache=None))
    monkeypatch.setattr(comparison, "LARGE", 0)
    monkeypatch.setattr(comparison, "MAX_NUMBERS", 4_000)
    monkeypatch.setattr(comparison, "_compare_nearby", refused)
    proved_findings(data)
    mass = ("robot", "links", 7, "mass")
    wrong = refusal(data, mass, at(taken_apart(data)[0], mass) * 1.01)
    assert wrong.name == "dynamics" and "'HL_HAA'" in wrong.detail


def refused(*_: object) -> None:
    raise RefusedError("no constants near")


@pytest.mark.everything
@pytest.mark.parametrize(
    ("file", "options"),
    [
        ("alex_description/urdf/alex_nub_hands.urdf", {}),
        ("tiago_pro_description/robots/tiago_pro.urdf", {}),
        ("pr2_description/urdf/pr2.urdf", {"allow_unphysical": True}),
    ],
)
def test_robots_with_two_arms_are_proved(file, options):
    """Up to 23 joints in one torque: dust is not left out, so that constants nearby agree."""
    robot = load_urdf(example_urdf(file), **options)
    model = bt.compile(robot, target="float", workers=1, cache=None)
    assert not any(output.parts.dropped for output in model.certificate.outputs)
    proved_findings(to_bytes(model))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("robot", "followers", 0, "offset"), 0.31),
        (("robot", "followers", 1, "multiplier"), 0.8),
        pytest.param(("robot", "followers", 0, "multiplier"), 2.0, marks=pytest.mark.everything),
        (("robot", "followers", 0, "leader"), "shoulder"),
        (("robot", "followers", 0, "link", "mass"), 9.0),
        (("robot", "followers", 0, "joint", "parent"), "shoulder"),
        (("robot", "joints", 2, "parent"), ""),
        (("version",), 2),
    ],
)
def test_another_tree_is_no_proof_of_this_one(path, value):
    refusal(compiled_tree(target="float", bits=10), path, value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda robot: robot["joints"][2].update(parent="elbow"), "expected no parent to be named"),
        (lambda robot: robot["joints"][2].update(parent="nobody"), "expected a parent that is a joint"),
        (lambda robot: robot["joints"][2].update(parent="wing"), "expected a tree of joints on the base"),
        (lambda robot: robot["followers"][0]["joint"].update(name="elbow"), "expected joints of different names"),
        (lambda robot: robot["followers"][0].update(multiplier=0.0), "expected a multiplier that is not 0"),
        (lambda robot: robot["followers"][0].update(leader="right"), "expected a joint with a drive as leader"),
        (lambda robot: robot["followers"][0].update(leader="elbow"), "expected it to slide, as its leader does"),
        (lambda robot: robot["followers"][0]["joint"].pop("parent"), "expected a parent and no friction"),
        (lambda robot: robot["tip"].update(parent="nobody"), "tip: expected a parent that is a joint"),
        (lambda robot: robot.update(followers=[]), "expected followers where they are listed"),
        (lambda robot: robot.update(payload=robot["links"][0]), "expected the tip of a tree with a payload to name"),
    ],
)
def test_what_is_no_tree_is_refused(change, said):
    robot = plain_tree()
    robot_of(robot)
    change(robot)
    with pytest.raises(RefusedError, match=said):
        robot_of(robot)

"""Robots without a specification: compiled from a URDF alone, proved, and measured against pinocchio's own reading."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from compiled import random_words
from examples_tried import EVERY
from oracle import configuration, pinocchio_model, random_states, rnea
from sample_robots import TWO_LINKS, example_urdf, extended, joint

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.model.model import Model
from bddtorque.robots import from_urdf, load_urdf
from bddtorque.spec import Spec, load_spec, save_spec
from bddtorque.spec.spec_files import robot_of, spec_and_robot

QUICK: dict[str, Any] = {"workers": 1, "cache": None}


@pytest.fixture
def two(tmp_path: Path) -> Path:
    path = tmp_path / "two.urdf"
    path.write_text(TWO_LINKS)
    return path


def compiled(path: Path | bt.Robot, **options: Any) -> Model:
    return bt.compile(path, **{"bits": 5, "block_bits": 10, **QUICK, **options})


def assert_within_bound(model: Model, theirs: pin.Model, count: int, seed: int = 0) -> None:
    """Compare words with torques that pinocchio finds at the very values of the words, clamped as words are."""
    words = random_words(model, count, seed)
    state = [group.dequantise(each) for group, each in zip(model.formats.inputs, words, strict=True)]
    torques = rnea(theirs, *state)
    found = model.formats.tau.dequantise(model.torque_words(*words))
    for j, word in enumerate(model.formats.tau):
        error = np.abs(found[:, j] - np.clip(torques[:, j], *word.span)) / word.lsb
        # pinocchio rounds in float64 too, and the default snap moves axes by less than 1e-9
        assert error.max() <= model.certificate.bounds[j] + 1e-6
    assert model.certificate.faithful


def test_limits_come_from_the_file_and_the_rest_is_said(two: Path) -> None:
    model = compiled(two)
    shoulder, elbow = model.formats.q
    assert (shoulder.kind, elbow.kind) == ("angle", "range")
    assert [word.high for word in model.formats.qd] == [3.0, 1.0]
    limits = compiled(two, torque="limits", bits=4)
    assert [word.high for word in limits.formats.tau] == [40.0, 10.0]
    assert [word.high for word in model.formats.qdd] == [12.0, 4.0]
    first, *assumed = model.report["notes"][:3]
    assert first.startswith("without a specification: joints that turn are binary angles over a full turn")
    assert [note[:42] for note in assumed] == [
        "joint 'shoulder': acceleration ±12 rad/s² ",
        "joint 'elbow': acceleration ±4 m/s² assume",
    ]
    assert_within_bound(model, pin.buildModelFromXML(TWO_LINKS), 2000)


def test_a_written_spec_gives_the_same_digest(two: Path, tmp_path: Path) -> None:
    options = {
        "payload": (0.5, 0.0, 0.1, 0.0),
        "gravity": (0, 1, -9),
        "lock": None,
        "velocity": {"shoulder": 2.0, "elbow": 1.5},
        "bits": 4,
    }
    model = compiled(two, **options)
    (tmp_path / "specs").mkdir()
    save_spec(model.spec, tmp_path / "specs" / "two.toml", model.report["notes"])
    again = bt.compile(tmp_path / "specs" / "two.toml", **QUICK)
    assert again.digest == model.digest
    assert again.report["notes"] == []  # nothing is left to assume
    assert load_spec(tmp_path / "specs" / "two.toml").robot == "../two.urdf"
    elsewhere = tmp_path / "specs" / "two.urdf"
    elsewhere.write_text(TWO_LINKS)
    assert compiled(elsewhere, **options).digest == model.digest  # wherever the file lies


def test_robots_and_robot_files_in_toml_do_too(tmp_path: Path) -> None:
    robot = from_urdf(TWO_LINKS)
    model = compiled(robot, payload=0.3, gravity=[0, 0, -1.6])
    assert model.robot.payload is not None
    assert model.robot.gravity == (0.0, 0.0, -1.6)
    assert len(model.report["notes"]) >= 3
    assert_within_bound(model, pinocchio_model(model.robot), 500)
    path = tmp_path / "one.toml"
    path.write_text(
        'name = "one"\n[[joint]]\ntype = "revolute"\nlimits = { velocity = 2.0, effort = 15.0 }\n'
        "link = { mass = 1, centre_of_mass = [1, 0, 0], inertia = [0, 0, 0] }\n"
    )
    model = compiled(path)
    assert model.formats.qdd[0].high == 8.0
    save_spec(model.spec, tmp_path / "one_spec.toml")
    assert bt.compile(tmp_path / "one_spec.toml", **QUICK).digest == model.digest


def test_payload_is_a_body_at_the_tip() -> None:
    path = example_urdf("ur_description/urdf/ur5_robot.urdf")
    options = {
        "tip": "tool0",
        "payload": {"mass": 1.5, "centre_of_mass": [0.1, 0.2, 0.3], "inertia": [0.02, 0.03, 0.04]},
    }
    _, robot, _ = spec_and_robot(path, options)
    model = pin.buildModelFromUrdf(str(path))
    frame = model.frames[model.getFrameId("tool0")]
    load = pin.Inertia(1.5, np.array([0.1, 0.2, 0.3]), np.diag([0.02, 0.03, 0.04]))
    model.appendBodyToJoint(frame.parentJoint, load, frame.placement)
    state = random_states(robot, 20)
    assert np.allclose(rnea(pinocchio_model(robot), *state), rnea(model, *state), rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        ("ur5", {"tip": "tool0"}, "tip is for URDF and MJCF files and models only"),
        ("ur5", {"lock": {"elbow_joint": 0.0}}, "lock is for URDF and MJCF files and models only"),
        ("ur5", {"ignore_friction": True}, "ignore_friction is for URDF and MJCF files and models only"),
        (from_urdf(TWO_LINKS), {"base": "upper"}, "robot 'two': base is for URDF and MJCF files and models only"),
        ("TWO", {"tip": "hand"}, "hand"),
        ("TWO", {"lock": {"wrist": 0.0}}, "lock: unknown moving joint 'wrist'; known: shoulder, elbow"),
        ("TWO", {"lock": {"elbow": 9.0}}, "must be between 0 and 0.5, got 9.0"),
        ("TWO", {"lock": "others"}, 'lock="others" needs tip'),
        ("TWO", {"payload": -1}, "payload, mass must be above 0 kg, got -1"),
        (
            "TWO",
            {"payload": {"mass": 1.0, "inertia": [1.0, 1.0, 5.0]}},
            "link 'payload': inertia must satisfy the triangle inequality",
        ),
        ("TWO", {"gravity": [0, 1]}, "gravity must be x, y and z"),
        ("TWO", {"torque": [1, 2, 3]}, "one per joint"),
        ("robot.urdf.xacro", {}, "robot.urdf.xacro: there is no such file"),
    ],
)
def test_refused_in_a_line(two: Path, source: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(BddTorqueError) as refused:
        compiled(two if source == "TWO" else source, **options)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_a_file_does_not_give_is_asked_for(two: Path) -> None:
    two.write_text(TWO_LINKS.replace('effort="10"', 'effort="0"').replace('velocity="3"', 'velocity="0"'))
    with pytest.raises(BddTorqueError, match=r"joint 'shoulder' has no range of velocity in rad/s.*two.urdf\)$"):
        compiled(two)
    with pytest.raises(BddTorqueError, match=r"prismatic joint 'elbow' has no effort limit in N .*'auto'.*two.urdf\)$"):
        compiled(two, velocity=2.0, torque="limits")
    assert compiled(two, velocity=2.0, bits=4).certificate.torques[1].saturation == "cannot"
    assert compiled(two, velocity=2.0, torque=12.0, bits=4).formats.tau[1].high == 12.0


def test_friction_is_used_unless_left_out_aloud(two: Path) -> None:
    two.write_text(TWO_LINKS.replace('damping="0"', 'damping="0.5"'))
    state = [0.3, 0.2], [1.0, -1.0], [0.0, 0.0]
    rubbing, smooth = (robot_of(Spec(str(two), ignore_friction=ignored)) for ignored in (False, True))
    difference = bt.inverse_dynamics(rubbing, *state) - bt.inverse_dynamics(smooth, *state)
    assert np.abs(difference).max() == pytest.approx(0.5)
    assert any("friction" in note for note in compiled(two, ignore_friction=True, bits=4).report["notes"])


def test_gravity_is_given_where_the_file_cannot_tell(tmp_path: Path) -> None:
    path = tmp_path / "three.urdf"
    more = '<axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="9"/>'
    path.write_text(extended(joint("wrist", "revolute", "lower", "hand", more)))
    with pytest.raises(BddTorqueError, match="give gravity"):
        robot_of(Spec(str(path), base="upper"))
    assert robot_of(Spec(str(path), base="upper", gravity=(0.0, 0.0, -9.0))).gravity == (0.0, 0.0, -9.0)
    locked = robot_of(Spec(str(path), lock={"wrist": 0.5}))
    assert locked == load_urdf(path, lock={"wrist": 0.5})


ARMS = [
    ("ur_description/urdf/ur5_robot.urdf", {}, {}),
    ("kinova_description/robots/kinova.urdf", {}, {}),
    ("z1_description/urdf/z1.urdf", {"ignore_friction": True, "lock": {"jointGripper": -0.7}}, {"jointGripper": -0.7}),
    ("xarm_description/urdf/xarm7.urdf", {"ignore_friction": True}, {}),
    (
        "panda_description/urdf/panda.urdf",
        {"tip": "panda_hand_tcp", "lock": {"panda_finger_joint1": 0.04}, "ignore_friction": True},
        {"panda_finger_joint1": 0.04, "panda_finger_joint2": 0.04},
    ),
]


@pytest.mark.everything
@pytest.mark.parametrize(("file", "options", "locked"), [pytest.param(*arm, id=arm[0].split("/")[0]) for arm in ARMS])
def test_arms_of_example_robot_data(
    file: str, options: dict[str, Any], locked: dict[str, float], tmp_path: Path
) -> None:
    path = example_urdf(file)
    # The Z1 has a joint and a link of one name, which pinocchio cannot reduce.
    text = path.read_text().replace('<joint name="gripperStator"', '<joint name="gripperStator_joint"')
    theirs = pin.buildModelFromXML(text)
    positions = np.zeros(theirs.nv)
    for name, position in locked.items():
        positions[theirs.joints[theirs.getJointId(name)].idx_v] = position
    held = [theirs.getJointId(name) for name in locked]
    theirs = pin.buildReducedModel(theirs, held, configuration(theirs, positions))
    model = bt.compile(path, bits=8 if EVERY else 6, source="recursive", **QUICK, **options)
    assert tuple(theirs.names)[1:] == model.robot.joint_names
    assert_within_bound(model, theirs, 10_000)
    save_spec(model.spec, tmp_path / "arm.toml")
    spec, robot, notes = spec_and_robot(tmp_path / "arm.toml", {})
    assert (robot, notes) == (model.robot, notes)
    assert spec.resolve(robot).canonical() == model.spec.canonical()

"""TOML: DH rows against pinocchio chains built from the DH recipe itself, explicit transforms, and every refusal."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import crba, pinocchio_model, random_states, rnea

from bddtorque.base.errors import BddTorqueError
from bddtorque.robots import from_toml, load_robot, load_toml
from bddtorque.robots.toml_table import angle

ARM = """
name = "arm"
source = "test"
gravity = [0.5, -1.0, -9.0]

[[joint]]
name = "waist"
type = "revolute"
dh = { a = 0.1, alpha = "pi/2", d = 0.3, theta = 0.2 }
motor_inertia = 2e-4
gear_ratio = -50.0
limits = { position = ["-pi", "160 deg"], velocity = 2, acceleration = 3.0, effort = 40.0 }
link = { name = "trunk", mass = 2.0, centre_of_mass = [0.1, 0.2, 0.3], inertia = [0.02, 0.03, 0.04] }

[[joint]]
type = "prismatic"
dh = { a = 0.2, alpha = 0.4, theta = "-pi/2", d = 0.05 }
rotor_inertia = 1.5
limits = { position = [-0.5, 0.5] }
link = { mass = 1.0, centre_of_mass = [0.0, -0.1, 0.0], inertia = [[0.01, 0.001, 0], [0.001, 0.01, 0], [0, 0, 0.01]] }

[tip]
xyz = [0.0, 0.0, 0.1]
rpy = [0.1, 0.2, 0.3]

[payload]
mass = 0.5
centre_of_mass = [0.01, 0.02, 0.03]
inertia = [0.001, 0.001, 0.001]
"""


def refused(text: str, *expected: str) -> None:
    with pytest.raises(BddTorqueError) as error:
        from_toml(text, "arm.toml")
    message = str(error.value)
    assert message.startswith("arm.toml"), message
    assert "\n" not in message
    assert len(message) < 500
    for part in expected:
        assert part in message


def test_what_is_read() -> None:
    robot = from_toml(ARM)
    waist, slide = robot.joints
    assert (robot.name, robot.source, robot.gravity) == ("arm", "test", (0.5, -1.0, -9.0))
    assert robot.joint_names == ("waist", "joint2")
    assert [joint.kind.name for joint in robot.joints] == ["revolute", "prismatic"]
    assert waist.rotor_inertia == pytest.approx(2e-4 * 50**2, rel=1e-15)
    assert slide.rotor_inertia == 1.5
    assert (waist.lower, waist.upper) == (-math.pi, 160 / 180 * math.pi)
    assert (waist.velocity, waist.acceleration, waist.effort) == (2.0, 3.0, 40.0)
    assert (slide.lower, slide.velocity) == (-0.5, math.inf)
    assert robot.links[0].name == "trunk"
    assert robot.payload is not None
    assert robot.payload.mass == 0.5


def dh_model(rows: list[tuple[str, float, float, float, float]], bodies: list[pin.Inertia]) -> pin.Model:
    """Return a chain of standard DH rows (type, a, alpha, d, theta) built by the textbook recipe.

    The tail of an RZ joint is Tz(d)·Tx(a)·Rx(alpha); before a PZ joint stands Rz(theta), its tail is Tx(a)·Rx(alpha).
    """
    model, parent, tail = pin.Model(), 0, pin.SE3.Identity()
    model.gravity = pin.Motion(np.array([0.5, -1.0, -9.0]), np.zeros(3))
    for index, ((kind, a, alpha, d, theta), body) in enumerate(zip(rows, bodies, strict=True)):
        rz = pin.SE3(pin.utils.rotate("z", theta), np.zeros(3))
        slide = np.array([0.0, 0.0, d])
        before = tail * rz if kind == "revolute" else tail * rz * pin.SE3(np.eye(3), slide)
        joint = pin.JointModelRZ() if kind == "revolute" else pin.JointModelPZ()
        parent = model.addJoint(parent, joint, before, f"joint{index + 1}")
        offset = slide if kind == "revolute" else np.zeros(3)
        tail = pin.SE3(np.eye(3), offset) * pin.SE3(pin.utils.rotate("x", alpha), np.array([a, 0.0, 0.0]))
        model.appendBodyToJoint(parent, body, tail)
    return model


lengths, turns = st.floats(-1.0, 1.0), st.floats(-3.2, 3.2)
dh_rows = st.tuples(st.sampled_from(["revolute", "prismatic"]), lengths, turns, lengths, turns)


@settings(max_examples=examples(60))
@given(st.lists(dh_rows, min_size=1, max_size=6), st.integers(0, 1000))
def test_dh_rows(rows: list[tuple[str, float, float, float, float]], seed: int) -> None:
    random = np.random.default_rng(seed)
    bodies, text = [], 'name = "random"\ngravity = [0.5, -1.0, -9.0]\n'
    for kind, a, alpha, d, theta in rows:
        axes = np.linalg.qr(random.normal(size=(3, 3)))[0]
        inertia = axes @ np.diag(random.uniform(0.1, 0.15, 3)) @ axes.T
        inertia = (inertia + inertia.T) / 2
        mass, centre = random.uniform(0.1, 5.0), random.uniform(-1, 1, 3)
        bodies.append(pin.Inertia(mass, centre, inertia))
        text += (
            f'[[joint]]\ntype = "{kind}"\ndh = {{ a = {a!r}, alpha = {alpha!r}, d = {d!r}, theta = {theta!r} }}\n'
            f"link = {{ mass = {mass!r}, centre_of_mass = {centre.tolist()}, inertia = {inertia.tolist()} }}\n"
        )
    robot, theirs = from_toml(text), dh_model(rows, bodies)
    ours = pinocchio_model(robot)
    q, qd, qdd = random_states(robot, 10, seed)
    for found, expected in ((rnea(ours, q, qd, qdd), rnea(theirs, q, qd, qdd)), (crba(ours, q), crba(theirs, q))):
        assert np.abs(found - expected).max() <= 1e-10 * max(1.0, np.abs(expected).max())


def dh_transform(a: float, alpha: float, d: float, theta: float) -> pin.SE3:
    turn = pin.SE3(pin.utils.rotate("z", theta), np.array([0.0, 0.0, d]))
    return turn * pin.SE3(pin.utils.rotate("x", alpha), np.array([a, 0.0, 0.0]))


def test_tip_of_a_dh_arm_is_in_the_far_frame() -> None:
    robot = from_toml(ARM)
    model = pinocchio_model(robot)
    data = model.createData()
    pin.forwardKinematics(model, data, np.array([0.3, 0.4]))
    found = data.oMi[2] * pin.SE3(np.array(robot.tip.rotation), np.array(robot.tip.translation))
    far = dh_transform(0.1, np.pi / 2, 0.3, 0.2 + 0.3) * dh_transform(0.2, 0.4, 0.05 + 0.4, -np.pi / 2)
    expected = far * pin.SE3(pin.rpy.rpyToMatrix(0.1, 0.2, 0.3), np.array([0.0, 0.0, 0.1]))
    assert found.isApprox(expected, 1e-12)


def test_explicit_form_is_the_same_arm_as_the_urdf_form() -> None:
    # a joint about y, given by its axis, against the same joint with its frame turned by hand
    body = "mass = 1.0, centre_of_mass = [0.1, 0.2, 0.3], inertia = [0.01, 0.02, 0.025]"
    by_axis = f"""
name = "a"
[[joint]]
type = "revolute"
origin = {{ xyz = [0.0, 0.1, 0.2], rpy = [0.3, 0.0, 0.0] }}
axis = [0.0, 2.0, 0.0]
link = {{ {body} }}
[tip]
xyz = [1.0, 2.0, 3.0]
rpy = [0.4, 0.5, 0.6]
"""
    robot = from_toml(by_axis)
    model = pin.Model()
    placement = pin.SE3(pin.rpy.rpyToMatrix(0.3, 0.0, 0.0), np.array([0.0, 0.1, 0.2]))
    joint = model.addJoint(0, pin.JointModelRY(), placement, "joint1")
    inertia = pin.Inertia(1.0, np.array([0.1, 0.2, 0.3]), np.diag([0.01, 0.02, 0.025]))
    model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    q, qd, qdd = random_states(robot, 10)
    np.testing.assert_allclose(rnea(pinocchio_model(robot), q, qd, qdd), rnea(model, q, qd, qdd), rtol=1e-12)
    # the tip, given in the link's own frame, is where it was
    data, ours = pinocchio_model(robot).createData(), pinocchio_model(robot)
    pin.forwardKinematics(ours, data, np.array([0.7]))
    found = data.oMi[1] * pin.SE3(np.array(robot.tip.rotation), np.array(robot.tip.translation))
    tip = pin.SE3(pin.rpy.rpyToMatrix(0.4, 0.5, 0.6), np.array([1.0, 2.0, 3.0]))
    assert found.isApprox(placement * pin.SE3(pin.utils.rotate("y", 0.7), np.zeros(3)) * tip, 1e-12)


def test_the_examples_in_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "robots.md").read_text(encoding="utf-8")
    examples = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    robots = [from_toml(example) for example in examples]
    assert [robot.joint_names for robot in robots] == [("cart", "pendulum"), ("yaw", "pitch"), ("spindle",)]
    # the cart slides level and the pendulum hangs straight down at zero: no torque at rest, a known one at 90 degrees
    cart = pinocchio_model(robots[0])
    still = np.zeros(2)
    np.testing.assert_allclose(rnea(cart, np.zeros(2), still, still)[1], 0.0, atol=1e-12)
    for key in ("name", "source", "gravity", "allow_unphysical", "limits", "rotor_inertia", "motor_inertia", "axis"):
        assert f"`{key}`" in page


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("pi", math.pi),
        ("-pi", -math.pi),
        ("+pi", math.pi),
        ("pi/2", math.pi / 2),
        ("-pi / 2", -math.pi / 2),
        ("3*pi/4", 3 * math.pi / 4),
        ("-0.5*pi", -math.pi / 2),
        ("2 * pi", 2 * math.pi),
        ("90 deg", math.pi / 2),
        ("-22.5deg", -math.pi / 8),
        (0.25, 0.25),
        (1, 1.0),
    ],
)
def test_angles(given_text: object, expected: float) -> None:
    assert angle(given_text, "here") == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    "bad", ["", "pie", "pi/0", "1.5", "pi*2", "2pi", "__import__('os')", "pi/2/2", "1e999*pi", "90", "deg", True, [1]]
)
def test_bad_angles(bad: object) -> None:
    with pytest.raises(BddTorqueError, match=r"^here must be "):
        angle(bad, "here")


def test_quarter_turns_are_exact() -> None:
    for name in ("puma560", "stanford", "scara", "ur5", "panda"):
        rotations = [joint.rotation for joint in load_robot(name).joints]
        assert {abs(value) for rotation in rotations for row in rotation for value in row} <= {0.0, 1.0}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('name = "arm"', 'nmae = "arm"', ("unknown key 'nmae'; did you mean 'name'?",)),
        ('name = "arm"\n', "", ("key 'name' is missing",)),
        ('name = "arm"', "name = 3", ("name must be printable text without spaces at its ends, got 3",)),
        ('name = "arm"', 'name = "a\\nb"', ("name must be printable text",)),
        ('source = "test"', "source = 1", ("source must be text, got 1",)),
        ("gravity = [0.5, -1.0, -9.0]", "gravity = 9.81", ("gravity must be 3 finite numbers, got 9.81",)),
        ("gravity = [0.5, -1.0, -9.0]", "gravity = [0, -9.81]", ("gravity must be 3 finite numbers, got [0, -9.81]",)),
        (
            "gravity = [0.5, -1.0, -9.0]",
            "gravity = [0, 0, nan]",
            ("gravity must be 3 finite numbers, got [0, 0, nan]",),
        ),
        (
            "gravity = [0.5, -1.0, -9.0]",
            'gravity = [0, 0, "g"]',
            ("gravity must be 3 finite numbers, got [0, 0, 'g']",),
        ),
        ("gravity = [0.5, -1.0, -9.0]", "allow_unphysical = 1", ("allow_unphysical must be true or false, got 1",)),
        ("gear_ratio", "gear", ("joint 1 'waist'", "unknown key 'gear'; known: name, ", "gear_ratio")),
        ("gear_ratio = -50.0", "", ("joint 1 'waist': key 'gear_ratio' is missing",)),
        ("motor_inertia = 2e-4", "rotor_inertia = 1", ("'rotor_inertia' and 'gear_ratio' exclude each other",)),
        (
            "motor_inertia = 2e-4",
            "motor_inertia = -2e-4",
            ("joint 1 'waist': motor_inertia must be a finite number of at least 0, got -0.0002",),
        ),
        (
            "rotor_inertia = 1.5",
            "rotor_inertia = -1.5",
            ("joint 'joint2'", "rotor_inertia must be a finite number of at least 0"),
        ),
        ("rotor_inertia = 1.5", "rotor_inertia = true", ("rotor_inertia must be a finite number, got True",)),
        (
            'type = "prismatic"',
            'type = "slide"',
            ("joint 2 'joint2': type must be ", "'prismatic'", "got 'slide'"),
        ),
        ('type = "prismatic"\n', "", ("joint 2 'joint2': key 'type' is missing",)),
        ('name = "waist"', 'name = "joint2"', ("joint names must differ, 'joint2' occurs twice",)),
        ("a = 0.1, ", "", ("joint 1 'waist', dh: key 'a' is missing",)),
        ("d = 0.3, ", "", ("joint 1 'waist', dh: key 'd' is missing",)),
        ('theta = "-pi/2", ', "", ("joint 2 'joint2', dh: key 'theta' is missing",)),
        ('alpha = "pi/2"', 'alpha = "pi/2 + 1"', ("dh: alpha must be a number, or text such as", "got 'pi/2 + 1'")),
        ('alpha = "pi/2"', "alpha = inf", ("dh: alpha must be a finite number, got inf",)),
        ("a = 0.1,", "b = 0.1,", ("dh: unknown key 'b'",)),
        ("dh = { a = 0.1", "axis = [0, 0, 1]\ndh = { a = 0.1", ("'dh' and 'axis' exclude each other",)),
        ('dh = { a = 0.2, alpha = 0.4, theta = "-pi/2", d = 0.05 }', "", ("either all joints have 'dh' or none",)),
        ("mass = 2.0, ", "", ("joint 1 'waist', link: key 'mass' is missing",)),
        ("centre_of_mass = [0.1, 0.2, 0.3], ", "", ("link: key 'centre_of_mass' is missing",)),
        (", inertia = [0.02, 0.03, 0.04]", "", ("link: key 'inertia' is missing",)),
        (
            "inertia = [0.02, 0.03, 0.04]",
            "inertia = [1, 1, 1, 0, 0, 0]",
            ("inertia must be [Ixx, Iyy, Izz] or 3 rows of 3, got [1, 1, 1, 0, 0, 0]",),
        ),
        ("inertia = [0.02, 0.03, 0.04]", "inertia = 1.0", ("inertia must be [Ixx, Iyy, Izz] or 3 rows of 3, got 1.0",)),
        (
            "inertia = [0.02, 0.03, 0.04]",
            "inertia = [[1, 0, 0], [0, 1], [0, 0, 1]]",
            ("inertia must be 3 rows of 3 finite numbers",),
        ),
        ("[0.001, 0.01, 0]", "[0.002, 0.01, 0]", ("joint 2 'joint2', link: inertia must be symmetric",)),
        ("inertia = [0.02, 0.03, 0.04]", "inertia = [0.02, 0.03, 0.4]", ("link 'trunk'", "triangle inequality")),
        ("mass = 2.0", "mass = -2.0", ("link 'trunk': mass must be a finite number of kg of at least 0, got -2.0",)),
        ("mass = 2.0", f"mass = 1{'0' * 400}", ("link: mass must be a finite number",)),
        ("mass = 2.0", f"mass = 1{'0' * 5000}", ("not valid TOML",)),
        ("mass = 2.0", "masss = 2.0", ("unknown key 'masss'; did you mean 'mass'?",)),
        ("velocity = 2", "speed = 2", ("joint 1 'waist', limits: unknown key 'speed'",)),
        ("velocity = 2", "velocity = 0", ("joint 'waist': the velocity limit must be above 0, got 0.0",)),
        ('["-pi", "160 deg"]', '["pi", "-pi"]', ("joint 'waist': the lower limit must be below the upper",)),
        (
            "[-0.5, 0.5]",
            '["-pi", 0.5]',
            ("joint 2 'joint2', limits: position must be", "in m, cm, mm, got '-pi'"),
        ),
        (
            "rpy = [0.1, 0.2, 0.3]",
            "rotation = [[1, 0, 0], [0, 1, 0], [0, 0, 2]]",
            ("tip: rotation must be orthonormal",),
        ),
        ("rpy = [0.1, 0.2, 0.3]", "rotation = [[1, 0, 0], [0, 1, 0], [0, 0, -1]]", ("with determinant 1, got",)),
        ("rpy = [0.1, 0.2, 0.3]", "rpy = [0, 0, 0]\nrotation = []", ("tip: 'rpy' and 'rotation' exclude each other",)),
        ("rpy = [0.1, 0.2, 0.3]", "quaternion = [0, 0, 0, 1]", ("tip: unknown key 'quaternion'",)),
        ("mass = 0.5", "mass = -1", ("link 'payload': mass",)),
        ("[payload]", "[[payload]]", ("payload must be a table, got",)),
        ("[tip]", "[tip", ("not valid TOML", "line")),
    ],
)
def test_one_thing_wrong(old: str, new: str, expected: tuple[str, ...]) -> None:
    assert old in ARM
    refused(ARM.replace(old, new, 1), *expected)


def test_explicit_form_refusals() -> None:
    joint = '[[joint]]\ntype = "revolute"\nlink = { mass = 1, centre_of_mass = [0, 0, 0], inertia = [1, 1, 1] }\n'
    refused('name = "a"\n' + joint + "axis = [0, 0, 0]", "joint 1 'joint1': axis must have a direction, got [0, 0, 0]")
    refused('name = "a"\n' + joint + "origin = [0, 0, 0]", "joint 1 'joint1', origin must be a table, got [0, 0, 0]")
    refused('name = "a"', "key 'joint' is missing")
    refused('name = "a"\njoint = []', "there must be at least one [[joint]], got an empty list")
    refused('name = "a"\njoint = [1]', "joint 1 must be a table, got 1")
    refused("a = " + "[" * 100_000, "not valid TOML")
    huge = joint.replace("mass = 1", "mass = 1e300").replace("[0, 0, 0]", "[1e300, 0, 0]")
    refused('name = "a"\n' + huge + "axis = [1, 2, 3]", "link 'joint1 link'", "must be finite, got")


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "arm.toml"
    path.write_text(ARM, encoding="utf-8")
    assert load_toml(path) == from_toml(ARM)
    path.write_bytes(b'name = "\xff"')
    with pytest.raises(BddTorqueError, match="not UTF-8 text: byte 8"):
        load_toml(path)
    with pytest.raises(BddTorqueError, match="there is no such file"):
        load_toml(tmp_path / "none.toml")

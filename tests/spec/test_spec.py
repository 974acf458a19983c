"""Specifications: read, refused with the reason, overridden, resolved against a robot."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.robot_draft import quantity_words
from bddtorque.robots import Joint, Link, Robot, load_robot
from bddtorque.spec import InputBits, JointSpec, Payload, Ranges, Spec, assume_missing, from_toml, load_spec, spec_names
from bddtorque.spec.resolve import stated_joints
from bddtorque.spec.spec import spec_from_plain

ROOT = Path(__file__).resolve().parents[2]


def arm(**limits: float) -> Robot:
    """A turning and a sliding joint without limits of their own, unless given."""
    body = Link("body", 1.0)
    return Robot("arm", (Joint("turn", "revolute", **limits), Joint("slide", "prismatic", **limits)), (body, body))


def full(**changes: Any) -> Spec:
    options: dict[str, Any] = {
        "robot": "arm",
        "ranges": Ranges(velocity=1.0, acceleration=[-2, 3], torque=10),  # type: ignore[arg-type]
        "joints": (JointSpec("slide", position=(0.1, 0.5)),),
    }
    return Spec(**{**options, **changes})


def test_planar2r_is_the_arm_of_the_paper() -> None:
    spec = load_spec("planar2r")
    formats = spec.formats(load_robot("planar2r"))
    assert formats.q.labels == ("shoulder", "elbow")
    assert formats.q.bits == formats.qd.bits == formats.qdd.bits == formats.tau.bits == (12, 12)
    assert [each.kind for each in formats.q] == ["angle", "angle"]
    assert [(each.low, each.high) for each in formats.q] == [(-math.pi, math.pi)] * 2
    assert formats.qd.lsb.tolist() == formats.qdd.lsb.tolist() == [2 / 4096] * 2
    assert formats.tau.lsb.tolist() == [400 / 4096, 200 / 4096]
    assert (spec.accuracy, spec.block_bits, spec.memory, spec.source, spec.target) == (
        "faithful",
        20,
        2**31,
        "auto",
        "tables",
    )


@pytest.mark.parametrize("name", spec_names())
def test_every_spec_that_comes_with_the_package_loads(name: str) -> None:
    spec = load_spec(name)
    spec.formats(load_robot(spec.robot_location))
    assert load_spec(ROOT / "tables" / f"{name}.toml") == spec == load_spec(str(ROOT / "tables" / f"{name}.toml"))


def test_the_example_in_the_documentation_loads() -> None:
    text = (ROOT / "docs" / "spec.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    spec = from_toml(example, "docs/spec.md")
    _, formats, _, _ = quantity_words(spec, load_robot("scara"))
    assert formats.tau.bits == (12, 12, 10, 12)
    assert formats.q.bits == (14, 14, 14, 14)
    assert formats.qdd.bits == (12, 12, 12, 10)
    assert formats.tau[1].span == pytest.approx((-40, 60), abs=0.05)
    assert formats.q[1].sign == -1
    for key in (*Spec.readers(), *JointSpec.readers()):
        if key != "joints":
            assert f"`{key}`" in text or f"`[{key}]`" in text, key


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("", "my.toml: key 'robot', the name or the file of a robot, is missing"),
        ("robot = 3", "robot must be the name or the file of a robot, got 3 (my.toml, key 'robot')"),
        ('robot = "a', "my.toml: not valid TOML: Unterminated string (at end of document)"),
        ("bitz = 3", "unknown key 'bitz'; did you mean 'bits'? (my.toml)"),
        ("joints = 3", "unknown key 'joints'; did you mean 'joint'? (my.toml)"),
        ("bits = 1", "bits must be between 2 and 24, got 1 (my.toml, key 'bits')"),
        ("bits = 12.0", "bits must be an integer between 2 and 24, got 12.0 (my.toml, key 'bits')"),
        (
            "[input_bits]\nposition = 1",
            "input_bits, position must be between 2 and 24, got 1 (my.toml, key 'input_bits')",
        ),
        (
            "[input_bits]\ntorque = 4",
            "input_bits: unknown key 'torque'; known: position, velocity, acceleration (my.toml",
        ),
        (
            "block_bits = -1",
            "block_bits must be between 4 and 28 (a table has 2^block_bits rows), got -1 (my.toml, key",
        ),
        (
            'accuracy = "exact"',
            "accuracy must be 'faithful', 'paper' or a number of units above 0.5, got 'exact' (my.toml",
        ),
        ("accuracy = 0.5", "accuracy must be above 0.5 units, which the final rounding takes, got 0.5 (my.toml"),
        ('memory = "2 gigs"', "memory must be a size in bytes or text like '2 GiB' or '500 MB', got '2 gigs' (my.toml"),
        ("memory = 1000", "memory must be at least 1 MiB, got 1000 bytes (my.toml, key 'memory')"),
        (
            'source = "term"',
            "source must be 'auto', 'terms' or 'recursive', got 'term'; did you mean 'terms'? (my.toml",
        ),
        (
            "[ranges]\nvelocity = [1, 1]",
            "ranges, velocity must be .* or [low, high] with low below high, got [1, 1]; for ±1 and ±1 write "
            "[[-1, 1], [-1, 1]], or name the joints (my.toml, key 'ranges')",
        ),
        (
            "[ranges]\nvelocity = 0",
            "ranges, velocity must be a positive number (plus or minus it) or .*, got 0 (my.toml",
        ),
        (
            "[ranges]\nspeed = 1",
            "ranges: unknown key 'speed'; known: position, velocity, acceleration, torque (my.toml",
        ),
        ("[[joint]]\nvelocity = -1", "joint 1, velocity must be a positive number .*, got -1 (my.toml, key 'joint')"),
        (
            '[[joint]]\nvelocity = "fast"',
            "joint 1, velocity must be a number, or text such as \"20 deg/s\" in rad/s, .*, got 'fast' (my.toml, key",
        ),
        ("[[joint]]\nsing = 1", "joint 1: unknown key 'sing'; did you mean 'sign'? (my.toml, key 'joint')"),
        ("[[joint]]\nsign = 2", "joint 1, sign must be 1 or -1, got 2 (my.toml, key 'joint')"),
        (
            '[[joint]]\nname = "a, b"\noffset = inf',
            "joint 1 'a, b', offset must be a finite number, got inf (my.toml, key",
        ),
        ('[[joint]]\nname = "a"\n[[joint]]', "joint must all have a name, or none of them, got ['a', None] (my.toml"),
        (
            '[[joint]]\nname = "a"\n[[joint]]\nname = "a"',
            "joint: 'a' occurs twice; keep one of them (my.toml, key 'joint')",
        ),
        ("joint = [3]", "joint 1 must be a table with name, .*, got 3 (my.toml, key 'joint')"),
        ("tip = 3", "tip must be the name of a link, got 3 (my.toml, key 'tip')"),
        (
            'lock = "all"',
            "lock must be 'others', or joints by name with their positions, got 'all' (my.toml, key 'lock')",
        ),
        ('lock = { a = "b" }', "lock of joint 'a' must be a number, or text .*, got 'b' (my.toml, key 'lock')"),
        (
            "gravity = [0, 0, nan]",
            "gravity must be x, y and z in m/s², in base axes, or 'runtime', got [0, 0, nan] (my.toml, key",
        ),
        (
            "payload = [1, 2, 3, true]",
            "payload, centre_of_mass must be x, y and z in m, got [2, 3, True] (my.toml, key",
        ),
        ("[payload]", "payload, mass must be above 0 kg, got 0 (my.toml, key 'payload')"),
        ("[payload]\nmas = 1", "payload: unknown key 'mas'; did you mean 'mass'? (my.toml, key 'payload')"),
        (
            "[payload]\nmass = 1\ninertia = [1, 2]",
            "payload, inertia must be [Ixx, Iyy, Izz] or 3 rows of 3, in kg·m², got",
        ),
        ("snap = 0.1", "snap must be between 0 and 0.001, got 0.1 (my.toml, key 'snap')"),
        ("ignore_friction = 1", "ignore_friction must be true or false, got 1 (my.toml, key 'ignore_friction')"),
    ],
)
def test_nonsense_is_refused_in_one_line(toml: str, message: str) -> None:
    if not toml.startswith(("robot", "bits = 3")) and toml:
        toml = f'robot = "arm"\n{toml}'
    pattern = re.escape(message).replace(r"\.\*", ".*")
    with pytest.raises(BddTorqueError, match=f"^{pattern}") as refused:
        from_toml(toml, "my.toml")
    assert "\n" not in str(refused.value)


def test_unknown_names_and_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BddTorqueError, match=r"^unknown robot or specification 'planar2'; did you mean 'planar2r'\?"):
        load_spec("planar2")
    with pytest.raises(BddTorqueError, match=r"none.toml: there is no such file$"):
        load_spec(tmp_path / "none.toml")
    with pytest.raises(BddTorqueError, match=r"this is a folder, not a specification$"):
        load_spec(tmp_path)
    (tmp_path / "bad.toml").write_bytes(b"robot = '\xff'")
    with pytest.raises(BddTorqueError, match=r"not UTF-8 text: byte 9$"):
        load_spec(tmp_path / "bad.toml")
    with pytest.raises(BddTorqueError, match="cannot be read: "):
        load_spec("a\0b.toml")


def test_a_robot_file_is_a_spec_with_defaults(tmp_path: Path) -> None:
    robot_file = ROOT / "bddtorque" / "robots" / "builtin" / "planar2r.toml"
    spec = load_spec(robot_file)
    assert spec.robot_location == str(robot_file)
    assert [joint.torque for joint in stated_joints(spec, load_robot(spec.robot_location))] == ["auto", "auto"]
    limits = spec.with_options(torque="limits")
    assert limits.formats(load_robot(spec.robot_location)).tau.lsb.tolist() == [400 / 4096, 200 / 4096]
    assert load_spec("somewhere/ur5.urdf").robot_location == str(Path("somewhere/ur5.urdf"))


def test_options_override() -> None:
    spec = load_spec("planar2r")
    assert spec.with_options(bits=None) == spec
    changed = spec.with_options(
        bits=np.int64(8),
        input_bits={"position": [10, 11]},
        accuracy=1,
        memory="64 MiB",
        torque=50.0,
        velocity=[2, [-1, 3]],
    )
    formats = changed.formats(load_robot("planar2r"))
    assert formats.q.bits == (10, 11)
    assert formats.qd.bits == formats.tau.bits == (8, 8)
    assert formats.tau.lsb.tolist() == [100 / 256] * 2  # the joints' own torques too
    assert [(each.low, each.high) for each in formats.qd] == [(-2.0, 2.0), (-1.0, 3.0)]
    assert (changed.accuracy, changed.memory) == (1.0, 64 * 2**20)
    assert spec.with_options(robot="x/y.urdf").robot_location == "x/y.urdf"


def test_ranges_come_from_the_joint_then_the_spec_then_the_robot() -> None:
    robot = arm(velocity=5.0, acceleration=6.0, effort=7.0, lower=-1.0, upper=2.0)
    formats = Spec("arm", ranges=Ranges(torque="limits")).formats(robot)
    assert [each.high for each in formats.tau] == [7.0, 7.0]
    assert [(each.kind, each.low, each.high) for each in formats.q] == [("angle", -1.0, 2.0), ("range", -1.0, 2.0)]
    assert [each.unit for each in formats.qdd] == ["rad/s²", "m/s²"]
    spec = Spec("arm", ranges=Ranges(torque=(-3.0, 4.0)), joints=(JointSpec("slide", torque=(-1.0, 1.0)),))
    assert [each.high for each in spec.formats(robot).tau] == [4.0, 1.0]
    resolved = spec.resolve(robot)
    assert resolved.formats(robot) == spec.formats(robot)
    assert resolved.resolve(robot) == resolved
    assert resolved.input_bits == InputBits((12, 12), (12, 12), (12, 12))
    assert resolved.joints[0] == JointSpec("turn", (-1.0, 2.0), (-5.0, 5.0), (-6.0, 6.0), (-3.0, 4.0))


def test_encoder_sign_and_offset() -> None:
    spec = full(joints=(JointSpec("slide", position=(0.1, 0.5), offset=0.1, sign=-1), JointSpec("turn", offset=1.0)))
    formats = spec.formats(arm())
    turn, slide = formats.q
    assert (turn.low, turn.high, turn.offset, turn.sign) == (-math.inf, math.inf, 1.0, 1)
    assert (slide.low, slide.high) == (-0.4, 0.0)  # at the encoder
    assert slide.span == pytest.approx((0.1 + slide.lsb, 0.5))  # at the joint, the missing word at the other end
    assert (formats.qd[1].sign, formats.qd[1].offset) == (-1, 0.0)
    assert (formats.qdd[1].low, formats.qdd[1].high) == (-3.0, 2.0)
    assert formats.tau[1].sign == -1


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            full(joints=()),
            r"prismatic joint 'slide' has no range of position in m, .*write position = \[0.0, 0.5\]",
        ),
        (
            full(ranges=Ranges(velocity=(-1, 1), torque=(-1, 1))),
            r"joint 'turn' has no range of acceleration in rad/s²",
        ),
        (
            full(bits=(12, 12, 12)),
            r"bits must be one number, or one per joint \(2 in robot 'arm'\), got 3 \(spec of 'arm', key 'bits'\)$",
        ),
        (full(input_bits=InputBits(velocity=(3,))), r"input_bits must be one number, or one per joint .*, got 1"),
        (full(joints=(JointSpec("slid"),)), r"unknown joint 'slid'; did you mean 'slide'\?"),
        (
            full(joints=(JointSpec(),)),
            "joints without names must be as many as robot 'arm' has, 2, got 1",
        ),
        (
            full().with_options(torque=[1, 2, 3]),
            r"torque must be one range for all joints, or one per joint \(2 in robot 'arm'\), got 3$",
        ),
        (
            full(joints=(JointSpec("slide", position=(1e9, 1e9 + 1e-3)),)),
            "position of joint 'slide': one unit, .* must be",
        ),
    ],
)
def test_what_does_not_fit_the_robot_is_refused(spec: Spec, message: str) -> None:
    with pytest.raises(BddTorqueError, match=message):
        spec.formats(arm())


def test_what_is_said_of_the_robot_is_kept() -> None:
    spec = Spec("arm.urdf", lock={"b": 1, "a": 0.5}, payload=[1, 0, 0, 0.1], gravity=np.array([0, 0, -1]))  # type: ignore[arg-type]
    assert spec.lock == (("a", 0.5), ("b", 1.0))
    assert spec.payload == Payload(1.0, (0.0, 0.0, 0.1))
    assert spec.gravity == (0.0, 0.0, -1.0)
    assert spec.with_options(payload=2.5, ignore_friction=True).payload == Payload(2.5)
    full_payload = Payload(1.0, inertia=[1, 2, 3])  # type: ignore[arg-type]
    assert full_payload.inertia == ((1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 3.0))
    assert spec.with_options(payload={"mass": 1, "inertia": [1, 2, 3]}).payload == full_payload
    assert Spec("arm", lock={}) == Spec("arm")
    plain = spec.to_plain()
    assert plain["lock"] == {"a": 0.5, "b": 1.0}
    assert "ignore_friction" not in plain
    assert "tip" not in plain
    for options, message in (
        ({"payload": {"mas": 1}}, r"payload: unknown key 'mas'; did you mean 'mass'\?$"),
        ({"payload": "heavy"}, "payload must be a mass in kg, .*, got 'heavy'$"),
        ({"lock": 3}, "lock must be 'others', or joints by name with their positions, got 3$"),
        ({"allow_massless": "yes"}, "allow_massless must be true or false, got 'yes'$"),
        ({"snap": True}, "snap must be a finite number, got True$"),
    ):
        with pytest.raises(BddTorqueError, match=message):
            spec.with_options(**options)


def test_accelerations_are_assumed_aloud() -> None:
    robot = arm(velocity=2.0, effort=5.0, lower=-1.0, upper=1.0)
    spec, notes = assume_missing(Spec("arm", joints=(JointSpec("slide", acceleration=(-1.0, 1.0)),)), robot)
    assert notes == (
        "joint 'turn': acceleration ±8 rad/s² assumed (4/s times its velocity), since neither robot nor spec gives one",
    )
    assert [each.high for each in spec.with_options(torque=1.0).formats(robot).qdd] == [8.0, 1.0]
    assert assume_missing(spec, robot) == (spec, ())
    alike = Robot("arm", tuple(Joint(name, "revolute", velocity=2.0) for name in "abc"), robot.links[:1] * 3)
    assert assume_missing(Spec("arm"), alike)[1] == (
        "joints 'a', 'b', 'c': acceleration ±8 rad/s² assumed (4/s times their velocity), since neither robot nor spec "
        "gives one",
    )


def test_a_range_outside_its_table_is_told_where_it_belongs():
    with pytest.raises(BddTorqueError, match=r"^key 'velocity' belongs in the table \[ranges\] \(arm.toml\)$"):
        spec_from_plain({"robot": "planar2r", "velocity": 2}, "arm.toml")

"""Specifications: read, refused with the reason, overridden, resolved against a robot."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bddtorque.base.errors import BddTorqueError
from bddtorque.robots import Joint, Link, Robot, load_robot
from bddtorque.spec import InputBits, JointSpec, Payload, Ranges, Spec, assume_missing, from_toml, load_spec, spec_names

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
    assert formats.joint_names == ("shoulder", "elbow")
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
    spec.formats(load_robot(spec.robot_source))
    assert load_spec(ROOT / "tables" / f"{name}.toml") == spec == load_spec(str(ROOT / "tables" / f"{name}.toml"))


def test_the_example_in_the_documentation_loads() -> None:
    text = (ROOT / "docs" / "spec.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    spec = from_toml(example, "docs/spec.md")
    formats = spec.formats(load_robot("scara"))
    assert formats.tau.bits == (12, 12, 10, 12)
    assert formats.q.bits == (14, 14, 14, 14)
    assert formats.qdd.bits == (12, 12, 12, 10)
    assert formats.tau[1].span == pytest.approx((-40, 60), abs=0.05)
    assert formats.q[1].sign == -1
    for key in (*Spec.__dataclass_fields__, *JointSpec.__dataclass_fields__):
        if key not in ("directory", "where", "bare", "joints"):
            assert f"`{key}`" in text or f"`[{key}]`" in text, key


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("", "my.toml: 'robot' required, not given (keys given: none)"),
        ("bits = 3", "my.toml: 'robot' required, not given (keys given: bits)"),
        ("robot = 3", "my.toml: robot: text required, a whole number given"),
        ('robot = ""', "my.toml, robot: the name or the file of a robot required, '' given"),
        ('robot = "a', "my.toml: valid TOML required, Unterminated string (at end of document)"),
        ("bitz = 3", "my.toml: keys robot, .* required, 'bitz' given (did you mean 'bits'?)"),
        ("bits = 1", "my.toml, bits: a whole number from 2 to 24 (or a list, one a joint) required, 1 given"),
        ("bits = 25", "my.toml, bits: a whole number from 2 to 24 (or a list, one a joint) required, 25 given"),
        ("bits = [12, 1]", "my.toml, bits: a whole number from 2 to 24 (or a list, one a joint) required, 1 given"),
        ("bits = []", "my.toml, bits: a whole number from 2 to 24 (or a list, one a joint) required, [] given"),
        ("bits = 12.0", "my.toml: bits: a whole number or a list required, a number given"),
        ("bits = true", "my.toml: bits: a whole number or a list required, true or false given"),
        ('bits = "12"', "my.toml: bits: a whole number or a list required, text given"),
        ("input_bits = 30", "my.toml, input_bits: a whole number from 2 to 24 .* required, 30 given"),
        (
            "[input_bits]\nposition = 1",
            "my.toml, input_bits, position: a whole number from 2 to 24 .* required, 1 given",
        ),
        (
            "[input_bits]\ntorque = 4",
            "my.toml: input_bits: keys position, velocity, acceleration required, 'torque' given",
        ),
        (
            "block_bits = -1",
            "my.toml, block_bits: a whole number from 4 to 28 required (a table has 2^block_bits rows), -1 ",
        ),
        (
            'accuracy = "exact"',
            "my.toml, accuracy: 'faithful', 'paper' or a number of units above 0.5 required, 'exact'",
        ),
        ("accuracy = 0.5", "my.toml, accuracy: more than 0.5 units required (the final rounding alone .*), 0.5 given"),
        ("accuracy = nan", "my.toml, accuracy: more than 0.5 units required .*, nan given"),
        (
            'memory = "2 gigs"',
            "my.toml, memory: a size in bytes or text like '2 GiB' or '500 MB' required, '2 gigs' given",
        ),
        ("memory = 1000", "my.toml, memory: at least 1 MiB required, 1000 bytes given"),
        (
            'source = "term"',
            "my.toml, source: 'auto', 'terms' or 'recursive' required, 'term' given (did you mean 'terms'?)",
        ),
        ('target = "fpga"', "my.toml, target: 'tables' or 'host' required, 'fpga' given"),
        (
            "[ranges]\nvelocity = [1, 1]",
            "my.toml, ranges, velocity: [low, high], finite and low below high, required, ",
        ),
        ("[ranges]\nvelocity = 0", "my.toml, ranges, velocity: a positive number .* or [low, high] required, 0 given"),
        ("[ranges]\nvelocity = inf", "my.toml, ranges, velocity: a positive number .* required, inf given"),
        (
            "[ranges]\nvelocity = [nan, 1]",
            "my.toml, ranges, velocity: [low, high], finite .* required, [nan, 1.0] given",
        ),
        ("[ranges]\nspeed = 1", "my.toml: ranges: keys position, .* required, 'speed' given"),
        ("[[joint]]\nvelocity = -1", "my.toml, joint 1, velocity: a positive number .* required, -1 given"),
        ('[[joint]]\nvelocity = "fast"', "my.toml: joint 1, velocity: a number or a list required, text given"),
        ("[[joint]]\nsing = 1", "my.toml: joint 1: keys name, .* required, 'sing' given (did you mean 'sign'?)"),
        ("[[joint]]\nsign = 2", "my.toml, joint 1, sign: 1 or -1 required, 2 given"),
        (
            '[[joint]]\nname = "a, b"\noffset = inf',
            "my.toml, joint 1 'a, b', offset: a finite number required, inf given",
        ),
        ('[[joint]]\nname = "a"\n[[joint]]', "my.toml: a name for every joint or for none required, ['a', None] given"),
        ('[[joint]]\nname = "a"\n[[joint]]\nname = "a"', "my.toml: each joint once required, 'a' is given twice"),
        ("joint = 3", "my.toml: joint: a list required, a whole number given"),
        ("tip = 3", "my.toml: tip: text required, a whole number given"),
        ('base = ""', "my.toml, base: the name of a link required, '' given"),
        ('lock = "all"', "my.toml, lock: 'others', or joints by name with positions, required, 'all' given"),
        ('lock = { a = "b" }', "my.toml, lock: a position of joint 'a' (rad or m) required, 'b' given"),
        ("lock = { a = inf }", "my.toml, lock: a position of joint 'a' (rad or m) required, inf given"),
        ("gravity = 9.81", "my.toml: gravity: a list required, a number given"),
        ("gravity = [0, 0]", "my.toml, gravity: x, y and z in m/s², in base axes, required, [0, 0] given"),
        ("gravity = [0, 0, nan]", "my.toml, gravity: x, y and z in m/s², in base axes, required, [0, 0, nan] given"),
        (f"gravity = [0, 0, 1{'0' * 400}]", "my.toml, gravity: x, y and z in m/s², in base axes, required"),
        ("payload = 0", "my.toml, payload, mass: more than 0 kg required, 0 given"),
        ("payload = [1, 2]", "my.toml, payload: a mass in kg, or mass, x, y and z .* required, [1, 2] given"),
        ("payload = [1, 2, 3, true]", "my.toml, payload, centre_of_mass: x, y and z in m required, (2, 3, True) given"),
        ("[payload]", "my.toml, payload, mass: more than 0 kg required, 0.0 given"),
        ("[payload]\nmas = 1", "my.toml: payload: keys mass, centre_of_mass, inertia required, 'mas' given (did you"),
        ("[payload]\nmass = 1\ninertia = [1, 2]", "my.toml, payload, inertia: [Ixx, Iyy, Izz] or 3 rows of 3, in "),
        ("snap = 0.1", "my.toml, snap: from 0 to 0.001 required, 0.1 given"),
        ("ignore_friction = 1", "my.toml: ignore_friction: true or false required, a whole number given"),
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
    with pytest.raises(BddTorqueError, match=r"known name \(.*'planar2r'.*required, 'planar2' given \(did you mean"):
        load_spec("planar2")
    with pytest.raises(BddTorqueError, match=r"none.toml: a specification required, there is no such file$"):
        load_spec(tmp_path / "none.toml")
    with pytest.raises(BddTorqueError, match=r"this is a folder$"):
        load_spec(tmp_path)
    (tmp_path / "bad.toml").write_bytes(b"robot = '\xff'")
    with pytest.raises(BddTorqueError, match=r"UTF-8 text required, byte 9 is not$"):
        load_spec(tmp_path / "bad.toml")
    with pytest.raises(BddTorqueError, match="a readable file required"):
        load_spec("a\0b.toml")


def test_a_robot_file_is_a_spec_with_defaults(tmp_path: Path) -> None:
    robot_file = ROOT / "bddtorque" / "robots" / "builtin" / "planar2r.toml"
    spec = load_spec(robot_file)
    assert spec.robot_source == str(robot_file)
    assert spec.formats(load_robot(spec.robot_source)).tau.lsb.tolist() == [400 / 4096, 200 / 4096]
    assert load_spec("somewhere/ur5.urdf").robot_source == str(Path("somewhere/ur5.urdf"))


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
    assert spec.with_options(torque=np.array([50.0, 25.0])).formats(load_robot("planar2r")).tau[1].high == 25.0
    assert spec.with_options(robot="x/y.urdf").robot_source == "x/y.urdf"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bitz": 3}, r"'bitz' given \(did you mean 'bits'\?\)"),
        ({"where": "x"}, "options robot, .*, torque required, 'where' given"),
        ({"bits": 25}, "from 2 to 24"),
        ({"velocity": [-1, 1]}, r"velocity of joint 1 \(one entry a joint\): a positive number .* required, -1 given"),
        ({"input_bits": {"torque": 3}}, "keys position, velocity, acceleration required, 'torque' given"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BddTorqueError, match=message):
        load_spec("planar2r").with_options(**options)


def test_ranges_come_from_the_joint_then_the_spec_then_the_robot() -> None:
    robot = arm(velocity=5.0, acceleration=6.0, effort=7.0, lower=-1.0, upper=2.0)
    formats = Spec("arm").formats(robot)
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
            r"a range of position in m required for prismatic joint 'slide', .*write position = \[0.0, 0.5\]",
        ),
        (
            full(ranges=Ranges(velocity=(-1, 1), torque=(-1, 1))),
            r"a range of acceleration in rad/s² required for joint 'turn'",
        ),
        (full(bits=(12, 12, 12)), r"bits: one number, or one a joint \(2 in robot 'arm'\), required, 3 given"),
        (full(input_bits=InputBits(velocity=(3,))), r"input_bits: one number, or one a joint .* required, 1 given"),
        (full(joints=(JointSpec("slid"),)), r"\('turn', 'slide'\) required, 'slid' given \(did you mean 'slide'\?\)"),
        (
            full(joints=(JointSpec(),)),
            "2 joints as in robot 'arm', or names to tell them by, required, 1 without names given",
        ),
        (
            full().with_options(torque=[1, 2, 3]),
            r"torque: one range for all joints or one a joint \(2\) required, 3 given",
        ),
        (full(joints=(JointSpec("slide", position=(1e9, 1e9 + 1e-3)),)), "position of joint 'slide': one unit must be"),
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
        ({"payload": {"mas": 1}}, r"payload: keys mass, .* required, 'mas' given \(did you mean 'mass'\?\)"),
        ({"payload": "heavy"}, "payload: a mass in kg, .* required, 'heavy' given"),
        ({"lock": 3}, "lock: 'others', or joints by name with positions, required, 3 given"),
        ({"allow_massless": "yes"}, "allow_massless: true or false required, 'yes' given"),
        ({"snap": True}, "snap: from 0 to 0.001 required, True given"),
    ):
        with pytest.raises(BddTorqueError, match=message):
            spec.with_options(**options)


def test_accelerations_are_assumed_aloud() -> None:
    robot = arm(velocity=2.0, effort=5.0, lower=-1.0, upper=1.0)
    spec, notes = assume_missing(Spec("arm", joints=(JointSpec("slide", acceleration=(-1.0, 1.0)),)), robot)
    assert notes == (
        "joint 'turn': acceleration ±8 rad/s² assumed (4/s times its velocity), since neither robot nor spec gives one",
    )
    assert [each.high for each in spec.formats(robot).qdd] == [8.0, 1.0]
    assert assume_missing(spec, robot) == (spec, ())
    alike = Robot("arm", tuple(Joint(name, "revolute", velocity=2.0) for name in "abc"), robot.links[:1] * 3)
    assert assume_missing(Spec("arm"), alike)[1] == (
        "joints 'a', 'b', 'c': acceleration ±8 rad/s² assumed (4/s times their velocity), since neither robot nor spec "
        "gives one",
    )

"""URDF that would give wrong torques, or is no URDF: one clear line each, and no guess."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from sample_robots import BODY, TWO_LINKS, extended, joint

from bddtorque.base.errors import BddTorqueError
from bddtorque.robots import from_urdf, load_urdf
from bddtorque.robots.robot_files import LARGEST_FILE

LIMIT = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'
BOMB = """<?xml version="1.0"?><!DOCTYPE robot [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<robot name="&b;"><link name="base"/></robot>"""


def refused(text: str | bytes, *expected: str, **options: object) -> None:
    with pytest.raises(BddTorqueError) as error:
        from_urdf(text, "arm.urdf", **options)
    message = str(error.value)
    assert message.startswith("arm.urdf"), message
    assert "\n" not in message
    assert len(message) < 500
    for part in expected:
        assert part in message


def replaced(old: str, new: str, count: int = 1) -> str:
    assert old in TWO_LINKS
    return TWO_LINKS.replace(old, new, count)


def test_the_sample_itself_is_accepted() -> None:
    assert from_urdf(TWO_LINKS).joint_names == ("shoulder", "elbow")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        # numbers
        ('xyz="0.3 0 0"', 'xyz="0.3 0"', ("joint 'elbow', origin: xyz: 3 finite decimal numbers required", "'0.3 0'")),
        ('xyz="0.3 0 0"', 'xyz="0.3 nan 0"', ("3 finite decimal numbers required, '0.3 nan 0' given",)),
        ('xyz="0.3 0 0"', 'xyz="0.3 inf 0"', ("3 finite decimal numbers required",)),
        ('xyz="0.3 0 0"', 'xyz="0.3 1e400 0"', ("3 finite decimal numbers required",)),
        ('xyz="0.3 0 0"', 'xyz="0,3 0 0"', ("3 finite decimal numbers required",)),
        ('xyz="0.3 0 0"', 'xyz="1_0 0 0"', ("3 finite decimal numbers required",)),
        ('xyz="0.3 0 0"', 'xyz=""', ("3 finite decimal numbers required, '' given",)),
        ('rpy="0.1 0.2 0.3"', 'rpy="a b c"', ("joint 'elbow', origin: rpy",)),
        ('mass value="2"', 'mass value="heavy"', ("link 'upper', inertial, mass: value: a finite decimal",)),
        ('mass value="2"', 'mass value="nan"', ("a finite decimal number required, 'nan' given",)),
        ('mass value="2"', 'mass value="-2"', ("link 'upper'", "mass finite and >= 0", "-2")),
        ('mass value="2"', "mass", ("link 'upper', inertial, mass: attribute 'value' required",)),
        ('ixx="0.02" ', "", ("inertia: attribute 'ixx' required, not given",)),
        ('ixy="0" ', "", ("inertia: attribute 'ixy' required, not given",)),
        ('izz="0.04"', 'izz="0.4"', ("link 'upper'", "triangle inequality", "allow_unphysical")),
        ('ixx="0.02"', 'ixx="-0.02"', ("link 'upper'", "positive semi-definite")),
        # elements
        ('<mass value="2"/>', "", ("link 'upper', inertial: a <mass> required",)),
        ('<mass value="2"/>', '<mass value="2"/><mass value="3"/>', ("one <mass> required, several given",)),
        ("<axis xyz", "<axes xyz", ("joint 'shoulder'", "unknown element <axes> (did you mean <axis>?)")),
        ("<inertial>", "<inertal>", ("mismatched tag",)),
        ("<mass ", "<mas ", ("link 'upper', inertial: no <mas> directly in <inertial>", "did you mean 'mass'")),
        ('<link name="base"/>', '<link name="base"><mass value="1"/></link>', ("no <mass> directly in <link>",)),
        ('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><axis xyz="1 0 0"/>', ("one <axis> required, several",)),
        ('<axis xyz="0 1 0"/>', "<axis/>", ("axis: attribute 'xyz' required",)),
        ('<axis xyz="0 1 0"/>', '<axis xyz="0 0 0"/>', ("joint 'shoulder': axis: a direction required, zero given",)),
        ('rpy="0.1 0.2 0.3"', 'quat_xyzw="0 0 0 1"', ("unknown attribute 'quat_xyzw'", "known: xyz, rpy")),
        ('rpy="0.1 0.2 0.3"', 'ryp="0.1 0.2 0.3"', ("unknown attribute 'ryp' (did you mean 'rpy'?)",)),
        ('<joint name="elbow"', '<joint name="shoulder"', ("joint 'shoulder' is given twice",)),
        ('<link name="lower"', '<link name="upper"', ("link 'upper' is given twice",)),
        ('<joint name="elbow" ', "<joint ", ("joint name: a printable name required, None given",)),
        ('<link name="lower"', '<link name="lo&#10;wer"', ("link name: a printable name required",)),
        ('<link name="lower"', '<link name=""', ("link name: a printable name required, '' given",)),
        ('<robot name="two">', "<robot>", ("robot name: a printable name required",)),
        ('type="prismatic"', 'type="prismatik"', ("joint 'elbow'", "did you mean 'prismatic'")),
        (' type="prismatic"', "", ("joint 'elbow'", "None given")),
        ('<parent link="base"/>', "", ("joint 'shoulder': a <parent> required",)),
        ('<child link="upper"/>', "", ("joint 'shoulder': a <child> required",)),
        ('<parent link="base"/>', '<parent link="bass"/>', ("'bass' given (did you mean 'base'?)",)),
        ('<parent link="base"/>', "<parent/>", ("joint 'shoulder', parent: link: a printable name",)),
        ('<child link="lower"/>', '<child link="upper"/>', ("link 'upper': one joint to its parent required",)),
        ('<parent link="base"/>', '<parent link="lower"/>', ("link 'upper' is part of a loop",)),
        ('<link name="base"/>', '<link name="base"/><link name="stray"/>', ("one root", "'base' and 'stray' given")),
        # limits
        ('<limit lower="-2" upper="2" velocity="3" effort="40"/>', "", ("'shoulder': a <limit>", "'continuous'")),
        ('lower="-2" ', "", ("joint 'shoulder': a <limit> with lower and upper required",)),
        ('lower="-2"', 'lower="3"', ("joint 'shoulder': limit: lower below upper", "3.0 and 2.0 given")),
        ('lower="-2" upper="2"', 'lower="0" upper="0"', ("lower below upper",)),
        ('velocity="3"', 'velocity="-3"', ("velocity at least 0 required, -3.0 given",)),
        ('upper="2"', 'upper="inf"', ("joint 'shoulder', limit: upper: a finite decimal number required",)),
        # friction
        ('damping="0"', 'damping="-0.3"', ("joint 'elbow'", 'damping="-0.3"', "ignore_friction")),
        ('friction="0.0"', 'friction="-1e-9"', ("joint 'elbow'", "friction of at least 0")),
        ('damping="0"', 'mu_viscous="16"', ("mu_viscous",)),
        # joints that are not of one degree of freedom of their own
        ('type="prismatic"', 'type="floating"', ("joint 'elbow'", "required on the chain, floating given")),
        ('type="prismatic"', 'type="planar"', ("joint 'elbow'", "planar given")),
        ("<dynamics", '<mimic joint="shoulder"/><dynamics', ("joint 'elbow'", "it mimics 'shoulder'")),
        ("<dynamics", '<mimic joint="shoulder" multiplier="two"/><dynamics', ("mimic: multiplier: a finite",)),
    ],
)
def test_one_thing_wrong(old: str, new: str, expected: tuple[str, ...]) -> None:
    refused(replaced(old, new), *expected)


def test_numbers_that_overflow_later() -> None:
    refused(replaced('mass value="2"', 'mass value="1e308"').replace('xyz="0.1 0 0"', 'xyz="1e200 0 0"'), "'upper'")
    refused(replaced('ixx="0.02"', 'ixx="1e308"').replace('iyy="0.03"', 'iyy="1e308"'), "link 'upper'")


def test_moments_without_mass_are_a_body() -> None:
    assert from_urdf(replaced('<mass value="1"/>', '<mass value="0"/>')).links[-1].mass == 0.0


def test_moving_link_without_inertial() -> None:
    upper = TWO_LINKS[TWO_LINKS.index('<link name="upper">') : TWO_LINKS.index('<link name="lower">')]
    bare = TWO_LINKS.replace(upper, '<link name="upper"/>')
    refused(bare, "link 'upper'", "<inertial> with mass required", "joint 'shoulder' moves it", "allow_massless")
    zero = upper.replace('value="2"', 'value="0"').replace("0.02", "0").replace("0.03", "0").replace("0.04", "0")
    refused(TWO_LINKS.replace(upper, zero), "link 'upper'", "allow_massless")
    robot = from_urdf(bare, allow_massless=True)
    assert robot.links[0].mass == 0.0
    # a link that is only a frame, with the body fixed to it, is as good as the body itself
    fixed = (
        f'<link name="shell">{BODY}</link><joint name="bolt" type="fixed"><parent link="upper"/><child link="shell"/>'
    )
    framed = bare.replace("</robot>", f"{fixed}</joint></robot>")
    assert from_urdf(framed).links[0].mass == 0.5


def test_unphysical_inertia_is_not_hidden_by_what_it_is_fixed_to() -> None:
    bad = BODY.replace('izz="0.011"', 'izz="0.03"').replace('mass value="0.5"', 'mass value="1e-6"')
    text = extended(joint("bolt", "fixed", "upper", "shell").replace(BODY, bad))
    refused(text, "link 'shell'", "triangle inequality")
    assert from_urdf(text, allow_unphysical=True).allow_unphysical
    # but what the base is made of is all the same
    from_urdf(extended(joint("bolt", "fixed", "base", "shell").replace(BODY, bad)))


def test_joints_off_the_chain() -> None:
    text = extended(joint("flap", "revolute", "upper", "side", LIMIT))
    refused(text, "joints 'elbow' and 'flap' branch off at link 'upper'", "tip", "lock")
    refused(text, "joint 'flap'", "hangs from link 'upper' off the chain", "lock = {'flap': position}", tip="lower")
    refused(text, "within -1 to 1 required, 1.5 given", tip="lower", lock={"flap": 1.5})
    refused(text, "required, nan given", tip="lower", lock={"flap": float("nan")})
    refused(text, "required, 'up' given", tip="lower", lock={"flap": "up"})
    refused(text, "'flop' given (did you mean 'flap'?)", tip="lower", lock={"flop": 0.0})
    refused(text, '"others" or positions', tip="lower", lock="all")
    refused(text, '"others" or positions', tip="lower", lock=["flap"])
    refused(text, "tip required", lock="others")
    shifted = text.replace('lower="-1" upper="1"', 'lower="0.5" upper="1"')
    refused(shifted, "within 0.5 to 1 required, 0.0 given", tip="lower", lock="others")
    # one that hangs from the base cannot matter, whatever it is
    for kind in ("revolute", "floating"):
        aside = from_urdf(extended(joint("flap", kind, "base", "side", LIMIT)), tip="lower")
        assert (aside.links, aside.joints) == (from_urdf(TWO_LINKS).links, from_urdf(TWO_LINKS).joints)
    refused(
        extended(joint("loose", "floating", "upper", "side")), "floating joint hangs from link 'upper'", tip="lower"
    )


def test_a_follower_loads_the_joint_it_mimics_wherever_it_hangs() -> None:
    for parent in ("base", "upper"):
        follower = joint("flap", "revolute", parent, "side", LIMIT + '<mimic joint="shoulder"/>')
        refused(extended(follower), "joint 'flap'", "mimics 'shoulder' of the chain", tip="lower")
        refused(extended(follower), "joint 'flap'", "mimics 'shoulder' of the chain", tip="lower", lock="others")
    pair = extended(
        joint("left", "revolute", "lower", "one", LIMIT),
        joint("right", "revolute", "lower", "two", LIMIT + '<mimic joint="left"/>'),
    )
    refused(pair, "'right' mimics 'left', so 0.5 required, 0.1 given", tip="lower", lock={"left": 0.5, "right": 0.1})


def test_base_and_tip() -> None:
    refused(TWO_LINKS, "tip: a link of this file required, 'lowe' given (did you mean 'lower'?)", tip="lowe")
    refused(TWO_LINKS, "base: a link of this file required, 'bass' given", base="bass")
    refused(TWO_LINKS, "tip: a link of this file required, 3 given", tip=3)
    refused(TWO_LINKS, "a tip that hangs from base 'lower' required, 'upper' given", base="lower", tip="upper")
    refused(TWO_LINKS, "at least one moving joint", base="lower")
    refused(TWO_LINKS, "at least one moving joint", base="upper", tip="upper")
    refused(TWO_LINKS, "gravity in the axes of base 'upper' required, as joint 'shoulder'", base="upper")
    refused(TWO_LINKS, "gravity: 3 numbers required", base="upper", gravity=(0, 1))
    assert from_urdf(TWO_LINKS, base="upper", gravity=(1, 2, 3)).gravity == (1.0, 2.0, 3.0)
    for snap in (-1e-9, 0.1, float("nan"), "x"):
        refused(TWO_LINKS, "snap from 0 to 0.001 required", snap=snap)


def test_what_is_no_urdf() -> None:
    refused("", "well-formed XML required")
    refused("name = 3", "well-formed XML required")
    refused(TWO_LINKS[:-12], "well-formed XML required")
    refused(TWO_LINKS.replace("</link>", "", 1), "well-formed XML required", "line")
    refused(b"\xff\xfe\x00", "well-formed XML required")
    refused(b'<?xml version="1.0" encoding="no-such"?><robot name="a"/>', "well-formed XML required")
    refused("<sdf version='1.7'/>", "a <robot> element required, <sdf> given")
    refused('<robot name="a" xmlns="http://ros.org"/>', "a <robot> element required")
    refused('<robot name="a"/>', "one root link required, no links given")
    refused('<robot name="a"><link name="b"/></robot>', "at least one moving joint")
    refused('<robot name="a"><Link name="b"/></robot>', "unknown element <Link> (did you mean <link>?)")
    refused('<robot name="a">' + "<b>" * 200_000, "nested at most")


def test_entities_are_never_expanded() -> None:
    refused(BOMB, "XML without a document type (DOCTYPE, ENTITY) required")
    file = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]><robot name="&x;"/>'
    refused(file, "document type")


def test_xacro(tmp_path: Path) -> None:
    header = '<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro">'
    refused(f'{header}<xacro:include filename="b"/></robot>', "xacro given; run `xacro")
    refused(f'{header}<link name="${{prefix}}b"/></robot>', "xacro given; run `xacro")
    refused('<robot name="a"><xacro:include filename="b"/></robot>', "if this is a xacro file")
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(TWO_LINKS)
    with pytest.raises(BddTorqueError, match="run `xacro "):
        load_urdf(path)
    # what expansion leaves behind is fine: the name space, and its comments
    from_urdf(TWO_LINKS.replace('name="two"', 'name="two" xmlns:xacro="http://ros.org/wiki/xacro"'))
    from_urdf(extended('<!-- <link name="${prefix}x"/> -->'))


def test_files(tmp_path: Path) -> None:
    with pytest.raises(BddTorqueError, match="there is no such file"):
        load_urdf(tmp_path / "none.urdf")
    with pytest.raises(BddTorqueError, match="this is a folder"):
        load_urdf(tmp_path)
    huge = tmp_path / "huge.urdf"
    with huge.open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    with pytest.raises(BddTorqueError, match="at most 10,000,000 bytes required"):
        load_urdf(huge)


def test_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yourdfpy", None)
    refused(TWO_LINKS, "yourdfpy required", "pip install 'bddtorque[urdf]'")


def test_what_does_not_matter_is_left_alone(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    text = extended(
        '<gazebo reference="upper"><kp>1</kp></gazebo>',
        '<material name="blue"><color rgba="broken"/></material>',
        '<transmission name="t"><joint name="shoulder"/></transmission>',
        joint("wheel", "revolute", "base", "rim", "<limit/>"),  # incomplete, but not of the chain
    ).replace(
        "</inertial>",
        '</inertial><visual><geometry><mesh filename="package://none/x.stl"/></geometry></visual><visual/>'
        "<collision><geometry><capsule/></geometry></collision><contact/><origin/>",
        1,
    )
    robot = from_urdf(text, tip="lower")
    assert (robot.links, robot.joints) == (from_urdf(TWO_LINKS).links, from_urdf(TWO_LINKS).joints)
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


def test_limits_and_friction_that_are_read() -> None:
    robot = from_urdf(replaced('effort="40"', 'effort="0" acceleration="7"'))
    shoulder = robot.joints[0]
    assert (shoulder.lower, shoulder.upper, shoulder.velocity) == (-2.0, 2.0, 3.0)
    assert (shoulder.acceleration, shoulder.effort) == (7.0, np.inf)
    continuous = from_urdf(replaced('type="revolute"', 'type="continuous"')).joints[0]
    assert (continuous.lower, continuous.upper, continuous.effort) == (-np.inf, np.inf, 40.0)
    free = from_urdf(replaced('damping="0"', 'damping="3"'), ignore_friction=True)
    assert free.joints == from_urdf(TWO_LINKS).joints
    rubbing = from_urdf(replaced('damping="0"', 'damping="3"')).joints[1].friction
    assert (rubbing.viscous, rubbing.coulomb) == (3.0, (0.0, 0.0))


def test_snap() -> None:
    text = replaced('rpy="0.1 0.2 0.3"', 'rpy="1.57079632679 0 0"').replace('xyz="1 1 0"', 'xyz="0 0 1"')
    entries = {abs(value) for row in from_urdf(text).joints[1].rotation for value in row}
    assert entries == {0.0, 1.0}
    assert {abs(value) for row in from_urdf(text, snap=0.0).joints[1].rotation for value in row} != {0.0, 1.0}
    rough = text.replace("1.57079632679", "1.5708")
    assert {abs(value) for row in from_urdf(rough).joints[1].rotation for value in row} != {0.0, 1.0}
    assert {abs(value) for row in from_urdf(rough, snap=1e-5).joints[1].rotation for value in row} == {0.0, 1.0}

"""URDF that would give wrong torques, or is no URDF: one clear line each, and no guess."""

from __future__ import annotations

import difflib
from pathlib import Path

import numpy as np
import pytest
from sample_robots import BODY, LIMIT, TWO_LINKS, extended, joint

from bddtorque.base.errors import BddTorqueError
from bddtorque.robots import from_urdf, load_urdf, urdf_xml
from bddtorque.robots.urdf_reader import LARGEST_FILE

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
        ('xyz="0.3 0 0"', 'xyz="0.3 0"', ("joint 'elbow', origin: xyz must be 3 finite decimal numbers", "'0.3 0'")),
        ('xyz="0.3 0 0"', 'xyz="0.3 nan 0"', ("3 finite decimal numbers, got '0.3 nan 0'",)),
        ('xyz="0.3 0 0"', 'xyz="0.3 inf 0"', ("xyz must be 3 finite decimal numbers, got",)),
        ('xyz="0.3 0 0"', 'xyz="0.3 1e400 0"', ("xyz must be 3 finite decimal numbers, got",)),
        ('xyz="0.3 0 0"', 'xyz="0,3 0 0"', ("xyz must be 3 finite decimal numbers, got",)),
        ('xyz="0.3 0 0"', 'xyz="1_0 0 0"', ("xyz must be 3 finite decimal numbers, got",)),
        ('xyz="0.3 0 0"', 'xyz=""', ("3 finite decimal numbers, got ''",)),
        ('rpy="0.1 0.2 0.3"', 'rpy="a b c"', ("joint 'elbow', origin: rpy",)),
        ('mass value="2"', 'mass value="heavy"', ("link 'upper', inertial, mass: value must be a finite decimal",)),
        ('mass value="2"', 'mass value="nan"', ("a finite decimal number, got 'nan'",)),
        (
            'mass value="2"',
            'mass value="-2"',
            ("link 'upper'", "mass must be a finite number of kg of at least 0, got -2"),
        ),
        ('mass value="2"', "mass", ("link 'upper', inertial, mass: attribute 'value' is missing",)),
        ('ixx="0.02" ', "", ("inertia: attribute 'ixx' is missing",)),
        ('ixy="0" ', "", ("inertia: attribute 'ixy' is missing",)),
        ('izz="0.04"', 'izz="0.4"', ("link 'upper'", "triangle inequality", "allow_unphysical=True")),
        ('ixx="0.02"', 'ixx="-0.02"', ("link 'upper'", "positive semi-definite")),
        # elements
        ('<mass value="2"/>', "", ("link 'upper', inertial: <mass> is missing",)),
        ('<mass value="2"/>', '<mass value="2"/><mass value="3"/>', ("<mass> occurs several times",)),
        ("<axis xyz", "<axes xyz", ("joint 'shoulder'", "unknown element <axes>; did you mean <axis>?")),
        ("<inertial>", "<inertal>", ("mismatched tag",)),
        ("<mass ", "<mas ", ("link 'upper', inertial: <mas> is not known in <inertial>", "did you mean 'mass'")),
        ('<link name="base"/>', '<link name="base"><mass value="1"/></link>', ("<mass> is not known in <link>",)),
        ('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><axis xyz="1 0 0"/>', ("<axis> occurs several times",)),
        ('<axis xyz="0 1 0"/>', "<axis/>", ("axis: attribute 'xyz' is missing",)),
        ('<axis xyz="0 1 0"/>', '<axis xyz="0 0 0"/>', ("joint 'shoulder': axis must have a direction, got '0 0 0'",)),
        ('rpy="0.1 0.2 0.3"', 'rpy="0 0 0" quat_xyzw="0 0 0 1"', ("origin: 'rpy' and 'quat_xyzw' exclude each other",)),
        ('rpy="0.1 0.2 0.3"', 'quat_xyzw="0 0 0 0"', ("quat_xyzw must be 4 finite decimal numbers, not all 0, got",)),
        ('rpy="0.1 0.2 0.3"', 'quat_xyzw="0 0 1"', ("quat_xyzw must be 4 finite decimal numbers, not all 0, got",)),
        ('rpy="0.1 0.2 0.3"', 'ryp="0.1 0.2 0.3"', ("unknown attribute 'ryp'; did you mean 'rpy'?",)),
        ('<joint name="elbow"', '<joint name="shoulder"', ("joint 'shoulder' occurs twice",)),
        ('<link name="lower"', '<link name="upper"', ("link 'upper' occurs twice",)),
        (
            '<joint name="elbow" ',
            "<joint ",
            ("joint name must be printable text without spaces at its ends, got None",),
        ),
        ('<link name="lower"', '<link name="lo&#10;wer"', ("link name must be printable text",)),
        (
            '<link name="lower"',
            '<link name=""',
            ("link name must be printable text without spaces at its ends, got ''",),
        ),
        ('<robot name="two">', "<robot>", ("robot name must be printable text",)),
        ('type="prismatic"', 'type="prismatik"', ("joint 'elbow'", "did you mean 'prismatic'")),
        (' type="prismatic"', "", ("joint 'elbow'", "got None")),
        ('<parent link="base"/>', "", ("joint 'shoulder': <parent> is missing",)),
        ('<child link="upper"/>', "", ("joint 'shoulder': <child> is missing",)),
        ('<parent link="base"/>', '<parent link="bass"/>', ("unknown link 'bass'; did you mean 'base'?",)),
        ('<parent link="base"/>', "<parent/>", ("joint 'shoulder', parent: link must be printable text",)),
        (
            '<child link="lower"/>',
            '<child link="upper"/>',
            ("link 'upper' must be the child of one joint, got 'shoulder' and 'elbow'",),
        ),
        ('<parent link="base"/>', '<parent link="lower"/>', ("link 'upper' is part of a loop",)),
        (
            '<link name="base"/>',
            '<link name="base"/><link name="stray"/>',
            ("there must be one root link, got 'base' and 'stray'",),
        ),
        # limits
        ('lower="-2"', 'lower="3"', ("joint 'shoulder': limit: lower must be below upper, got 3.0 and 2.0",)),
        ('lower="-2" upper="2"', 'lower="1" upper="1"', ("lower must be below upper, got 1.0 and 1.0",)),
        ('velocity="3"', 'velocity="-3"', ("velocity must be at least 0, got -3.0",)),
        ('upper="2"', 'upper="inf"', ("joint 'shoulder', limit: upper must be a finite decimal number",)),
        # friction
        (
            'damping="0"',
            'damping="-0.3"',
            ("joint 'elbow', dynamics: damping must be at least 0, got '-0.3' (ignore_friction",),
        ),
        ('friction="0.0"', 'friction="-1e-9"', ("joint 'elbow', dynamics: friction must be at least 0, got '-1e-9'",)),
        (
            'damping="0"',
            'dampin="16"',
            ("dynamics: unknown attribute 'dampin'; did you mean 'damping'? (ignore_friction=True",),
        ),
        # joints that are not of one degree of freedom of their own
        (
            'type="prismatic"',
            'type="floating"',
            ("joint 'elbow'", "must be revolute, continuous, prismatic or fixed, got floating"),
        ),
        ('type="prismatic"', 'type="planar"', ("joint 'elbow'", "got planar")),
        ("<dynamics", '<mimic joint="elbow"/><dynamics', ("joint 'elbow': it mimics itself",)),
        ("<dynamics", '<mimic joint="wrist"/><dynamics', ("joint 'elbow'", "mimics 'wrist', which is not among")),
        ("<dynamics", '<mimic joint="shoulder" multiplier="two"/><dynamics', ("mimic: multiplier must be a finite",)),
    ],
)
def test_one_thing_wrong(old: str, new: str, expected: tuple[str, ...]) -> None:
    refused(replaced(old, new), *expected)


@pytest.mark.parametrize("limit", ["<limit/>", '<limit upper="2"/>', '<limit lower="0" upper="0"/>', ""])
def test_positions_without_limits_are_open(limit: str) -> None:
    """No torque depends on them; exporters write zeros for what they do not know."""
    robot = from_urdf(replaced('<limit lower="-2" upper="2" velocity="3" effort="40"/>', limit))
    assert (robot.joints[0].lower, robot.joints[0].upper) == (-np.inf, np.inf)


def test_numbers_that_overflow_later() -> None:
    refused(replaced('mass value="2"', 'mass value="1e308"').replace('xyz="0.1 0 0"', 'xyz="1e200 0 0"'), "'upper'")
    refused(replaced('ixx="0.02"', 'ixx="1e308"').replace('iyy="0.03"', 'iyy="1e308"'), "link 'upper'")


def test_moments_without_mass_are_a_body() -> None:
    assert from_urdf(replaced('<mass value="1"/>', '<mass value="0"/>')).links[-1].mass == 0.0


def test_moving_link_without_inertial() -> None:
    upper = TWO_LINKS[TWO_LINKS.index('<link name="upper">') : TWO_LINKS.index('<link name="lower">')]
    bare = TWO_LINKS.replace(upper, '<link name="upper"/>')
    refused(bare, "link 'upper'", "must have an <inertial> with mass", "joint 'shoulder' moves it", "allow_massless")
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
    light = bad.replace('ixx="0.01"', 'ixx="1e-9"').replace('iyy="0.012"', 'iyy="1e-9"').replace("0.03", "1e-5")
    from_urdf(text.replace(bad, light))  # no torque shows what is less than a thousandth of the whole
    # but what the base is made of is all the same
    from_urdf(extended(joint("bolt", "fixed", "base", "shell").replace(BODY, bad)))


def test_rounding_of_zero_is_a_point() -> None:
    noise = {"ixx": "-1.99e-22", "iyy": "3e-23", "izz": "4e-18", "ixy": "-2e-19"}
    upper = TWO_LINKS[TWO_LINKS.index("<inertia ixx") : TWO_LINKS.index("</inertial>")]
    moments = " ".join(f'{name}="{noise.get(name, 0)}"' for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    robot = from_urdf(TWO_LINKS.replace(upper, f"<inertia {moments}/>"))
    assert not np.array(robot.links[0].inertia).any()
    refused(TWO_LINKS.replace(upper, f"<inertia {moments}/>".replace("4e-18", "4e-9")), "triangle inequality")


def test_many_unknown_elements_are_compared_by_little(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []

    class Counting(difflib.SequenceMatcher):  # type: ignore[type-arg]
        def ratio(self) -> float:
            compared.append(self.a)
            return super().ratio()

    monkeypatch.setattr(urdf_xml, "SequenceMatcher", Counting)
    many = "".join(f"<plugin{k}/><sensor/><gazebo_extension_number_{k}/>" for k in range(5_000))
    assert from_urdf(extended(many)) == from_urdf(TWO_LINKS)
    assert len(compared) < 10
    refused(extended(many, "<joinnt/>"), "unknown element <joinnt>; did you mean <joint>?")


def test_joints_off_the_chain() -> None:
    text = extended(joint("flap", "revolute", "upper", "side", LIMIT))
    assert from_urdf(text).joint_names == ("shoulder", "elbow", "flap")
    refused(text, "joint 'flap'", "hangs from link 'upper' off the chain", "lock={'flap': position}", tip="lower")
    refused(text, "must be between -1 and 1, got 1.5", tip="lower", lock={"flap": 1.5})
    refused(text, "between -1 and 1, got nan", tip="lower", lock={"flap": float("nan")})
    refused(text, "between -1 and 1, got 'up'", tip="lower", lock={"flap": "up"})
    refused(text, "unknown moving joint 'flop'; did you mean 'flap'?", tip="lower", lock={"flop": 0.0})
    refused(text, 'lock must be "others" or positions', tip="lower", lock="all")
    refused(text, 'lock must be "others" or positions', tip="lower", lock=["flap"])
    refused(text, 'lock="others" needs tip', lock="others")
    shifted = text.replace('lower="-1" upper="1"', 'lower="0.5" upper="1"')
    refused(shifted, "between 0.5 and 1, got 0.0", tip="lower", lock="others")
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
        for options in ({}, {"tip": "lower"}, {"tip": "lower", "lock": "others"}):
            robot = from_urdf(extended(follower), **options)
            assert robot.joint_names == ("shoulder", "elbow")
            assert [(each.joint.name, each.leader) for each in robot.followers] == [("flap", "shoulder")]
    beside = joint("flap", "revolute", "base", "side", LIMIT + '<mimic joint="elbow"/>')
    refused(extended(beside), "joint 'flap': it mimics 'elbow' and so loads its drive", base="upper", gravity=(0, 0, 1))
    loose = joint("loose", "revolute", "base", "arm", LIMIT)
    beyond = joint("flap", "revolute", "arm", "side", LIMIT + '<mimic joint="elbow"/>')
    refused(extended(loose, beyond), "joint 'flap': it hangs from joint 'loose', which is not among", tip="lower")
    pair = extended(
        joint("left", "revolute", "lower", "one", LIMIT),
        joint("right", "revolute", "lower", "two", LIMIT + '<mimic joint="left"/>'),
    )
    refused(pair, "'right' mimics 'left', so it must be at 0.5, got 0.1", tip="lower", lock={"left": 0.5, "right": 0.1})


def test_base_and_tip() -> None:
    refused(TWO_LINKS, "tip: unknown link 'lowe'; did you mean 'lower'?", tip="lowe")
    refused(TWO_LINKS, "base: unknown link 'bass'; did you mean 'base'?", base="bass")
    refused(TWO_LINKS, "tip: unknown link 3; known: base, upper, lower", tip=3)
    refused(TWO_LINKS, "tip must hang from base 'lower', link 'upper' does not", base="lower", tip="upper")
    refused(TWO_LINKS, "no joint moves between base and tip", base="lower")
    refused(TWO_LINKS, "no joint moves between base and tip", base="upper", tip="upper")
    refused(TWO_LINKS, "gravity in the axes of base 'upper' is not known, as joint 'shoulder'", base="upper")
    refused(TWO_LINKS, "gravity must be 3 finite numbers, got (0, 1)", base="upper", gravity=(0, 1))
    assert from_urdf(TWO_LINKS, base="upper", gravity=(1, 2, 3)).gravity == (1.0, 2.0, 3.0)
    for snap in (-1e-9, 0.1, float("nan"), "x"):
        refused(TWO_LINKS, "snap must be between 0 and 0.001, got", snap=snap)


def test_what_is_no_urdf() -> None:
    refused("", "not well-formed XML")
    refused("name = 3", "not well-formed XML")
    refused(TWO_LINKS[:-12], "not well-formed XML")
    refused(TWO_LINKS.replace("</link>", "", 1), "not well-formed XML", "line")
    refused(b"\xff\xfe\x00", "not well-formed XML")
    refused(b'<?xml version="1.0" encoding="no-such"?><robot name="a"/>', "not well-formed XML")
    refused("<sdf version='1.7'/>", "the root element must be <robot>, got <sdf>")
    refused('<robot name="a" xmlns="http://ros.org"/>', "the root element must be <robot>")
    refused('<robot name="a"/>', "there must be one root link, got no links")
    refused('<robot name="a"><link name="b"/></robot>', "no joint moves between base and tip")
    refused('<robot name="a"><Link name="b"/></robot>', "unknown element <Link>; did you mean <link>?")
    refused('<robot name="a">' + "<b>" * 200_000, "nested at most")


def test_entities_are_never_expanded() -> None:
    refused(BOMB, "a document type (DOCTYPE, ENTITY) is not accepted")
    file = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]><robot name="&x;"/>'
    refused(file, "document type")


def test_xacro() -> None:
    header = '<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro">'
    refused(
        f'{header}<xacro:include filename="b"/></robot>', "this is xacro, not URDF; name the file .xacro, or run `xacro"
    )
    refused(
        f'{header}<link name="${{prefix}}b"/></robot>', "this is xacro, not URDF; name the file .xacro, or run `xacro"
    )
    refused('<robot name="a"><xacro:include filename="b"/></robot>', "if this is a xacro file")
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
    with pytest.raises(BddTorqueError, match="at most 10,000,000 bytes"):
        load_urdf(huge)


def test_who_locked_the_others_is_not_told_to_do_so() -> None:
    text = extended(joint("flap", "revolute", "upper", "side", LIMIT + '<mimic joint="ghost"/>'))
    refused(text, "lock={'flap': position} or lock=\"others\"", tip="lower")
    refused(text, "it mimics 'ghost', which lock=\"others\" does not hold; lock it:", tip="lower", lock="others")
    assert from_urdf(text, tip="lower", lock={"flap": 0.0}).joint_names == ("shoulder", "elbow")


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
    endless = from_urdf(replaced('lower="-2" upper="2"', 'lower="-1e+16" upper="1e+16"')).joints[0]
    assert (endless.lower, endless.upper) == (-np.inf, np.inf)
    slowing = from_urdf(replaced('effort="40"', 'effort="40" acceleration="7" deceleration="9" jerk="100"'))
    assert slowing.joints[0].acceleration == 9.0
    vendors = replaced('damping="0" friction="0.0"', 'D="1" K="7000" mu_viscous="16" damping="0.003"')
    assert from_urdf(vendors).joints == from_urdf(replaced('damping="0"', 'damping="0.003"')).joints
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

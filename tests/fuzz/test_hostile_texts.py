"""TOML and XML that are hostile by design: robots, specifications, URDF, with the refusal that each must get."""

from pathlib import Path

import pytest
from fuzz_seeds import STATES, URDF
from fuzz_targets import BY_NAME
from hostile_files import BIDI, ROBOT, SPEC, file, refused

from bddtorque.robots import load_robot
from bddtorque.robots.toml_reader import from_toml
from bddtorque.robots.urdf_reader import from_urdf


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a." * 400_000 + "a = 1", "line 1: a key must have at most 100 parts, this one has more"),
        ('"a" . ' * 1000 + "'b' = 1", "a key must have at most 100 parts"),
        ("[" + "a." * 1000 + "a]", "a key must have at most 100 parts"),
        ("x = {" + "a." * 1000 + "a = 1}", "tables and lists must be nested at most 50 deep, got deeper ones"),
        ("x = " + "[" * 60 + "]" * 60, "tables and lists must be nested at most 50 deep, got deeper ones"),
        ("x = " + "[" * 100_000, "not valid TOML"),
        ("x = " + "{a=" * 100_000, "not valid TOML"),
        ("x = 0x" + "f" * 500_000, "integers must have at most 10,000 bits, one has 2,000,000"),
        ("x = 0b" + "1" * 10_001, "integers must have at most 10,000 bits, one has 10,001"),
        ("x = " + "9" * 5000, "not valid TOML: Exceeds the limit"),
        ("x = 1979-05-27", ""),
        ("x = '\0'", "not valid TOML"),
        ("x = '\x1b[31m'", "not valid TOML"),
        ("# a lone \r return", "not valid TOML"),
        ("\u202ex = 1", "not valid TOML"),
        ("x = 1\nx = 2", "not valid TOML: Cannot overwrite"),
        (b"x = '\xff'", "not UTF-8 text: byte 5"),
        (b"\xff\xfex\0=\0001\0", "not UTF-8 text: byte 0"),
        ("'" + "k" * 500_000 + "' = 1", ""),
        ("".join(f"k{k} = 1\n" for k in range(60_000)), ""),
    ],
    ids=lambda value: repr(value[:20]),
)
@pytest.mark.parametrize("kind", ["robot_toml", "spec_toml"])
def test_toml(kind: str, text: str | bytes, said: str, tmp_path: Path) -> None:
    assert said in refused(kind, file(tmp_path, kind, text))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"one"', '"a\\nb"', "name must be printable text without spaces at its ends, got 'a\\nb'"),
        ('"one"', f'"{BIDI}"', "name must be printable text"),
        ('"one"', '"' + "x" * 201 + '"', "name must have at most 200 characters, got 201"),
        ('"one"', "0x" + "f" * 2000, "name must be printable text"),
        ("mass = 1", "mass = 1e400", "mass must be a finite number, got inf"),
        ("mass = 1", "mass = 0x" + "f" * 2000, "mass must be a finite number, got"),
        ("mass = 1", "mass = nan", "mass must be a finite number, got nan"),
        ("[1, 1, 1]", "[1e308, 1e308, 1e308]", "inertia must be 3 rows of 3 finite numbers, got [[inf, 0.0, 0.0]"),
        ("[1, 1, 1]", "[" + "1, " * 100_000 + "]", "3 rows of 3, got a list of 100000"),
        ('"revolute"', '"revolute"\nfriction = { samples = "a\\u0000b" }', "friction: "),
        (
            '"revolute"',
            '"revolute"\nfriction = { samples = "/dev/zero" }',
            "a row must have at most 1,000,000 characters",
        ),
    ],
    ids=lambda value: repr(value[:30]),
)
def test_robots(old: str, new: str, said: str, tmp_path: Path) -> None:
    assert old in ROBOT
    assert said in refused("robot_toml", file(tmp_path, "robot_toml", ROBOT.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("old", "new"),
    [("mass = 1", "mass = 1e308"), ('"revolute"', '"revolute"\naxis = [5e-324, 0, 1e308]')],
    ids=["mass", "axis"],
)
def test_robots_of_large_numbers_are_read_as_they_are(old: str, new: str, tmp_path: Path) -> None:
    path = file(tmp_path, "robot_toml", ROBOT.replace(old, new, 1))
    BY_NAME["robot_toml"].check(path)
    robot = load_robot(path)
    mass = 1e308 if "mass" in new else 1.0
    assert robot.links[0].mass == mass
    assert robot.joints[0].rotation == load_robot(file(tmp_path, "robot_toml", ROBOT)).joints[0].rotation


def test_a_robot_may_have_a_mark_before_it_and_lines_as_windows_ends_them() -> None:
    plain = from_toml(ROBOT)
    assert from_toml(ROBOT.replace("\n", "\r\n")) == plain
    assert from_urdf("\ufeff" + URDF) == from_urdf(URDF) == from_urdf(URDF.replace("\n", "\r\n"))


@pytest.mark.parametrize("kind", ["robot_toml", "spec_toml", "states_csv", "samples_csv"])
def test_a_mark_before_the_text_is_no_part_of_it(kind: str, tmp_path: Path) -> None:
    text = {
        "robot_toml": ROBOT,
        "spec_toml": SPEC + "[ranges]\nvelocity = 1\nacceleration = 1\ntorque = 200\n",
        "states_csv": STATES + "\n1,2,3,4,5,6\n",
        "samples_csv": "x,y\n1,2\n3,4\n",
    }[kind]
    for changed in (text, "\ufeff" + text, "\ufeff" + text.replace("\n", "\r\n")):
        BY_NAME[kind].check(file(tmp_path, kind, changed))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bits = 0x" + "f" * 2000, "bits must be between 2 and 24, got "),
        ("memory = 0x" + "f" * 2000, "memory"),
        ("gravity = [0, 0, 0x" + "f" * 2000 + "]", "gravity must be x, y and z in m/s²"),
        ("payload = 0x" + "f" * 2000, "payload"),
        ("memory = '" + "9" * 400_000 + " GiB'", "memory"),
        ("accuracy = 1e-400", "accuracy must be above 0.5 units"),
        ("snap = -nan", "snap must be a finite number, got nan"),
        ("tip = 'a\\nb'", ""),
        ("[[joint]]\nname = 'a\\nb'", "unknown joint 'a"),
        ('[[joint]]\nname = "a\\nb\\u202e"\ntorque = -1', "joint 1 'a\\nb\\u202e', torque must be a positive number"),
        ("[[joint]]\nname = '" + "x" * 400_000 + "'", "unknown joint 'xxx"),
        ("lock = { " + ", ".join(f"j{k} = 1" for k in range(20_000)) + " }", ""),
        (
            "bits = [" + "4, " * 100_000 + "]",
            "bits must be one number, or one per joint (2 in robot 'planar2r'), got 100000",
        ),
    ],
    ids=lambda value: repr(value[:30]),
)
def test_specifications(text: str, said: str, tmp_path: Path) -> None:
    assert said in refused("spec_toml", file(tmp_path, "spec_toml", SPEC + text))


def test_a_specification_without_a_robot_does_not_list_all_it_has(tmp_path: Path) -> None:
    path = file(tmp_path, "spec_toml", "".join(f"k{k} = 1\n" for k in range(10_000)))
    assert "unknown key 'k0'; known: robot, base" in refused("spec_toml", path)


LAUGHS = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 10))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f'<!DOCTYPE r [<!ENTITY l0 "ha">{LAUGHS}]><robot name="&l9;"/>',
            "a document type (DOCTYPE, ENTITY) is not accepted",
        ),
        (
            f'<!DOCTYPE r [<!ENTITY a "{"x" * 100_000}">]><robot name="{"&a;" * 1000}"/>',
            "a document type (DOCTYPE, ENTITY) is not accepted",
        ),
        (
            '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"/>',
            "a document type (DOCTYPE, ENTITY) is not accepted",
        ),
        (
            '<!DOCTYPE r SYSTEM "http://127.0.0.1:9/x.dtd"><robot name="a"/>',
            "a document type (DOCTYPE, ENTITY) is not accepted",
        ),
        (
            '<!DOCTYPE r [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]><robot name="a"/>',
            "a document type (DOCTYPE, ENTITY) is not accepted",
        ),
        (
            f'<!DOCTYPE r [<!ATTLIST robot name CDATA "{"x" * 9}">]><robot/>',
            "a document type (DOCTYPE, ENTITY) is not accepted",
        ),
        ('<robot name="&undeclared;"/>', "not well-formed XML: undefined entity"),
        ('<robot name="a">' + "<b>" * 200_000, "nested at most 100 deep"),
        (
            '<robot name="a">' + "<link name='x'/>" * 3 + "</robot>",
            "link 'x' occurs twice",
        ),
        (
            '<robot name="a">' + "".join(f"<link name='l{k}'/>" for k in range(200_000)) + "</robot>",
            "there must be at most 2,000 links and joints, got more",
        ),
        (
            f'<robot name="{"x" * 5_000_000}"/>',
            "robot name must have at most 200 characters, got 5,000,000",
        ),
        (
            f'<robot name="a"><{"joint" * 1_000_000}/></robot>',
            "names of elements and attributes must have at most 1,000 characters, one has 5,000,000",
        ),
        (f'<robot name="a"><{"joint" * 200}/></robot>', "there must be one root link, got no links"),
        (f'<robot name="a"><link name="b"/><joint {"x" * 1000}="1"/></robot>', "joint name must be printable text"),
        (f"<{'x' * 100_000}:y/>", "not well-formed XML: unbound prefix"),
        ('<robot name="a&#x202e;b"/>', "robot name must be printable text"),
        ('<robot name="a&#10;b"/>', "robot name must be printable text"),
        ('<robot name="a&#0;b"/>', "not well-formed XML"),
        ('<robot name="a\0b"/>', "not well-formed XML"),
        ('<?xml version="1.0" encoding="rot13"?><robot name="a"/>', "not well-formed XML"),
        ('<?xml version="1.0" encoding="zlib"?><robot name="a"/>', "not well-formed XML"),
        ('<?xml version="1.0" encoding="utf-7"?><robot name="+AG"/>', "not well-formed XML"),
        (b"\xff\xfe<\0", "not well-formed XML"),
        (b'<robot name="\xff"/>', "not well-formed XML"),
    ],
    ids=lambda value: repr(value[:30]),
)
def test_xml(text: str | bytes, said: str, tmp_path: Path) -> None:
    assert said in refused("urdf", file(tmp_path, "urdf", text))


def test_an_entity_bomb_in_another_encoding(tmp_path: Path) -> None:
    text = f'<?xml version="1.0" encoding="utf-16"?><!DOCTYPE r [<!ENTITY l0 "ha">{LAUGHS}]><robot name="&l9;"/>'
    assert "a document type (DOCTYPE, ENTITY) is not accepted" in refused(
        "urdf", file(tmp_path, "urdf", text.encode("utf-16"))
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('value="2"', 'value="1e999"', "mass: value must be a finite decimal number, got '1e999'"),
        ('value="2"', 'value="0x2"', "mass: value must be a finite decimal number"),
        ('value="2"', 'value="1_0"', "mass: value must be a finite decimal number"),
        ('value="2"', 'value="٣"', "mass: value must be a finite decimal number"),
        ('value="2"', f'value="{"9" * 100_000}"', "mass: value must be a finite decimal number"),
        ('value="2"', 'value="2" vaIue="3"', "unknown attribute 'vaIue'; did you mean 'value'?"),
        ('<child link="upper"/>', '<child link="no"/>', "unknown link 'no'"),
        ('<child link="finger"/>', '<child link="base"/>', "links must form a tree, link 'base' is part of a loop"),
        ('<parent link="base"/>', '<parent link="finger"/>', "link 'upper' is part of a loop"),
        *(
            (old, f'{"d" * 60_000}="1" {old}', "names of elements and attributes must have at most 1,000 characters")
            for old in ('damping="0.1"', 'velocity="3"', 'lower="-2"', 'type="revolute"', 'name="upper"')
        ),
    ],
    ids=lambda value: repr(value[:30]),
)
def test_urdf(old: str, new: str, said: str, tmp_path: Path) -> None:
    assert old in URDF
    assert said in refused("urdf", file(tmp_path, "urdf", URDF.replace(old, new, 1)))


def test_a_long_chain_takes_time_in_proportion(tmp_path: Path) -> None:
    """As long as there can be one: as many fixed links as are allowed, one after the other."""
    links = "".join(f'<link name="l{k}"/>' for k in range(999))
    joints = "".join(
        f'<joint name="j{k}" type="fixed"><parent link="l{k}"/><child link="l{k + 1}"/></joint>' for k in range(998)
    )
    path = file(tmp_path, "urdf", f'<robot name="a">{links}{joints}</robot>')
    assert "no joint moves between base and tip" in refused("urdf", path)

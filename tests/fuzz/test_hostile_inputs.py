"""Files that are hostile by design, one after the other with the refusal that each must get."""

import io
import os
import resource
import socket
import stat
import subprocess
import sys
import textwrap
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from bdt_files import saved, taken_apart
from fuzz_seeds import STATES, URDF
from fuzz_targets import BY_NAME

from bddtorque.artefact import from_bytes
from bddtorque.errors import BddTorqueError
from bddtorque.robots.toml_reader import from_toml
from bddtorque.robots.urdf_reader import from_urdf

KINDS = ("bdt_bytes", "robot_toml", "spec_toml", "urdf", "plan_bytes", "states_csv", "states_npy", "samples_csv")
ROBOT = """name = "one"
[[joint]]
type = "revolute"
link = { mass = 1, centre_of_mass = [0, 0, 0], inertia = [1, 1, 1] }
"""
SPEC = 'robot = "planar2r"\n'
BIDI = "abc\u202edef"


def refused(kind: str, path: Path, seconds: float = 10.0) -> str:
    """Read a file that must be refused, before long, and return the line."""
    began = time.process_time()
    with pytest.raises(BddTorqueError) as caught:
        BY_NAME[kind].check(path)
    assert time.process_time() - began < seconds
    line = str(caught.value)
    assert line.isprintable() and 0 < len(line) <= 1005
    return line


def file(folder: Path, kind: str, content: bytes | str) -> Path:
    path = folder / f"input{BY_NAME[kind].suffix}"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_pipes_are_not_waited_for(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"pipe{BY_NAME[kind].suffix}"
    os.mkfifo(path)
    assert "this is a pipe and no file" in refused(kind, path)


@pytest.mark.parametrize("kind", KINDS)
def test_sockets_folders_and_links_in_a_circle(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suffix = BY_NAME[kind].suffix
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(tmp_path)  # their names are short
        listener.bind(f"socket{suffix}")
        assert "required, " in refused(kind, tmp_path / f"socket{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    assert "older" in refused(kind, tmp_path / f"folder{suffix}")
    circle = tmp_path / f"circle{suffix}"
    circle.symlink_to(circle)
    assert "Too many levels of symbolic links" in refused(kind, circle)
    dangling = tmp_path / f"dangling{suffix}"
    dangling.symlink_to(tmp_path / "nothing")
    assert "there is no such file" in refused(kind, dangling)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero", "/dev/full", "/dev/urandom"])
def test_devices(kind: str, device: str, tmp_path: Path) -> None:
    """Endless or empty: read no further than there can be sense in."""
    if not Path(device).exists():
        pytest.skip("there is no such device here")
    link = tmp_path / f"device{BY_NAME[kind].suffix}"
    link.symlink_to(device)
    refused(kind, link)


@pytest.mark.parametrize("kind", KINDS)
def test_names_that_no_file_can_have(kind: str, tmp_path: Path) -> None:
    suffix = BY_NAME[kind].suffix
    refused(kind, tmp_path / f"a\0b{suffix}")
    assert "File name too long" in refused(kind, tmp_path / f"{'x' * 5000}{suffix}")
    assert "\\n" in refused(kind, tmp_path / f"line\nbreak{suffix}") or kind in ("robot_toml", "urdf")  # there a space


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("bdt_bytes", "at most 2,147,483,647 bytes required, more given"),
        ("robot_toml", "at most 1,000,000 bytes required for a robot file, more given"),
        ("spec_toml", "at most 1,000,000 bytes required for a specification, more given"),
        ("urdf", "at most 10,000,000 bytes required for a robot file, more given"),
        ("plan_bytes", "a plan of at most 67,108,864 bytes required, more given"),
        ("states_csv", "line 1: a row of at most 1,000,000 characters required, a longer one given"),
        ("samples_csv", "line 1: a row of at most 1,000,000 characters required, a longer one given"),
        ("states_npy", "an npy file of numbers required, this cannot be read"),
    ],
)
def test_sparse_files_that_are_huge(kind: str, said: str, tmp_path: Path) -> None:
    """A terabyte that takes no disk, in a process that may have half a gigabyte more."""
    path = file(tmp_path, kind, b"PK\3\4" if kind == "bdt_bytes" else b"")
    try:
        os.truncate(path, 2**40)
    except OSError:
        os.truncate(path, 2**32)
    assert said in limited(kind, path, 2**29)


def limited(kind: str, path: Path, memory: int) -> str:
    """Return what a process says that reads a file with so much address space beyond what it has."""
    code = f"""
        import sys
        sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parent.parent)]}
        from pathlib import Path
        from fuzz_targets import BY_NAME
        from fuzz_worker import limit_memory
        from bddtorque.errors import BddTorqueError
        limit_memory({memory})
        try:
            BY_NAME[sys.argv[1]].check(Path(sys.argv[2]))
        except BddTorqueError as problem:
            print(problem)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), kind, str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a." * 400_000 + "a = 1", "keys of at most 100 parts required, more given (at line 1)"),
        ('"a" . ' * 1000 + "'b' = 1", "keys of at most 100 parts required"),
        ("[" + "a." * 1000 + "a]", "keys of at most 100 parts required"),
        ("x = {" + "a." * 1000 + "a = 1}", "tables and lists at most 50 deep required, deeper ones given"),
        ("x = " + "[" * 60 + "]" * 60, "tables and lists at most 50 deep required, deeper ones given"),
        ("x = " + "[" * 100_000, "valid TOML required"),
        ("x = " + "{a=" * 100_000, "valid TOML required"),
        ("x = 0x" + "f" * 500_000, "whole numbers of at most 10,000 bits required, one of 2,000,000 given"),
        ("x = 0b" + "1" * 10_001, "whole numbers of at most 10,000 bits required, one of 10,001 given"),
        ("x = " + "9" * 5000, "valid TOML required, Exceeds the limit"),
        ("x = 1979-05-27", ""),
        ("x = '\0'", "valid TOML required"),
        ("x = '\x1b[31m'", "valid TOML required"),
        ("# a lone \r return", "valid TOML required"),
        ("\u202ex = 1", "valid TOML required"),
        ("x = 1\nx = 2", "valid TOML required, Cannot overwrite"),
        (b"x = '\xff'", "UTF-8 text required, byte 5 is not"),
        (b"\xff\xfex\0=\0001\0", "UTF-8 text required, byte 0 is not"),
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
        ('"one"', '"a\\nb"', "name: a printable name required, 'a\\nb' given"),
        ('"one"', f'"{BIDI}"', "name: a printable name required"),
        ('"one"', '"' + "x" * 201 + '"', "name: a name of at most 200 characters required, 201 given"),
        ('"one"', "0x" + "f" * 2000, "name: a printable name required"),
        ("mass = 1", "mass = 1e400", "mass: a finite number required, inf given"),
        ("mass = 1", "mass = 0x" + "f" * 2000, "mass: a finite number required, inf given"),
        ("mass = 1", "mass = nan", "mass: a finite number required, nan given"),
        ("mass = 1", "mass = 1e308", ""),
        ("[1, 1, 1]", "[1e308, 1e308, 1e308]", ""),
        ("[1, 1, 1]", "[" + "1, " * 100_000 + "]", "3 rows of 3 required, a list of 100000 given"),
        ('"revolute"', '"revolute"\nfriction = { samples = "a\\u0000b" }', "friction: "),
        ('"revolute"', '"revolute"\nfriction = { samples = "/dev/zero" }', "a row of at most 1,000,000 characters"),
        ('"revolute"', '"revolute"\naxis = [5e-324, 0, 1e308]', ""),
    ],
    ids=lambda value: repr(value[:30]),
)
def test_robots(old: str, new: str, said: str, tmp_path: Path) -> None:
    path = file(tmp_path, "robot_toml", ROBOT.replace(old, new, 1))
    if said:
        assert said in refused("robot_toml", path)
    else:  # large, but a robot, or refused for what it cannot be
        try:
            BY_NAME["robot_toml"].check(path)
        except BddTorqueError as problem:
            assert str(problem).isprintable()


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
        ("bits = 0x" + "f" * 2000, "bits: a whole number from 2 to 24"),
        ("memory = 0x" + "f" * 2000, "memory"),
        ("gravity = [0, 0, 0x" + "f" * 2000 + "]", "gravity: x, y and z in m/s²"),
        ("payload = 0x" + "f" * 2000, "payload"),
        ("memory = '" + "9" * 400_000 + " GiB'", "memory"),
        ("accuracy = 1e-400", "accuracy: more than 0.5 units required"),
        ("snap = -nan", "snap: from 0 to 0.001 required"),
        ("tip = 'a\\nb'", ""),
        ("[[joint]]\nname = 'a\\nb'", "name"),
        ('[[joint]]\nname = "a\\nb\\u202e"\ntorque = -1', "joint 1 'a\\nb\\u202e', torque: a positive number"),
        ("[[joint]]\nname = '" + "x" * 400_000 + "'", "joint names of robot 'planar2r'"),
        ("lock = { " + ", ".join(f"j{k} = 1" for k in range(20_000)) + " }", ""),
        ("bits = [" + "4, " * 100_000 + "]", "bits: one number, or one a joint (2 in robot 'planar2r')"),
    ],
    ids=lambda value: repr(value[:30]),
)
def test_specifications(text: str, said: str, tmp_path: Path) -> None:
    assert said in refused("spec_toml", file(tmp_path, "spec_toml", SPEC + text))


def test_a_specification_without_a_robot_does_not_list_all_it_has(tmp_path: Path) -> None:
    path = file(tmp_path, "spec_toml", "".join(f"k{k} = 1\n" for k in range(10_000)))
    assert "keys" in refused("spec_toml", path)


LAUGHS = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 10))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f'<!DOCTYPE r [<!ENTITY l0 "ha">{LAUGHS}]><robot name="&l9;"/>', "without a document type"),
        (f'<!DOCTYPE r [<!ENTITY a "{"x" * 100_000}">]><robot name="{"&a;" * 1000}"/>', "without a document type"),
        ('<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"/>', "without a document type"),
        ('<!DOCTYPE r SYSTEM "http://127.0.0.1:9/x.dtd"><robot name="a"/>', "without a document type"),
        ('<!DOCTYPE r [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]><robot name="a"/>', "without a document type"),
        (f'<!DOCTYPE r [<!ATTLIST robot name CDATA "{"x" * 9}">]><robot/>', "without a document type"),
        ('<robot name="&undeclared;"/>', "well-formed XML required, undefined entity"),
        ('<robot name="a">' + "<b>" * 200_000, "nested at most 100 deep required"),
        (
            '<robot name="a">' + "<link name='x'/>" * 3 + "</robot>",
            "names that differ required, link 'x' is given twice",
        ),
        (
            '<robot name="a">' + "".join(f"<link name='l{k}'/>" for k in range(200_000)) + "</robot>",
            "at most 2,000 links and joints required, more given",
        ),
        (
            f'<robot name="{"x" * 5_000_000}"/>',
            "robot name: a name of at most 200 characters required, 5,000,000 given",
        ),
        (
            f'<robot name="a"><{"joint" * 1_000_000}/></robot>',
            "names of elements and attributes of at most 1,000 characters required, 5,000,000 given",
        ),
        (f'<robot name="a"><{"joint" * 200}/></robot>', "one root link required, no links given"),
        (f'<robot name="a"><link name="b"/><joint {"x" * 1000}="1"/></robot>', "joint name: a printable name required"),
        (f"<{'x' * 100_000}:y/>", "well-formed XML required, unbound prefix"),
        ('<robot name="a&#x202e;b"/>', "robot name: a printable name required"),
        ('<robot name="a&#10;b"/>', "robot name: a printable name required"),
        ('<robot name="a&#0;b"/>', "well-formed XML required"),
        ('<robot name="a\0b"/>', "well-formed XML required"),
        ('<?xml version="1.0" encoding="rot13"?><robot name="a"/>', "well-formed XML required"),
        ('<?xml version="1.0" encoding="zlib"?><robot name="a"/>', "well-formed XML required"),
        ('<?xml version="1.0" encoding="utf-7"?><robot name="+AG"/>', "well-formed XML required"),
        (b"\xff\xfe<\0", "well-formed XML required"),
        (b'<robot name="\xff"/>', "well-formed XML required"),
    ],
    ids=lambda value: repr(value[:30]),
)
def test_xml(text: str | bytes, said: str, tmp_path: Path) -> None:
    assert said in refused("urdf", file(tmp_path, "urdf", text))


def test_an_entity_bomb_in_another_encoding(tmp_path: Path) -> None:
    text = f'<?xml version="1.0" encoding="utf-16"?><!DOCTYPE r [<!ENTITY l0 "ha">{LAUGHS}]><robot name="&l9;"/>'
    assert "without a document type" in refused("urdf", file(tmp_path, "urdf", text.encode("utf-16")))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('value="2"', 'value="1e999"', "mass: value: a finite decimal number required, '1e999' given"),
        ('value="2"', 'value="0x2"', "mass: value: a finite decimal number required"),
        ('value="2"', 'value="1_0"', "mass: value: a finite decimal number required"),
        ('value="2"', 'value="٣"', "mass: value: a finite decimal number required"),
        ('value="2"', f'value="{"9" * 100_000}"', "mass: value: a finite decimal number required"),
        ('value="2"', 'value="2" vaIue="3"', "unknown attribute 'vaIue' (did you mean 'value'?)"),
        ('<child link="upper"/>', '<child link="no"/>', "a link of this file required, 'no' given"),
        ('<child link="finger"/>', '<child link="base"/>', "a tree required, link 'base' is part of a loop"),
        ('<parent link="base"/>', '<parent link="finger"/>', "required"),
        *(
            (old, f'{"d" * 60_000}="1" {old}', "names of elements and attributes of at most 1,000 characters required")
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
    assert "at least one moving joint" in refused("urdf", path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (STATES + "\n" + "1," * 600_000, "line 2: a row of at most 1,000,000 characters required, a longer one given"),
        (STATES + "\n" + '"\n",' * 600_000, "a row of at most 1,000,000 characters required, a longer one given"),
        (STATES + '\n"' + "1" * 200_000 + '"', "line 2: CSV required, field larger than field limit (131072)"),
        (STATES + '\n"1', "CSV required, unexpected end of data"),
        (STATES + "\n1,2,3,4,5,6\0", "line 2, column qdd:elbow: a finite number required, '6\\x00' given"),
        (STATES + "\n1,2,3,4,5,1e999", "column qdd:elbow: a finite number required, '1e999' given"),
        (STATES + "\n1,2,3,4,5,٣", "a finite number required, '٣' given"),
        (STATES + "\n1,2,3,4,5,\x1f6", "a finite number required, '\\x1f6' given"),
        (STATES + "\n1,2,3,4,5,\u20036", "a finite number required, '\\u20036' given"),
        (STATES + "\n1,2,3,4,5,1_0", "a finite number required, '1_0' given"),
        (STATES + "\n1,2,3,4,5,1" + "0" * 400, "a finite number required"),
        (f"{BIDI}\n", "'abc\\u202edef' given"),
        (f"{STATES},{'x' * 100_000}\n", "line 1: columns q:shoulder"),
        (f"{STATES},{STATES}\n", "stands twice"),
        ("\r\r\r" + STATES, "line 1: "),
        (b"\xff\xfeq", "a readable CSV file in UTF-8 required"),
        (STATES.encode() + b"\n1,2,3,4,5,\xff", "a readable CSV file in UTF-8 required"),
        (STATES.encode("utf-16"), "a readable CSV file in UTF-8 required"),
    ],
    ids=lambda value: repr(value[-20:]),
)
def test_states(text: str | bytes, said: str, tmp_path: Path) -> None:
    assert said in refused("states_csv", file(tmp_path, "states_csv", text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            ",".join(f"c{k}" for k in range(120_000)) + "\n",
            "1 to 4 inputs and a value as columns required, 120000 given",
        ),
        ("x," * 300_000 + "x\n", "line 1: each column once required, 'x' stands twice"),
        ("x,y\n" + '"1\n"' * 400_000, "required"),
        ("x,y\n1,2\n3,1e309", "line 3, column y: a finite number required, '1e309' given"),
        (f"x,{BIDI}\n1,2\n", "a header with names required, 'abc\\u202edef' given"),
        ("x,y\n1,\x1f2\n", "line 2, column y: a finite number required"),
        ("x,y\n1,\x002\n", "line 2, column y: a finite number required"),
        ("x,y\n" + "\n" * 900_000, "samples below the header required, there are none"),
        ("x,y\n1e308,1e308\n-1e308,-1e308\n", "a finite range required"),
        (b"x,y\n1,2\n\xff,3\n", "a readable CSV file in UTF-8 required"),
    ],
    ids=lambda value: repr(value[:20]),
)
def test_samples(text: str | bytes, said: str, tmp_path: Path) -> None:
    assert said in refused("samples_csv", file(tmp_path, "samples_csv", text))


@pytest.mark.parametrize(
    "header",
    [
        "(" * 9000,
        "-" * 9000 + "1",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 6)",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3L, 6L), '''",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 6), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 6), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1" + "0" * 5000 + ", 6), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (3, 6), }",
        "{'descr': [('a', '<f8', (1000000, 1000000))], 'fortran_order': False, 'shape': (3, 6), }",
        "{'descr': __import__('os').system('true'), 'fortran_order': False, 'shape': (3, 6), }",
        "{" + "1:" * 4000,
        "x" * 20_000,
        "\0" * 100,
        "\xff" * 100,
    ],
    ids=lambda value: repr(value[:25]),
)
def test_headers_of_npy_files(header: str, tmp_path: Path) -> None:
    data = b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header.encode("latin-1") + bytes(144)
    assert "required" in refused("states_npy", file(tmp_path, "states_npy", data))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 1_000_000, "this is no JSON"),
        ('{"a":' * 100_000, "this is no JSON"),
        ('{"format": "bddtorque plan", "version": 1' + "0" * 5000 + ', "plan": {}}', "this is no JSON"),
        ('{"format": "bddtorque plan", "version": NaN, "plan": {}}', "version 1 required, version nan given"),
        ('{"format": "bddtorque plan", "version": "\\n\\u202e", "plan": {}}', "a plan of version 1 required"),
        ('{"format": "bddtorque plan", "version": 1, "plan": []}', "an object with source"),
        (b"\xff\xfe[", "this is no JSON"),
        (b'{"format": "\xff"}', "this is no JSON"),
    ],
    ids=lambda value: repr(value[:20]),
)
def test_plans(text: str | bytes, said: str, tmp_path: Path) -> None:
    assert said in refused("plan_bytes", file(tmp_path, "plan_bytes", text))


def test_links_in_an_archive_are_no_links() -> None:
    """Entries that say that they are symbolic links, in a zip that is else the very file: nothing is followed."""
    header, arrays = taken_apart(saved("planar2r", bits=3))
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved("planar2r", bits=3))) as good, zipfile.ZipFile(buffer, "w") as linked:
        for name in ["header.json", *arrays]:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o644) << 16
            linked.writestr(entry, good.read(name))
    with pytest.raises(BddTorqueError, match="a file as bddtorque writes it required, this one was altered"):
        from_bytes(buffer.getvalue(), "arm.bdt")
    assert header["format"] == "bddtorque model"


def test_limits_hold_in_this_process_too() -> None:
    """What the tests above measure is worth something only where memory is not limited anyway."""
    assert resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY
    assert np.dtype("<i4").itemsize == 4

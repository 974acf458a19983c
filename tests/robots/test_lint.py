"""`bddtorque lint`: what is wrong is found and named, what is right is left alone."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_robots import LIMIT, TWO_LINKS, example_urdf, extended, joint
from typer.testing import CliRunner

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.cli import main
from bddtorque.cli.app import app
from bddtorque.dynamics.inertia_fix import with_physical_inertias
from bddtorque.dynamics.robot_lint import LintFinding, lint, nearest_physical
from bddtorque.robots.parts import Link

UPPER = TWO_LINKS[TWO_LINKS.index('<link name="upper">') : TWO_LINKS.index('<link name="lower">')]


def findings(text: str, folder: Path) -> list[LintFinding]:
    path = folder / "arm.urdf"
    path.write_text(text)
    return lint(path)


@pytest.mark.parametrize("name", ["planar2r", "ur5", "scara", "panda"])
def test_good_robots(name: str) -> None:
    assert not [found for found in lint(name) if found.kind not in ("limits", "dust")]


def test_the_sample_is_clean(tmp_path: Path) -> None:
    assert findings(TWO_LINKS, tmp_path) == []


@pytest.mark.parametrize(
    ("old", "new", "kind", "said"),
    [
        ('izz="0.04"', 'izz="0.4"', "inertia", "link 'upper': inertia must satisfy the triangle inequality"),
        ('ixx="0.02"', 'ixx="-0.02"', "inertia", "link 'upper': inertia must be positive"),
        ('iyy="0.03"', 'iyy="3e4"', "units", "kg·m² means mass 117 m from its centre: kg·mm²?"),
        ('mass value="2"', 'mass value="2000"', "units", "link 'upper': mass of 2000 kg looks like grams"),
        ('xyz="0.3 0 0"', 'xyz="300 0 0"', "units", "joint 'elbow': origin 300 m away looks like mm"),
        ('lower="-2" upper="2"', 'lower="-180" upper="180"', "limits", "180 rad looks like degrees"),
        ('velocity="3"', 'velocity="1000"', "limits", "velocity limit of 1000 rad/s looks like a placeholder"),
        (' velocity="3"', "", "limits", "joint 'shoulder': no velocity limit is known"),
        ('lower="-2" upper="2"', 'lower="0" upper="0"', "limits", "joint 'shoulder': no position limits are known"),
        ('effort="40"', 'effort="100000"', "limits", "joint 'shoulder': effort limit of 100000 N·m is"),
        ('ixy="0.001"', 'ixy="1e-12"', "dust", "link 'lower': ixy is rounding of zero"),
        ('rpy="0 0 0"', 'rpy="1.5708 0 0"', "dust", "joint 'shoulder': its axes miss a quarter turn by 4e-06 rad"),
        ('damping="0"', 'K="16"', "ignored", "joint 'elbow': dynamics: K=16: not damping or friction"),
        ('damping="0"', 'damping="-1"', "refused", "joint 'elbow': dynamics: damping must be at least 0, got '-1'"),
        ('lower="0" upper="0.5"', 'lower="0" upper="500"', "limits", "position limit of 500 m looks like mm"),
        ('mass value="1"', 'mass value="40"', "units", "mass of 40 kg at the end of an arm of 2 kg looks like grams"),
        (UPPER, '<link name="upper"/>', "massless", "link 'upper': joint 'shoulder' moves it, and it has no mass"),
    ],
)
def test_one_thing_wrong(old: str, new: str, kind: str, said: str, tmp_path: Path) -> None:
    assert old in TWO_LINKS
    found = findings(TWO_LINKS.replace(old, new, 1), tmp_path)
    assert any(each.kind == kind and said in str(each) for each in found), [str(each) for each in found]


def test_everything_that_is_wrong_is_listed(tmp_path: Path) -> None:
    text = TWO_LINKS.replace('mass value="2"', 'mass value="heavy"').replace('ixx="0.01" ', "")
    text = text.replace("<axis xyz", "<axes xyz").replace('type="prismatic"', 'type="prismatik"')
    text = text.replace("</robot>", joint("screw", "fixed", "nowhere", "tool").replace('xyz="0 0.1 0.2"', 'xyz="0 1"'))
    found = [str(each) for each in findings(text + "</robot>", tmp_path)]
    for said in (
        "link 'upper', inertial, mass: value must be a finite decimal number, got 'heavy'",
        "link 'lower', inertial, inertia: attribute 'ixx' is missing",
        "joint 'shoulder': unknown element <axes>; did you mean <axis>?",
        "joint 'elbow': unknown element <axes>; did you mean <axis>?",
        "joint 'elbow': type must be 'revolute', ",
        "joint 'screw', origin: xyz must be 3 finite decimal numbers, got '0 1'",
    ):
        assert any(each.startswith(said) for each in found), (said, found)
    assert len(found) == 6
    lost = [joint(f"j{k}", "fixed", f"ghost{k}", f"l{k}") for k in (1, 2)]
    told = [str(each) for each in findings(extended(*lost), tmp_path)]
    assert {f"joint 'j{k}': unknown link 'ghost{k}'" for k in (1, 2)} <= {each.partition(";")[0] for each in told}
    several = TWO_LINKS.replace('lower="-2" upper="2"', 'lower="2" upper="-2"').replace('damping="0"', 'damping="-1"')
    several = several.replace(UPPER, '<link name="upper"/>').replace('effort="40"', 'effort="100000"')
    kinds = [each.kind for each in findings(several, tmp_path)]
    assert sorted(kinds) == ["limits", "limits", "massless", "refused"]


FOUR = f"""<robot name="four"><link name="base"/><link name="elbow_frame"/>
{
    "".join(
        f'<link name="{name}"><inertial><origin xyz="0.1 0 0"/><mass value="{mass}"/><inertia ixx="0.001" ixy="0" '
        f'ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>'
        for name, mass in (("turret", 0.6), ("upper", 0.4), ("finger", 20))
    )
}
<joint name="turn" type="revolute"><parent link="base"/><child link="turret"/><axis xyz="0 0 1"/>
<limit lower="-180" upper="180" velocity="2" effort="10"/></joint>
<joint name="lift" type="revolute"><parent link="turret"/><child link="upper"/><axis xyz="0 1 0"/>
<limit lower="-1.5" upper="1.5" velocity="2" effort="10"/></joint>
<joint name="bend" type="revolute"><parent link="upper"/><child link="elbow_frame"/><axis xyz="0 1 0"/>
<limit lower="-1.5" upper="1.5" velocity="2" effort="10"/></joint>
<joint name="grip" type="prismatic"><parent link="elbow_frame"/><child link="finger"/><axis xyz="1 0 0"/></joint>
</robot>"""


def test_it_ends_with_a_line_that_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("four.urdf").write_text(FOUR)
    shown = CliRunner().invoke(app, ["lint", "four.urdf"]).stdout
    assert "20 kg at the end of an arm of 1 kg" in shown and "position limit of 180 rad looks like degrees" in shown
    assert "link 'elbow_frame': joint 'bend' moves it, and it has no mass; --allow-massless accepts it" in shown
    assert main(["compile", "four.urdf", "--velocity", "2", "--allow-massless"]) == 2
    assert "joint 'turn': position limits of -180 to 180 rad look like degrees" in capsys.readouterr().err
    assert main(["compile", "four.urdf"]) == 2
    assert "--allow-massless accepts it" in capsys.readouterr().err
    line = shown.splitlines()[-1].removeprefix("compile: bddtorque ")
    arguments = [word if word != "12" else "6" for word in shlex.split(line)]
    assert main([*arguments, "--target", "integer", "--workers", "1", "--no-cache"]) == 0
    Path("four.urdf").write_text(FOUR.replace('mass value="20"', 'mass value="twenty"'))
    ran = CliRunner().invoke(app, ["lint", "four.urdf"])
    assert ran.stdout.splitlines()[-1] == "compile refuses it until what is refused here is put right"


def test_arms_of_others_can_be_read() -> None:
    for name in ("hyq_description/robots/hyq_no_sensors.urdf", "icub_description/robots/icub_reduced.urdf"):
        assert bt.load_robot(example_urdf(name)).degrees_of_freedom in (12, 29)
    panda = CliRunner().invoke(app, ["lint", str(example_urdf("panda_description/urdf/panda.urdf")), "--json"])
    told = json.loads(panda.stdout)
    assert {each["kind"] for each in told["findings"]} == {"ignored", "limits"}
    assert "mu_viscous=16" in told["findings"][0]["message"] and told["compile"].startswith("bddtorque compile ")
    assert [each.kind for each in lint(example_urdf("z1_description/urdf/z1.urdf"))] == []


def test_placeholders_for_all_links_and_couplings_that_do_not_compile(tmp_path: Path) -> None:
    parts = [joint(f"j{k}", "fixed", "lower", f"l{k}").replace('value="0.5"', f'value="0.{k}"') for k in (1, 2, 3)]
    said = [str(each) for each in findings(extended(*parts), tmp_path)]
    assert any("3 links of different mass have the same moments" in each for each in said)
    half = extended(joint("half", "revolute", "upper", "side", LIMIT + '<mimic joint="shoulder" multiplier="0.5"/>'))
    assert not [each for each in findings(half, tmp_path) if each.kind == "refused"]
    turning = half.replace('lower="-2" upper="2"', 'lower="-4" upper="4"')
    assert any("its position must stay within it, got -4 to 4" in str(each) for each in findings(turning, tmp_path))


BENT = TWO_LINKS.replace('izz="0.04"', "izz = '0.4'").replace("<link name=", "<!-- <inertia> -->\n<link name=")


def test_a_file_with_physical_inertias_is_written(tmp_path: Path) -> None:
    path, fixed = tmp_path / "arm.urdf", tmp_path / "fixed.urdf"
    path.write_text(BENT)
    ran = CliRunner().invoke(app, ["lint", str(path), "--fix", str(fixed)])
    assert ran.exit_code == 1
    assert ran.stdout.splitlines()[-1].endswith("with 1 inertia changed of upper")
    before, after = BENT.splitlines(), fixed.read_text().splitlines()
    changed = [k for k, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    assert len(changed) == 1 and "izz = '0." in after[changed[0]]
    robot = bt.load_robot(fixed)
    (found,) = [each for each in lint(path) if each.kind == "inertia"]
    turned = bt.load_robot(path, allow_unphysical=True).links[0]
    np.testing.assert_allclose(robot.links[0].inertia, nearest_physical(np.array(turned.inertia)), atol=1e-15)
    assert found.where == "link 'upper'"
    told = CliRunner().invoke(app, ["lint", str(fixed), "--fix", str(tmp_path / "again.urdf"), "--json"])
    assert json.loads(told.stdout)["fixed"]["links"] == [] and told.exit_code == 0
    assert (tmp_path / "again.urdf").read_bytes() == fixed.read_bytes()


def test_what_cannot_be_fixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(BENT)
    (tmp_path / "link.urdf").symlink_to(path)
    for same in (path, tmp_path / "link.urdf"):
        assert main(["lint", str(path), "--fix", str(same)]) == 2
        assert path.read_text() == BENT
    assert main(["lint", "ur5", "--fix", str(tmp_path / "ur5.urdf")]) == 2
    assert "fix is only for URDF" in capsys.readouterr().err
    assert not (tmp_path / "ur5.urdf").exists()
    with pytest.raises(BddTorqueError, match="fix is only for URDF and xacro files, got 'ur5'"):
        with_physical_inertias("ur5")
    wide = path.with_name("wide.urdf")
    wide.write_bytes(BENT.replace('<?xml version="1.0"?>', '<?xml version="1.0" encoding="utf-16"?>').encode("utf-16"))
    with pytest.raises(BddTorqueError, match="its <inertia> cannot be edited; edit it by hand"):
        with_physical_inertias(wide)


@given(st.lists(st.floats(-1, 1), min_size=9, max_size=9))
def test_the_nearest_physical_inertia_is_physical_and_near(entries: list[float]) -> None:
    given_one = np.array(entries).reshape(3, 3)
    nearest = nearest_physical(given_one)
    assert Link("l", 1.0, inertia=tuple(map(tuple, nearest.tolist()))).why_unphysical() is None
    again = nearest_physical(nearest)
    assert np.allclose(again, nearest, atol=1e-12)  # a body that can exist is its own nearest


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(TWO_LINKS.replace('izz="0.04"', 'izz="0.4"'))
    run = CliRunner().invoke(app, ["lint", str(path), "--json"])
    assert run.exit_code == 1
    (finding,) = json.loads(run.stdout)["findings"]
    assert finding["kind"] == "inertia"
    assert sorted(finding["proposal"]) == ["ixx", "ixy", "ixz", "iyy", "iyz", "izz"]
    shown = CliRunner().invoke(app, ["lint", str(path)])
    assert "nearest that a body can have, in the axes of the link: ixx=" in shown.stdout
    assert "1 finding: 1 inertia" in shown.stdout
    clean = CliRunner().invoke(app, ["lint", "planar2r"])
    assert (clean.exit_code, clean.stdout) == (0, "nothing found\ncompile: bddtorque compile planar2r --bits 12\n")


def test_models_and_strangers() -> None:
    pin = pytest.importorskip("pinocchio")
    bad = TWO_LINKS.replace('izz="0.04"', 'izz="0.4"')
    assert [[each.kind for each in bt.lint(pin.buildModelFromXML(text))] for text in (TWO_LINKS, bad)] == [
        [],
        ["inertia"],
    ]
    hand = example_urdf("allegro_hand_description/urdf/allegro_left_hand.urdf")
    assert [each.kind for each in bt.lint(hand)] == ["inertia"] * 4
    with pytest.raises(BddTorqueError, match="there is no such file"):
        lint("none.urdf")
    with pytest.raises(BddTorqueError, match="robot must be"):
        lint(3)

"""`load_robot` and the names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sample_robots import TWO_LINKS

from bddtorque.base.errors import BddTorqueError
from bddtorque.robots import load_robot


def refused(robot: object, *expected: str, **options: object) -> None:
    with pytest.raises(BddTorqueError) as error:
        load_robot(robot, **options)
    message = str(error.value)
    assert "\n" not in message
    for part in expected:
        assert part in message


def test_each_way_to_name_a_robot(tmp_path: Path) -> None:
    robot = load_robot("planar2r")
    assert load_robot(robot) is robot
    assert load_robot("planar2r") is robot  # immutable, so read once
    urdf = tmp_path / "two.URDF"
    urdf.write_text(TWO_LINKS)
    assert load_robot(str(urdf)).joint_names == ("shoulder", "elbow")
    assert load_robot(urdf, base="upper", gravity=(0, 0, -1)).joint_names == ("elbow",)
    toml = tmp_path / "arm.toml"
    toml.write_text(
        'name = "one"\n[[joint]]\ntype = "revolute"\n'
        "link = { mass = 1, centre_of_mass = [1, 0, 0], inertia = [0, 0, 0] }\n"
    )
    assert load_robot(toml).name == "one"


def test_refusals(tmp_path: Path) -> None:
    refused("pumma560", "unknown robot 'pumma560'; did you mean 'puma560'?")
    refused("", "unknown robot")
    refused("no\nsuch", "unknown robot 'no\\nsuch'")
    refused(3, "robot must be a name, a file or a Robot, got 3")
    refused(None, "got None")
    refused(tmp_path / "arm.txt", "known: panda, planar2r, planar3r_a")
    refused("none.toml", "none.toml: there is no such file")
    refused("none.urdf", "none.urdf: there is no such file")
    refused("arm.urdf.xacro", "arm.urdf.xacro: there is no such file")
    refused("a\0b.toml", "cannot be read: embedded null byte")
    refused("ur5", "built-in robot 'ur5': tip is for URDF and MJCF files and models only", tip="tool0")
    refused("ur5", "tip, base are for URDF and MJCF files and models only", tip="tool0", base="base")
    refused(load_robot("ur5"), "robot 'ur5': tip is for URDF and MJCF files and models only", tip="tool0")
    refused("none.urdf", "unknown option 'bas'; did you mean 'base'?", bas="base")
    refused("ur5", "unknown option 'speed'; known: base, tip, frame, lock", speed=1.0)


def test_built_in_robots_do_not_load_readers_they_do_not_need() -> None:
    code = (
        "import sys; from bddtorque.robots import load_robot; load_robot('ur5');"
        "sys.exit(any(name in sys.modules for name in ('dd', 'rich')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

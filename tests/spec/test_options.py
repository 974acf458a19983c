"""The options of `bt.compile` have one definition: type checkers, `Spec` and what is refused at run time agree."""

from __future__ import annotations

from pathlib import Path
from typing import get_type_hints

import pytest
from type_checking import type_errors

import bddtorque as bt
from bddtorque.cli.options import CHOICES
from bddtorque.robots.tree_robot import TreeOptions
from bddtorque.spec import Spec
from bddtorque.spec.compile_options import CompileOptions
from bddtorque.spec.spec import option_names

CODE = """
import bddtorque as bt
from bddtorque.spec import load_spec

bt.compile("ur5", bits=8, velocity=[1.0, [-1.0, "20 deg/s"]], torque={"elbow_joint": [-1, 2]}, memory="1 GiB")
bt.compile("ur5", bits=[8] * 6, input_bits={"position": 10}, lock="others", tip=None, accuracy=0.75, target="float")
load_spec("ur5").with_options(bits=8)
bt.load_robot("arm.urdf", tip="tool", lock={"gripper": 0.0}, gravity=(0.0, 0.0, -1.0))
bt.compile("ur5", bit=8)
bt.compile("ur5", target="fpga")
load_spec("ur5").with_options(accuracy="fair")
bt.load_robot("arm.urdf", tipp="tool")
"""
WRONG = ["9", "10", "11", "12"]
"""Its lines that a type checker refuses."""


def test_keywords_and_specification_share_one_definition() -> None:
    assert sorted(get_type_hints(CompileOptions)) == sorted(option_names())
    assert {*get_type_hints(TreeOptions)} <= {*Spec.readers()}


def test_the_command_line_has_every_option() -> None:
    assert sorted([*CHOICES, "robot"]) == sorted(option_names())  # the robot is the command's argument


def test_type_checkers_know_the_options(tmp_path: Path) -> None:
    said = [line.partition("user.py:")[2] for line in type_errors(CODE, tmp_path) if ": error:" in line]
    assert [line.partition(":")[0] for line in said] == WRONG, said
    assert 'Unexpected keyword argument "bit" for "compile"; did you mean "bits"?' in said[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bit": 8}, "unknown option 'bit'; did you mean 'bits'?"),
        ({"bits": 25}, "bits must be between 2 and 24, got 25"),
        ({"bits": [8, 8]}, "bits must be one number, or one per joint (6 in robot 'ur5'), got 2"),
        ({"input_bits": {"position": 1}}, "input_bits, position must be between 2 and 24, got 1"),
        ({"torque": [1, 2, 3]}, "torque must be one range for all joints, or one per joint (6 in robot 'ur5'), got 3"),
    ],
)
def test_a_message_names_the_option_and_not_the_file(options: dict[str, object], message: str) -> None:
    with pytest.raises(bt.BddTorqueError) as refused:
        bt.compile("ur5", **options)  # type: ignore[arg-type]
    assert str(refused.value) == message


def test_a_message_names_the_file_of_what_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "arm.toml"
    path.write_text('robot = "ur5"\nbits = [8, 8]\n')
    with pytest.raises(bt.BddTorqueError, match=rf"got 2 \({path}, key 'bits'\)$"):
        bt.compile(path, accuracy=1.0)

"""The options of `bt.compile` have one definition: `Spec` and what is refused agree; see also typed_use.py."""

from __future__ import annotations

from pathlib import Path
from typing import get_type_hints

import pytest

import bddtorque as bt
from bddtorque.cli.options import CHOICES
from bddtorque.robots.tree_robot import TreeOptions
from bddtorque.spec import Spec
from bddtorque.spec.compile_options import CompileOptions
from bddtorque.spec.spec import option_names


def test_keywords_and_specification_share_one_definition() -> None:
    assert sorted(get_type_hints(CompileOptions)) == sorted(option_names())
    assert {*get_type_hints(TreeOptions)} <= {*Spec.readers()}


def test_the_command_line_has_every_option() -> None:
    assert sorted([*CHOICES, "robot"]) == sorted(option_names())  # the robot is the command's argument


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

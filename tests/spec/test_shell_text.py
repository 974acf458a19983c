"""Values of a specification as they are written at a shell."""

from __future__ import annotations

import math
from typing import Any

import pytest

from bddtorque.base.errors import BddTorqueError
from bddtorque.spec.field_values import (
    parse_arguments,
    parse_lock,
    parse_ranges,
    parse_table,
    parse_value,
    parse_values,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("12,10", [12, 10]),
        ("1.5", 1.5),
        ("-1:2", [-1, 2]),
        ("1.5,0,0,0.1", [1.5, 0, 0, 0.1]),
        ("0,0,nan", [0, 0, "nan"]),
        ("runtime", "runtime"),
        ("faithful", "faithful"),
        ("runtime=true,largest=20", {"runtime": True, "largest": 20}),
        (
            "mass=0:5,centre_of_mass=-0.1:0.1,0,0:0.2,runtime=true",
            {"mass": [0, 5], "centre_of_mass": [[-0.1, 0.1], 0, [0, 0.2]], "runtime": True},
        ),
    ],
)
def test_values(text: str, value: Any) -> None:
    assert parse_value(text, "bits") == value


def test_options_that_are_repeated() -> None:
    assert parse_values(["8,9"], "input_bits") == [8, 9]
    assert parse_values(["position=8", "velocity=9,9"], "input_bits") == {"position": 8, "velocity": [9, 9]}
    assert parse_table(["kp=100,80", "kv=20"], "gains") == {"kp": [100, 80], "kv": 20}
    assert parse_arguments(["a=", "b=c=1", "d=01.50"], "xacro_args") == {"a": "", "b": "c=1", "d": "01.50"}
    assert parse_lock(["others"], "lock") == "others"
    assert parse_lock(["a=0.5", "b=c=-1", "d,e=90 deg"], "lock") == {"a": 0.5, "b=c": -1, "d,e": "90 deg"}


@pytest.mark.parametrize("texts", [["=1"], ["a=1", "a=2"], ["others", "a=1"], ["1", "2"]])
def test_what_has_no_name_or_a_name_twice_is_refused(texts: list[str]) -> None:
    for parse in (parse_lock, parse_table, parse_arguments, parse_values):
        if parse is parse_values and len(texts) == 1:
            continue
        with pytest.raises(BddTorqueError, match=r"each (name|joint) once, got") as refused:
            parse(texts, "lock")
        assert refused.value.option == "lock"


def test_ranges() -> None:
    assert parse_ranges("velocity")("1.5", "velocity") == (-1.5, 1.5)
    assert parse_ranges("velocity")("-1:2", "velocity") == (-1.0, 2.0)
    assert parse_ranges("velocity")("1,-1:2", "velocity") == [(-1.0, 1.0), (-1.0, 2.0)]
    assert parse_ranges("velocity")("180 deg/s,-pi:pi/2", "velocity") == [
        (-math.pi, math.pi),
        (-math.pi, math.pi / 2),
    ]
    assert parse_ranges("torque")("elbow=-1:2,wrist=3 N·m,hand=auto", "torque") == (
        ("elbow", (-1.0, 2.0)),
        ("hand", "auto"),
        ("wrist", (-3.0, 3.0)),
    )
    assert parse_ranges("torque")("limits", "torque") == "limits"

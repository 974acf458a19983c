"""Ranges mean the same in TOML, in Python and on the command line; units are read, and what is ambiguous is refused."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.measures import measure
from bddtorque.base.toml_text import toml_value
from bddtorque.robots import load_robot
from bddtorque.spec import Spec, from_toml, load_spec
from bddtorque.spec.field_values import parse_ranges

PLANAR = load_robot("planar2r")


def torques(spec: Spec) -> list[tuple[float, float]]:
    return [(word.low, word.high) for word in spec.formats(PLANAR).tau]


def from_file(torque: object) -> Spec:
    ranges = f"velocity = 1\nacceleration = 1\ntorque = {toml_value(torque)}"
    return from_toml(f'robot = "planar2r"\n[ranges]\n{ranges}\n', "my.toml")


@pytest.mark.parametrize(
    ("value", "flag", "expected"),
    [
        (100, "100", [(-100, 100), (-100, 100)]),
        ([-50, 100], "-50:100", [(-50, 100), (-50, 100)]),
        ([[-50, 100], [5, 7.5]], "-50:100,5:7.5", [(-50, 100), (5, 7.5)]),
        ([100, [-5, 20]], "100,-5:20", [(-100, 100), (-5, 20)]),
        ({"shoulder": 100, "elbow": [-5, 20]}, "elbow=-5:20,shoulder=100", [(-100, 100), (-5, 20)]),
        ({"shoulder": "limits", "elbow": 3}, "shoulder=limits,elbow=3", [(-200, 200), (-3, 3)]),
        ("limits", "limits", [(-200, 200), (-100, 100)]),
        (["limits", 5], "limits,5", [(-200, 200), (-5, 5)]),
        ("1.5 N·m", "1.5 Nm", [(-1.5, 1.5), (-1.5, 1.5)]),
        (["-500 mN·m", 2], "-500 mN*m:2", [(-0.5, 2), (-0.5, 2)]),
        ([["-1 kN·m", 0], "20 N·m"], "-1 kNm:0,20 N·m", [(-1000, 0), (-20, 20)]),
    ],
)
def test_one_meaning_everywhere(value: Any, flag: str, expected: list[tuple[float, float]]) -> None:
    assert torques(load_spec("planar2r").with_options(torque=value)) == expected
    assert torques(load_spec("planar2r").with_options(torque=parse_ranges("torque")(flag, "torque"))) == expected
    assert torques(from_file(value)) == expected


def test_what_could_mean_two_things_is_refused_with_both_ways_to_write_it() -> None:
    either = (
        "torque = [100, 200] could mean 100 to 200 for both joints, or ±100 and ±200: write [[100, 200], [100, 200]] "
        "or [[-100, 100], [-200, 200]], or name the joints"
    )
    with pytest.raises(BddTorqueError, match=rf"^{re.escape(either)}$"):
        torques(load_spec("planar2r").with_options(torque=[100, 200]))
    with pytest.raises(BddTorqueError, match=rf"^{re.escape(either)} \(my.toml, key 'ranges'\)$"):
        torques(from_file([100, 200]))
    with pytest.raises(
        BddTorqueError, match=r"got \[200, 100\]; for ±200 and ±100 write \[\[-200, 200\], \[-100, 100\]"
    ):
        load_spec("planar2r").with_options(torque=[200, 100])
    ur5 = (
        load_spec("ur5").with_options(torque=[100, 200]).formats(load_robot("ur5"))
    )  # of six joints it can mean one thing
    assert {(word.low, word.high) for word in ur5.tau} == {(100.0, 200.0)}


def test_a_name_replaces_the_range_of_its_joint_alone() -> None:
    spec = load_spec("planar2r").with_options(torque={"elbow": 7})
    assert torques(spec) == [(-200, 200), (-7, 7)]
    assert torques(from_toml(str(spec))) == torques(spec)
    named = from_file({"shoulder": 3, "elbow": [0, 1]})
    assert from_toml(str(named)) == named
    for wrong in (load_spec("planar2r").with_options(torque={"elbo": 7}), from_file({"elbo": 7})):
        with pytest.raises(BddTorqueError, match=r"^unknown joint 'elbo'; did you mean 'elbow'"):
            torques(wrong)
    unnamed = from_toml('robot = "planar2r"\n[[joint]]\ntorque = 1\n[[joint]]\ntorque = 2', "my.toml")
    with pytest.raises(BddTorqueError, match=r"^torque cannot be given by name where the joints have none \(my.toml\)"):
        unnamed.with_options(torque={"elbow": 7})


@pytest.mark.parametrize(
    ("text", "quantity", "value"),
    [
        ("180 deg", "position", math.pi),
        ("-90°", "position", -math.pi / 2),
        ("pi/2", "position", math.pi / 2),
        ("0.5 turn", "position", math.pi),
        ("5 mm", "position", 0.005),
        ("20 deg/s", "velocity", math.radians(20)),
        ("2*pi rad/s", "velocity", math.tau),
        ("60rpm", "velocity", math.tau),
        ("3 m/s^2", "acceleration", 3.0),
        ("1e2 deg/s2", "acceleration", math.radians(100)),
        ("-.5 kN", "torque", -500.0),
        ("1.5 N·m", "torque", 1.5),
        ("1.5 N m", "torque", 1.5),
        ("90 degrees", "position", math.pi / 2),
        ("2 turns", "position", 2 * math.tau),
        ("5 degrees/s", "velocity", math.radians(5)),
    ],
)
def test_units(text: str, quantity: str, value: float) -> None:
    assert measure(text, "it", quantity) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "quantity"),
    [("20 deg", "velocity"), ("1 N", "position"), ("5", "torque"), ("pi", "torque"), ("1 Ncm", "torque"),
     ("m", "position"), ("1 m 2", "position"), ("1..2 m", "position"), ("٣ m", "position"),
     ("1/0 m", "position"), ("1e999 m", "position"),
     ("__import__('os')", "position"), ("nan m", "position"), ("1 rad/s/s", "acceleration")],
)  # fmt: skip
def test_other_text_is_refused_in_a_line(text: str, quantity: str) -> None:
    with pytest.raises(BddTorqueError, match=r"^it must be ") as refused:
        measure(text, "it", quantity)
    assert "\n" not in str(refused.value)


@given(st.text(max_size=20), st.sampled_from(("position", "velocity", "acceleration", "torque")))
@settings(max_examples=100)
def test_any_text_is_a_number_or_refused(text: str, quantity: str) -> None:
    with suppress(BddTorqueError):
        assert math.isfinite(measure(text, "it", quantity))


def test_a_unit_must_suit_the_kind_of_the_joint() -> None:
    scara, spec = load_robot("scara"), load_spec("scara")
    with pytest.raises(BddTorqueError, match=r"^position of joint 'quill', which slides, cannot be given in deg$"):
        spec.with_options(position="90 deg").formats(scara)
    with pytest.raises(BddTorqueError, match=r"^velocity of joint 'elbow', which turns, cannot be given in mm/s$"):
        spec.with_options(velocity={"elbow": "5 mm/s"}).formats(scara)
    with pytest.raises(
        BddTorqueError, match=r"^offset of joint 'quill', which slides, cannot be given in deg \(my.toml"
    ):
        from_toml('robot = "scara"\n[[joint]]\nname = "quill"\noffset = "5 deg"', "my.toml").formats(scara)
    words = spec.with_options(position={"elbow": "90 deg", "quill": ["5 mm", "10 cm"]}).formats(scara)
    assert words.q[1].high == math.pi / 2
    assert (words.q[2].low, words.q[2].high) == (0.005, 0.1)
    assert all(type(end) is float for word in words.q for end in (word.low, word.high))

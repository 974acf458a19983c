"""The independent checker on other quantities of a robot than its torques."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mutations import at, replaced, signed, taken_apart
from strategies import random_robot

import bddtorque as bt
from bddtorque.dynamics.quantities import QUANTITIES
from bddtorque.dynamics.run_time import RUN_TIME
from bddtorque.independent import check_bytes, effort
from bddtorque.independent.checked_quantity import quantities, run_time_inputs
from bddtorque.independent.robots import robot_of
from bddtorque.model.model import to_bytes
from bddtorque.robots.robot_data import robot_to_plain

GAINS = {"kp": [100.0, 50.0], "kv": 20.0}
BOX = {"mass": [0.5, 2], "com": [[-0.1, 0.1], [0, 0], [0, 0.2]], "runtime": True}
RUBBING = bt.load_robot("planar2r").with_friction({"shoulder": bt.Friction(2.0, (4.0, 5.0), (8.0, 7.0), 0.05)})
SLIDING = random_robot(["revolute", "prismatic"], ["tilted", "general"], 3)
MOTION = {"velocity": (-1.0, 2.0), "acceleration": 3.0, "position": [(-1.0, 2.0), (0.1, 0.7)]}
SMALL = {"float": 12, "integer": 9, "tables": 4}
CASES: list[tuple[Any, str, str, dict[str, Any]]] = [
    ("planar2r", "gravity", "integer", {"payload": {**BOX, "inertia": 0.3}}),
    ("planar2r", "mass_matrix", "tables", {}),
    ("planar2r", "mass_matrix", "float", {"payload": BOX}),
    ("planar2r", "kinematics", "integer", {}),
    ("scara", "jacobian", "float", {}),
    (RUBBING, "bias", "tables", {}),
    (RUBBING, "computed_torque", "integer", {"gains": GAINS}),
    (SLIDING, "kinematics", "tables", {"position": MOTION["position"]}),
    (SLIDING, "computed_torque", "float", {"gains": GAINS, **MOTION, "precision": "double"}),
    (SLIDING, "torque", "float", {"payload": BOX, **MOTION}),
]
EVERY: list[Any] = [
    pytest.param(robot, quantity, target, options, marks=pytest.mark.everything)
    for target in SMALL
    for robot, more in (("planar2r", {}), (SLIDING, MOTION), (RUBBING, {}))
    for quantity in ("gravity", "bias", "mass_matrix", "kinematics", "jacobian", "computed_torque", "energy")
    for options in [{**more, **({"gains": GAINS} if quantity == "computed_torque" else {})}]
]
READ = {"gravity": 1, "mass_matrix": 1, "kinematics": 1, "jacobian": 1, "bias": 2, "energy": 2}
"""How many of positions, velocities and accelerations a quantity reads, where it is not all."""


def compiled(robot: Any, quantity: str, target: str, options: dict[str, Any]) -> bytes:
    ranges = ("position", "velocity", "acceleration")
    unread = ranges[READ.get(quantity, 3) :]
    kept = {key: value for key, value in options.items() if key not in unread}
    if quantity not in ("mass_matrix", "kinematics", "jacobian", "energy"):
        kept["torque"] = "auto"
    return to_bytes(
        bt.compile(robot, quantity=quantity, target=target, bits=SMALL[target], workers=1, cache=None, **kept)
    )


@pytest.mark.parametrize(("robot", "quantity", "target", "options"), [*CASES, *EVERY])
def test_quantities_are_proved(robot, quantity, target, options):
    found = check_bytes(compiled(robot, quantity, target, options))
    assert all(each.passed for each in found), found[-1]
    assert [each.name for each in found][-3:] == ["dynamics", "certificate", "saturation"]


def test_it_has_a_record_of_every_quantity_and_every_input_at_run_time() -> None:
    known = quantities()
    assert known.keys() == QUANTITIES.keys()
    assert [*run_time_inputs()] == [*RUN_TIME]
    robot = bt.load_robot("planar2r")
    own = robot_of(json.loads(json.dumps(robot_to_plain(robot))))
    for name, record in QUANTITIES.items():
        mine = known[name]
        assert (mine.inputs, mine.accepts, mine.keys) == (record.inputs, record.accepts, record.keys)
        assert (mine.friction, mine.at_rest, mine.needs_tip) == (record.friction, record.at_rest, record.needs_tip)
        arrays = [(each.name, each.shape(robot), tuple(each.labels(robot))) for each in record.outputs]
        assert [(each.name, each.shape, each.labels) for each in mine.outputs(own)] == arrays
        units = [unit for each in record.outputs for unit in each.units(robot)]
        assert mine.torques or [unit for each in mine.outputs(own) for unit in each.units] == units


def ranges_within(least: float, most: float, unique: bool = False) -> st.SearchStrategy[list[float]]:
    ends = st.floats(least, most, allow_subnormal=False)
    return st.lists(ends, min_size=2, max_size=2, unique=unique).map(sorted)


CENTRES = st.lists(ranges_within(-3.0, 3.0), min_size=3, max_size=3)


@given(ranges_within(0.0, 50.0, unique=True), CENTRES, st.none() | st.floats(0.01, 5.0), st.integers(4, 20))
@example([0.0, 7.7], [[-0.1, 0.3], [-0.7, 0.1], [0.2, 0.6]], None, 8)
@example([2.0, 3.0], [[-0.1, -0.1], [0.0, 0.0], [0.3, 0.3]], None, 12)
def test_words_of_any_box_of_payloads_are_those_of_the_format(mass, centre, inertia, bits):
    """Both sides round exact numbers once, so they agree in every bit, on every machine."""
    box = {"mass": mass, "com": centre, "runtime": True} | ({} if inertia is None else {"inertia": inertia})
    model = bt.compile(
        "planar2r", quantity="mass_matrix", target="float", bits=bits, payload=box, workers=1, cache=None
    )
    found = check_bytes(to_bytes(model))
    assert next(each for each in found if each.name == "words").passed, found[-1]
    assert found[-1].passed, found[-1]


@pytest.mark.parametrize("end", ["low", "high"])
@pytest.mark.parametrize("number", range(9))
def test_a_word_of_a_payload_that_is_off_by_the_last_bit_is_found(number, end):
    header, arrays = taken_apart(compiled(*CASES[2]))
    place = ("words", "inputs", 1, "words", number, end)
    found = check_bytes(signed(replaced(header, place, math.nextafter(at(header, place), math.inf)), arrays))[-1]
    assert (found.name, found.passed) == ("words", False)


@pytest.mark.parametrize(
    ("case", "path", "value"),
    [
        (6, ("spec", "gains", "kv"), 20.5),
        (6, ("spec", "gains", "kp"), [100.0, 51.0]),
        (6, ("spec", "quantity"), "bias"),
        (0, ("spec", "payload", "mass"), [0.5, 2.5]),
        (0, ("robot", "tip", "translation"), [0.0, 0.1, 0.0]),
        (2, ("words", "inputs", 1, "words", 0, "high"), 2.5),
        (1, ("words", "outputs", 0, "labels", 0), "M1_2"),
        (1, ("robot", "joints", 1, "rotor_inertia"), 5.5),
        (4, ("robot", "tip", "translation"), [0.0, 0.1, 0.0]),
        (4, ("robot", "joints", 1, "translation"), [0.5, 0.0, 0.0]),
        (3, ("certificate", "outputs", 0, "high"), 1.7),
        (3, ("certificate", "outputs", 0, "low"), -2.9),
        (3, ("version",), 2),
        (9, ("robot", "tip", "rotation", 0, 0), 0.5),
    ],
)
def test_another_quantity_is_no_proof_of_this_one(case, path, value):
    header, arrays = taken_apart(compiled(*CASES[case]))
    found = check_bytes(signed(replaced(header, path, value), arrays))
    assert not found[-1].passed and "Error" not in found[-1].detail, found[-1]


def test_a_difference_of_other_words_is_no_error_of_a_position():
    header, arrays = taken_apart(compiled(*CASES[6]))
    wires = header["plan"]["wires"]
    place = next(k for k, wire in enumerate(wires) if wire["kind"] == "angle_sum" and wire["name"] == "q_error1")
    changed = [[wire, factor, shift] for wire, factor, shift in reversed(wires[place]["parts"])]
    found = check_bytes(signed(replaced(header, ("plan", "wires", place, "parts"), changed), arrays))
    assert (found[-1].name, found[-1].passed) == ("ranges", False)
    assert "expected the difference of q_desired1 and q1" in found[-1].detail


@pytest.mark.parametrize(
    ("path", "value"),
    [(("robot", "gravity", 1), -11.930402342337768), (("plan", "wires", 9, "parts", 0, 1), 1030)],
)
def test_a_broken_law_of_a_sliding_joint_ends_in_a_finding(path, value, monkeypatch):
    """Boxes of few positions are halved by the hundred thousand unless each of them counts."""
    monkeypatch.setattr(effort, "MAX_WORK", 1_000_000_000)
    header, arrays = taken_apart(compiled(SLIDING, "computed_torque", "tables", {"gains": GAINS, **MOTION}))
    last = check_bytes(signed(replaced(header, path, value), arrays))[-1]
    assert (last.name, last.passed) == ("dynamics", False) and " is proved" in last.detail


def test_work_is_bounded(monkeypatch):
    data = compiled(*CASES[0])
    assert check_bytes(data)[-1].passed
    monkeypatch.setattr(effort, "MAX_WORK", 10_000)
    last = check_bytes(data)[-1]
    assert not last.passed
    assert last.detail == "no proof was found in 10,000 numbers of work: the file is broken, or too large"

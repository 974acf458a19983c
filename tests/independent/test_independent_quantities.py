"""The independent checker on quantities of a robot other than its torques, and on what is given at run time."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mutations import at, proved_findings, refusal, replaced, signed, taken_apart
from oracle import pinocchio_model, random_states
from recursion_numbers import Number, Plain
from sample_robots import TREE
from small_models import own_options
from strategies import random_robot

import bddtorque as bt
from bddtorque.dynamics.quantities import QUANTITIES
from bddtorque.dynamics.run_time import RUN_TIME
from bddtorque.independent import check_bytes, findings
from bddtorque.independent.dynamics import State, kinetic_energy, world_of
from bddtorque.independent.formats import words_of
from bddtorque.independent.quantity_energy import is_semidefinite
from bddtorque.independent.robot_truth import subject_of
from bddtorque.independent.robots import robot_of
from bddtorque.independent.subjects import quantities, run_time_inputs
from bddtorque.model.model import to_bytes
from bddtorque.robots import from_urdf
from bddtorque.robots.joint_kinds import JOINT_KINDS
from bddtorque.robots.robot_data import robot_to_plain

FOLDER = Path(bt.__file__).parent / "independent"
GAINS = {"kp": [100.0, 50.0], "kv": 20.0}
BOX = {"mass": [0.5, 2], "com": [[-0.1, 0.1], [0, 0], [0, 0.2]], "runtime": True}
GRAVITY = {"largest": 20, "runtime": True}
RUBBING = bt.load_robot("planar2r").with_friction({"shoulder": bt.Friction(2.0, (4.0, 5.0), (8.0, 7.0), 0.05)})
SLIDING = random_robot(["revolute", "prismatic"], ["tilted", "general"], 3)
MOTION = {"velocity": (-1.0, 2.0), "acceleration": 3.0, "position": [(-1.0, 2.0), (0.1, 0.7)]}
ROBOTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "arm": ("planar2r", {}),
    "tree with followers": (from_urdf(TREE), {}),
    "slider": (SLIDING, MOTION),
}
BITS = {"float": 12, "integer": 9, "tables": 4}
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


def compiled(robot: Any, quantity: str, target: str, options: dict[str, Any]) -> bytes:
    needed = QUANTITIES[quantity].ranges
    kept = {key: value for key, value in options.items() if key not in MOTION or key in needed}
    kept |= {"torque": "auto"} if "torque" in needed else {}
    own = {"target": target, "bits": BITS[target], "workers": 1, "cache": None}
    return to_bytes(bt.compile(robot, quantity=quantity, **{**own, **kept}))


def compiled_named(name: str, quantity: str, target: str, **options: Any) -> bytes:
    """Return the file of a quantity of one of ROBOTS."""
    robot, ranges = ROBOTS[name]
    own = own_options(quantity)
    own |= {"bits": 7} if target == "integer" else {}
    return compiled(robot, quantity, target, {**ranges, "block_bits": 16, **own, **options})


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


@pytest.mark.parametrize("name", [*QUANTITIES, *RUN_TIME, *JOINT_KINDS])
def test_a_kind_is_named_in_one_file_of_the_checker(name: str) -> None:
    """A robot has gravity and a payload of its own, and joints a torque; quantities list the inputs at run time."""
    named = {path.name for path in FOLDER.glob("*.py") if f'"{name}"' in path.read_text(encoding="utf-8")}
    owners = {path for path in named if path.startswith(("quantity_", "run_time_", "joint_kinds"))}
    assert len(named) == 1 if name not in ("torque", *RUN_TIME) else named - owners <= {"robots.py", "robot_truth.py"}


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
@pytest.mark.parametrize(("given", "number"), [("payload", k) for k in range(9)] + [("gravity", k) for k in range(3)])
def test_a_word_given_at_run_time_that_is_off_by_the_last_bit_is_found(given: str, number: int, end: str) -> None:
    data = compiled(*CASES[2]) if given == "payload" else compiled_named("arm", "gravity", "float", gravity=GRAVITY)
    place = ("words", "inputs", 1, "words", number, end)
    near = math.nextafter(at(taken_apart(data)[0], place), math.inf)
    assert refusal(data, place, near).name == "words"


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
    refusal(compiled(*CASES[case]), path, value)


def test_a_difference_of_other_words_is_no_error_of_a_position():
    data = compiled(*CASES[6])
    wires = taken_apart(data)[0]["plan"]["wires"]
    place = next(k for k, wire in enumerate(wires) if wire["kind"] == "angle_sum" and wire["name"] == "q_error1")
    changed = [[wire, factor, shift] for wire, factor, shift in reversed(wires[place]["parts"])]
    found = refusal(data, ("plan", "wires", place, "parts"), changed)
    assert found.name == "ranges" and "expected the difference of q_desired1 and q1" in found.detail


@pytest.mark.parametrize(
    ("path", "value"),
    [(("robot", "gravity", 1), -11.930402342337768), (("plan", "wires", 9, "parts", 0, 1), 1033)],
)
def test_a_broken_law_of_a_sliding_joint_ends_in_a_finding(path, value, monkeypatch):
    """Boxes of few positions are halved by the hundred thousand unless each of them counts."""
    monkeypatch.setattr(findings, "MAX_WORK", 1_000_000_000)
    last = refusal(compiled(SLIDING, "computed_torque", "tables", {"gains": GAINS, **MOTION}), path, value)
    assert last.name == "dynamics" and " is proved" in last.detail


def test_work_is_bounded(monkeypatch):
    data = compiled(*CASES[0])
    assert check_bytes(data)[-1].passed
    monkeypatch.setattr(findings, "MAX_WORK", 10_000)
    last = check_bytes(data)[-1]
    assert not last.passed
    assert last.detail == "no proof was found in 10,000 numbers of work: the file is broken, or too large"


@pytest.mark.parametrize("seed", range(6))
def test_its_kinetic_energy_is_pinocchios(seed: int) -> None:
    kinds = ["revolute", "prismatic", "revolute", "revolute"]
    robot = random_robot(kinds, ["tilted"] * 4, seed, rotors=False, payload=bool(seed % 2))
    model = pinocchio_model(robot)
    data = model.createData()
    q, qd, _ = random_states(robot, 5, seed)
    columns = [[Number(column) for column in each.T] for each in (q, np.sin(q), np.cos(q), qd, 0 * qd)]
    own = robot_of(json.loads(json.dumps(robot_to_plain(robot))))
    found = kinetic_energy(own, State(*columns), Plain(), world_of(own, Plain())).value
    wanted = [pin.computeKineticEnergy(model, data, *state) for state in zip(q, qd, strict=True)]
    assert np.allclose(found, wanted, rtol=1e-9)


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("arm", ("robot", "links", 1, "mass"), 8.1),
        ("arm", ("robot", "joints", 1, "rotor_inertia"), 0.5),
        ("arm", ("robot", "gravity"), [0.0, -9.0, 0.0]),
        ("slider", ("robot", "joints", 0, "translation"), [0.0, 0.0, 9.0]),
        ("slider", ("robot", "links", 1, "centre_of_mass", 2), 3.0),
        ("tree with followers", ("robot", "followers", 0, "multiplier"), -1.0),
        ("tree with followers", ("robot", "followers", 1, "offset"), 0.5),
        ("arm", ("certificate", "outputs", 0, "low"), 0.5),
        ("arm", ("certificate", "outputs", 0, "high"), 0.5),
        ("arm", ("certificate", "outputs", 1, "relative_to"), "traced"),
        ("arm", ("certificate", "outputs", 1, "assumed"), 0.1),
        ("arm", ("words", "outputs", 0, "words", 0, "low"), 1.0),
        ("arm", ("words", "outputs", 0, "shape"), [1]),
        ("arm", ("words", "outputs", 1, "words", 0, "unit"), "N·m"),
        ("arm", ("spec", "quantity"), "bias"),
    ],
)
def test_other_energies_are_no_proof_of_these(name: str, path: tuple[Any, ...], value: Any) -> None:
    refusal(compiled_named(name, "energy", "float"), path, value)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("spec", "gravity", "largest"), 21.0),
        (("spec", "gravity", "largest"), -20.0),
        (("spec", "gravity", "runtime"), 1),
        (("spec", "gravity"), [0.0, -9.81, 0.0]),
        (("words", "inputs", 1, "labels"), ["gx", "gz", "gy"]),
        (("words", "inputs", 1, "words", 2, "bits"), 11),
        (("words", "inputs", 1, "words", 0, "sign"), -1),
        (("spec", "quantity"), "mass_matrix"),
    ],
)
def test_another_gravity_is_no_proof_of_this_one(path: tuple[Any, ...], value: Any) -> None:
    refusal(compiled_named("arm", "gravity", "float", gravity=GRAVITY), path, value)


def known(header: dict[str, Any]) -> tuple[float, float]:
    subject = subject_of(header, words_of(header["words"]))
    return subject.record.known_span(subject, 0)


def test_kinetic_energy_is_known_not_to_be_negative_of_bodies_alone() -> None:
    """Words of a payload may be those of no body, and so may robots that are allowed to be unphysical."""
    header = taken_apart(compiled_named("arm", "energy", "float"))[0]
    assert known(header) == (0.0, math.inf)
    unphysical = replaced(header, ("robot", "allow_unphysical"), True)
    for path, value in (
        (("robot", "links", 0, "mass"), -1.0),
        (("robot", "links", 1, "inertia", 2, 2), -1e-3),
        (("robot", "joints", 0, "rotor_inertia"), -1e-3),
    ):
        assert known(replaced(unphysical, path, value)) == (-math.inf, math.inf)
    light = {"mass": [0, 10], "com": [[-0.5, 0.5]] * 3, "runtime": True}
    model = bt.compile("planar2r", quantity="energy", target="float", bits=12, payload=light, workers=1, cache=None)
    assert known(taken_apart(to_bytes(model))[0]) == (-math.inf, math.inf)


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ([[1, 0, 0], [0, 1, 0], [0, 0, 0]], True),
        ([[1, 1, 0], [1, 1, 0], [0, 0, 2]], True),
        ([[1, 1, 0], [1, 1, 0], [0, 0, -2]], False),
        ([[1, 2, 0], [2, 1, 0], [0, 0, 1]], False),
        ([[2, -1, -1], [-1, 2, -1], [-1, -1, Fraction(19, 10)]], False),
        ([[0, 0, 0], [0, 0, Fraction(1, 10**9)], [0, Fraction(1, 10**9), 0]], False),
    ],
)
def test_matrices_without_a_negative_eigenvalue(rows: list[list[Any]], wanted: bool) -> None:
    assert is_semidefinite(tuple(tuple(map(Fraction, row)) for row in rows)) == wanted
    assert wanted == bool(np.linalg.eigvalsh(np.array(rows, dtype=np.float64)).min() > -1e-12)


def test_potential_energy_is_that_of_the_masses_above_the_base() -> None:
    """A base that stands higher is another potential, whatever it is to torques."""
    raised = ("robot", "joints", 0, "translation"), [0.0, 1.0, 0.0]
    found = refusal(compiled_named("arm", "energy", "float"), *raised)
    assert found.name == "dynamics" and "'potential'" in found.detail
    header, arrays = taken_apart(compiled_named("arm", "gravity", "float"))
    proved_findings(signed(replaced(header, *raised), arrays))


def test_the_gravity_of_the_robot_does_not_matter_where_it_is_given_at_run_time() -> None:
    robot = replace(bt.load_robot("planar2r"), gravity=(1.0, 2.0, 3.0))
    options = {"quantity": "energy", "gravity": "runtime", "bits": 8, "target": "float", "workers": 1, "cache": None}
    words = [taken_apart(to_bytes(bt.compile(each, **options)))[0]["words"] for each in (robot, "planar2r")]
    assert words[0] == words[1]
    proved_findings(to_bytes(bt.compile(robot, **options)))

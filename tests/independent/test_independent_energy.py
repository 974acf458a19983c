"""The independent checker on energies, and on gravity that is given at run time: proofs, truths, refusals."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from mutations import at, replaced, signed, taken_apart
from oracle import pinocchio_model, random_states
from recursion_numbers import Number, Plain
from sample_robots import TREE
from strategies import random_robot

import bddtorque as bt
from bddtorque.independent import check_bytes
from bddtorque.independent.dynamics import State, kinetic_energy, world_of
from bddtorque.independent.formats import words_of
from bddtorque.independent.quantity_energy import is_semidefinite
from bddtorque.independent.robot_source import subject_of
from bddtorque.independent.robots import robot_of
from bddtorque.model.model import to_bytes
from bddtorque.robots import from_urdf
from bddtorque.robots.robot import Robot
from bddtorque.robots.robot_data import robot_to_plain

SLIDER = random_robot(["revolute", "prismatic"], ["tilted", "general"], 3)
ROBOTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "arm": ("planar2r", {}),
    "tree with followers": (from_urdf(TREE), {}),
    "slider": (SLIDER, {"velocity": (-1.0, 2.0), "acceleration": 3.0, "position": [(-1.0, 2.0), (0.1, 0.7)]}),
}
BITS = {"float": 12, "integer": 7, "tables": 4}
GRAVITY = {"largest": 20, "runtime": True}
BOX = {"mass": [0.5, 2], "com": [[-0.1, 0.1], [0, 0], [0, 0.2]], "runtime": True}
READ = {"gravity": 1, "bias": 2, "energy": 2}
"""How many of positions, velocities and accelerations a quantity reads, where it is not all."""


def compiled(name: str, quantity: str, target: str, **options: Any) -> bytes:
    robot, ranges = ROBOTS[name]
    unread = ("position", "velocity", "acceleration")[READ.get(quantity, 3) :]
    kept = {key: value for key, value in ranges.items() if key not in unread}
    kept |= {} if quantity == "energy" else {"torque": "auto"}
    kept |= {"gains": {"kp": 100.0, "kv": 20.0}} if quantity == "computed_torque" else {}
    own = {"target": target, "bits": BITS[target], "block_bits": 16, "workers": 1, "cache": None}
    return to_bytes(bt.compile(robot, quantity=quantity, **own, **kept, **options))


def all_proved(data: bytes) -> None:
    found = check_bytes(data)
    assert all(each.passed for each in found), found[-1]
    assert [each.name for each in found][-3:] == ["dynamics", "certificate", "saturation"]


@pytest.mark.parametrize("target", BITS)
@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("options", [{}, {"gravity": "runtime"}], ids=["energy", "with gravity at run time"])
def test_energies_are_proved(name: str, target: str, options: dict[str, Any]) -> None:
    all_proved(compiled(name, "energy", target, **options))


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize(
    ("quantity", "target"),
    [
        ("torque", "float"),
        ("gravity", "tables"),
        ("gravity", "integer"),
        ("bias", "float"),
        ("computed_torque", "float"),
        *(
            pytest.param(quantity, target, marks=pytest.mark.everything)
            for quantity, target in (("torque", "integer"), ("torque", "tables"), ("bias", "tables"))
        ),
    ],
)
def test_gravity_at_run_time_is_proved(name: str, quantity: str, target: str) -> None:
    all_proved(compiled(name, quantity, target, gravity=GRAVITY))


@pytest.mark.parametrize("name", ["arm", "slider"])
@pytest.mark.parametrize(
    ("quantity", "target"), [("torque", "float"), ("gravity", "integer"), ("gravity", "tables"), ("bias", "float")]
)
def test_gravity_and_a_payload_together(name: str, quantity: str, target: str) -> None:
    all_proved(compiled(name, quantity, target, gravity=GRAVITY, payload=BOX))


def plain(robot: Robot) -> Any:
    return json.loads(json.dumps(robot_to_plain(robot)))


@pytest.mark.parametrize("seed", range(6))
def test_its_kinetic_energy_is_pinocchios(seed: int) -> None:
    kinds = ["revolute", "prismatic", "revolute", "revolute"]
    robot = random_robot(kinds, ["tilted"] * 4, seed, rotors=False, payload=bool(seed % 2))
    model = pinocchio_model(robot)
    data = model.createData()
    q, qd, _ = random_states(robot, 5, seed)
    columns = [[Number(column) for column in each.T] for each in (q, np.sin(q), np.cos(q), qd, 0 * qd)]
    own = robot_of(plain(robot))
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
        ("arm", ("words", "outputs", 0, "words", 0, "low"), 0.0),
        ("arm", ("words", "outputs", 0, "shape"), [1]),
        ("arm", ("words", "outputs", 1, "words", 0, "unit"), "N·m"),
        ("arm", ("spec", "quantity"), "bias"),
    ],
)
def test_other_energies_are_no_proof_of_these(name: str, path: tuple[Any, ...], value: Any) -> None:
    header, arrays = taken_apart(compiled(name, "energy", "float"))
    found = check_bytes(signed(replaced(header, path, value), arrays))[-1]
    assert not found.passed and "Error" not in found.detail


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
    header, arrays = taken_apart(compiled("arm", "gravity", "float", gravity=GRAVITY))
    found = check_bytes(signed(replaced(header, path, value), arrays))[-1]
    assert not found.passed and "Error" not in found.detail


@pytest.mark.parametrize("end", ["low", "high"])
@pytest.mark.parametrize("number", range(3))
def test_a_word_of_gravity_that_is_off_by_the_last_bit_is_found(number: int, end: str) -> None:
    header, arrays = taken_apart(compiled("arm", "gravity", "float", gravity=GRAVITY))
    place = ("words", "inputs", 1, "words", number, end)
    found = check_bytes(signed(replaced(header, place, math.nextafter(at(header, place), math.inf)), arrays))[-1]
    assert (found.name, found.passed) == ("words", False)


def known(header: dict[str, Any]) -> tuple[float, float]:
    subject = subject_of(header, words_of(header["words"]))
    return subject.record.known_span(subject, 0)


def test_kinetic_energy_is_known_not_to_be_negative_of_bodies_alone() -> None:
    """Words of a payload may be those of no body, and so may robots that are allowed to be unphysical."""
    header = taken_apart(compiled("arm", "energy", "float"))[0]
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
    header, arrays = taken_apart(compiled("arm", "energy", "float"))
    raised = replaced(header, ("robot", "joints", 0, "translation"), [0.0, 1.0, 0.0])
    found = check_bytes(signed(raised, arrays))[-1]
    assert (found.name, found.passed) == ("dynamics", False) and "'potential'" in found.detail
    torques, arrays = taken_apart(compiled("arm", "gravity", "float"))
    raised = replaced(torques, ("robot", "joints", 0, "translation"), [0.0, 1.0, 0.0])
    assert check_bytes(signed(raised, arrays))[-1].passed


def test_the_gravity_of_the_robot_does_not_matter_where_it_is_given_at_run_time() -> None:
    robot = replace(bt.load_robot("planar2r"), gravity=(1.0, 2.0, 3.0))
    options = {"quantity": "energy", "gravity": "runtime", "bits": 8, "target": "float", "workers": 1, "cache": None}
    words = [taken_apart(to_bytes(bt.compile(each, **options)))[0]["words"] for each in (robot, "planar2r")]
    assert words[0] == words[1]
    all_proved(to_bytes(bt.compile(robot, **options)))

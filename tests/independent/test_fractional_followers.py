"""Joints that turn by a fraction of their leader's angle: pinocchio's torques, one turn, refusals."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from compiled import random_words, reference
from mutations import both_prove, proved_findings, refusal, replaced, signed, taken_apart
from oracle import pinocchio_torques
from sample_robots import TREE

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.export.c_exporter import export_c
from bddtorque.model.model import from_bytes, to_bytes
from bddtorque.plan.reference import run_plan
from bddtorque.robots import from_urdf
from bddtorque.spec import JointSpec, Spec

QUICK: dict[str, Any] = {"workers": 1, "cache": None}
FLAP = '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>'


def tree(multiplier: float, limits: str | None = None) -> str:
    """Return a tree in which joint 'right' follows 'flap' with a multiplier; `limits` are those of 'flap'."""
    text = TREE.replace('multiplier="-2" offset="0.3"', f'multiplier="{multiplier!r}" offset="0.3"')
    assert text.count(FLAP) == 1
    return text if limits is None else text.replace(FLAP, f'<limit {limits} velocity="1" effort="1"/></joint>')


@pytest.mark.parametrize(
    ("multiplier", "target", "bits"),
    [
        (-0.7, "float", 12),
        pytest.param(1.5, "float", 12, marks=pytest.mark.everything),
        pytest.param(math.pi, "tables", 5, marks=pytest.mark.slow),
        pytest.param(0.3, "integer", 6, marks=pytest.mark.everything),
    ],
)
def test_words_are_within_the_certificate_of_pinocchio(multiplier: float, target: str, bits: int) -> None:
    text = tree(multiplier)
    model = bt.compile(from_urdf(text), bits=bits, target=target, block_bits=16, **QUICK)
    words = random_words(model, 300, 1)
    state = [group.dequantise(each) for group, each in zip(model.formats.inputs, words, strict=True)]
    true = pinocchio_torques(pin.buildModelFromXML(text), model.robot, *state)
    found = model.formats.tau.dequantise(reference(model, words))
    spans = np.array([word.span for word in model.formats.tau]).T
    errors = np.abs(found - np.clip(true, *spans)).max(axis=0) / model.formats.tau.lsb
    assert (errors <= np.array(model.certificate.bounds) + 1e-9).all()
    assert model.certificate.faithful
    data = to_bytes(model)
    assert from_bytes(data).digest == model.digest
    both_prove(data)


@pytest.mark.everything
@pytest.mark.parametrize(("target", "bits"), [("float", 12), ("tables", 5), ("integer", 6)])
def test_c_and_evaluators_give_the_words_of_the_plain_interpreter(target: str, bits: int, tmp_path: Path) -> None:
    model = bt.compile(from_urdf(tree(-0.7)), bits=bits, target=target, block_bits=16, **QUICK)
    words = random_words(model, 60, 1)
    expected = reference(model, words)
    evaluators = [model, model.evaluator("parallel", processors=2)]
    evaluators += [model.evaluator("bits")] if target == "tables" else []
    for evaluator in evaluators:
        np.testing.assert_array_equal(evaluator.torque_words(*words), expected)
    export_c(model, tmp_path / "c")
    tried = subprocess.run(["make", "-s", "check"], cwd=tmp_path / "c", capture_output=True, text=True, check=False)
    assert tried.returncode == 0, tried.stdout + tried.stderr


@pytest.mark.parametrize("quantity", ["kinematics", "jacobian"])
def test_the_pose_of_a_follower(quantity: str) -> None:
    robot = from_urdf(tree(0.3), frame="two")
    model = bt.compile(robot, quantity=quantity, target="float", bits=12, **QUICK)
    rng = np.random.default_rng(1)
    words = {f"q{j}": rng.integers(-2048, 2048, 200) for j in (1, 2, 3)}
    found = np.stack(run_plan(model.plan, model.tables, words), 1)
    true = model.provenance.true_values(model.formats, words, model.plan.blocks)
    assert true is not None
    for k, (word, proved) in enumerate(zip(model.formats.results.values(), model.certificate.outputs, strict=True)):
        assert np.abs(found[:, k] - word.units(true[:, k])).max() <= proved.bound + 1e-6
    both_prove(to_bytes(model))


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ('lower="0" upper="0"', "got no limits: give position"),
        ('lower="0" upper="5"', r"hold one turn, -3\.14159 to 3\.14006 rad, .* got 0 to 5 rad: give position, or an"),
        (f'lower="-1" upper="{math.pi!r}"', r"got -1 to 3\.14159 rad"),
    ],
)
def test_a_leader_that_may_leave_its_turn_is_refused(limits: str, message: str) -> None:
    robot = from_urdf(tree(0.5, limits))
    with pytest.raises(BddTorqueError, match=f"joint 'right' follows 'flap' with multiplier 0.5: .*{message}"):
        bt.compile(robot, target="float", bits=12, **QUICK)
    with pytest.raises(BddTorqueError, match=message):
        bt.compile(robot, quantity="gravity", target="float", bits=12, **QUICK)
    bt.compile(robot, quantity="gravity", target="float", bits=12, position={"flap": "179 deg"}, **QUICK)


def test_an_offset_moves_the_turn(tmp_path: Path) -> None:
    (tmp_path / "tree.urdf").write_text(tree(0.5, 'lower="0" upper="5"'))
    joints = (JointSpec("flap", offset=2.5, sign=-1),)
    spec = Spec("tree.urdf", quantity="gravity", target="float", bits=12, joints=joints, directory=tmp_path)
    model = bt.compile(spec, **QUICK)
    q = np.array([[0.3, 0.2, 4.9], [0.3, 0.2, 0.1]])
    words = {f"q{j}": column for j, column in enumerate(model.formats.q.quantise(q).T, 1)}
    found = np.stack(run_plan(model.plan, model.tables, words), axis=1)  # no code is generated for it
    true = bt.gravity_torque(model.robot, q)
    for j, word in enumerate(model.formats["tau"]):
        assert np.abs(found[:, j] - word.units(true[:, j])).max() < 4
    proved_findings(to_bytes(model))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("robot", "followers", 0, "multiplier"), -0.71),
        (("robot", "followers", 0, "multiplier"), -1.0),
        (("robot", "followers", 0, "multiplier"), 0.7),
        (("plan", "blocks", 0, "arguments", 0, 2), "-7/10"),
        (("plan", "blocks", 0, "arguments", 0, 2), "-3/4"),
        (("plan", "blocks", 0, "arguments", 0, 3), "1/4"),
        (("words", "inputs", 0, "words", 2, "high"), None),
        (("version",), 4),
    ],
)
def test_another_fraction_is_no_proof_of_this_one(path: tuple[Any, ...], value: Any) -> None:
    model = bt.compile(from_urdf(tree(-0.7)), quantity="gravity", bits=8, target="float", **QUICK)
    refusal(to_bytes(model), path, value)
    header, arrays = taken_apart(to_bytes(model))
    with pytest.raises(BddTorqueError):
        from_bytes(signed(replaced(header, ("plan", "blocks", 0, "arguments", 0, 2), "1/3"), arrays))


def test_functions_of_angles_take_integers_only() -> None:
    with pytest.raises(BddTorqueError, match="an angle may be multiplied by integers only, because its words wrap"):
        bt.compile_function(lambda q: np.sin(0.5 * q), inputs=[(8, "angle")], output=8, trace="traced")

"""Trees, coupled joints and long chains compiled for every target: within the bound, kept in files, proved again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compiled import random_words, reference
from sample_robots import LIMIT, TREE, example_urdf, extended, joint

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.verify import verify
from bddtorque.model.model import from_bytes, to_bytes
from bddtorque.robots import from_urdf, load_urdf
from bddtorque.robots.parts import Joint, Link
from bddtorque.robots.robot import Robot
from machines.lathrop.arm import distal_arm

QUICK: dict[str, Any] = {"workers": 1, "cache": None}


def largest_errors(model: bt.Model, count: int = 2000) -> np.ndarray:
    """Return how far the words are from the torques of float64, in units, at most; no code is generated for it."""
    words = random_words(model, count, 1)
    state = [group.dequantise(each) for group, each in zip(model.formats.inputs, words, strict=True)]
    true = bt.inverse_dynamics(model.robot, *state)
    found = model.formats.tau.dequantise(reference(model, words))
    spans = np.array([word.span for word in model.formats.tau]).T
    return np.abs(found - np.clip(true, *spans)).max(axis=0) / model.formats.tau.lsb


@pytest.mark.parametrize(
    ("target", "bits"),
    [
        ("float", 12),
        pytest.param("tables", 5, marks=pytest.mark.slow),
        pytest.param("integer", 6, marks=pytest.mark.everything),
    ],
)
def test_a_tree_with_followers(target: str, bits: int, tmp_path: Path) -> None:
    model = bt.compile(from_urdf(TREE), bits=bits, target=target, block_bits=16, **QUICK)
    assert model.formats.q.labels == ("shoulder", "elbow", "flap")
    assert (largest_errors(model) <= np.array(model.certificate.bounds)).all()
    again = from_bytes(to_bytes(model), "tree")
    assert again.digest == model.digest
    assert again.robot.followers == model.robot.followers
    file = tmp_path / "tree.bdt"
    model.save(file)
    assert all(check.passed for check in verify(file, workers=1))


def test_a_quadruped_has_twelve_torques() -> None:
    robot = load_urdf(example_urdf("solo_description/robots/solo12.urdf"))
    model = bt.compile(robot, acceleration=50, bits=12, target="float", **QUICK)
    assert len(model.formats.tau) == 12
    assert (largest_errors(model) <= np.array(model.certificate.bounds)).all()
    assert all(check.passed for check in verify(model, workers=1))


def test_a_chain_of_sixteen_joints() -> None:
    """Every axis at right angles to the one before, which is where bounds grow fastest."""
    turn = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
    joints = tuple(Joint(f"j{i}", "revolute", turn, (0.1, 0.0, 0.0), velocity=1.0, acceleration=5.0) for i in range(16))
    link = Link("l", 0.1, (0.05, 0.01, 0.0), ((1e-4, 0, 0), (0, 2e-4, 0), (0, 0, 2e-4)))
    model = bt.compile(Robot("snake", joints, (link,) * 16), bits=12, target="float", **QUICK)
    assert (largest_errors(model, 500) <= np.array(model.certificate.bounds)).all()
    assert max(bound.parts.total for bound in model.certificate.outputs) < 1.0


def test_terms_of_a_tree() -> None:
    """Without followers a small tree has separate terms, as a chain has."""
    robot = from_urdf(extended(joint("flap", "revolute", "upper", "side", LIMIT)))
    model = bt.compile(robot, bits=4, source="terms", **QUICK)
    assert model.plan.source == "terms"
    assert (largest_errors(model) <= np.array(model.certificate.bounds)).all()
    with pytest.raises(BddTorqueError, match="joint 'right' follows another"):
        bt.compile(from_urdf(TREE), bits=4, source="terms", **QUICK)


def test_machines_of_the_literature_are_serial() -> None:
    with pytest.raises(BddTorqueError, match="takes serial chains only, and robot 'two' is a tree"):
        distal_arm(from_urdf(TREE))


@pytest.mark.everything
@pytest.mark.parametrize("target", ["integer", "tables"])
def test_twelve_joints_in_whole_numbers(target: str) -> None:
    robot = load_urdf(example_urdf("solo_description/robots/solo12.urdf"))
    bits = {"integer": 12, "tables": 6}[target]
    model = bt.compile(robot, velocity=10, acceleration=50, bits=bits, target=target, **QUICK)
    assert (largest_errors(model) <= np.array(model.certificate.bounds)).all()
    assert all(check.passed for check in verify(model, workers=1))

"""Trees, coupled joints and long chains compiled for every target: within the bound, kept in files, proved again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compiled import random_words, reference
from sample_robots import LIMIT, TREE, extended, joint

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.robots import from_urdf
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

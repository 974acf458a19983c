"""Joints that slide while their leaders turn: compiled for all targets, every word within the certificate."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.reference import run_plan
from bddtorque.robots.parts import Follower, Frame, Joint, Link
from bddtorque.robots.robot import Robot

QUARTER = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
BODY = Link("wheel", 2.0, (0.1, 0.05, 0.02), ((0.02, 0.0, 0.0), (0.0, 0.03, 0.0), (0.0, 0.0, 0.025)))
TARGETS = ("tables", "integer", "float")
QUANTITIES = ("gravity", "mass_matrix", "kinematics", "jacobian", "energy", "bias", "computed_torque")


def rack(limits: tuple[float, float] = (-2.5, 2.5)) -> Robot:
    """Return a wheel that moves a rack on it."""
    wheel = Joint("wheel", "revolute", QUARTER, lower=limits[0], upper=limits[1], velocity=2.0, acceleration=4.0)
    slide = Joint("rack", "prismatic", QUARTER, (0.1, 0.2, 0.0), parent="wheel")
    follower = Follower(slide, replace(BODY, name="rack"), "wheel", 0.05, 0.02)
    tip = Frame(translation=(0.1, 0.0, 0.2), parent="rack")
    return Robot("rack", (wheel,), (BODY,), (1.0, -2.0, -9.0), tip, followers=(follower,))


def every_word(model: bt.Model) -> dict[str, np.ndarray]:
    """Return all combinations of input words, by the names of the plan."""
    words = model.formats.words
    states = np.array(list(product(*(range(word.lowest, word.highest + 1) for word in words.values()))))
    return dict(zip(words, states.T, strict=True))


def check_every_word(model: bt.Model) -> None:
    """Compare the words of all states with float64: none may be farther off than is proved."""
    words = every_word(model)
    found = run_plan(model.plan, model.tables, words)
    true = model.provenance.true_values(model.formats, words, model.plan.blocks)
    assert true is not None
    results = zip(model.formats.results.values(), found, true.T, model.certificate.bounds, strict=True)
    for word, own, value, bound in results:
        units = np.clip((word.sign * value - word.centre) / word.lsb, word.lowest, word.highest)
        assert np.abs(own - units).max() <= bound + 1e-9
    rows = {name: np.stack(columns, axis=1) for name, columns in model.formats.grouped(words).items()}
    fast = model.torque_words if model.quantity == "torque" else model.evaluator().output_words
    np.testing.assert_array_equal(np.asarray(fast(**rows)).reshape(-1, len(found)), np.stack(found, axis=1))


@pytest.mark.parametrize("target", TARGETS)
def test_torques_of_every_state(target: str, tmp_path: Path) -> None:
    model = bt.compile(rack(), bits=4, target=target, cache=None, workers=1)
    check_every_word(model)
    assert all(check.passed for check in bt.verify(model))
    model.save(tmp_path / "rack.bdt")
    assert bt.load(tmp_path / "rack.bdt").formats.derived == model.formats.derived
    assert [word.name for word in model.formats.derived] == ["q_angle1"]


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_other_quantities_in_every_state(quantity: str) -> None:
    options: dict[str, Any] = {"gains": {"kp": 10, "kv": 2}} if quantity == "computed_torque" else {}
    bits = 3 if options else 6
    model = bt.compile(rack(), bits=bits, quantity=quantity, target="integer", cache=None, workers=1, **options)
    check_every_word(model)
    assert all(check.passed for check in bt.verify(model))


def test_a_turned_and_shifted_encoder(tmp_path: Path) -> None:
    (tmp_path / "rack.toml").write_text(
        """name = "rack"
        [[joint]]
        name = "wheel"
        type = "revolute"
        origin = { rpy = ["pi/2", 0, 0] }
        limits = { position = [-2.0, 3.4] }
        link = { mass = 1.0, centre_of_mass = [0.1, 0.2, 0.0], inertia = [0.1, 0.1, 0.1] }
        [[joint]]
        name = "rack"
        type = "prismatic"
        axis = [1, 1, 0]
        mimic = { joint = "wheel", multiplier = -0.2, offset = 0.1 }
        link = { mass = 1.0, centre_of_mass = [0.1, 0.2, 0.0], inertia = [0.1, 0.1, 0.1] }
        """
    )
    (tmp_path / "spec.toml").write_text(
        """robot = "rack.toml"
        bits = 6
        quantity = "gravity"
        [[joint]]
        name = "wheel"
        sign = -1
        offset = 0.7
        """
    )
    model = bt.compile(tmp_path / "spec.toml", cache=None, workers=1)
    assert model.formats.q["wheel"].offset == 0.7
    check_every_word(model)
    assert all(check.passed for check in bt.verify(model))


def test_its_leader_must_stay_within_a_turn() -> None:
    with pytest.raises(BddTorqueError, match=r"joint 'rack' follows 'wheel' with multiplier 0\.05: words of 'wheel'"):
        bt.compile(rack((-3.5, 3.0)), bits=6, quantity="gravity", cache=None)


def test_terms_are_not_expanded() -> None:
    with pytest.raises(BddTorqueError, match=r"joint 'rack' follows another, and terms of such joints"):
        bt.compile(rack(), bits=6, source="terms", cache=None)

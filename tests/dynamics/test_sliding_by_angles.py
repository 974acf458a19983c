"""Joints that slide while their leaders turn: compiled for all targets, every word within the certificate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from compiled import check_every_word

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.robots.parts import Follower, Frame, Joint, Link
from bddtorque.robots.robot import Robot

QUARTER = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
BODY = Link("wheel", 2.0, (0.1, 0.05, 0.02), ((0.02, 0.0, 0.0), (0.0, 0.03, 0.0), (0.0, 0.0, 0.025)))
TARGETS = ("tables", "integer", "float")


def rack(limits: tuple[float, float] = (-2.5, 2.5)) -> Robot:
    """Return a wheel that moves a rack on it."""
    wheel = Joint("wheel", "revolute", QUARTER, lower=limits[0], upper=limits[1], velocity=2.0, acceleration=4.0)
    slide = Joint("rack", "prismatic", QUARTER, (0.1, 0.2, 0.0), parent="wheel")
    follower = Follower(slide, replace(BODY, name="rack"), "wheel", 0.05, 0.02)
    tip = Frame(translation=(0.1, 0.0, 0.2), parent="rack")
    return Robot("rack", (wheel,), (BODY,), (1.0, -2.0, -9.0), tip, followers=(follower,))


@pytest.mark.parametrize("target", TARGETS)
def test_torques_of_every_state(target: str, tmp_path: Path) -> None:
    model = bt.compile(rack(), bits=4, target=target, cache=None, workers=1)
    check_every_word(model)
    assert all(check.passed for check in bt.verify(model))
    model.save(tmp_path / "rack.bdt")
    assert bt.load(tmp_path / "rack.bdt").formats.derived == model.formats.derived
    assert [word.name for word in model.formats.derived] == ["q_angle1"]


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

"""The independent checker proves what slides by an angle, and refuses files that say something else of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

import bddtorque as bt
from bddtorque.independent.checker import check_bytes
from bddtorque.model.model import to_bytes
from bddtorque.robots.joint_kinds import JOINT_KINDS, joint_kind
from bddtorque.robots.parts import Follower, Frame, Joint, Link
from bddtorque.robots.robot import Robot

QUARTER = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
BODY = Link("wheel", 2.0, (0.1, 0.05, 0.02), ((0.02, 0.0, 0.0), (0.0, 0.03, 0.0), (0.0, 0.0, 0.025)))
QUANTITIES = ("torque", "gravity", "bias", "mass_matrix", "kinematics", "jacobian", "energy", "computed_torque")


@cache
def rack() -> Robot:
    """Return a wheel that moves a rack on it."""
    wheel = Joint("wheel", "revolute", QUARTER, lower=-2.5, upper=2.5, velocity=2.0, acceleration=4.0)
    slide = Joint("rack", "prismatic", QUARTER, (0.1, 0.2, 0.0), parent="wheel")
    follower = Follower(slide, replace(BODY, name="rack"), "wheel", 0.05, 0.02)
    tip = Frame(translation=(0.1, 0.0, 0.2), parent="rack")
    return Robot("rack", (wheel,), (BODY,), (1.0, -2.0, -9.0), tip, followers=(follower,))


def arm_of(name: str) -> Robot:
    """Return an arm whose first joint is revolute, and the second of some kind."""
    kind = joint_kind(name, "joint", dict.fromkeys(JOINT_KINDS[name].readers(), 0.4))
    first = Joint("first", "revolute", QUARTER, lower=-2.5, upper=2.5, velocity=2.0, acceleration=4.0)
    second = replace(first, name="second", kind=kind, translation=(0.2, 0.1, 0.0), rotor_inertia=0.01)
    return Robot("arm", (first, second), (BODY, replace(BODY, name="last")), (1.0, -2.0, -9.0))


def refused(data: bytes) -> list[str]:
    """Return what the checker refuses of a file."""
    return [f"{each.name}: {each.detail}" for each in check_bytes(data) if not each.passed]


@pytest.mark.parametrize("target", ["tables", "integer", "float"])
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_a_rack_is_proved(quantity: str, target: str) -> None:
    options: dict[str, Any] = {"gains": {"kp": 10, "kv": 2}} if quantity == "computed_torque" else {}
    model = bt.compile(rack(), bits=6, quantity=quantity, target=target, cache=None, workers=1, **options)
    assert not refused(to_bytes(model))


@pytest.mark.parametrize("target", ["tables", "integer", "float"])
@pytest.mark.parametrize("kind", list(JOINT_KINDS))
def test_every_kind_is_proved(kind: str, target: str) -> None:
    for quantity in ("torque", "gravity") if target == "float" else ("gravity",):
        model = bt.compile(arm_of(kind), bits=7, quantity=quantity, target=target, cache=None, workers=1)
        assert not refused(to_bytes(model))


@pytest.mark.parametrize("kind", [name for name, kind in JOINT_KINDS.items() if kind.readers()])
def test_other_numbers_of_a_kind_are_refused(kind: str) -> None:
    model = bt.compile(arm_of(kind), bits=10, target="float", cache=None, workers=1)
    for key in JOINT_KINDS[kind].readers():
        first, second = model.robot.joints
        other = replace(second, kind=replace(second.kind, **{key: 0.41}))
        robot = replace(model.robot, joints=(first, other))
        (said, *_) = refused(to_bytes(replace(model, provenance=replace(model.provenance, robot=robot))))
        assert said.startswith("dynamics")


def _other_way(follower: dict[str, Any]) -> None:
    follower["multiplier"] *= 1.02


def _other_offset(follower: dict[str, Any]) -> None:
    follower["offset"] += 0.001


@pytest.mark.parametrize("change", [_other_way, _other_offset])
def test_another_robot_is_refused(change: Callable[[dict[str, Any]], None]) -> None:
    model = bt.compile(rack(), bits=10, quantity="gravity", target="float", cache=None, workers=1)
    follower = model.robot.followers[0]
    said: dict[str, Any] = {"multiplier": follower.multiplier, "offset": follower.offset}
    change(said)
    other = replace(model.robot, followers=(replace(follower, **said),))
    changed = replace(model, provenance=replace(model.provenance, robot=other))
    assert refused(to_bytes(changed))[0].startswith("dynamics")


def test_a_leader_that_may_leave_its_turn_is_refused() -> None:
    model = bt.compile(rack(), bits=8, quantity="gravity", target="float", cache=None, workers=1)
    word = replace(model.formats.q[0], low=-3.5)
    formats = replace(model.formats, inputs=(replace(model.formats.q, words=(word,)),))
    (joint,) = model.spec.joints
    spec = replace(model.spec, joints=(replace(joint, position=(-3.5, 2.5)),))
    changed = replace(model, formats=formats, provenance=replace(model.provenance, spec=spec))
    (said,) = refused(to_bytes(changed))
    assert "expected limits within a turn" in said

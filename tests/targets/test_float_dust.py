"""Dust in plans for floats: what is left out moves no output by more than it is charged, and files are still proved."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from bdt_files import signed, taken_apart
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import robots, seeds

import bddtorque as bt
from bddtorque.compiler.robot_draft import draft_of_robot
from bddtorque.dynamics.robot_trace import trace_torques
from bddtorque.dynamics.tracer import Tracer
from bddtorque.independent import check_bytes
from bddtorque.model.model import to_bytes
from bddtorque.robots.robot import Robot
from bddtorque.spec.spec_files import spec_and_robot
from bddtorque.targets.float.float_planner import DUST_BUDGET, MAX_DUST_ANGLES, without_dust
from bddtorque.words.bounded import Interval

INPUTS = {"u": Interval(-1.0, 2.0), "v": Interval(-3.0, 3.0)}


def tilted(robot: Robot, angle: float) -> Robot:
    """Return a robot whose axes miss a right angle."""
    tilt = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, -angle], [0.0, angle, 1.0]])
    joints = tuple(replace(joint, rotation=tuple(map(tuple, joint.rotation @ tilt))) for joint in robot.joints)
    return replace(robot, joints=joints)


@given(st.floats(1e-9, 1e-4), st.floats(1e-3, 10.0))
def test_a_charge_is_what_the_summand_is_worth(tiny: float, unit: float) -> None:
    tracer = Tracer()
    a, u, v = (tracer.input(name) for name in "auv")
    graph = tracer.graph([v * (u + tiny * v * tracer.sin(a)), v * u], ["y", "z"])
    left, charges, count = without_dust(graph, INPUTS, [unit, unit])
    worth = 9 * tiny / unit
    if count:
        assert left.counts()["sums"] == 0
        assert charges[0] * unit == pytest.approx(9 * tiny, rel=1e-6) and charges[0] * unit >= 9 * tiny
        assert charges[0] <= DUST_BUDGET * (1 + 1e-6) and charges[1] == 0
    else:
        assert left is graph and (worth > 0.98 * DUST_BUDGET or 3 * tiny > 2.0**-16 * 2 * (1 - 1e-9))


@given(robots(most=4), seeds)
@settings(max_examples=examples(20), deadline=None)
def test_no_output_moves_further_than_it_is_charged(robot: Robot, seed: int) -> None:
    graph, rng = trace_torques(tilted(robot, 1e-6)), np.random.default_rng(seed)
    states, inputs = {}, {}
    for name in graph.input_names:
        turns = name[1] != "d" and robot.joints[int(name[1:]) - 1].kind.turns
        if not turns:
            inputs[name] = Interval(-2.0, 3.0)
        states[name] = rng.uniform(-np.pi, np.pi, 300) if turns else rng.choice([-2.0, 3.0], 300)
    units = [1e-2] * len(graph.outputs)
    left, charges, _ = without_dust(graph, inputs, units)
    known = {name: states[name] for name in left.input_names}
    for before, after, charge in zip(graph.evaluate(states), left.evaluate(known), charges, strict=True):
        scale = np.max(np.abs(before)) + 1.0
        assert np.max(np.abs(before - after)) <= charge * 1e-2 + 1e-11 * scale


def test_dust_of_a_robot_is_dropped_charged_and_told() -> None:
    clean = bt.load_robot("scara")
    spec, robot, _ = spec_and_robot(clean, {"bits": 12, "target": "float"})
    plain = sum(draft_of_robot(spec, robot).plan.counts()[name] for name in ("sums", "products", "fused"))
    model = bt.compile(tilted(clean, 1e-7), bits=10, target="float", workers=1)
    assert sum(model.plan.counts()[name] for name in ("sums", "products", "fused")) == plain
    assert any("numerical dust" in note for note in model.report["notes"])
    assert 0 < max(output.parts.dropped for output in model.certificate.outputs) < DUST_BUDGET * (1 + 1e-6)
    assert all(check.passed for check in bt.verify(model))
    assert all(check.passed for check in check_bytes(to_bytes(model)))
    header, arrays = taken_apart(to_bytes(model))
    for output in header["certificate"]["outputs"]:  # the bound as it would be without the charge
        output["parts"]["dropped"] = 0.0
        output["bound"] = sum(output["parts"].values()) * (1 + 1e-15)
    assert not all(check.passed for check in check_bytes(signed(header, arrays)))


@pytest.mark.parametrize("angles", [MAX_DUST_ANGLES, MAX_DUST_ANGLES + 1])
def test_dust_stays_where_no_grid_could_show_that_it_is_gone(angles: int) -> None:
    tracer = Tracer()
    total = math.prod((tracer.sin(tracer.input(f"q{k}")) for k in range(angles)), start=tracer.input("u"))
    graph = tracer.graph([total + 1e-9 * tracer.input("v") * tracer.input("u")], ["y"])
    assert (without_dust(graph, INPUTS, [1.0])[2] == 1) == (angles == MAX_DUST_ANGLES)


@pytest.mark.parametrize("name", ["planar2r", "scara", "stanford"])
def test_arms_without_dust_are_planned_as_ever(name: str) -> None:
    spec, robot, _ = spec_and_robot(name, {"bits": 12, "target": "float"})
    draft = draft_of_robot(spec, robot)
    assert draft.dust == 0 and not any(draft.dropped)

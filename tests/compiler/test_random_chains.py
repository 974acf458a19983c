"""Random chains: any joints, encoders and ranges are planned and certified; small ones are compiled and tried."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import KINDS, robots

import bddtorque as bt
from bddtorque.compiler.robot_draft import draft_of_robot
from bddtorque.robots.robot import Robot
from bddtorque.spec import JointSpec, Spec


def relaxed(examples: int) -> settings:
    """Return settings for examples that take their time."""
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
    return settings(max_examples=examples, suppress_health_check=slow, print_blob=True)


@dataclass(frozen=True)
class Case:
    """A robot, and how it is to be compiled."""

    robot: Robot
    spec: Spec


@st.composite
def cases(draw, most: int, least_bits: int, most_bits: int, fewest: int = 1) -> Case:
    """Draw a chain with encoders of either direction and any offset, and ranges that need not be symmetric."""
    robot = draw(robots(most=most, fewest=fewest, kinds=KINDS))
    n = robot.degrees_of_freedom
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    ranges = {"position": (1.0, 0.5), "velocity": (3.0, 1.0), "acceleration": (8.0, 2.0)}
    drawn = {
        quantity: [sorted((-rng.uniform(least, most_), rng.uniform(least, most_))) for _ in range(n)]
        for quantity, (most_, least) in ranges.items()
    }
    largest = _largest_torques(robot, drawn, rng)
    joints = tuple(
        JointSpec(
            name=joint.name,
            **{quantity: tuple(drawn[quantity][j]) for quantity in ranges},
            torque=(-largest[j] * rng.uniform(0.7, 1.5), largest[j] * rng.uniform(0.7, 1.5)),
            sign=draw(st.sampled_from([1, -1])),
            offset=float(draw(st.sampled_from([0.0, 0.0, rng.uniform(-0.4, 0.4)]))),
        )
        for j, joint in enumerate(robot.joints)
    )
    bits = tuple(draw(st.lists(st.integers(least_bits, most_bits), min_size=n, max_size=n)))
    terms = n <= 4 and draw(st.booleans())
    spec = Spec(
        robot="random",
        bits=bits,
        joints=joints,
        source="terms" if terms else "recursive",
        target=draw(st.sampled_from(["tables", "float"])),
    )
    return Case(robot, spec)


def _largest_torques(robot, ranges, rng):
    """Return about the largest torques of a robot within its ranges: some states go beyond and saturate."""
    states = []
    for quantity in ("position", "velocity", "acceleration"):
        low, high = np.array(ranges[quantity]).T
        if quantity == "position":
            turning = [joint.kind.turns for joint in robot.joints]
            low, high = np.where(turning, -np.pi, low), np.where(turning, np.pi, high)
        states.append(rng.uniform(low, high, (300, len(low))))
    return np.maximum(np.abs(bt.inverse_dynamics(robot, *states)).max(axis=0), 1e-3)


def assert_certified(case: Case) -> None:
    """Assert that a case has a plan whose bound, with what floats can err, is below a unit for every torque."""
    draft = draft_of_robot(case.spec, case.robot)
    plan = draft.plan
    assert plan.source == case.spec.source and plan.target == case.spec.target
    totals = [bound.total + spent for bound, spent in zip(draft.bounds(), draft.arithmetic, strict=True)]
    assert len(totals) == case.robot.degrees_of_freedom
    assert max(totals) < 1.0
    assert all(sum(block.input_widths) <= plan.block_bits for block in plan.blocks)


@relaxed(16)
@given(cases(most=5, least_bits=4, most_bits=14))
def test_chains_are_planned_and_certified(case):
    assert_certified(case)


@pytest.mark.everything
@relaxed(200)
@given(cases(most=7, least_bits=4, most_bits=16))
def test_many_chains_are_planned_and_certified(case):
    assert_certified(case)

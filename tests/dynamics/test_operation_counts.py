"""How many operations the torques of the built-in arms take, and what regrouping is worth."""

from __future__ import annotations

import pytest
from examples_tried import examples
from hypothesis import given, settings
from strategies import BUILT_IN, random_robot, robots

import bddtorque as bt
from bddtorque.dynamics.robot_trace import trace_torques

# sums, products, sine-cosines: as found, and no more than which
COUNTS = {
    "planar2r": ((11, 15, 4), (12, 16, 4)),
    "planar3r_a": ((23, 27, 6), (26, 33, 6)),
    "planar3r_b": ((23, 33, 6), (26, 33, 6)),
    "scara": ((26, 36, 4), None),
    "stanford": ((107, 143, 8), None),
    "puma560": ((156, 194, 10), (157, 205, 10)),
    "ur5": ((118, 160, 10), (130, 179, 10)),
    "panda": ((283, 308, 12), (295, 360, 12)),
}


@pytest.mark.parametrize("name", BUILT_IN)
def test_counts_of_the_built_in_arms(name: str) -> None:
    found, most = COUNTS[name]
    counted = tuple(trace_torques(bt.load_robot(name)).counts().values())
    if most is not None:
        assert all(count <= bound for count, bound in zip(counted, most, strict=True))
    assert counted == found  # a change, even for the better, is to be seen


@pytest.mark.parametrize("name", BUILT_IN)
def test_inputs_and_outputs_have_their_names(name: str) -> None:
    robot = bt.load_robot(name)
    graph, n = trace_torques(robot), robot.degrees_of_freedom
    assert graph.output_names == tuple(f"tau{i + 1}" for i in range(n))
    assert set(graph.input_names) <= {f"{kind}{i + 1}" for kind in ("q", "qd", "qdd") for i in range(n)}
    for i, support in enumerate(graph.supports()):
        assert f"qdd{i + 1}" in support


def test_a_waist_that_stands_upright_is_not_an_input() -> None:
    # turning the whole arm about the vertical changes nothing, and the graph knows
    for name in ("puma560", "ur5", "panda", "stanford"):
        assert "q1" not in trace_torques(bt.load_robot(name)).input_names


@settings(max_examples=examples(60))
@given(robots())
def test_regrouping_never_costs_more(robot: bt.Robot) -> None:
    counted, plain = (trace_torques(robot, regroup=regroup).counts() for regroup in (True, False))
    assert sum(counted.values()) <= sum(plain.values())


def test_sliding_joints_on_one_line_keep_their_frames() -> None:
    # here other frames would cost more: 51 products for 39
    kinds, lines = (
        ["revolute", "prismatic", "prismatic", "revolute"],
        ["general", "coincident", "coincident", "parallel"],
    )
    robot = random_robot(kinds, lines, seed=5, rotors=False, gravity=False)
    assert trace_torques(robot) == trace_torques(robot, regroup=False)


def test_a_general_arm_gets_much_cheaper() -> None:
    robot = random_robot(["revolute"] * 6, ["general"] * 6, seed=1)
    counted, plain = (trace_torques(robot, regroup=regroup).counts() for regroup in (True, False))
    assert counted["products"] < 0.7 * plain["products"]
    assert counted["sums"] < 0.7 * plain["sums"]

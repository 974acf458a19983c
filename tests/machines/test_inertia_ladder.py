"""The inertia matrix from ONEB to VCRB: all the same matrix, and what removing each redundancy gains."""

from __future__ import annotations

import numpy as np
import pytest
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import crba, pinocchio_model, random_states
from strategies import robots, seeds

import bddtorque as bt
from machines.forward.inertia_ladder import LADDER, composite_matrix, shared_by_columns, still, trace_inertia
from machines.forward.serial_forward import inertia_matrix
from machines.generic_arms import generic_arm


@settings(max_examples=examples(50))
@given(robots(most=6, kinds=("revolute",)), st.sampled_from(list(LADDER)), seeds)
def test_every_way_gives_pinocchios_inertia(robot: bt.Robot, name: str, seed: int) -> None:
    q = random_states(robot, 1, seed)[0][0]
    expected = crba(pinocchio_model(robot), q)
    found = np.array(LADDER[name](robot, np.sin(q), np.cos(q), still(len(q))), dtype=float)
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()


@pytest.mark.parametrize("name", LADDER)
def test_graphs_compute_what_the_functions_do(name: str) -> None:
    robot, n = generic_arm(3), 3
    q = random_states(robot, 1, 0)[0][0]
    expected = np.array(LADDER[name](robot, np.sin(q), np.cos(q), still(n)), dtype=float)
    graph = trace_inertia(LADDER[name], robot).graph
    inputs = dict.fromkeys(graph.input_names, 0.0)  # rates and gravity, where a way does not know that they are zero
    inputs |= {f"qdd_{i + 1}_{i + 1}": 1.0 for i in range(n) if f"qdd_{i + 1}_{i + 1}" in inputs}
    inputs |= {f"q{j + 1}": q[j] for j in range(n) if f"q{j + 1}" in inputs}
    np.testing.assert_allclose(np.reshape(graph.evaluate(inputs), (n, n)), expected, rtol=1e-12)


def test_the_ladder_of_six_joints() -> None:
    """OCRB is far cheaper than ONEB and VCRB cheapest, as FIJ has it; another frame costs more at six joints."""
    cost = {name: sum(trace_inertia(way, generic_arm(6)).cost[:2]) for name, way in LADDER.items()}
    assert cost == {
        "ONEB": 6684,
        "ONEB, 2": 1749,
        "ONEB, 1 and 2": 2084,
        "VNEB: 1, 2, 3": 1949,
        "OCRB": 854,
        "VCRB: 2, 3, 4": 607,
        "VCRB: all four": 1374,
    }


def test_columns_are_independent_until_bodies_are_put_together() -> None:
    arm = generic_arm(5)
    assert shared_by_columns(inertia_matrix, arm) == 0
    assert shared_by_columns(composite_matrix, arm) > 0

"""Source code of graphs: NumPy's and Numba's form give what the graph gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from oracle import random_states
from strategies import relative_error, robots, seeds

import bddtorque as bt
from bddtorque.dynamics.robot_trace import trace_torques
from bddtorque.graph.graph import Graph
from bddtorque.graph.python_source import numba_rows, numpy_function, python_source
from bddtorque.graph.tracer import Tracer, traced_inputs


def columns(n: int) -> list[str]:
    return [f"{kind}{i + 1}" for kind in ("q", "qd", "qdd") for i in range(n)]


def evaluated(graph: Graph, rows: np.ndarray, names: list[str]) -> np.ndarray:
    values = graph.evaluate({name: rows[:, k] for k, name in enumerate(names)})
    return np.stack([np.broadcast_to(value, len(rows)) for value in values], axis=1)


@settings(max_examples=40)
@given(robots(most=6), seeds)
def test_numpy_source_is_the_graph(robot: bt.Robot, seed: int) -> None:
    graph, names = trace_torques(robot), columns(robot.degrees_of_freedom)
    rows = np.hstack(random_states(robot, 5, seed))
    outputs = numpy_function(graph)(*(rows[:, names.index(name)] for name in graph.input_names))
    found = np.stack([np.broadcast_to(value, 5) for value in outputs], axis=1)
    np.testing.assert_array_equal(found, evaluated(graph, rows, names))


@pytest.mark.parametrize("name", ["planar2r", "scara", "ur5"])
def test_numba_source_is_the_graph(name: str) -> None:
    robot = bt.load_robot(name)
    graph, names = trace_torques(robot), columns(robot.degrees_of_freedom)
    states = random_states(robot, 20)
    rows, out = np.hstack(states), np.empty(states[0].shape)
    run = numba_rows(graph, names)
    run(rows, out)
    # multiply-add may be contracted and sines differ in the last bit
    assert relative_error(out, evaluated(graph, rows, names)) < 1e-13
    assert relative_error(out, bt.inverse_dynamics(robot, *states)) < 1e-12
    run(rows[:0], out[:0])


def test_columns_may_stand_in_any_order() -> None:
    tracer = Tracer()
    a, b = traced_inputs(tracer, "x", 2)
    graph = tracer.graph([a - 2.0 * b, -tracer.cos(b), 1.5], ["one", "two", "three"])
    rows, out = np.array([[9.0, 0.5, 9.0, 3.0]]), np.empty((1, 3))
    numba_rows(graph, ["unused", "x2", "other", "x1"])(rows, out)
    np.testing.assert_allclose(out, [[3.0 - 2 * 0.5, -np.cos(0.5), 1.5]], rtol=1e-15)


def test_a_missing_column_is_named() -> None:
    tracer = Tracer()
    graph = tracer.graph([tracer.input("q1") * tracer.input("q2")], ["tau"])
    with pytest.raises(bt.BddTorqueError, match=r"^graph: there is no column for input q2$"):
        numba_rows(graph, ["q1"])


def test_no_name_of_the_users_enters_the_source() -> None:
    tracer = Tracer()
    hostile = '"); import os; ("'
    graph = tracer.graph([tracer.sin(tracer.input(hostile)) * 0.1], [hostile])
    source = python_source(graph, name="torques")
    assert source.startswith("def torques(x0):\n")
    assert "import" not in source
    assert numpy_function(graph)(0.5)[0] == np.sin(0.5) * 0.1

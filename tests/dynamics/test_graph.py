"""Graphs: evaluation over any number type, counts, supports and critical paths."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest

import bddtorque as bt
from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.robot_trace import trace_torques
from bddtorque.dynamics.tracer import Tracer, traced_inputs


@pytest.fixture
def small() -> Graph:
    """Outputs: (a + b) c + d, sin(a) b, -d, and a constant."""
    tracer = Tracer()
    a, b, c, d = traced_inputs(tracer, "x", 4)
    return tracer.graph([(a + b) * c + d, tracer.sin(a) * b, -d, 2.5], ["one", "two", "three", "four"])


def test_counts(small: Graph) -> None:
    assert small.counts() == {"sums": 2, "products": 2, "sine_cosines": 1}


def test_supports(small: Graph) -> None:
    assert small.supports() == [{"x1", "x2", "x3", "x4"}, {"x1", "x2"}, {"x4"}, set()]


def test_a_missing_input_is_named(small: Graph) -> None:
    with pytest.raises(bt.BddTorqueError, match=r"^graph: input x3 is missing; the inputs are x1, x2, x3, x4$"):
        small.evaluate({"x1": 0, "x2": 0, "x4": 0})


def test_a_number_type_of_ones_own() -> None:
    """Fractions with a parabola for a cosine: nothing but sums, products, signs, `sin` and `cos` is asked for."""
    exact = SimpleNamespace(sin=lambda x: x, cos=lambda x: Fraction(1) - x * x / 2)
    tracer = Tracer()
    a = tracer.input("a")
    graph = tracer.graph([tracer.sin(a) + tracer.cos(a)], ["sum"])
    assert graph.evaluate({"a": Fraction(1, 2)}, exact, Fraction) == [Fraction(1, 2) + Fraction(7, 8)]


@pytest.mark.parametrize("arithmetic", [mpmath, mpmath.mp], ids=["module", "context"])
def test_extended_precision(arithmetic: object) -> None:
    """Torques of the UR5 to 50 digits: the float graph agrees with them, the ungrouped one as well."""
    robot = bt.load_robot("ur5")
    random = np.random.default_rng(3)
    q, qd, qdd = random.uniform(-2, 2, (3, 6))
    names = {f"{kind}{i + 1}": x[i] for kind, x in (("q", q), ("qd", qd), ("qdd", qdd)) for i in range(6)}
    with mpmath.workdps(50):
        exact = {name: mpmath.mpf(value) for name, value in names.items()}
        grouped = trace_torques(robot).evaluate(exact, arithmetic, mpmath.mpf)
        plain = trace_torques(robot, regroup=False).evaluate(exact, arithmetic, mpmath.mpf)
    assert all(isinstance(value, mpmath.mpf) for value in grouped)
    expected = np.array([float(value) for value in plain])
    np.testing.assert_allclose(
        bt.inverse_dynamics(robot, q, qd, qdd), expected, rtol=0, atol=1e-14 * np.abs(expected).max()
    )
    # regrouping rounds the parameters, not the torques
    np.testing.assert_allclose([float(v) for v in grouped], expected, rtol=0, atol=1e-14 * np.abs(expected).max())


def test_intervals_enclose_the_torque() -> None:
    robot = bt.load_robot("planar2r")
    graph = trace_torques(robot)
    point = dict.fromkeys(graph.input_names, 0.5)
    boxes = graph.evaluate({name: mpmath.iv.mpf([0.4, 0.6]) for name in point}, mpmath.iv, mpmath.iv.mpf)
    for value, box in zip(graph.evaluate(point), boxes, strict=True):
        assert value in box
        assert box.delta > 0


def test_arrays_keep_their_shape(small: Graph) -> None:
    random = np.random.default_rng(0)
    inputs = {f"x{k + 1}": random.normal(size=(3, 4)) for k in range(4)}
    one, two, three, four = small.evaluate(inputs)
    np.testing.assert_array_equal(one, (inputs["x1"] + inputs["x2"]) * inputs["x3"] + inputs["x4"])
    np.testing.assert_array_equal(two, np.sin(inputs["x1"]) * inputs["x2"])
    np.testing.assert_array_equal(three, -inputs["x4"])
    assert four == 2.5  # depends on nothing, so has no shape

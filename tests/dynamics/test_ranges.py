"""Ranges of nodes: never left by any value, sharper than plain intervals where coordinates are rotated."""

from __future__ import annotations

import statistics

import numpy as np
import pytest
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import robots, seeds

from bddtorque.compiler.robot_draft import draft_of_robot
from bddtorque.dynamics.graph import Graph, Op
from bddtorque.dynamics.node_ranges import node_ranges
from bddtorque.dynamics.robot_trace import trace_torques
from bddtorque.dynamics.tracer import Tracer
from bddtorque.spec.spec_files import spec_and_robot
from bddtorque.targets.plan_text import inner_widths
from bddtorque.words.bounded import Interval, interval


def every_node(graph: Graph) -> Graph:
    """Return the graph with every node an output."""
    count = len(graph.nodes)
    return Graph(graph.nodes, tuple(2 * k for k in range(count)), tuple(f"n{k}" for k in range(count)))


class PlainSines:
    """Sines and cosines of any angles."""

    @staticmethod
    def sin(angle: Interval) -> Interval:
        return Interval(-1.0, 1.0)

    cos = sin


def plain_ranges(graph: Graph, inputs: dict[str, Interval]) -> list[Interval]:
    """Return the ranges of all nodes by interval arithmetic alone."""
    everything = {node.name: inputs.get(node.name, Interval(-4.0, 4.0)) for node in graph.nodes if node.op is Op.INPUT}
    return every_node(graph).evaluate(everything, PlainSines(), interval)


@settings(max_examples=examples(30))
@given(robots(most=5), seeds, st.booleans())
def test_no_value_of_any_chain_leaves_its_range(robot, seed, limited):
    rng = np.random.default_rng(seed)
    graph = trace_torques(robot)
    inputs, angles, states = {}, {}, {}
    for name in graph.input_names:
        joint = robot.joints[int(name.lstrip("qd")) - 1]
        turns = name[1] != "d" and joint.kind.turns
        if turns and not (limited and rng.random() < 0.8):
            states[name] = rng.uniform(-np.pi, np.pi, 500)
            continue
        low, high = sorted(rng.uniform(-5 if turns else -3, 3, 2))
        (angles if turns else inputs)[name] = Interval(low, high)
        states[name] = np.where(rng.random(500) < 0.3, rng.choice([low, high], 500), rng.uniform(low, high, 500))
    sharper = node_ranges(graph, inputs, angles)
    for node, values, own in zip(graph.nodes, every_node(graph).evaluate(states), sharper, strict=True):
        slack = 1e-12 * (1 + own.magnitude) if node.op is not Op.INPUT else 0.0
        assert np.min(values) >= own.low - slack and np.max(values) <= own.high + slack
    for plain, own in zip(plain_ranges(graph, {**inputs, **angles}), sharper, strict=True):
        if np.isfinite(own.magnitude):
            assert own.magnitude <= plain.magnitude * (1 + 1e-12) + 1e-300


@given(st.floats(-20, 20), st.floats(0, 7))
def test_sines_of_some_angles_have_their_range(low, width):
    tracer = Tracer()
    angle = tracer.input("a")
    graph = tracer.graph([tracer.sin(angle), tracer.cos(angle)], ["s", "c"])
    ranges = node_ranges(graph, {}, {"a": Interval(low, low + width)})
    angles = np.linspace(low, low + width, 2001)
    for reference, values in zip(graph.outputs, (np.sin(angles), np.cos(angles)), strict=True):
        own = ranges[reference >> 1]
        assert own.low <= values.min() <= own.low + 1e-4 and own.high - 1e-4 <= values.max() <= own.high


@pytest.mark.parametrize("signs", [(1, 1), (1, -1), (-1, 1)])
def test_a_rotated_coordinate_is_no_longer_than_the_vector(signs):
    tracer = Tracer()
    a, x, y = (tracer.input(name) for name in "axy")
    graph = tracer.graph([signs[0] * x * tracer.cos(a) + signs[1] * y * tracer.sin(a)], ["f"])
    inputs = {"x": Interval(-3.0, 2.0), "y": Interval(-1.0, 4.0)}
    own = node_ranges(graph, inputs)[graph.outputs[0] >> 1]
    assert 5.0 <= own.magnitude < 5.0 + 1e-12
    assert plain_ranges(graph, inputs)[graph.outputs[0] >> 1].magnitude >= 7.0


def test_sines_of_different_angles_are_no_rotation():
    tracer = Tracer()
    a, b, x, y = (tracer.input(name) for name in "abxy")
    graph = tracer.graph([x * tracer.cos(a) + y * tracer.sin(b), x * tracer.cos(a) + y * tracer.cos(a)], ["f", "g"])
    inputs = {"x": Interval(-3.0, 3.0), "y": Interval(-4.0, 4.0)}
    ranges = node_ranges(graph, inputs)
    assert all(ranges[reference >> 1].magnitude >= 7.0 for reference in graph.outputs)


def test_squares_are_not_negative():
    tracer = Tracer()
    x = tracer.input("x")
    graph = tracer.graph([x * x], ["f"])
    for given_, low, high in ((Interval(-3.0, 2.0), 0.0, 9.0), (Interval(-3.0, -2.0), 4.0, 9.0)):
        own = node_ranges(graph, {"x": given_})[graph.outputs[0] >> 1]
        assert own.low <= low <= own.low + 1e-12 and own.high - 1e-12 <= high <= own.high


@pytest.mark.parametrize(("source", "median", "widest", "total"), [("recursive", 18, 22, 979), ("terms", 18, 18, 2499)])
def test_words_of_the_ur5_are_no_wider_than_needed(source, median, widest, total):
    spec, robot, _ = spec_and_robot("ur5", {"source": source})
    widths = inner_widths(draft_of_robot(spec, robot).plan)
    assert statistics.median(widths) <= median and max(widths) <= widest and sum(widths) <= total

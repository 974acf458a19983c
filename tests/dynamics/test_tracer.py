"""The tracer: equal operations are one node, constants fold, signs cost nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bddtorque.dynamics.graph import Graph, Op
from bddtorque.dynamics.tracer import Traced, Tracer, traced_inputs


@pytest.fixture
def tracer() -> Tracer:
    return Tracer()


def same(left: Any, right: Any) -> bool:
    """Whether two traced numbers are one node with one sign."""
    return isinstance(left, Traced) and isinstance(right, Traced) and left.reference == right.reference


LAWS: dict[str, Callable[[Any, Any, Any, Tracer], tuple[Any, Any]]] = {
    "a + b = b + a": lambda a, b, c, t: (a + b, b + a),
    "a · b = b · a": lambda a, b, c, t: (a * b, b * a),
    "the same sum twice": lambda a, b, c, t: ((a + b) * c, (a + b) * c),
    "0 - (-a) = a": lambda a, b, c, t: (0.0 - (-a), a),
    "-(a b) = (-a) b": lambda a, b, c, t: (-(a * b), (-a) * b),
    "-(a b) = a (-b)": lambda a, b, c, t: (-(a * b), a * (-b)),
    "(-a) (-b) = a b": lambda a, b, c, t: ((-a) * (-b), a * b),
    "a - b = -(b - a)": lambda a, b, c, t: (a - b, -(b - a)),
    "(-a) - b = -(a + b)": lambda a, b, c, t: (-a - b, -(a + b)),
    "x + (y - x) = y": lambda a, b, c, t: (a + (b - a), b),
    "(y - x) + x = y": lambda a, b, c, t: ((b - a) + a, b),
    "(x + y) - x = y": lambda a, b, c, t: ((a + b) - a, b),
    "x - (x + y) = -y": lambda a, b, c, t: (a - (a + b), -b),
    "a + a = 2 a": lambda a, b, c, t: (a + a, 2.0 * a),
    "a · 1 = a": lambda a, b, c, t: (1.0 * a, a),
    "a · -1 = -a": lambda a, b, c, t: (a * -1, -a),
    "a + 0 = a": lambda a, b, c, t: (0.0 + a, a),
    "a - 0 = a": lambda a, b, c, t: (a - 0.0, a),
    "0 - a = -a": lambda a, b, c, t: (0.0 - a, -a),
    "2 (3 a) = 6 a": lambda a, b, c, t: (2.0 * (3.0 * a), 6.0 * a),
    "-2 (3 a) = -(6 a)": lambda a, b, c, t: (-2.0 * (3.0 * a), -(6.0 * a)),
    "2 (-(3 a)) = -6 a": lambda a, b, c, t: (2.0 * -(3.0 * a), -6.0 * a),
    "0.5 (2 a) = a": lambda a, b, c, t: (0.5 * (a * 2.0), a),
    "sin(-a) = -sin(a)": lambda a, b, c, t: (t.sin(-a), -t.sin(a)),
    "cos(-a) = cos(a)": lambda a, b, c, t: (t.cos(-a), t.cos(a)),
    "NumPy numbers are numbers": lambda a, b, c, t: (np.float64(2.5) * a + np.float64(1), a * 2.5 + 1.0),
}


@pytest.mark.parametrize("law", LAWS)
def test_both_sides_are_one_node(law: str, tracer: Tracer) -> None:
    left, right = LAWS[law](*traced_inputs(tracer, "x", 3), tracer)
    assert same(left, right)


def test_different_things_stay_apart(tracer: Tracer) -> None:
    a, b, c = traced_inputs(tracer, "x", 3)
    values = [a, b, c, a + b, a - b, a + c, a * b, a * c, 2.0 * a, 3.0 * a, tracer.sin(a), tracer.cos(a), tracer.sin(b)]
    references = {value.reference for value in values} | {(-value).reference for value in values}
    assert len(references) == 2 * len(values)


@pytest.mark.parametrize("side", [lambda x: x * 0.0, lambda x: 0 * x, lambda x: x - x, lambda x: -x + x])
def test_what_vanishes_is_a_plain_zero(side: Callable[[Any], Any], tracer: Tracer) -> None:
    zero = side(tracer.input("x"))
    assert not isinstance(zero, Traced)
    assert zero == 0


def test_constants_never_enter_the_graph(tracer: Tracer) -> None:
    assert tracer.sum(2.0, 3.0) == 5.0
    assert tracer.product(2.0, 3.0) == 6.0
    assert tracer.sin(0.5) == math.sin(0.5)
    assert tracer.cos(0.5) == math.cos(0.5)
    assert tracer.nodes == []


def test_an_input_is_one_node(tracer: Tracer) -> None:
    assert same(tracer.input("q"), tracer.input("q"))
    assert len(tracer.nodes) == 1


def test_only_what_an_output_needs_is_kept(tracer: Tracer) -> None:
    a, b, c = traced_inputs(tracer, "x", 3)
    tracer.sin(c)
    graph = tracer.graph([a * b, 0.0, -a], ["product", "nothing", "opposite"])
    assert [node.op for node in graph.nodes] == [Op.INPUT, Op.INPUT, Op.PRODUCT, Op.CONSTANT]
    assert graph.input_names == ("x1", "x2")
    assert graph.evaluate({"x1": 3.0, "x2": 5.0}) == [15.0, 0.0, -3.0]


# Expressions as trees: a leaf is an input or a number, a branch an operation.
leaves = st.sampled_from(["x", "y", "z"]) | st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0])
expressions = st.recursive(
    leaves,
    lambda inner: (
        st.tuples(st.sampled_from(["+", "-", "*"]), inner, inner)
        | st.tuples(st.sampled_from(["neg", "sin", "cos"]), inner)
    ),
    max_leaves=25,
)


def value_of(expression: Any, names: dict[str, Any], arithmetic: Any) -> Any:
    if not isinstance(expression, tuple):
        return names.get(expression, expression)
    operation, *operands = expression
    values = [value_of(operand, names, arithmetic) for operand in operands]
    match operation:
        case "+":
            return values[0] + values[1]
        case "-":
            return values[0] - values[1]
        case "*":
            return values[0] * values[1]
        case "neg":
            return -values[0]
    return getattr(arithmetic, operation)(values[0])


@example(("-", -2.0, ("-", "y", ("+", "y", -2.0))), (0.0, 0.0, 0.0))  # a constant that is left over is folded again
@given(expressions, st.tuples(*[st.floats(-2, 2)] * 3))
def test_a_trace_computes_what_was_written(expression: Any, point: tuple[float, float, float]) -> None:
    tracer = Tracer()
    traced = value_of(expression, {name: tracer.input(name) for name in "xyz"}, tracer)
    graph = tracer.graph([traced], ["value"])
    names = dict(zip("xyz", point, strict=True))
    expected = value_of(expression, names, math)
    assert graph.evaluate(names)[0] == pytest.approx(expected, rel=1e-9, abs=1e-9 * size_of(expression))
    assert_well_formed(graph)


def size_of(expression: Any) -> float:
    """Return how large the parts of an expression can get, for inputs within ±2."""
    if not isinstance(expression, tuple):
        return 2.0 if isinstance(expression, str) else abs(expression)
    operation, *operands = expression
    sizes = [size_of(operand) for operand in operands]
    if operation in ("sin", "cos"):
        return 1.0 + sizes[0]  # an argument known to rounding only
    return math.prod(sizes) if operation == "*" else sum(sizes)


def assert_well_formed(graph: Graph) -> None:
    """Every node once, operands before readers, nothing trivial left."""
    assert len(set(graph.nodes)) == len(graph.nodes)
    for index, node in enumerate(graph.nodes):
        assert all(0 <= operand >> 1 < index for operand in node.operands)
        if node.op is Op.CONSTANT:
            assert node.value > 0 or len(graph.nodes) == 1
        if node.op is Op.PRODUCT:
            assert not (node.left & 1 or node.right & 1)
            assert graph.nodes[node.right >> 1].op is not Op.CONSTANT
        if node.op is Op.SUM:
            assert not node.left & 1
            assert node.left >> 1 != node.right >> 1

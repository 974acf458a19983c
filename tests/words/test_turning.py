"""Rotations in the bound: recognised where they are, never where they are not, and never too small."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from examples_tried import examples
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from plan_samples import LARGEST, Sample, found_and_proved

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.graph import Graph, Node, Op
from bddtorque.dynamics.tracer import Tracer
from bddtorque.plan.blocks import FunctionBlock
from bddtorque.plan.bound import compose_bounds, planned_facts, quarters_of, sine_of
from bddtorque.plan.wires import AngleSum, Input, Lookup
from bddtorque.targets.builder import OutputFormat
from bddtorque.targets.tables.budget import plan_network
from bddtorque.words.argument import Argument


@st.composite
def rotated_words(draw):
    """Two words turned by one angle and then another, perhaps the same, with other summands between."""
    tracer = Tracer()
    bits = draw(st.integers(2, 5))
    angles = {name: Argument("angle", bits, Fraction(draw(st.sampled_from([1, -1])))) for name in ("a", "b")}
    words = {
        name: Argument("word", draw(st.integers(2, 4)), Fraction(draw(st.sampled_from([1, 3, 7])), 5))
        for name in ("u", "v")
    }
    arguments = {**angles, **words}
    inputs = {name: tracer.input(name) for name in arguments}
    x, y = inputs["u"], inputs["v"]
    for name in draw(st.sampled_from(["a", "ab", "aa", "aba"])):
        c, s = tracer.cos(inputs[name]), tracer.sin(inputs[name])
        x, y = c * x - s * y, s * x + c * y
        if draw(st.booleans()):
            x = x + draw(st.sampled_from([0.5, 2.0, 3.3])) * inputs["v"]
    graph = tracer.graph([x, y], ["y0", "y1"])
    lsb = Fraction(draw(st.sampled_from([1, 2, 3])), draw(st.sampled_from([1, 4, 7])))
    return Sample(graph, arguments, [OutputFormat(f"y{k}", lsb, -LARGEST, LARGEST) for k in range(2)])


@settings(
    max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None
)
@given(rotated_words(), st.sampled_from([0.55, 0.8, 1.0]))
def test_no_state_of_a_rotation_errs_more_than_proved(sample, accuracy):
    try:
        plan = plan_network(sample.graph, sample.arguments, sample.targets, accuracy, 12, "recursive")
    except BddTorqueError:
        assume(False)
    found, proved = found_and_proved(sample, plan)
    assert all(error <= bound < accuracy for error, bound in zip(found, proved, strict=True))


def plan_of(make, accuracy=1.0):
    tracer = Tracer()
    arguments = {
        "a": Argument("angle", 6),
        "b": Argument("angle", 6),
        "u": Argument("word", 6),
        "v": Argument("word", 6),
    }
    inputs = {name: tracer.input(name) for name in arguments}
    graph = tracer.graph([make(tracer, **inputs)], ["y"])
    target = OutputFormat("y", Fraction(1), -LARGEST, LARGEST)
    return plan_network(graph, arguments, [target], accuracy, 12, "recursive")


def lookups(plan):
    found = [sine_of(plan, wire) for wire in plan.wires if isinstance(wire, Lookup)]
    return [each for each in found if each is not None]


def test_sine_and_cosine_of_one_angle_are_recognised_and_told_apart():
    plan = plan_of(lambda t, a, b, u, v: u * (t.cos(a) * u + t.sin(a) * v) + t.cos(b) * (u * v))
    angles = {}
    for angle, cosine in lookups(plan):
        angles.setdefault(angle, set()).add(cosine)
    assert sorted(map(sorted, angles.values())) == [[False, True], [True]]


@pytest.mark.parametrize("op", [Op.SINE, Op.COSINE])
@pytest.mark.parametrize(("sign", "inner"), [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize(("scale", "centre"), [(1, Fraction(0)), (-1, Fraction(0)), (-1, Fraction(1, 3))])
@pytest.mark.parametrize("constant", [0, -16, 32, 16])
def test_words_are_cosines_of_their_angle_and_quarter_turns(op, sign, inner, scale, centre, constant):
    graph = Graph((Node(Op.INPUT, name="x0"), Node(op, inner)), (2 + sign,), ("f",))
    block = FunctionBlock(graph, (Argument("angle", 6, Fraction(scale), centre),), Fraction(1), -1, 1)
    lookup = Lookup("f", 0, (1,))
    wires = (Input("a", 6, True), AngleSum("a + constant", 6, ((0, 1, 0),), constant), lookup)
    angle, quarters = quarters_of(SimpleNamespace(blocks=(block,), wires=wires), lookup)
    assert angle == (0, 6, scale, centre)
    words = np.arange(-32, 32)
    true = np.cos(2 * np.pi * scale * words / 64 + float(centre) + quarters * np.pi / 2)
    np.testing.assert_allclose(block.units([words + constant]).value, true, atol=1e-12)


def test_sums_of_angles_are_other_angles():
    plan = plan_of(lambda t, a, b, u, v: u * (t.cos(a + b) * u + t.sin(a - b) * v + t.sin(a + b) * v))
    angles = {}
    for angle, cosine in lookups(plan):
        angles.setdefault(angle, set()).add(cosine)
    assert sorted(map(sorted, angles.values())) == [[False], [False, True]]


def test_a_rotation_passes_on_less_error_than_two_products_of_other_angles():
    def turned(t, a, b, u, v):
        x, y = t.cos(b) * u + t.sin(b) * v, t.cos(b) * v - t.sin(b) * u
        return t.cos(a) * x + t.sin(a) * y

    def apart(t, a, b, u, v):
        x, y = t.cos(b) * u + t.sin(b) * v, t.cos(b) * v - t.sin(b) * u
        return t.cos(a) * x + t.cos(2.0 * a) * y

    plans = [plan_of(make, 2.0) for make in (turned, apart)]
    sums = [
        compose_bounds(plan, {"u": Fraction(1), "v": Fraction(1)}, planned_facts(plan.blocks))[0].sums for plan in plans
    ]
    rounded = [[float(wire.lsb) / 2 for wire in plan.wires if wire.kind == "sum" and wire.shift] for plan in plans]
    assert math.isclose(sums[0], np.hypot(*rounded[0]), rel_tol=1e-6)
    assert math.isclose(sums[1], sum(rounded[1]), rel_tol=1e-6)

"""The composed bound against every state there is: never exceeded, and not absurdly above what is found."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from covering import plan_within
from exact import LONG, all_words, long_value
from examples_tried import examples
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from plan_samples import Sample, found_and_proved, samples

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.tracer import Tracer
from bddtorque.plan.blocks import FunctionBlock, ProductBlock
from bddtorque.plan.bound import BlockFacts, compose_bounds, planned_facts
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import Input, Lookup, Output, Product, Sum
from bddtorque.targets.builder import OutputFormat
from bddtorque.targets.tables.budget import plan_network
from bddtorque.words.argument import Argument

relaxed = settings(max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
PLANNERS = {
    "cover": plan_within,
    "terms": partial(plan_network, source="terms"),
    "recursive": partial(plan_network, source="recursive"),
}


@pytest.mark.parametrize("planner", PLANNERS)
@relaxed
@given(samples(), st.sampled_from([0.55, 0.75, 1.0, 2.0]), st.integers(8, 14))
def test_no_state_of_any_plan_errs_more_than_proved(planner, sample, accuracy, block_bits):
    try:
        plan = PLANNERS[planner](sample.graph, sample.arguments, sample.targets, accuracy, block_bits)
    except BddTorqueError as problem:
        assert any(each in str(problem) for each in ("block_bits", "the limit is", "cannot be met"))
        assume(False)
    assert all(sum(block.input_widths) <= block_bits for block in plan.blocks)
    found, proved = found_and_proved(sample, plan)
    planned = [bound.total for bound in compose_bounds(plan, _scales(sample), planned_facts(plan.blocks))]
    for error, bound, before in zip(found, proved, planned, strict=True):
        assert error <= bound < accuracy
        assert bound <= before * (1 + 1e-5) + 1e-5  # what was found of the tables only makes it smaller


def _scales(sample):
    return {name: argument.scale for name, argument in sample.arguments.items()}


@pytest.fixture(scope="module", params=[3, pytest.param(4, marks=pytest.mark.everything)])
def arm(request):
    return bt.compile("planar2r", bits=request.param, workers=1)


def true_units(model, q1):
    """Return the torques of planar2r in units over all words but q1's, from the paper's closed form in long doubles."""
    arguments = model.formats.arguments
    names = ("q2", "qd1", "qd2", "qdd1", "qdd2")
    axes = np.ix_(*(np.sort(arguments[name].words()) for name in names))
    q2, v1, v2, a1, a2 = (long_value(arguments[name], words) for name, words in zip(names, axes, strict=True))
    q1 = long_value(arguments["q1"], q1)
    c1, c2, s2, c12 = np.cos(q1), np.cos(q2), np.sin(q2), np.cos(q1 + q2)
    g, m1, m2, r1, r2, J = (LONG(x) for x in (9.81, 0.5, 6.25, 1.0, 0.8, 5.0))  # as the floats they are parsed to
    k = m2 * r1 * r2
    t1 = ((m1 + m2) * r1**2 + m2 * r2**2 + 2 * k * c2 + J) * a1 + (m2 * r2**2 + k * c2) * a2
    t1 = t1 + (g * (m1 + m2) * r1 * c1 + g * m2 * r2 * c12 - k * s2 * v2**2 - 2 * k * s2 * v1 * v2)
    t2 = (m2 * r2**2 + k * c2) * a1 + (m2 * r2**2 + J) * a2 + (k * s2 * v1**2 + g * m2 * r2 * c12)
    shape = np.broadcast_shapes(*(axis.shape for axis in axes))
    return [
        np.broadcast_to(t / LONG(word.lsb), shape).reshape(-1)
        for t, word in zip((t1, t2), model.formats.tau, strict=True)
    ]


def test_planar2r_errs_no_more_than_proved_on_all_states(arm):
    r = arm.formats.tau[0].bits
    worst, rest = np.zeros(2), all_words([r] * 5)
    first = np.arange(-(1 << (r - 1)), 1 << (r - 1))
    for q1 in first:  # one batch a word of q1
        states = np.array([np.full(1 << (5 * r), q1), *rest])
        words = arm.torque_words(states[:2].T, states[2:4].T, states[4:].T)
        for j, units in enumerate(true_units(arm, q1)):
            clamped = np.clip(units, arm.formats.tau[j].lowest, arm.formats.tau[j].highest)
            worst[j] = max(worst[j], float(np.abs(words[:, j] - clamped).max()))
    bounds = np.array(arm.certificate.bounds)
    assert (worst <= bounds).all() and (bounds < 1).all()
    assert (bounds <= 1.5 * worst).all(), f"found {worst}, proved {bounds}: the proof is loose"


@pytest.mark.parametrize("block_bits", [5, 9, 10, 14])
def test_the_bound_of_a_cascade_is_near_what_is_found(block_bits):
    tracer = Tracer()
    a, b, u = tracer.input("a"), tracer.input("b"), tracer.input("u")
    graph = tracer.graph([tracer.sin(a) * tracer.cos(b) * u], ["y"])
    third, seventh = Fraction(1, 3), Fraction(1, 7)
    arguments = {"a": Argument("angle", 5), "b": Argument("angle", 5), "u": Argument("word", 4, third, seventh)}
    sample = Sample(graph, arguments, [OutputFormat("y", Fraction(1, 9), -(1 << 20), 1 << 20)])
    plan = plan_within(graph, arguments, sample.targets, 1.0, block_bits)
    found, proved = found_and_proved(sample, plan)
    assert found[0] <= proved[0] < 1.0
    assert proved[0] < 2.0 * found[0]


def test_errors_of_factors_and_sums_compose_by_the_formula():
    tracer = Tracer()
    # no plain sine: of that more would be known
    graph = tracer.graph([9.0 * tracer.sin(tracer.input("x0"))], ["f"])
    blocks = tuple(FunctionBlock(graph, (Argument("angle", 4),), Fraction(1, k), -9 * k, 9 * k) for k in (2, 5))
    product = Product("ab", 1, 2, 3, "partial", 2, 4, -500, 500)
    half = Fraction(1, 2)
    plan = Plan(
        (
            Input("q1", 4, True),
            Lookup("a", 0, (0,)),
            Lookup("b", 1, (0,)),
            product,
            Sum("s", ((3, 3), (1, -2)), 7, 1, -(10**6), 10**6, half, Fraction(1, 16), Fraction(1, 8)),
        ),
        (*blocks, ProductBlock((4, 4), False, 0, 0, 225)),
        (Output("y", ((4, -5),), 1, Fraction(1, 64), 2, -100, 100, Fraction(3), Fraction(1, 32)),),
        "terms",
        "tables",
        8,
    )
    facts = [BlockFacts(0.3, -18, 16), BlockFacts(0.11, -40, 45), BlockFacts(0.0, 0, 225)]
    (bound,) = compose_bounds(plan, {}, facts)
    a, b, unit = 18 / 2, 45 / 5, 8 / (2 * 5)  # the largest words, and one unit of the product
    tables = (a + 0.3) * 0.11 + b * 0.3
    weight = 5 * 3 / 4 / 0.5  # what an error of the sum moves the output
    assert bound.tables == pytest.approx(weight * (3 * 0.5 / 2 / unit * tables + 2 * 0.5 / 2 / 0.5 * 0.3) / 3)
    assert bound.products == pytest.approx(weight * 3 * 0.5 / 2 / unit * unit / 2 / 3)
    assert bound.sums == pytest.approx(weight * 0.25 / 3)
    assert bound.constants == pytest.approx(weight * 0.5 / 16 / 3 + 1 / 64)
    assert bound.dropped == pytest.approx(weight * 0.5 / 8 / 3 + 1 / 32)
    assert bound.final_rounding == 0.5 and bound.total == pytest.approx(
        bound.tables + bound.products + bound.sums + bound.constants + bound.dropped + 0.5
    )

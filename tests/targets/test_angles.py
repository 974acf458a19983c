"""Angle sums: unequal words aligned, multiples and signs, encoder sign and offset, wrapping at half a turn."""

from fractions import Fraction

import numpy as np
import pytest
from compiled import found_errors, random_words
from covering import plan_within
from exact import all_words, long_value
from hypothesis import given
from hypothesis import strategies as st
from plan_samples import LARGEST, Sample, found_and_proved

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.tracer import Tracer
from bddtorque.plan.reference import run_wires
from bddtorque.plan.tabulate import tabulate
from bddtorque.plan.wires import AngleSum
from bddtorque.spec import JointSpec, Ranges
from bddtorque.targets.angles import Combination, with_angle_sums
from bddtorque.targets.builder import OutputFormat
from bddtorque.targets.tables.budget import plan_network
from bddtorque.words.argument import Argument

ANGLE, WORD = Argument("angle", 6), Argument("word", 6)
PLANNERS = [plan_within, lambda *given: plan_network(*given, source="recursive")]
signs = st.sampled_from([1, -1])


@given(
    st.integers(2, 6), st.integers(2, 6), st.integers(-3, 3).filter(bool), st.integers(-3, 3).filter(bool), signs, signs
)
def test_an_angle_sum_is_the_sum_modulo_a_turn(bits_a, bits_b, m, k, sign_a, sign_b):
    tracer = Tracer()
    graph = tracer.graph([tracer.cos(m * tracer.input("a") + k * tracer.input("b"))], ["y"])
    arguments = {
        "a": Argument("angle", bits_a, Fraction(sign_a), Fraction(0.3)),
        "b": Argument("angle", bits_b, Fraction(sign_b)),
    }
    plan = plan_within(graph, arguments, [OutputFormat("y", Fraction(1, 64), -LARGEST, LARGEST)], 1.0, 12)
    (place,) = [place for place, wire in enumerate(plan.wires) if isinstance(wire, AngleSum)]
    bits = plan.wires[place].bits
    assert bits == max(bits_a, bits_b)
    a, b = all_words([bits_a, bits_b])
    words = run_wires(plan, [tabulate(block)[0] for block in plan.blocks], {"a": a, "b": b})[place]
    assert words.min() >= -(1 << (bits - 1)) and words.max() < 1 << (bits - 1)
    turns = m * sign_a * (a << (bits - bits_a)) + k * sign_b * (b << (bits - bits_b))
    # the sum may be taken with the opposite sign, since a cosine is even
    assert any((((direction * turns - words) % (1 << bits)) == 0).all() for direction in (1, -1))


@pytest.mark.parametrize("planner", PLANNERS, ids=["cover", "network"])
@pytest.mark.parametrize("offsets", [(0.0, 0.0), (0.5, -1.25), (3.0, 0.0)])
@pytest.mark.parametrize("scales", [(1, 1), (-1, 1), (-1, -1)])
def test_sums_of_encoders_mean_the_angles_of_the_joints(planner, offsets, scales):
    tracer = Tracer()
    a, b = tracer.input("a"), tracer.input("b")
    total = 40.0 * tracer.sin(a - 2 * b) + 25.0 * tracer.cos(a + b) + 9.0 * tracer.sin(-2 * a) + 7.0 * tracer.sin(b)
    graph = tracer.graph([total], ["y"])
    arguments = {
        name: Argument("angle", bits, Fraction(scale), Fraction(offset))
        for name, bits, scale, offset in zip("ab", (5, 7), scales, offsets, strict=True)
    }
    sample = Sample(graph, arguments, [OutputFormat("y", Fraction(1, 3), -LARGEST, LARGEST)])
    found, proved = found_and_proved(sample, planner(graph, arguments, sample.targets, 1.0, 12))
    assert found[0] <= proved[0] < 1.0


@pytest.mark.parametrize("accuracy", ["faithful", "paper"])
def test_a_robot_with_encoders_the_other_way_round_keeps_its_bound(accuracy):
    spec = bt.Spec(
        "planar2r",
        bits=5,
        ranges=Ranges(velocity=(-1.0, 1.0), acceleration=(-1.0, 1.0)),
        joints=(
            JointSpec(sign=-1, offset=0.4, torque=(-180.0, 200.0)),
            JointSpec(offset=-1.0, torque=(-90.0, 100.0), velocity=(-0.5, 1.0)),
        ),
        accuracy=accuracy,
    )
    model = bt.compile(spec, workers=1)
    words = random_words(model, 50_000, 5)
    found = found_errors(model, words, model.torque_words(*words))
    assert (found > 0.3).all() and (found <= model.certificate.bounds).all()


def test_angles_that_cancel_leave_a_constant():
    tracer = Tracer()
    a, b, v = (tracer.input(name) for name in "abv")
    graph = tracer.graph([tracer.cos(2 * a + b - a - a - b) * v + tracer.sin(2 * a - a - a) * v], ["y"])
    rewritten, sums = with_angle_sums(graph, {"a": ANGLE, "b": ANGLE, "v": WORD})
    assert rewritten.input_names == ("v",) and not sums


def test_constants_that_look_alike_are_told_apart():
    tracer = Tracer()
    a = tracer.input("a")
    graph = tracer.graph([tracer.cos(a + 0.3) - tracer.cos(a + 0.30000001)], ["y"])
    rewritten, sums = with_angle_sums(graph, {"a": ANGLE})
    assert len(sums) == len(rewritten.input_names) == 2


@pytest.mark.parametrize(
    "build",
    [
        lambda t, a, v: a * v,
        lambda t, a, v: a + v,
        lambda t, a, v: t.sin(v),
        lambda t, a, v: t.sin(a) * a,
        lambda t, a, v: t.sin(0.5 * a + t.input("b")),
        lambda t, a, v: t.sin(a * v),
        lambda t, a, v: a,
    ],
)
def test_angles_outside_sines_are_refused(build):
    tracer = Tracer()
    graph = tracer.graph([build(tracer, tracer.input("a"), tracer.input("v"))], ["y"])
    with pytest.raises(BddTorqueError, match=r"^plan: "):
        with_angle_sums(graph, {"a": ANGLE, "b": ANGLE, "v": WORD})


def test_a_fraction_of_an_angle_is_an_argument_of_its_word():
    tracer = Tracer()
    a = tracer.input("a")
    graph = tracer.graph([tracer.cos(-0.5 * a - 0.25) + tracer.sin(1.5 * a - 0.5 * a)], ["y"])
    rewritten, sums = with_angle_sums(graph, {"a": ANGLE})
    ((name, half),) = sums.items()
    assert name == half.name == "0.5a+0.25" and half.fractional
    word = Argument("angle", 7, Fraction(-1), Fraction(3))
    assert half.argument({"a": word}) == Argument("angle", 7, Fraction(-1, 2), Fraction(7, 4))
    assert set(rewritten.input_names) == {"a", name}


def test_combinations_read_as_people_write_them():
    assert Combination((("q1", 1), ("q2", 1))).name == "q1+q2"
    assert Combination((("q1", 2), ("q3", -1))).name == "2q1-q3"
    assert Combination((("q1", -1), ("q2", -12))).name == "-q1-12q2"


def test_half_a_turn_wraps_to_the_other_end():
    tracer = Tracer()
    graph = tracer.graph([tracer.sin(tracer.input("a") + tracer.input("b"))], ["y"])
    arguments = {"a": Argument("angle", 4), "b": Argument("angle", 4)}
    plan = plan_within(graph, arguments, [OutputFormat("y", Fraction(1, 8), -100, 100)], 1.0, 8)
    place = next(place for place, wire in enumerate(plan.wires) if isinstance(wire, AngleSum))
    tables = [tabulate(block)[0] for block in plan.blocks]
    words = run_wires(plan, tables, {"a": np.array([7, 7, -8, -8, 7]), "b": np.array([1, 7, -1, -8, -8])})[place]
    assert words.tolist() == [-8, -2, 7, 0, -1]
    assert abs(long_value(arguments["a"], -8)) == pytest.approx(np.pi)

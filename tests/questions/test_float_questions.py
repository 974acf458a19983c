"""Questions to models in floats: brackets hold what states reach, and what belongs to tables is refused by name."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from compiled import arm, compiled, random_words, reference, rubbing_arm
from every_state import all_words
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import bddtorque as bt
from bddtorque.plan.plan import Plan
from bddtorque.plan.reference import run_plan, run_wires
from bddtorque.plan.wires import Fused, Input, Multiply, Number, Output, Sine
from bddtorque.questions import (
    Work,
    equality,
    largest,
    largest_error,
    reaching,
    saturating,
    smallest,
    subject,
    symmetries,
    values,
)
from bddtorque.questions.bounding import largest_sum
from bddtorque.questions.box_ranges import BoxRanges
from bddtorque.questions.counting import _in_boxes
from bddtorque.questions.enumeration import every_state
from bddtorque.questions.enumeration import random_words as random_states
from bddtorque.questions.subjects import Subject
from bddtorque.words.ieee import SINGLE


def turned(model: bt.Model) -> bt.Model:
    """Return a model whose sines have a constant beside their word."""
    wires = [replace(wire, rest=Fraction(1, 3)) if isinstance(wire, Sine) else wire for wire in model.plan.wires]
    return replace(model, plan=replace(model.plan, wires=tuple(wires)))


NARROW = ((-60.0, 60.0), (-40.0, 40.0))


def narrow() -> bt.Model:
    """Return a model of 2^18 states, some of which saturate."""
    return arm(3, target="float", torque=NARROW)


MODELS = {
    "single": lambda: arm(8, target="float"),
    "double": lambda: arm(8, target="float", precision="double"),
    "long words": lambda: arm(18, target="float", precision="single"),
    "a constant angle": lambda: turned(arm(8, target="float")),
    "a constant angle, long words": lambda: turned(arm(18, target="float", precision="double")),
    "friction": rubbing_arm,
    "prismatic": lambda: compiled("scara", bits=12, target="float"),
}


def boxes(asked: Subject, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of random boxes, (count, inputs) each; the first are of one state each."""
    lows, highs = [], []
    for wire in asked.inputs:
        ends = np.sort(rng.integers(wire.lowest, wire.highest + 1, (count, 2)), axis=1)
        narrow = ends[:, 0] + (ends[:, 1] - ends[:, 0] >> rng.integers(0, wire.bits + 1, count))
        lows.append(ends[:, 0])
        highs.append(np.where(np.arange(count) < count // 4, ends[:, 0], narrow))
    return np.stack(lows, axis=1), np.stack(highs, axis=1)


@pytest.mark.parametrize("kind", MODELS)
def test_ranges_hold_the_floats_of_every_wire(kind):
    """Of states within their boxes, their corners among them; of one state they are hardly wider than its float."""
    rng = np.random.default_rng(1)
    for name in ("tau1", "tau2"):
        asked = subject(MODELS[kind](), name)
        low, high = boxes(asked, 600, rng)
        ranges = BoxRanges(asked.plan, asked.tables)
        spans, ends = ranges.spans(low, high), ranges.over(low, high)
        for tried in range(8):
            corner = np.where(rng.integers(0, 2, low.shape), low, high)
            state = corner if tried < 4 else rng.integers(low, high, endpoint=True)
            values = run_wires(asked.plan, asked.tables, dict(zip(asked.names, state.T, strict=True)))
            for wire, span, value in zip(asked.plan.wires, spans, values, strict=True):
                if not wire.in_words:
                    assert (span.low <= value).all() and (value <= span.high).all()
            words = asked.sums(state)
            assert (ends[0] <= words).all() and (words <= ends[1]).all()
        assert (ends[1] - ends[0])[:150].max() <= (0 if asked.bits < 80 else 2)


@pytest.mark.parametrize(
    ("first", "second", "most"),
    [
        (Sine(0, True), Sine(0, False), math.hypot(7, 3) * 1.0001),  # a turn
        (Sine(0, True), Sine(1, False), 10.0001),
        (Sine(0, True), Sine(0, True), 10.0001),
        (Sine(0, True), Sine(0, False, Fraction(1)), 10.0001),
    ],
)
def test_only_turns_are_as_long_as_before(first, second, most):
    """c·x + s·y, of one angle and of others, x = 7 and y = 3."""
    inputs = [Input("q1", 8, True), Input("q2", 8, True), Input("qd1", 4, False), Input("qd2", 3, False)]
    wires = [*inputs, Number(2), Number(3), first, second, Multiply(6, 4), Fused(7, 5, 8)]
    plan = Plan(
        tuple(wires), (), (Output.of_float("tau1", 9, -99, 99, Fraction(1)),), "recursive", "float", precision=SINGLE
    )
    low, high = np.array([[-128, -128, 7, 3]]), np.array([[127, 127, 7, 3]])
    span = BoxRanges(plan, []).spans(low, high)[9]
    angles = np.arange(-128, 128)
    q1, q2 = (each.reshape(-1) for each in np.meshgrid(angles, angles))
    found = run_wires(plan, [], {"q1": q1, "q2": q2, "qd1": 7, "qd2": 3})[9]
    assert span.low[0] <= found.min() and found.max() <= span.high[0]
    assert span.high[0] <= most


@settings(max_examples=examples(20))
@given(place=st.integers(0, 1), threshold=st.integers(-6, 6), work=st.floats(0, 5))
def test_boxes_against_every_state(place, threshold, work):
    asked = subject(narrow(), f"tau{place + 1}")
    total = np.broadcast_to(asked.total(every_state(asked)), [1 << wire.bits for wire in asked.inputs])
    found = largest_sum(asked, 1, Work(work))
    assert found.found <= total.max() <= found.bound
    count = _in_boxes(asked, threshold, Work(work))
    assert count.low <= np.count_nonzero(total >= threshold) <= count.high


@pytest.fixture
def unchecked(monkeypatch):
    """Leave out that witnesses are run by an evaluator, whose code takes seconds to make."""
    monkeypatch.setattr(values, "check_witness", lambda *_: None)


@pytest.mark.usefixtures("unchecked")
def test_exact_answers_are_those_of_every_state():
    model = narrow()
    words = np.stack(run_plan(model.plan, model.tables, all_words(model)), axis=1)
    for place, name in enumerate(("tau1", "tau2")):
        own, asked = words[:, place], subject(model, name)
        assert asked.rounded(largest_sum(asked, 1, Work(100)).bound) == own.max()
        assert (largest(model, name).word, smallest(model, name).word) == (own.max(), own.min())
        before = np.broadcast_to(asked.total(every_state(asked)), [1 << wire.bits for wire in asked.inputs])
        lost = int(np.count_nonzero((before > 3) | (before < -4))) * asked.unread
        assert saturating(model, name).low == saturating(model, name).high == lost
        assert reaching(model, name, 20.0).low == np.count_nonzero(model.formats.tau[place].dequantise(own) >= 20)


@pytest.mark.parametrize(
    ("robot", "work"), [("planar3r_a", 10), pytest.param("ur5", 100, marks=pytest.mark.everything)]
)
def test_brackets_hold_what_random_states_reach(robot, work):
    """10^5 of them; the state that is shown has the word that is said."""
    model = compiled(robot, bits=12, target="float")
    words = reference(model, random_words(model, 100_000))
    asked = subject(model, "tau2")
    for direction, most in ((1, words[:, 1].max()), (-1, -words[:, 1].min())):
        found = largest_sum(asked, direction, Work(work))
        assert most <= found.bound
        assert found.found <= found.bound
        state = np.array([[found.state[name] for name in asked.names]])
        assert direction * asked.sums(state)[0] == found.found


def test_value_questions_of_an_arm_with_friction():
    model = rubbing_arm()
    words = reference(model, random_words(model, 20_000))
    top, bottom = largest(model, "shoulder"), smallest(model, "shoulder")
    assert bottom.bound_word <= bottom.word <= words[:, 0].min() and words[:, 0].max() <= top.word <= top.bound_word
    error = largest_error(model, "tau1", work=20)
    assert 0.49 < error.found <= error.bound == model.certificate.bounds[0]
    assert saturating(model, "tau1", work=20).high == 0


def test_symmetry_by_the_plan():
    """A torque is even in all velocities; what is said to hold does so on random states."""
    asked = subject(arm(8, target="float"), "tau1")
    said = {each.what: each for each in symmetries(arm(8, target="float"), "tau1")}
    assert (said["even in all qd"].holds, said["even in all qd"].way) == (True, "plan")
    assert said["odd"].holds is False
    for rest in (Fraction(0), Fraction(1, 3)):
        model = turned(arm(8, target="float")) if rest else arm(8, target="float")
        asked = subject(model, "tau2")
        words = random_states(asked.inputs, 500)
        for verdict in symmetries(model, "tau2"):
            kind, _, names = verdict.what.partition(" in ")
            if verdict.holds and names:
                chosen = [name for name in words if name.rstrip("12") == names.removeprefix("all ") or name == names]
                kept = {name: np.maximum(word, -127) if name in chosen else word for name, word in words.items()}
                other = {name: -word if name in chosen else word for name, word in kept.items()}
                assert (asked.total(other) == (-1 if kind == "odd" else 1) * asked.total(kept)).all()


def test_floats_are_compared_with_tables():
    found = equality(narrow(), arm(3, torque=NARROW))
    assert all(each.exact and each.way == "enumeration" for each in found)
    assert max(each.largest for each in found) <= 60 / 4
    assert all(each.equal for each in equality(narrow(), narrow()))

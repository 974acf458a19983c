"""Plans in floats: what is proved of them holds, before the final rounding too, and they are read back as written."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from compiled import arm, compiled, random_words, reference, true_units
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import bddtorque as bt
from bddtorque.plan.bound import PlanErrors, compose_bounds
from bddtorque.plan.plan import Plan, plan_from_plain
from bddtorque.plan.reference import run_wires
from bddtorque.plan.wires import Add, Algebra, AngleSum, Constant, Fused, Input, Multiply, Number, Output, Sine
from bddtorque.words.ieee import DOUBLE, PRECISIONS, SINGLE

ARMS = {"planar2r": 0.501, "planar3r_a": 0.501, "scara": 0.502, "stanford": 0.51, "puma560": 0.501, "ur5": 0.51}


def float_plan(model: bt.Model) -> Plan:
    """Return the plan of a model for target float."""
    assert model.plan.in_floats
    return model.plan


class Exact(Algebra[Any]):
    """The real numbers that the wires of a plan stand for, at one state, to 60 digits."""

    def __init__(self, plan: Plan, words: dict[str, int]) -> None:
        self.plan, self.words = plan, words

    def input(self, wire: Input) -> int:
        return self.words[wire.name]

    def wrapped(self, total: int, wire: AngleSum) -> int:
        return total

    def number(self, wire: Number, word: int) -> Any:
        return mpmath.mpf(word)

    def constant(self, wire: Constant) -> Any:
        return mpmath.mpf(wire.value.numerator) / wire.value.denominator

    def sine(self, wire: Sine, word: int) -> Any:
        angle = 2 * mpmath.pi * word / 2 ** self.plan.bits_of(wire.word)
        angle += mpmath.mpf(wire.rest.numerator) / wire.rest.denominator
        return mpmath.cos(angle) if wire.cosine else mpmath.sin(angle)

    def add(self, wire: Add, left: Any, right: Any) -> Any:
        return left + wire.sign * right

    def multiply(self, wire: Multiply, left: Any, right: Any) -> Any:
        return left * right

    def fused(self, wire: Fused, left: Any, right: Any, addend: Any) -> Any:
        return wire.product_sign * left * right + wire.addend_sign * addend


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Plans of any shape over two angles and a velocity, constants of very different sizes among them."""
    wires: list[Any] = [Input("a", 5, True), Input("b", 7, True), Input("v", 6, False)]
    wires.append(AngleSum("a-b", 7, ((0, 1, 2), (1, -1, 0))))
    rest = draw(st.sampled_from([Fraction(0), Fraction(1, 3)]))
    wires += [Number(2), Sine(0, False, rest), Sine(0, True, rest), Sine(3, True), Sine(3, False)]
    values = st.fractions(-1000, 1000, max_denominator=10**6)
    powers = st.sampled_from([-140, -20, 0, 20])
    wires += [Constant(draw(values) * Fraction(2) ** draw(powers)) for _ in range(3)]
    for _ in range(draw(st.integers(1, 8))):
        left, right, addend = (draw(st.integers(4, len(wires) - 1)) for _ in range(3))
        signs = st.sampled_from([1, -1])
        wires.append(
            draw(
                st.sampled_from(
                    [
                        Add(left, right, draw(signs)),
                        Multiply(left, right),
                        Fused(left, right, addend, draw(signs), draw(signs)),
                    ]
                )
            )
        )
    output = Output.of_float("y", len(wires) - 1, -8, 7, Fraction(1))
    return Plan(tuple(wires), (), (output,), "traced", "float", precision=draw(st.sampled_from([SINGLE, DOUBLE])))


@settings(max_examples=examples(150), deadline=None)
@given(plans(), st.integers(0, 2**32 - 1))
def test_no_wire_is_further_off_than_proved(plan: Plan, seed: int) -> None:
    """Every wire of any plan, at some states: within its range, and its float within its error."""
    try:
        known = plan.evaluate(PlanErrors(plan, {}, []))
    except bt.BddTorqueError as problem:
        assert "beyond single precision" in str(problem)
        return
    rng = np.random.default_rng(seed)
    words = {wire.name: rng.integers(wire.lowest, wire.highest, 4, endpoint=True) for wire in plan.inputs}
    floats = run_wires(plan, [], words)
    for state in range(4):
        with mpmath.workdps(60):
            exact = plan.evaluate(Exact(plan, {name: int(each[state]) for name, each in words.items()}))
            for place in range(4, len(plan.wires)):
                found = float(np.broadcast_to(floats[place], 4)[state])
                assert known[place].range.low <= exact[place] <= known[place].range.high
                assert abs(mpmath.mpf(found) - exact[place]) <= known[place].error
    assert plan_from_plain(plan.to_plain()) == plan


@pytest.mark.parametrize("robot", ["planar2r", "scara", pytest.param("ur5", marks=pytest.mark.everything)])
def test_errors_before_the_final_rounding(robot: str) -> None:
    """Found on many states: below what is proved, and on the planar arm within a factor of 5 of it."""
    model = compiled(robot, bits=12, target="float")
    plan = float_plan(model)
    words = random_words(model, 3000)
    names = [f"{kind}{j + 1}" for kind in ("q", "qd", "qdd") for j in range(len(model.formats.q))]
    columns = [column for each in words for column in each.T]
    values = run_wires(plan, model.tables, dict(zip(names, columns, strict=True)))
    units = np.clip(np.stack([values[output.wire] for output in plan.outputs], axis=1), -2048, 2047)
    found = np.abs(units - true_units(model, words)).max(axis=0)
    proved = np.array([torque.parts.total - 0.5 for torque in model.certificate.torques])
    assert (found <= proved).all()
    assert robot != "planar2r" or (found * 5 > proved).any()


@pytest.mark.parametrize(
    "robot", [name if name.startswith("planar") else pytest.param(name, marks=pytest.mark.everything) for name in ARMS]
)
def test_bounds_of_the_built_in_arms(robot: str) -> None:
    """At 12 bits in single precision: next to nothing above the final half unit."""
    model = compiled(robot, bits=12, target="float")
    assert float_plan(model).precision == SINGLE
    assert max(model.certificate.bounds) < ARMS[robot]
    assert all(output.parts.final_rounding == 0.5 and output.parts.arithmetic for output in model.certificate.outputs)


@pytest.mark.everything
def test_panda_is_faithful_at_any_length() -> None:
    """Single precision at 12 bits, double at 24."""
    assert max(compiled("panda", bits=12, target="float").certificate.bounds) < 0.54
    model = compiled("panda", bits=24, target="float")
    assert float_plan(model).precision == DOUBLE
    assert max(model.certificate.bounds) < 0.501


def test_precision_is_single_where_that_is_enough() -> None:
    """Chosen by the accuracy asked for, or as asked for itself; double is never worse."""
    assert float_plan(arm(8, target="float")).precision == SINGLE
    assert float_plan(arm(8, target="float", accuracy=0.50001)).precision == DOUBLE
    asked = {name: arm(8, target="float", precision=name) for name in PRECISIONS}
    assert {name: float_plan(model).precision.name for name, model in asked.items()} == {name: name for name in asked}
    assert asked["double"].certificate.bounds < asked["single"].certificate.bounds
    words = random_words(asked["single"], 500)
    apart = np.abs(reference(asked["single"], words) - reference(asked["double"], words))
    assert apart.max() <= 1
    assert (apart > 0).mean() < 0.01


def test_precision_belongs_to_floats() -> None:
    """Refused for any other target, by its name."""
    with pytest.raises(bt.BddTorqueError, match="precision is only valid for target 'float', got target 'tables'"):
        bt.compile("planar2r", bits=6, precision="single")
    with pytest.raises(bt.BddTorqueError, match="precision is only valid for target 'float', got target 'tables'"):
        bt.compile("planar2r", bits=6, accuracy="paper", precision="single")
    with pytest.raises(bt.BddTorqueError, match="precision must be 'auto', 'single' or 'double', got 'half'"):
        bt.compile("planar2r", bits=6, target="float", precision="half")  # type: ignore[arg-type]
    with pytest.raises(bt.BddTorqueError, match=r"is not below the accuracy of 0\.5001"):
        bt.compile("planar2r", bits=20, target="float", precision="single", accuracy=0.5001)


def test_more_error_is_seen() -> None:
    """A constant that is coarser, or a wire that is rounded twice, has a larger bound."""
    plan = float_plan(arm(8, target="float"))
    before = compose_bounds(plan, {}, [])
    place = next(k for k, wire in enumerate(plan.wires) if isinstance(wire, Constant) and wire.value != 1)
    exact = Fraction(SINGLE.nearest(plan.wires[place].value))  # type: ignore[union-attr]
    wires = list(plan.wires)
    wires[place] = Constant(exact + Fraction(math.ulp(1.0)) * abs(exact))
    after = compose_bounds(replace(plan, wires=tuple(wires)), {}, [])
    assert any(one.constants != other.constants for one, other in zip(before, after, strict=True))


def word_of(plain: dict[str, Any]) -> int:
    """Return the first wire that carries a word."""
    return next(k for k, wire in enumerate(plain["wires"]) if wire["kind"] == "input")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda plain: plain.update(precision="half"), "precision must be 'single' or 'double'"),
        (lambda plain: plain["wires"][-1].update(left=10**6), "must be between 0 and"),
        (
            lambda plain: plain["wires"][-1].update(left=word_of(plain)),
            r"left must read a float, and wire \d is a word",
        ),
        (lambda plain: plain["wires"].append({"kind": "number", "word": len(plain["wires"]) - 1}), "must read a word"),
        (lambda plain: plain["wires"].append({"kind": "divide"}), "kind must be 'input'"),
        (lambda plain: plain["wires"].append({"kind": "constant", "value": f"1{'0' * 60}"}), "beyond single precision"),
        (lambda plain: plain["outputs"][0].update(parts=[[word_of(plain), 1]]), "must read one float"),
        (lambda plain: plain["outputs"][0].update(low=5, high=4), "low must be at most high, got 5 and 4"),
        (lambda plain: plain["outputs"][0].update(lsb="0"), "lsb must be more than 0"),
        (lambda plain: plain["outputs"][0].update(shift=1), "output 0 must read one float"),
        (lambda plain: plain["outputs"][0].update(low=-(1 << 24)), "must have at most 24 bits"),
        (lambda plain: plain["wires"][word_of(plain)].update(bits=25), "must be a word of at most 24 bits"),
        (lambda plain: plain.update(target="tables"), "unknown key 'precision'"),
    ],
)
def test_altered_plans_are_refused(change: Any, message: str) -> None:
    """In one line, whatever was altered."""
    plain = arm(8, target="float").plan.to_plain()
    change(plain)
    with pytest.raises(bt.BddTorqueError, match=message):
        plan_from_plain(plain)

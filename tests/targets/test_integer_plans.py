"""Plans in machine integers: what is proved of them holds, registers hold them, and they are read back as written."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from bdt_files import signed, taken_apart
from compiled import arm, compiled, found_errors, random_words, reference
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_samples import Sample, found_and_proved, samples

import bddtorque as bt
from bddtorque.base.errors import BddTorqueError
from bddtorque.cli.tables import constant_sequence
from bddtorque.compiler.robot_draft import draft_of_robot
from bddtorque.dynamics.tracer import Tracer
from bddtorque.export.c_exporter import c_files
from bddtorque.independent import check_bytes
from bddtorque.model.model import from_bytes, to_bytes
from bddtorque.plan.plan import Plan, plan_from_plain
from bddtorque.plan.plan_cost import exact_bits, wide_operations
from bddtorque.plan.reference import PlanArrays, run_wires
from bddtorque.plan.tabulate import tabulate
from bddtorque.plan.wires import Output, Product, Sum
from bddtorque.questions import largest
from bddtorque.spec.chips import chip_named
from bddtorque.spec.spec_files import spec_and_robot
from bddtorque.sweeps import sweep
from bddtorque.targets.builder import OutputFormat
from bddtorque.targets.integer.integer_cost import plan_cycles
from bddtorque.targets.integer.integer_planner import plan_integers
from bddtorque.words.argument import Argument
from bddtorque.words.integer_range import wrap

ARMS = ["planar2r", "planar3r_b", "scara"]


def integer_plan(model: bt.Model) -> Plan:
    """Return the plan of a model for target integer."""
    assert not model.plan.in_floats
    assert model.plan.target == "integer"
    return model.plan


def planned(sample: Sample, accuracy: float = 1.0, chip: str = "generic32") -> Plan:
    return plan_integers(sample.graph, sample.arguments, sample.targets, accuracy, 14, "terms", chip_named(chip))


@settings(max_examples=examples(60), deadline=None)
@given(samples(), st.sampled_from([0.6, 1.0, 2.0]), st.sampled_from(["cortex-m0", "avr", "uniform"]))
def test_no_state_errs_more_than_proved(sample: Sample, accuracy: float, chip: str) -> None:
    """Any function, on every state: within the composed bound, and that within the accuracy asked for."""
    try:
        plan = planned(sample, accuracy, chip)
    except BddTorqueError as problem:  # outputs of more than 20 bits, and next to nothing to round by
        assert "the limit is 62" in str(problem)
        return
    found, proved = found_and_proved(sample, plan)
    assert all(error <= bound < accuracy for error, bound in zip(found, proved, strict=True))
    assert plan_from_plain(plan.to_plain()) == plan


def test_the_constant_of_an_exact_sum_is_kept() -> None:
    """2·u·v + 1 is a multiple of 1, though its only product is one of 2."""
    tracer = Tracer()
    value = 2.0 * tracer.input("u") * tracer.input("v") + 1.0
    arguments = {name: Argument("word", 3, Fraction(1), Fraction(0)) for name in "uv"}
    sample = Sample(tracer.graph([value], ["y"]), arguments, [OutputFormat("y", Fraction(1), -64, 63)])
    assert found_and_proved(sample, planned(sample, 0.6))[1] == [0.0]


class Registers(PlanArrays):
    """Words computed in registers of as few bits as a plan says that it needs: everything else wraps."""

    def rounded(self, exact: Any, wire: Product | Sum | Output) -> Any:
        # a product that is not rounded is left to the sum that it is in
        if isinstance(wire, Product) and not wire.shift:
            return exact
        half = 1 << wire.shift >> 1
        return wrap(exact + half, exact_bits(self.plan, wire)) >> wire.shift


@settings(max_examples=examples(40), deadline=None)
@given(samples())
def test_registers_of_exact_bits_are_enough(sample: Sample) -> None:
    """Sums modulo 2^bits give the same words."""
    plan = planned(sample)
    states = {name: np.arange(-2, 2) for name in sample.arguments}
    grid = dict(zip(states, (each.reshape(-1) for each in np.meshgrid(*states.values())), strict=True))
    tables = [tabulate(block)[0] for block in plan.blocks]
    narrow = plan.evaluate(Registers(plan, tables, grid))
    for wire, word, expected in zip(plan.wires, narrow, run_wires(plan, tables, grid), strict=True):
        assert np.array_equal(np.broadcast_to(word, expected.shape), expected), wire


def test_an_output_that_is_not_rounded_does_not_ask_for_the_finest_words() -> None:
    """Its bound is below half a unit; the rest was taken for an error below 0, and a sum got 65 bits."""
    tracer = Tracer()
    a, b, v = (tracer.input(name) for name in "abv")
    graph = tracer.graph([1.0 + v * (tracer.sin(a) + tracer.sin(b) + 1.0), 3.25 * v], ["y0", "y1"])
    angle, word = Argument("angle", 2, Fraction(1), Fraction(0)), Argument("word", 2, Fraction(21, 8), Fraction(0))
    targets = [OutputFormat(name, lsb, -64, 64) for name, lsb in (("y0", Fraction(1)), ("y1", Fraction(17, 2)))]
    plan = planned(Sample(graph, {"a": angle, "b": angle, "v": word}, targets))
    assert max(exact_bits(plan, wire) for wire in plan.sums) < 20


def test_a_tiny_arm_on_every_state() -> None:
    """2^18 states: no torque is further off than proved, and some are nearly as far."""
    model = arm(3, target="integer")
    words = np.indices((8,) * 6).reshape(6, -1).T - 4
    states = [words[:, :2], words[:, 2:4], words[:, 4:]]
    found = found_errors(model, states, reference(model, states))
    proved = np.array(model.certificate.bounds)
    assert (found <= proved).all()
    assert (found > 0.5).any()


@pytest.mark.parametrize(
    "robot", [*ARMS, *(pytest.param(each, marks=pytest.mark.everything) for each in ("ur5", "puma560"))]
)
@pytest.mark.parametrize("bits", [pytest.param(8, marks=pytest.mark.everything), 12])
def test_arms_keep_their_bound(robot: str, bits: int) -> None:
    """Found on many states; words stay within the ranges that the plan states of them."""
    model = compiled(robot, bits=bits, target="integer")
    plan = integer_plan(model)
    states = random_words(model, 2000)
    assert (found_errors(model, states, reference(model, states)) <= np.array(model.certificate.bounds)).all()
    assert max(model.certificate.bounds) < 1
    names = [f"{kind}{j + 1}" for kind in ("q", "qd", "qdd") for j in range(len(model.formats.q))]
    columns = [column for each in states for column in each.T]
    for k, words in enumerate(run_wires(plan, model.tables, dict(zip(names, columns, strict=True)))):
        assert int(words.min()) in plan.range_of(k) and int(words.max()) in plan.range_of(k)


def test_small_arms_need_no_more_than_a_register() -> None:
    """Products and sums in 32 bits; at 20 bits some need more, and are listed."""
    assert wide_operations(integer_plan(arm(8, target="integer"))) == []
    spec, robot, _ = spec_and_robot("planar2r", {"bits": 20, "target": "integer"})
    plan = draft_of_robot(spec, robot).plan
    assert not plan.in_floats
    wide = wide_operations(plan)
    assert wide and all(bits > 32 and name for name, bits in wide)


def test_a_chip_is_served_best_by_its_own_plan() -> None:
    """Each plan costs its chip no more than the other plan does, and they are not the same."""
    plans = {
        chip: integer_plan(compiled("scara", bits=12, target="integer", chip=chip)) for chip in ("cortex-m0", "avr")
    }
    assert plans["cortex-m0"] != plans["avr"]
    for chip, plan in plans.items():
        assert plan_cycles(plan, chip_named(chip)) <= min(
            plan_cycles(other, chip_named(chip)) for other in plans.values()
        )


@pytest.mark.parametrize(("chip", "uniform"), [("uniform", True), ("fpga", False)])
def test_all_words_that_are_rounded_have_one_length(chip: str, uniform: bool) -> None:
    """Chip ``uniform`` is what circuits are compared with."""
    plan = integer_plan(arm(8, target="integer", chip=chip))
    rounded = {plan.range_of(k).bits for k, wire in enumerate(plan.wires) if isinstance(wire, Sum) and wire.shift}
    assert (len(rounded) == 1) is uniform


def test_the_cheaper_source_is_taken() -> None:
    """Of a small arm both are planned."""
    chip = chip_named("generic32")
    costs = {
        source: plan_cycles(integer_plan(arm(8, target="integer", source=source)), chip)
        for source in ("terms", "recursive")
    }
    assert integer_plan(arm(8, target="integer")).source == min(costs, key=lambda source: costs[source])


def test_friction_is_one_more_table() -> None:
    """A law of one word is looked up, and proved with the rest."""
    robot = bt.load_robot("planar2r").with_friction({"elbow": {"viscous": 0.5, "coulomb": 0.25}})
    model = bt.compile(robot, bits=6, target="integer", velocity=1.0, acceleration=1.0, torque=200.0, workers=1)
    assert [block.kind for block in model.plan.blocks] == ["function", "law"]
    states = random_words(model)
    assert (found_errors(model, states, reference(model, states)) <= np.array(model.certificate.bounds)).all()
    assert all(finding.passed for finding in check_bytes(to_bytes(model)))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"block": 0}, "method 'native' does not multiply with block 0"),
        ({"piece_bits": 4}, "method 'native' does not multiply with block -1"),
        ({"method": "partial", "block": 0, "piece_bits": 4}, "does not multiply with block 0"),
        ({"method": "squares", "block": 0}, "does not multiply with block 0"),
    ],
)
def test_other_products_are_refused(changes: dict[str, Any], said: str) -> None:
    plain = integer_plan(arm(6, target="integer")).to_plain()
    wire = next(each for each in plain["wires"] if each["kind"] == "product")
    wire.update(changes)
    with pytest.raises(BddTorqueError, match=said):
        plan_from_plain(plain)


@pytest.mark.parametrize(("target", "other"), [("integer", "tables"), ("tables", "integer")])
def test_a_plan_for_another_target_is_refused(target: str, other: str) -> None:
    plain = arm(6, target=target, source="recursive").plan.to_plain()
    with pytest.raises(BddTorqueError, match=re.escape(f"target '{other}' does not multiply by '")):
        plan_from_plain({**plain, "target": other})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"target": "integer", "chip": "z80"}, "chip must be 'cortex-m0', .*, got 'z80'$"),
        ({"chip": "avr"}, "chip is only valid for target 'integer', got target 'tables'$"),
        ({"target": "float", "chip": "avr"}, "chip is only valid for target 'integer', got target 'float'$"),
        (
            {"target": "integer", "products": "squares"},
            "products is only valid for target 'tables', got target 'integer'",
        ),
        ({"target": "integer", "precision": "single"}, "precision is only valid for target 'float'"),
        ({"target": "integer", "accuracy": 0.5005}, "accuracy must be above 0.501 units"),
    ],
)
def test_refused_in_one_line(options: dict[str, Any], said: str) -> None:
    with pytest.raises(BddTorqueError, match=said):
        bt.compile("planar2r", bits=6, workers=1, **options)


def test_what_needs_tables_is_refused() -> None:
    """Evaluators of diagrams and forms of blocks belong to target tables; the words are those of the interpreter."""
    model = arm(8, target="integer")
    for kind, form in (("bits", None), ("words", "dense"), ("parallel", "lockstep")):
        with pytest.raises(BddTorqueError, match="needs a model for target 'tables'"):
            model.evaluator(kind, form)
    with pytest.raises(BddTorqueError, match="spread = 'terms' needs a model for target 'tables'"):
        model.evaluator("parallel", spread="terms")
    assert constant_sequence(model, [])[0]
    states = random_words(model, 300)
    for kind in ("words", "parallel"):
        assert np.array_equal(model.evaluator(kind).torque_words(*states), reference(model, states))


@pytest.mark.parametrize("target", ["integer", "float"])
def test_swept_and_asked_about(target: str) -> None:
    """Sweeps find no more than is proved; the largest word is that of all states."""
    model = arm(3, target=target)
    found = sweep(model, states=200, searched=50)
    assert all(0 < joint.found <= joint.proved for joint in found.outputs)
    words = np.indices((8,) * 6).reshape(6, -1).T - 4
    torques = reference(model, [words[:, :2], words[:, 2:4], words[:, 4:]])
    assert [largest(model, name).word for name in ("tau1", "tau2")] == torques.max(axis=0).tolist()


def test_functions_in_integers() -> None:
    """A traced function becomes products and sums, as cheap as the chip allows; what cannot be traced is a table."""
    inputs = {"x": (6, 2.0), "a": (6, "angle")}
    model = bt.compile_function(
        lambda x, a: x * x - 0.3 * x * np.sin(a), inputs=inputs, output=8, target="integer", chip="avr"
    )
    assert integer_plan(model).counts()["products"] == 2
    assert from_bytes(to_bytes(model)).provenance.chip == "avr"
    x, a = (each.reshape(-1) for each in np.meshgrid(np.arange(-32, 32), np.arange(-32, 32)))
    (word,) = model.formats.results.values()
    value, angle = x * 2.0**-4, a * np.pi / 32
    true = (value**2 - 0.3 * value * np.sin(angle) - word.centre) / word.lsb
    assert np.abs(model.words(x, a) - np.clip(true, word.lowest, word.highest)).max() <= model.certificate.bound
    assert all(check.passed for check in bt.verify(model))
    assert all(finding.passed for finding in check_bytes(to_bytes(model)))
    altered = to_bytes(replace(model, plan=replace(model.plan, target="tables")))
    assert not check_bytes(altered)[-1].passed
    with pytest.raises(BddTorqueError, match="chip must be"):
        from_bytes(to_bytes(replace(model, provenance=replace(model.provenance, rules={"chip": 7}))))
    with pytest.raises(BddTorqueError, match="chip is only valid for target 'integer', got target 'tables'"):
        bt.compile_function(np.tanh, inputs={"x": (6, 2.0)}, output=8, chip="avr")
    with pytest.raises(BddTorqueError, match=r"function 'tanh', chip must be .*, got 'avrr'; did you mean 'avr'"):
        bt.compile_function(np.tanh, inputs={"x": (6, 2.0)}, output=8, target="integer", chip="avrr")


def test_tables_of_functions_and_samples_on_a_chip() -> None:
    """One table each, as for target tables: the same words, proved again, and the chip is kept for the export."""
    x = np.linspace(-1, 1, 9)
    words = {"inputs": {"x": (6, 1.0)}, "output": {"y": (8, 1.0)}}
    pairs = [
        [bt.compile_function(np.tanh, **words, **how) for how in ({}, {"target": "integer", "chip": "avr"})],
        [bt.compile_samples((x, x**3), **words, **how) for how in ({}, {"target": "integer", "chip": "avr"})],
    ]
    for tables, integers in pairs:
        assert np.array_equal(tables.words(np.arange(-32, 32)), integers.words(np.arange(-32, 32)))
        assert (integers.plan.target, integers.provenance.chip) == ("integer", "avr")
        assert all(check.passed for check in bt.verify(integers))
        assert all(finding.passed for finding in check_bytes(to_bytes(integers)))
        assert c_files(integers).files == c_files(integers, chip="avr").files


def test_proved_again_and_by_the_other_checker() -> None:
    """A file is read back the same; both proofs hold, and neither takes a product that is rounded elsewhere."""
    model = arm(8, target="integer", chip="cortex-m0")
    data = to_bytes(model)
    assert to_bytes(from_bytes(data)) == data
    assert from_bytes(data).spec.chip == "cortex-m0"
    assert all(check.passed for check in bt.verify(model))
    assert all(finding.passed for finding in check_bytes(data))
    header, arrays = taken_apart(data)
    changed = next(k for k, wire in enumerate(header["plan"]["wires"]) if wire["kind"] == "product")
    header["plan"]["wires"][changed]["shift"] += 1
    assert not check_bytes(signed(header, arrays))[-1].passed


@pytest.mark.parametrize(
    ("place", "value"),
    [(("spec", "target"), "tables"), (("spec", "chip"), None), (("plan", "target"), "tables")],
)
def test_another_target_is_no_proof(place: tuple[str, str], value: str | None) -> None:
    """The independent checker takes native products for target integer alone, and a chip with these alone."""
    header, arrays = taken_apart(to_bytes(arm(8, target="integer", chip="cortex-m0")))
    if value is None:
        del header[place[0]][place[1]]
    else:
        header[place[0]][place[1]] = value
    assert not check_bytes(signed(header, arrays))[-1].passed

"""Pages of models in floats and in machine integers: operations rounded as in the plan, words of the interpreter."""

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from browser import needs_chromium, page_words
from compiled import arm, compiled, reference, rubbing_arm
from report_pages import SECTIONS, read, wild_states

import bddtorque as bt
from bddtorque.plan.plan import Plan
from bddtorque.plan.reference import run_plan
from bddtorque.plan.wires import Constant, Input, Multiply, Output, Sine
from bddtorque.report.plan_sections import operations_section
from bddtorque.report.proof_sections import file_section
from bddtorque.report.report import report_page
from bddtorque.report.script_data import float_plan_data, plan_data
from bddtorque.words.float_sine import GRID
from bddtorque.words.ieee import DOUBLE, PRECISIONS, Precision, fused

MODELS = {
    "single": lambda: arm(8, target="float"),
    "double": lambda: arm(8, target="float", precision="double"),
    "18 bits": lambda: arm(18, target="float", precision="single"),
    "18 bits, double": lambda: arm(18, target="float", precision="double"),
    "a constant angle": lambda: turned("single"),
    "a constant angle, double": lambda: turned("double"),
    "prismatic": lambda: compiled("scara", bits=12, target="float"),
}


def turned(precision: str) -> bt.Model:
    """Return a model of limits around another angle than 0, whose sines have a constant beside their word."""
    model = arm(10, target="float", precision=precision)
    wires = [replace(wire, rest=Fraction(1, 3)) if isinstance(wire, Sine) else wire for wire in model.plan.wires]
    return replace(model, plan=replace(model.plan, wires=tuple(wires)))


@cache
def rubbing_page() -> bytes:
    return report_page(rubbing_arm())[0]


def wanted(model: bt.Model, states: list[np.ndarray]) -> list[list[int]]:
    """Return the words of the plain interpreter."""
    held = [words.held(each) for words, each in zip(model.formats.inputs, states, strict=True)]
    return reference(model, held).tolist()


@needs_chromium
def test_the_page_gives_the_words_of_the_interpreter(opened):
    page = opened(rubbing_page())
    assert page.run("document.documentElement.className") == "script ready"
    states = wild_states(rubbing_arm(), 400)
    assert page_words(page, states) == wanted(rubbing_arm(), states)
    said = page.run("document.getElementById('live-said').textContent")
    assert "2 of 2 tables in this page have the SHA-256" in said
    assert "On all 96 test states the page computes the evaluator's words" in said


@needs_chromium
@pytest.mark.parametrize("kind", MODELS)
def test_any_plan_in_floats(opened, kind):
    """In the page of another model, which need not be written then."""
    model = MODELS[kind]()
    data = float_plan_data(model.plan, {name: k for k, name in enumerate(model.formats.words)})
    grids = {wire[4] for wire in data["wires"] if wire[0] == "sine"}
    assert not kind.startswith("a constant") or grids == {GRID[model.plan.precision.name]}
    page = opened(rubbing_page())
    page.run(f"bddtorque.plan = new bddtorque.Plan({json.dumps(data)}, [])")
    states = wild_states(model, 400)
    assert page_words(page, states) == wanted(model, states)


@needs_chromium
@pytest.mark.parametrize("precision", PRECISIONS.values(), ids=list(PRECISIONS))
@pytest.mark.parametrize("rest", [Fraction(0), Fraction(1, 3)])
def test_sines_to_the_last_bit(opened, precision, rest):
    """Torque words show little of a sine: here it is an output, in units of its last bits."""
    wires = [Input("q1", 20, True), Sine(0, False, rest), Sine(0, True, rest), Constant(Fraction(2) ** 50)]
    wires += [Multiply(1, 3), Multiply(2, 3)]
    end = 2**50
    outputs = tuple(Output.of_float(f"tau{k - 3}", k, -end, end, Fraction(1)) for k in (4, 5))
    plan = Plan(tuple(wires), (), outputs, "recursive", "float", precision=precision)
    words = np.concatenate([np.arange(-(1 << 19), 1 << 19, 1021), np.arange(4) * (1 << 18) - (1 << 19)])
    page = opened(rubbing_page())
    page.run(f"bddtorque.plan = new bddtorque.Plan({json.dumps(float_plan_data(plan, {'q1': 0}))}, [])")
    found = page.run(f"{words.tolist()}.map((q) => bddtorque.plan.outputWords([q]))")
    assert found == np.stack(run_plan(plan, [], {"q1": words}), axis=1).tolist()


@needs_chromium
@pytest.mark.parametrize("name", ["ur5", "panda"])
@pytest.mark.everything
def test_long_arms(opened, name):
    model = compiled(name, bits=12 if name == "ur5" else 24, target="float")
    page = opened(report_page(model)[0])
    states = wild_states(model, 1000)
    assert page_words(page, states) == wanted(model, states)
    assert "This model has no tables." in page.run("document.getElementById('live-said').textContent")


def hard_cases(precision: Precision, count: int = 4000) -> np.ndarray:
    """Return a, b and c, (N, 3), of one precision: a·b + c of any size, cancelled, close to a tie, and subnormal."""
    rng = np.random.default_rng(precision.bits)
    kind, p = precision.dtype, precision.bits

    def numbers(exponents: np.ndarray) -> np.ndarray:
        return (rng.choice([-1, 1], count) * rng.uniform(1, 2, count) * 2.0**exponents).astype(kind)

    a, b, c = (numbers(rng.integers(-p, p, count)) for _ in range(3))
    cancelling = -(a * b) * rng.choice([1, 1 + 2.0 ** (2 - p)], count).astype(kind)
    # a product of half a unit in the last place of c, and a little more or less
    steps = 2.0 ** -rng.integers(1, p, count)
    tie_a = np.ldexp(rng.choice([-1, 1], count) * (1 + steps), np.frexp(c)[1] - p - 1).astype(kind)
    tie_b = (rng.integers(1, 8, count) + rng.choice([-1, 0, 1], count) * steps).astype(kind)
    small = numbers(precision.lowest // 2 - rng.integers(0, p, count))
    smaller = numbers(precision.lowest // 2 + rng.integers(-p, 3, count))
    tiny = (rng.integers(-(1 << 20), 1 << 20, count) * precision.tiny).astype(kind)
    large = numbers(np.full(count, precision.highest // 2 - 2))
    lowest = precision.lowest - p + 1  # ties between subnormal numbers
    odd, power = (
        np.ldexp(2.0 * rng.integers(0, 1 << 20, count) + 1, lowest // 2),
        np.full(count, lowest - 1 - lowest // 2),
    )
    rows = [
        *((a, b, c), (a, b, cancelling), (tie_a, tie_b, c)),
        *((small, smaller, tiny), (large, small, tiny), (large, large, c), (odd, 2.0**power, tiny)),
    ]
    return np.concatenate([np.stack(row, axis=1) for row in rows]).astype(np.float64)


@needs_chromium
@pytest.mark.parametrize("precision", PRECISIONS.values(), ids=list(PRECISIONS))
def test_fused_operations_are_rounded_once(opened, precision):
    """The words.ieee of the package is itself held against exact fractions."""
    kind = precision.dtype
    cases = hard_cases(precision)
    a, b, c = cases.astype(kind).T
    wanted = fused(a, b, c).astype(np.float64)
    naive = a * b + c if precision == DOUBLE else (cases[:, 0] * cases[:, 1] + cases[:, 2]).astype(kind)
    ordinary = slice(None, 12000)  # twice rounded, or as float64 first, some of them are others
    assert (naive[ordinary] != wanted[ordinary]).sum() > 20
    page = opened(rubbing_page())
    name = "fusedSingle" if kind == np.float32 else "fusedDouble"
    found = page.run(f"{json.dumps(cases.tolist())}.map((each) => bddtorque.{name}(...each))")
    assert np.array_equal(np.array(found, dtype=np.float64), wanted)


def test_what_stands_in_a_page_of_floats():
    """Precision and operations in place of tables and diagrams; those of friction where there are any."""
    reader = read(rubbing_page())
    assert [each.attributes["id"] for each in reader.root.all("section")] == SECTIONS
    assert "look-ups of friction2" in reader.identifiers["plan"].whole_text
    model = arm(8, target="float")
    text = read(str(file_section(model)).encode()).root.whole_text
    assert "precisionsingle" in text
    assert "iagram" not in text
    assert f">fused multiply-adds</th><td>{model.plan.counts()['fused']}<" in operations_section(model)


def test_what_stands_in_a_page_of_integers():
    """The plan with the bits of its products and sums, the one table of a cosine, and no terms of tables."""
    model = arm(8, target="integer", chip="cortex-m0")
    page, report = report_page(model)
    reader = read(page)
    assert [each.attributes["id"] for each in reader.root.all("section")] == SECTIONS
    assert "planned for chip cortex-m0" in reader.identifiers["plan"].whole_text
    assert "up to 32" in reader.identifiers["plan"].whole_text
    assert report.live and max(report.largest_found) <= max(model.certificate.bounds)


@needs_chromium
@pytest.mark.parametrize("bits", [8, 24])
def test_a_page_of_integers_gives_the_words_of_the_interpreter(opened, bits):
    """At 24 bits in BigInt: products go beyond 2^53."""
    page = opened(report_page(arm(8, target="integer", chip="cortex-m0"))[0])
    assert page.run("document.documentElement.className") == "script ready"
    said = page.run("document.getElementById('live-said').textContent")
    assert "On all 96 test states the page computes the evaluator's words" in said
    model = compiled("planar2r", bits=bits, input_bits=min(bits, 12), target="integer", chip="cortex-m0")
    data = plan_data(model.plan, model.tables, {name: k for k, name in enumerate(model.formats.words)})
    assert (bits == 24) == any(wire[0] in ("product", "sum") and wire[1] for wire in data["wires"])
    tables = [{"widths": list(table.input_widths), "words": table.values.tolist()} for table in model.tables]
    page.run(f"bddtorque.plan = new bddtorque.Plan({json.dumps(data)}, {json.dumps(tables)})")
    states = wild_states(model, 200)
    assert page_words(page, states) == wanted(model, states)

"""Plans as text, and the costs they are chosen by: fixed numbers that the tables keep."""

from __future__ import annotations

import pytest

import bddtorque as bt
from bddtorque.compiler.robot_draft import draft_of_robot
from bddtorque.model.model import Model
from bddtorque.plan.bound import OutputBound
from bddtorque.plan.forms import FORMS, make_form
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import Product
from bddtorque.spec import load_spec
from bddtorque.targets.plan_text import inner_widths, plan_text
from bddtorque.targets.tables.cost import block_candidates, candidate, max_diagram_nodes, product_candidates


@pytest.fixture(scope="module")
def model() -> Model:
    return bt.compile("planar2r", bits=7, block_bits=10, workers=1)


def plan_and_bounds(name: str, **options: object) -> tuple[Plan, list[OutputBound]]:
    spec = load_spec(name).with_options(**options)
    draft = draft_of_robot(spec, bt.load_robot(spec.robot_location))
    return draft.plan, draft.bounds()


def test_forms_take_no_more_than_their_candidates_say(model: Model) -> None:
    for block, table, diagram in zip(model.plan.blocks, model.tables, model.diagrams, strict=True):
        candidates = block_candidates(block)
        assert {each.name for each in candidates} == set(FORMS) - {"runs"}  # known once the table is
        for each in candidates:
            made = candidate(make_form(each.name, table, diagram))
            assert made.bytes <= each.bytes, each
            assert made.cost <= each.cost, each
            assert (made.loads, made.depth, made.constant) == (each.loads, each.depth, each.constant), each


def test_the_max_diagram_nodes_of_small_diagrams() -> None:
    assert max_diagram_nodes(1, 1, 2) == 1
    assert max_diagram_nodes(2, 1, 2) == 3
    assert max_diagram_nodes(3, 1, 2) == 7
    assert (
        max_diagram_nodes(3, 40, 2) == 40 + 16 + 4
    )  # functions of the last 2 and 1 bits, however many outputs there are
    assert max_diagram_nodes(20, 1, 1 << 20) == (1 << 20) - 1


@pytest.mark.parametrize(
    ("options", "methods"),
    [
        ({"bits": 8}, {"squares"}),
        ({"bits": 16, "block_bits": 20}, {"partial"}),
        ({"bits": 6, "accuracy": "paper"}, {"blocks"}),
    ],
)
def test_products_are_one_of_their_candidates(options: dict[str, object], methods: set[str]) -> None:
    plan, bounds = plan_and_bounds("planar2r", **options)
    products = [wire for wire in plan.wires if isinstance(wire, Product)]
    found = {each.name for wire in products for each in product_candidates(plan, wire) if each.chosen}
    assert found == {wire.method for wire in products}
    assert methods <= found
    text = plan_text(plan, "arm", bounds)
    for wire in products:
        candidates = product_candidates(plan, wire)
        assert [each.name for each in candidates] == ["blocks", "squares", "partial"]
        assert all(each.reason and "\n" not in each.reason for each in candidates)
    for method in found:
        assert f"by {method}" in text
        assert f"* {method}" in text


def test_the_text_says_it_all(model: Model) -> None:
    plan, bounds = plan_and_bounds("planar2r", bits=7, block_bits=10)
    assert plan == model.plan
    text = plan_text(plan, "my arm", bounds)
    assert text.startswith("my arm: source terms, target tables, block_bits 10\n")
    lines = text.splitlines()
    for k in range(len(plan.blocks)):
        assert sum(line.startswith(f"  b{k} ") for line in lines) == 2  # what it is, and its forms
    for k in range(len(plan.wires)):
        assert any(line.startswith(f"  w{k} ") for line in lines)
    for output, bound in zip(plan.outputs, bounds, strict=True):
        assert f"  {output.name}: one unit" in text
        assert f"{bound.total:.4f}" in text
    assert f"widest {max(inner_widths(plan))}" in text
    assert text == plan_text(plan, "my arm", bounds)


def test_long_plans_stay_readable() -> None:
    plan, bounds = plan_and_bounds("ur5", bits=8, source="recursive")
    whole, short = plan_text(plan, "ur5", bounds), plan_text(plan, "ur5", bounds, most_words=60)
    assert f"  {len(plan.wires)}, not listed here" in short
    assert len(short.splitlines()) < len(whole.splitlines()) - len(plan.wires) + 2
    assert len(whole.splitlines()) < 3 * len(plan.wires)
    assert max(map(len, whole.splitlines())) < 250

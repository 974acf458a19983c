"""Which graph `source = "auto"` takes for tables: terms, or the recursion where that needs far fewer operations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bddtorque as bt
from bddtorque.compiler.robot_draft import draft_of_robot
from bddtorque.plan.plan import Plan
from bddtorque.plan.plan_cost import native_operations
from bddtorque.targets import tables


def plan_of(arm: str, source: str, **options: object) -> Plan:
    return draft_of_robot(bt.Spec(arm, bits=6, source=source, **options), bt.load_robot(arm)).plan  # type: ignore[arg-type]


def test_tables_are_made_from_terms_up_to_a_ratio_of_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Just below the ratio of a SCARA arm it is the recursion, just above the terms; both as if asked for."""
    made: dict[str, Plan] = {}
    plan_network = tables.plan_network

    def plan_once(*given: Any) -> Plan:
        source = given[5]
        made[source] = made.get(source) or plan_network(*given)
        return made[source]

    monkeypatch.setattr(tables, "plan_network", plan_once)
    plans = {source: plan_of("scara", source) for source in ("terms", "recursive")}
    terms, recursive = (native_operations(plan) for plan in plans.values() if not plan.in_floats)
    for ratio, source in ((0.99, "recursive"), (1.0, "terms")):
        monkeypatch.setattr(tables, "MAX_OPERATIONS_RATIO", ratio * terms / recursive)
        assert plan_of("scara", "auto") == plans[source]


def test_the_ratio_is_what_the_documentation_says() -> None:
    page = Path(__file__).parents[2] / "docs" / "planner.md"
    assert f"more than {tables.MAX_OPERATIONS_RATIO} times" in " ".join(page.read_text(encoding="utf-8").split())


def test_few_joints_are_always_made_from_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three joints or fewer the recursion is not even planned."""
    monkeypatch.setattr(tables, "MAX_OPERATIONS_RATIO", 0.0)
    assert plan_of("planar2r", "auto").source == "terms"


def test_other_targets_begin_with_the_recursion() -> None:
    assert plan_of("planar2r", "auto", target="float").source == "recursive"

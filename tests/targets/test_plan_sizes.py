"""Plans grow with the word length: no plan for tables is much larger than the one for a bit more."""

from __future__ import annotations

from itertools import pairwise

import pytest

from bddtorque.compiler.robot_draft import draft_of_robot
from bddtorque.plan.plan import Plan
from bddtorque.plan.plan_cost import FREE_BYTES, table_bytes, table_cost
from bddtorque.spec.spec_files import spec_and_robot
from bddtorque.targets.network import DIRECT_BITS

TIMES = 2
"""Ratio by which a plan may exceed the next: a table of one term saves fewer than half of the operations."""


def plan_at(robot: str, bits: int, source: str = "auto") -> Plan:
    given = {"bits": bits, "torque": "auto", "source": source}
    plan = draft_of_robot(*spec_and_robot(robot, given)[:2]).plan
    assert not plan.in_floats
    return plan


LARGE = pytest.param("ur5", marks=pytest.mark.everything)


@pytest.mark.parametrize("robot", ["planar2r", "planar3r_a", "scara", LARGE])
def test_a_plan_is_no_more_than_twice_as_large_as_the_next(robot):
    sizes = [max(sum(map(table_bytes, plan_at(robot, bits, "terms").blocks)), FREE_BYTES) for bits in range(4, 13)]
    assert all(size <= TIMES * following for size, following in pairwise(sizes)), sizes
    assert sizes[-1] > TIMES * sizes[0]  # they do grow


def test_the_cheapest_candidate_is_taken(monkeypatch):
    costs = []
    for choice in DIRECT_BITS:
        monkeypatch.setattr("bddtorque.targets.tables.budget.DIRECT_BITS", (choice,))
        costs.append(table_cost(plan_at("planar2r", 7, "terms")))
    monkeypatch.undo()
    assert len(set(costs)) > 1
    assert table_cost(plan_at("planar2r", 7, "terms")) == min(costs)

"""The cost model: fixed numbers, and the choice of least cost within a memory budget against trying everything."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bddtorque.base.errors import BddTorqueError
from bddtorque.plan.plan_cost import Candidate, latency, least_cost, load_cost, pick


def candidate(name: str, size: int, cost: int) -> Candidate:
    return Candidate(name, size, 1, 1, cost, True)


BLOCKS = st.lists(
    st.lists(st.tuples(st.integers(1, 30), st.integers(1, 12)), min_size=1, max_size=4).map(
        lambda found: [candidate(f"form{k}", *each) for k, each in enumerate(found)]
    ),
    min_size=1,
    max_size=4,
)


def test_loads_cost_what_the_size_of_their_array_says() -> None:
    assert [latency(size) for size in (0, 1, 32 << 10, 64 << 10, 1 << 20, 2 << 20, 32 << 20)] == [
        4,
        4,
        4,
        9,
        14,
        32,
        49,
    ]
    assert latency(1 << 40) == 200
    sizes = [3**k for k in range(25)]
    assert [latency(size) for size in sizes] == sorted(latency(size) for size in sizes)
    assert load_cost(1, (100,)) == 4
    assert load_cost(3, (100, 1 << 20)) == 4 + 14 + 1  # one load waits for none
    assert least_cost(3, 2) == 9


@given(BLOCKS, st.integers(1, 120))
def test_the_choice_is_the_cheapest_there_is_within_the_budget(blocks: list[list[Candidate]], budget: int) -> None:
    every = [(sum(one.cost for one in some), sum(one.bytes for one in some)) for some in product(*blocks)]
    fitting = [pair for pair in every if pair[1] <= budget]
    if not fitting:
        least = min(size for _, size in every)
        with pytest.raises(BddTorqueError, match=f"memory must be at least {least} bytes .* got {budget}$"):
            pick(blocks, budget)
        return
    picked = pick(blocks, budget)
    chosen = [one for each in picked for one in each if one.chosen]
    assert [sum(one.chosen for one in each) for each in picked] == [1] * len(blocks)
    assert [[one.name for one in each] for each in picked] == [[one.name for one in each] for each in blocks]
    assert sum(one.bytes for one in chosen) <= budget
    assert sum(one.cost for one in chosen) == min(cost for cost, _ in fitting)
    assert all(one.reason and "\n" not in one.reason for each in picked for one in each)


@given(BLOCKS)
def test_without_a_budget_every_block_has_its_cheapest_form(blocks: list[list[Candidate]]) -> None:
    for each in pick(blocks):
        (chosen,) = (one for one in each if one.chosen)
        assert chosen.name == min(each, key=lambda one: (one.cost, one.name)).name
        assert "the least" in chosen.reason


def test_reasons_say_what_decided() -> None:
    block = [candidate("dense", 100, 4), candidate("folded", 60, 9), candidate("edge_valued", 50, 20)]
    reasons = [one.reason for one in pick([block])[0]]
    assert reasons == ["cost 4, the least; next folded with 9", "cost 9 against 4", "cost 20 against 4"]
    reasons = [one.reason for one in pick([block], 70)[0]]
    assert reasons == [
        "cost 4 against 9, but too large for the memory budget",
        "cost 9, of the cheapest choice within the memory budget; next edge_valued with 20",
        "cost 20 against 9",
    ]

"""HAM Tables 2 to 4 from primitive costs: every entry, every total, every cycle count (F26, F27, F28)."""

from __future__ import annotations

import pytest

from bddtorque.evaluate.scheduling import list_schedule
from machines.hamilton.hamilton_equations import HAMILTON
from machines.hamilton.speculation_costs import (
    HAMILTON_PRICES,
    Operations,
    is_zero,
    link_costs,
    overhead,
    place_costs,
    total,
)
from machines.hamilton.speculation_equations import LATHROP, VectorOp, cross, into, out, read
from machines.hamilton.speculation_methods import BINDER_HERZOG, FIRST_ORDER, NEW, SERIAL
from machines.hamilton.timetables import new_on_four, processor_a_link, single_processor, tasks_of

TABLE_2 = {  # (multiplications, additions) for i = 1, 1 < i < n, i = n; coefficients of n and 1 of both totals
    "w": ((12, 6), (21, 15), (21, 15), (21, -9), (15, -9)),
    "wd": ((14, 10), (32, 27), (32, 27), (32, -18), (27, -17)),
    "al": ((9, 8), (18, 17), (18, 17), (18, -9), (17, -9)),
    "ae": ((27, 18), (36, 27), (36, 27), (36, -9), (27, -9)),
    "ac": ((27, 18), (27, 21), (27, 21), (27, 0), (21, -3)),
    "f": ((15, 12), (15, 12), (6, 3), (15, -9), (12, -9)),
    "t": ((42, 33), (42, 33), (24, 16), (42, -18), (33, -17)),
}
TABLE_3 = {
    "w": ((12, 6), (21, 15), (21, 15), (21, -9), (15, -9)),
    "wd": ((14, 10), (53, 39), (53, 39), (53, -39), (39, -29)),
    "al": ((35, 24), (44, 33), (44, 33), (44, -9), (33, -9)),
    "ae": ((27, 18), (36, 27), (36, 27), (36, -9), (27, -9)),
    "ac": ((27, 18), (36, 27), (36, 27), (36, -9), (27, -9)),
    "f": ((15, 12), (15, 12), (6, 3), (15, -9), (12, -9)),
    "t": ((51, 39), (51, 39), (24, 16), (51, -27), (39, -23)),
}


def revolute(n: int) -> list:
    return ["revolute"] * n


@pytest.mark.parametrize(("shared", "table"), [(True, TABLE_2), (False, TABLE_3)])
@pytest.mark.parametrize("n", [2, 3, 6, 9])
def test_tables_of_operation_counts(shared: bool, table: dict, n: int) -> None:
    """F26: 84 entries and 28 totals, for several n."""
    costs = place_costs(HAMILTON, revolute(n), shared=shared)
    for variable, (first, middle, last, multiplications, additions) in table.items():
        assert costs[variable, 1] == Operations(*first)
        assert costs[variable, n] == Operations(*last)
        for link in range(2, n):
            assert costs[variable, link] == Operations(*middle)
        found = total(costs[variable, link] for link in range(1, n + 1))
        assert found.multiplications == multiplications[0] * n + multiplications[1]
        assert found.additions == additions[0] * n + additions[1]


def test_cycles_and_speed_ups() -> None:
    """F27 and F28, from schedules."""
    shared, alone = (place_costs(HAMILTON, revolute(3), shared=each) for each in (True, False))
    assert total(shared.values()) == Operations(501, 383)
    serial = single_processor().schedule(shared).makespan
    bh = processor_a_link().schedule(shared).makespan
    four = new_on_four().schedule(shared).makespan
    cycles = {place: cost.cycles() for place, cost in alone.items()}
    every = max(cycles.values())
    assert (serial, bh, every, four, min(cycles.values())) == (3153, 1220, 329, 857, 33)
    assert (
        cycles["wd", 2] == cycles["wd", 3] == 329 and cycles["t", 1] == cycles["t", 2] == 321 and cycles["f", 3] == 33
    )
    ratios = serial / bh, serial / every, bh / every, serial / four, bh / four
    assert [f"{ratio:.2f}" for ratio in ratios] == ["2.58", "9.58", "3.71", "3.68", "1.42"]
    by_link = [sum(shared[v, link].cycles() for v in HAMILTON.variables) for link in (1, 2, 3)]
    assert by_link == [899, 1220, 1034]
    assert [sum(shared[p].cycles() for p in new_on_four().work_of(k)) for k in range(4)] == [713, 857, 857, 726]


def test_list_scheduling_of_independent_variables() -> None:
    """14 processors suffice for 329 cycles; four that share products beat four that do not.

    Hamilton, Walker and Bennett, Tables 2 and 3.
    """
    tasks = tasks_of(HAMILTON, NEW, revolute(3), place_costs(HAMILTON, revolute(3), shared=False))
    assert all(not task.predecessors for task in tasks)
    expected = {1: 4065, 2: 2043, 3: 1367, 4: 1036, 5: 827, 6: 715, 7: 602, 8: 546, 10: 437, 12: 361, 14: 329, 21: 329}
    assert {P: list_schedule(tasks, P, "longest_task").makespan for P in expected} == expected
    assert list_schedule(tasks, 13, "longest_task").makespan > 329


def test_the_usual_cross_product_does_not_give_the_tables() -> None:
    usual = {**HAMILTON_PRICES, VectorOp.CROSS: Operations(6, 3)}
    assert link_costs(HAMILTON, 1, 3, shared=True, prices=usual)["ae"] == Operations(18, 12)


def test_what_vanishes_at_the_ends_costs_nothing() -> None:
    assert is_zero(into(read("w", -1)), HAMILTON, 1, 3) and not is_zero(into(read("w", -1)), HAMILTON, 2, 3)
    assert is_zero(cross(read("w"), out(read("f", 1))), HAMILTON, 3, 3)
    assert not is_zero(into(read("pdd", -1)), LATHROP, 1, 3)  # gravity
    assert is_zero(into(read("wd", -1)), LATHROP, 1, 3)


def test_messages_and_predictions() -> None:
    """One processor a link: six vectors a pair of neighbours (w, wd, al, ae outward; f, t inward)."""
    n = 6
    zero = overhead(HAMILTON, BINDER_HERZOG, revolute(n), send_differences=True)
    assert zero.messages == 6 * (n - 1) and zero.operations == Operations()
    first = overhead(HAMILTON, FIRST_ORDER, revolute(n), send_differences=False)
    assert first.messages == zero.messages and first.operations == Operations(90, 90)
    sent = overhead(HAMILTON, FIRST_ORDER, revolute(n), send_differences=True)
    assert sent.messages == 2 * zero.messages and sent.operations == Operations(180, 180)
    output = overhead(HAMILTON, BINDER_HERZOG.with_output_prediction(), revolute(n), send_differences=True)
    assert output.messages == zero.messages and output.operations == Operations(n, n)
    assert overhead(HAMILTON, SERIAL, revolute(1), send_differences=True).messages == 0

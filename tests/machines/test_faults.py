"""Timetables and faults: HAM Tables 5 to 7 are legal, recompute sets are as recorded, recovery is exact (F35)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import pinocchio_model, random_states, rnea
from strategies import seeds

from bddtorque.base.errors import BddTorqueError
from bddtorque.robots import load_robot
from machines.hamilton.faults import Fault, FaultyLoop, closure
from machines.hamilton.hamilton_equations import HAMILTON
from machines.hamilton.speculation_costs import place_costs
from machines.hamilton.speculation_methods import BINDER_HERZOG, NEW, SERIAL, places
from machines.hamilton.timetables import (
    Timetable,
    conventional_on_three,
    name_of,
    new_on_four,
    processor_a_link,
    single_processor,
)

KINDS = ["revolute"] * 3
TABLES = {"conventional": conventional_on_three(), "bh": processor_a_link(), "new": new_on_four()}
COSTS = place_costs(HAMILTON, KINDS, shared=False)


def others(timetable: Timetable, processor: int) -> tuple[int, set[str], int]:
    own = timetable.work_of(processor)
    again = closure(HAMILTON, timetable.method, KINDS, own)
    return len(own), {name_of(place) for place in again} - {name_of(place) for place in own}, len(again)


def test_recompute_sets_of_the_conventional_recursion() -> None:
    """F35: 18, 11 and 20 of 21 variables; HAM's text names five beyond those of processor 3, the closure has twelve."""
    table = TABLES["conventional"]
    assert others(table, 0) == (8, {"ac 1", "ac 2", "ac 3", "ae 1", "ae 2", "ae 3", "f 2", "f 3", "t 2", "t 3"}, 18)
    assert others(table, 1) == (5, {"ac 2", "ac 3", "f 1", "f 3", "t 1", "t 3"}, 11)
    third = {"ae 1", "ae 2", "ae 3", "al 1", "al 2", "al 3", "wd 2", "wd 3", "f 1", "f 2", "t 1", "t 2"}
    assert others(table, 2) == (8, third, 20)
    last_stage = closure(HAMILTON, SERIAL, KINDS, [("w", 3), ("ac", 3), ("f", 3), ("t", 3)])
    beyond = {name_of(place) for place in last_stage} - {"w 3", "ac 3", "f 3", "t 3"}
    assert beyond == {"al 3", "ae 3", "f 2", "f 1", "t 2", "t 1"}  # what HAM-L lists, both accelerations of link 3


def test_recompute_sets_with_old_data() -> None:
    """F35: nothing but the failed processor's own variables: 7 each in bh; 7, 5, 5 and 4 in new."""
    assert [others(TABLES["bh"], k) for k in range(3)] == [(7, set(), 7)] * 3
    assert [others(TABLES["new"], k) for k in range(4)] == [(c, set(), c) for c in (7, 5, 5, 4)]


@settings(max_examples=examples(40))
@given(
    st.sampled_from(sorted(TABLES)), st.integers(0, 3), st.integers(0, 9),
    st.sampled_from(["loop", "synchronisation"]), seeds,
)  # fmt: skip
def test_the_torque_is_right_again(name: str, processor: int, row: int, detection, seed: int) -> None:
    """Whatever fails whenever: the recovered store is the healthy one, and only what is recomputed was wrong."""
    table, robot = TABLES[name], load_robot("planar3r_b")
    fault = Fault(min(processor, table.processors - 1), min(row, len(table.rows) - 1))
    loop = FaultyLoop(robot, table, COSTS, seed)
    q, qd, qdd = random_states(robot, 4, seed)
    loop.start(q[:3], qd[:3], qdd[:3])
    recovery = loop.run(q[3], qd[3], qdd[3], fault, detection)
    assert recovery.store_restored
    assert np.array_equal(recovery.tau, recovery.healthy)
    assert set(recovery.spoilt) <= {*recovery.own, *recovery.others}
    assert recovery.cycles >= recovery.healthy_cycles or detection == "synchronisation"
    if name == "conventional":
        assert np.allclose(recovery.tau, rnea(pinocchio_model(robot), q[3], qd[3], qdd[3]), atol=1e-9)
        assert recovery.checks == (10 if detection == "synchronisation" else 1)
    if detection == "synchronisation" or name != "conventional":
        assert not recovery.others  # the reason to check often, or to use old data


def test_an_unseen_fault_is_a_wrong_torque() -> None:
    """Else the test above could pass on a fault that does nothing."""
    robot = load_robot("planar3r_b")
    loop = FaultyLoop(robot, TABLES["conventional"], COSTS)
    q, qd, qdd = random_states(robot, 4)
    loop.start(q[:3], qd[:3], qdd[:3])
    recovery = loop.run(q[3], qd[3], qdd[3], Fault(2), "loop")
    assert np.abs(recovery.unseen - recovery.healthy).min() > 0.01
    assert len(recovery.spoilt) == 20


def test_loops_on_the_processors_that_are_left() -> None:
    """bh nearly doubles, 1933 or 2254 of 1220 cycles; new on three processors needs 1367, 1355 at least.

    Hamilton, Walker and Bennett, section 6.
    """
    shared = place_costs(HAMILTON, KINDS, shared=True)
    links = [sum(shared[v, link].cycles() for v in HAMILTON.variables) for link in (1, 2, 3)]
    assert (links[0] + links[2], links[1] + links[2]) == (1933, 2254)
    loop = FaultyLoop(load_robot("planar3r_b"), TABLES["new"], COSTS)
    assert loop.recovery_cycles(places(HAMILTON, 3), 3) == 1367
    assert sum(cost.cycles() for cost in COSTS.values()) / 3 == 1355


def test_timetables_are_checked() -> None:
    for table in (*TABLES.values(), single_processor()):
        table.check(HAMILTON, KINDS)
    with pytest.raises(BddTorqueError, match="w 1 must come before al 1"):
        replace(TABLES["new"], method=SERIAL, rows=TABLES["new"].rows[::-1]).check(HAMILTON, KINDS)
    with pytest.raises(BddTorqueError, match="f 2 must come before f 1"):
        replace(TABLES["bh"], method=SERIAL).check(HAMILTON, KINDS)  # neighbours' values are not there in time
    with pytest.raises(BddTorqueError, match="every variable must be placed once"):
        replace(TABLES["bh"], rows=TABLES["bh"].rows[:-1]).check(HAMILTON, KINDS)
    replace(TABLES["conventional"], method=NEW).check(HAMILTON, KINDS)
    replace(TABLES["conventional"], method=BINDER_HERZOG).check(HAMILTON, KINDS)


def test_a_fault_must_be_in_the_timetable() -> None:
    loop = FaultyLoop(load_robot("planar3r_b"), TABLES["bh"], COSTS)
    with pytest.raises(BddTorqueError, match="processor must be 0 to 2 and the row 0 to 6, got"):
        loop.run(np.zeros(3), np.zeros(3), np.zeros(3), Fault(3), "loop")

"""Luh and Lin's scheme: every operation of Newton-Euler once, one processor a joint, the best schedule found."""

from __future__ import annotations

from collections import Counter

import pytest

import bddtorque as bt
from bddtorque.evaluate.scheduling import longest_path
from machines.classics.branch_and_bound import branch_and_bound
from machines.classics.luh_lin import counted_operations, joint_tasks
from machines.lathrop.linear_program import linear_program
from machines.lathrop.logarithmic import trace_lathrop
from machines.lathrop.operation_counts import general_graph
from machines.lathrop.vector_program import Times


@pytest.mark.parametrize("name", ["stanford", "puma560"])
def test_what_the_subtasks_take_is_what_the_whole_graph_takes(name: str) -> None:
    robot = bt.load_robot(name)
    kinds = tuple(joint.kind.turns for joint in robot.joints)
    counted = sum(counted_operations(linear_program(kinds, True), robot, "general").values(), Counter())
    whole = general_graph(kinds).counts()
    assert counted["sums"] <= whole["sums"] and counted["products"] <= whole["products"]
    # A (4 products a turning joint) and p*, s* are formed before: at most 4 + 3 products and 3 + 1 sums a joint
    assert whole["products"] - counted["products"] <= 7 * 6 and whole["sums"] - counted["sums"] <= 4 * 6
    customised = sum(counted_operations(linear_program(kinds, True), robot, "customised").values(), Counter())
    graph = trace_lathrop(robot).counts()
    # some of what is computed (all of f_1 and n_1) is read by no torque, and the graph leaves it out
    assert customised["sums"] + customised["products"] >= 0.85 * (graph["sums"] + graph["products"])


@pytest.mark.parametrize("count", ["general", "customised"])
def test_one_processor_a_joint_on_the_stanford_arm(count: str) -> None:
    robot = bt.load_robot("stanford")
    coarse, fine = (joint_tasks(robot, Times(), grain, count) for grain in ("variable", "operation"))
    assert sum(task.duration for task in coarse) == sum(task.duration for task in fine)
    assert {task.processor for task in coarse} == set(range(6))
    assert {task.name.split("[")[0] for task in coarse} == {
        "T1", "T3", "w", "wd", "pdd", "rdd", "F", "N", "f", "n", "tau"
    }  # fmt: skip
    found = [branch_and_bound(tasks, 6, most_nodes=2000) for tasks in (coarse, fine)]
    for search, tasks in zip(found, (coarse, fine), strict=True):
        search.schedule.check(tasks)
        assert search.schedule.makespan >= search.lower_bound >= longest_path(tasks)
    # the printed 2.64 lies between whole variables and single vector operations as subtasks
    assert 2.0 < found[0].schedule.concurrency < 2.64 < found[1].schedule.concurrency < 6

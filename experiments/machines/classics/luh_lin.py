"""Luh and Lin: Newton-Euler on one processor a joint, its subtasks scheduled by branch and bound (LAT section 3.3).

A subtask is one variable of LAT Table 2 for one joint (or one operation of Table 4, a finer grain); its duration is the
scalar operations it takes one after another, counted by tracing the very computation.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal

from bddtorque.dynamics.graph import Op
from bddtorque.evaluate.scheduling import TimedTask, joined_tasks
from bddtorque.robots.robot import Robot
from machines.lathrop.linear_program import linear_program, program_inputs
from machines.lathrop.operation_counts import Count, counted_state, reached_nodes
from machines.lathrop.vector_program import Program, Times

Grain = Literal["variable", "operation"]


def joint_tasks(
    robot: Robot,
    times: Times,
    grain: Grain = "variable",
    count: Count = "general",
    bound: bool = True,
    needed_only: bool = False,
) -> list[TimedTask]:
    """Return the subtasks of Newton-Euler on a robot: names such as "wd[2]", processor i − 1 for joint i if bound.

    Durations are counts of sums and products weighted by `times`; what takes no operation takes no time. With
    `needed_only`, operations that no torque depends on are not counted.
    """
    program = linear_program([joint.kind.turns for joint in robot.joints], end_to_end=True)
    counted = counted_operations(program, robot, count, needed_only)
    tasks = []
    for each in program:
        took = times.sum(counted[each.result]["products"], counted[each.result]["sums"])
        needs = tuple(dict.fromkeys(operand for operand in each.operands if operand in counted))
        tasks.append(TimedTask(each.result, took, needs, each.link - 1 if bound else None))
    if grain == "operation":
        return tasks
    return list(joined_tasks(tasks, {each.result: f"{each.group}[{each.link}]" for each in program}))


def customised_joint_tasks(robot: Robot, times: Times) -> list[TimedTask]:
    """Return the subtasks of one arm, one per variable and bound to its joint: what its zeros spare is not counted.

    Components that no torque depends on cost nothing: the other recursions do not compute them either.
    """
    return joint_tasks(robot, times, "variable", "customised", needed_only=True)


def counted_operations(
    program: Program, robot: Robot, count: Count, needed_only: bool = False
) -> dict[str, Counter[str]]:
    """Return the sums and products of every vector operation of a program; what is shared is counted where it is first.

    A and p* are formed before the program begins and are not counted here. With `needed_only`, nodes that no torque
    depends on are not counted either.
    """
    tracer, state = counted_state(robot, count)
    values = program_inputs(state)
    nodes_of: dict[str, range] = {}
    for operation in program:
        before = len(tracer.nodes)
        values[operation.result] = operation.primitive.compute(values[operation.left], values[operation.right])
        nodes_of[operation.result] = range(before, len(tracer.nodes))
    needed = (
        range(len(tracer.nodes))
        if not needed_only
        else reached_nodes(tracer, (values[operation.result] for operation in program if operation.step == "tau"))
    )
    counted = {}
    for result, nodes in nodes_of.items():
        made = Counter(tracer.nodes[node].op for node in nodes if node in needed)
        counted[result] = Counter(sums=made[Op.SUM], products=made[Op.PRODUCT])
    return counted

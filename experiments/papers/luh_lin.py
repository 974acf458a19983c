"""Luh and Lin: Newton-Euler on one processor a joint, its subtasks scheduled by branch and bound (LAT section 3.3).

A subtask is one variable of LAT Table 2 for one joint (or one operation of Table 4, a finer grain); its duration is the
scalar operations it takes one after another, counted by tracing the very computation.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal

from bddtorque.graph.graph import Op
from bddtorque.machines.lathrop.linear_program import linear_program, program_inputs
from bddtorque.machines.lathrop.operation_counts import Count, counted_state
from bddtorque.machines.lathrop.vector_program import Operation, Program, Times
from bddtorque.robots.robot import Robot
from bddtorque.schedule.scheduling import Task

Grain = Literal["variable", "operation"]


def joint_tasks(
    robot: Robot,
    times: Times,
    grain: Grain = "variable",
    count: Count = "general",
    bound: bool = True,
) -> list[Task]:
    """Return the subtasks of Newton-Euler on a robot: names such as "wd[2]", processor i − 1 for joint i if bound.

    Durations are counts of sums and products weighted by `times`; what takes no operation takes no time.
    """
    program = linear_program([joint.revolute for joint in robot.joints], end_to_end=True)
    counted = counted_operations(program, robot, count)

    def name(operation: Operation) -> str:
        return operation.result if grain == "operation" else f"{operation.group}[{operation.link}]"

    task_of = {operation.result: name(operation) for operation in program}
    durations: dict[str, float] = {}
    before: dict[str, dict[str, None]] = {}
    processor: dict[str, int] = {}
    for operation in program:
        mine, count_ = task_of[operation.result], counted[operation.result]
        took = times.sum(count_["products"], count_["sums"])
        durations[mine] = durations.get(mine, 0.0) + took
        needs = (task_of[operand] for operand in operation.operands if operand in task_of)
        before.setdefault(mine, {}).update(dict.fromkeys(need for need in needs if need != mine))
        processor[mine] = operation.link - 1
    return [
        Task(mine, duration, tuple(before[mine]), processor[mine] if bound else None)
        for mine, duration in durations.items()
    ]


def counted_operations(program: Program, robot: Robot, count: Count) -> dict[str, Counter[str]]:
    """Return the sums and products of every vector operation of a program; what is shared is counted where it is first.

    A and p* are formed before the program begins and are not counted here.
    """
    tracer, state = counted_state(robot, count)
    values = program_inputs(state)
    counted: dict[str, Counter[str]] = {}
    for operation in program:
        before = len(tracer.nodes)
        values[operation.result] = operation.primitive.compute(values[operation.left], values[operation.right])
        made = Counter(node.op for node in tracer.nodes[before:])
        counted[operation.result] = Counter(sums=made[Op.SUM], products=made[Op.PRODUCT])
    return counted

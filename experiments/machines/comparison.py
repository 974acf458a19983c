"""Every machine of the literature on one arm, in one cost model: time of a torque set, interval, processors.

What is charged, and to whom:

- Every machine starts from the words of q, q̇, q̈ and ends with all torques, drives included. A sine or a cosine is one
  table load; so is a coefficient of Horn and Raibert.
- Recursions that are programmed (serial, Luh-Lin, Binder/Herzog, Hamilton, Horn-Raibert) are customised to the arm:
  its zeros and ones cost nothing. Lathrop's matrix-vector processors and Fijany's array do whole vectors, zeros too.
- Messages are free but in Fijany's array, which is simulated with free hops and with hops that cost.
- Nothing here knows a printed figure: times are longest paths, schedules and simulations.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bddtorque.dynamics.robot_trace import trace_torques
from bddtorque.dynamics.terms import Terms, terms_of
from bddtorque.evaluate.scheduling import list_schedule, longest_path
from bddtorque.robots.robot import Robot
from machines.classics.horn_raibert import robot_arithmetic_graph, table_entries
from machines.classics.luh_lin import customised_joint_tasks
from machines.cost_model import CostModel, Machine, by_operations, messages_of, unsupported
from machines.fijany.inverse_array import array_torques
from machines.fijany.owned_words import ArrayCosts
from machines.graph_tasks import tasks_of_graph
from machines.hamilton.speculation_equations import LATHROP
from machines.hamilton.speculation_graphs import link_graphs, variable_graphs
from machines.hamilton.speculation_methods import BINDER_HERZOG, NEW, iterations_to_exact
from machines.lathrop.linear_program import linear_program
from machines.lathrop.logarithmic_program import logarithmic_program
from machines.lathrop.matrix_vector_processor import MODULES, MULTIPLIERS
from machines.lathrop.operation_counts import counted_state, general_graph
from machines.lathrop.vector_program import Program, duration, processors, tasks_of
from machines.serial_arm import require_serial

COEFFICIENT_BYTES = 2
"""Of an entry of Horn and Raibert's tables."""
MAX_BYTES = 64e6
"""Memory that Horn and Raibert's tables may take."""
MAX_JOINTS_IN_TERMS = 6
"""Beyond, terms take long to expand, and tables of their coefficients are out of the question."""


def preparation(robot: Robot, costs: CostModel) -> tuple[list[float], float]:
    """Return what it takes to form A_i, p*_i and s*_i: of each link on one processor, and the longest path."""
    tracer, state = counted_state(robot, "customised")
    alone, longest = [], 0.0
    for i in range(1, robot.degrees_of_freedom + 1):
        numbers = [*(each for row in state.rotation[i] for each in row), *state.arm_vector[i], *state.centre_arm[i]]
        graph = tracer.graph(numbers, [str(k) for k in range(len(numbers))])
        alone.append(costs.serial(graph))
        longest = max(longest, longest_path(tasks_of_graph(graph, costs.of_graph())))
    return alone, longest


def newton_euler(robot: Robot, costs: CostModel) -> list[Machine]:
    """Return Newton-Euler for any arm of these joints on one processor, and customised on one, on many, and piped."""
    general = costs.serial(general_graph(tuple(joint.kind.turns for joint in robot.joints)))
    tasks = tasks_of_graph(trace_torques(robot), costs.of_graph())
    return [
        Machine("Newton-Euler general, serial", "word", 1, general, general, 1),
        *by_operations("Newton-Euler", tasks, "word", multiplies=True),
    ]


def luh_lin(robot: Robot, costs: CostModel) -> Machine:
    """Return Newton-Euler with one processor a joint, its variables scheduled (list schedule, bound to joints)."""
    n = robot.degrees_of_freedom
    alone, _ = preparation(robot, costs)
    drive = costs.multiplication + costs.addition if any(joint.rotor_inertia for joint in robot.joints) else 0.0
    tasks = customised_joint_tasks(robot, costs.times)
    schedule = list_schedule(tasks, n)
    working = {task.name for task in tasks if task.duration > 0}
    place = {each.task: each.processor for each in schedule.placements if each.task in working}
    time = max(alone) + schedule.makespan + drive
    return Machine("Luh-Lin", "word", n, time, time, n, messages_of(tasks, place))


def speculative(robot: Robot, costs: CostModel) -> list[Machine]:
    """Return Binder and Herzog's and Hamilton's machines: ages on the recursion of LAT Table 2, for either joint."""
    found, kinds = [], [joint.kind.name for joint in robot.joints]
    for name, method, graphs in (
        ("Binder/Herzog", BINDER_HERZOG, link_graphs(robot)),
        ("Hamilton new", NEW, list(variable_graphs(robot).values())),
    ):
        work = [costs.serial(graph) for graph in graphs]
        # components of old vectors: one message a vector and reader
        sent = sum(len({each[:-2] for each in graph.input_names if each.endswith("'")}) for graph in graphs)
        note = f"older data: exact after {iterations_to_exact(LATHROP, method, kinds)} loops of one state"
        found.append(Machine(name, "word", len(work), max(work), max(work), len(work), sent, exact=False, note=note))
    return found


def lathrop(robot: Robot, costs: CostModel) -> list[Machine]:
    """Return his linear and logarithmic machines and their systolic forms, which have the same processors."""
    revolute = [joint.kind.turns for joint in robot.joints]
    _, longest = preparation(robot, costs)
    drive = costs.addition if any(joint.rotor_inertia for joint in robot.joints) else 0.0
    found = []
    forms: tuple[tuple[str, Program], ...] = (
        ("linear", linear_program(revolute, end_to_end=True)),
        ("logarithmic", logarithmic_program(revolute, end_to_end=True)),
    )
    for form, program in forms:
        count, time = processors(program), longest + duration(program, costs.times) + drive
        slowest = max(costs.times.of(operation.primitive) for operation in program)
        multipliers = count * MODULES * MULTIPLIERS
        tasks = tasks_of(program, costs.times)
        sent = messages_of(tasks, {task.name: k for k, task in enumerate(tasks) if task.duration > 0})
        machine = Machine(f"Lathrop {form}", "matrix-vector", count, time, time, multipliers, sent)
        found += [machine, replace(machine, name=f"Lathrop {form}, systolic", interval=slowest)]
    return found


def fijany(robot: Robot, costs: CostModel) -> list[Machine]:
    """Return the triangular array computing A·q̈ + b, data-driven, with free hops and with hops that cost."""
    names = ("Fijany array", "Fijany array, hops charged")
    if not all(joint.kind.turns for joint in robot.joints):
        return [unsupported(name, "word", "revolute joints only") for name in names]
    state = np.linspace(0.3, 1.1, robot.degrees_of_freedom)  # counts do not depend on it
    found = []
    for name, hop in zip(names, (0.0, costs.hop), strict=True):
        prices = ArrayCosts(costs.multiplication, costs.addition, hop)
        run = array_torques(robot, state, state, state, costs=prices)
        time = costs.loading(costs.position_bits) + run.path.time(prices)  # sines come by the channels
        sent = sum(record.messages for record in run.array.records)
        found.append(Machine(name, "word", len(run.array), time, time, len(run.array), sent))
    return found


def expanded_terms(robot: Robot) -> Terms | None:
    """Return the terms of the dynamics, which Horn and Raibert's machine needs; None if there are too many joints."""
    return terms_of(robot) if robot.degrees_of_freedom <= MAX_JOINTS_IN_TERMS else None


def horn_raibert(terms: Terms | None, costs: CostModel, most_bytes: float = MAX_BYTES) -> list[Machine]:
    """Return the look-up over positions, where its tables fit."""
    name, ways = "Horn-Raibert", ("serial", "spread")
    if terms is None:
        why = f"terms of more than {MAX_JOINTS_IN_TERMS} joints are not expanded: the tables are far too large"
        return [unsupported(f"{name}, {way}", "word", why) for way in ways]
    size = COEFFICIENT_BYTES * table_entries(terms, costs.position_bits)
    if size > most_bytes:
        return [unsupported(f"{name}, {way}", "word", f"tables of {size:.1e} bytes") for way in ways]
    arithmetic = tasks_of_graph(robot_arithmetic_graph(terms), costs.of_graph())
    loads = {term.name: costs.loading(costs.position_bits * len(term.expansion.depends_on)) for term in terms.terms}
    first = max(loads.values())  # a load that depends on nothing is a constant; those that take longest decide
    serial, spread, _ = by_operations(name, arithmetic, "word", multiplies=True, table_bytes=size)
    assert serial.time is not None
    assert spread.time is not None
    alone, together = serial.time + sum(loads.values()), spread.time + first
    count = max(spread.processors, len(loads))
    return [
        replace(serial, time=alone, interval=alone),
        replace(spread, time=together, interval=together, processors=count),
    ]


def literature(robot: Robot, costs: CostModel, terms: Terms | None) -> list[Machine]:
    """Return all machines of the literature; `terms` as `expanded_terms` gives them."""
    require_serial(robot, "a comparison of machines")
    return [
        *newton_euler(robot, costs),
        luh_lin(robot, costs),
        *speculative(robot, costs),
        *lathrop(robot, costs),
        *fijany(robot, costs),
        *horn_raibert(terms, costs),
    ]

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

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from bddtorque.dynamics.robot_trace import trace_torques
from bddtorque.dynamics.terms import Terms
from bddtorque.graph.graph import Graph, Op
from bddtorque.machines.classics.horn_raibert import robot_arithmetic_graph, table_entries
from bddtorque.machines.classics.luh_lin import link
from bddtorque.machines.fijany.fijany_torques import array_torques
from bddtorque.machines.fijany.owned_words import Costs
from bddtorque.machines.graph_tasks import tasks_of_graph
from bddtorque.machines.hamilton.speculation_graphs import link_graphs, reached_nodes, variable_graphs
from bddtorque.machines.lathrop.linear_program import linear_program, program_inputs
from bddtorque.machines.lathrop.logarithmic_program import logarithmic_program
from bddtorque.machines.lathrop.matrix_vector_processor import MULTIPLIERS
from bddtorque.machines.lathrop.operation_counts import counted_state, general_graph
from bddtorque.machines.lathrop.vector_program import Program, Times, duration, processors
from bddtorque.robots.robot import Robot
from bddtorque.schedule.scheduling import Task, earliest_ends, list_schedule

MODULES = 3
"""In one matrix-vector processor (LAT section 7)."""

Unit = Literal["word", "matrix-vector", "bit"]
"""A processor: an adder and a multiplier (or a table) of words; Lathrop's, of three modules; a tester of one bit."""


@dataclass(frozen=True)
class CostModel:
    """Steps that everything takes.

    Attributes
    ----------
    multiplication, addition : of two words in a recursion
    load, load_bit : of a table: for every load, and for every bit of its index; putting an index together is wiring
    test : one bit tested by a diagram's walk
    table_addition, addition_bit : an addition in a table scheme, and what every bit of its result takes on top
    hop : one packet to a neighbour, where hops are charged
    position_bits : bits of a position word, the index of a sine table
    """

    name: str
    multiplication: float
    addition: float
    load: float
    load_bit: float
    test: float
    table_addition: float
    addition_bit: float
    hop: float
    position_bits: int

    @property
    def times(self) -> Times:
        """Multiplication and addition, for vector programs."""
        return Times(self.multiplication, self.addition)

    def loading(self, index_bits: int) -> float:
        """Return the steps of one table load."""
        return self.load + self.load_bit * index_bits

    def of_graph(self) -> dict[str, float]:
        """Return the costs of a traced graph's operations."""
        sine = self.loading(self.position_bits)
        return {"sum": self.addition, "product": self.multiplication, "sine_cosine": sine}

    def serial(self, graph: Graph) -> float:
        """Return what one processor takes for a graph."""
        counts, costs = graph.counts(), self.of_graph()
        return sum(counts[f"{kind}s"] * cost for kind, cost in costs.items())


def word_steps(position_bits: int) -> CostModel:
    """Return the model of word-wide processors: everything that is done to a word is one step; so is a bit test."""
    return CostModel("word", 1, 1, 1, 0, 1, 1, 0, 1, position_bits)


def bit_steps(position_bits: int, word_bits: int) -> CostModel:
    """Return the model of one-bit processors: additions bit by bit, products bit by bit by bit, an index bit by bit.

    `word_bits` is the width that a recursion needs for the same accuracy; tables add words of their own widths.
    """
    b = word_bits
    return CostModel("bit", b * b, b, 0, 1, 1, 0, 1, b, position_bits)


def cell_steps(position_bits: int, word_bits: int) -> CostModel:
    """Return bit steps with multipliers of one cell a bit, which take two steps a bit: b cells more a multiplier."""
    return replace(bit_steps(position_bits, word_bits), name="cell", multiplication=2 * word_bits)


@dataclass(frozen=True)
class Machine:
    """A machine on an arm, in steps of a cost model.

    Attributes
    ----------
    time : from a state to its torques; None where the machine does not support the arm, and `note` says why
    interval : from one torque set to the next where states follow each other as fast as they can
    multipliers : in all its processors
    table_bytes : of its tables, sines not counted
    exact : whether torques are those of the state alone; else of older data too
    """

    name: str
    unit: Unit
    processors: int
    time: float | None
    interval: float | None
    multipliers: int
    table_bytes: int = 0
    exact: bool = True
    note: str = ""


def unsupported(name: str, unit: Unit, why: str) -> Machine:
    """Return the line of a machine that cannot do the arm."""
    return Machine(name, unit, 0, None, None, 0, note=why)


def most_busy(tasks: Sequence[Task]) -> tuple[float, int]:
    """Return the longest path, and how many tasks run at once at most if each starts as soon as it can."""
    ends = earliest_ends(tasks)
    events = sorted(
        event
        for task in tasks
        if task.duration > 0
        for event in ((ends[task.name] - task.duration, 1), (ends[task.name], -1))
    )
    busy = np.cumsum([change for _, change in events]) if events else np.zeros(1, dtype=int)
    return max(ends.values(), default=0.0), int(busy.max())


def by_operations(
    name: str, tasks: Sequence[Task], unit: Unit, *, multiplies: bool, table_bytes: int = 0, note: str = ""
) -> list[Machine]:
    """Return three machines of the same operations: one processor, as many as are busy at once, one an operation.

    The last is piped: it takes the next state as soon as its slowest processor is free.
    """
    serial = sum(task.duration for task in tasks)
    longest, busy = most_busy(tasks)
    working = [task for task in tasks if task.duration > 0]
    slowest = max(task.duration for task in working)
    own = sum(task.name.startswith("product") for task in working)
    shape = ((1, serial, serial, 1), (busy, longest, longest, busy), (len(working), longest, slowest, own))
    return [
        Machine(f"{name}, {way}", unit, count, time, interval, multipliers if multiplies else 0, table_bytes, note=note)
        for way, (count, time, interval, multipliers) in zip(("serial", "spread", "piped"), shape, strict=True)
    ]


def preparation(robot: Robot, costs: CostModel) -> tuple[list[float], float]:
    """Return what it takes to form A_i, p*_i and s*_i: of each link on one processor, and the longest path."""
    tracer, state = counted_state(robot, "customised")
    alone, longest = [], 0.0
    for i in range(1, robot.degrees_of_freedom + 1):
        numbers = [*(each for row in state.rotation[i] for each in row), *state.arm_vector[i], *state.centre_arm[i]]
        graph = tracer.graph(numbers, [str(k) for k in range(len(numbers))])
        alone.append(costs.serial(graph))
        longest = max(longest, *graph.critical_paths(costs.of_graph()))
    return alone, longest


def newton_euler(robot: Robot, costs: CostModel) -> list[Machine]:
    """Return Newton-Euler for any arm of these joints on one processor, and customised on one, on many, and piped."""
    general = costs.serial(general_graph(tuple(joint.revolute for joint in robot.joints)))
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
    time = max(alone) + list_schedule(variable_tasks(robot, costs), n).makespan + drive
    return Machine("Luh-Lin", "word", n, time, time, n)


def variable_tasks(robot: Robot, costs: CostModel) -> list[Task]:
    """Return the variables of LAT Table 2 as tasks, each bound to its joint, customised to the arm.

    Unlike `luh_lin.joint_tasks`, which counts whole variables as Luh and Lin have them, components that no torque
    depends on cost nothing: the other recursions here do not compute them either.
    """
    program = linear_program([joint.revolute for joint in robot.joints], end_to_end=True)
    tracer, state = counted_state(robot, "customised")
    values, made = program_inputs(state), {}
    for each in program:
        before = len(tracer.nodes)
        values[each.result] = each.primitive.compute(values[each.left], values[each.right])
        made[each.result] = range(before, len(tracer.nodes))
    used = reached_nodes(tracer, (values[each.result] for each in program if each.step == "tau"))
    price = {Op.SUM: costs.addition, Op.PRODUCT: costs.multiplication}
    task_of = {each.result: f"{each.group}[{link(each)}]" for each in program}
    durations: dict[str, float] = {}
    before_it: dict[str, dict[str, None]] = {}
    joint: dict[str, int] = {}
    for each in program:
        mine = task_of[each.result]
        took = sum(price.get(tracer.nodes[node].op, 0.0) for node in made[each.result] if node in used)
        durations[mine] = durations.get(mine, 0.0) + took
        needs = (task_of[name] for name in each.operands if name in task_of)
        before_it.setdefault(mine, {}).update(dict.fromkeys(need for need in needs if need != mine))
        joint[mine] = link(each) - 1
    return [Task(mine, took, tuple(before_it[mine]), joint[mine]) for mine, took in durations.items()]


def speculative(robot: Robot, costs: CostModel) -> list[Machine]:
    """Return Binder and Herzog's and Hamilton's machines: ages on the recursion of LAT Table 2, for either joint."""
    links = [costs.serial(graph) for graph in link_graphs(robot)]
    variables = [costs.serial(graph) for graph in variable_graphs(robot).values()]
    return [
        Machine(name, "word", len(work), max(work), max(work), len(work), exact=False, note="older data")
        for name, work in (("Binder/Herzog", links), ("Hamilton new", variables))
    ]


def lathrop(robot: Robot, costs: CostModel) -> list[Machine]:
    """Return his linear and logarithmic machines and their systolic forms, which have the same processors."""
    revolute = [joint.revolute for joint in robot.joints]
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
        machine = Machine(f"Lathrop {form}", "matrix-vector", count, time, time, multipliers)
        found += [machine, replace(machine, name=f"Lathrop {form}, systolic", interval=slowest)]
    return found


def fijany(robot: Robot, costs: CostModel) -> list[Machine]:
    """Return the triangular array computing A·q̈ + b, data-driven, with free hops and with hops that cost."""
    names = ("Fijany array", "Fijany array, hops charged")
    if not all(joint.revolute for joint in robot.joints):
        return [unsupported(name, "word", "revolute joints only") for name in names]
    state = np.linspace(0.3, 1.1, robot.degrees_of_freedom)  # counts do not depend on it
    found = []
    for name, hop in zip(names, (0.0, costs.hop), strict=True):
        prices = Costs(costs.multiplication, costs.addition, hop)
        run = array_torques(robot, state, state, state, costs=prices)
        time = costs.loading(costs.position_bits) + run.path.time(prices)  # sines come by the channels
        found.append(Machine(name, "word", len(run.array), time, time, len(run.array)))
    return found


def horn_raibert(terms: Terms, costs: CostModel, coefficient_bytes: int, most_bytes: float) -> list[Machine]:
    """Return the look-up over positions, where its tables fit."""
    name, size = "Horn-Raibert", coefficient_bytes * table_entries(terms, costs.position_bits)
    if size > most_bytes:
        return [unsupported(f"{name}, {way}", "word", f"tables of {size:.1e} bytes") for way in ("serial", "spread")]
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


def literature(robot: Robot, costs: CostModel) -> list[Machine]:
    """Return all machines of the literature but Horn and Raibert's, which needs the terms of the dynamics."""
    return [
        *newton_euler(robot, costs),
        luh_lin(robot, costs),
        *speculative(robot, costs),
        *lathrop(robot, costs),
        *fijany(robot, costs),
    ]

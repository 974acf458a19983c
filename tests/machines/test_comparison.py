"""The comparison: its machines compute torques, its figures agree with what each machine's own tests measure."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from compiled import arm
from examples_tried import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import pinocchio_model, rnea

import bddtorque as bt
from bddtorque.dynamics.robot_trace import trace_torques
from bddtorque.dynamics.terms import terms_of
from bddtorque.evaluate.operations import operations_of
from bddtorque.evaluate.scheduling import Placement, Schedule, TimedTask, earliest_ends, list_schedule, longest_path
from bddtorque.evaluate.spreading import spread_bits
from machines.classics.luh_lin import customised_joint_tasks
from machines.comparison import (
    fijany,
    horn_raibert,
    lathrop,
    literature,
    luh_lin,
    newton_euler,
)
from machines.cost_model import (
    CostModel,
    Machine,
    bit_steps,
    by_operations,
    messages_of,
    most_busy,
    processors_shared,
    word_steps,
)
from machines.fijany.inverse_array import array_torques
from machines.fijany.owned_words import ArrayCosts, ArrayError
from machines.graph_tasks import tasks_of_graph
from machines.hamilton.speculation_graphs import link_graphs, variable_graphs
from machines.lathrop.lathrop_torques import float_state
from machines.lathrop.linear_program import linear_program, program_inputs
from machines.lathrop.systolic import pipeline
from machines.lathrop.vector_program import Times, run
from machines.table_machines import costs_of, table_machines, word_tasks

ARMS = ("planar2r", "planar3r_a", "scara", "stanford", "puma560", "ur5", "panda")
WORD = word_steps(8)
TERMS = cache(lambda name: terms_of(bt.load_robot(name)))


def random_state(robot: bt.Robot, count: int = 20) -> np.ndarray:
    return np.random.default_rng(5).uniform(-1, 1, (3, count, robot.degrees_of_freedom))


def named(machines: list[Machine], name: str) -> Machine:
    (found,) = (each for each in machines if each.name == name)
    return found


@pytest.mark.parametrize("barriers", [False, True])
@pytest.mark.parametrize("name", ["planar2r", "planar3r_b", "puma560", "ur5", "panda"])
def test_torques_of_the_triangular_array(name: str, barriers: bool) -> None:
    """A·q̈ + b by neighbours alone equals pinocchio's rnea."""
    robot = bt.load_robot(name)
    q, qd, qdd = random_state(robot)
    found = array_torques(robot, q, qd, qdd, barriers=barriers)
    expected = rnea(pinocchio_model(robot), q, qd, qdd)
    assert np.abs(found.torques - expected).max() < 1e-12 * max(1.0, np.abs(expected).max())
    assert len(found.array) == robot.degrees_of_freedom * (robot.degrees_of_freedom + 1) // 2


def test_the_array_multiplies_in_linear_time() -> None:
    """The last phase: two products, and sums and hops along a column and a row, on one state alone."""
    for name in ("planar2r", "ur5", "panda"):
        robot = bt.load_robot(name)
        n, (q, qd, qdd) = robot.degrees_of_freedom, random_state(robot, 1)[:, 0]
        run_ = array_torques(robot, q, qd, qdd, barriers=True)
        last = run_.array.records[-1]
        assert last.work.multiplications == n * n  # every element of the matrix once
        assert last.work.additions == n * n  # n - 1 a torque, and the bias
        assert last.path.multiplications <= 2
        assert last.path.additions <= n + 1
        assert last.hops <= 4 * (n - 1)
        assert run_.torques.shape == (n,)


def test_hops_only_add_time() -> None:
    robot = bt.load_robot("ur5")
    q, qd, qdd = random_state(robot, 1)[:, 0]
    free, charged = (array_torques(robot, q, qd, qdd, costs=ArrayCosts(hop=hop)).path for hop in (0.0, 1.0))
    assert free.time(ArrayCosts()) < charged.time(ArrayCosts(hop=1.0)) <= free.time(ArrayCosts()) + 20 * 6


def test_sliding_joints_are_refused_by_the_array() -> None:
    robot = bt.load_robot("scara")
    with pytest.raises(bt.BddTorqueError, match="revolute"):
        array_torques(robot, *random_state(robot, 1)[:, 0])
    for machine in fijany(robot, WORD):
        assert machine.time is None
        assert machine.note == "revolute joints only"
    assert issubclass(ArrayError, bt.BddTorqueError)


@pytest.mark.parametrize("name", ARMS)
def test_processors_of_speculative_machines_compute_the_recursion(name: str) -> None:
    """On values that are those of the serial recursion already, every processor computes the serial recursion."""
    robot = bt.load_robot(name)
    state = random_state(robot, 1)
    program = linear_program([joint.kind.turns for joint in robot.joints], end_to_end=True)
    values = run(program, program_inputs(float_state(robot, *state)))
    inputs = {
        f"{kind}{j + 1}": each for kind, row in zip(("q", "qd", "qdd"), state[:, 0], strict=True) for j, each in
        enumerate(row)
    }  # fmt: skip
    inputs |= {
        f"{name}{axis}'": np.squeeze(part)
        for name, vector in values.items()
        if isinstance(vector, tuple) and not isinstance(vector[0], tuple)
        for axis, part in zip("xyz", vector, strict=True)
    }
    tau = {f"tau[{i + 1}]": each for i, each in enumerate(bt.inverse_dynamics(robot, *state)[0])}
    graphs = [*link_graphs(robot), *variable_graphs(robot).values()]
    seen = set()
    for graph in graphs:
        found = graph.evaluate({each: inputs[each] for each in graph.input_names})
        for output, value in zip(graph.output_names, found, strict=True):
            expected = tau[output] if output in tau else np.squeeze(values[output[:-1]]["xyz".index(output[-1])])
            assert np.isclose(value, expected, rtol=1e-10, atol=1e-10)
            seen.add(output)
    assert set(tau) <= seen


def test_old_data_spare_the_waiting_not_the_work() -> None:
    """Links wait for nothing of others; all of them together do no less than the recursion."""
    robot = bt.load_robot("puma560")
    links = link_graphs(robot)
    assert len(links) == 6
    whole = sum(task.duration for task in customised_joint_tasks(robot, WORD.times))
    assert sum(sum(graph.counts().values()) for graph in links) >= whole
    for k, graph in enumerate(links, start=1):
        mine = {f"{kind}{k}" for kind in ("q", "qd", "qdd")} | {f"q{k + 1}"}
        assert {each for each in graph.input_names if not each.endswith("'")} <= mine
    for graph in variable_graphs(robot).values():
        assert graph.input_names


def costs_of_any_kind() -> st.SearchStrategy[CostModel]:
    return st.one_of(
        st.builds(word_steps, st.integers(4, 16)), st.builds(bit_steps, st.integers(4, 16), st.integers(4, 20))
    )


@settings(max_examples=examples(20))
@given(costs=costs_of_any_kind(), name=st.sampled_from(["planar2r", "scara"]))
def test_laws_of_every_machine(costs: CostModel, name: str) -> None:
    """Intervals are never longer than times, more processors never slower, and no machine beats its longest path."""
    robot = bt.load_robot(name)
    machines = literature(robot, costs, None)[:-2] + horn_raibert(TERMS(name), costs, np.inf)
    for each in machines:
        if each.time is not None:
            assert each.interval is not None
            assert 0 < each.interval <= each.time
            assert each.processors >= 1
    for family in ("Newton-Euler", "Horn-Raibert"):
        assert named(machines, f"{family}, spread").time <= named(machines, f"{family}, serial").time
    graph = trace_torques(robot)
    assert named(machines, "Newton-Euler, spread").time == longest_path(tasks_of_graph(graph, costs.of_graph()))


def test_figures_are_those_of_the_machines_own_measurements() -> None:
    robot = bt.load_robot("puma560")
    counts = trace_torques(robot).counts()
    serial = named(newton_euler(robot, WORD), "Newton-Euler, serial")
    assert serial.time == counts["sums"] + counts["products"] + counts["sine_cosines"]
    program = linear_program([True] * 6, end_to_end=True)
    machine = pipeline(program, Times())
    piped = named(lathrop(robot, WORD), "Lathrop linear, systolic")
    assert piped.processors == machine.processors
    assert piped.interval == machine.smallest_interval() == Times().sum(1, 2)
    # a sine before (A takes no product: the twists are right angles) and the drive after: LAT eq. (5) knows neither
    assert piped.time - (2 * 6 + 5) - (6 * 6 + 9) == 2
    tasks = customised_joint_tasks(robot, WORD.times)
    assert longest_path(tasks) <= list_schedule(tasks, 6).makespan <= luh_lin(robot, WORD).time


def test_horn_and_raibert_where_they_fit() -> None:
    terms = terms_of(bt.load_robot("planar2r"))
    serial, spread = horn_raibert(terms, WORD)
    assert serial.table_bytes == spread.table_bytes == 264_706
    assert serial.time == 7 + 10 + len(terms.terms)  # sums, products, a load a coefficient
    for each in horn_raibert(terms, WORD, 1e5):
        assert each.time is None
        assert "bytes" in each.note


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=12))
def test_most_busy_is_enough_and_no_less(shape: list[tuple[int, int]]) -> None:
    """So many processors reach the longest path; the sum of durations never exceeds what they can do in that time."""
    tasks = [
        TimedTask(f"product {k}", float(took), tuple(f"product {j}" for j in range(max(0, k - back), k)))
        for k, (took, back) in enumerate(shape)
    ]
    longest, busy = most_busy(tasks)
    assert longest == longest_path(tasks)
    assert sum(task.duration for task in tasks) <= busy * longest
    if longest > 0:
        serial, spread, piped = by_operations("x", tasks, "word", multiplies=True)
        assert serial.time == sum(task.duration for task in tasks)
        assert spread.time == piped.time == longest
        assert piped.interval == max(task.duration for task in tasks)


@pytest.mark.parametrize("costs", [WORD, bit_steps(6, 8)], ids=["word", "bit"])
def test_tables_by_bits_are_the_counted_machine(costs: CostModel) -> None:
    model = arm(6)
    machines = table_machines(model, costs)
    source = model.plan.source
    serial, spread = (named(machines, f"{source} by bits, {way}") for way in ("serial", "spread"))
    counted = spread_bits(
        operations_of(model.plan, model.diagrams, costs_of(costs)), spread.processors, costs_of(costs)
    )
    assert serial.time == counted.serial
    assert spread.time == counted.longest == counted.time
    assert all(each.multipliers == 0 for each in machines)


def test_tables_by_words_load_each_word_once() -> None:
    model = arm(6)
    operations = operations_of(model.plan, model.diagrams)
    tasks = word_tasks(operations, WORD)
    loads = {each.word for each in operations if each.kind == "walk" and each.tests}
    additions = sum(each.kind != "walk" for each in operations)
    serial = named(table_machines(model, WORD), f"{model.plan.source} by words, serial")
    assert serial.time == len(loads) + additions
    assert len(tasks) == len({each.word for each in operations})
    widths: Callable[[str], int] = {each.word: sum(each.widths) for each in operations if each.kind == "walk"}.get
    by_bits = {task.name: task.duration for task in word_tasks(operations, bit_steps(6, 8))}
    for word in loads:
        assert by_bits[word] == widths(word)


def test_messages_go_once_to_each_other_processor_and_through_what_takes_no_time() -> None:
    tasks = [
        TimedTask("a", 1.0),
        TimedTask("wire", 0.0, ("a",)),
        TimedTask("b", 1.0, ("wire",)),
        TimedTask("c", 1.0, ("a", "b")),
        TimedTask("d", 1.0, ("wire", "c")),
    ]
    assert messages_of(tasks, {"a": 0, "b": 1, "c": 2, "d": 3}) == 5
    assert messages_of(tasks, {"a": 0, "b": 1, "c": 1, "d": 1}) == 1
    assert messages_of(tasks, {"a": 0, "b": 0, "c": 0, "d": 0}) == 0


@pytest.mark.parametrize("name", ["planar3r_a", "puma560"])
def test_shared_processors_are_as_many_as_are_busy_and_do_one_thing_at_a_time(name: str) -> None:
    tasks = tasks_of_graph(trace_torques(bt.load_robot(name)), {"sum": 1.0, "product": 3.0, "sine_cosine": 2.0})
    place, ends = processors_shared(tasks), earliest_ends(tasks)
    longest, busy = most_busy(tasks)
    assert len(set(place.values())) == busy and max(place.values()) == busy - 1
    Schedule(
        tuple(
            Placement(task.name, place[task.name], ends[task.name] - task.duration, ends[task.name]) for task in tasks
        ),
        busy,
    ).check(tasks)
    serial, spread, piped = by_operations("x", tasks, "word", multiplies=True)
    assert serial.messages == 0 < spread.messages <= piped.messages and piped.time == longest

"""One processor of a speculative machine in one control loop, traced: the recursion of LAT Table 4.

Operands that the method takes from the loop before are inputs of the graph; those of the same loop are computed. The
arm is known: a component that always vanishes (an arm in the plane has many) is no input and costs nothing, and one
that no torque depends on is not computed.
Sines, cosines and rotations are formed by every processor that needs them, and gravity is the acceleration of the base.
"""

from __future__ import annotations

from typing import Any

from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.tracer import Traced, Tracer
from bddtorque.robots.robot import Robot
from machines.lathrop.linear_program import linear_program, program_inputs
from machines.lathrop.operation_counts import counted_state, reached_nodes
from machines.lathrop.vector_program import Operation, Program, run

VARIABLES = frozenset(("w", "wd", "pdd", "rdd", "F", "N", "f", "n"))
"""Variables that LAT Table 2 names; everything else of the program is intermediate."""


def link_graphs(robot: Robot) -> list[Graph]:
    """Return Binder and Herzog's machine, a processor a link: variables of other links are those of the loop before."""
    traced = _Arm(robot)
    links = range(1, robot.degrees_of_freedom + 1)
    return [
        traced.graph(
            [each.result for each in traced.program if _is_wanted(each) and each.link == i],
            {each.result for each in traced.program if each.step in VARIABLES and each.link != i},
        )
        for i in links
    ]


def variable_graphs(robot: Robot) -> dict[str, Graph]:
    """Return Hamilton's machine, a processor a variable: all variables are those of the loop before.

    The torque is taken by the processor of the moment (or force) that it is read from. Variables that take no operation
    are left out: they need no processor.
    """
    traced = _Arm(robot)
    everything = {each.result for each in traced.program if each.step in VARIABLES}
    read_by_torque = {each.right for each in traced.program if each.step == "tau"}
    found = {}
    for each in traced.program:
        if not _is_wanted(each) or each.result in read_by_torque:
            continue
        wanted = [each.result, each.right] if each.step == "tau" else [each.result]
        graph = traced.graph(wanted, everything - set(wanted))
        if any(graph.counts().values()):
            found[each.result] = graph
    return found


def _is_wanted(operation: Operation) -> bool:
    return operation.step in VARIABLES or operation.step == "tau"


class _Arm:
    """A robot and its program, run once serially to learn which components always vanish and which are never used."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.program: Program = linear_program([joint.kind.turns for joint in robot.joints], end_to_end=True)
        tracer, state = counted_state(robot, "customised")
        self.serial = run(self.program, program_inputs(state))
        torques = [self.serial[each.result] for each in self.program if each.step == "tau"]
        self.used = reached_nodes(tracer, torques)

    def graph(self, wanted: list[str], old: set[str]) -> Graph:
        """Return the graph of some results, those in `old` being inputs."""
        tracer, state = counted_state(self.robot, "customised")
        values = program_inputs(state)
        needed = self._needed(wanted, old)
        values |= {name: _as_input(tracer, name, self.serial[name]) for name in old}
        for each in self.program:
            if each.result in needed:
                values[each.result] = each.primitive.compute(values[each.left], values[each.right])
        outputs: dict[str, Any] = {}
        for name in wanted:
            if name.startswith("tau["):
                i = int(name[4:-1]) - 1
                outputs[name] = values[name] + state.arm.rotor[i] * state.acceleration[i]
            else:
                parts = zip("xyz", values[name], self.serial[name], strict=True)
                outputs |= {f"{name}{axis}": part for axis, part, serial in parts if self._is_used(serial)}
        return tracer.graph(list(outputs.values()), list(outputs))

    def _is_used(self, serial: Any) -> bool:
        return isinstance(serial, Traced) and serial.reference >> 1 in self.used

    def _needed(self, wanted: list[str], old: set[str]) -> set[str]:
        """Return the operations to be done for some results, without those that are old."""
        by_result = {each.result: each for each in self.program}
        needed: set[str] = set()
        waiting = list(wanted)
        while waiting:
            name = waiting.pop()
            if name in by_result and name not in old and name not in needed:
                needed.add(name)
                waiting += by_result[name].operands
        return needed


def _as_input(tracer: Tracer, name: str, serial: Any) -> tuple[Any, ...]:
    """Return a vector of the loop before: inputs, but for components that are constant."""
    return tuple(
        tracer.input(f"{name}{axis}'") if isinstance(part, Traced) else part
        for axis, part in zip("xyz", serial, strict=True)
    )

"""Scalar operations of Lathrop's programs, counted by tracing them: for any arm, or for one arm with its zeros."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.tracer import Traced, Tracer
from bddtorque.robots.robot import Robot
from machines.lathrop.arm import ArmState, DistalArm, distal_arm
from machines.lathrop.lathrop_torques import Form, traced_state
from machines.lathrop.linear import linear_recursion
from machines.vectors import IDENTITY, ZERO, Rows, Triple

Count = Literal["general", "customised"]
"""`general`: every constant of the arm is an input; `customised`: constants are folded, zeros cost nothing."""


def general_arm(tracer: Tracer, revolute: tuple[bool, ...]) -> DistalArm:
    """Return an arm in DH frames all of whose constants are inputs: what it takes, any arm of these joints takes.

    The base is at rest at O_0 and gravity points anywhere, as in the counts of LAT Table 1.
    """
    n = len(revolute)

    def vector(name: str) -> Triple:
        return tracer.input(f"{name}x"), tracer.input(f"{name}y"), tracer.input(f"{name}z")

    def about_x(i: int) -> Rows:
        s, c = tracer.input(f"sin_alpha{i}"), tracer.input(f"cos_alpha{i}")
        return (1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c)

    def symmetric(name: str) -> Rows:
        (xx, yy, zz), (yz, xz, xy) = vector(f"{name}d"), vector(f"{name}o")
        return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)

    links = range(1, n + 1)
    return DistalArm(
        revolute,
        (IDENTITY, *(about_x(i) for i in links)),
        (ZERO, *((tracer.input(f"a{i}"), 0.0, tracer.input(f"d{i}")) for i in links)),
        tuple(tracer.input(f"m{i}") for i in links),
        tuple(vector(f"r{i}") for i in links),
        tuple(symmetric(f"J{i}") for i in links),
        (0.0,) * n,
        vector("g"),
    )


def counted_state(robot: Robot, count: Count) -> tuple[Tracer, ArmState]:
    """Return a state of the robot, or of any arm with its kinds of joints, under trace."""
    tracer, own = Tracer(), distal_arm(robot)
    return tracer, traced_state(own if count == "customised" else general_arm(tracer, own.revolute), tracer)


def general_graph(revolute: tuple[bool, ...], form: Form = linear_recursion) -> Graph:
    """Return the graph of the torques of any arm with these joints: no zeros are known but those of DH frames."""
    tracer = Tracer()
    state = traced_state(general_arm(tracer, revolute), tracer)
    return tracer.graph(form(state).tau, [f"tau{i + 1}" for i in range(len(revolute))])


def reached_nodes(tracer: Tracer, numbers: Iterable[Any]) -> set[int]:
    """Return the nodes that some numbers depend on, themselves included; constants depend on none."""
    found: set[int] = set()
    waiting = [each.reference >> 1 for each in numbers if isinstance(each, Traced)]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += [operand >> 1 for operand in tracer.nodes[node].operands]
    return found

"""Derivatives of the torques."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .dynamics import State, torques
from .robots import ZERO, Robot
from .slopes import Pair, Pairs, plain
from .subjects import CheckedQuantity, Output, Scene


class Derivatives(CheckedQuantity):
    """The slopes of the torques by each position, then by each velocity."""

    name = "derivatives"
    inputs = ("q", "qd", "qdd")
    accepts = ("gravity", "payload")
    torques = False

    def outputs(self, robot: Robot) -> list[Output]:
        """Return two matrices, row by row."""
        n, turns = len(robot.joints), [joint.turns for joint in robot.joints]
        found = []
        for by, kinds in (("q", ("N/m", "N", "N·m")), ("qd", ("N·s/m", "N·s", "N·m·s"))):
            labels = tuple(f"dtau{i}_d{by}{j}" for i in range(1, n + 1) for j in range(1, n + 1))
            units = tuple(kinds[row + column] for row in turns for column in turns)
            found.append(Output(f"dtau_d{by}", (n, n), labels, units))
        return found

    def truth(self, scene: Scene) -> list[Any]:
        """Return the entries."""
        robot, pairs = scene.robot, Pairs(scene.algebra)
        state, world = scene.state(scene.values["qd"], scene.values["qdd"]), pairs.world(scene.world)
        still = State(*(plain(row) for row in (state.q, state.sine, state.cosine, state.qd, state.qdd)))
        by_position, by_velocity = list[list[Any]](), list[list[Any]]()
        for j in range(len(robot.joints)):
            rates = [member.multiplier if member.drive == j else ZERO for member in robot.members]
            faster = [Pair(each, scene.algebra.number(rate)) for each, rate in zip(state.qd, rates, strict=True)]
            for moved, columns in ((pairs.moved(state, rates), by_position), (replace(still, qd=faster), by_velocity)):
                columns.append([pairs.slope(tau) for tau in torques(robot, moved, pairs, world)])
        return [column[i] for columns in (by_position, by_velocity) for i in range(len(columns)) for column in columns]


RECORDS = (Derivatives(),)

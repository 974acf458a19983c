"""A processor fails in the middle of a control loop: what is wrong then, what must be computed again, what that costs.

HAM-L section 6. Rule: when a processor is found faulty, its variables since the last check are computed again, and with
them everything that used their *current* values; what was read of earlier iterations is safe, provided that every
earlier loop was checked. The fault is injected into the running machine (its results are replaced by garbage, which
other processors read), and the recovered store is the healthy one, number for number.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.evaluate.scheduling import list_schedule
from bddtorque.robots.robot import Robot
from machines.hamilton.hamilton_equations import HAMILTON
from machines.hamilton.speculation_costs import Operations, total
from machines.hamilton.speculation_equations import Kind, Recursion
from machines.hamilton.speculation_machine import SpeculativeMachine, compute, read_torques, set_motion, shift
from machines.hamilton.speculation_methods import Method, Place, Reading, dependences, places
from machines.hamilton.speculation_program import Floats
from machines.hamilton.timetables import Timetable, name_of, tasks_of

Detection = Literal["loop", "synchronisation"]
"""When failures are looked for: at the end of the loop, or at every synchronisation."""


def closure(recursion: Recursion, method: Method, kinds: Sequence[Kind], lost: Collection[Place]) -> list[Place]:
    """Return what must be computed again when the variables `lost` are wrong, themselves included, in serial order."""
    wrong = set(lost)
    readers: dict[Place, list[Place]] = {}
    for each in dependences(recursion, method, kinds):
        if each.reading is Reading.CURRENT:
            readers.setdefault(each.source, []).append(each.reader)
    new = list(wrong)
    while new:
        reached = {reader for place in new for reader in readers.get(place, ())} - wrong
        wrong |= reached
        new = list(reached)
    return [place for place in places(recursion, len(kinds)) if place in wrong]


@dataclass(frozen=True)
class Fault:
    """Processor `processor` gives wrong results from row `row` of the timetable on, both counted from 0."""

    processor: int
    row: int = 0


@dataclass(frozen=True)
class Recovery:
    """Effect of a fault on one control loop."""

    # own, others: variables computed again: those of the failed processor, and those that had used them
    own: tuple[Place, ...]
    others: tuple[Place, ...]
    spoilt: tuple[Place, ...]  # variables that were wrong when the fault was found
    operations: Operations  # of what was computed again
    checks: int  # how often failures were looked for in the loop
    # healthy_cycles, cycles: length of the loop without the fault, and with it; the check itself is not priced
    healthy_cycles: float
    cycles: float
    # unseen, tau, healthy: torques (n,) with the fault never seen, after recovery, and had there been none; N·m or N
    unseen: Floats
    tau: Floats
    healthy: Floats
    store_restored: bool  # whether every variable is again, to the last bit, what it would have been


class FaultyLoop:
    """One control loop of a timetable on a robot, with a processor that fails.

    Parameters
    ----------
    robot
        Revolute joints, as many as the timetable has links.
    timetable
        Who computes what when.
    costs
        Operations of every variable (see `place_costs`).
    """

    def __init__(self, robot: Robot, timetable: Timetable, costs: Mapping[Place, Operations], seed: int = 0) -> None:
        self.timetable, self.costs = timetable, costs
        self.recursion = HAMILTON
        self.kinds = [joint.kind.name for joint in robot.joints]
        timetable.check(self.recursion, self.kinds)
        self.machine = SpeculativeMachine(robot, timetable.method, self.recursion)
        self.random = np.random.default_rng(seed)

    def start(self, q: Any, qd: Any, qdd: Any) -> None:
        """Fill the store with the serial values of states (N, n)."""
        self.machine.start(q, qd, qdd)

    def run(self, q: Any, qd: Any, qdd: Any, fault: Fault, detection: Detection) -> Recovery:
        """Run one control loop on a state (n,) with the fault, and recover from it."""
        if not 0 <= fault.processor < self.timetable.processors or not 0 <= fault.row < len(self.timetable.rows):
            raise BddTorqueError(
                f"fault: the processor must be 0 to {self.timetable.processors - 1} and the row 0 to "
                f"{len(self.timetable.rows) - 1}, got {fault}"
            )
        self._begin(q, qd, qdd)
        earlier = self.machine.store.copy()
        every_row = list(range(len(self.timetable.rows)))
        healthy = self._all(every_row, None)
        right = self.machine.store.copy()
        self.machine.store[:] = earlier
        unseen = self._all(every_row, fault)
        self.machine.store[:] = earlier
        stretches = (
            self.timetable.stretches() if detection == "synchronisation" else [list(range(len(self.timetable.rows)))]
        )
        found = next(k for k, rows in enumerate(stretches) if fault.row in rows)
        checked = [row for rows in stretches[:found] for row in rows]
        self._all(checked, None)
        self._all(stretches[found], fault)
        spoilt = self._differing(right, stretches[: found + 1])
        own = [place for row in stretches[found] for place in self.timetable.rows[row][fault.processor]]
        done = {place for row in stretches[found] for work in self.timetable.rows[row] for place in work}
        again = [place for place in closure(self.recursion, self.timetable.method, self.kinds, own) if place in done]
        for place in again:
            self._compute(place)
        rest = [row for rows in stretches[found + 1 :] for row in rows]
        tau = self._all(rest, None)
        return Recovery(
            tuple(own),
            tuple(place for place in again if place not in own),
            spoilt,
            total(self.costs[place] for place in again),
            len(stretches),
            self.timetable.schedule(self.costs).makespan,
            self._cycles(checked + stretches[found], again, stretches[found + 1 :]),
            unseen,
            tau,
            healthy,
            bool(np.array_equal(self.machine.store, right)),
        )

    def _begin(self, q: Any, qd: Any, qdd: Any) -> None:
        position, rate, acceleration = (np.asarray(given, dtype=np.float64) for given in (q, qd, qdd))
        sine, cosine = np.sin(position), np.cos(position)
        set_motion(self.machine.arm, sine, cosine, position, rate, acceleration, self.machine.scratch)
        shift(self.machine.store)

    def _compute(self, place: Place) -> None:
        machine = self.machine
        number = self.recursion.variables.index(place[0])
        compute(machine.arm, machine.program, machine.readings, machine.store, machine.scratch, place[1], number)

    def _all(self, rows: Sequence[int], fault: Fault | None) -> Floats:
        """Run rows of the timetable; the failed processor's results are garbage. Return the torques as they stand."""
        machine = self.machine
        for row in rows:
            for processor, work in enumerate(self.timetable.rows[row]):
                for place in work:
                    self._compute(place)
                    if fault is not None and processor == fault.processor and row >= fault.row:
                        number = self.recursion.variables.index(place[0])
                        machine.store[0, place[1], number] = self.random.normal(size=3)
        tau = np.zeros(len(self.kinds))
        read_torques(machine.arm, machine.program, machine.store, machine.scratch, tau)
        return tau

    def _differing(self, right: Floats, stretches: Sequence[Sequence[int]]) -> tuple[Place, ...]:
        """Return the variables computed so far whose value is not the healthy one."""
        computed = [place for rows in stretches for row in rows for work in self.timetable.rows[row] for place in work]
        variables = self.recursion.variables
        return tuple(
            place
            for place in computed
            if not np.array_equal(
                self.machine.store[0, place[1], variables.index(place[0])],
                right[0, place[1], variables.index(place[0])],
            )
        )

    def _cycles(self, before: Sequence[int], again: Sequence[Place], after: Sequence[Sequence[int]]) -> float:
        """Return the length of the loop: rows as planned, recovery and what is left on the processors that remain."""
        rows = tuple(self.timetable.rows[row] for row in before)
        ends = tuple(self.timetable.synchronised[row] for row in before)
        planned = Timetable("so far", self.timetable.method, rows, ends).schedule(self.costs).makespan
        groups = [
            again,
            *([place for row in rows for work in self.timetable.rows[row] for place in work] for rows in after),
        ]
        return planned + sum(self.recovery_cycles(group, self.timetable.processors - 1) for group in groups)

    def recovery_cycles(self, group: Collection[Place], processors: int) -> float:
        """Return how long `processors` processors take for some variables, by list scheduling on the critical path."""
        names = {name_of(place) for place in group}
        tasks = [
            type(task)(task.name, task.duration, tuple(name for name in task.predecessors if name in names))
            for task in tasks_of(self.recursion, self.timetable.method, self.kinds, self.costs)
            if task.name in names
        ]
        return list_schedule(tasks, processors).makespan

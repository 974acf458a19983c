"""Processors of recursion variables, step by step: HAM Tables 5 to 7, and schedules of any size.

A timetable is rows of work: in a row every processor computes its own variables one after the other. A synchronisation
may stand after a row; without one the processors go on by themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bddtorque.base.errors import BddTorqueError
from bddtorque.evaluate.scheduling import Placement, Schedule, TimedTask
from machines.hamilton.hamilton_equations import HAMILTON
from machines.hamilton.speculation_costs import Operations
from machines.hamilton.speculation_equations import Kind, Recursion
from machines.hamilton.speculation_methods import (
    BINDER_HERZOG,
    NEW,
    SERIAL,
    Method,
    Place,
    Reading,
    dependences,
    places,
)


def name_of(place: Place) -> str:
    """Return a variable of a link as text: "wd 2"."""
    return f"{place[0]} {place[1]}"


@dataclass(frozen=True)
class Timetable:
    """Rows of work for a method."""

    name: str
    method: Method
    # for each row, for each processor, the variables it computes in that row
    rows: tuple[tuple[tuple[Place, ...], ...], ...]
    synchronised: tuple[bool, ...]  # for each row, whether all processors wait for each other at its end

    @property
    def processors(self) -> int:
        """Number of processors."""
        return len(self.rows[0])

    def work_of(self, processor: int) -> list[Place]:
        """Return all that one processor (counted from 0) computes, in order."""
        return [place for row in self.rows for place in row[processor]]

    def stretches(self) -> list[list[int]]:
        """Return the rows between synchronisations, as lists of row numbers."""
        found: list[list[int]] = [[]]
        for number, ends in enumerate(self.synchronised):
            found[-1].append(number)
            if ends and number < len(self.rows) - 1:
                found.append([])
        return found

    def check(self, recursion: Recursion, kinds: Sequence[Kind]) -> None:
        """Refuse a timetable that misses a variable, or reads a current value that may not be there yet."""
        placed = [place for processor in range(self.processors) for place in self.work_of(processor)]
        if sorted(placed) != sorted(places(recursion, len(kinds))):
            raise BddTorqueError(f"timetable '{self.name}': every variable must be placed once, got {len(placed)}")
        when = {
            place: (stretch, processor, self.work_of(processor).index(place))
            for stretch, numbers in enumerate(self.stretches())
            for number in numbers
            for processor, work in enumerate(self.rows[number])
            for place in work
        }
        for each in dependences(recursion, self.method, kinds):
            source, reader = when[each.source], when[each.reader]
            earlier = source[0] < reader[0] or (source[1] == reader[1] and source[2] < reader[2])
            if each.reading is Reading.CURRENT and not earlier:
                raise BddTorqueError(
                    f"timetable '{self.name}': {name_of(each.source)} must come before {name_of(each.reader)}"
                )

    def schedule(self, costs: Mapping[Place, Operations]) -> Schedule:
        """Return when each variable is computed, in cycles, synchronisations included."""
        placements, now = [], 0.0
        for stretch in self.stretches():
            ends = [now] * self.processors
            for number in stretch:
                for processor, work in enumerate(self.rows[number]):
                    for place in work:
                        start = ends[processor]
                        ends[processor] += costs[place].cycles()
                        placements.append(Placement(name_of(place), processor, start, ends[processor]))
            now = max(ends)
        return Schedule(tuple(placements), self.processors)


def single_processor() -> Timetable:
    """Return the serial recursion of three links on one processor (HAM Fig. 6)."""
    rows = tuple(((place,),) for place in places(HAMILTON, 3))
    return Timetable("serial", SERIAL, rows, (False,) * (len(rows) - 1) + (True,))


def conventional_on_three() -> Timetable:
    """Return HAM Table 5: the conventional recursion of three links on three processors, synchronised after each row.

    The print shows one symbol for processors 1 and 2 in the accelerations' rows; al on processor 1 is the reading that
    covers all 21 variables.
    """
    rows: list[tuple[tuple[Place, ...], ...]] = []
    for i in (1, 2, 3):
        rows += [((("wd", i),), (), (("w", i),)), ((("al", i),), (("ae", i),), (("ac", i),))]
    rows += [
        ((), (), (("f", 3),)),
        ((), (("f", 2),), (("t", 3),)),
        ((("f", 1),), (("t", 2),), ()),
        ((("t", 1),), (), ()),
    ]
    return Timetable("conventional", SERIAL, tuple(rows), (True,) * len(rows))


def processor_a_link() -> Timetable:
    """Return HAM Table 6: one processor a link of three, each going through its variables by itself."""
    rows = tuple(tuple(((variable, link),) for link in (1, 2, 3)) for variable in HAMILTON.variables)
    return Timetable(BINDER_HERZOG.name, BINDER_HERZOG, rows, (False,) * (len(rows) - 1) + (True,))


def new_on_four() -> Timetable:
    """Return HAM Table 7, corrected: the fourth variable of processor 4 is t_1 (print: t_2 a second time).

    HAM Fig. 8's text gives processor 4 the inward parts of links 2 and 3; since processor 1 has link 3, it is 2 and 1.
    """
    outward = HAMILTON.outward
    columns: list[list[Place]] = [[(variable, link) for variable in outward] for link in (1, 2, 3)]
    columns[0] += [("f", 3), ("t", 3)]
    columns.append([("f", 2), ("t", 2), ("f", 1), ("t", 1)])
    rows = tuple(tuple(tuple(column[row : row + 1]) for column in columns) for row in range(7))
    return Timetable("new", NEW, rows, (False,) * 6 + (True,))


def tasks_of(
    recursion: Recursion, method: Method, kinds: Sequence[Kind], costs: Mapping[Place, Operations]
) -> list[TimedTask]:
    """Return one task a variable, waiting for the variables it reads at their current value; durations in cycles."""
    waits: dict[Place, list[str]] = {}
    for each in dependences(recursion, method, kinds):
        if each.reading is Reading.CURRENT:
            waits.setdefault(each.reader, []).append(name_of(each.source))
    return [
        TimedTask(name_of(place), costs[place].cycles(), tuple(dict.fromkeys(waits.get(place, ()))))
        for place in places(recursion, len(kinds))
    ]

"""Time steps of a speculative method (HAM figures 1 to 5): what waits for what, and when it can run at the earliest."""

from __future__ import annotations

from collections.abc import Sequence

from bddtorque.base.errors import BddTorqueError
from machines.hamilton.speculation_equations import Kind, Recursion
from machines.hamilton.speculation_methods import Method, Place, Reading, dependences, places


def blocks(recursion: Recursion, method: Method, kinds: Sequence[Kind]) -> dict[tuple[str, int], set[tuple[str, int]]]:
    """Return HAM figures 1 to 3: the blocks F_i (outward) and B_i (inward), each with those it must wait for."""
    waits: dict[tuple[str, int], set[tuple[str, int]]] = {
        (letter, link): set() for letter in "FB" for link in range(1, len(kinds) + 1)
    }

    def block(place: Place) -> tuple[str, int]:
        return ("F" if place[0] in recursion.outward else "B", place[1])

    for dependence in dependences(recursion, method, kinds):
        reader, source = block(dependence.reader), block(dependence.source)
        if dependence.reading is Reading.CURRENT and reader != source:
            waits[reader].add(source)
    return waits


def levels(waits: dict[tuple[str, int], set[tuple[str, int]]]) -> dict[tuple[str, int], int]:
    """Return the time step, counted from 1, in which each node runs at the earliest if every step takes as long."""
    step: dict[tuple[str, int], int] = {}

    def level(node: tuple[str, int], above: tuple[tuple[str, int], ...] = ()) -> int:
        if node in above:
            raise BddTorqueError(f"levels: {node} waits for itself")
        if node not in step:
            step[node] = 1 + max((level(other, (*above, node)) for other in waits[node]), default=0)
        return step[node]

    for node in waits:
        level(node)
    return step


def time_steps(recursion: Recursion, method: Method, kinds: Sequence[Kind]) -> int:
    """Return how many time steps a control loop takes when blocks that wait for nothing run together (F30)."""
    return max(levels(blocks(recursion, method, kinds)).values())


def variable_steps(recursion: Recursion, method: Method, kinds: Sequence[Kind]) -> dict[Place, int]:
    """Return HAM figures 4 and 5: the step of each variable when every variable has a processor of its own."""
    waits: dict[Place, set[Place]] = {place: set() for place in places(recursion, len(kinds))}
    for dependence in dependences(recursion, method, kinds):
        if dependence.reading is Reading.CURRENT:
            waits[dependence.reader].add(dependence.source)
    return levels(waits)

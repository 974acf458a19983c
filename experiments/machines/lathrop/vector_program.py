"""Programs of vector operations: what a machine of matrix-vector processors does, as data.

A program is a list of operations in single assignment, each naming its result and its operands and standing after the
operations it reads; names that no operation produces are inputs. The same program is run for its values, timed by its
longest path, scheduled, piped, and counted: nothing about a machine is known twice.

Primitive times (LAT section 5), m a multiplication and a an addition:

    VA = 1a  (sum of vectors)      VC = 1m+1a  (cross product)      MV = 1m+2a  (matrix times vector, or dot product)
    SV = 1m  (number times vector)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bddtorque.evaluate.scheduling import TimedTask
from machines.vectors import add, cross, dot, matrix_product, matrix_times, scaled, transposed


@dataclass(frozen=True)
class Primitive:
    """A vector operation."""

    name: str
    # multiplications, additions: how many one after another: its time
    multiplications: int
    additions: int
    compute: Callable[[Any, Any], Any]  # its value, from two operands
    processors: int = 1  # how many matrix-vector processors it occupies


VA = Primitive("VA", 0, 1, add)
VC = Primitive("VC", 1, 1, cross)
MV = Primitive("MV", 1, 2, matrix_times)
MTV = Primitive("MTV", 1, 2, lambda M, v: matrix_times(transposed(M), v))
"""Mᵀ v: the same processor reads the matrix by columns."""
MM = Primitive("MM", 1, 2, matrix_product, processors=3)
SV = Primitive("SV", 1, 0, scaled)
DOT = Primitive("DOT", 1, 2, dot)
TWICE = Primitive("TWICE", 0, 0, lambda v, _: scaled(2.0, v), processors=0)
"""Doubling: a shift of the binary point, free."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: result ← primitive(left, right).

    `place` says which node of the machine does it, `group` which variable it serves: a processor is (group, step) of a
    place.
    """

    result: str
    primitive: Primitive
    left: str
    right: str
    group: str
    place: str

    @property
    def operands(self) -> tuple[str, str]:
        """The names it reads."""
        return self.left, self.right

    @property
    def step(self) -> str:
        """The name of the result without its link or interval: T7 of T7[3]."""
        return self.result.split("[")[0]

    @property
    def link(self) -> int:
        """The link it belongs to in the linear machine, counted from 1."""
        return int(self.place.split()[1])


Program = tuple[Operation, ...]


@dataclass(frozen=True)
class Times:
    """Time of one multiplication and of one addition."""

    multiplication: float = 1.0
    addition: float = 1.0

    def of(self, primitive: Primitive) -> float:
        """Return the time of a vector operation."""
        return self.sum(primitive.multiplications, primitive.additions)

    def sum(self, multiplications: float, additions: float) -> float:
        """Return the time of so many multiplications and additions one after another."""
        return multiplications * self.multiplication + additions * self.addition


def tasks_of(program: Program, times: Times) -> list[TimedTask]:
    """Return one task an operation, named by its result; inputs are there from the beginning."""
    made = {operation.result for operation in program}
    return [
        TimedTask(
            operation.result,
            times.of(operation.primitive),
            tuple(dict.fromkeys(name for name in operation.operands if name in made)),
        )
        for operation in program
    ]


def availability(program: Program, times: Times) -> dict[str, float]:
    """Return when each result is there at the earliest (LAT eq. 15 and Table 4); inputs are there at 0."""
    made = {operation.result for operation in program}
    ready: dict[str, float] = {}
    for operation in program:
        # an operand that is made but not ready yet is a KeyError: the program would be out of order
        begin = max(ready[name] if name in made else 0.0 for name in operation.operands)
        ready[operation.result] = begin + times.of(operation.primitive)
    return ready


def duration(program: Program, times: Times) -> float:
    """Return when the last result is there: the longest path."""
    return max(availability(program, times).values())


def run(program: Program, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return every value of the program, inputs included: triples, matrices by rows, numbers."""
    values = dict(inputs)
    for operation in program:
        values[operation.result] = operation.primitive.compute(values[operation.left], values[operation.right])
    return values


def inputs_of(program: Program) -> list[str]:
    """Return the names that no operation produces, each once, in the order they are first read."""
    made = {operation.result for operation in program}
    return list(dict.fromkeys(name for each in program for name in each.operands if name not in made))


def processors(program: Iterable[Operation]) -> int:
    """Return how many matrix-vector processors do the program if each operation has its own."""
    return sum(operation.primitive.processors for operation in program)


def processors_by_group(program: Iterable[Operation]) -> dict[str, int]:
    """Return the same, for each variable computed."""
    counted: Counter[str] = Counter()
    for operation in program:
        counted[operation.group] += operation.primitive.processors
    return dict(counted)

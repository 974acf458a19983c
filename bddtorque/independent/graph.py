"""Graphs of real functions: sums, products, sines and cosines, evaluated over any kind of number.

Constants stay rationals and angles stay symbols until something else meets them, so that every kind of number sees as
few operations as there are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from .findings import RefusedError, require
from .reading import between, fields_of, list_of, row_of, several, text, whole

INPUT, CONSTANT, SUM, PRODUCT, SINE, COSINE = range(6)
OPERANDS = (0, 0, 2, 2, 1, 1)
MAX_BITS = 1 << 16
"""Of a rational: one that is squared again and again would fill any memory."""


@dataclass(frozen=True)
class Node:
    """One operation; `left` and `right` are references, 2·node + 1 for the opposite sign."""

    operation: int
    left: int
    right: int
    name: str
    value: Fraction


@dataclass(frozen=True)
class Graph:
    """Nodes, each after those it reads, and the reference of the one output."""

    nodes: tuple[Node, ...]
    output: int


@dataclass(frozen=True)
class Angle:
    """Σ multiplier·variable + 2π·turns + rest, in rad; each variable is an angle by number.

    Multipliers are whole. Only the word of a table may have a fraction of its angle, which no sum then holds.
    """

    multipliers: tuple[tuple[int, Any], ...] = ()
    turns: Fraction = Fraction(0)
    rest: Fraction = Fraction(0)

    @property
    def is_variable(self) -> bool:
        """Tell if it is one variable as it stands, of which a fraction means something."""
        return len(self.multipliers) == 1 and self == Angle(((self.multipliers[0][0], 1),))

    def plus(self, other: Angle) -> Angle:
        """Return the sum of two angles."""
        total = dict(self.multipliers)
        for variable, multiplier in other.multipliers:
            total[variable] = total.get(variable, 0) + multiplier
        kept = tuple(sorted((variable, multiplier) for variable, multiplier in total.items() if multiplier))
        return Angle(kept, (self.turns + other.turns) % 1, self.rest + other.rest)

    def times(self, factor: int) -> Angle:
        """Return a whole multiple."""
        kept = tuple((variable, multiplier * factor) for variable, multiplier in self.multipliers if factor)
        return Angle(kept, self.turns * factor % 1, self.rest * factor)

    def canonical(self, sine: bool) -> tuple[Angle, bool, int]:
        """Return the sine or cosine as ± that of another angle: that one, whether it is a sine, and the sign.

        The first multiplier of that angle is positive, and quarter turns are taken out of it.
        """
        angle, sign = self, 1
        leading = angle.multipliers[0][1] if angle.multipliers else angle.rest
        if leading < 0:
            angle, sign = angle.times(-1), -1 if sine else 1
        quarters = math.floor(angle.turns * 4)
        for _ in range(quarters % 4):  # sin(x + 90°) = cos x, cos(x + 90°) = −sin x
            sine, sign = not sine, sign if sine else -sign
        return Angle(angle.multipliers, angle.turns - Fraction(quarters, 4), angle.rest), sine, sign


class Algebra(Protocol):
    """A kind of number: rationals become one, and so do sines and cosines of angles; sums and products are its own."""

    def number(self, value: Fraction) -> Any:
        """Return a rational as such a number."""

    def wave(self, angle: Angle, cosine: bool) -> Any:
        """Return the sine or cosine of an angle."""


def graph_of(plain: Any, names: tuple[str, ...], where: str) -> Graph:
    """Return a graph of one output over inputs of these names."""
    readers = {"nodes": list_of, "outputs": list_of, "output_names": several(text, 1)}
    given = fields_of(plain, readers, f"{where}, graph")
    nodes: list[Node] = []
    for k, row in enumerate(given["nodes"]):
        here, earlier = f"{where}, node {k}", between(0, 2 * k - 1)
        count = OPERANDS[whole(list_of(row, here, 5)[0], 0, len(OPERANDS) - 1, here)]
        operands = [earlier if side < count else between(-1, -1) for side in range(2)]
        node = Node(*row_of(between(0, COSINE), *operands, text, _float)(row, here))
        require(node.operation != INPUT or node.name in names, f"{here}: expected an input of the block")
        require(node.operation == INPUT or node.name == "", f"{here}: expected no name")
        require(node.operation == CONSTANT or row[4] == "0x0.0p+0", f"{here}: expected no value")
        nodes.append(node)
    return Graph(tuple(nodes), *several(between(0, 2 * len(nodes) - 1), 1)(given["outputs"], where))


def _float(value: Any, where: str) -> Fraction:
    try:
        number = float.fromhex(text(value, where))
        require(number.hex() == value, f"{where}: expected a hexadecimal float as Python writes it")
        return Fraction(number)
    except (ValueError, OverflowError):
        raise RefusedError(f"{where}: expected a finite hexadecimal float, got {value!r:.40}") from None


def evaluate(graph: Graph, inputs: dict[str, Any], algebra: Algebra) -> Any:
    """Return the output as a number of the algebra; inputs are such numbers, or angles."""
    values: list[Any] = []

    def take(reference: int) -> Any:
        value = values[reference >> 1]
        if not reference & 1:
            return value
        return value.times(-1) if isinstance(value, Angle) else -value

    for node in graph.nodes:
        if node.operation == INPUT:
            values.append(inputs[node.name])
        elif node.operation == CONSTANT:
            values.append(node.value)
        elif node.operation == SUM:
            values.append(_sum(take(node.left), take(node.right), algebra))
        elif node.operation == PRODUCT:
            values.append(_product(take(node.left), take(node.right), algebra))
        else:
            angle = take(node.left)
            angle = Angle(rest=angle) if isinstance(angle, Fraction) else angle
            if not isinstance(angle, Angle):
                raise RefusedError("expected a graph with sines of angles only")
            values.append(algebra.wave(angle, node.operation == COSINE))
    value = take(graph.output)
    require(not isinstance(value, Angle), "expected a graph whose value is no angle")
    return algebra.number(value) if isinstance(value, Fraction) else value


def _sum(left: Any, right: Any, algebra: Algebra) -> Any:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return short(left + right)
    if isinstance(left, Angle) or isinstance(right, Angle):
        both = [Angle(rest=each) if isinstance(each, Fraction) else each for each in (left, right)]
        require(all(isinstance(each, Angle) for each in both), "expected sums of angles with angles alone")
        return both[0].plus(both[1])
    return _number(left, algebra) + _number(right, algebra)


def _product(left: Any, right: Any, algebra: Algebra) -> Any:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return short(left * right)
    if Fraction(0) in [each for each in (left, right) if isinstance(each, Fraction)]:
        return Fraction(0)
    if isinstance(left, Angle) or isinstance(right, Angle):
        angle, factor = (left, right) if isinstance(left, Angle) else (right, left)
        if not isinstance(factor, Fraction) or factor.denominator != 1:
            raise RefusedError("expected only integer multiples of angles")
        return angle.times(int(factor))
    return _number(left, algebra) * _number(right, algebra)


def short(value: Fraction) -> Fraction:
    """Return a rational that is short enough to go on with."""
    bits = value.numerator.bit_length() + value.denominator.bit_length()
    require(bits <= MAX_BITS, f"expected numbers of at most {MAX_BITS:,} bits")
    return value


def _number(value: Any, algebra: Algebra) -> Any:
    return algebra.number(value) if isinstance(value, Fraction) else value

"""Circuits: plans and recursions written down operation by operation, to be run, differentiated and bounded.

A node is a constant, a motion, a wave, a sum or a product. `Circuit` is an algebra: whatever is computed with its
numbers is recorded, equal operations once. Constants are one where they are the same object: two entries of a robot may
be equal as rounded, and not so in a robot nearby. What was recorded is run in other kinds of numbers (`Numbers`).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from .findings import require
from .float_bounds import Held, exact_product, exact_sum
from .graph import Algebra, Angle
from .ieee import up

MAX_NODES = 1_000_000
NO_ANGLE = Angle()
Key = TypeVar("Key")
Variable = tuple[bool, int]
"""An angle or a motion: which of them, and its number; sliding positions are numbered from −1 downward."""


@dataclass(frozen=True)
class Node:
    """An operation; which fields have a meaning depends on `kind`: constant, motion, wave, sum or product.

    A constant has the number `left`. A motion is factor·t + middle, t from −1 to 1 being its variable. A wave is the
    sine or cosine of an angle whose `rest` is the constant `left`, or 0 for −1. A sum is left + sign·right.
    """

    kind: str
    left: int = -1
    right: int = -1
    sign: int = 1
    variable: int = 0
    factor: Fraction = Fraction(1)
    middle: Fraction = Fraction(0)
    angle: Angle = NO_ANGLE
    cosine: bool = False

    @property
    def reads(self) -> tuple[int, ...]:
        """The nodes that it reads."""
        return (self.left, self.right) if self.kind in ("sum", "product") else ()


class Numbers(Algebra, Protocol):
    """A kind of number that circuits can be run in."""

    def motion(self, number: int, factor: Fraction) -> Any:
        """Return a motion times a factor."""

    def position(self, axis: int, low: int, high: int) -> Any:
        """Return the word of a sliding joint, which goes from low to high."""


class Term:
    """± a node of a circuit, or 0."""

    __slots__ = ("circuit", "place", "sign")

    def __init__(self, circuit: Circuit, place: int = -1, sign: int = 1) -> None:
        self.circuit, self.place, self.sign = circuit, place, sign

    def __neg__(self) -> Term:
        return Term(self.circuit, self.place, -self.sign)

    def __add__(self, other: Term) -> Term:
        if self.place < 0 or other.place < 0:
            return other if self.place < 0 else self
        place = self.circuit.node(Node("sum", self.place, other.place, self.sign * other.sign))
        return Term(self.circuit, place, self.sign)

    def __sub__(self, other: Term) -> Term:
        return self + -other

    def __mul__(self, other: Term) -> Term:
        if self.place < 0 or other.place < 0:
            return Term(self.circuit)
        first, last = sorted((self.place, other.place))
        return Term(self.circuit, self.circuit.node(Node("product", first, last)), self.sign * other.sign)

    def scaled(self, factor: Fraction) -> Term:
        """Return a rational multiple."""
        return -self if factor == -1 else self if factor == 1 else self * self.circuit.number(factor)


class Circuit:
    """Nodes, each after those it reads, and the constants; an `Algebra` that records."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.constants: list[Fraction] = []
        self._known: dict[Node, int] = {}
        self._places: dict[Hashable, int] = {}
        self._keys: list[Hashable] = []
        self._alive: list[Fraction] = []  # constants as they were given, so that no other takes the place of one

    def node(self, node: Node) -> int:
        """Return the place of a node."""
        if node not in self._known:
            require(len(self.nodes) < MAX_NODES, f"there are more than {MAX_NODES:,} operations")
            self._known[node] = len(self.nodes)
            self.nodes.append(node)
        return self._known[node]

    def _constant(self, key: Hashable, value: Fraction) -> int:
        """Return the number of a constant that is known by a key."""
        if key not in self._places:
            self._places[key] = len(self.constants)
            self._keys.append(key)
            self.constants.append(value)
        return self._places[key]

    def cone(self, terms: Mapping[Key, Term]) -> tuple[Circuit, dict[Key, Term]]:
        """Return a circuit of nothing but what some terms need, and these terms in it."""
        kept, places = Circuit(), {-1: -1}
        kept._alive = self._alive
        for place in self._needed(terms.values()):
            node = self.nodes[place]
            left = node.left
            if node.reads:
                left = places[left]
            elif left >= 0:  # a constant, or the rest of an angle
                left = kept._constant(self._keys[left], self.constants[left])
            places[place] = kept.node(replace(node, left=left, right=places[node.right]))
        return kept, {key: Term(kept, places[term.place], term.sign) for key, term in terms.items()}

    def _needed(self, terms: Collection[Term]) -> list[int]:
        """Return the places of all nodes that some terms need."""
        needed = [False] * len(self.nodes)
        for term in terms:
            if term.place >= 0:
                needed[term.place] = True
        for place in range(len(self.nodes) - 1, -1, -1):
            for read in self.nodes[place].reads if needed[place] else ():
                needed[read] = True
        return [place for place, used in enumerate(needed) if used]

    def values(self, terms: Mapping[Key, Term], numbers: Numbers) -> dict[Key, Any]:
        """Return terms in another kind of number; what nothing reads any more is forgotten on the way."""
        places = self._needed(terms.values())
        last = {read: place for place in places for read in self.nodes[place].reads}
        last |= {term.place: len(self.nodes) for term in terms.values()}
        values: dict[int, Any] = {-1: numbers.number(Fraction(0))}
        for place in places:
            values[place] = self._value(self.nodes[place], values, numbers)
            for read in {*self.nodes[place].reads}:
                if last[read] == place:
                    del values[read]
        return {key: values[term.place] if term.sign > 0 else -values[term.place] for key, term in terms.items()}

    def _value(self, node: Node, values: Mapping[int, Any], numbers: Numbers) -> Any:
        """Return a node; `values` has those that it reads."""
        if node.kind == "constant":
            return numbers.number(self.constants[node.left])
        if node.kind == "wave":
            rest = self.constants[node.left] if node.left >= 0 else Fraction(0)
            return numbers.wave(node.angle.plus(Angle(rest=rest)), node.cosine)
        if node.kind == "motion":
            if node.variable >= 0:
                return numbers.motion(node.variable, node.factor)
            return numbers.position(
                -1 - node.variable, *map(int, (node.middle - node.factor, node.middle + node.factor))
            )
        left, right = values[node.left], values[node.right]
        if node.kind == "product":
            return left * right
        return left + right if node.sign > 0 else left - right

    def number(self, value: Fraction) -> Term:
        """Return a constant."""
        if not value:
            return Term(self)
        self._alive.append(value)
        return Term(self, self.node(Node("constant", self._constant(id(value), abs(value)))), 1 if value > 0 else -1)

    def motion(self, number: int, factor: Fraction) -> Term:
        """Return a motion times a factor."""
        return Term(self, self.node(Node("motion", variable=number, factor=factor))) if factor else Term(self)

    def position(self, axis: int, low: int, high: int) -> Term:
        """Return the word of a sliding joint."""
        middle = Fraction(high + low, 2)
        return Term(self, self.node(Node("motion", variable=-1 - axis, factor=high - middle, middle=middle)))

    def wave(self, angle: Angle, cosine: bool) -> Term:
        """Return the sine or cosine of an angle."""
        if angle == NO_ANGLE:
            return self.number(Fraction(cosine))
        require(all(Fraction(m).denominator == 1 for _, m in angle.multipliers), "expected whole multiples of angles")
        rest = self._constant(angle, angle.rest) if angle.rest else -1
        kept = Angle(angle.multipliers, angle.turns)
        return Term(self, self.node(Node("wave", rest, angle=kept, cosine=cosine)))


def degrees_of(circuit: Circuit) -> tuple[list[Variable], npt.NDArray[np.int64]]:
    """Return all variables, angles last, and the degree of every node: in each angle, and in all motions together."""
    axes = sorted({axis for node in circuit.nodes for axis, _ in node.angle.multipliers})
    motions = sorted({node.variable for node in circuit.nodes if node.kind == "motion"})
    columns = {axis: k for k, axis in enumerate(axes)}
    degrees = np.zeros((len(circuit.nodes), len(axes) + 1), dtype=np.int64)
    for place, node in enumerate(circuit.nodes):
        if node.kind == "motion":
            degrees[place, -1] = 1
        elif node.kind == "wave":
            for axis, multiplier in node.angle.multipliers:
                degrees[place, columns[axis]] = abs(multiplier)
        elif node.kind == "sum":
            degrees[place] = np.maximum(degrees[node.left], degrees[node.right])
        elif node.kind == "product":
            degrees[place] = degrees[node.left] + degrees[node.right]
    return [*((False, motion) for motion in motions), *((True, axis) for axis in axes)], degrees


def run(circuit: Circuit, leaves: dict[int, Any], times: Any) -> list[Any]:
    """Return the values of all nodes; those of constants, motions and waves are given, `times` multiplies."""
    values: list[Any] = []
    for place, node in enumerate(circuit.nodes):
        if node.kind == "sum":
            left, right = values[node.left], values[node.right]
            values.append(left + right if node.sign > 0 else left - right)
        else:
            values.append(times(values[node.left], values[node.right]) if node.kind == "product" else leaves[place])
    return values


def gradient(circuit: Circuit, values: Sequence[Any], waves: dict[int, Any], output: int) -> npt.NDArray[np.float64]:
    """Return the derivatives of a node by all constants, (constants, points), of floats.

    `waves` has the derivative of each wave by its angle.
    """
    points = np.broadcast_shapes(*(np.shape(each) for each in values))
    found = np.zeros((len(circuit.constants), *points))
    weights: dict[int, Any] = {output: 1.0}
    for place in range(output, -1, -1):
        weight = weights.pop(place, None)
        if weight is None:
            continue
        node = circuit.nodes[place]
        if node.kind == "constant":
            found[node.left] += weight
        elif node.kind == "wave" and node.left >= 0:
            found[node.left] += weight * waves[place]
        elif node.kind == "sum":
            weights[node.left] = weights.get(node.left, 0.0) + weight
            weights[node.right] = weights.get(node.right, 0.0) + node.sign * weight
        elif node.kind == "product":
            for source, other in ((node.left, node.right), (node.right, node.left)):
                weights[source] = weights.get(source, 0.0) + weight * values[other]
    return found


def ranges_of(circuit: Circuit, moved: Sequence[float], rounding: float = 0.0) -> list[Held]:
    """Return a range of every node, and how far it can be from the same node of another circuit.

    Without `rounding`, the other one has constants that are `moved` by at most so much. With it, both have the moved
    constants, and all leaves and products of the other are off by at most `rounding`.
    """
    held: list[Held] = []
    for node in circuit.nodes:
        if node.kind == "constant":
            value, by = circuit.constants[node.left], Fraction(moved[node.left])
            room = by if rounding else Fraction(0)
            each = Held(-up(room - value), up(value + room), (rounding or up(by),))
        elif node.kind == "motion":
            ends = sorted((node.middle - node.factor, node.middle + node.factor))
            each = Held(-up(-ends[0]), up(ends[1]), (rounding,))
        elif node.kind == "wave":
            apart = moved[node.left] if node.left >= 0 else 0.0
            each = Held(-1.0, 1.0, (rounding or apart,), ((node.angle, node.left), node.cosine))
        elif node.kind == "sum":
            each = exact_sum(held[node.left], held[node.right], node.sign)
        else:
            each = exact_product(held[node.left], held[node.right], node.left == node.right).moved_by((rounding,))
        held.append(each)
    return held

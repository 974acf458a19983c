"""The tracer: a number that records what is done to it.

`Tracer.input` makes traced numbers; arithmetic on them, and on them with floats, records nodes in a hash-consed list:
equal operations become one node, constants are folded, x·0, x·1, x+0, x−x and x+(y−x) vanish, signs are pulled out of
products.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, Union

from bddtorque.dynamics.graph import Graph, Node, Op, kept, negated
from bddtorque.words.bounded import Ring

Number = Union[float, "Traced"]


class Traced(Ring):
    """A number under trace: a reference into the tracer's nodes."""

    __slots__ = ("reference", "tracer")
    __array_ufunc__: ClassVar[Any] = None  # NumPy scalars leave arithmetic with traced numbers to us

    def __init__(self, tracer: Tracer, reference: int) -> None:
        self.tracer = tracer
        self.reference = reference

    def __neg__(self) -> Traced:
        return type(self)(self.tracer, negated(self.reference))

    def __add__(self, other: Number) -> Number:
        return self.tracer.sum(self, other)

    def __mul__(self, other: Number) -> Number:
        return self.tracer.product(self, other)


class Tracer:
    """Records operations; `graph` gives what was recorded. It serves as `arithmetic` for sines and cosines too."""

    number: ClassVar[type[float] | type[Fraction]] = float
    """The form in which constants are kept."""

    def __init__(self, kind: type[Traced] = Traced) -> None:
        self.kind = kind
        self.nodes: list[Node] = []
        self._known: dict[Node, int] = {}

    def input(self, name: str) -> Traced:
        """Return the traced input of that name (the same one each time)."""
        return self._record(Node(Op.INPUT, name=name))

    def sin(self, angle: Number) -> Number:
        """Return sin; odd, so that the sign of the argument is pulled out."""
        if not isinstance(angle, Traced):
            return math.sin(angle)
        sine = self._record(Node(Op.SINE, angle.reference & ~1))
        return -sine if angle.reference & 1 else sine

    def cos(self, angle: Number) -> Number:
        """Return cos; even, so that the sign of the argument is dropped."""
        if not isinstance(angle, Traced):
            return math.cos(angle)
        return self._record(Node(Op.COSINE, angle.reference & ~1))

    def sum(self, left: Number, right: Number) -> Number:
        """Return left + right."""
        if not isinstance(left, Traced) and not isinstance(right, Traced):
            return left + right
        if not isinstance(left, Traced) and left == 0:
            return right
        if not isinstance(right, Traced) and right == 0:
            return left
        first, second = sorted((self._reference(left), self._reference(right)))
        if first == second:
            return self.product(2.0, self.kind(self, first))
        if first == negated(second):
            return 0.0
        for whole, part in ((second, first), (first, second)):
            rest = self._rest(whole, part)
            if rest is not None:
                node = self.nodes[rest >> 1]
                if node.op is Op.CONSTANT:  # a number again, so that what is made of it is folded too
                    return -node.value if rest & 1 else node.value
                return self.kind(self, rest)
        # the leading operand is taken positive: −a + b is −(a − b), so that a − b and b − a are one node
        flip = first & 1
        total = self._record(Node(Op.SUM, first ^ flip, second ^ flip))
        return -total if flip else total

    def product(self, left: Number, right: Number) -> Number:
        """Return left · right."""
        if not isinstance(left, Traced):
            left, right = right, left
        if not isinstance(left, Traced):
            return left * right
        if not isinstance(right, Traced):
            return self._scaled(left, self.number(right))
        first, second = sorted((left.reference, right.reference))
        flip = (first ^ second) & 1
        result = self._record(Node(Op.PRODUCT, first & ~1, second & ~1))
        return -result if flip else result

    def graph(self, outputs: Sequence[Number], names: Sequence[str]) -> Graph:
        """Return the graph of the given outputs; floats among them become constants."""
        return kept(self.nodes, [self._reference(output) for output in outputs], names)

    def _scaled(self, number: Traced, factor: Any) -> Number:
        """Return factor · number; a constant factor of the number itself is merged with it."""
        if factor == 0:
            return 0.0
        if factor in (1.0, -1.0):
            return number if factor > 0 else -number
        node = self.nodes[number.reference >> 1]
        if node.op is Op.PRODUCT and self.nodes[node.left >> 1].op is Op.CONSTANT:
            inner = self.kind(self, node.right ^ (number.reference & 1))
            return self._scaled(inner, factor * self.nodes[node.left >> 1].value)
        flip = (number.reference & 1) ^ (factor < 0)
        constant = self._record(Node(Op.CONSTANT, value=abs(factor)))
        result = self._record(Node(Op.PRODUCT, constant.reference, number.reference & ~1))
        return -result if flip else result

    def _rest(self, whole: int, part: int) -> int | None:
        """Return b where `whole` is b − part, for then whole + part is b; else None."""
        node = self.nodes[whole >> 1]
        if node.op is Op.SUM:
            left, right = node.left ^ (whole & 1), node.right ^ (whole & 1)
            if left == negated(part):
                return right
            if right == negated(part):
                return left
        return None

    def _reference(self, number: Number) -> int:
        if isinstance(number, Traced):
            return number.reference
        exact: Any = self.number(number)
        constant = self._record(Node(Op.CONSTANT, value=abs(exact))).reference
        return negated(constant) if number < 0 else constant

    def _record(self, node: Node) -> Traced:
        index = self._known.setdefault(node, len(self.nodes))
        if index == len(self.nodes):
            self.nodes.append(node)
        return self.kind(self, index * 2)


class Exact(Fraction):
    """A rational constant under trace: floats join it exactly, so that what is folded is not rounded on the way."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        return _exact(super().__add__(_rational(other)))

    def __mul__(self, other: Any) -> Any:
        return _exact(super().__mul__(_rational(other)))

    def __sub__(self, other: Any) -> Any:
        return _exact(super().__sub__(_rational(other)))

    def __rsub__(self, other: Any) -> Any:
        return _exact(super().__rsub__(_rational(other)))

    def __neg__(self) -> Exact:
        return Exact(super().__neg__())

    def __abs__(self) -> Exact:
        return Exact(super().__abs__())

    __radd__, __rmul__ = __add__, __mul__


def _rational(number: Any) -> Any:
    return Fraction(number) if isinstance(number, float) else number


def _exact(number: Any) -> Any:
    return number if number is NotImplemented else Exact(number)


class ExactTracer(Tracer):
    """A tracer whose constants are exact until `graph` rounds each of them, once, to the nearest float."""

    number = Exact

    def graph(self, outputs: Sequence[Number], names: Sequence[str]) -> Graph:
        """Return the graph of the given outputs."""
        exact = super().graph(outputs, names)
        nodes = (replace(node, value=float(node.value)) if node.op is Op.CONSTANT else node for node in exact.nodes)
        return replace(exact, nodes=tuple(nodes))


def traced_inputs(tracer: Tracer, prefix: str, count: int) -> list[Any]:
    """Return `count` inputs named prefix1, prefix2, ..."""
    return [tracer.input(f"{prefix}{i + 1}") for i in range(count)]

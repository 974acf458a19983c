"""`Graph`: inputs, constants, sums, products, sines and cosines, each node once.

Nodes stand in the order they are computed. An operand is a *reference*: node·2, plus 1 where the value is taken with
the opposite sign. Signs cost nothing and make −(a·b) and (−a)·b the same node, as complement edges do in a diagram.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from bddtorque.base.errors import BddTorqueError, unknown
from bddtorque.base.plain import listed, of_type, table, whole


class Op(IntEnum):
    """An operation of a node."""

    INPUT = 0
    CONSTANT = 1
    SUM = 2
    PRODUCT = 3
    SINE = 4
    COSINE = 5


OPERANDS = {Op.INPUT: 0, Op.CONSTANT: 0, Op.SUM: 2, Op.PRODUCT: 2, Op.SINE: 1, Op.COSINE: 1}


def negated(reference: int) -> int:
    """Return the reference to the same node with the opposite sign."""
    return reference ^ 1


@dataclass(frozen=True, slots=True)
class Node:
    """One value: what computes it, from which references; `name` of an input, `value` of a constant."""

    op: Op
    left: int = -1
    right: int = -1
    name: str = ""
    value: float = 0.0

    @property
    def operands(self) -> tuple[int, ...]:
        """The references this node reads."""
        return (self.left, self.right)[: OPERANDS[self.op]]


@dataclass(frozen=True)
class Graph:
    """A directed acyclic graph of real operations; nodes that no output needs are dropped.

    Attributes
    ----------
    nodes
        The nodes, every operand before its reader.
    outputs
        One reference per output.
    output_names
        One name per output.
    """

    nodes: tuple[Node, ...]
    outputs: tuple[int, ...]
    output_names: tuple[str, ...]

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the inputs that some output depends on."""
        return tuple(node.name for node in self.nodes if node.op is Op.INPUT)

    def counts(self) -> dict[str, int]:
        """Return the numbers of sums, products and sine-cosines (signs are free)."""
        found = Counter(node.op for node in self.nodes)
        return {
            "sums": found[Op.SUM],
            "products": found[Op.PRODUCT],
            "sine_cosines": found[Op.SINE] + found[Op.COSINE],
        }

    def evaluate(
        self, inputs: Mapping[str, Any], arithmetic: Any = np, constant: Callable[[float], Any] = float
    ) -> list[Any]:
        """Return the outputs for the given inputs, over any number type with `+`, `-`, `*`.

        `arithmetic` offers `sin` and `cos` for it (NumPy by default, so floats and arrays work as they are);
        `constant` turns a float of the graph into such a number. An output that depends on no input is one number,
        whatever the shape of the inputs.
        """
        missing = [name for name in self.input_names if name not in inputs]
        if missing:
            raise BddTorqueError(f"graph: input {missing[0]} is missing; the inputs are {', '.join(self.input_names)}")
        values: list[Any] = []

        def take(reference: int) -> Any:
            value = values[reference >> 1]
            return -value if reference & 1 else value

        for node in self.nodes:
            match node.op:
                case Op.INPUT:
                    values.append(inputs[node.name])
                case Op.CONSTANT:
                    values.append(constant(node.value))
                case Op.SUM:  # a − b is one operation, not a negation and a sum
                    left, right = take(node.left), values[node.right >> 1]
                    values.append(left - right if node.right & 1 else left + right)
                case Op.PRODUCT:
                    values.append(take(node.left) * take(node.right))
                case Op.SINE:
                    values.append(arithmetic.sin(take(node.left)))
                case Op.COSINE:
                    values.append(arithmetic.cos(take(node.left)))
        return [take(reference) for reference in self.outputs]

    def to_plain(self) -> dict[str, Any]:
        """Return the graph as plain data for JSON; constants as hexadecimal floats, which lose nothing."""
        return {
            "nodes": [[int(node.op), node.left, node.right, node.name, node.value.hex()] for node in self.nodes],
            "outputs": list(self.outputs),
            "output_names": list(self.output_names),
        }

    def supports(self) -> list[frozenset[str]]:
        """Return, for each output, the names of the inputs it depends on."""
        reached: list[frozenset[str]] = []
        for node in self.nodes:
            own = frozenset([node.name]) if node.op is Op.INPUT else frozenset()
            reached.append(own.union(*(reached[operand >> 1] for operand in node.operands)))
        return [reached[reference >> 1] for reference in self.outputs]


def kept(nodes: Sequence[Node], outputs: Sequence[int], names: Sequence[str]) -> Graph:
    """Return the graph of what the outputs need, nodes renumbered, order kept."""
    needed = {reference >> 1 for reference in outputs}
    for index in range(len(nodes) - 1, -1, -1):
        if index in needed:
            needed.update(operand >> 1 for operand in nodes[index].operands)
    place = {old: new for new, old in enumerate(sorted(needed))}

    def moved(reference: int) -> int:
        return place[reference >> 1] * 2 + (reference & 1) if reference >= 0 else -1

    renumbered = tuple(
        Node(node.op, moved(node.left), moved(node.right), node.name, node.value)
        for node in (nodes[index] for index in sorted(needed))
    )
    return Graph(renumbered, tuple(map(moved, outputs)), tuple(names))


def graph_from_plain(plain: object, where: str, names: Collection[str] | None = None) -> Graph:
    """Return the graph of one output that `Graph.to_plain` wrote; over inputs of these names, if any are given."""
    given = table(plain, ("nodes", "outputs", "output_names"), where)
    nodes: list[Node] = []
    for k, each in enumerate(listed(given["nodes"], where)):
        op, left, right, name, value = listed(each, where, 5)
        kind = Op(whole(op, 0, len(Op) - 1, where))
        first, second = (
            whole(r, 0, 2 * k - 1, where) if j < OPERANDS[kind] else -1 for j, r in enumerate((left, right))
        )
        if kind is Op.INPUT and names is not None and of_type(name, str, where) not in names:
            raise BddTorqueError(f"{where}, node {k}: {unknown('input', name, sorted(names))}")
        try:
            number = float.fromhex(of_type(value, str, where))
        except (ValueError, OverflowError):
            raise BddTorqueError(f"{where}, node {k}: a constant must be hexadecimal, got {value!r:.40}") from None
        if number - number != 0:
            raise BddTorqueError(f"{where}, node {k}: a constant must be finite, got {number}")
        nodes.append(Node(kind, first, second, of_type(name, str, where), number))
    outputs = tuple(whole(each, 0, 2 * len(nodes) - 1, where) for each in listed(given["outputs"], where, 1))
    return Graph(tuple(nodes), outputs, tuple(of_type(n, str, where) for n in listed(given["output_names"], where, 1)))

"""Sound ranges of every node of a graph, sharper than plain intervals where a rotation is recognised.

c·x + s·y with c² + s² = 1 is at most √(X² + Y²), not X + Y. Along a chain of joints that is half a bit a joint.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from bddtorque.graph.graph import Graph, Node, Op
from bddtorque.words.bounded import Interval

UP = 1 + 4 * 2.0**-52
"""What a square root and its argument can lose, and more."""


def node_ranges(graph: Graph, inputs: Mapping[str, Interval]) -> list[Interval]:
    """Return an interval that holds each node's value, for inputs in theirs; angles (not given) are any."""
    ranges: list[Interval] = []

    def take(reference: int) -> Interval:
        return -ranges[reference >> 1] if reference & 1 else ranges[reference >> 1]

    for node in graph.nodes:
        match node.op:
            case Op.INPUT:
                ranges.append(inputs.get(node.name, Interval(-math.inf, math.inf)))
            case Op.CONSTANT:
                ranges.append(Interval(node.value, node.value))
            case Op.SUM:
                ranges.append(_sum(graph, node, ranges, take(node.left) + take(node.right)))
            case Op.PRODUCT if node.left >> 1 == node.right >> 1:
                square = _square(ranges[node.left >> 1])
                ranges.append(-square if (node.left ^ node.right) & 1 else square)
            case Op.PRODUCT:
                ranges.append(take(node.left) * take(node.right))
            case _:
                ranges.append(Interval(-1.0, 1.0))
    return ranges


def output_ranges(graph: Graph, ranges: Sequence[Interval]) -> list[Interval]:
    """Return an interval that holds each output, from those of the nodes."""
    return [-ranges[reference >> 1] if reference & 1 else ranges[reference >> 1] for reference in graph.outputs]


def _square(factor: Interval) -> Interval:
    least = 0.0 if factor.low <= 0.0 <= factor.high else min(abs(factor.low), abs(factor.high))
    return Interval(least**2 / UP, factor.magnitude**2 * UP)


def _sum(graph: Graph, node: Node, ranges: list[Interval], plain: Interval) -> Interval:
    """Return the range of a sum, by Cauchy and Schwarz where it is a rotated coordinate."""
    left, right = graph.nodes[node.left >> 1], graph.nodes[node.right >> 1]
    first, second = _turned(graph, left), _turned(graph, right)
    for (op, angle, x), (other, same, y) in ((a, b) for a in first for b in second):
        if angle == same and {op, other} == {Op.SINE, Op.COSINE}:
            reach = math.hypot(ranges[x].magnitude, ranges[y].magnitude) * UP
            return Interval(max(plain.low, -reach), min(plain.high, reach))
    return plain


def _turned(graph: Graph, node: Node) -> list[tuple[Op, int, int]]:
    """Return (sine or cosine, its angle, the other factor) of a product with one, each way it can be read."""
    if node.op is not Op.PRODUCT:
        return []
    found = []
    for factor, rest in ((node.left >> 1, node.right >> 1), (node.right >> 1, node.left >> 1)):
        if graph.nodes[factor].op in (Op.SINE, Op.COSINE):
            found.append((graph.nodes[factor].op, graph.nodes[factor].left >> 1, rest))
    return found

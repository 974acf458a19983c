"""Sound ranges of every node of a graph, sharper than plain intervals where a rotation is recognised.

c·x + s·y with c² + s² = 1 is at most √(X² + Y²), not X + Y. Along a chain of joints that is half a bit a joint.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from bddtorque.dynamics.graph import Graph, Node, Op
from bddtorque.words.bounded import Interval

UP = 1 + 4 * 2.0**-52
"""What a square root and its argument can lose, and more."""


SINE_SLACK = 1e-9
"""More than an angle of a few turns, its quarters and the sine of its ends lose in float64."""


def node_ranges(
    graph: Graph, inputs: Mapping[str, Interval], angles: Mapping[str, Interval] | None = None
) -> list[Interval]:
    """Return an interval that holds each node's value, for inputs in theirs.

    Sines and cosines are of any angles, unless `angles` says where some of them are.
    """
    ranges: list[Interval] = []
    known = inputs if angles is None else {**inputs, **angles}

    def take(reference: int) -> Interval:
        return -ranges[reference >> 1] if reference & 1 else ranges[reference >> 1]

    for node in graph.nodes:
        match node.op:
            case Op.INPUT:
                ranges.append(known.get(node.name, Interval(-math.inf, math.inf)))
            case Op.CONSTANT:
                ranges.append(Interval(node.value, node.value))
            case Op.SUM:
                ranges.append(_sum(graph, node, ranges, take(node.left) + take(node.right)))
            case Op.PRODUCT if node.left >> 1 == node.right >> 1:
                square = _square(ranges[node.left >> 1])
                ranges.append(-square if (node.left ^ node.right) & 1 else square)
            case Op.PRODUCT:
                ranges.append(take(node.left) * take(node.right))
            case _ if angles:
                ranges.append(_sine(take(node.left), node.op is Op.COSINE))
            case _:
                ranges.append(Interval(-1.0, 1.0))
    return ranges


def output_ranges(graph: Graph, ranges: Sequence[Interval]) -> list[Interval]:
    """Return an interval that holds each output, from those of the nodes."""
    return [-ranges[reference >> 1] if reference & 1 else ranges[reference >> 1] for reference in graph.outputs]


def _sine(angle: Interval, cosine: bool) -> Interval:
    """Return the range of the sine, or cosine, of all angles of an interval."""
    low, high = (end + (math.pi / 2 if cosine else 0.0) for end in (angle.low, angle.high))
    if not high - low < 2 * math.pi:  # all around, or nothing is known
        return Interval(-1.0, 1.0)

    def has(peak: float) -> bool:  # whether an angle of the interval is a whole number of turns from the peak
        after = peak + 2 * math.pi * math.ceil((low - SINE_SLACK - peak) / (2 * math.pi))
        return after <= high + SINE_SLACK

    ends = math.sin(low), math.sin(high)
    least = -1.0 if has(-math.pi / 2) else max(-1.0, min(ends) - SINE_SLACK)
    most = 1.0 if has(math.pi / 2) else min(1.0, max(ends) + SINE_SLACK)
    return Interval(least, most)


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

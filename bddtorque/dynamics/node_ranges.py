"""The abstract domain on graphs: sound ranges of every node, and errors carried from nodes to outputs.

Ranges are sharper than plain intervals where a rotation is recognised (`bddtorque.words.turning`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from bddtorque.dynamics.graph import Graph, Op
from bddtorque.words.bounded import ULP, UP, Interval
from bddtorque.words.turning import SineOf, Turned, rotated, rotations

ERROR_SLACK = 1 + 1e-9
"""More than the float operations behind an error that is carried to the outputs can lose."""
SINE_SLACK = 1e-9
"""More than an angle of a few turns, its quarters and the sine of its ends lose in float64."""


def node_ranges(
    graph: Graph, inputs: Mapping[str, Interval], angles: Mapping[str, Interval] | None = None
) -> list[Interval]:
    """Return an interval that holds each node's value, for inputs in theirs.

    Sines and cosines are of any angles, unless `angles` says where some of them are.
    """
    ranges: list[Interval] = []
    sines: list[SineOf | None] = []
    turned: list[tuple[Turned, ...]] = []
    known = inputs if angles is None else {**inputs, **angles}

    def take(reference: int) -> Interval:
        return -ranges[reference >> 1] if reference & 1 else ranges[reference >> 1]

    for node in graph.nodes:
        left, right = node.left >> 1, node.right >> 1
        sine: SineOf | None = None
        ways: tuple[Turned, ...] = ()
        match node.op:
            case Op.INPUT:
                own = known.get(node.name, Interval(-math.inf, math.inf))
            case Op.CONSTANT:
                own = Interval(node.value, node.value)
            case Op.SUM:
                own = take(node.left) + take(node.right)
                for x, y in rotations(turned[left], turned[right]):
                    own = own.within(rotated(x.magnitude, y.magnitude) * UP)
            case Op.PRODUCT:
                own = ranges[left].squared() if left == right else take(node.left) * take(node.right)
                if left == right and (node.left ^ node.right) & 1:
                    own = -own
                pairs = ((sines[left], ranges[right]), (sines[right], ranges[left]))
                ways = tuple(Turned(each, factor.magnitude) for each, factor in pairs if each is not None)
            case _:
                sine = SineOf(left, node.op is Op.COSINE)
                own = _sine(take(node.left), sine.cosine) if angles else Interval(-1.0, 1.0)
        ranges.append(own)
        sines.append(sine)
        turned.append(ways)
    return ranges


def output_ranges(
    graph: Graph, inputs: Mapping[str, Interval], angles: Mapping[str, Interval] | None = None
) -> list[Interval]:
    """Return an interval that holds each output; see `node_ranges`."""
    ranges = node_ranges(graph, inputs, angles)
    return [-ranges[reference >> 1] if reference & 1 else ranges[reference >> 1] for reference in graph.outputs]


def carry_errors(graph: Graph, sizes: Sequence[float], own: Mapping[int, float]) -> list[float]:
    """Return how far each output can be off if nodes are off by errors of their `own`; `sizes` bounds all nodes."""
    errors: list[float] = []
    for place, node in enumerate(graph.nodes):
        left, right = node.left >> 1, node.right >> 1
        error = own.get(place, 0.0)
        match node.op:
            case Op.INPUT | Op.CONSTANT:
                pass
            case Op.SUM:
                error += errors[left] + errors[right]
            case Op.PRODUCT if math.isfinite(sizes[left]) and math.isfinite(sizes[right]):
                error += sizes[left] * errors[right] + sizes[right] * errors[left] + errors[left] * errors[right]
            case Op.PRODUCT:
                pass  # a multiple of an angle is exact
            case _:
                error += errors[left]  # sine and cosine are no steeper than their argument
        errors.append(error)
    return [errors[reference >> 1] * ERROR_SLACK for reference in graph.outputs]


def folding_errors(graph: Graph, inputs: Mapping[str, Interval]) -> list[float]:
    """Return, for each output, what float64 can have lost where the tracer folded constants; `inputs` has ranges.

    Every constant is taken to be off by a few units in its last place.
    """
    sizes = [each.magnitude for each in node_ranges(graph, inputs)]
    constants = {k: 16 * ULP * sizes[k] for k, node in enumerate(graph.nodes) if node.op is Op.CONSTANT}
    return carry_errors(graph, sizes, constants)


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

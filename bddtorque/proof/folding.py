"""What float64 can have lost where the tracer folded constants."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bddtorque.dynamics.graph import Graph, Op
from bddtorque.words.bounded import ULP, Interval


def folding_errors(graph: Graph, ranges: Sequence[Interval]) -> list[float]:
    """Return, for each output, what float64 can have lost where constants were folded; `ranges` holds the nodes.

    Every constant is taken to be off by a few units in its last place; the errors are carried to the outputs by the
    largest magnitudes.
    """
    errors: list[float] = []
    for index, node in enumerate(graph.nodes):
        left, right = node.left >> 1, node.right >> 1
        match node.op:
            case Op.INPUT:
                errors.append(0.0)
            case Op.CONSTANT:
                errors.append(16 * ULP * ranges[index].magnitude)
            case Op.SUM:
                errors.append(errors[left] + errors[right])
            case Op.PRODUCT if not math.isfinite(ranges[right].magnitude):
                errors.append(0.0)  # a multiple of an angle is exact
            case Op.PRODUCT:
                crossed = ranges[left].magnitude * errors[right] + ranges[right].magnitude * errors[left]
                errors.append(crossed + errors[left] * errors[right])
            case _:
                errors.append(errors[left])  # sine and cosine are no steeper than their argument
    return [errors[reference >> 1] * (1 + 1e-9) for reference in graph.outputs]

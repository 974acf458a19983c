"""Numerical dust in graphs that are planned in floats: summands far below their neighbours are left out, and charged.

Files have rotations that miss a right angle by a millionth, and products of inertia that are rounded zeros. Each of
them costs operations, and moves no word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bddtorque.dynamics.graph import Graph, Op
from bddtorque.dynamics.node_ranges import ERROR_SLACK, carry_errors, node_ranges
from bddtorque.dynamics.tracer import Number, Tracer
from bddtorque.targets.sizing import DUST
from bddtorque.words.bounded import Interval

SHARE = 0.01
"""In units of an output's last bit: what all that is left out may cost."""
MAX_ANGLES = 7
"""Of one output. Beyond, the independent checker has no grid to show on what was left out, and nothing is: for whole
humanoids that costs one operation in a hundred (docs/planner.md)."""


def without_dust(
    graph: Graph, inputs: Mapping[str, Interval], units: Sequence[float]
) -> tuple[Graph, tuple[float, ...], int]:
    """Return the graph without dust, what that costs each output at most, in units, and how many summands are gone.

    The smallest go first, as long as all together cost no output more than `SHARE`. A graph without dust, or with an
    output of more than `MAX_ANGLES`, is returned as it is.

    Parameters
    ----------
    inputs
        Ranges of the inputs that are no angles.
    units
        The unit of each output.
    """
    if max(len(names - inputs.keys()) for names in graph.supports()) > MAX_ANGLES:
        return graph, (0.0,) * len(units), 0
    size = [each.magnitude for each in node_ranges(graph, inputs)]
    dust = _dust(graph, size, units)
    gone = {place: size[graph.nodes[place].operands[side] >> 1] for place, side in dust.items()}
    charges = tuple(error / unit for error, unit in zip(carry_errors(graph, size, gone), units, strict=True))
    if not dust or max(charges) > SHARE * ERROR_SLACK:
        return graph, (0.0,) * len(units), 0
    return _rebuilt(graph, dust), charges, len(dust)


def _dust(graph: Graph, size: Sequence[float], units: Sequence[float]) -> dict[int, int]:
    """Return the sums with dust that is left out, and which operand it is (0 or 1)."""
    adjoint = np.zeros((len(size), len(units)))
    for k, (reference, unit) in enumerate(zip(graph.outputs, units, strict=True)):
        adjoint[reference >> 1, k] += 1 / unit
    found = []
    for place in range(len(size) - 1, -1, -1):
        node = graph.nodes[place]
        if node.op not in (Op.SUM, Op.PRODUCT) or not adjoint[place].any():
            continue  # what an angle is made of has no adjoint, and stays
        pair = [operand >> 1 for operand in node.operands]
        for side, (own, other) in enumerate((pair, pair[::-1])):
            adjoint[own] += adjoint[place] * (1.0 if node.op is Op.SUM else size[other])
            if node.op is Op.SUM and size[own] <= DUST * size[other]:
                found.append((size[own] * adjoint[place], place, side))
    spent, dust = np.zeros(len(units)), {}
    for charge, place, side in sorted(found, key=lambda each: (float(each[0].max()), each[1])):
        # products of two errors are left out of the adjoints, and counted in the end: hence a little less than all
        if place not in dust and (spent + charge <= 0.99 * SHARE).all():
            spent, dust[place] = spent + charge, side
    return dust


def _rebuilt(graph: Graph, dust: Mapping[int, int]) -> Graph:
    """Return the graph with these summands left out."""
    tracer = Tracer()
    values: list[Number] = []

    def take(reference: int) -> Number:
        return -values[reference >> 1] if reference & 1 else values[reference >> 1]

    for place, node in enumerate(graph.nodes):
        match node.op:
            case Op.INPUT:
                values.append(tracer.input(node.name))
            case Op.CONSTANT:
                values.append(node.value)
            case Op.SUM if place in dust:
                values.append(take(node.operands[1 - dust[place]]))
            case Op.SUM:
                values.append(take(node.left) + take(node.right))
            case Op.PRODUCT:
                values.append(take(node.left) * take(node.right))
            case _:
                values.append((tracer.cos if node.op is Op.COSINE else tracer.sin)(take(node.left)))
    return tracer.graph([take(reference) for reference in graph.outputs], list(graph.output_names))

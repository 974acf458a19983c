"""The operations of a traced graph as tasks: what a machine with any number of processors has to schedule."""

from __future__ import annotations

from collections.abc import Mapping

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.graph import Graph, Op
from bddtorque.evaluate.scheduling import TimedTask

COST_OF = {Op.SUM: "sum", Op.PRODUCT: "product", Op.SINE: "sine_cosine", Op.COSINE: "sine_cosine"}


def tasks_of_graph(graph: Graph, costs: Mapping[str, float]) -> list[TimedTask]:
    """Return one task an operation, named by its kind and node number ("product 17").

    `costs` gives the time of ``"sum"``, ``"product"`` and ``"sine_cosine"``, 0 where it gives none. Inputs, constants
    and signs are no tasks: they are there from the beginning.
    """
    for name in costs:
        if name not in COST_OF.values():
            raise BddTorqueError(f"costs: keys must be 'sum', 'product' or 'sine_cosine', got {name!r}")
    names = {index: f"{node.op.name.lower()} {index}" for index, node in enumerate(graph.nodes) if node.op in COST_OF}
    return [
        TimedTask(
            names[index],
            costs.get(COST_OF[graph.nodes[index].op], 0.0),
            tuple(
                dict.fromkeys(names[operand >> 1] for operand in graph.nodes[index].operands if operand >> 1 in names)
            ),
        )
        for index in names
    ]

"""`true_graph`: what was compiled, as a graph over its words and laws that are added; for estimates and for reports."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.origin import origins_of
from bddtorque.compiler.robot_draft import joint_frictions
from bddtorque.dynamics.graph import Graph, Node, Op
from bddtorque.model.model import Model
from bddtorque.plan.blocks import LawBlock

NOTHING = Graph((Node(Op.CONSTANT),), (0,), ("nothing",))
"""The graph of a function that is a law and nothing else."""


class AddedLaw(NamedTuple):
    """A law that is added to an output."""

    output: int
    read: tuple[str, ...]  # the input words of the law
    law: Any


class TrueGraph(NamedTuple):
    """A function as a graph over the values of its words, and of words derived from these, and laws to add."""

    graph: Graph
    laws: list[AddedLaw]


def true_graph(model: Model) -> TrueGraph | None:
    """Return what was compiled; of a robot the recursion, which has the fewest nodes.

    None where only the function itself knows its values, and where the recursion cannot be traced.
    """
    known, blocks = model.provenance, model.plan.blocks
    if known.robot is not None and known.spec is not None:
        try:
            origin = origins_of(replace(known.spec, source="recursive"), known.robot, model.formats.inputs)[0]
        except BddTorqueError:
            return None
        frictions = joint_frictions(known.robot, known.spec, model.formats)
        return TrueGraph(origin.graph, [AddedLaw(term.output, (term.name,), term.law) for term in frictions])
    if known.graph is not None:
        return TrueGraph(known.graph, [])
    if len(blocks) == 1 and isinstance(blocks[0], LawBlock):
        return TrueGraph(NOTHING, [AddedLaw(0, model.formats.word_names, blocks[0].law)])
    return None

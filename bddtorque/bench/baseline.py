"""Float baselines: the graph of what a model computes, traced anew, and laws that are added to its outputs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bddtorque.compiler.origin import origins_of
from bddtorque.compiler.robot_draft import joint_frictions
from bddtorque.dynamics.graph import Graph
from bddtorque.model.model import Model
from bddtorque.targets.extra_terms import LawTerm


@dataclass(frozen=True)
class Baseline:
    """A function in floats."""

    graph: Graph  # over the names of input words, and of words derived from them
    laws: tuple[LawTerm, ...] = ()  # friction of the joints


def baseline_of(model: Model) -> Baseline | None:
    """Return what computes the outputs of a model in floats; None for a function that is known by its values alone."""
    robot, spec, graph = model.provenance.robot, model.provenance.spec, model.provenance.graph
    if robot is None or spec is None:
        return None if graph is None else Baseline(graph)
    origins = origins_of(replace(spec, source="recursive"), robot, model.formats.inputs)
    return Baseline(origins[0].graph, tuple(joint_frictions(robot, spec, model.formats)))

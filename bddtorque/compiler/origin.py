"""Where the compiled function comes from: the robot's separate terms, or the recursion as one graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.chain import chain_of
from bddtorque.dynamics.coupling import refuse_uncompilable
from bddtorque.dynamics.regroup import Regrouped, regrouped
from bddtorque.dynamics.robot_trace import trace_chain
from bddtorque.dynamics.term_trace import traced_terms
from bddtorque.dynamics.terms import MOST_JOINTS, Terms
from bddtorque.graph.graph import Graph
from bddtorque.graph.node_ranges import node_ranges
from bddtorque.proof.tree_truth import tree_errors
from bddtorque.proof.truth import folding_errors, torque_errors
from bddtorque.robots.robot import Robot
from bddtorque.words.argument import Argument, intervals


@dataclass(frozen=True)
class Origin:
    """A robot's torques as a graph to be compiled, and what it was made from."""

    robot: Robot
    source: str  # "terms" or "recursive"
    graph: Graph  # inputs q1.., qd1.., qdd1..; outputs tau1..
    made_from: Terms | Regrouped  # the expansion in harmonics, or the regrouped chain

    def errors(self, arguments: dict[str, Argument], reach: Sequence[float]) -> npt.NDArray[np.float64]:
        """Return, for each torque, how far the graph can be from the true torque, N·m or N, shape (n,).

        `arguments` tells what the input words stand for, `reach` the largest |position| of each joint. The plan must
        leave room for it, and the certificate states it.
        """
        inputs = intervals(arguments)
        motion = {name: each.magnitude for name, each in inputs.items()}
        if isinstance(self.made_from, Regrouped) and not _on_grid(self.robot):
            made = tree_errors(self.robot, reach, motion)
        else:
            folded = folding_errors(self.graph, node_ranges(self.graph, inputs))
            made = torque_errors(self.robot, self.made_from, reach, motion) + np.array(folded)
        return rounded_up(made)


def rounded_up(errors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return errors in four bits: plans and certificates must not depend on the last digit of a library's sine."""
    mantissa, exponent = np.frexp(errors)
    return np.ldexp(np.ceil(mantissa * 16), exponent - 4)  # type: ignore[no-any-return]


def _on_grid(robot: Robot) -> bool:
    """Whether the difference between graph and robot is looked for on a grid; larger robots and trees need another way.

    The grid came first, and files that were proved by it say so by their figures.
    """
    return robot.serial and robot.degrees_of_freedom <= MOST_JOINTS


def from_terms(robot: Robot, by_powers: bool = False) -> Origin:
    """Return the torques as sums of separate terms; refused, with the counts, where there are too many harmonics."""
    terms, graph = traced_terms(robot, by_powers)
    return Origin(robot, "terms", graph, terms)


def from_recursion(robot: Robot) -> Origin:
    """Return the torques as Newton-Euler computes them, one graph for all, regrouped for the fewest operations."""
    refuse_uncompilable(robot)
    made_from = regrouped(chain_of(robot))
    return Origin(robot, "recursive", trace_chain(*made_from), made_from)

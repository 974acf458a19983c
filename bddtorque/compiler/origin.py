"""Where the compiled function comes from: the robot's separate terms, or the recursion as one graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.chain import chain_of
from bddtorque.dynamics.coupling import refuse_uncompilable
from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.node_ranges import node_ranges
from bddtorque.dynamics.regroup import Regrouped, regrouped
from bddtorque.dynamics.robot_trace import trace_chain
from bddtorque.dynamics.term_trace import traced_terms
from bddtorque.dynamics.terms import Terms
from bddtorque.proof.folding import folding_errors
from bddtorque.proof.recursion_truth import recursion_errors
from bddtorque.proof.term_truth import term_errors
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
        if isinstance(self.made_from, Regrouped):
            return rounded_up(recursion_errors(self.robot, reach, motion))
        folded = folding_errors(self.graph, node_ranges(self.graph, inputs))
        return rounded_up(term_errors(self.robot, self.made_from, reach, motion) + np.array(folded))


def rounded_up(errors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return errors in four bits: plans and certificates must not depend on the last digit of a library's sine."""
    mantissa, exponent = np.frexp(errors)
    return np.ldexp(np.ceil(mantissa * 16), exponent - 4)  # type: ignore[no-any-return]


def from_terms(robot: Robot, by_powers: bool = False) -> Origin:
    """Return the torques as sums of separate terms; refused, with the counts, where there are too many harmonics."""
    terms, graph = traced_terms(robot, by_powers)
    return Origin(robot, "terms", graph, terms)


def from_recursion(robot: Robot) -> Origin:
    """Return the torques as Newton-Euler computes them, one graph for all, regrouped for the fewest operations."""
    refuse_uncompilable(robot)
    made_from = regrouped(chain_of(robot))
    return Origin(robot, "recursive", trace_chain(*made_from), made_from)

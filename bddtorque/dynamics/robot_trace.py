"""Trace a robot's Newton-Euler equations into a graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.chain import Array, Chain, chain_of
from bddtorque.dynamics.coupling import traced_positions
from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.recursion import TORQUES, JointRecursion
from bddtorque.dynamics.regroup import regrouped
from bddtorque.dynamics.tracer import Tracer, traced_inputs
from bddtorque.robots.library import RobotLike, load_robot


def trace_torques(robot: RobotLike, regroup: bool = True) -> Graph:
    """Return all joint torques as a graph of sums, products, sines and cosines.

    Its inputs are q1.., qd1.., qdd1.. (rad or m, per s, per s²), its outputs tau1.. (N·m or N).

    Parameters
    ----------
    robot
        A `Robot`, or what `load_robot` takes.
    regroup
        Choose frames and inertial parameters for fewer operations. Otherwise, or if that gains nothing, the robot's
        own are used. The torques are the same up to rounding.

    Returns
    -------
    Graph
        The expression graph.
    """
    chain = chain_of(load_robot(robot))
    own = trace_chain(chain, np.zeros(len(chain.turns)))
    if not regroup:
        return own
    return min(trace_chain(*regrouped(chain)), own, key=lambda graph: sum(graph.counts().values()))


def trace_chain(
    chain: Chain, offset: npt.NDArray[np.float64], recursion: JointRecursion = TORQUES, names: Sequence[str] = ()
) -> Graph:
    """Return the graph of the torques of a chain whose turning joints stand at q + offset (rad), or of a recursion.

    `names` are those of its outputs; torques are tau1, tau2, ...
    """
    tracer = Tracer()
    rates = [traced_inputs(tracer, kind, chain.driven) for kind in recursion.rates]
    q = traced_positions(chain, tracer) * chain.multiplier
    angle, q = q + (chain.offset + offset), q + chain.offset
    outputs = recursion.outputs(chain, *sines_and_cosines(tracer, angle), q, rates)
    return tracer.graph(outputs, names or [f"tau{i + 1}" for i in range(chain.driven)])


def sines_and_cosines(tracer: Tracer, angles: Array) -> tuple[Array, Array]:
    """Return sines and cosines of angles under trace."""
    sine, cosine = (np.array([turn(each) for each in angles], dtype=object) for turn in (tracer.sin, tracer.cos))
    return sine, cosine

"""Trace a robot's Newton-Euler equations into a graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bddtorque.dynamics.chain import Array, Chain, chain_of
from bddtorque.dynamics.coupling import drive_torques, member_motion, traced_positions
from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.newton_euler import WRENCH, newton_euler
from bddtorque.dynamics.regroup import regrouped
from bddtorque.dynamics.tracer import Number, Tracer, traced_inputs
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


def trace_chain(chain: Chain, offset: npt.NDArray[np.float64]) -> Graph:
    """Return the graph of the torques of a chain whose turning joints stand at q + offset (rad)."""
    tracer = Tracer()
    q = traced_positions(chain, tracer)
    qd, qdd = (traced_inputs(tracer, kind, chain.driven) for kind in ("qd", "qdd"))
    q = q * chain.multiplier
    angle, q = q + (chain.offset + offset), q + chain.offset
    tau = trace_recursion(chain, q, *sines_and_cosines(tracer, angle), qd, qdd)
    return tracer.graph(tau, [f"tau{i + 1}" for i in range(chain.driven)])


def sines_and_cosines(tracer: Tracer, angles: Array) -> tuple[Array, Array]:
    """Return sines and cosines of angles under trace."""
    sine, cosine = (np.array([turn(each) for each in angles], dtype=object) for turn in (tracer.sin, tracer.cos))
    return sine, cosine


def trace_recursion(
    chain: Chain, q: Array, sine: Array, cosine: Array, qd: Sequence[Number], qdd: Sequence[Number]
) -> list[Number]:
    """Return the torques of the drives under trace, from the positions of all joints and the motion of the drives."""
    velocity, acceleration = (member_motion(chain, np.array(each, dtype=object)) for each in (qd, qdd))
    tau, wrench = np.zeros(len(q), dtype=object), np.zeros((len(q), WRENCH), dtype=object)
    newton_euler(chain, sine, cosine, q, velocity, acceleration, tau, wrench)
    return list(drive_torques(chain, tau))

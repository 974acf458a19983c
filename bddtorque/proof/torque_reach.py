"""Reach of torques, by the ranges of their graphs: for any robot, at once."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.chain import chain_of
from bddtorque.dynamics.node_ranges import output_ranges
from bddtorque.dynamics.regroup import regrouped
from bddtorque.dynamics.robot_trace import trace_chain
from bddtorque.dynamics.term_trace import traced_terms
from bddtorque.robots.robot import Robot
from bddtorque.words.bounded import Interval
from bddtorque.words.joint_friction import friction_reach

MAX_JOINTS_IN_TERMS = 6
"""Separate terms give the closest ranges; of more joints they take longer to find than all the rest of a plan."""
MARGIN = 1e-6
"""Relative to the range of the recursion, which adds the magnitudes of all its parts. Regrouping and the Fourier step
leave out what is below 1e-12 of the parts, at most 5⁶ times in a coefficient."""


def torque_reach(
    robot: Robot, inputs: Mapping[str, Interval], angles: Mapping[str, Interval] | None = None
) -> list[Interval]:
    """Return a sound range of each torque, N·m or N, friction included, over the ranges of its inputs.

    The closer of two ranges counts: of the recursion, and of the separate terms, each harmonic at its amplitude.

    Parameters
    ----------
    inputs
        Of q1.., qd1.., qdd1..: positions of joints that slide, all velocities and accelerations.
    angles
        Positions of joints that turn; those that are not given may be any.
    """
    graphs = [trace_chain(*regrouped(chain_of(robot)))]
    if robot.degrees_of_freedom <= MAX_JOINTS_IN_TERMS:
        with suppress(BddTorqueError):  # too many harmonics
            graphs.append(traced_terms(robot)[1])
    found = [output_ranges(graph, inputs, angles) for graph in graphs]
    anywhere = output_ranges(graphs[0], inputs) if angles else found[0]
    reach = []
    for j, joint in enumerate(robot.joints):
        margin = MARGIN * anywhere[j].magnitude
        own = Interval(max(each[j].low for each in found) - margin, min(each[j].high for each in found) + margin)
        if joint.friction is not None:
            own = own + friction_reach(joint.friction, inputs[f"qd{j + 1}"])
        reach.append(own)
    return reach

"""Torque ranges that nobody states: what the robot can need over its motion, proved, and rounded up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.draft import within_floats
from bddtorque.compiler.origin import from_recursion, from_terms
from bddtorque.graph.node_ranges import node_ranges, output_ranges
from bddtorque.laws.joint_friction import friction_reach
from bddtorque.robots.robot import Robot
from bddtorque.spec import JointSpec, Ranges, Spec
from bddtorque.spec.resolve import stated_joints, torque_bits
from bddtorque.words.bounded import Interval

MOST_JOINTS_IN_TERMS = 6
"""Separate terms give the closest ranges; of more joints they take longer to find than all the rest of a plan."""
MARGIN = 1e-6
"""Relative to the range of the recursion, which adds the magnitudes of all its parts. Regrouping and the Fourier step
leave out what is below 1e-12 of the parts, at most 5⁶ times in a coefficient."""
DIGITS = 2
"""Significant digits of a range that is found."""


def resolve_spec(spec: Spec, robot: Robot) -> Spec:
    """Return a specification with nothing left open, torques that are ``"auto"`` found."""
    said = stated_joints(spec, robot)
    if all(joint.torque != "auto" for joint in said):
        return spec.resolve(robot)
    lengths, joints = torque_bits(spec, robot), []
    with within_floats("robot", robot.name):
        for joint, needed, bits in zip(said, torque_reach(robot, said), lengths, strict=True):
            high = round_up(with_room(needed.magnitude, bits))
            joints.append(replace(joint, torque=(-high, high)) if joint.torque == "auto" else joint)
    return replace(spec, ranges=Ranges(), joints=tuple(joints)).resolve(robot)


def torque_reach(robot: Robot, motion: Sequence[JointSpec]) -> list[Interval]:
    """Return a sound range of each torque, N·m or N, friction included, over the ranges of position, velocity, ...

    Joints that turn may stand anywhere, as their words may. The closer of two ranges counts: of the recursion, and of
    the separate terms, each harmonic at its amplitude.
    """
    inputs: dict[str, Interval] = {}
    for j, (joint, said) in enumerate(zip(robot.joints, motion, strict=True), 1):
        for name, ends in (("q", said.position), ("qd", said.velocity), ("qdd", said.acceleration)):
            if ends is not None and not (joint.revolute and name == "q"):
                slack = MARGIN * max(map(abs, ends))  # words of an encoder with an offset are rounded
                inputs[f"{name}{j}"] = Interval(ends[0] - slack, ends[1] + slack)
    graphs = [from_recursion(robot).graph]
    if robot.degrees_of_freedom <= MOST_JOINTS_IN_TERMS:
        with suppress(BddTorqueError):  # too many harmonics
            graphs.append(from_terms(robot).graph)
    found = [output_ranges(graph, node_ranges(graph, inputs)) for graph in graphs]
    reach = []
    for j, joint in enumerate(robot.joints):
        margin = MARGIN * found[0][j].magnitude
        own = Interval(max(each[j].low for each in found) - margin, min(each[j].high for each in found) + margin)
        if joint.friction is not None:
            own = own + friction_reach(joint.friction, inputs[f"qd{j + 1}"])
        reach.append(own)
    return reach


def with_room(torque: float, bits: int) -> float:
    """Return the end of a range whose highest word, less a unit for the error, is still above a torque."""
    return torque / (1 - 3 * 2.0**-bits)


def round_up(number: float) -> float:
    """Return the next number of `DIGITS` significant digits; 1 for a torque that is always zero."""
    if number == 0:
        return 1.0
    if not math.isfinite(number):
        raise OverflowError("a torque is beyond all floats")
    exponent = math.floor(math.log10(number)) - DIGITS + 1
    digits = math.ceil(number / 10.0**exponent)
    rounded = float(f"{digits}e{exponent}")
    return rounded if rounded >= number else float(f"{digits + 1}e{exponent}")

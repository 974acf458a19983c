"""The plan of a quantity of a robot: gravity, bias, mass matrix, pose and Jacobian of the tip, computed-torque law."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.draft import Draft, target_of, within_floats
from bddtorque.compiler.quantity_origin import TORQUES, QuantityOrigin, origins_of
from bddtorque.compiler.torque_ranges import round_up, with_room
from bddtorque.dynamics.coupling import refuse_ambiguous_turns
from bddtorque.model.quantity_words import difference_names, input_arrays, law_gains, output_arrays
from bddtorque.model.source import QuantitySource, RobotSource
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import AngleSum, Input, Wire
from bddtorque.proof.proved_bound import QUANTITY
from bddtorque.proof.torque_reach import MARGIN, MOST_JOINTS_IN_TERMS
from bddtorque.robots.robot import Robot
from bddtorque.spec import JointSpec, Ranges, Spec
from bddtorque.spec.records import PayloadBox
from bddtorque.spec.resolve import stated_joints, torque_bits
from bddtorque.targets.extra_terms import LawTerm
from bddtorque.targets.target import TracedOutputs
from bddtorque.targets.target_plans import plan_for_target
from bddtorque.words.bounded import ROOM, Interval
from bddtorque.words.interpolant import Interpolant
from bddtorque.words.joint_friction import friction_reach
from bddtorque.words.named_arrays import NamedArrays
from bddtorque.words.samples import check_reach

RUBBING = ("torque", "bias", "law")
"""Quantities that friction is a part of."""
NOISE, NOISE_WORDS = 4 * MARGIN, 1e-3
"""Of the largest output: what is below the first is rounding noise in the place of 0, and has words for the second."""
AXIS_SLACK = 1e-5
"""How far above 1 entries of rotations can be: robots are refused whose axes are farther from orthonormal."""


def draft_of_quantity(spec: Spec, robot: Robot) -> Draft:
    """Return the plan of a quantity, with its resolved spec and its words."""
    _check(spec, robot)
    origins = origins_of(spec, robot)
    source, ranges = _source(spec, robot, origins)
    arguments = source.arguments
    reach = [max(map(abs, word.span)) for word in source.arrays["q"]]
    units = [word.lsb for word in source.outputs.values()]
    traces = [
        TracedOutputs(each.source, each.graph, _in_units(each.errors(arguments, reach).tolist(), units))
        for each in origins
    ]
    names = origins[0].graph.output_names
    targets = [target_of(word, name) for name, word in zip(names, source.outputs.values(), strict=True)]
    laws = joint_frictions(source) if spec.quantity in RUBBING else []
    planned = plan_for_target(source.spec, source.accuracy, arguments, targets, traces, laws)
    plan = planned.plan
    if spec.quantity == "law":
        plan = _with_differences(plan, difference_names(robot))
    return Draft(
        source, plan, planned.errors, QUANTITY, ranges=tuple(ranges), dropped=planned.dropped, dust=planned.dust
    )


def _in_units(errors: Sequence[float], units: Sequence[float]) -> tuple[float, ...]:
    return tuple(error / unit * ROOM for error, unit in zip(errors, units, strict=True))


def _check(spec: Spec, robot: Robot) -> None:
    """Refuse combinations that make no sense, by name."""
    if spec.accuracy == "paper":
        raise BddTorqueError(f"accuracy 'paper' is only valid for quantity 'torque', got '{spec.quantity}'")
    if spec.quantity == "law":
        law_gains(spec, robot)
    if spec.quantity in ("kinematics", "jacobian"):
        robot.tip_member(f"quantity '{spec.quantity}'")
    if isinstance(spec.payload, PayloadBox):
        robot.tip_member("a payload at run time")
        if robot.payload is not None:
            raise BddTorqueError(
                f"robot '{robot.name}' has a payload of its own: it cannot have another at run time{spec.at('payload')}"
            )
        if spec.quantity not in (*TORQUES, "mass_matrix"):
            raise BddTorqueError(f"quantity '{spec.quantity}' does not depend on a payload{spec.at('payload')}")


def _source(spec: Spec, robot: Robot, origins: Sequence[QuantityOrigin]) -> tuple[QuantitySource, list[Interval]]:
    """Return the quantity with its words, and what it can be: output ranges that nobody states are that, rounded up."""
    said = stated_joints(spec, robot)
    any_torque = [replace(joint, torque=(-1.0, 1.0)) if joint.torque == "auto" else joint for joint in said]
    known = _resolved(spec, robot, any_torque)
    inputs = input_arrays(known, robot)
    refuse_ambiguous_turns(robot, inputs[0].words)
    with within_floats("robot", robot.name):
        ranges = _reach(known, QuantitySource(robot, known, NamedArrays(inputs, ())), origins)
        if any(joint.torque == "auto" for joint in said):
            lengths = torque_bits(spec, robot)
            highs = [round_up(with_room(far, bits)) for far, bits in zip(_ends(ranges), lengths, strict=True)]
            joints = [
                replace(joint, torque=(-high, high)) if joint.torque == "auto" else joint
                for joint, high in zip(said, highs, strict=True)
            ]
            known = _resolved(spec, robot, joints)
        highs = [] if spec.quantity in TORQUES else [_high(far, known) for far in _ends(ranges)]
    return QuantitySource(robot, known, NamedArrays(inputs, output_arrays(known, robot, highs))), ranges


def _ends(ranges: Sequence[Interval]) -> list[float]:
    """Return how far outputs reach; rounding noise in the place of 0 does not get words as fine as itself.

    What is proved of the noise would be as large as their units. An output that is 0 stays 0.
    """
    largest = max(each.magnitude for each in ranges)
    return [NOISE_WORDS * largest if 0 < each.magnitude < NOISE * largest else each.magnitude for each in ranges]


def _high(far: float, spec: Spec) -> float:
    """Return the end of words that are not torques; those of entries of rotations and axes just hold 1."""
    if not isinstance(spec.bits, int):
        raise TypeError("a resolved spec has one word length here")
    return with_room(1.0, spec.bits) if 1.0 <= far <= 1 + AXIS_SLACK else round_up(with_room(far, spec.bits))


def _resolved(spec: Spec, robot: Robot, joints: Sequence[JointSpec]) -> Spec:
    return replace(spec, ranges=Ranges(), joints=tuple(joints)).resolve(robot)


def _reach(spec: Spec, source: QuantitySource, origins: Sequence[QuantityOrigin]) -> list[Interval]:
    """Return a sound range of each output: the closest of those of several graphs."""
    robot, graphs = source.robot, list(origins)
    if spec.quantity in ("gravity", "bias") and not isinstance(spec.payload, PayloadBox):
        # what is compiled depends on source and target, its range does not
        others = [replace(spec, source="recursive")]
        if robot.degrees_of_freedom <= MOST_JOINTS_IN_TERMS:
            others.append(replace(spec, source="auto", target="tables", chip=None, precision=None))
        graphs = [origin for other in others for origin in origins_of(other, robot)]
    closest = []
    for ranges in zip(*(each.ranges(source.arguments) for each in graphs), strict=True):
        margin = MARGIN * max(each.magnitude for each in ranges)
        closest.append(Interval(max(each.low for each in ranges) - margin, min(each.high for each in ranges) + margin))
    if spec.quantity in ("kinematics", "jacobian"):
        one = _largest_entry(robot)
        names = origins[0].graph.output_names
        closest = [
            Interval(max(each.low, -one), min(each.high, one)) if name[0] in "rw" else each
            for each, name in zip(closest, names, strict=True)
        ]
    if spec.quantity in RUBBING:
        for j, joint in enumerate(robot.joints):
            if joint.friction is not None:
                velocity = source.arguments[f"qd{j + 1}"].interval()
                closest[j] = closest[j] + friction_reach(joint.friction, velocity)
    return closest


def _largest_entry(robot: Robot) -> float:
    """Return what no entry of a product of the robot's rotations is above: they are orthonormal up to rounding."""
    largest = 1.0
    members = robot.members
    for rotation in (*(members[i].joint.rotation for i in robot.tip_path), robot.tip.rotation):
        R = np.array(rotation)
        largest *= math.sqrt(float(np.abs(R.T @ R).sum(axis=1).max())) * ROOM
    return largest


def joint_frictions(source: RobotSource | QuantitySource) -> list[LawTerm]:
    """Return the friction of the joints that have any, of their velocities."""
    found = []
    for j, joint in enumerate(source.robot.joints):
        if joint.friction is not None:
            name = f"qd{j + 1}"
            if isinstance(joint.friction, Interpolant) and not joint.friction.hold:
                (knots,) = joint.friction.knots
                check_reach(knots[0], knots[-1], source.words[name], "velocity", f"friction of joint '{joint.name}'")
            found.append(LawTerm(j, joint.friction, name))
    return found


def _with_differences(plan: Plan, differences: Mapping[str, tuple[str, str]]) -> Plan:
    """Return a plan in which inputs that are differences of two angle words are made of them: sums that wrap."""
    wires: list[Wire] = []
    places: dict[int, int] = {}

    def place_of(wire: Wire) -> int:
        if wire not in wires:
            wires.append(wire)
        return wires.index(wire)

    for old, wire in enumerate(plan.wires):
        if isinstance(wire, Input) and wire.name in differences:
            words = [place_of(Input(name, wire.bits, True)) for name in differences[wire.name]]
            places[old] = place_of(AngleSum(wire.name, wire.bits, ((words[0], 1, 0), (words[1], -1, 0))))
        elif isinstance(wire, Input):
            places[old] = place_of(wire)
        else:
            places[old] = len(wires)
            wires.append(wire.moved(places))
    outputs = tuple(output.moved(places) for output in plan.outputs)
    moved = replace(plan, wires=tuple(wires), outputs=outputs)
    return replace(moved, exact={places.get(key, key): each.moved(places) for key, each in moved.exact.items()})

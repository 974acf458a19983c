"""The plan of a robot's quantity: from its terms or its recursion, for the words that the spec asks for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bddtorque.base.errors import BddTorqueError
from bddtorque.compiler.draft import PlanDraft, target_of, within_floats
from bddtorque.compiler.origin import Origin, from_terms, joint_frictions, origins_of, worth_planning
from bddtorque.dynamics.coupling import refuse_ambiguous_turns
from bddtorque.dynamics.quantities import QUANTITIES
from bddtorque.dynamics.quantity import derived_words
from bddtorque.model.provenance import of_robot
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import AngleSum, Input
from bddtorque.proof.saturation import ROOM
from bddtorque.proof.torque_extents import MARGIN, MAX_JOINTS_IN_TERMS, largest_found
from bddtorque.proof.torque_range import torque_box
from bddtorque.robots.robot import Robot
from bddtorque.spec import InputBits, JointSpec, Ranges, Spec
from bddtorque.spec.resolve import input_arrays, interface_of, stated_joints, torque_bits
from bddtorque.targets import TARGETS, check_options
from bddtorque.targets.builder import OutputFormat
from bddtorque.targets.float.float_planner import plan_floats
from bddtorque.targets.tables.budget import plan_by_paper
from bddtorque.targets.tables.cover import extra_bits, summand_counts
from bddtorque.targets.target import PlanTask, TracedOutputs, with_laws
from bddtorque.words.argument import intervals
from bddtorque.words.bounded import ROUND_UP, Interval
from bddtorque.words.interface import Derived, Interface, WordArray
from bddtorque.words.joint_friction import friction_reach

NOISE, NOISE_WORDS = 4 * MARGIN, 1e-3
"""Of the largest output: what is below the first is rounding noise in the place of 0, and has words for the second."""
CANCELLING = 1 / 16
"""Of what its parts can add up to: the least range of a torque. Where they cancel, as the weights about an upright axis
do, closer words would need wide products: gravity of the Z1 takes 4,138 cycles on a Cortex-M0 then, and 991 with this
(`bddtorque bench z1.urdf --quantity gravity --target integer --velocity 2 --acceleration 5 --chip cortex-m0`)."""
AXIS_SLACK = 1e-5
"""Entries of rotations can be so far above 1: robots are refused whose axes are farther from orthonormal."""
WIDE = 1.5
"""A range that is more than so many times the largest torque found wastes half a bit: people are told."""
DIGITS = 3
"""Significant digits of a range that nobody states."""
UNIT_BITS = 20
"""Bits of the unit of words that start just below 0: with those of a word they are fewer than a float has."""


def draft_of_robot(spec: Spec, robot: Robot) -> PlanDraft:
    """Return the plan of a robot's quantity, with its resolved spec and its words.

    What compiles from one source compiles with ``"auto"``: where the usual choice is refused, the draft is that of the
    first source that is not, and its spec names that source.
    """
    check_options(spec, spec.at)
    _check(spec, robot)
    if spec.source != "auto" or spec.accuracy == "paper":
        return _draft(spec, robot)
    drafts: dict[str, PlanDraft] = {}
    refusals: dict[str, Exception] = {}
    for source in ("auto", "recursive", "terms"):
        try:
            drafts[source] = _draft(replace(spec, source=source), robot)
        except (BddTorqueError, ArithmeticError) as refusal:  # the latter where numbers are beyond all floats
            refusals[source] = refusal
        else:
            if _within_accuracy(drafts[source]):
                return drafts[source]
    if "auto" in refusals:
        raise refusals["auto"]
    return drafts["auto"]  # refused where its bound is proved, with the figures


def _within_accuracy(draft: PlanDraft) -> bool:
    """Return whether a plan keeps the accuracy asked for, as far as it is known before its tables are made.

    Plans in words that do not are refused when they are made.
    """
    if not draft.plan.in_floats:
        return True
    bounds = zip(draft.bounds(), draft.arithmetic, strict=True)
    return all(bound.total + arithmetic < draft.provenance.accuracy for bound, arithmetic in bounds)


def _check(spec: Spec, robot: Robot) -> None:
    """Refuse combinations that make no sense, by name."""
    record = spec.record
    if spec.accuracy == "paper" and not spec.is_torque:
        said = f"accuracy 'paper' is only valid for quantity 'torque', got '{spec.quantity}'"
        raise BddTorqueError(said, option="accuracy")
    for key in {key for other in QUANTITIES.values() for key in other.keys} - set(record.keys):
        if getattr(spec, key) is not None:
            owners = " or ".join(f"'{other.name}'" for other in QUANTITIES.values() if key in other.keys)
            raise spec.refusal(f"{key} is only valid for quantity {owners}, got '{spec.quantity}'", key)
    for given in spec.run_time:
        if given.name not in record.accepts:
            said = f"quantity '{spec.quantity}' does not depend on {given.name}{spec.at(given.name)}"
            raise BddTorqueError(said, option="quantity")
        given.check(spec, robot)
    if record.needs_tip:
        robot.tip_member(f"quantity '{spec.quantity}'")
    record.check(spec, robot)


def _draft(spec: Spec, robot: Robot) -> PlanDraft:
    """Return the plan of a robot's quantity from the sources that its spec allows."""
    if spec.accuracy == "paper":
        return _draft_by_paper(spec, robot)
    resolved, formats, ranges, origins = quantity_words(spec, robot)
    provenance = of_robot(robot, resolved)
    traces = [TracedOutputs(each.source, each.graph, _errors(formats, each)) for each in worth_planning(origins)]
    targets = output_targets(formats, origins[0].graph.output_names)
    laws = joint_frictions(robot, resolved, formats)
    task = PlanTask(resolved, formats.arguments, targets, provenance.accuracy, laws)
    planned = TARGETS[resolved.target].plan(task, traces)
    plan = _with_derived(planned.plan, {word.name: word for word in formats.derived})
    return PlanDraft(
        formats, provenance, plan, planned.errors, ranges=tuple(ranges), dropped=planned.dropped, dust=planned.dust
    )


def plan_in_doubles(spec: Spec, robot: Robot, formats: Interface, accuracy: float) -> Plan:
    """Return a quantity of a robot from the recursion, without friction, in double precision."""
    (origin,) = origins_of(replace(spec, source="recursive"), robot, formats.inputs)
    targets = output_targets(formats, origin.graph.output_names)
    return plan_floats(origin.graph, formats.arguments, targets, accuracy, origin.source, "double")


def _draft_by_paper(spec: Spec, robot: Robot) -> PlanDraft:
    """Return words and plan by the paper's rule: r + m bits for every term and, unless the spec says, every input."""
    if not TARGETS[spec.target].made_of_tables or spec.source == "recursive":
        raise BddTorqueError(
            f"accuracy 'paper' needs target 'tables' and source 'terms', got '{spec.target}' and '{spec.source}'",
            option="accuracy",
        )
    resolved, formats, _, _ = quantity_words(spec, robot)
    origin = from_terms(robot, by_powers=True)
    terms = summand_counts(origin.graph, formats.arguments)
    with_friction = [joint.friction is not None for joint in robot.joints]  # one term more each
    extra = [extra_bits(count + more) for count, more in zip(terms, with_friction, strict=True)]
    if spec.input_bits is None:
        wide = tuple(bits + max(extra) for bits in formats.tau.bits)
        resolved = replace(resolved, input_bits=InputBits(wide, wide, wide))
        formats = interface_of(resolved, robot)
    targets = output_targets(formats, origin.graph.output_names)
    plan = plan_by_paper(origin.graph, formats.arguments, targets, extra, spec.block_bits, spec.products)
    plan = with_laws(plan, joint_frictions(robot, resolved, formats), formats.arguments, targets)
    return PlanDraft(formats, of_robot(robot, resolved), plan, _errors(formats, origin))


def output_targets(formats: Interface, names: Sequence[str]) -> list[OutputFormat]:
    """Return what every output word means."""
    return [target_of(word, name) for name, word in zip(names, formats.results.values(), strict=True)]


def _errors(formats: Interface, origin: Origin) -> tuple[float, ...]:
    """Return how far the compiled function itself can be from each true output, in units of its last bit."""
    reach = [max(map(abs, word.span)) for word in formats.q]
    errors = origin.errors(intervals(formats.arguments), reach).tolist()
    return tuple(error / word.lsb * ROUND_UP for error, word in zip(errors, formats.results.values(), strict=True))


def quantity_words(spec: Spec, robot: Robot) -> tuple[Spec, Interface, list[Interval], list[Origin]]:
    """Return the resolved spec, the words, sound ranges of the outputs, and the graphs that may be compiled.

    Output ranges that nobody states are what the quantity can be, rounded up.
    """
    said = stated_joints(spec, robot)
    any_torque = [replace(joint, torque=(-1.0, 1.0)) if joint.torque == "auto" else joint for joint in said]
    known = _resolved(spec, robot, any_torque)
    inputs = input_arrays(known, robot)
    refuse_ambiguous_turns(robot, inputs[0].words)
    origins = origins_of(spec, robot, inputs)
    per_joint = any(array.per_joint for array in spec.record.outputs)
    with within_floats("robot", robot.name):
        ranges = _reach(known, robot, Interface(inputs, (), derived_words(known.record, robot, inputs)), origins)
        if per_joint and any(joint.torque == "auto" for joint in said):
            lengths, far = torque_bits(spec, robot), _far(_closest(known, robot, inputs, said, ranges))
            highs = [round_up(with_room(most * ROOM, bits)) for most, bits in zip(far, lengths, strict=True)]
            joints = [
                replace(joint, torque=(-high, high)) if joint.torque == "auto" else joint
                for joint, high in zip(said, highs, strict=True)
            ]
            known = _resolved(spec, robot, joints)
        signed = [array.signed for array in known.record.outputs for _ in array.labels(robot)]
        reaches = zip(ranges, _far(ranges), signed, strict=True)
        ends = [] if per_joint else [_ends(own, far, known, two_sided) for own, far, two_sided in reaches]
    return known, interface_of(known, robot, ends), ranges, origins


def _closest(
    spec: Spec, robot: Robot, inputs: Sequence[WordArray], said: Sequence[JointSpec], ranges: Sequence[Interval]
) -> list[Interval]:
    """Return ranges of torques as close as a search finds them, where nobody states any; not of what cancels out."""
    box, closest = torque_box(spec, robot, Interface(tuple(inputs), ()).words), list(ranges)
    for j, joint in enumerate(said):
        own = box.range(j) if box is not None and joint.torque == "auto" else None
        if own is not None:
            least = CANCELLING * ranges[j].magnitude
            low, high = max(own.low, ranges[j].low), min(own.high, ranges[j].high)
            closest[j] = Interval(min(low, -least), max(high, least))
    return closest


def _far(ranges: Sequence[Interval]) -> list[float]:
    """Return how far outputs reach; rounding noise in the place of 0 does not get words as fine as itself.

    What is proved of the noise would be as large as their units. An output that is 0 stays 0.
    """
    largest = max(each.magnitude for each in ranges)
    return [NOISE_WORDS * largest if 0 < each.magnitude < NOISE * largest else each.magnitude for each in ranges]


def _ends(own: Interval, far: float, spec: Spec, signed: bool) -> tuple[float, float]:
    """Return the ends of words that are not torques; those of entries of rotations and axes just hold 1."""
    if not isinstance(spec.bits, int):
        raise TypeError("a resolved spec has one word length here")
    high = with_room(1.0, spec.bits) if 1.0 <= far <= 1 + AXIS_SLACK else round_up(with_room(far, spec.bits))
    if own.low < 0 or far == 0:
        return -high, high
    # never negative: unsigned, or one unit below 0 for the error, as there is above. 0 is a word: the unit has few bits
    mantissa, exponent = math.frexp(high / (1 << spec.bits))
    unit = math.ldexp(math.ceil(math.ldexp(mantissa, UNIT_BITS)), exponent - UNIT_BITS)
    return (-unit, unit * ((1 << spec.bits) - 1)) if signed else (0.0, unit * (1 << spec.bits))


def _resolved(spec: Spec, robot: Robot, joints: Sequence[JointSpec]) -> Spec:
    return replace(spec, ranges=Ranges(), joints=tuple(joints)).resolve(robot)


def _reach(spec: Spec, robot: Robot, formats: Interface, origins: Sequence[Origin]) -> list[Interval]:
    """Return a sound range of each output: the closest of those of several graphs."""
    record, graphs = spec.record, list(origins)
    if record.from_torques and not record.weightless and not spec.run_time:
        # what is compiled depends on source and target, its range does not
        others = [replace(spec, source="recursive")]
        if robot.degrees_of_freedom <= MAX_JOINTS_IN_TERMS:
            others.append(replace(spec, source="auto", target="tables", chip=None, precision=None))
        graphs = [origin for other in others for origin in origins_of(other, robot)]
    closest = []
    for ranges in zip(*(each.ranges(formats.arguments) for each in graphs), strict=True):
        margin = MARGIN * max(each.magnitude for each in ranges)
        closest.append(Interval(max(each.low for each in ranges) - margin, min(each.high for each in ranges) + margin))
    known = record.known_ranges(spec, robot)
    if known is not None:
        closest = [
            Interval(max(each.low, limit.low), min(each.high, limit.high))
            for each, limit in zip(closest, known, strict=True)
        ]
    if record.friction:
        for j, joint in enumerate(robot.joints):
            if joint.friction is not None:
                velocity = formats.arguments[f"qd{j + 1}"].interval()
                closest[j] = closest[j] + friction_reach(joint.friction, velocity)
    return closest


def _with_derived(plan: Plan, derived: Mapping[str, Derived]) -> Plan:
    """Return a plan in which words derived from input words are made of them: sums that wrap."""
    if not derived:
        return plan
    wires: list[object] = []
    known: dict[object, int] = {}
    places: dict[int, int] = {}

    def place_of(wire: object) -> int:
        if wire not in known:
            known[wire] = len(wires)
            wires.append(wire)
        return known[wire]

    for old, wire in enumerate(plan.wires):
        if isinstance(wire, Input) and wire.name in derived:
            parts = [(place_of(Input(name, wire.bits, True)), k, 0) for name, k in derived[wire.name].parts]
            places[old] = place_of(AngleSum(wire.name, wire.bits, tuple(parts)))
        elif isinstance(wire, Input):
            places[old] = place_of(wire)
        else:
            places[old] = len(wires)
            wires.append(wire.moved(places))
    outputs = tuple(output.moved(places) for output in plan.outputs)
    moved = replace(plan, wires=tuple(wires), outputs=outputs)  # type: ignore[arg-type]
    if moved.in_floats:
        return moved
    return replace(moved, exact={places.get(key, key): each.moved(places) for key, each in moved.exact.items()})


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


def range_notes(robot: Robot, formats: Interface) -> list[str]:
    """Return one line on torque ranges that are far larger than any torque that a search finds, or nothing."""
    highs = [max(abs(word.low), abs(word.high)) for word in formats.tau]
    found = largest_found(robot, formats)
    wide = [j for j, (high, most) in enumerate(zip(highs, found, strict=True)) if high > WIDE * most > 0]
    if not wide:
        return []
    ratios = sorted(highs[j] / found[j] for j in wide)
    first, last = (f"{ratio:,.3g}" if ratio < 1000 else f"{ratio:,.0f}" for ratio in (ratios[0], ratios[-1]))
    if len(wide) == 1:
        j, unit = wide[0], formats.tau[wide[0]].unit
        said = f"joint '{robot.joint_names[j]}': torque range ±{highs[j]:g} {unit} is {first} times the largest torque "
        said += f"found (±{found[j]:.3g} {unit})"
    else:
        names = ", ".join(f"'{robot.joint_names[j]}'" for j in wide)
        said = f"joints {names}: torque ranges are {first} to {last} times the largest torques found"
    return [f'{said}: use torque = "auto" (--torque auto)']

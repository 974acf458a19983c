"""A specification meets its robot: every joint gets its bits and its ranges, and these become words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bddtorque.base.errors import BddTorqueError, refusals_in, unknown
from bddtorque.base.measures import Range, check_unit
from bddtorque.dynamics.quantity import MOTION, derived_words, role_of
from bddtorque.robots.parts import ACCELERATION_PER_VELOCITY
from bddtorque.spec.field_values import DRIVE, RANGED, Bits, JointRange, check_clear, is_named, range_in_si
from bddtorque.spec.records import InputBits, JointSpec, Ranges
from bddtorque.words.formats import Format
from bddtorque.words.interface import Interface, WordArray, word_vector
from bddtorque.words.joint_friction import SampledFriction

if TYPE_CHECKING:
    from bddtorque.robots.parts import Joint
    from bddtorque.robots.robot import Robot
    from bddtorque.spec.spec import Spec

ANY_CHIP = "generic32"
"""The chip that machine integers are planned for unless one is named."""


def resolve(spec: Spec, robot: Robot) -> Spec:
    """Return the spec with nothing left open.

    Torques that are ``"auto"`` take more than a robot's limits to know: `compiler.robot_draft` finds them first.
    """
    said = stated_joints(spec, robot)
    for joint in said:
        if joint.torque == "auto":
            raise BddTorqueError(
                f"torque of joint '{joint.name}' is 'auto', which is found by compiling: give a range, or 'limits' "
                f"({spec.where})"
            )
    bits: Bits = torque_bits(spec, robot)
    inputs = {
        quantity: (_input_bits(spec, quantity, robot) or bits) if quantity in spec.record.ranges else None
        for quantity in RANGED[:3]
    }
    if "torque" not in spec.record.ranges:
        bits = _one_length(spec)
    chip = spec.chip or (ANY_CHIP if spec.target == "integer" else None)
    return replace(spec, bits=bits, input_bits=InputBits(**inputs), ranges=Ranges(), joints=said, chip=chip)


def _one_length(spec: Spec) -> int:
    """Return the word length of outputs that are not those of joints."""
    lengths = {spec.bits} if isinstance(spec.bits, int) else set(spec.bits)
    if len(lengths) > 1:
        raise spec.refusal(f"bits must be one number for quantity '{spec.quantity}', got {list(lengths)}", "bits")
    return lengths.pop()


def torque_bits(spec: Spec, robot: Robot) -> tuple[int, ...]:
    """Return the word length of every torque."""
    return _per_joint(spec.bits, robot, spec, "bits")


def stated_joints(spec: Spec, robot: Robot) -> tuple[JointSpec, ...]:
    """Return what spec and robot say of each joint, in plain numbers; refuse where nobody says how it moves.

    A joint's own range comes first, then the spec's range for all joints, then the robot's limits; the torque is
    ``"auto"`` where nobody says. Positions that are angles may mostly stay open: their words cover a whole turn in any
    case, and a range only says which values are counted as out of range.
    """
    said = joints_said(spec, robot)
    for index, joint in enumerate(robot.joints):
        for quantity in spec.record.ranges:
            if getattr(said[index], quantity) is None and not (
                quantity == "position" and joint.kind.turns and not joint.kind.one_turn
            ):
                raise BddTorqueError(_missing(spec, joint, quantity))
    return said


def joints_said(spec: Spec, robot: Robot) -> tuple[JointSpec, ...]:
    """Return for each joint of the robot what spec and robot together say of it; what nobody says stays None."""
    joints = []
    for index, (joint, own) in enumerate(zip(robot.joints, matched(spec, robot), strict=True)):
        check_unit(own.offset, "offset", joint.name, joint.kind.turns, spec.at("joint"))
        ranges: dict[str, JointRange | None] = {}
        for quantity in RANGED:
            said: JointRange | None = getattr(own, quantity) or _range_for_all(spec, quantity, index, robot)
            if quantity not in spec.record.ranges:
                said = None
            elif isinstance(said, tuple):
                at = "" if quantity in spec.overridden else f" ({spec.where})"
                said = range_in_si(said, quantity, joint.name, joint.kind.turns, at)
            elif said == DRIVE:
                said = _drive_range(own, spec, robot, index, quantity)
            elif quantity == "torque" and said != "limits":
                said = "auto"
            else:
                said = _robot_range(joint, quantity)
                if said is None and quantity == "torque":
                    raise BddTorqueError(_missing(spec, joint, quantity))
            ranges[quantity] = said
        known = replace(own, name=joint.name, offset=float(own.offset), **ranges)  # type: ignore[arg-type]
        joints.append(_with_merged(known, spec, robot, index))
    return tuple(joints)


def _drive_range(own: JointSpec, spec: Spec, robot: Robot, index: int, quantity: str) -> Range:
    """Return the range of words that are counts of a joint's drive."""
    joint = robot.joints[index]
    where = f"joint '{joint.name}'"
    if own.drive is None:
        example = "drive = { gear = 100, encoder = 4096, torque_constant = 0.05 }"
        raise BddTorqueError(f"{where}: {quantity} = 'drive' needs a drive: write {example} ({spec.where})")
    bits = torque_bits(spec, robot)
    if quantity == "velocity":
        bits = _input_bits(spec, quantity, robot) or bits
    return own.drive.range(quantity, bits[index], joint.kind.turns, where)


def _with_merged(said: JointSpec, spec: Spec, robot: Robot, index: int) -> JointSpec:
    """Return what is said of a joint with samples of friction that waited for the words of its velocity merged."""
    if not isinstance(said.friction, SampledFriction):
        return said
    if "velocity" not in spec.record.ranges:
        return replace(said, friction=said.friction.merged())
    joint = robot.joints[index]
    if said.velocity is None:
        raise BddTorqueError(_missing(spec, joint, "velocity"))
    bits = (_input_bits(spec, "velocity", robot) or torque_bits(spec, robot))[index]
    with refusals_in(f"joint '{joint.name}', friction"):
        return replace(said, friction=said.friction.merged(_format("velocity", bits, joint, said)))


def assume_missing(spec: Spec, robot: Robot) -> tuple[Spec, tuple[str, ...]]:
    """Fill in accelerations that nobody gives, from the velocities, and say so in one line for joints that are alike.

    Returns
    -------
    the spec, and the lines to show to the user (none where nothing had to be assumed)
    """
    joints, assumed = [], dict[str, list[str]]()
    for joint, said in zip(robot.joints, joints_said(spec, robot), strict=True):
        filled = said
        needed = "acceleration" in spec.record.ranges
        if needed and said.acceleration is None and said.velocity is not None:
            largest = ACCELERATION_PER_VELOCITY * max(map(abs, said.velocity))
            filled = replace(said, acceleration=(-largest, largest))
            assumed.setdefault(f"±{largest:g} {joint.kind.units['acceleration']}", []).append(joint.name)
        joints.append(filled)
    notes = tuple(_assumption(value, names) for value, names in assumed.items())
    return (replace(spec, joints=tuple(joints), ranges=Ranges()) if notes else spec), notes


def placeholder_notes(spec: Spec, robot: Robot) -> tuple[str, ...]:
    """Return a line for every limit of the robot that is used as a range of motion and looks like a placeholder."""
    suspected = dict[tuple[str, str], list[str]]()
    for index, (joint, own) in enumerate(zip(robot.joints, matched(spec, robot), strict=True)):
        for quantity, least in joint.kind.placeholders.items():
            if quantity not in spec.record.ranges:
                continue
            limit: float = getattr(joint, quantity)
            said = getattr(own, quantity) or _range_for_all(spec, quantity, index, robot)
            if said is None and least <= limit < math.inf:
                shown = f"{limit:g} {joint.kind.units[quantity]}"
                suspected.setdefault((quantity, shown), []).append(joint.name)
    return tuple(
        f"{_joints(names)}: the {quantity} limit of {shown} looks like a placeholder, and words range over all of "
        f"it: give the {quantity} that is used ({quantity}=, --{quantity})"
        for (quantity, shown), names in suspected.items()
    )


def _joints(names: list[str]) -> str:
    named = ", ".join(f"'{name}'" for name in names)
    return f"{'joint' if len(names) == 1 else 'joints'} {named}"


def _assumption(value: str, names: list[str]) -> str:
    whose = "its" if len(names) == 1 else "their"
    return (
        f"{_joints(names)}: acceleration {value} assumed ({ACCELERATION_PER_VELOCITY:g}/s times {whose} velocity), "
        "since neither robot nor spec gives one"
    )


def input_arrays(spec: Spec, robot: Robot) -> tuple[WordArray, ...]:
    """Return the arrays that go into the quantity of a resolved spec: motion, then what is given at run time."""
    record = spec.record
    motion = (motion_array(spec, robot, name) for name in record.inputs)
    return (*motion, *(each.array(spec, robot, record.at_rest) for each in spec.run_time))


def output_arrays(spec: Spec, robot: Robot, ends: Sequence[Range] = ()) -> tuple[WordArray, ...]:
    """Return the arrays that come out; `ends` are those of words that are not torques of joints, in order."""
    arrays, left = [], iter(ends)
    for output in spec.record.outputs:
        if output.per_joint:
            arrays.append(motion_array(spec, robot, output.name))
            continue
        if not isinstance(spec.bits, int):
            raise TypeError("a resolved spec has one word length here")
        labels = tuple(output.labels(robot))
        words = [
            Format("range", spec.bits, *own, name=label, unit=unit, signed=output.signed or own[0] < 0)
            for label, unit, own in zip(labels, output.units(robot), left, strict=False)
        ]
        arrays.append(WordArray(output.name, output.shape(robot), labels, tuple(words)))
    return tuple(arrays)


def motion_array(spec: Spec, robot: Robot, array: str) -> WordArray:
    """Return an array with one word per joint of a resolved spec, such as ``"qd"``, ``"q_desired"`` or ``"tau"``."""
    kind = array.partition("_")[0]
    quantity = "torque" if kind == "tau" else MOTION[kind]
    bits: Any = spec.bits if quantity == "torque" else getattr(spec.input_bits, quantity)
    words = [_format(quantity, *each) for each in zip(bits, robot.joints, spec.joints, strict=True)]
    if role := role_of(array):
        words = [replace(word, name=f"{role} {word.name}") for word in words]
    return word_vector(array, robot.joint_names, words)


def interface_of(spec: Spec, robot: Robot, ends: Sequence[Range] = ()) -> Interface:
    """Return the words of a resolved spec's quantity; `ends` as `output_arrays` takes them."""
    inputs = input_arrays(spec, robot)
    return Interface(inputs, output_arrays(spec, robot, ends), derived_words(spec.record, robot, inputs))


def _format(quantity: str, bits: int, joint: Joint, said: JointSpec) -> Format:
    offset = said.offset if quantity == "position" else 0.0
    kind = joint.kind.word if quantity == "position" else "range"
    low, high = getattr(said, quantity) or (-math.inf, math.inf)
    # the spec speaks of the joint, the format of the encoder: raw = sign · (joint - offset)
    raw = sorted((said.sign * (low - offset), said.sign * (high - offset)))
    name, unit = f"{quantity} of joint '{joint.name}'", joint.kind.units[quantity]
    return Format(kind, bits, raw[0], raw[1], said.sign, offset, name, unit)


def matched(spec: Spec, robot: Robot) -> list[JointSpec]:
    """Return one `JointSpec` per joint, from base to tip, from joints listed in order or by name."""
    if not spec.joints:
        return [JointSpec() for _ in robot.joints]
    by_name = {joint.name: joint for joint in spec.joints}
    if None in by_name:
        if len(spec.joints) != len(robot.joints):
            raise BddTorqueError(
                f"joints without names must be as many as robot '{robot.name}' has, {len(robot.joints)}, got "
                f"{len(spec.joints)} ({spec.where}); give all of them, or their names"
            )
        return list(spec.joints)
    for name in by_name:
        _check_joint(name, robot, spec)
    return [by_name.get(name, JointSpec()) for name in robot.joint_names]


def _check_joint(name: str | None, robot: Robot, spec: Spec) -> None:
    if name not in robot.joint_names:
        raise BddTorqueError(f"{unknown('joint', name, robot.joint_names)} ({spec.where}, robot '{robot.name}')")


def _range_for_all(spec: Spec, quantity: str, index: int, robot: Robot) -> JointRange | None:
    given: Any = getattr(spec.ranges, quantity)
    if given is None or isinstance(given, str):
        return given
    at = "" if quantity in spec.overridden else spec.at("ranges")
    if isinstance(given[0], float):
        check_clear(given, len(robot.joints), quantity, at)
        return given  # type: ignore[no-any-return]
    if is_named(given):
        for name in dict(given):
            _check_joint(name, robot, spec)
        return dict(given).get(robot.joints[index].name)
    if len(given) != len(robot.joints):
        raise BddTorqueError(
            f"{quantity} must be one range for all joints, or one per joint ({len(robot.joints)} in robot "
            f"'{robot.name}'), got {len(given)}{at}",
            option="" if at else quantity,
        )
    return given[index]  # type: ignore[no-any-return]


def _robot_range(joint: Joint, quantity: str) -> Range | None:
    if quantity == "position":
        low, high = joint.lower, joint.upper
        if joint.kind.mistaken(low) or joint.kind.mistaken(high):
            unit = joint.kind.units["position"]
            raise BddTorqueError(
                f"joint '{joint.name}': position limits of {low:g} to {high:g} {unit} look like "
                f"{'degrees' if joint.kind.turns else 'mm'} or a placeholder, and would be what words range over: "
                "correct the robot, or give the position that is used (position=, --position)"
            )
    else:
        high = getattr(joint, "effort" if quantity == "torque" else quantity)
        low = -high
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def _missing(spec: Spec, joint: Joint, quantity: str) -> str:
    unit = joint.kind.units[quantity]
    kind = "" if joint.kind.turns and not joint.kind.one_turn else f"{joint.kind} "
    if quantity == "torque":
        return (
            f"{kind}joint '{joint.name}' has no effort limit in {unit} for torque = 'limits': write torque = 'auto', "
            f"or a range ({spec.where})"
        )
    example = "[0.0, 0.5]" if quantity == "position" else "10.0"
    return (
        f"{kind}joint '{joint.name}' has no range of {quantity} in {unit}, neither in the spec nor in the robot: write "
        f"{quantity} = {example} in its [[joint]] or in [ranges], or pass {quantity}= (--{quantity}) ({spec.where})"
    )


def _input_bits(spec: Spec, quantity: str, robot: Robot) -> tuple[int, ...] | None:
    given = spec.input_bits
    if isinstance(given, InputBits):
        given = getattr(given, quantity)
    return None if given is None else _per_joint(given, robot, spec, "input_bits")


def _per_joint(bits: Bits, robot: Robot, spec: Spec, name: str) -> tuple[int, ...]:
    if isinstance(bits, int):
        return (bits,) * len(robot.joints)
    if len(bits) != len(robot.joints):
        number = f"one number, or one per joint ({len(robot.joints)} in robot '{robot.name}')"
        raise spec.refusal(f"{name} must be {number}, got {len(bits)}", name)
    return bits

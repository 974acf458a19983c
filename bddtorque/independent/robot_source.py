"""The robot of a file: whether robot, spec, words and plan speak of the same thing (docs/format.md, docs/spec.md)."""

from __future__ import annotations

import math
from typing import Any

from .certificate import ROBOT, Stated, check_range, held
from .checked_quantity import quantities, run_time_inputs
from .findings import RefusedError, require
from .float_plan import AnyPlan, FloatPlan
from .formats import Format, Words
from .plan import Plan
from .reading import flag, list_of, object_of, real, text, whole
from .robots import Joint, Robot, robot_of
from .subjects import Subject
from .tables import Facts
from .truth import Comparison, Wanted, compare

RANGES = {
    "q": ("position", ("rad", "m")),
    "qd": ("velocity", ("rad/s", "m/s")),
    "qdd": ("acceleration", ("rad/s²", "m/s²")),
    "tau": ("torque", ("N·m", "N")),
}
"""The four words of a joint by their arrays, with their units where it turns and where it slides."""
SPEC_KEYS = (
    "accuracy", "allow_massless", "allow_unphysical", "base", "bits", "block_bits", "chip", "flash", "frame", "gains",
    "gravity", "ignore_friction", "input_bits", "joints", "lock", "memory", "payload", "precision", "products",
    "quantity", "robot", "snap", "source", "target", "tip", "xacro_args",
)  # fmt: skip
METHODS = ("blocks", "squares", "partial")
"""What the products of a plan are taken by, where the spec says how."""
POINTS = 5
"""Of the grid of docs/certificate.md, a joint that turns."""
ROOM = 16
"""Magnitudes of all that a torque is summed from, over its range."""


class RobotSource:
    """A quantity of a robot: the words are those of its spec, and the truth is mechanics."""

    step, said_of_figures = "dynamics", "every figure follows from the file"
    direct = False

    def __init__(
        self, header: dict[str, Any], plan: AnyPlan, words: Words, stated: list[Stated], facts: list[Facts]
    ) -> None:
        self.subject = subject_of(header, words)
        self.plan = plan
        robot = self.subject.robot
        require(all(each.relative_to == ROBOT for each in stated), "certificate: expected it to be that of a robot")
        _check_turns(self.subject)
        self.accuracy = _check_spec(header["spec"], self.subject, plan)
        _check_friction(plan, robot, facts)
        self.said_of_words = f"robot, spec, words and plan agree on the words of {len(robot.joints)} joints"
        self.axes, self.compared_with = self.subject.axes, self.subject.record.compared_with
        self.points, self.skew = 1.0, 0.0
        if not self.subject.record.in_rationals:  # else there is no grid
            self.points, self.skew = math.prod(map(_points, self.subject.arrays["q"])), _skew(robot)

    def compare(self, wanted: Wanted) -> Comparison:
        """Return how far the plan without roundings is from the truth."""
        return compare(self.plan, self.subject, wanted)

    reach = staticmethod(held)
    check_range = staticmethod(check_range)


def subject_of(header: dict[str, Any], words: Words) -> Subject:
    """Return the quantity that the spec of a file asks for, over its words, of its robot."""
    robot, spec = robot_of(header["robot"]), header["spec"]
    require(isinstance(spec, dict) and list(spec) == sorted(spec), "spec: expected an object with sorted keys")
    record = quantities().get(text(spec.get("quantity", "torque"), "spec, quantity"))
    if record is None or spec.get("quantity") == "torque":
        raise RefusedError("spec: expected a known quantity, and none where it is torque")
    run_time, known = [], run_time_inputs()
    for each in known.values():
        if each.asked(spec):
            require(each.name in record.accepts, f"spec: expected a quantity that depends on {each.name}")
            run_time.append(each)
        elif each.name in spec:
            each.check_own(spec[each.name], header["robot"])
    own_keys = [key for other in quantities().values() for key in other.keys if key not in record.keys]
    require(not any(key in spec for key in own_keys), "spec: expected keys of its own quantity alone")
    at_tip = record.needs_tip or any(each.at_tip for each in run_time)
    require(robot.tip is not None or not at_tip, "robot: expected a tip that names its parent")
    record.check(spec, robot)
    names = tuple(joint.name for joint in robot.joints)
    expected = [(array, (len(names),), names) for array in record.inputs]
    given = {each.name: each.words(spec, header["robot"], record.at_rest) for each in run_time}
    expected += [(name, (len(own),), tuple(own)) for name, own in given.items()]
    found = [(array.name, array.shape, array.labels) for array in words.inputs]
    require(found == expected, "words, inputs: expected the arrays of the quantity")
    for array in words.inputs:
        for label, word in zip(array.labels, array.words, strict=True):
            right = array.name not in given or word == given[array.name][label]
            require(right, f"words, {array.name}, {label}: expected its word")
    outputs = record.outputs(robot)
    found = [(array.name, array.shape, array.labels) for array in words.outputs]
    require(
        found == [(each.name, each.shape, each.labels) for each in outputs],
        "words, outputs: expected the arrays of the quantity",
    )
    for array, output in zip(words.outputs, outputs, strict=True):
        for word, label, unit in zip(array.words, output.labels, output.units, strict=False):
            bits = whole(spec.get("bits"), 2, 32, "spec, bits")
            own = (word.angle, word.bits, word.sign, word.offset, word.name, word.unit)
            lows = (-word.high, -word.high / (2**bits - 1))  # of what is never negative: one unit below 0
            require(
                own == (False, bits, 1, 0.0, label, unit) and word.low in lows, f"words, {label}: expected its word"
            )
    return Subject(robot, record, tuple(run_time), words, spec)


def _check_spec(plain: Any, subject: Subject, plan: AnyPlan) -> float | None:
    """Refuse a spec that asks for other words or another plan; return the accuracy asked for, None for the paper's."""
    require(all(key in SPEC_KEYS for key in plain), f"spec: expected keys {', '.join(SPEC_KEYS)}")
    silent = [key for key, each in plain.items() if each is None or each is False or each in ({}, [])]
    require(not silent, f"spec: expected keys that say something, got {', '.join(silent)}")
    _check_words(plain, subject)
    _check_target(plain, plan)
    require(plan.source in ("terms", "recursive"), "plan: expected source terms or recursive")
    require(plain.get("source") in ("auto", plan.source), "spec: expected the source of the plan")
    whole(plain.get("memory"), 1 << 20, 1 << 60, "spec, memory")
    require("flash" not in plain or plan.target != "float", "spec: expected no flash where the plan is in floats")
    whole(plain.get("flash", 1 << 8), 1 << 8, 1 << 60, "spec, flash")
    text(plain.get("robot"), "spec, robot")
    for key in ("allow_massless", "allow_unphysical", "ignore_friction"):
        require(key not in plain or flag(plain[key], f"spec, {key}"), "spec: expected flags that say something")
    names = [f"tau{j + 1}" if subject.record.torques else label for j, label in enumerate(subject.words.labels)]
    require([each.name for each in plan.outputs] == names, f"plan: expected outputs of the names {', '.join(names)}")
    accuracy = plain.get("accuracy")
    if accuracy == "paper":
        return None
    return 1.0 if accuracy == "faithful" else real(accuracy, "spec, accuracy")


def _check_target(plain: dict[str, Any], plan: AnyPlan) -> None:
    """Refuse a plan of another kind than was asked for."""
    block_bits = whole(plain.get("block_bits"), 1, 64, "spec, block_bits")
    require(plain.get("target") == plan.target, "spec: expected the target of the plan")
    if isinstance(plan, FloatPlan):
        require("products" not in plain and "chip" not in plain, "spec: expected neither products nor a chip")
        asked = text(plain.get("precision", "auto"), "spec, precision")
        require(asked in ("auto", plan.precision.name), "spec: expected the precision of the plan")
        return
    require(
        plan.target in ("tables", "integer") and "precision" not in plain, "spec: expected target tables or integer"
    )
    require(("chip" in plain) == (plan.target == "integer"), "spec: expected a chip where the plan is in integers")
    text(plain.get("chip", ""), "spec, chip")
    require(block_bits == plan.block_bits, "spec: expected the plan's block_bits")
    require(all(sum(block.widths) <= block_bits for block in plan.blocks if block.kind != "product"),
            "plan: expected tables of at most block_bits")  # fmt: skip
    check_products(plain, plan, "spec")


def check_products(plain: dict[str, Any], plan: Plan, where: str) -> None:
    """Refuse products that are not taken as was asked for."""
    if "products" in plain:
        way = text(plain["products"], f"{where}, products")
        require(way in METHODS and plan.target == "tables", f"{where}: expected a way to multiply by tables")
        ways = {wire.method for wire in plan.wires if wire.kind == "product"}
        require(ways <= {way}, f"plan: expected products as the {where} asks for")


def _check_words(plain: Any, subject: Subject) -> None:
    """Refuse formats that are not those of the bits and ranges asked for."""
    robot, n = subject.robot, len(subject.robot.joints)
    arrays = {name: subject.arrays[name] for name in subject.record.inputs}
    if subject.record.torques:
        arrays["tau"] = tuple(subject.words.results)
    used = [key for key in RANGES if any(name.partition("_")[0] == key for name in arrays)]
    read = tuple(RANGES[key][0] for key in used if key != "tau")
    bits = object_of(plain.get("input_bits"), read, "spec, input_bits")
    joints = list_of(plain.get("joints"), "spec, joints", n)
    for joint in joints:
        _check_keys(joint, [RANGES[key][0] for key in used], "spec, joints")
    bits = {**bits, "torque": plain.get("bits")}
    _check_said_friction(joints, robot)
    for array, formats in arrays.items():
        quantity, units = RANGES[array.partition("_")[0]]
        prefix = "desired " if array.endswith("_desired") else ""
        wanted = [whole(each, 2, 32, f"spec, bits of {quantity}") for each in list_of(bits[quantity], "spec, bits", n)]
        for j, (word, joint) in enumerate(zip(formats, joints, strict=True)):
            where = f"spec, {quantity} of joint {j + 1}"
            name, revolute = robot.joints[j].name, robot.joints[j].revolute
            require(joint["name"] == name, f"{where}: expected the joint's name")
            _check_drive(joint.get("drive"), robot.joints[j], where)
            require(word.angle == (revolute and quantity == "position"), f"{where}: expected a word of its kind")
            sign, offset = whole(joint["sign"], -1, 1, where), real(joint["offset"], where)
            shift = offset if quantity == "position" else 0.0
            asked = joint.get(quantity)
            require(asked is not None or word.angle, f"{where}: expected a range")
            ends = [real(each, where) for each in list_of(asked, where, 2)] if asked else [-math.inf, math.inf]
            low, high = sorted(sign * (end - shift) for end in ends)
            found = (word.bits, word.low, word.high, word.sign, word.offset, word.name, word.unit)
            expected = (wanted[j], low, high, sign, shift, f"{prefix}{quantity} of joint '{name}'", units[not revolute])
            require(found == expected, f"{where}: expected the word of the formats")


def _check_drive(drive: Any, joint: Joint, where: str) -> None:
    """Refuse a drive whose rotor is not that of the joint, through the gear; the rest of it says nothing of words."""
    if drive is None:
        return
    known = ("gear", "encoder", "velocity", "torque_constant", "current", "rotor_inertia")
    require(isinstance(drive, dict) and set(drive) <= set(known), f"{where}: expected a drive with known keys")
    numbers = {key: real(value, f"{where}, drive") for key, value in drive.items()}
    if "rotor_inertia" in numbers:
        gear = numbers.get("gear", 1.0) if joint.revolute else 2 * math.pi * numbers.get("gear", 1.0)
        require(float(joint.rotor) == numbers["rotor_inertia"] * gear**2, f"{where}: expected the rotor of the drive")


def _check_keys(joint: Any, ranges: list[str], where: str) -> None:
    open_ = [key for key in ("position", "friction", "drive") if not (isinstance(joint, dict) and key in joint)]
    keys = ("name", *ranges, "offset", "sign", "friction", "drive")
    object_of(joint, tuple(key for key in keys if key not in open_), where)


def _check_said_friction(joints: list[Any], robot: Robot) -> None:
    """Refuse a friction in the spec that is not that of the robot's joint."""
    for said, joint in zip(joints, robot.joints, strict=True):
        friction = said.get("friction")
        if friction is None:
            continue
        require(isinstance(friction, dict), "spec: expected a friction as a law")
        numbers = [friction.get("viscous"), *(friction.get("coulomb") or []), *(friction.get("static") or [])]
        nothing = friction.get("kind") == "friction" and not any(numbers)
        require(
            joint.friction_said == friction or (nothing and joint.friction is None),
            "spec: expected the friction of the robot",
        )


def _check_turns(subject: Subject) -> None:
    """Refuse what slides by an angle, or turns by a fraction of it, if that may leave the turn of its word."""
    for drive in (*(drive for drive, _ in subject.fractions), *subject.slides):
        word = subject.arrays["q"][drive]
        require(
            -math.pi <= word.low and word.high < (word.highest + 0.5) * word.lsb,
            f"robot, joint {drive + 1}: expected limits within a turn, as something slides or turns in part by it",
        )


def _skew(robot: Robot) -> float:
    """Return how far rotations can be taken to be from true ones, in all terms of a torque, with room for sizes.

    docs/certificate.md charges every entry of a rotation, by 32 units in the last place beside what it is off, and in
    each of the inertial, centripetal, Coriolis and gravity terms.
    """
    n = len(robot.joints)
    terms = n + n + n * (n - 1) // 2 + 1
    return ROOM * terms * (robot.skew + 32 * 2.0**-52 * len(robot.members))


def _points(position: Format) -> float:
    """Return how many points of its grid docs/certificate.md counts a position as; three of a sliding one."""
    if position.angle:
        return POINTS
    farthest = max(abs(position.sign * end + position.offset) for end in (position.low, position.high))
    return 3 * 2 * max(1.0, farthest) ** 2


def _check_friction(plan: AnyPlan, robot: Robot, facts: list[Facts]) -> None:
    """Refuse tables of laws where no joint has one, or that are cut off."""
    laws = [joint.friction for joint in robot.joints if joint.friction is not None]
    for k, (block, fact) in enumerate(zip(plan.blocks, facts, strict=True)):
        require(block.kind != "given", f"block {k}: expected no given words in an arm")
        if block.law is not None:
            require(block.law in laws, f"block {k}: expected the friction of a joint")
            require(not fact.clamped, f"block {k}: expected a friction that is not cut off")

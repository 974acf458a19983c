"""The robot of a file: robot, spec, words and plan must speak of the same thing (docs/format.md, docs/spec.md)."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

from .bounds import OutputBound
from .certificate import ROBOT, Claim, Stated
from .comparison import Comparison, Spans, compare
from .findings import RefusedError, require
from .formats import Format, Words
from .laws import Friction
from .plan import Plan
from .ranges import Span
from .reading import between, flag, list_of, object_of, real, several, text, whole
from .robots import Joint, Robot, robot_of
from .subjects import Subject, quantities, run_time_inputs
from .tables import Facts

RANGES = {
    "q": ("position", ("rad", "m")),
    "qd": ("velocity", ("rad/s", "m/s")),
    "qdd": ("acceleration", ("rad/s²", "m/s²")),
    "tau": ("torque", ("N·m", "N")),
}
"""The four words of a joint by their arrays, with their units where it turns and where it slides."""
SPEC_KEYS = (
    "accuracy", "allow_massless", "allow_unphysical", "base", "bits", "block_bits", "chip", "flash", "frame",
    "ignore_friction", "input_bits", "joints", "lock", "memory", "precision", "products", "quantity", "robot", "snap",
    "source", "target", "tip", "xacro_args",
)  # fmt: skip
"""Of every spec; quantities and inputs at run time have keys of their own."""
METHODS = ("blocks", "squares", "partial")
"""Ways that the products of a plan are taken in, where the spec says how."""
POINTS = 5
"""Of the grid of docs/certificate.md, a joint that turns."""
ROOM = 16
"""Magnitudes of all that a torque is summed from, over its range."""


class RobotTruth:
    """A quantity of a robot: the words are those of its spec, and the truth is mechanics."""

    step, said_of_figures = "dynamics", "every figure follows from the file"
    direct = False

    def __init__(
        self, header: dict[str, Any], plan: Plan, words: Words, stated: list[Stated], facts: list[Facts]
    ) -> None:
        self.subject = subject_of(header, words)
        self.plan, self.facts = plan, facts
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

    def compare(self, wanted: Spans) -> Comparison:
        """Return how far the plan without roundings is from the truth."""
        return compare(self.plan, self.subject, self.facts, wanted)

    @cached_property
    def sizes(self) -> list[float]:
        """The sizes of the numbers that outputs are summed from, in their units."""
        return self.subject.sizes()

    @staticmethod
    def reach(claim: Claim) -> OutputBound:
        """Return the range that decides on saturation: that of the true value, where it is proved."""
        return claim.near

    @staticmethod
    def check_range(claim: Claim, truth: Span | None) -> None:
        """Refuse a range that does not follow from the plan or the truth."""
        claim.check_range(truth)


def subject_of(header: dict[str, Any], words: Words) -> Subject:
    """Return the quantity that the spec of a file asks for, over its words, of its robot."""
    robot, spec = robot_of(header["robot"]), header["spec"]
    require(isinstance(spec, dict) and list(spec) == sorted(spec), "spec: expected an object with sorted keys")
    known = quantities()
    unnamed = next(name for name, quantity in known.items() if quantity.unnamed)
    record = known.get(text(spec.get("quantity", unnamed), "spec, quantity"))
    if record is None or spec.get("quantity") == unnamed:
        raise RefusedError(f"spec: expected a known quantity, and none where it is {unnamed}")
    run_time = []
    for name, added in run_time_inputs().items():
        if added.asked(spec):
            require(name in record.accepts, f"spec: expected a quantity that depends on {name}")
            run_time.append(added)
        elif name in spec:
            added.check_own(spec[name], header["robot"])
    own_keys = [key for quantity in known.values() for key in quantity.keys if key not in record.keys]
    require(not any(key in spec for key in own_keys), "spec: expected keys of its own quantity alone")
    at_tip = record.needs_tip or any(added.at_tip for added in run_time)
    require(robot.tip is not None or not at_tip, "robot: expected a tip that names its parent")
    record.check(spec, robot)
    names = tuple(joint.name for joint in robot.joints)
    expected = [(array, (len(names),), names) for array in record.inputs]
    run_time_words = {added.name: added.words(spec, header["robot"], record.at_rest) for added in run_time}
    expected += [(name, (len(own),), tuple(own)) for name, own in run_time_words.items()]
    outputs = record.outputs(robot)
    stated = [(output.name, output.shape, output.labels) for output in outputs]
    for side, arrays, wanted in (("inputs", words.inputs, expected), ("outputs", words.outputs, stated)):
        shapes = [(array.name, array.shape, array.labels) for array in arrays]
        require(shapes == wanted, f"words, {side}: expected the arrays of the quantity")
    for array in words.inputs:
        for label, word in zip(array.labels, array.words, strict=True):
            right = array.name not in run_time_words or word == run_time_words[array.name][label]
            require(right, f"words, {array.name}, {label}: expected its word")
    for array, output in zip(words.outputs, outputs, strict=True):
        for word, label, unit in zip(array.words, output.labels, output.units, strict=False):
            bits = whole(spec.get("bits"), 2, 32, "spec, bits")
            own = (word.angle, word.bits, word.sign, word.offset, word.name, word.unit)
            # of what is never negative: one unit below 0, or 0 of unsigned words
            lows = (-word.high, -word.high / (2**bits - 1)) if word.signed else (0.0,)
            require(word.signed or label in output.unsigned, f"words, {label}: expected a signed word")
            require(
                own == (False, bits, 1, 0.0, label, unit) and word.low in lows, f"words, {label}: expected its word"
            )
    return Subject(robot, record, tuple(run_time), words, spec)


def _check_spec(plain: Any, subject: Subject, plan: Plan) -> float | None:
    """Refuse a spec that asks for other words or another plan; return the accuracy asked for, None for the paper's."""
    own = [key for record in quantities().values() for key in record.keys]
    keys = sorted((*SPEC_KEYS, *run_time_inputs(), *own))
    require(all(key in keys for key in plain), f"spec: expected keys {', '.join(keys)}")
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


def _check_target(plain: dict[str, Any], plan: Plan) -> None:
    """Refuse a plan of another kind than was asked for."""
    block_bits = whole(plain.get("block_bits"), 1, 64, "spec, block_bits")
    require(plain.get("target") == plan.target, "spec: expected the target of the plan")
    if plan.precision:
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
    for j, said in enumerate(joints):
        _check_joint(said, robot.joints[j], [RANGES[key][0] for key in used], f"spec, joint {j + 1}")
    bits = {**bits, "torque": plain.get("bits")}
    for array, formats in arrays.items():
        kind, _, role = array.partition("_")
        (quantity, units), prefix = RANGES[kind], f"{role} " if role else ""
        wanted = several(between(2, 32), n)(bits[quantity], f"spec, bits of {quantity}")
        for j, (word, said) in enumerate(zip(formats, joints, strict=True)):
            where, joint = f"spec, {quantity} of joint {j + 1}", robot.joints[j]
            angle = joint.turns and quantity == "position"
            require(word.angle == angle, f"{where}: expected a word of its kind")
            sign, offset = whole(said["sign"], -1, 1, where), real(said["offset"], where)
            shift, asked = offset if quantity == "position" else 0.0, said.get(quantity)
            require(asked is not None or angle, f"{where}: expected a range")
            ends = several(real, 2)(asked, where) if asked else (-math.inf, math.inf)
            low, high = sorted(sign * (end - shift) for end in ends)
            name, unit = f"{prefix}{quantity} of joint '{joint.name}'", units[not joint.turns]
            expected = Format(angle, wanted[j], low, high, sign, shift, name, unit)
            require(word == expected, f"{where}: expected the word of the formats")


def _check_joint(said: Any, joint: Joint, ranges: list[str], where: str) -> None:
    """Refuse a joint of a spec that is not the robot's: its name, friction, and the rotor of its drive.

    The rest of a drive says nothing of words.
    """
    absent = [key for key in ("position", "friction", "drive") if not (isinstance(said, dict) and key in said)]
    keys = ("name", *ranges, "offset", "sign", "friction", "drive")
    object_of(said, tuple(key for key in keys if key not in absent), where)
    require(said["name"] == joint.name, f"{where}: expected the joint's name")
    drive, friction = ({} if said.get(key) is None else said[key] for key in ("drive", "friction"))
    known = ("gear", "encoder", "velocity", "torque_constant", "current", "rotor_inertia")
    require(isinstance(drive, dict) and set(drive) <= set(known), f"{where}: expected a drive with known keys")
    numbers = {key: real(value, f"{where}, drive") for key, value in drive.items()}
    if "rotor_inertia" in numbers:
        gear = numbers.get("gear", 1.0) if joint.turns else 2 * math.pi * numbers.get("gear", 1.0)
        require(float(joint.rotor) == numbers["rotor_inertia"] * gear**2, f"{where}: expected the rotor of the drive")
    require(isinstance(friction, dict), f"{where}: expected a friction as a law")
    if said.get("friction") is not None and joint.friction_said != friction:
        sizes = [friction.get("viscous"), *(friction.get("coulomb") or []), *(friction.get("static") or [])]
        nothing = friction.get("kind") == "friction" and not any(sizes)
        require(nothing and joint.friction is None, f"{where}: expected the friction of the robot")


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


def _check_friction(plan: Plan, robot: Robot, facts: list[Facts]) -> None:
    """Refuse tables of laws where no joint has one, or that are cut off."""
    laws = [joint.friction for joint in robot.joints if joint.friction is not None]
    laws += [law.dry for law in laws if isinstance(law, Friction) and law.dry is not None]
    for k, (block, fact) in enumerate(zip(plan.blocks, facts, strict=True)):
        require(block.kind != "given", f"block {k}: expected no given words in an arm")
        if block.law is not None:
            require(block.law in laws, f"block {k}: expected the friction of a joint")
            require(not fact.clamped, f"block {k}: expected a friction that is not cut off")

"""Whether robot, spec, formats and plan of an arm speak of the same thing (docs/format.md, docs/spec.md)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .findings import require
from .float_plan import AnyPlan, FloatOutput, FloatPlan
from .formats import Format, format_of
from .plan import Plan, Wire
from .reading import flag, list_of, object_of, real, text, whole
from .robots import Joint, Robot
from .subjects import TIP, Subject

RANGES = {
    "q": ("position", ("rad", "m")),
    "qd": ("velocity", ("rad/s", "m/s")),
    "qdd": ("acceleration", ("rad/s²", "m/s²")),
    "tau": ("torque", ("N·m", "N")),
}
"""The four words of a joint by their arrays, with their units where it turns and where it slides."""
SPEC_KEYS = (
    "accuracy", "allow_massless", "allow_unphysical", "base", "bits", "block_bits", "chip", "flash", "frame", "gains",
    "gravity",
    "ignore_friction", "input_bits", "joints", "lock", "memory", "payload", "precision", "products", "quantity",
    "robot", "snap", "source", "target", "tip", "xacro_args",
)  # fmt: skip
METHODS = ("blocks", "squares", "partial")
"""What the products of a plan are taken by, where the spec says how."""


def words_of(plain: Any, robot: Robot) -> Subject:
    """Return the torques of a robot over the words of the formats, one per joint."""
    given = object_of(plain, ("joint_names", "q", "qd", "qdd", "tau"), "formats")
    names = [joint.name for joint in robot.joints]
    require(given["joint_names"] == names, "formats: expected the names of the robot's joints")
    rows = {}
    for key in RANGES:
        row = list_of(given[key], "formats", len(names))
        rows[key] = [format_of(each, f"formats, {key} {k}") for k, each in enumerate(row, 1)]
    outputs = rows.pop("tau")
    return Subject(robot, "torque", rows, outputs)


def check_spec(plain: Any, header: dict[str, Any], subject: Subject, plan: AnyPlan, names: list[str]) -> float | None:
    """Refuse a spec that asks for other words or another arm; return the accuracy asked for, None for the paper's."""
    require(isinstance(plain, dict) and list(plain) == sorted(plain), "spec: expected an object with sorted keys")
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
    _check_arm(plain, header["robot"])
    require(len(plan.outputs) == len(names), f"plan: expected {len(names)} outputs")
    outputs: Sequence[Wire | FloatOutput] = plan.outputs
    for j, (output, word, name) in enumerate(zip(outputs, subject.outputs, names, strict=True)):
        require(output.name == name, f"plan, output {j}: expected the name {name}")
        require(
            (output.low, output.high) == (word.lowest, word.highest), f"plan, output {j}: expected the ends of its word"
        )
        require(output.lsb == word.lsb, f"plan, output {j}: expected the unit of its word")
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


def check_inputs(plan: AnyPlan, known: dict[str, Format]) -> None:
    """Refuse a plan that reads what is no input, or as another word than it is."""
    for place, wire in enumerate(plan.wires):
        if isinstance(wire, Wire) and wire.kind == "input":
            word = known.get(wire.name)
            require(
                word is not None and (word.bits, word.angle) == (wire.bits, wire.wraps),
                f"plan, wire {place}: expected an input as its format has it",
            )


def _check_words(plain: Any, subject: Subject) -> None:
    """Refuse formats that are not those of the bits and ranges asked for."""
    robot, n = subject.robot, len(subject.robot.joints)
    torques = subject.quantity not in ("mass_matrix", *TIP)
    arrays = {name: row for name, row in subject.arrays.items() if name != "payload"}
    used = [
        key for key in RANGES if any(name.partition("_")[0] == key for name in arrays) or (key == "tau" and torques)
    ]
    read = tuple(RANGES[key][0] for key in used if key != "tau")
    bits = object_of(plain.get("input_bits"), read, "spec, input_bits")
    joints = list_of(plain.get("joints"), "spec, joints", n)
    for joint in joints:
        _check_keys(joint, [RANGES[key][0] for key in used], "spec, joints")
    if torques:
        arrays["tau"] = subject.outputs
        bits = {**bits, "torque": plain.get("bits")}
    for array, formats in arrays.items():
        quantity, units = RANGES[array.partition("_")[0]]
        prefix = "desired " if array.endswith("_desired") else ""
        require(len(formats) == n, f"words, {array}: expected one per joint")
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


def _check_arm(spec: dict[str, Any], robot: dict[str, Any]) -> None:
    """Refuse a spec whose gravity, payload or friction is not the robot's."""
    require("gravity" not in spec or spec["gravity"] == robot["gravity"], "spec: expected the robot's gravity")
    runtime = isinstance(spec.get("payload"), dict) and "runtime" in spec["payload"]
    require(not runtime or robot["payload"] is None, "spec: expected a robot without a payload of its own")
    if "payload" in spec and not runtime:
        load, own = spec["payload"], robot["payload"]
        require(isinstance(load, dict) and isinstance(own, dict), "spec: expected the robot's payload")
        point = [[0.0] * 3] * 3
        asked = (load.get("mass"), load.get("centre_of_mass"), load.get("inertia", point))
        require(
            asked == (own["mass"], own["centre_of_mass"], own["inertia"]), "spec: expected the payload of the robot"
        )
    for said, joint in zip(spec["joints"], robot["joints"], strict=True):
        friction = said.get("friction")
        if friction is None:
            continue
        require(isinstance(friction, dict), "spec: expected a friction as a law")
        numbers = [friction.get("viscous"), *(friction.get("coulomb") or []), *(friction.get("static") or [])]
        nothing = friction.get("kind") == "friction" and not any(numbers)
        require(
            joint.get("friction") == friction or (nothing and "friction" not in joint),
            "spec: expected the friction of the robot",
        )

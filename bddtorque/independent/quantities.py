"""Files of other quantities of a robot than its torques: their words (docs/format.md, Quantities)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .findings import RefusedError, require
from .formats import Format, format_of
from .reading import list_of, object_of, real, text, whole
from .robots import Robot
from .subjects import LABELS, TIP, Subject

DESIRED = ("q_desired", "qd_desired", "qdd_desired")
INPUTS: dict[str, tuple[str, ...]] = {
    "gravity": ("q",),
    "bias": ("q", "qd"),
    "mass_matrix": ("q",),
    "kinematics": ("q",),
    "jacobian": ("q",),
    "law": ("q", "qd", *DESIRED),
    "torque": ("q", "qd", "qdd"),
}
TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")
MASSES = ("kg", "kg·m", "kg·m²")
"""Units of a mass, a first and a second moment; of an entry of the mass matrix by how many of its joints turn."""


def quantity_of(header: dict[str, Any], robot: Robot) -> tuple[Subject, list[str]]:
    """Return the quantity of a file, and the labels of its output words."""
    spec = header["spec"]
    require(isinstance(spec, dict), "spec: expected an object")
    quantity = text(spec.get("quantity", "torque"), "spec, quantity")
    require(quantity in INPUTS and spec.get("quantity") != "torque", "spec: expected a known quantity")
    payload = spec.get("payload")
    runtime = isinstance(payload, dict) and "runtime" in payload
    require(quantity != "torque" or runtime, "spec: expected a payload at run time in a file of torques")
    require(robot.tip is not None or not (runtime or quantity in TIP), "robot: expected a tip that names its parent")
    require(not runtime or quantity not in TIP, "spec: expected a quantity that depends on a payload")
    given = object_of(header["words"], ("inputs", "outputs"), "words")
    inputs = [_array(each, "words, inputs") for each in list_of(given["inputs"], "words, inputs")]
    outputs = [_array(each, "words, outputs") for each in list_of(given["outputs"], "words, outputs")]
    names = [joint.name for joint in robot.joints]
    expected = [(array, [len(names)], names) for array in INPUTS[quantity]]
    labels: tuple[str, ...] = ()
    if runtime:
        ranges = _payload_ranges(payload, quantity)
        labels = tuple(ranges)
        expected.append(("payload", [len(labels)], [*labels]))
        _check_payload(inputs[-1][3], ranges, spec)
    require([each[:3] for each in inputs] == expected, "words, inputs: expected the arrays of the quantity")
    wanted, units = _outputs(quantity, robot)
    require([each[:3] for each in outputs] == wanted, "words, outputs: expected the arrays of the quantity")
    words = [word for each in outputs for word in each[3]]
    output_labels = [label for _, _, own in wanted for label in own]
    if units:
        bits = whole(spec.get("bits"), 2, 32, "spec, bits")
        for word, label, unit in zip(words, output_labels, units, strict=True):
            found = (word.angle, word.bits, word.low, word.sign, word.offset, word.name, word.unit)
            require(found == (False, bits, -word.high, 1, 0.0, label, unit), f"words, {label}: expected its word")
    gains = _gains(spec, len(names)) if quantity == "law" else ()
    require(quantity == "law" or "gains" not in spec, "spec: expected gains of a law alone")
    return Subject(robot, quantity, {each[0]: each[3] for each in inputs}, words, labels, gains), output_labels


def _array(plain: Any, where: str) -> tuple[str, list[Any], list[Any], list[Format]]:
    given = object_of(plain, ("name", "shape", "labels", "words"), where)
    name = text(given["name"], where)
    words = [format_of(each, f"{where}, {name:.20} {k}") for k, each in enumerate(list_of(given["words"], where), 1)]
    labels = list_of(given["labels"], where, len(words))
    return name, list_of(given["shape"], where), labels, words


def _outputs(quantity: str, robot: Robot) -> tuple[list[tuple[str, list[int], list[str]]], list[str]]:
    """Return name, shape and labels of the output arrays; and the units of words that are no torques."""
    n, turns = len(robot.joints), [joint.revolute for joint in robot.joints]
    if quantity == "mass_matrix":
        pairs = [(i, j) for i in range(n) for j in range(i, n)]
        labels = [f"M{i + 1}_{j + 1}" for i, j in pairs]
        return [("mass", [n, n], labels)], [MASSES[turns[i] + turns[j]] for i, j in pairs]
    if quantity == "kinematics":
        entries = [f"r{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)]
        return [("position", [3], ["x", "y", "z"]), ("rotation", [3, 3], entries)], [*["m"] * 3, *[""] * 9]
    if quantity == "jacobian":
        labels = [f"{row}{j}" for row in TWIST for j in range(1, n + 1)]
        return [("jacobian", [6, n], labels)], ["m" if row < 3 and turn else "" for row in range(6) for turn in turns]
    return [("tau", [n], [joint.name for joint in robot.joints])], []


def _gains(spec: dict[str, Any], n: int) -> tuple[tuple[Fraction, Fraction], ...]:
    given = object_of(spec.get("gains"), ("kp", "kv"), "spec, gains")
    rows = []
    for key in ("kp", "kv"):
        each = given[key]
        row = [
            real(value, "spec, gains")
            for value in (list_of(each, "spec, gains", n) if type(each) is list else [each] * n)
        ]
        rows.append([Fraction(value) for value in row])
    return tuple(zip(*rows, strict=True))


def _payload_ranges(plain: dict[str, Any], quantity: str) -> dict[str, tuple[float, float]]:
    """Return the ranges of the numbers of a payload; those that are always 0, or do not matter, are left out.

    Each end is the float nearest to the exact number.
    """
    said = ("inertia",) if "inertia" in plain else ()
    given = object_of(plain, ("mass", "centre_of_mass", *said, "runtime"), "spec, payload")
    require(given["runtime"] is True, "spec, payload: expected runtime to be true")
    mass = [real(each, "spec, payload") for each in list_of(given["mass"], "spec, payload", 2)]
    box = [
        [real(each, "spec, payload") for each in list_of(row, "spec, payload", 2)]
        for row in list_of(given["centre_of_mass"], "spec, payload", 3)
    ]
    require(0 <= mass[0] <= mass[1], "spec, payload: expected a range of masses")
    least, most = map(Fraction, mass)
    exact = [(least, most)]
    squares = Fraction(0)
    for low, high in box:
        corners = [m * Fraction(end) for m in (least, most) for end in (low, high)]
        exact.append((min(corners), max(corners)))
        squares += Fraction(max(abs(low), abs(high))) ** 2
    largest = Fraction(real(given["inertia"], "spec, payload")) if said else most * squares
    exact += [(Fraction(0) if label[1] == label[2] else -largest, largest) for label in LABELS[4:]]
    used = LABELS[:4] if quantity == "gravity" else LABELS
    known = {label: (_nearest(low), _nearest(high)) for label, (low, high) in zip(LABELS, exact, strict=True)}
    return {label: known[label] for label in used if known[label][0] < known[label][1]}


def _nearest(number: Fraction) -> float:
    """Return the float nearest to a number."""
    try:
        return float(number)
    except OverflowError:
        raise RefusedError("spec, payload: expected ranges within floats") from None


def _check_payload(words: list[Format], ranges: dict[str, tuple[float, float]], spec: dict[str, Any]) -> None:
    """Refuse words of a payload whose ends are not those of the ranges."""
    asked = spec.get("bits")
    bits = max(asked) if isinstance(asked, list) and asked else asked
    require(len(words) == len(ranges), "words, payload: expected a word for every number that matters")
    for word, (label, (low, high)) in zip(words, ranges.items(), strict=True):
        top = _nearest(Fraction(low) + (Fraction(high) - Fraction(low)) * Fraction(2**word.bits, 2**word.bits - 1))
        unit = MASSES[0 if label == "mass" else 1 if label[0] == "m" else 2]
        found = (word.angle, word.bits, word.low, word.high, word.sign, word.offset, word.name, word.unit)
        expected = (False, bits, low, top, 1, 0.0, f"{label} of the payload", unit)
        require(found == expected, f"words, payload, {label}: expected its word")

"""A payload at run time: mass, first moments and inertia about the origin of the tip, in its axes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from .dynamics import Load, World
from .findings import require
from .formats import Format
from .reading import list_of, nearest_float, object_of, output_bits, real
from .robots import ZERO
from .subjects import CheckedInput

LABELS = ("mass", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
UNITS = ("kg", "kg·m", "kg·m²")
"""Of a mass, a first and a second moment."""


class Payload(CheckedInput):
    """Those of the ten numbers that are not always 0, and that matter."""

    name = "payload"
    at_tip = True

    def check_own(self, given: Any, robot: Mapping[str, Any]) -> None:
        """Refuse another payload than the robot's."""
        own = robot["payload"]
        require(isinstance(given, dict) and isinstance(own, dict), "spec: expected the robot's payload")
        asked = (given.get("mass"), given.get("centre_of_mass"), given.get("inertia", [[0.0] * 3] * 3))
        require(
            asked == (own["mass"], own["centre_of_mass"], own["inertia"]), "spec: expected the payload of the robot"
        )

    def words(self, spec: Mapping[str, Any], robot: Mapping[str, Any], at_rest: bool) -> dict[str, Format]:
        """Return the words: both ends of each range are words themselves, up to the last bit of a float."""
        require(robot["payload"] is None, "spec: expected a robot without a payload of its own")
        bits, where = output_bits(spec), "spec, payload"
        words = {}
        for label, (low, high) in _ranges(spec["payload"], at_rest).items():
            top = nearest_float(
                Fraction(low) + (Fraction(high) - Fraction(low)) * Fraction(2**bits, 2**bits - 1), where
            )
            unit = UNITS[0 if label == "mass" else 1 if label[0] == "m" else 2]
            words[label] = Format(False, bits, low, top, 1, 0.0, f"{label} of the payload", unit)
        return words

    def joined(self, world: World, numbers: Mapping[str, Any], algebra: Any) -> World:
        """Return the world with this load."""
        mass, *rest = (numbers.get(label, algebra.number(ZERO)) for label in LABELS)
        xx, xy, xz, yy, yz, zz = rest[3:]
        return replace(world, load=Load(mass, rest[:3], [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def _ranges(plain: dict[str, Any], at_rest: bool) -> dict[str, tuple[float, float]]:
    """Return the ranges of the numbers of a payload; those that are always 0, or do not matter, are left out.

    Each end is the float nearest to the exact number.
    """
    said, where = ("inertia",) if "inertia" in plain else (), "spec, payload"
    given = object_of(plain, ("mass", "centre_of_mass", *said, "runtime"), where)
    require(given["runtime"] is True, "spec, payload: expected runtime to be true")
    least, most = (Fraction(real(each, where)) for each in list_of(given["mass"], where, 2))
    require(0 <= least <= most, "spec, payload: expected a range of masses")
    exact, squares = [(least, most)], ZERO
    for row in list_of(given["centre_of_mass"], where, 3):
        ends = [Fraction(real(each, where)) for each in list_of(row, where, 2)]
        corners = [mass * end for mass in (least, most) for end in ends]
        exact.append((min(corners), max(corners)))
        squares += max(map(abs, ends)) ** 2
    largest = Fraction(real(given["inertia"], where)) if said else most * squares
    exact += [(ZERO if label[1] == label[2] else -largest, largest) for label in LABELS[4:]]
    known = {
        label: (nearest_float(low, where), nearest_float(high, where))
        for label, (low, high) in zip(LABELS, exact, strict=True)
    }
    used = LABELS[:4] if at_rest else LABELS
    return {label: known[label] for label in used if known[label][0] < known[label][1]}


RECORDS = (Payload(),)

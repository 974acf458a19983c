"""Gravity at run time: free fall in base axes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from .dynamics import World
from .findings import require
from .formats import Format
from .reading import nearest_float, object_of, output_bits, real
from .subjects import CheckedInput

LABELS = ("gx", "gy", "gz")


class Gravity(CheckedInput):
    """Three numbers, each within ± `largest`."""

    name = "gravity"

    def check_own(self, given: Any, robot: Mapping[str, Any]) -> None:
        """Refuse another gravity than the robot's."""
        require(given == robot["gravity"], "spec: expected the robot's gravity")

    def words(self, spec: Mapping[str, Any], robot: Mapping[str, Any], at_rest: bool) -> dict[str, Format]:
        """Return words whose highest stands for `largest`."""
        given = object_of(spec["gravity"], ("largest", "runtime"), "spec, gravity")
        largest, half = real(given["largest"], "spec, gravity"), 1 << (output_bits(spec) - 1)
        require(given["runtime"] is True and largest > 0, "spec, gravity: expected a largest one above 0, at run time")
        end = nearest_float(Fraction(largest) * half / (half - 1), "spec, gravity")
        return {
            label: Format(False, output_bits(spec), -end, end, 1, 0.0, f"{label} of gravity", "m/s²")
            for label in LABELS
        }

    def joined(self, world: World, numbers: Mapping[str, Any], algebra: Any) -> World:
        """Return the world with this gravity in place of the robot's."""
        return replace(world, gravity=[numbers[label] for label in LABELS])


RECORDS = (Gravity(),)

"""Fixed-point formats, the two rounding rules, exact values and values with an error radius."""

from __future__ import annotations

from bddtorque.words.formats import Format
from bddtorque.words.joints import Formats, JointFormats, formats_from_plain
from bddtorque.words.rounding import round_half_away

__all__ = [
    "Format",
    "Formats",
    "JointFormats",
    "formats_from_plain",
    "round_half_away",
]

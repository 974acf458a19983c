"""The kinds of joints: the keys they have in a file, and the turning and sliding motions they are made of."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

Motion = tuple[bool, Fraction]
"""Turning or sliding (true or false), and by how much of the joint's position."""


@dataclass(frozen=True)
class Kind:
    """A kind of joint; its position is an angle if the last of its motions turns."""

    keys: tuple[str, ...]
    motions: Callable[..., tuple[Motion, ...]]  # of the numbers of its keys, from what carries it outward


KINDS = {
    "revolute": Kind((), lambda: ((True, Fraction(1)),)),
    "prismatic": Kind((), lambda: ((False, Fraction(1)),)),
    "screw": Kind(("pitch",), lambda pitch: ((False, Fraction(pitch / (2 * math.pi))), (True, Fraction(1)))),
}

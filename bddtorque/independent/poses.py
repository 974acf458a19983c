"""Where the links of a robot stand: their frames in base axes, over any kind of number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from .dynamics import State, Vector, added
from .robots import BASE, ZERO, Robot

Frame = tuple[Vector, list[Vector]]
"""The origin of a frame, and its axes, each a column."""


def frames_of(robot: Robot, state: State, algebra: Any, members: Iterable[int]) -> dict[int, Frame]:
    """Return the frames of members, each listed after the one that carries it."""
    base: Frame = [algebra.number(ZERO)] * 3, [[algebra.number(Fraction(i == k)) for i in range(3)] for k in range(3)]
    found: dict[int, Frame] = {}
    for i in members:
        joint, carrier = robot.members[i].joint, robot.members[i].carrier
        place, columns = moved(base if carrier == BASE else found[carrier], joint.rotation, joint.translation, algebra)
        x, y, z = columns
        if joint.revolute:
            c, s = state.cosine[i], state.sine[i]
            x, y = (
                [c * a + s * b for a, b in zip(x, y, strict=True)],
                [c * b - s * a for a, b in zip(x, y, strict=True)],
            )
        else:
            place = added(place, [each * state.q[i] for each in z])
        found[i] = place, [x, y, z]
    return found


def tip_frame(robot: Robot, frames: dict[int, Frame], algebra: Any) -> Frame:
    """Return the frame of the tip."""
    return moved(frames[robot.tip_path[-1]], robot.tip_rotation, robot.tip_translation, algebra)


def moved(frame: Frame, rotation: Sequence[Sequence[Fraction]], way: Sequence[Fraction], algebra: Any) -> Frame:
    """Return a frame that stands in another at a rotation and a translation."""
    place, columns = frame
    turned = [combined(columns, [algebra.number(row[k]) for row in rotation]) for k in range(3)]
    return added(place, combined(columns, [algebra.number(each) for each in way])), turned


def combined(columns: Sequence[Sequence[Any]], numbers: Sequence[Any]) -> Vector:
    """Return the sum of columns times numbers."""
    parts = [[each * number for each in column] for column, number in zip(columns, numbers, strict=True)]
    return added(added(parts[0], parts[1]), parts[2])

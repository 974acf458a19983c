"""Ranges as people write them, the same in TOML, in Python and on the command line.

A number is plus or minus it, a pair [low, high] is one range; either stands for one joint, or for all of them. Ranges
of several joints are named, {shoulder = 100, elbow = [-5, 20]}, or listed from base to tip, [[-100, 100], [-5, 20]].
Two numbers are always low and high.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeGuard

from bddtorque.base.errors import BddTorqueError, not_among
from bddtorque.base.measures import Range, as_range, check_unit
from bddtorque.base.plain import describe, is_list, unwrap

if TYPE_CHECKING:
    from bddtorque.base.record import Reader

JointRange = Range | str
"""What is said of one joint: low and high, or a word of `TORQUE_WORDS`."""
NamedRanges = tuple[tuple[str, JointRange], ...]
"""By the name of a joint, sorted."""
ManyRanges = JointRange | tuple[JointRange, ...] | NamedRanges
"""One for all joints, one per joint from base to tip, or some by name."""

RANGED = ("position", "velocity", "acceleration", "torque")
"""The quantities that have a range."""
DRIVE = "drive"
"""Words are counts of the joint's drive: of a torque or a velocity."""
TORQUE_WORDS = ("auto", "limits", DRIVE)
"""Torques that the robot can need over its motion, the effort limits of the robot, and counts of the drive."""


def as_joint_range(quantity: str) -> Reader:
    """Return the reader of the range of one joint."""

    def read(given: object, name: str) -> JointRange:
        if given == DRIVE and quantity in ("velocity", "torque"):
            return DRIVE
        if quantity == "torque" and isinstance(given, str) and given.isalpha():
            if given not in TORQUE_WORDS:
                raise BddTorqueError(not_among(name, given, TORQUE_WORDS, "a range"))
            return given
        return as_range(given, name, quantity)

    return read


def as_ranges(quantity: str) -> Reader:
    """Return the reader of one range for all joints, of one per joint, or of some by name."""
    read_one = as_joint_range(quantity)

    def read(given: object, name: str) -> ManyRanges:
        given = unwrap(given)
        if is_named(given):
            given = dict(given)
        if isinstance(given, Mapping):
            if not given or not all(isinstance(joint, str) for joint in given):
                raise BddTorqueError(f"{name} must name its joints, as in {{shoulder = 1.5}}, got {describe(given)}")
            return tuple((joint, read_one(given[joint], f"{name} of joint '{joint:.60}'")) for joint in sorted(given))
        if not is_list(given) or (len(given) == 2 and not any(is_list(end) or end in TORQUE_WORDS for end in given)):
            try:
                return read_one(given, name)  # type: ignore[no-any-return]
            except BddTorqueError as problem:
                raise BddTorqueError(f"{problem}{_as_listed(given)}") from None
        if not given:
            raise BddTorqueError(f"{name} must have one entry per joint, got []")
        return tuple(read_one(each, f"{name} of joint {i} (one entry per joint)") for i, each in enumerate(given, 1))

    return read


def _as_listed(given: object) -> str:
    """Return how to write two numbers if they were meant for two joints; nothing where they cannot be."""
    if is_list(given) and all(isinstance(end, int | float) and end > 0 for end in given):
        return f"; for ±{given[0]:g} and ±{given[1]:g} write {_both(given)}, or name the joints"
    return ""


def _both(ends: object) -> str:
    return f"[{', '.join(f'[{-end:g}, {end:g}]' for end in ends)}]"  # type: ignore[attr-defined]


def is_named(given: object) -> TypeGuard[NamedRanges]:
    """Say whether ranges are those of joints by name."""
    return is_list(given) and bool(given) and all(is_list(each) and each and isinstance(each[0], str) for each in given)


def check_clear(given: Range, joints: int, quantity: str, at: str) -> None:
    """Refuse two numbers for a robot of two joints that could as well be a number for each; `at` ends the message."""
    low, high = given
    if joints == 2 and low > 0:
        raise BddTorqueError(
            f"{quantity} = [{low:g}, {high:g}] could mean {low:g} to {high:g} for both joints, or ±{low:g} and "
            f"±{high:g}: write [[{low:g}, {high:g}], [{low:g}, {high:g}]] or {_both(given)}, or name the joints{at}",
            option="" if at else quantity,
        )


def range_in_si(given: Range, quantity: str, joint: str, turns: bool, at: str) -> Range:
    """Return a range as plain numbers; refuse a unit of the other kind of joint."""
    for end in given:
        check_unit(end, quantity, joint, turns, at)
    return float(given[0]), float(given[1])

"""The line that compiles a robot as it is: with what its file leaves open, and what reading it takes."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bddtorque.dynamics.robot_lint import loaded_leniently

if TYPE_CHECKING:
    from bddtorque.robots.parts import Joint

BITS = 12
STAND_INS = {"velocity": {True: "2", False: "0.5"}, "position": {True: "-180 deg:180 deg", False: "-0.5:0.5"}}
"""Ranges where a file has none that can be meant, by whether the joint turns: to be put right by the user."""
MANY_JOINTS = 7
"""With more, tables take long; machine integers do not."""


def compile_line(robot: str, given: Mapping[str, Any]) -> str | None:
    """Return a line for a shell, or None where reading the robot is refused whatever the options are."""
    loaded, options, _ = loaded_leniently(robot, dict(given))  # type: ignore[arg-type]
    if loaded is None:
        return None
    words = ["bddtorque", "compile", robot, "--bits", str(BITS)]
    for name, value in options.items():
        words += _option(f"--{name.replace('_', '-')}", value)
    for quantity, stand_ins in STAND_INS.items():
        missing = [joint for joint in loaded.joints if _lacks(joint, quantity)]
        values = [stand_ins[joint.kind.turns] for joint in missing]
        if missing and len(missing) == len(loaded.joints) and len(set(values)) == 1:
            words.append(f"--{quantity}={values[0]}")
        elif missing:
            named = (f"{joint.name}={value}" for joint, value in zip(missing, values, strict=True))
            words.append(f"--{quantity}={','.join(named)}")
    if loaded.degrees_of_freedom > MANY_JOINTS:
        words += ["--target", "integer"]
    return shlex.join(words)


def _lacks(joint: Joint, quantity: str) -> bool:
    """Tell if a joint has no range of a quantity that words can be made of."""
    if quantity == "velocity":
        return joint.velocity >= joint.kind.placeholders["velocity"]
    farthest = max(abs(joint.lower), abs(joint.upper))
    if not joint.kind.turns:
        return farthest > joint.kind.farthest
    return joint.kind.one_turn if math.isinf(farthest) else farthest > joint.kind.farthest


def _option(flag: str, value: Any) -> list[str]:
    """Return an option of a robot as it is given at a shell."""
    if value is True:
        return [flag]
    if isinstance(value, Mapping):
        return [word for name, each in value.items() for word in (flag, f"{name}={each}")]
    if isinstance(value, list | tuple):
        return [f"{flag}={','.join(map(str, value))}"]
    return [flag, str(value)]

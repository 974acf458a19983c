"""``bddtorque robots``: the built-in robots."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bddtorque.cli.console import ShownTable, show, write_json

if TYPE_CHECKING:
    from bddtorque.robots.parts import Joint
    from bddtorque.robots.robot import Robot

LIMITS = ("lower", "upper", "velocity", "acceleration", "effort")


def robots_command(
    as_json: Annotated[bool, typer.Option("--json", help="For programs: limits in rad and m.")] = False,
) -> None:
    """List the built-in robots: joints, types, ranges and the source of their numbers.

    Example: bddtorque robots --json
    """
    from bddtorque.robots.library import builtin_names, load_robot

    robots = [robot_figures(load_robot(name)) for name in builtin_names()]
    if as_json:
        write_json(robots)
        return
    columns = ["name", ">joints", "types", "position ranges", "source"]
    rows = [
        (robot["name"], str(robot["degrees_of_freedom"]), robot["types"], ", ".join(robot["ranges"]), robot["source"])
        for robot in robots
    ]
    show(ShownTable("Built-in robots", columns, rows))


def robot_figures(robot: Robot) -> dict[str, Any]:
    """Return a robot as plain data: types as one letter per joint, ranges as text, limits in rad and m or None."""
    return {
        "name": robot.name,
        "degrees_of_freedom": robot.degrees_of_freedom,
        "types": "".join(joint.kind.symbol for joint in robot.joints),
        "ranges": [_range(joint) for joint in robot.joints],
        "joints": [{"name": joint.name, "type": joint.kind.name, **_limits(joint)} for joint in robot.joints],
        "source": robot.source,
    }


def _limits(joint: Joint) -> dict[str, float | None]:
    limits = {name: getattr(joint, name) for name in LIMITS}
    return {name: value if math.isfinite(value) else None for name, value in limits.items()}


def _range(joint: Joint) -> str:
    """Return a position range such as ``±180°`` or ``0..0.2 m``."""
    if math.isinf(joint.lower) and math.isinf(joint.upper):
        return "any"
    scale, unit = (180 / math.pi, "°") if joint.kind.turns else (1.0, f" {joint.kind.units['position']}")
    lower, upper = (f"{scale * value:.4g}" for value in (joint.lower, joint.upper))
    return f"±{upper}{unit}" if lower == f"-{upper}" else f"{lower}..{upper}{unit}"

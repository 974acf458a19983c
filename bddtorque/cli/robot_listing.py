"""What `bddtorque robots` shows of the built-in robots."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bddtorque.robots.library import builtin_names, load_robot
from bddtorque.robots.robot import Joint, Robot

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True, slots=True)
class RobotSummary:
    """A robot in a line.

    Attributes
    ----------
    name : str
    degrees_of_freedom : int
    types : one letter a joint, R or P, from base to tip
    ranges : position range a joint, as text, e.g. ``±180°`` or ``0..0.2 m``
    joints : a dict a joint with its name, type and limits in rad or m; None where there is none
    source : where the numbers come from
    """

    name: str
    degrees_of_freedom: int
    types: str
    ranges: tuple[str, ...]
    joints: tuple[dict[str, Any], ...]
    source: str


def summarise(robot: Robot) -> RobotSummary:
    """Return a robot in a line."""
    return RobotSummary(
        robot.name,
        robot.degrees_of_freedom,
        "".join("R" if joint.revolute else "P" for joint in robot.joints),
        tuple(_range(joint) for joint in robot.joints),
        tuple(_joint(joint) for joint in robot.joints),
        robot.source,
    )


def summaries() -> tuple[RobotSummary, ...]:
    """Return all built-in robots, each in a line, sorted by name."""
    return tuple(summarise(load_robot(name)) for name in builtin_names())


def print_robots(console: Console, as_json: bool = False) -> None:
    """Print the built-in robots as a table, or as JSON for programs (limits in rad and m, null where none)."""
    if as_json:
        text = json.dumps([asdict(summary) for summary in summaries()], indent=2, ensure_ascii=False)
        console.print(text, markup=False, highlight=False, soft_wrap=True)
        return
    from rich.table import Table

    table = Table(title="Built-in robots")
    table.add_column("name", style="bold", no_wrap=True)
    table.add_column("joints", justify="right")
    table.add_column("types", no_wrap=True)
    table.add_column("position ranges")
    table.add_column("source")
    for summary in summaries():
        table.add_row(
            summary.name,
            str(summary.degrees_of_freedom),
            summary.types,
            ", ".join(summary.ranges),
            summary.source,
        )
    console.print(table)


def _range(joint: Joint) -> str:
    if math.isinf(joint.lower) and math.isinf(joint.upper):
        return "any"
    scale, unit = (180 / math.pi, "°") if joint.revolute else (1.0, " m")
    lower, upper = (f"{scale * value:.4g}" for value in (joint.lower, joint.upper))
    return f"±{upper}{unit}" if lower == f"-{upper}" else f"{lower}..{upper}{unit}"


def _joint(joint: Joint) -> dict[str, Any]:
    limits = {
        "lower": joint.lower,
        "upper": joint.upper,
        "velocity": joint.velocity,
        "acceleration": joint.acceleration,
        "effort": joint.effort,
    }
    known = {key: value if math.isfinite(value) else None for key, value in limits.items()}
    return {"name": joint.name, "type": joint.kind, **known}

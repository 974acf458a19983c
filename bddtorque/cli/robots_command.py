"""``bddtorque robots``: the built-in robots."""

from __future__ import annotations

from typing import Annotated

import typer

from bddtorque.cli.console import output


def robots_command(
    as_json: Annotated[bool, typer.Option("--json", help="For programs: limits in rad and m.")] = False,
) -> None:
    """List the built-in robots: joints, types, ranges and the source of their numbers."""
    from bddtorque.cli.robot_listing import print_robots

    print_robots(output(), as_json)

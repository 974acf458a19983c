"""``bddtorque lint``: what looks wrong in the numbers of a robot."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bddtorque.cli import options as opt
from bddtorque.cli.console import show, write_json
from bddtorque.cli.options import JsonOption

READERS = (
    "base", "tip", "lock", "snap", "gravity", "ignore_friction", "allow_massless", "allow_unphysical", "xacro_args",
)  # fmt: skip


@opt.takes(chosen={name: option for name, option in opt.CHOICES.items() if name in READERS})
def lint_command(
    robot: Annotated[
        str,
        typer.Argument(
            metavar="ROBOT", show_default=False, help="A built-in name, or a .toml, .urdf, .xacro, .xml file."
        ),
    ],
    as_json: JsonOption = False,
    *,
    chosen: dict[str, Any],
) -> None:
    """Look for numbers of a robot that are wrong or unintended: inertias, units, limits, dust.

    Exit code 1 if anything is found.
    """
    from bddtorque.dynamics.robot_lint import lint, summary

    findings = lint(robot, **{name: value for name, value in chosen.items() if value is not None})
    if as_json:
        write_json({"robot": robot, "findings": [finding.to_plain() for finding in findings]})
    else:
        for finding in findings:
            show(f"{finding.kind}: {finding}")
        show(summary(findings))
    if findings:
        raise typer.Exit(1)

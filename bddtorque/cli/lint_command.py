"""``bddtorque lint``: what looks wrong in the numbers of a robot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bddtorque.cli import options as opt
from bddtorque.cli.console import for_shell, show, write_json
from bddtorque.cli.options import JsonOption

READERS = (
    "base", "tip", "lock", "snap", "gravity", "ignore_friction", "allow_massless", "allow_unphysical", "xacro_args",
)  # fmt: skip


@opt.takes(chosen=opt.CHOICES.only(READERS))
def lint_command(
    robot: Annotated[
        str,
        typer.Argument(
            metavar="ROBOT", show_default=False, help="A built-in name, or a .toml, .urdf, .xacro, .xml file."
        ),
    ],
    fix: Annotated[
        Path | None,
        typer.Option("--fix", metavar="FILE", help="Write a URDF file with the nearest inertias that bodies can have."),
    ] = None,
    as_json: JsonOption = False,
    *,
    chosen: dict[str, Any],
) -> None:
    """Find numbers of a robot that look wrong or unintended: inertias, units, limits, dust. Ends with a compile line.

    Exit code 1 if anything is found that is not merely ignored.

    Example: bddtorque lint arm.urdf

    Example: bddtorque lint arm.xml --tip hand --json
    """
    from bddtorque.cli.compile_line import compile_line
    from bddtorque.dynamics.robot_lint import lint, summary

    opt.check_outputs({"--fix": fix}, [robot])
    given = {name: value for name, value in chosen.items() if value is not None}
    findings = lint(robot, **given)
    line = None if any(finding.kind == "refused" for finding in findings) else compile_line(robot, given)
    changed = None if fix is None else _write_fixed(robot, chosen["xacro_args"], fix)
    if as_json:
        fixed = {} if changed is None else {"fixed": {"file": str(fix), "links": changed}}
        write_json({"robot": robot, "findings": [finding.to_plain() for finding in findings], "compile": line, **fixed})
    else:
        for finding in findings:
            show(for_shell(f"{finding.kind}: {finding}"))
        show(summary(findings))
        show(f"compile: {line}" if line else "compile refuses it until what is refused here is put right")
        if changed is not None:
            which = f" of {', '.join(changed)}" if changed else ""
            show(f"wrote {fix} with {len(changed)} {'inertia' if len(changed) == 1 else 'inertias'} changed{which}")
    if any(finding.kind != "ignored" for finding in findings):
        raise typer.Exit(1)


def _write_fixed(robot: str, xacro_args: dict[str, str] | None, fix: Path) -> list[str]:
    """Write a robot with physical inertias; return the links that were changed."""
    from bddtorque.base.files import write_whole
    from bddtorque.dynamics.inertia_fix import with_physical_inertias

    data, changed = with_physical_inertias(robot, xacro_args)
    write_whole(fix, data)
    return changed

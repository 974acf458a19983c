"""``bddtorque lint``: what looks wrong in the numbers of a robot."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bddtorque.cli import options as opt
from bddtorque.cli.console import for_shell, show, write_json
from bddtorque.cli.options import JsonOption

if TYPE_CHECKING:
    from bddtorque.robots.parts import Joint

READERS = (
    "base", "tip", "lock", "snap", "gravity", "ignore_friction", "allow_massless", "allow_unphysical", "xacro_args",
)  # fmt: skip
BITS = 12
STAND_INS = {"velocity": {True: "2", False: "0.5"}, "position": {True: "-180 deg:180 deg", False: "-0.5:0.5"}}
"""Ranges where a file has none that can be meant, by whether the joint turns: to be put right by the user."""
MANY_JOINTS = 7
"""With more, tables take long; machine integers do not."""


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


def compile_line(robot: str, given: Mapping[str, Any]) -> str | None:
    """Return a line for a shell, or None where reading the robot is refused whatever the options are."""
    from bddtorque.dynamics.robot_lint import loaded_leniently

    loaded, options, _ = loaded_leniently(robot, dict(given))  # type: ignore[arg-type]
    if loaded is None:
        return None
    words = ["bddtorque", "compile", robot, "--bits", str(BITS)]
    for name, value in options.items():
        words += _option("--xacro-arg" if name == "xacro_args" else f"--{name.replace('_', '-')}", value)
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

"""``bddtorque info``: what is in a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bddtorque.cli.console import grid, show, write_json
from bddtorque.cli.options import FileArgument, JsonOption

if TYPE_CHECKING:
    from bddtorque.model.model import Model


def info_command(
    file: FileArgument,
    levels: Annotated[bool, typer.Option("--levels", help="Show the nodes of every level and the rails.")] = False,
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            metavar="SIZE",
            help="Choose the forms of the blocks within this size (64 KiB, ...) instead of the spec's.",
        ),
    ] = None,
    robot: Annotated[
        bool, typer.Option("--robot", help="Show every parameter of the robot in the file instead.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a compiled model: summary, words, certificate, and its blocks one by one.

    Example: bddtorque info planar2r.bdt --levels
    """
    from rich.filesize import decimal

    from bddtorque.base.measures import parse_size
    from bddtorque.cli import tables as say
    from bddtorque.model.applicability import require
    from bddtorque.model.model import load
    from bddtorque.robots.robot_data import robot_to_plain

    model = load(file)
    if robot:
        require(model, "parameters of the robot", str(file))
        plain = robot_to_plain(model.robot)
        if as_json:
            write_json({"file": str(file), "robot": plain})
        else:
            show(f"robot in {file}, in kg, m, rad, s and N\n\n" + "\n".join(_robot_lines(plain)))
        return
    known = {"file": str(file), "file_bytes": file.stat().st_size, **model.summary()}
    known["diagram_digest"] = model.diagram_digest
    budget = None if memory is None else parse_size(memory, "--memory")
    choices = say.chosen_forms(model, budget)
    constant, why = say.constant_sequence(model, choices)
    blocks = say.block_figures(model)
    ranges = model.certificate.ranges
    if as_json:
        write_json(
            {
                **known,
                **({"ranges": [each.to_plain() for each in ranges]} if ranges else {}),
                "constant_sequence": {"constant": constant, "why": why},
                "chosen_forms": say.choice_figures(choices),
                **_origin(model),
                "words": model.formats.to_plain(),
                "certificate": model.certificate.to_plain(),
                "block_list": blocks,
            }
        )
        return
    lines = [
        *say.model_lines(model),
        (
            "constant",
            f"{'yes, the same' if constant else 'no, not the same'} integer operations for every state: {why}",
        ),
        ("file", f"{file}, {decimal(file.stat().st_size)}"),
        ("digest", model.digest),
        *((("of diagrams", model.diagram_digest),) if model.diagrams else ()),
    ]
    show(grid(lines))
    parts: list[Any] = [say.block_table(blocks), say.choice_table(choices), say.bytes_table(blocks)] if blocks else []
    if levels and blocks:
        parts.append(say.level_table(blocks))
    # what people look for comes last: it stays on the screen
    parts += [say.word_table(model), str(model.certificate)]
    parts += [say.range_table(ranges)] if ranges else []
    for part in parts:
        show()
        show(part)


def _origin(model: Model) -> dict[str, Any]:
    """Return where a model comes from: a robot and its spec, or the rules of a function."""
    from bddtorque.robots.robot_data import robot_to_plain

    known = model.provenance
    if known.robot is None or known.spec is None:
        return {"rules": known.rules}
    return {"robot": robot_to_plain(known.robot), "spec": known.spec.to_plain()}


def _robot_lines(plain: dict[str, Any], margin: str = "") -> list[str]:
    """Return one line for each parameter of a robot, with all digits; joints and links are indented."""
    lines = []
    for name, value in plain.items():
        parts = value if isinstance(value, list) and value and isinstance(value[0], dict) else [value]
        for number, part in enumerate(parts, 1):
            if isinstance(part, dict):
                title = f"{name.removesuffix('s')} {number}" if isinstance(value, list) else name
                lines += [f"{margin}{title}", *_robot_lines(part, f"{margin}  ")]
            else:
                lines.append(f"{margin}{name:{23 - len(margin)}} {json.dumps(part, ensure_ascii=False)}")
    return lines

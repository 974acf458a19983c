"""``bddtorque info``: what is in a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bddtorque.cli.console import ShownTable, show, write_json
from bddtorque.cli.options import FileArgument, JsonOption

if TYPE_CHECKING:
    from bddtorque.model.model import Model


def info_command(
    file: FileArgument,
    levels: Annotated[bool, typer.Option("--levels", help="Show the nodes of every level, rails, and forms.")] = False,
    robot: Annotated[
        bool, typer.Option("--robot", help="Show every parameter of the robot in the file instead.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a compiled model: summary, words, certificate, and its blocks one by one.

    Example: bddtorque info planar2r.bdt --levels
    """
    from rich.filesize import decimal

    from bddtorque.bench.target_costs import target_costs
    from bddtorque.cli import tables
    from bddtorque.model.applicability import require
    from bddtorque.model.model import load
    from bddtorque.report import model_tables as rows
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
    choices, blocks, ranges = tables.chosen_forms(model), rows.block_figures(model), model.certificate.ranges
    if as_json or levels:
        for block, table, diagram in zip(blocks, model.tables, model.diagrams, strict=True):
            block["bytes"] = tables.form_bytes(table, diagram)
    constant, why = tables.constant_sequence(model, choices)
    costs = target_costs(model)
    if as_json:
        write_json(
            {
                "file": str(file),
                "file_bytes": file.stat().st_size,
                **model.summary(),
                "diagram_digest": model.diagram_digest,
                **({"ranges": [each.to_plain() for each in ranges]} if ranges else {}),
                "constant_sequence": {"constant": constant, "why": why},
                "chosen_forms": tables.choice_figures(choices),
                **_origin(model),
                "words": model.formats.to_plain(),
                "certificate": model.certificate.to_plain(),
                "targets": [cost.to_plain() for cost in costs],
                "block_list": blocks,
            }
        )
        return
    same = "yes, the same" if constant else "no, not the same"
    shown: list[Any] = [
        [
            *tables.model_lines(model),
            ("constant", f"{same} integer operations for every state: {why}"),
            ("file", f"{file}, {decimal(file.stat().st_size)}"),
            ("digest", model.digest),
            *([("of diagrams", model.diagram_digest)] if model.diagrams else []),
        ]
    ]
    shown += [ShownTable("Blocks", rows.BLOCK_HEADS, rows.block_rows(blocks))] if blocks else []
    shown += [tables.level_table(blocks), tables.form_table(blocks, choices)] if levels and blocks else []
    shown.append(ShownTable(rows.COSTS, rows.COST_HEADS, rows.cost_rows(costs)))
    # what people look for comes last: it stays on the screen
    shown += [ShownTable(rows.WORDS, rows.WORD_HEADS, rows.word_rows(model)), tables.certificate(model)]
    shown += [tables.range_table(ranges)] if ranges else []
    for place, part in enumerate(shown):
        if place:
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

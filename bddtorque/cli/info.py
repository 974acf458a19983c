"""``bddtorque info``: what is in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bddtorque.cli.console import output, write_json
from bddtorque.cli.options import JsonOption


def info_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A compiled model, .bdt.", show_default=False)],
    levels: Annotated[bool, typer.Option("--levels", help="Show the nodes of every level and the rails.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a compiled model: summary, words, certificate, and its blocks one by one."""
    from rich.filesize import decimal  # noqa: PLC0415

    from bddtorque.artefact import load  # noqa: PLC0415
    from bddtorque.cli import describing as say  # noqa: PLC0415

    model = load(file)
    constant, why = say.constant_sequence(model)
    blocks = say.block_figures(model)
    if as_json:
        write_json(
            {
                "file": str(file),
                "file_bytes": file.stat().st_size,
                **model.summary(),
                "diagram_digest": model.diagram_digest,
                "constant_sequence": {"constant": constant, "why": why},
                "spec": model.spec.to_plain(),
                "formats": model.formats.to_plain(),
                "certificate": model.certificate.to_plain(),
                "block_list": blocks,
            }
        )
        return
    console = output()
    lines = [
        *say.model_lines(model),
        (
            "constant",
            f"{'yes, the same' if constant else 'no, not the same'} integer operations for every state: {why}",
        ),
        ("file", f"{file}, {decimal(file.stat().st_size)}"),
        ("digest", model.digest),
        ("of diagrams", model.diagram_digest),
    ]
    console.print(say.grid(lines))
    for shown in (say.format_table(model), str(model.certificate), say.block_table(blocks), say.bytes_table(blocks)):
        console.print()
        console.print(shown, soft_wrap=isinstance(shown, str))
    if levels:
        console.print()
        console.print(say.level_table(blocks))

"""``bddtorque report``: a compiled model as one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bddtorque.base.errors import BddTorqueError, one_line
from bddtorque.cli.console import say, show, write_json
from bddtorque.cli.options import FileArgument, JsonOption, check_outputs, is_compiled
from bddtorque.cli.progress import ShownProgress

if TYPE_CHECKING:
    from bddtorque.model.model import Model
    from bddtorque.report import Report


def report_command(
    file: FileArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="The page to write; default: FILE's name with .html, in this folder."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write one page about a compiled model that needs no network.

    Every input has a slider, and an arm moves with them. The page computes the output words as compiled and shows them
    beside true values and bounds, with maps and curves of value, margin and error. Cost, plan and diagrams follow.
    Exit code 1 if an error above the proved bound is found.

    Example: bddtorque report planar2r.bdt -o planar2r.html
    """
    path = out or Path(f"{file.stem}.html")
    check_outputs({"-o": path}, [file])
    if is_compiled(str(path)):
        raise BddTorqueError(f"-o must name a page such as {path.stem}.html, but .bdt is for models: {path}")
    from bddtorque.model.model import load
    from bddtorque.report import write_report

    model = load(file)
    with ShownProgress("report", {"report": 1.0}) as progress:
        report = write_report(model, path, progress=progress)
    if as_json:
        write_json(
            {
                "file": str(file),
                "page": str(path),
                "digest": model.digest,
                **report.to_plain(),
                "bound": list(model.certificate.bounds),
            }
        )
    else:
        show(report_lines(model, report, path))
    exceeding = [
        output.name
        for output, found in zip(model.certificate.outputs, report.largest_found, strict=False)
        if found > output.bound
    ]
    if exceeding:  # as sweep does: more was found than proved
        say(one_line(f"{file}: errors beyond the proved bound were found for {', '.join(exceeding)}"))
        raise typer.Exit(1)


def report_lines(model: Model, report: Report, path: Path) -> list[tuple[str, str]]:
    """Return what was written, name by name."""
    from bddtorque.base.shown_text import counted

    live = (
        f"computed in the page from {counted(len(model.tables), 'tables')}, {report.table_bytes:,} bytes"
        if report.live
        else "left out: the tables are too large for a page"
    )
    robot = model.provenance.robot
    size = counted(len(model.formats.words), "inputs") if robot is None else counted(robot.degrees_of_freedom, "joints")
    found = (
        f"at most {max(report.largest_found):.3f} units on {counted(report.states, 'states')}"
        if report.states
        else "not compared: only the function itself knows its values"
    )
    return [
        (model.provenance.kind, f"{model.provenance.title}, {size}"),
        ("values", live),
        ("errors", found),
        ("bound", f"{max(model.certificate.bounds):.4f} units of the last bit at most"),
        ("page", f"{path}, {report.bytes:,} bytes; open it in a browser"),
    ]

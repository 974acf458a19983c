"""``bddtorque terms``: the terms of an arm one by one, and what a compiled model spends on each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bddtorque.base.errors import BddTorqueError, nearest
from bddtorque.base.record import OptionRecord, option
from bddtorque.cli import options as opt
from bddtorque.cli.compile_command import check_source
from bddtorque.cli.console import ShownTable, show, write_json
from bddtorque.cli.progress import ShownProgress

if TYPE_CHECKING:
    from bddtorque.report.term_facts import ModelTerm, RobotTerm

MAX_DRAWN = 400
"""Nodes in one picture."""
KIND_NAMES = {"coriolis": "Coriolis"}


@dataclass(frozen=True, kw_only=True)
class TermOptions(OptionRecord):
    """The term to show, and the part of its diagram to draw."""

    term: str | None = option(None, "NAME", "Show only this term: J12, C1_22, G1, ...")
    svg: Path | None = option(None, "FILE", "Draw the diagram of the --term of a compiled model.")
    bit: int | None = option(None, "N", "Draw only this output bit (0 is the least significant), not all that fit.")


@opt.takes(chosen=opt.TORQUE_CHOICES)
def terms_command(
    file: Annotated[
        str, typer.Argument(metavar="ROBOT|FILE", show_default=False, help="What `compile` takes, or a compiled .bdt.")
    ],
    options: TermOptions,
    as_json: opt.JsonOption = False,
    *,
    chosen: dict[str, Any],
) -> None:
    """List every inertial, Coriolis, centripetal and gravity term.

    Of a robot or a specification: kind, input words and range. Of a model compiled from source terms also the share of
    the error, tables, rows, nodes per output bit and levels of the diagrams.

    Example: bddtorque terms ur5 --bits 12

    Example: bddtorque terms planar2r.bdt --term J12 --svg j12.svg
    """
    term, svg, bit = options.term, options.svg, options.bit
    if not opt.is_compiled(file):
        check_source(file)
        if svg is not None:
            raise BddTorqueError("--svg draws the diagram of a compiled model: compile the robot first")
    elif svg is not None and term is None:
        raise BddTorqueError("--svg draws one term: say which with --term")
    if bit is not None and svg is None:
        raise BddTorqueError("--bit says which bit --svg draws: give --svg FILE too")
    opt.check_outputs({"--svg": svg}, [file])
    with ShownProgress(f"terms of {file}"):
        terms = _compiled_terms(file, chosen) if opt.is_compiled(file) else _terms(file, chosen)
    shown: list[RobotTerm] | list[ModelTerm] = terms
    if term is not None:
        shown = [each for each in terms if each.name == term]  # type: ignore[assignment]
        if not shown:
            near = nearest(term, [each.name for each in terms]) or "; leave out --term to list them"
            raise BddTorqueError(f"--term {term!r:.40} is not among the {len(terms)} terms of {file}{near}")
    if svg is not None:
        _draw(shown[0], bit, svg)  # type: ignore[arg-type]
    if as_json:
        write_json({"source": file, "terms": [each.to_plain() for each in shown]})
        return
    show(_table(shown))
    if any(hasattr(each, "blocks") for each in shown):
        show()
        show(_diagram_table(shown))  # type: ignore[arg-type]
    zero = [each.name for each in shown if each.low == each.high == 0]
    if zero:
        show(f"always 0, since the term never reaches half a unit of its word: {', '.join(zero)}")
    if svg is not None:
        show(f"written: {svg}")


def _terms(file: str, chosen: dict[str, Any]) -> list[RobotTerm]:
    from bddtorque.compiler.robot_draft import draft_of_robot, quantity_words
    from bddtorque.report.term_facts import robot_terms
    from bddtorque.spec.spec_files import spec_and_robot

    spec, robot, _ = spec_and_robot(file, chosen)
    if spec.accuracy == "paper":  # its rule gives the inputs their bits
        return robot_terms(robot, draft_of_robot(spec, robot).formats)
    return robot_terms(robot, quantity_words(spec, robot)[1])


def _compiled_terms(file: str, chosen: dict[str, Any]) -> list[ModelTerm]:
    from bddtorque.model.model import load
    from bddtorque.report.term_facts import model_terms

    opt.refuse_choices(file, chosen)
    return model_terms(load(file), file)


def _table(terms: list[RobotTerm] | list[ModelTerm]) -> ShownTable:
    """Return the terms, one per row."""
    from bddtorque.report.term_facts import RobotTerm

    rows = []
    for term in terms:
        words = ", ".join(f"{name}:{bits}" for name, bits in term.inputs.items()) or "none"
        kind = "+".join(KIND_NAMES.get(name, name) for name in term.kind.split("+"))
        row = [term.name, kind, words, f"{term.low:.4g} to {term.high:.4g} {term.unit}"]
        if isinstance(term, RobotTerm):
            row.append(str(term.harmonics or "law"))
        else:
            tables = " ".join(f"b{block.block}" for block in term.blocks) or "none"
            row += [f"{term.error:.3f} ({term.share:.0%})", tables, f"{sum(block.rows for block in term.blocks):,}"]
        rows.append(row)
    compiled = bool(terms) and not isinstance(terms[0], RobotTerm)
    last = [">error", ">tables", ">rows"] if compiled else [">harmonics"]
    return ShownTable("Terms", ["term", "kind", "input words", ">range", *last], rows)


def _diagram_table(terms: list[ModelTerm]) -> ShownTable:
    """Return the diagrams that the terms read, one per row: terms share them."""
    diagrams = {block.block: block.diagram for term in terms for block in term.blocks}
    rows = [
        (f"b{block}", str(diagram.depth), " ".join(map(str, reversed(diagram.bit_nodes))))
        for block, diagram in sorted(diagrams.items())
    ]
    columns = ["table", ">levels", "nodes per output bit, most significant first"]
    return ShownTable("Diagrams of the tables", columns, rows)


def _draw(term: ModelTerm, bit: int | None, path: Path) -> None:
    """Draw the diagram of a term's last table."""
    from bddtorque.base.files import write_whole
    from bddtorque.report.diagram_picture import bit_part, diagram_picture, drawable_part
    from bddtorque.report.page import DIAGRAM_NOTES, standalone_svg

    if not term.blocks:
        raise BddTorqueError(f"term {term.name} has no table to draw: it is an input word times a constant")
    block = term.blocks[-1]
    diagram = block.diagram
    if bit is not None and not 0 <= bit < diagram.output_bits:
        raise BddTorqueError(f"--bit must be between 0 and {diagram.output_bits - 1}, got {bit}")
    part = drawable_part(diagram, MAX_DRAWN) if bit is None else bit_part(diagram, bit, MAX_DRAWN)
    bits, _ = part
    if not bits:
        wanted = diagram.output_bits - 1 if bit is None else bit
        raise BddTorqueError(
            f"bit {wanted} of term {term.name} needs {diagram.bit_nodes[wanted]:,} nodes, and at most {MAX_DRAWN} are "
            "drawn: draw another --bit, or compile with fewer bits"
        )
    heading = f"{term.name}, table b{block.block}: {'bits' if len(bits) > 1 else 'bit'} {', '.join(map(str, bits))}"
    picture = diagram_picture(diagram, part, block.input_bits, f"The diagram of {heading}", block.words)
    write_whole(path, standalone_svg(picture, heading, DIAGRAM_NOTES))

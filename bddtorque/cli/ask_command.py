"""``bddtorque ask``: exact questions to a compiled model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bddtorque.base.errors import BddTorqueError
from bddtorque.cli.answer_rows import answer_row
from bddtorque.cli.console import plain_table, say, show, write_json
from bddtorque.cli.options import JsonOption
from bddtorque.cli.progress import ShownProgress

if TYPE_CHECKING:
    from bddtorque.questions import Answer

INTERRUPTED = 130
MAX_WORK = 1e9
MAX_LIMIT = 7 * 86_400.0


def ask_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A compiled model, .bdt.", show_default=False)],
    of: Annotated[
        list[str] | None,
        typer.Option(
            "--of",
            metavar="NAME",
            help="What to ask about (may be repeated): an output (tau1, or the joint), a term (J12, G1), a word "
            "(w15) or a block (b3). Default: all outputs.",
        ),
    ] = None,
    largest: Annotated[bool, typer.Option("--largest", help="The largest value, and a state that has it.")] = False,
    smallest: Annotated[bool, typer.Option("--smallest", help="The smallest value, and a state that has it.")] = False,
    saturation: Annotated[bool, typer.Option("--saturation", help="How many states saturate.")] = False,
    at_least: Annotated[
        float | None, typer.Option("--at-least", metavar="X", help="How many states give X or more, in its unit.")
    ] = None,
    at_most: Annotated[
        float | None, typer.Option("--at-most", metavar="X", help="How many states give X or less, in its unit.")
    ] = None,
    error: Annotated[bool, typer.Option("--error", help="The largest error, and a state that has it.")] = False,
    symmetry: Annotated[bool, typer.Option("--symmetry", help="Whether it is odd, even, or constant.")] = False,
    support: Annotated[bool, typer.Option("--support", help="Which input bits matter.")] = False,
    equal: Annotated[
        Path | None, typer.Option("--equal", metavar="OTHER", help="Whether another .bdt gives the same words.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            metavar="CONDITION",
            help="Only states with these inputs (may be repeated): qd=0, q2=90deg, 'q[elbow]>=0', '-1<=qd1<=1'.",
        ),
    ] = None,
    within_limits: Annotated[
        bool, typer.Option("--within-limits", help="Only positions within the limits of their joints.")
    ] = False,
    work: Annotated[
        float, typer.Option("--work", metavar="N", help="Millions of steps for one answer; 100 take about a second.")
    ] = 3000.0,
    limit: Annotated[
        float | None,
        typer.Option("--limit", metavar="SECONDS", help="Time limit of one answer; it may then depend on the machine."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Answer exact questions: extremes, counts of states, largest errors, symmetry, equality.

    Every answer is labelled exact, or bracket: then both ends of it are proved. Without a question: the largest and the
    smallest value of every output, and how many states saturate it. Exit code 1 if --equal
    finds a difference, or if anything is found that the certificate excludes.
    """
    from bddtorque.base.workers import step
    from bddtorque.model.model import load
    from bddtorque.questions import Work
    from bddtorque.questions.asking import answers

    if not 0 < work <= MAX_WORK:
        raise BddTorqueError(f"--work must be above 0 and at most {MAX_WORK:g} million steps, got {work:g}")
    if limit is not None and not 0 < limit <= MAX_LIMIT:
        raise BddTorqueError(f"--limit must be above 0 and at most {MAX_LIMIT:g} seconds, got {limit:g}")
    model = load(file)
    asked = {
        "largest": largest,
        "smallest": smallest,
        "saturation": saturation,
        "at least": at_least,
        "at most": at_most,
        "error": error,
        "symmetry": symmetry,
        "support": support,
    }
    wanted = {name: value for name, value in asked.items() if value is not None and value is not False}
    other = None if equal is None else load(equal)
    with ShownProgress("ask") as progress:

        @contextmanager
        def scope(what: str, place: int, count: int) -> Iterator[Work]:
            progress.part(what, place, count)
            with step(progress, "", work):
                yield Work(work, limit, on_spend=lambda steps: progress.advance("", steps / 1e6, False))

        found, stopped = answers(model, list(of or ()), wanted, other, scope, list(where or ()), within_limits)
    if as_json:
        write_json({"file": str(file), "answers": [answer.to_plain() for answer in found]})
    else:
        _show(file, found)
    for answer in found:
        if answer.refutes:
            say(f"more than the certificate allows: {answer.of} of {model.name}: {answer.refutes}")
    if stopped:
        raise typer.Exit(INTERRUPTED)
    if any(answer.refutes for answer in found) or any(getattr(answer, "equal", True) is False for answer in found):
        raise typer.Exit(1)


def _show(file: Path, found: list[Answer]) -> None:
    conditions = next((answer.where for answer in found if answer.where), "")
    start = "" if conditions.startswith("within the limits") else "with "
    title = f"{file.name}: answers for every state {start + conditions if conditions else 'of its input words'}"
    table = plain_table(title, "|of", "question", "answer", "|", "how")
    states, last = [], ""
    for answer in found:
        row, state = answer_row(answer)
        table.add_row("" if answer.of == last else answer.of, *row)
        last = answer.of
        if state:
            shows = f"not {row[0][:-1]}" if row[0].endswith("?") else row[0]
            states.append(f"{answer.of} {shows}: at {state}")
    show(table)
    for line in states:  # too long for a column
        show(line)

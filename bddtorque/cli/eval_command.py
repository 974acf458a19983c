"""``bddtorque eval``: a compiled model at one state, or at a file of states."""

from __future__ import annotations

import contextlib
import csv
import io
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bddtorque.base.errors import BddTorqueError, refusals_in, unknown
from bddtorque.cli.console import say, write_json
from bddtorque.cli.options import JsonOption, check_outputs, read_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from bddtorque.cli.state_files import Piece
    from bddtorque.evaluate.evaluator import Evaluator
    from bddtorque.model.model import Model
    from bddtorque.words.interface import Interface

    Rows = npt.NDArray[Any]

STATE = typer.Option(metavar="NUMBERS", help="Separated by commas, one per joint; default: 0.")
MOTION = ("q", "qd", "qdd")
"""Arrays that have options of their own, and are 0 where nobody gives them."""


def eval_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A compiled model, .bdt.", show_default=False)],
    states: Annotated[
        Path | None,
        typer.Argument(
            metavar="STATES", help=".csv with a column per input word, such as q:JOINT; .npy (N, words); or -."
        ),
    ] = None,
    q: Annotated[str | None, STATE] = None,
    qd: Annotated[str | None, STATE] = None,
    qdd: Annotated[str | None, STATE] = None,
    given: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="NAME=NUMBERS", help="Any input by its name (may be repeated): x=0.5."),
    ] = None,
    words: Annotated[bool, typer.Option("--words", help="Inputs and outputs are integer words.")] = False,
    evaluator: Annotated[str, typer.Option(metavar="NAME", help="words (fast) or bits; the same results.")] = "words",
    on_range: Annotated[
        str,
        typer.Option("--on-range", metavar="WHAT", help="Values out of range: saturate (and count them), or raise."),
    ] = "saturate",
    out: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help=".csv or .npy; else CSV on standard output.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Evaluate a compiled model at a state, or at a file of states, as CSV: torques, another quantity, a function.

    Positions in rad or m, velocities and accelerations per s and s², torques in N·m or N; `info` shows all units.
    """
    typed = _typed({"q": q, "qd": qd, "qdd": qdd}, given or [])
    if (states is None) == (not typed):
        raise BddTorqueError("eval needs either a file of states or --q (and --qd, --qdd), or --input")
    if out is not None and as_json:
        raise BddTorqueError("-o and --json cannot be given together")
    if out is not None and out.suffix.lower() not in (".csv", ".npy"):
        raise BddTorqueError(f"-o must name a .csv or .npy file, got {str(out)!r}")
    check_outputs({"-o": out}, [file, states])
    from bddtorque.cli.state_files import column_names, read_states
    from bddtorque.model.model import load

    model = load(file)
    runner = model.evaluator(evaluator, on_range=on_range)  # type: ignore[arg-type]
    pieces = _single(model, typed, words) if states is None else read_states(states, model.formats, words)
    found, columns = _results(model.formats, runner, pieces, words), column_names(model.formats.outputs)
    if as_json:
        rows = [row for piece in found for row in piece.tolist()]
        units = ["word"] * len(columns) if words else [word.unit for word in model.formats.results.values()]
        outside = _outside(model.formats, runner)
        write_json({"outputs": columns, "units": units, "values": rows, "out_of_range": outside})
    elif out is not None and out.suffix.lower() == ".npy":
        _write_npy(out, found, len(columns), words)
    else:
        _write_csv(out, found, columns)
    _report(model.formats, runner)


def _typed(motion: Mapping[str, str | None], given: list[str]) -> dict[str, tuple[str, str]]:
    """Return the numbers that were typed, by the name of their array, each with the option that gave them."""
    typed = {name: (f"--{name}", text) for name, text in motion.items() if text is not None}
    for each in given:
        name, equals, text = each.partition("=")
        if not equals or not name.strip():
            raise BddTorqueError(f"--input must be NAME=NUMBERS, such as x=0.5 or payload=1,0,0,0, got {each!r:.60}")
        if name.strip() in typed:
            raise BddTorqueError(f"--input: '{name.strip():.40}' is given twice")
        typed[name.strip()] = (f"--input {name.strip()}", text)
    return typed


def _single(model: Model, typed: Mapping[str, tuple[str, str]], words: bool) -> Iterator[Piece]:
    """Give the state that was typed; what of q, qd and qdd is not given is 0."""
    import numpy as np

    known = [array.name for array in model.formats.inputs]
    for name, (option, _) in typed.items():
        if name not in known:
            takes = f"{model.provenance.what} takes {', '.join(known)}"
            raise BddTorqueError(f"{takes}: got {option}" if option == f"--{name}" else unknown("input", name, known))
    row: list[float] = []
    for array in model.formats.inputs:
        if array.name in typed:
            option, text = typed[array.name]
            row += read_numbers(text, option, len(array), words)
        elif array.name in MOTION:
            row += [0] * len(array)
        else:
            takes = f"{model.provenance.what} takes {', '.join(known)}"
            raise BddTorqueError(f"{takes}: --input {array.name}=... is missing")
    try:
        yield "state", np.array([row], dtype=np.int64 if words else np.float64)
    except OverflowError:
        raise BddTorqueError("a word of a state must fit into 64 bits") from None


def _results(formats: Interface, runner: Evaluator, pieces: Iterable[Piece], words: bool) -> Iterator[Rows]:
    """Give the outputs of the states piece by piece; errors say which rows they are about."""
    from bddtorque.cli.state_files import by_array

    for where, rows in pieces:
        arrays = by_array(formats, rows)
        shaped = {array.name: array.shaped(arrays[array.name]) for array in formats.inputs}
        with refusals_in(where):
            found = runner.output_words(**shaped) if words else runner.output_values(**shaped)
        if words and runner.on_range == "raise" and runner.out_of_range.any():
            raise BddTorqueError(f"{where}: words out of range: {_listed(_outside(formats, runner))}")
        yield found


def _write_csv(out: Path | None, found: Iterable[Rows], columns: Iterable[str]) -> None:
    from bddtorque.base.writing import whole_file

    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(columns)
    with contextlib.ExitStack() as stack:
        file = None if out is None else stack.enter_context(whole_file(out))
        text = header.getvalue()
        for piece in chain(found, [None]):  # the header is written with the first rows, or if there are none
            # repr of a float is the shortest text that reads back as the same float
            rows = [] if piece is None else piece.tolist()
            text += "".join(",".join(map(repr, row)) + "\n" for row in rows)
            sys.stdout.write(text) if file is None else file.write(text.encode())
            text = ""


def _write_npy(out: Path, found: Iterable[Rows], n: int, words: bool) -> None:
    import numpy as np

    from bddtorque.base.writing import whole_file

    everything = np.concatenate([np.empty((0, n), dtype=np.int64 if words else np.float64), *found])
    with whole_file(out) as file:
        np.save(file, everything, allow_pickle=False)


def _outside(formats: Interface, runner: Evaluator) -> dict[str, int]:
    """Return how many values were out of range, by column, where there were any."""
    from bddtorque.cli.state_files import column_names

    counts = zip(column_names(formats.inputs), runner.out_of_range.ravel(), strict=True)
    return {name: int(count) for name, count in counts if count}


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def _report(formats: Interface, runner: Evaluator) -> None:
    counts = _outside(formats, runner)
    if counts:
        turning = any(
            word.kind == "angle" and count
            for word, count in zip(formats.words.values(), runner.out_of_range.ravel().tolist(), strict=True)
        )
        say(f"out of range: {_listed(counts)}; {'angles wrap, others saturate' if turning else 'saturated'}")

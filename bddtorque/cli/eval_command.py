"""``bddtorque eval``: torques of one state, or of a file of states."""

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

from bddtorque.base.errors import BddTorqueError, refusals_in
from bddtorque.cli.console import say, write_json
from bddtorque.cli.options import JsonOption, check_outputs, read_numbers, robot_model

if TYPE_CHECKING:
    import numpy.typing as npt

    from bddtorque.cli.state_files import Piece
    from bddtorque.evaluate.evaluator import Evaluator
    from bddtorque.model.model import Model

    Torques = npt.NDArray[Any]

STATE = typer.Option(metavar="NUMBERS", help="Separated by commas, one per joint; default: 0.")


def eval_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A compiled model, .bdt.", show_default=False)],
    states: Annotated[
        Path | None,
        typer.Argument(metavar="STATES", help=".csv with columns q:JOINT, qd:JOINT, qdd:JOINT; .npy (N, 3n); or -."),
    ] = None,
    q: Annotated[str | None, STATE] = None,
    qd: Annotated[str | None, STATE] = None,
    qdd: Annotated[str | None, STATE] = None,
    words: Annotated[bool, typer.Option("--words", help="States and torques are integer words.")] = False,
    evaluator: Annotated[str, typer.Option(metavar="NAME", help="words (fast) or bits; the same torques.")] = "words",
    on_range: Annotated[
        str,
        typer.Option("--on-range", metavar="WHAT", help="Values out of range: saturate (and count them), or raise."),
    ] = "saturate",
    out: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help=".csv or .npy; else CSV on standard output.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Evaluate a compiled model: torques of a state, or of a file of states, as CSV.

    Positions in rad or m, velocities and accelerations per s and s², torques in N·m or N.
    """
    given = {"q": q, "qd": qd, "qdd": qdd}
    if (states is None) == (not any(given.values())):
        raise BddTorqueError("eval needs either a file of states or --q (and --qd, --qdd)")
    if out is not None and as_json:
        raise BddTorqueError("-o and --json cannot be given together")
    if out is not None and out.suffix.lower() not in (".csv", ".npy"):
        raise BddTorqueError(f"-o must name a .csv or .npy file, got {str(out)!r}")
    check_outputs({"-o": out}, [file, states])
    from bddtorque.cli.state_files import read_states

    model = robot_model(file, any_quantity=True)
    runner = model.evaluator(evaluator, on_range=on_range)  # type: ignore[arg-type]
    if model.named_arrays is not None:
        labels, found = _quantity(model, runner, states, given, words)
        if as_json:
            units = ["word"] * len(labels) if words else [word.unit for word in model.formats.results.values()]
            write_json({"outputs": labels, "units": units, "values": found.tolist()})
        elif out is not None and out.suffix.lower() == ".npy":
            _write_npy(out, [found], len(labels), words)
        else:
            _write_csv(out, [found], labels)
        return
    joints = model.formats.q.labels
    pieces = _single(given, len(joints), words) if states is None else read_states(states, joints, words)
    torques = _torques(runner, pieces, words)
    if as_json:
        rows = [row for each in torques for row in each.tolist()]
        units = ["word"] * len(joints) if words else [word.unit for word in model.formats.tau]
        write_json({"joints": list(joints), "units": units, "tau": rows, "out_of_range": _outside(runner)})
    elif out is not None and out.suffix.lower() == ".npy":
        _write_npy(out, torques, len(joints), words)
    else:
        _write_csv(out, torques, [f"tau:{joint}" for joint in joints])
    _report(model, runner)


def _quantity(
    model: Model, runner: Evaluator, states: Path | None, given: dict[str, str | None], words: bool
) -> tuple[list[str], Torques]:
    """Return the columns and rows of a quantity at one state, or at those of a file with columns ARRAY:WORD."""
    import numpy as np

    from bddtorque.cli.state_files import read_rows

    arrays, known = model.formats, [array.name for array in model.formats.inputs]
    columns = [f"{array.name}:{label}" for array in arrays.inputs for label in array.labels]
    if states is None:
        unused = [name for name, text in given.items() if text is not None and name not in known]
        missing = [name for name in known if given.get(name) is None]
        if unused or missing:
            wrong = f"got --{unused[0]}" if unused else f"--{missing[0]} is missing"
            if missing and missing[0] not in given:
                wrong = f"'{missing[0]}' can only be given in a file of states"
            raise BddTorqueError(f"{model.provenance.what} takes {', '.join(known)}: {wrong}")
        row = [
            number
            for name in known
            for number in read_numbers(str(given[name]), f"--{name}", len(arrays[name]), words)
        ]  # fmt: skip
        rows = np.array([row], dtype=np.int64 if words else np.float64)
    else:
        rows = read_rows(states, columns, words)
    ends = np.cumsum([0, *(len(array) for array in arrays.inputs)])
    named = {name: rows[:, ends[k] : ends[k + 1]] for k, name in enumerate(known)}
    found = runner.output_words(**named) if words else runner.output_values(**named)
    outside = {name: int(count) for name, count in zip(columns, runner.out_of_range.ravel(), strict=True) if count}
    if outside:
        say(f"out of range: {_listed(outside)}; angles wrap, others saturate")
    return [f"{array.name}:{label}" for array in arrays.outputs for label in array.labels], found


def _single(given: dict[str, str | None], n: int, words: bool) -> Iterator[Piece]:
    import numpy as np

    row: list[float] = []
    for name, text in given.items():
        row += [0] * n if text is None else read_numbers(text, f"--{name}", n, words)
    try:
        yield "state", np.array([row], dtype=np.int64 if words else np.float64)
    except OverflowError:
        raise BddTorqueError("a word of a state must fit into 64 bits") from None


def _torques(runner: Evaluator, pieces: Iterable[Piece], words: bool) -> Iterator[Torques]:
    """Give the torques of the states piece by piece; errors say which rows they are about."""
    n = len(runner.model.formats.q)
    for where, rows in pieces:
        state = rows[:, :n], rows[:, n : 2 * n], rows[:, 2 * n :]
        with refusals_in(where):
            torques = runner.torque_words(*state) if words else runner.torque(*state)
        if words and runner.on_range == "raise" and runner.out_of_range.any():
            raise BddTorqueError(f"{where}: words out of range: {_listed(_outside(runner))}")
        yield torques


def _write_csv(out: Path | None, torques: Iterable[Torques], columns: Iterable[str]) -> None:
    from bddtorque.base.writing import whole_file

    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(columns)
    with contextlib.ExitStack() as stack:
        file = None if out is None else stack.enter_context(whole_file(out))
        text = header.getvalue()
        for piece in chain(torques, [None]):  # the header is written with the first torques, or if there are none
            # repr of a float is the shortest text that reads back as the same float
            rows = [] if piece is None else piece.tolist()
            text += "".join(",".join(map(repr, row)) + "\n" for row in rows)
            sys.stdout.write(text) if file is None else file.write(text.encode())
            text = ""


def _write_npy(out: Path, torques: Iterable[Torques], n: int, words: bool) -> None:
    import numpy as np

    from bddtorque.base.writing import whole_file

    everything = np.concatenate([np.empty((0, n), dtype=np.int64 if words else np.float64), *torques])
    with whole_file(out) as file:
        np.save(file, everything, allow_pickle=False)


def _outside(runner: Evaluator) -> dict[str, int]:
    """Return how many values were out of range, by column, where there were any."""
    from bddtorque.cli.state_files import column_names

    names = column_names(runner.model.formats.q.labels)
    return {name: int(count) for name, count in zip(names, runner.out_of_range.ravel(), strict=True) if count}


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def _report(model: Model, runner: Evaluator) -> None:
    counts = _outside(runner)
    if counts:
        wrapped = [name for name in counts if name.startswith("q:")]
        angles = any(word.kind == "angle" for word in model.formats.q)
        rule = "; positions that turn wrap, others saturate" if wrapped and angles else "; saturated"
        say(f"out of range: {_listed(counts)}{rule}")

"""``bddtorque eval``: a compiled model at one state, or at a file of states.

A file of states is CSV with a column ``ARRAY:WORD`` per input word (``q:elbow``; a number: ``x``), or npy (N, words).
It is read in pieces, so that one of any length takes the memory of one piece.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from bddtorque.base.csv_rows import cell_number, check_width, csv_rows
from bddtorque.base.errors import BddTorqueError, nearest, one_line, refusals_in, unknown
from bddtorque.base.files import note_read, opened, reason
from bddtorque.base.record import OptionRecord, option
from bddtorque.cli import options as opt
from bddtorque.cli.console import say, write_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from bddtorque.evaluate.evaluator import Evaluator
    from bddtorque.model.model import Model
    from bddtorque.words.interface import Interface, WordArray

    Rows = npt.NDArray[Any]

MOTION = ("q", "qd", "qdd")
"""Arrays that have options of their own, and are 0 where nobody gives them."""
PIECE = 1 << 16
"""States read at a time."""
MAX_HEADER = 10_000
"""Bytes of the header of an npy file; an ordinary one has 118."""
MAX_WORD = 2**63 - 1
STATE = "Separated by commas, one per joint; default: 0."

Piece = tuple[str, "Rows"]
"""Where the rows come from, for messages, and the rows, (N, input words)."""


@dataclass(frozen=True, kw_only=True)
class EvalOptions(OptionRecord):
    """The state that is typed, and how states are evaluated and written."""

    q: str | None = option(None, "NUMBERS", STATE)
    qd: str | None = option(None, "NUMBERS", STATE)
    qdd: str | None = option(None, "NUMBERS", STATE)
    input: tuple[str, ...] = option((), "NAME=NUMBERS", "Any input by its name (may be repeated): x=0.5.")
    words: bool = option(False, None, "Inputs and outputs are integer words.")
    evaluator: str = option("words", "NAME", "words (fast) or bits; the same results.")
    on_range: str = option("saturate", "WHAT", "Values out of range: saturate (and count them), or raise.")
    output: Path | None = option(None, "FILE", ".csv or .npy; else CSV on standard output.", "-o", "--output")


def eval_command(
    file: opt.FileArgument,
    options: EvalOptions,
    states: Annotated[
        Path | None,
        typer.Argument(
            metavar="STATES", help=".csv with a column per input word, such as q:JOINT; .npy (N, words); or -."
        ),
    ] = None,
    as_json: opt.JsonOption = False,
) -> None:
    """Evaluate a compiled model at a state, or at a file of states, as CSV: torques, another quantity, a function.

    Positions in rad or m, velocities and accelerations per s and s², torques in N·m or N; `info` shows all units.

    Example: bddtorque eval planar2r.bdt --q 0.3,-1.2 --qd 0.5,0 --qdd 0,0.1

    Example: bddtorque eval planar2r.bdt states.csv -o torques.csv
    """
    words, out = options.words, options.output
    typed = _typed({name: getattr(options, name) for name in MOTION}, options.input)
    if (states is None) == (not typed):
        raise BddTorqueError("eval needs either a file of states or --q (and --qd, --qdd), or --input")
    if out is not None and as_json:
        raise BddTorqueError("-o and --json cannot be given together")
    if out is not None and out.suffix.lower() not in (".csv", ".npy"):
        raise BddTorqueError(f"-o must name a .csv or .npy file, got {str(out)!r}")
    opt.check_outputs({"-o": out}, [file, states])
    from bddtorque.model.model import load

    model = load(file)
    runner = model.evaluator(options.evaluator, on_range=options.on_range)  # type: ignore[arg-type]
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


def _typed(motion: Mapping[str, str | None], given: Sequence[str]) -> dict[str, tuple[str, str]]:
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
    for name, (flag, _) in typed.items():
        if name not in known:
            takes = f"{model.provenance.what} takes {', '.join(known)}"
            raise BddTorqueError(f"{takes}: got {flag}" if flag == f"--{name}" else unknown("input", name, known))
    row: list[float] = []
    for array in model.formats.inputs:
        if array.name in typed:
            flag, text = typed[array.name]
            row += opt.read_numbers(text, flag, len(array), words)
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
    for where, rows in pieces:
        arrays = by_array(formats, rows)
        shaped = {array.name: array.shaped(arrays[array.name]) for array in formats.inputs}
        with refusals_in(where):
            found = runner.output_words(**shaped) if words else runner.output_values(**shaped)
        if words and runner.on_range == "raise" and runner.out_of_range.any():
            raise BddTorqueError(f"{where}: words out of range: {_listed(_outside(formats, runner))}")
        yield found


def _write_csv(out: Path | None, found: Iterable[Rows], columns: Iterable[str]) -> None:
    from bddtorque.base.files import whole_file

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

    from bddtorque.base.files import whole_file

    everything = np.concatenate([np.empty((0, n), dtype=np.int64 if words else np.float64), *found])
    with whole_file(out) as file:
        np.save(file, everything, allow_pickle=False)


def _outside(formats: Interface, runner: Evaluator) -> dict[str, int]:
    """Return how many values were out of range, by column, where there were any."""
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


def column_names(arrays: Sequence[WordArray]) -> list[str]:
    """Return the columns of some arrays, in the order that an npy file has them: q:elbow; the name of a number."""
    return [f"{array.name}:{label}" if array.shape else array.name for array in arrays for label in array.labels]


def read_states(path: Path, formats: Interface, words: bool) -> Iterator[Piece]:
    """Give the states of a file piece by piece; ``-`` is CSV from standard input.

    `words`: the cells are integer words, else finite numbers.
    """
    columns = column_names(formats.inputs)
    if path.suffix.lower() == ".npy":
        return _from_npy(path, columns, f"the words of {', '.join(array.name for array in formats.inputs)}", words)
    if str(path) == "-" or path.suffix.lower() == ".csv":
        return _from_csv(path, columns, words)
    raise BddTorqueError(f"STATES must be a .csv or .npy file, or - for CSV on standard input, got {path}")


def by_array(formats: Interface, rows: Rows) -> dict[str, Rows]:
    """Return rows (N, input words) as arrays (N, words), by name."""
    import numpy as np

    ends = np.cumsum([len(array) for array in formats.inputs]).tolist()
    return {array.name: rows[:, end - len(array) : end] for array, end in zip(formats.inputs, ends, strict=True)}


def read_arrays(path: Path, formats: Interface) -> dict[str, Rows]:
    """Return all states of a file as arrays (N, words) of floats, by name."""
    import numpy as np

    read = [rows for _, rows in read_states(path, formats, words=False)]
    return by_array(formats, np.concatenate(read) if read else np.empty((0, len(formats.words))))


def _from_npy(path: Path, columns: list[str], about: str, words: bool) -> Iterator[Piece]:
    import numpy as np

    try:
        opened(path).close()  # a pipe would be waited for
        states = np.lib.format.open_memmap(path, mode="r", max_header_size=MAX_HEADER)
    except FileNotFoundError:
        raise BddTorqueError(f"{path}: there is no such file") from None
    except Exception as problem:  # the header is read as Python's text, which can fail in any way there is
        raise BddTorqueError(f"{path} must be an npy file of numbers, but cannot be read ({reason(problem)})") from None
    if states.ndim != 2 or states.shape[1] != len(columns):
        raise BddTorqueError(f"{path}: the shape must be (N, {len(columns)}), {about}, got {states.shape}")
    if states.dtype.kind not in ("iu" if words else "iuf"):
        raise BddTorqueError(f"{path} must hold {'integers' if words else 'real numbers'}, got {states.dtype}")
    for first in range(0, len(states), PIECE):
        rows = np.array(states[first : first + PIECE])
        if not words:
            rows = rows.astype(np.float64)
            bad = ~np.isfinite(rows)
            if bad.any():
                row, column = (int(place) for place in np.argwhere(bad)[0])
                raise BddTorqueError(
                    f"{path}: numbers must be finite, got {rows[row, column]} in row {first + row} (from 0), "
                    f"column {column} ({columns[column]})"
                )
        yield f"{path}, rows {first} to {first + len(rows) - 1}", rows


def _from_csv(path: Path, wanted: list[str], words: bool) -> Iterator[Piece]:
    import numpy as np

    name = "standard input" if str(path) == "-" else one_line(str(path))
    rows = csv_rows(_standard_input() if str(path) == "-" else path, name)
    last, cells = next(rows, (0, None))
    columns = _header(cells, wanted, name)
    order = [columns.index(column) for column in wanted]
    read = _word if words else cell_number
    while True:
        first, numbers = last + 1, []
        for last, row in islice(rows, PIECE):
            where = f"{name}, line {last}"
            check_width(row, columns, where)
            numbers.append([read(row[k], columns[k], where) for k in order])
        if not numbers:
            return
        yield f"{name}, lines {first} to {last}", np.array(numbers, dtype=np.int64 if words else np.float64)


def _standard_input() -> IO[str]:
    if sys.stdin is None:
        raise BddTorqueError("standard input is closed, but STATES is -: give a file, or pipe CSV into the command")
    with contextlib.suppress(OSError):  # what stands in its place in a program may have no descriptor
        note_read(sys.stdin.fileno(), "standard input")
    return sys.stdin


def _header(cells: list[str] | None, wanted: list[str], name: str) -> list[str]:
    """Return the columns of a file in its own order, after checking that each is there and is there once."""
    if cells is None:
        raise BddTorqueError(f"{name} is empty: the first line must name the columns {', '.join(wanted)}")
    columns = [cell.strip(" \t") for cell in cells]
    for column in columns:
        if column not in wanted:
            hint = nearest(column, wanted) or f" (columns: {', '.join(wanted)})"
            raise BddTorqueError(f"{name}, line 1: unknown column {column!r:.60}{hint}")
        if columns.count(column) > 1:
            raise BddTorqueError(f"{name}, line 1: column {column!r} occurs twice")
    missing = [column for column in wanted if column not in columns]
    if missing:
        raise BddTorqueError(f"{name}, line 1: missing columns {', '.join(missing)}")
    return columns


def _word(cell: str, column: str, where: str) -> int:
    text = cell.strip(" \t")
    # int also takes 1_000 and the digits of other scripts, which no file means
    if not re.fullmatch(r"[+-]?[0-9]{1,19}", text) or abs(int(text)) > MAX_WORD:
        raise BddTorqueError(f"{where}, column {column} must be an integer word, got {cell!r:.40}")
    return int(text)

"""Compile measured data: `compile_samples`, a table of the interpolant of samples."""

from __future__ import annotations

import time
from concurrent.futures import Executor
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.plain import choice, real
from bddtorque.base.sizes import parse_size
from bddtorque.base.workers import Workers
from bddtorque.compiler.compiling import finish_model
from bddtorque.compiler.function_draft import BLOCK_BITS, Request, check_bits, draft_of_law
from bddtorque.compiler.function_words import DEFAULT_BITS, RequestedWord, asked_inputs, asked_output, asked_word
from bddtorque.model.model import Model
from bddtorque.model.provenance import FUNCTION_MEMORY
from bddtorque.words.formats import Format
from bddtorque.words.samples import (
    DUPLICATES,
    EXTRAPOLATIONS,
    GAPS,
    MERGES,
    Samples,
    law_of,
    merged,
    read_samples,
)


def compile_samples(
    samples: Any,
    *,
    inputs: Any = None,
    output: Any = None,
    name: str | None = None,
    duplicates: str = "mean",
    spread: float | None = None,
    merge: str = "point",
    gaps: str = "linear",
    extrapolation: str = "refuse",
    assumed_error: float = 0.0,
    block_bits: int = BLOCK_BITS,
    memory: int | str = FUNCTION_MEMORY,
    engine: str = "auto",
    target: str = "tables",
    chip: str | None = None,
    executor: Executor | None = None,
) -> Model:
    """Compile measured samples of a function of one to four words, with a certificate.

    The certificate is relative to the interpolant of the samples. It reports separately how much samples of the same
    point differ, and the error of the samples that you assume.

    Parameters
    ----------
    samples
        A CSV file with a header, an array (N, inputs + 1), or a pair of arrays (N, inputs) and (N,).
    inputs
        Input words as in `compile_function`, by the names of the columns; by default 12 bits over the range of the
        samples.
    output
        The output word, likewise.
    name
        The name used in messages and files.
    duplicates
        Several samples at one point: ``"mean"`` averages them, ``"refuse"`` rejects them.
    spread
        Reject samples at one point that differ by more than this, in the unit of the output.
    merge
        Which samples belong to one point: those with equal arguments (``"point"``) or with equal input words
        (``"word"``).
    gaps
        Values between samples: ``"linear"`` interpolates on a full grid, ``"nearest"`` takes the nearest sample (the
        distance is measured in words), ``"refuse"`` demands a sample for every combination of input words.
    extrapolation
        Words beyond the outermost samples: ``"refuse"`` rejects them, ``"hold"`` keeps the last value. Angles wrap.
    assumed_error
        How far a sample may be off, in the unit of the output. It is added to the bound and listed as assumed.
    block_bits
        Most input bits of the table.
    memory
        Memory budget in bytes, or text such as ``"2 GiB"``.
    engine
        The decision-diagram engine, as in `compile`.
    target
        ``"tables"`` or ``"integer"``; both use one table.
    chip
        For the target ``"integer"``: the processor that the model is for, as in `Spec`.
    executor
        Any `concurrent.futures.Executor` that builds the table; by default it is built in this process.

    Returns
    -------
    Model
        The compiled function.

    Raises
    ------
    BddTorqueError
        The samples or options are wrong.
    """
    started = time.perf_counter()
    team = None if executor is None else Workers(executor=executor)
    for key, value, known in (
        ("duplicates", duplicates, DUPLICATES),
        ("merge", merge, MERGES),
        ("gaps", gaps, GAPS),
        ("extrapolation", extrapolation, EXTRAPOLATIONS),
    ):
        choice(value, known, f"samples, {key}")
    if spread is not None:
        real(spread, "samples, spread", low=0)
    words, out, read = _asked(samples, inputs, output)
    named = name or (Path(samples).stem if isinstance(samples, str | PathLike) else "samples")
    where = read.where
    ends = zip(read.points.min(axis=0).tolist(), read.points.max(axis=0).tolist(), strict=True)
    named_words = {each.name: each.format(*own) for each, own in zip(words, ends, strict=True)}
    request = Request(named, named_words, out, "faithful", assumed_error, block_bits, target, where, chip=chip)
    allowed = parse_size(memory, "memory")
    check_bits(request)
    names, formats = tuple(named_words), tuple(named_words.values())
    _check_used(read, formats, names, where)
    found = merged(read, formats, duplicates, merge, spread)
    law = law_of(found, formats, names, gaps, extrapolation, where)
    rules: dict[str, Any] = {
        "samples": len(read.values),
        "points": len(found.values),
        "duplicates": duplicates,
        "merge": merge,
        "gaps": gaps,
        "extrapolation": extrapolation,
    }
    if spread is not None:
        rules["spread"] = float(spread)
    notes = [f"{found.duplicates:,} of {len(read.values):,} samples averaged with others"] if found.duplicates else []
    draft = draft_of_law(law, replace(request, rules=rules, spread=found.spread), "samples")
    return finish_model(draft, team, started, notes, engine=engine, memory=allowed)


def _asked(samples: Any, inputs: Any, output: Any) -> tuple[tuple[RequestedWord, ...], RequestedWord, Samples]:
    """Return the words asked for, by the columns of the samples where nothing else is said, and the samples."""
    out = None if output is None else asked_output(output, "samples")
    if inputs is None:
        read = read_samples(samples)
        if out is not None and out.name not in ("y", read.names[-1]):
            raise BddTorqueError(
                f"{read.where}: without inputs the last column is the output, and '{out.name}' is not the last"
            )
        words = tuple(asked_word(name, DEFAULT_BITS, read.where) for name in read.names[:-1])
    else:
        words = asked_inputs(inputs, "samples")
        in_file = isinstance(samples, str | PathLike)
        if in_file and isinstance(inputs, dict) and (out is None or isinstance(output, dict)):
            names = [each.name for each in words]
            read = read_samples(samples, [*names, out.name if out else _last_column(samples, names)])
        else:
            read = read_samples(samples)
            if len(read.names) != len(words) + 1:
                raise BddTorqueError(
                    f"{read.where} must have {len(words)} columns of inputs and one of values, got {len(read.names)}"
                )
            if in_file:
                words = tuple(replace(each, name=name) for each, name in zip(words, read.names, strict=False))
    if out is None:
        out = asked_word(read.names[-1], DEFAULT_BITS, read.where)
    elif not isinstance(output, dict):
        out = replace(out, name=read.names[-1])
    return words, out, read


def _last_column(path: str | PathLike[str], names: list[str]) -> str:
    """Return the one column of a file that is none of the inputs."""
    read = read_samples(path)
    others = [column for column in read.names if column not in names]
    if len(others) != 1:
        raise BddTorqueError(
            f"{read.where}, line 1 must have one column besides {', '.join(names)}, got {', '.join(others) or 'none'}: "
            "output = {name: bits} says which"
        )
    return others[0]


def _check_used(samples: Samples, formats: tuple[Format, ...], names: tuple[str, ...], where: str) -> None:
    """Refuse samples of which none lies within the range of its words: they would say nothing."""
    for axis, word in enumerate(formats):
        low, high = word.span
        column = samples.points[:, axis]
        if word.kind == "range" and not ((column >= low - word.lsb) & (column <= high + word.lsb)).any():
            raise BddTorqueError(
                f"{where}: no sample of {names[axis]} is within {low:.6g} to {high:.6g}, they reach from "
                f"{column.min():.6g} to {column.max():.6g}"
            )

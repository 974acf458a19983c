"""Check a file from beginning to end, and say at each step what was found."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from os import PathLike
from typing import Any

import numpy as np

from .archive import LARGEST_FILE, entries_of
from .diagrams import table_key, table_of
from .effort import bounded_work
from .findings import Finding, RefusedError, one_line, require
from .float_plan import AnyPlan, float_plan_of
from .header import check_digests, header_of
from .model_proof import model_findings
from .plan import plan_of
from .reading import list_of
from .tables import Facts, check_table

MEMORY = 4 * 2**30
"""Bytes that the tables of a file may take."""


def check_file(path: str | PathLike[str], told: Callable[[Finding], None] | None = None) -> list[Finding]:
    """Check a file and return all findings; the last one has failed if the file is not proved.

    Parameters
    ----------
    path
        A .bdt file.
    told
        Called with every finding as soon as there is one.

    Returns
    -------
    list of Finding
        Each with `name`, `passed`, `detail` and `rows`.
    """
    try:
        data = _read(path)
    except (OSError, ValueError, MemoryError) as problem:
        said = getattr(problem, "strerror", None) or str(problem) or "not enough memory"
        if isinstance(problem, FileNotFoundError | IsADirectoryError):
            said = "this is a folder" if isinstance(problem, IsADirectoryError) else "there is no such file"
        failed = Finding("file", False, one_line(f"{path}: {said}"))
        if told:
            told(failed)
        return [failed]
    return check_bytes(data, told)


def _read(path: str | PathLike[str]) -> bytes:
    """Return the bytes of a regular file: a pipe would be waited for, a device would never end."""
    with os.fdopen(
        os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb"
    ) as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise ValueError("expected a regular file")
        return file.read(min(about.st_size, LARGEST_FILE) + 1)


def check_bytes(data: bytes, told: Callable[[Finding], None] | None = None) -> list[Finding]:
    """Do what `check_file` does for the bytes of a file."""
    findings: list[Finding] = []
    # where floats overflow nothing can be proved: `_ended` says so
    with bounded_work(), np.errstate(over="raise", invalid="raise", divide="raise"):
        for finding in _ended(_findings(data)):
            findings.append(finding)
            if told:
                told(finding)
    return findings


def _ended(findings: Iterator[Finding]) -> Iterator[Finding]:
    """Yield findings; where the file is refused, the step that failed is the last."""
    step = ""
    try:
        for finding in findings:
            step = finding.name
            yield Finding(step, finding.passed, one_line(finding.detail), tuple(map(one_line, finding.rows)))
    except RefusedError as problem:
        yield Finding(problem.step or NEXT[step], False, one_line(str(problem)))
    except (ArithmeticError, ValueError, TypeError, LookupError, MemoryError, RuntimeError) as problem:
        said = f"contents that cannot be worked with ({type(problem).__name__}: {problem})"
        yield Finding(NEXT[step], False, one_line(said))


NEXT = {
    "": "archive",
    "archive": "header",
    "header": "diagrams",
    "diagrams": "tables",
    "tables": "words",
    "words": "widths",
    "widths": "ranges",
    "ranges": "dynamics",
    "dynamics": "certificate",
    "function": "certificate",
    "certificate": "saturation",
    "saturation": "saturation",
}
"""What comes after each step: it is what failed where a file was refused after that step."""


def _findings(data: bytes) -> Iterator[Finding]:
    entries = entries_of(data)
    count = "1 entry" if len(entries) == 1 else f"{len(entries)} entries"
    yield Finding("archive", True, f"{len(data):,} bytes, {count}, every byte as specified")
    header = header_of(entries)
    plan = float_plan_of(header["plan"]) if header["plan"].get("target") == "float" else plan_of(header["plan"])
    check_digests(header, entries, [(block.output_bits, block.signed) for block in plan.blocks])
    yield Finding("header", True, f"canonical, digest {header['digest'][:16]}")
    tables = _tables(header, entries, plan)
    yield Finding(
        "diagrams", True, f"{len(tables)} reduced and in canonical form, with the tables that the header names"
    )
    facts = _facts(plan, tables)
    yield Finding("tables", True, _about(plan, facts))
    yield from model_findings(header, plan, tables, facts)


def _tables(header: dict[str, Any], entries: dict[str, bytes], plan: AnyPlan) -> list[Any]:
    """Return the tables of all blocks, from their diagrams, if they fit memory."""
    needed = sum(4 << sum(block.widths) for block in plan.blocks)
    needed += max((12 << sum(block.widths) for block in plan.blocks), default=0)
    require(needed <= MEMORY, f"the tables need {needed:,} bytes, more than {MEMORY:,}")
    keys = list_of(header["tables"], "tables", len(plan.blocks))
    tables = []
    for k, block in enumerate(plan.blocks):
        words = table_of(entries, k, block)
        key = table_key(words, block)
        require(key == keys[k], f"block {k}: expected the table that the header names")
        require(block.kind != "given" or block.table == key, f"block {k}: expected the table that the plan names")
        tables.append(words)
    return tables


def _facts(plan: AnyPlan, tables: list[Any]) -> list[Facts]:
    return [
        check_table(block, words, f"block {k}")
        for k, (block, words) in enumerate(zip(plan.blocks, tables, strict=True))
    ]


def _about(plan: AnyPlan, facts: list[Facts]) -> str:
    rows = sum(1 << sum(block.widths) for block in plan.blocks)
    ties = sum(each.undecided for each in facts)
    given = sum(block.kind == "given" for block in plan.blocks)
    floats = sum(block.law is not None and not block.law.real_valued for block in plan.blocks)
    said = f"{rows:,} entries recomputed, {ties:,} of them near ties, in integers"
    if given:
        said += f"; the words of {given} were given: known by their key, with the error that is stated"
    if floats:
        said += f"; {floats} of samples, rounded as float64 computes them"
    return said

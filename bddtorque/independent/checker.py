"""Check a file from beginning to end, and say at each step what was found.

A quantity of a robot and a function are proved in the same steps; they differ in what the words are compared with.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any

import numpy as np

from .archive import LARGEST_FILE, check_digests, entries_of, header_of
from .bounds import check_ranges, compose
from .cascade import angles_of, run
from .certificate import Claim, Stated, outputs_stated
from .comparison import FAR, SUM, TRUE
from .findings import Finding, RefusedError, bounded_work, one_line, require
from .float_bounds import compose_floats
from .formats import Words, words_of
from .function_truth import FunctionTruth
from .plan import Plan, check_widths, plan_of
from .reading import list_of
from .robot_truth import RobotTruth
from .tables import Facts, check_table, table_key, table_of

MEMORY = 4 * 2**30
"""Bytes that the tables of a file may take."""
MAX_LISTED = 8
"""Outputs whose figures are listed within a line."""


def check_file(path: str | PathLike[str], on_finding: Callable[[Finding], None] | None = None) -> list[Finding]:
    """Check a file and return all findings; the last one has failed if the file is not proved.

    Parameters
    ----------
    path
        A .bdt file.
    on_finding
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
        if on_finding:
            on_finding(failed)
        return [failed]
    return check_bytes(data, on_finding)


def _read(path: str | PathLike[str]) -> bytes:
    """Return the bytes of a regular file: a pipe would be waited for, a device would never end."""
    with os.fdopen(
        os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb"
    ) as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise ValueError("expected a regular file")
        return file.read(min(about.st_size, LARGEST_FILE) + 1)


def check_bytes(data: bytes, on_finding: Callable[[Finding], None] | None = None) -> list[Finding]:
    """Do what `check_file` does for the bytes of a file."""
    findings: list[Finding] = []
    # where floats overflow nothing can be proved: `_ended` says so
    with bounded_work(), np.errstate(over="raise", invalid="raise", divide="raise"):
        for finding in _ended(_findings(data)):
            findings.append(finding)
            if on_finding:
                on_finding(finding)
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
"""The step after each: it has failed where a file was refused after that step."""


def _findings(data: bytes) -> Iterator[Finding]:
    """Yield the findings of a file, step by step."""
    entries = entries_of(data)
    count = "1 entry" if len(entries) == 1 else f"{len(entries)} entries"
    yield Finding("archive", True, f"{len(data):,} bytes, {count}, every byte as specified")
    header = header_of(entries)
    plan = plan_of(header["plan"])
    check_digests(header, entries, [(block.output_bits, block.signed) for block in plan.blocks])
    yield Finding("header", True, f"canonical, digest {header['digest'][:16]}")
    tables = _tables(header, entries, plan)
    yield Finding(
        "diagrams", True, f"{len(tables)} reduced and in canonical form, with the tables that the header names"
    )
    facts = [
        check_table(block, words, f"block {k}")
        for k, (block, words) in enumerate(zip(plan.blocks, tables, strict=True))
    ]
    yield Finding("tables", True, _about(plan, facts))
    words, stated = words_of(header["words"]), outputs_stated(header["certificate"])
    _check_plan(plan, words, stated)
    truth = (FunctionTruth if "function" in header else RobotTruth)(header, plan, words, stated, facts)
    yield Finding("words", True, truth.said_of_words)
    yield Finding("widths", True, check_widths(plan))
    composition = compose_floats(plan, facts) if plan.precision else compose(plan, facts, angles_of(plan, truth.axes))
    claims = [Claim(*parts) for parts in zip(stated, composition.outputs, words.results, strict=True)]
    wanted = {(SUM, place): span for place, span in composition.unproved.items()}
    for j, claim in enumerate(claims):
        wanted[FAR, j] = -claim.allowed_difference, claim.allowed_difference
        closer = claim.closer_range
        wanted |= {} if closer is None else {(TRUE, j): closer}
    comparison = truth.compare(wanted)
    differences = [comparison.difference(j) for j in range(len(claims))]
    reaches = {place: comparison.ranges[SUM, place] for place in composition.unproved}
    yield Finding("ranges", True, check_ranges(plan, composition, reaches))
    for claim, difference in zip(claims, differences, strict=True):
        claim.check_difference(difference, truth.step)
    yield true_finding(truth.step, truth.compared_with, differences, comparison.how)
    for j, claim in enumerate(claims):
        arithmetic = claim.most_arithmetic(comparison.noise[j], truth.points, truth.skew)
        if claim.stated.parts["arithmetic"] > arithmetic:  # it may be summed from larger numbers that cancel
            arithmetic = claim.most_arithmetic(comparison.noise[j], truth.points, truth.skew, truth.sizes[j])
        claim.check_parts(arithmetic, differences[j])
        truth.check_range(claim, comparison.ranges.get((TRUE, j)))
        require(
            truth.accuracy is None or claim.stated.total < truth.accuracy,
            f"{claim.where}: expected a bound below {truth.accuracy} units, as was asked for",
        )
    rows = tuple(claim.compared(difference) for claim, difference in zip(claims, differences, strict=True))
    yield Finding("certificate", True, truth.said_of_figures, rows)
    for j, claim in enumerate(claims):
        claim.check_saturation(truth.reach(claim), truth.direct)
        if claim.stated.witness is not None:
            state = dict(zip(words.named, claim.witness_words(words.inputs), strict=True))
            inside = claim.word.lowest <= run(plan, tables, state)[j] <= claim.word.highest
            require(not inside, f"{claim.where}: expected a witness that leaves the range")
    yield Finding("saturation", True, ", ".join(f"{output.name} {output.saturation}" for output in stated))


def _tables(header: dict[str, Any], entries: dict[str, bytes], plan: Plan) -> list[Any]:
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


def _about(plan: Plan, facts: list[Facts]) -> str:
    rows = sum(1 << sum(block.widths) for block in plan.blocks)
    ties = sum(fact.undecided for fact in facts)
    given = sum(block.kind == "given" for block in plan.blocks)
    floats = sum(block.law is not None and not block.law.real_valued for block in plan.blocks)
    said = f"{rows:,} entries recomputed, {ties:,} of them near ties, in integers"
    if given:
        said += f"; the words of {given} were given: known by their key, with the error that is stated"
    if floats:
        said += f"; {floats} of samples, rounded as float64 computes them"
    return said


def _check_plan(plan: Plan, words: Words, stated: list[Stated]) -> None:
    """Refuse a plan that reads or makes other words than those of the file, and a certificate of others."""
    for place, wire in enumerate(plan.wires):
        if wire.kind == "input":
            word = words.named.get(wire.name)
            require(
                word is not None and (word.bits, word.angle, word.signed) == (wire.bits, wire.wraps, wire.signed),
                f"plan, wire {place}: expected an input as its format has it",
            )
    require(len(plan.outputs) == len(words.results), f"plan: expected {len(words.results)} outputs")
    require(len(stated) == len(words.results), "certificate: expected every output")
    for j, (label, word, output) in enumerate(zip(words.labels, words.results, stated, strict=True)):
        planned, where = plan.outputs[j], f"plan, output {j}"
        require((planned.low, planned.high) == (word.lowest, word.highest), f"{where}: expected the ends of its word")
        require(planned.lsb == word.lsb and not word.angle, f"{where}: expected the unit of its word")
        named = (output.name, output.unit, output.lsb) == (label, word.unit, word.lsb)
        require(named, f"certificate, '{output.name:.40}': expected the word of '{label}'")


def true_finding(step: str, truth: str, differences: list[float], how: Sequence[str]) -> Finding:
    """Return how far the outputs are from the truth, in units: in one line, where there are few of them."""
    if not truth:
        return Finding(step, True, "; ".join(how))
    listed = ", ".join(f"{each:.2g}" for each in differences)
    few = len(differences) <= MAX_LISTED
    within = listed if few else f"{max(differences):.2g}"
    said = f"the cascade without roundings is within {within} units of {truth}, everywhere"
    rows = () if few else (f"output by output: {listed}",)
    return Finding(step, True, f"{said} ({'; '.join(how)})", rows)

"""`write_report`: a compiled model as one page that shows, moves and checks it."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.sizes import format_size
from bddtorque.base.workers import NoProgress, Progress, step
from bddtorque.base.writing import write_whole
from bddtorque.model.model import Model
from bddtorque.report.block_sections import blocks_section, operations_section, plan_section
from bddtorque.report.cost_section import costs_section
from bddtorque.report.function_report import FunctionPage
from bddtorque.report.live_section import STOPS, live_section
from bddtorque.report.markup import Markup
from bddtorque.report.packing import pack
from bddtorque.report.page import whole_page
from bddtorque.report.proof_sections import certificate_section, file_section, head, words_section
from bddtorque.report.script_data import function_data, script_data
from bddtorque.report.view import start_words, view_of
from bddtorque.sweeps.measuring import subject_of
from bddtorque.sweeps.states import Batch, states_of

MOST_TABLE_BYTES = 24 * 2**20
"""Bytes that tables may take in a page, packed."""
MOST_ROWS = 1 << 24
"""Rows of tables that a browser is asked to hold."""
COMPARED = (Batch(False, 0, 4096), Batch(True, 0, 512))
"""Random and corner states that every report compares with Newton-Euler."""


@dataclass(frozen=True)
class Report:
    """What `write_report` wrote.

    Attributes
    ----------
    bytes
        Size of the page.
    table_bytes
        Size of the packed tables in it.
    live
        Whether the page computes torques from the tables; False if these are too large for a page.
    states
        Number of states on which the compiled words were compared with true values; 0 if nobody knows these.
    largest_found
        Largest error of each output on those states, in units of the last bit; empty without states.
    """

    bytes: int
    table_bytes: int
    live: bool
    states: int
    largest_found: tuple[float, ...]

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {**vars(self), "largest_found": list(self.largest_found)}


def write_report(
    model: Model,
    path: str | PathLike[str],
    *,
    progress: Progress | None = None,
    most_table_bytes: int = MOST_TABLE_BYTES,
) -> Report:
    """Write one HTML page about a compiled model; it needs no network and no other file.

    A robot is drawn and moves; a function, measured data or another quantity of a robot has its inputs on sliders.

    Parameters
    ----------
    model
        A compiled robot, quantity or function.
    path
        The file, usually ``.html``; an existing one is replaced.
    progress
        Receives a call for every step.
    most_table_bytes
        Packed tables that take more than this are left out. The page says so and then has no live torques.

    Returns
    -------
    Report
        What the page contains.

    Raises
    ------
    BddTorqueError
        The file cannot be written, or the argument is not a model.
    """
    if not isinstance(model, Model):
        raise BddTorqueError(f"report needs a Model, as bt.compile and bt.load return, got {type(model).__name__}")
    text, report = report_page(model, progress or NoProgress(), most_table_bytes)
    write_whole(path, text)
    return report


def report_page(
    model: Model, progress: Progress | None = None, most_table_bytes: int = MOST_TABLE_BYTES
) -> tuple[bytes, Report]:
    """Return the page in UTF-8, the same bytes for the same model, and what is in it."""
    told = progress or NoProgress()
    with step(told, "report", 3 + len(model.tables) * (1 + model.plan.made_of_tables)):
        packed, too_large = _packed(model, most_table_bytes, told)
        build = _robot_page if model.provenance.kind == "robot" else _function_page
        header, sections, data, states, largest = build(model, packed, too_large, told)
        told.advance("sections", 1.0, False)
        sections += [
            *_plan_sections(model),
            ("Words", "words", words_section(model)),
            ("File", "file", file_section(model)),
        ]
        data["stops"] = [list(stop) for stop in STOPS]
        text = whole_page(f"{model.name} · bddtorque report", header, sections, data)
        encoded = text.encode("utf-8", "backslashreplace")  # half a pair of a robot's name is no reason to fail
        told.advance("page", 1.0, False)
    held = sum(len(each["data"]) for each in packed or ())
    return encoded, Report(len(encoded), held, packed is not None, states, largest)


Packed = list[dict[str, Any]] | None
Parts = tuple[Markup, list[tuple[str, str, Markup]], dict[str, Any], int, tuple[float, ...]]
"""Of a page: the head, the first sections, what the script reads, how many states were compared, largest errors."""


def _robot_page(model: Model, packed: Packed, too_large: str | None, told: Progress) -> Parts:
    """Return the parts of an arm's page."""
    start = start_words(model.formats)
    q = [float(word.dequantise(place)) for word, place in zip(model.formats.q, start[0], strict=True)]
    view = view_of(model.robot, q)
    largest = _largest_errors(model)
    told.advance("compared with Newton-Euler", 1.0, False)
    ranges = model.certificate.ranges
    sections = [
        ("Arm", "arm-section", live_section(model, start, view, ranges, too_large)),
        ("Proved", "proved", certificate_section(model.certificate)),
        ("Cost", "costs", costs_section(model, told)),
    ]
    data = script_data(model, packed, start, view)
    return head(model, ranges), sections, data, sum(batch.count for batch in COMPARED), largest


def _function_page(model: Model, packed: Packed, too_large: str | None, told: Progress) -> Parts:
    """Return the parts of the page of anything else."""
    page = FunctionPage(model)
    told.advance("compared with true values", 1.0, False)
    sections = [
        ("Values", "values", page.live_section(too_large)),
        ("Proved", "proved", certificate_section(model.certificate)),
        ("Cost", "costs", costs_section(model, told)),
    ]
    data = function_data(model, packed, page.start, page.checks, page.truth)
    return page.head(), sections, data, page.states, page.largest


def _largest_errors(model: Model) -> tuple[float, ...]:
    """Return the largest error of each torque on some states, in units of the last bit."""
    subject = subject_of(model)
    errors = []
    for batch in COMPARED:
        states = states_of(batch, model.formats, 0)
        words = [kind.quantise(each) for kind, each in zip(model.formats.inputs, states, strict=True)]
        errors.append(abs(subject.table_errors(words)).max(axis=0))
    return tuple(float(error) for error in np.max(errors, axis=0))


def _plan_sections(model: Model) -> list[tuple[str, str, Markup]]:
    """Return the plan, as a picture or as counts of operations in floats, and the tables if there are any."""
    plan = operations_section(model) if model.plan.in_floats else plan_section(model.plan, model.provenance.chip)
    tables = [("Tables", "blocks", blocks_section(model))] if model.tables else []
    return [("Plan", "plan", plan), *tables]


def _packed(model: Model, most: int, told: Progress) -> tuple[list[dict[str, Any]] | None, str | None]:
    """Return the tables made small, or None and what the page says instead."""
    rows = sum(len(table.values) for table in model.tables)
    if rows > MOST_ROWS:
        told.advance("tables", float(len(model.tables)), False)
        return None, _too_large(f"{rows:,} rows", f"{MOST_ROWS:,} rows")
    packed = []
    for k, table in enumerate(model.tables):
        packed.append(pack(table))
        told.advance(f"table of block {k}", 1.0, False)
    size = sum(len(each["data"]) for each in packed)
    if size > most:
        return None, _too_large(f"{size:,} bytes", format_size(most))
    return packed, None


def _too_large(given: str, allowed: str) -> str:
    return (
        f"The tables of this model are too large for a page ({given}; the limit is {allowed}), so what is below "
        "are true values in floats. bddtorque eval computes the compiled ones."
    )

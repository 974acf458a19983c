"""`write_report`: a compiled model as one page that shows, moves and checks it."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.files import write_whole
from bddtorque.base.measures import format_size
from bddtorque.base.workers import NoProgress, Progress, step
from bddtorque.model.model import Model
from bddtorque.report.arm_picture import view_of
from bddtorque.report.compared_states import ComparedStates
from bddtorque.report.live_section import STOPS, live_section
from bddtorque.report.markup import Markup
from bddtorque.report.page import whole_page
from bddtorque.report.plan_sections import blocks_section, costs_section, operations_section, plan_section
from bddtorque.report.proof_sections import certificate_section, file_section, head, words_section
from bddtorque.report.script_data import pack, script_data

MAX_TABLE_BYTES = 24 * 2**20
"""Bytes that tables may take in a page, packed."""
MAX_ROWS = 1 << 24
"""Rows of tables that a browser is asked to hold."""


@dataclass(frozen=True)
class Report:
    """Facts about a page that `write_report` wrote.

    Attributes
    ----------
    bytes
        Size of the page.
    table_bytes
        Size of the packed tables in it.
    live
        Whether the page computes output words from the tables; False if these are too large for a page.
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
    max_table_bytes: int = MAX_TABLE_BYTES,
) -> Report:
    """Write one HTML page about a compiled model; it needs no network and no other file.

    Every input has a slider, and the page computes the output words; a robot is drawn and moves.

    Parameters
    ----------
    model
        A compiled robot, quantity or function.
    path
        The file, usually ``.html``; an existing one is replaced.
    progress
        Receives a call for every step.
    max_table_bytes
        Packed tables that take more than this are left out. The page says so and then has no live outputs.

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
    text, report = report_page(model, progress or NoProgress(), max_table_bytes)
    write_whole(path, text)
    return report


def report_page(
    model: Model, progress: Progress | None = None, max_table_bytes: int = MAX_TABLE_BYTES
) -> tuple[bytes, Report]:
    """Return the page in UTF-8, the same bytes for the same model, and what is in it."""
    progress = progress or NoProgress()
    with step(progress, "report", 3 + len(model.tables)):
        packed, too_large = _packed(model, max_table_bytes, progress)
        states = ComparedStates(model)
        progress.advance("compared with true values", 1.0, False)
        view = None
        if model.provenance.robot is not None:
            positions = zip(model.formats.q, states.start, strict=False)  # the first of all words
            view = view_of(model.provenance.robot, [float(word.dequantise(place)) for word, place in positions])
        sections = [
            ("Live", "live", live_section(states, view, too_large)),
            ("Proved", "proved", certificate_section(model)),
            ("Cost", "costs", costs_section(model)),
            *_plan_sections(model),
            ("Words", "words", words_section(model)),
            ("File", "file", file_section(model)),
        ]
        progress.advance("sections", 1.0, False)
        data = {**script_data(states, packed, view), "stops": [list(stop) for stop in STOPS]}
        text = whole_page(f"{model.name} · bddtorque report", head(states), sections, data)
        encoded = text.encode("utf-8", "backslashreplace")  # half a pair of a robot's name is no reason to fail
        progress.advance("page", 1.0, False)
    held = sum(len(table["data"]) for table in packed or ())
    return encoded, Report(len(encoded), held, packed is not None, states.states, states.largest)


def _plan_sections(model: Model) -> list[tuple[str, str, Markup]]:
    """Return the plan, as a picture or as counts of operations in floats, and the tables if there are any."""
    plan = operations_section(model) if model.plan.in_floats else plan_section(model.plan, model.provenance.chip)
    tables = [("Tables", "blocks", blocks_section(model))] if model.tables else []
    return [("Plan", "plan", plan), *tables]


def _packed(model: Model, most: int, progress: Progress) -> tuple[list[dict[str, Any]] | None, str | None]:
    """Return the tables made small, or None and what the page says instead."""
    rows = sum(len(table.values) for table in model.tables)
    if rows > MAX_ROWS:
        progress.advance("tables", float(len(model.tables)), False)
        return None, _too_large(f"{rows:,} rows", f"{MAX_ROWS:,} rows")
    packed = []
    for k, table in enumerate(model.tables):
        packed.append(pack(table))
        progress.advance(f"table of block {k}", 1.0, False)
    size = sum(len(each["data"]) for each in packed)
    if size > most:
        return None, _too_large(f"{size:,} bytes", format_size(most))
    return packed, None


def _too_large(given: str, allowed: str) -> str:
    return (
        f"The tables of this model are too large for a page ({given}; the limit is {allowed}), so what is below "
        "are true values in floats. bddtorque eval computes the compiled ones."
    )

"""`write_report`: a compiled robot as one page that shows, moves and checks it."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.sizes import format_size
from bddtorque.base.writing import write_whole
from bddtorque.compiler.range_facts import torque_ranges
from bddtorque.diagrams.choosing import choose_forms
from bddtorque.model.model import Model
from bddtorque.plan.float_plan import FloatPlan
from bddtorque.report.block_sections import (
    blocks_section,
    costs_section,
    maps_section,
    operations_section,
    plan_section,
)
from bddtorque.report.error_maps import STOPS, error_maps, map_axes, telling_axes
from bddtorque.report.live_section import live_section
from bddtorque.report.markup import Markup
from bddtorque.report.packing import pack
from bddtorque.report.page import whole_page
from bddtorque.report.proof_sections import certificate_section, head, words_section
from bddtorque.report.script_data import script_data
from bddtorque.report.term_costs import block_forms, term_costs
from bddtorque.report.view import start_words, view_of
from bddtorque.work import NoProgress, Progress, step

MOST_TABLE_BYTES = 24 * 2**20
"""Bytes that tables may take in a page, packed."""
MOST_ROWS = 1 << 24
"""Rows of tables that a browser is asked to hold."""


@dataclass(frozen=True)
class Report:
    """What was written.

    Attributes
    ----------
    bytes : of the page
    table_bytes : of the tables in it, packed
    live : whether the page computes torques from the tables; not where these are too large for a page
    maps : maps of errors in it
    largest_found : for each torque the largest error on those maps, in units of the last bit
    """

    bytes: int
    table_bytes: int
    live: bool
    maps: int
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
    """Write one HTML page about a compiled robot, whole or not at all; it needs no network and no other file.

    Parameters
    ----------
    model : a compiled robot
    path : the file, usually ``.html``; what is there is replaced
    progress : told of every step
    most_table_bytes : tables that take more, packed, are left out, and the page says so: it then has no live torques
    """
    if not isinstance(model, Model):
        raise BddTorqueError(f"report needs a Model, as bt.compile and bt.load return, got {type(model).__name__}")
    model.robot_source("report")
    text, report = report_page(model, progress or NoProgress(), most_table_bytes)
    write_whole(path, text)
    return report


def report_page(
    model: Model, progress: Progress | None = None, most_table_bytes: int = MOST_TABLE_BYTES
) -> tuple[bytes, Report]:
    """Return the page in UTF-8, the same bytes for the same model, and what is in it."""
    told = progress or NoProgress()
    blocks = len(model.tables)
    with step(told, "report", 4 + 2 * blocks + len(map_axes(len(model.formats.q)))):
        start = start_words(model.formats)
        q = [float(word.dequantise(place)) for word, place in zip(model.formats.q, start[0], strict=True)]
        view = view_of(model.robot, q, [word.span for word in model.formats.q])
        packed, too_large = _packed(model, most_table_bytes, told)
        maps = []
        for each in error_maps(model, start):
            maps.append(each)
            told.advance("maps of errors", 1.0, False)
        made = _float_sections(model, told) if isinstance(model.plan, FloatPlan) else _table_sections(model, told)
        ranges = torque_ranges(model.robot_source(), model.certificate)
        sections = [
            ("Proved", "proved", certificate_section(model.certificate, ranges)),
            ("Arm", "arm-section", live_section(model, start, view, telling_axes(maps), too_large)),
            ("Errors", "errors", maps_section(model, maps, start)),
            *made,
            ("Words", "words", words_section(model)),
        ]
        told.advance("sections", 1.0, False)
        data = {**script_data(model, packed, start, view), "stops": [list(stop) for stop in STOPS]}
        text = whole_page(f"{model.robot.name} · bddtorque report", head(model), sections, data)
        encoded = text.encode("utf-8", "backslashreplace")  # half a pair of a robot's name is no reason to fail
        told.advance("page", 1.0, False)
    largest = tuple(max(float(abs(each.errors[j]).max()) for each in maps) for j in range(len(model.formats.tau)))
    held = sum(len(each["data"]) for each in packed or ())
    return encoded, Report(len(encoded), held, packed is not None, len(maps) * len(model.formats.tau), largest)


def _table_sections(model: Model, told: Progress) -> list[tuple[str, str, Markup]]:
    """Return what a page says of a plan in words, its tables and what they cost."""
    terms, torques = term_costs(model)
    told.advance("terms", 1.0, False)
    choices = choose_forms(model.tables, [diagram.order for diagram in model.diagrams], model.spec.memory)
    told.advance("forms", 1.0, False)
    forms = []
    for k, pair in enumerate(zip(model.tables, model.diagrams, strict=True)):
        forms.append(block_forms(*pair))
        told.advance(f"forms of block {k}", 1.0, False)
    return [
        ("Plan", "plan", plan_section(model)),
        ("Tables", "blocks", blocks_section(model)),
        ("Cost", "costs", costs_section(model, terms, torques, [*zip(forms, choices, strict=True)])),
    ]


def _float_sections(model: Model, told: Progress) -> list[tuple[str, str, Markup]]:
    """Return what a page says of a plan in floats: its operations, and the tables of friction if there are any."""
    told.advance("operations", 2.0 + len(model.tables), False)
    tables = [("Tables", "blocks", blocks_section(model))] if model.tables else []
    return [("Plan", "plan", operations_section(model)), *tables]


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
        f"The tables of this model are too large for a page: {given}, at most {allowed} are put into one. So the "
        "torques below are those of Newton and Euler in floats alone; bddtorque eval gives the compiled ones."
    )

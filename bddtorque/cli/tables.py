"""A model in words and tables: what `info` shows, and what `compile` shows of it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rich.filesize import decimal

from bddtorque.base.shown_text import bits_text, counted
from bddtorque.bench.target_costs import counted_cost
from bddtorque.cli.console import ShownTable, columns, terminal_width
from bddtorque.plan.engine import MemoryLimit
from bddtorque.plan.forms import FORMS, make_form
from bddtorque.plan.plan_cost import wide_operations
from bddtorque.plan.wires import Product
from bddtorque.report.model_tables import effective_bits_of
from bddtorque.spec.resolve import ANY_CHIP
from bddtorque.targets.tables.cost import choose_forms

if TYPE_CHECKING:
    from bddtorque.model.model import Model
    from bddtorque.plan.bdd import Diagram
    from bddtorque.plan.plan import Plan
    from bddtorque.plan.table import Table
    from bddtorque.proof.proved_bound import TorqueRange
    from bddtorque.targets.tables.cost import FormChoice

MAX_LINES = 15
"""Lines that `compile` prints, unless its terminal is very narrow."""
CERTIFICATE_WIDTH = 80
"""Columns of a certificate as text."""
MAX_EACH = 12
"""Outputs whose bounds `compile` lists one by one; of more, the least and the largest."""
WHICH_TARGET = (
    "tables, the default: for any chip, without multiplications. On a PC use --target float, on a chip that multiplies "
    "--target integer --chip NAME"
)


def model_lines(model: Model) -> list[tuple[str, str]]:
    """Return the summary of a model, name by name."""
    figures, plan = model.summary(), model.plan
    if plan.in_floats:
        kinds, how = ["fused", "products", "sums", "sines", "lookups", "angle_sums"], f"{plan.floats.name} precision"
        summed = ""
    else:
        kinds, how = ["lookups", "products", "sums", "angle_sums"], f"blocks of at most {plan.block_bits} bits"
        if plan.multiplies_integers:
            how = f"chip {model.provenance.chip or ANY_CHIP}, {_beyond_registers(plan)}"
        summed = f"{counted(figures['summands'], 'summands')} from "
    steps = [counted(figures[name], name) for name in kinds if figures[name]]
    lines = [
        *_origin_lines(model),
        ("words", _words(model)),
        ("plan", f"source {plan.source}, target {plan.target}, {how}"),
        ("steps", summed + ", ".join(steps)),
    ]
    if plan.blocks:
        lines += [
            ("blocks", f"{figures['blocks']:,} with {counted(figures['rows'], 'rows')} in total"),
            ("diagrams", f"{counted(figures['nodes'], 'nodes')}, {decimal(figures['diagram_bytes'])}"),
            ("tables", decimal(figures["table_bytes"])),
        ]
    return [*lines, ("bound", _bound_in_units(model))]


def _words(model: Model) -> str:
    formats = model.formats
    outputs, inputs = (
        ", ".join(f"{array.name} {bits_text(array.bits)}" for array in arrays)
        for arrays in (formats.outputs, formats.inputs)
    )
    return f"{outputs} bits, inputs {inputs} bits"


def _bound_in_units(model: Model) -> str:
    faithful = "faithful" if model.certificate.faithful else "NOT faithful"
    return f"{max(model.certificate.bounds):.4f} units of the last bit at most: {faithful}"


def _origin_lines(model: Model) -> list[tuple[str, str]]:
    """Return where a model comes from: the robot and its quantity, or the function."""
    known = model.provenance
    if known.robot is None:
        rules = ", ".join(f"{name} {value}" for name, value in known.rules.items())
        called = f"{known.name}({', '.join(model.formats.words)}) = {', '.join(model.formats.results)}"
        return [("function", called), ("from", model.certificate.outputs[0].relative_to + (rules and f": {rules}"))]
    rubbing = [f"{joint.name} {joint.friction.formula()}" for joint in known.robot.joints if joint.friction is not None]
    return [
        ("robot", f"{known.robot.name}, {counted(known.robot.degrees_of_freedom, 'joints')}"),
        *([("friction", "; ".join(rubbing) + " (x0 the velocity)")] if rubbing else []),
        ("quantity", known.what.removeprefix("quantity ").replace("'", "")),
    ]


def _beyond_registers(plan: Plan) -> str:
    """Return what to say of products and sums that a 32-bit register does not hold."""
    wide = wide_operations(plan)
    if not wide:
        return "all in 32 bits"
    most = max(bits for _, bits in wide)
    return f"{counted(len(wide), 'products_and_sums')} of more than 32 bits, {most} at most"


def compile_lines(model: Model, report: dict[str, Any], by_default: bool) -> list[tuple[str, str]]:
    """Return the summary of a compilation, `MAX_LINES` at most; `by_default`: nobody named the target.

    What `info` tells from the file is left out, and notes for which there is no room.
    """
    outputs, cost, path = model.certificate.outputs, counted_cost(model), report["file"]
    bits = max(word.bits for word in model.formats.results.values())
    operations = {"look-ups": cost.look_ups, "products": cost.products, "sums": cost.sums}
    said = ", ".join(counted(count, name) for name, count in operations.items() if count)
    units = dict.fromkeys(output.unit for output in outputs)
    bounds = [_each([f"{o.bound_si:.3g}" for o in outputs if o.unit == unit]) + f" {unit}".rstrip() for unit in units]
    made = f", made in {report['seconds']:.1f} s" if "seconds" in report else ""
    origin = dict(_origin_lines(model))
    what = origin.get("function") or f"{origin['robot']}: {origin['quantity']}"
    sizes = f"{decimal(report['file_bytes'])}, {decimal(cost.most_bytes)} of tables, {said} for one state"
    lines = [
        *([("target", WHICH_TARGET)] if by_default else []),
        (model.provenance.kind, f"{what}; {_words(model)}"),
        ("bound", f"{'; '.join(bounds)}; {_bound_in_units(model)}"),
        ("bits", f"{_each([f'{each:.1f}' for each in effective_bits_of(model)])} effective, of {bits}"),
        ("file", f"{path}, {sizes}{made}"),
        *([("spec", report["spec_file"])] if "spec_file" in report else []),
    ]
    end = [("digest", model.digest), ("next", f"bddtorque info {path}, then sweep, report, or export --c DIR")]
    notes = [("note", note) for note in report["notes"]]
    for count in range(len(notes), -1, -1):
        left = [("note", f"{len(notes) - count} more; --json lists them all")] if count < len(notes) else []
        shown = [*lines, *notes[:count], *left, *end]
        if len(list(columns(shown, terminal_width() or sys.maxsize))) <= MAX_LINES:
            break
    return shown


def _each(figures: Sequence[str]) -> str:
    """Return the figures of outputs, or of very many the least and the largest."""
    if len(set(figures)) == 1:
        return figures[0]
    if len(figures) <= MAX_EACH:
        return " ".join(figures)
    return f"{min(figures, key=float)} to {max(figures, key=float)}"


def chosen_forms(model: Model) -> list[FormChoice]:
    """Return the form of each block that the evaluator ``words`` takes: the least cost within the model's memory."""
    return choose_forms(model.tables, [diagram.order for diagram in model.diagrams], model.memory)


def form_bytes(table: Table, diagram: Diagram) -> dict[str, int | None]:
    """Return the bytes of a block in every form; None where making it would take too much memory."""
    sizes: dict[str, int | None] = dict.fromkeys(FORMS)
    for name in FORMS:
        with suppress(MemoryLimit):
            sizes[name] = make_form(name, table, diagram).bytes
    return sizes


def level_table(figures: list[dict[str, Any]]) -> ShownTable:
    """Return the nodes of each level and the rails of each cut, top first."""
    names = ("level_widths", "rails")
    rows = [[f"b{block['block']}", *(" ".join(map(str, block[name])) for name in names)] for block in figures]
    return ShownTable("Levels of the diagrams, top first", ["block", "nodes at each level", "rails at each cut"], rows)


def form_table(figures: list[dict[str, Any]], choices: list[FormChoice]) -> ShownTable:
    """Return the form of each block that is taken and why, the bytes of all, and the digest of its table."""
    rows = []
    for block, choice in zip(figures, choices, strict=True):
        known = {name.replace("_", "-"): size for name, size in block["bytes"].items() if size is not None}
        sizes = ", ".join(f"{name} {size:,}" for name, size in known.items())
        taken = choice.form.name.replace("_", "-")
        rows.append([f"b{block['block']}", f"{taken}: {choice.reason}", sizes, block["digest"][:16]])
    return ShownTable("Forms that the evaluator words takes", ["block", "taken", "bytes", "digest"], rows)


def range_table(ranges: Sequence[TorqueRange]) -> ShownTable:
    """Return range, largest torque (also within joint limits) and effective bits of each torque, one per row."""
    limited = any(torque.within_limits and str(torque.within_limits) != str(torque.extent) for torque in ranges)
    heads = [">largest torque", *([">within joint limits"] if limited else []), ">error at most", "unit"]
    rows = []
    for torque in ranges:
        extents = [str(torque.extent), *([str(torque.within_limits)] if limited else [])]
        figures = [*extents, f"{torque.bound:.3g}", torque.unit, f"{torque.effective_bits:.1f}"]
        rows.append([torque.joint, torque.shown_range(), *figures])
    return ShownTable("Torques", ["joint", ">range", *heads, ">effective bits"], rows)


def certificate(model: Model) -> ShownTable | str:
    """Return the certificate as text, or as a table where that would be too wide."""
    if (terminal_width() or CERTIFICATE_WIDTH) >= CERTIFICATE_WIDTH:
        return str(model.certificate)
    outputs = model.certificate.outputs
    heads = ["", *(f">{name.replace('_', ' ')}" for name in outputs[0].parts.to_plain()), ">bound", ">in its unit", ""]
    rows = []
    for output in outputs:
        figures = [f"{units:.4g}" for units in (*output.parts.to_plain().values(), output.bound)]
        rows.append([output.name, *figures, f"{output.bound_si:.4g} {output.unit}", output.about_saturation()])
    return ShownTable(str(model.certificate).splitlines()[0], heads, rows)


def choice_figures(choices: Iterable[FormChoice]) -> list[dict[str, Any]]:
    """Return the chosen form of each block and the candidates it was chosen from, as plain data."""
    return [
        {
            "block": k,
            "form": choice.form.name,
            "reason": choice.reason,
            "candidates": [each.to_plain() for each in choice.candidates],
        }
        for k, choice in enumerate(choices)
    ]


def constant_sequence(model: Model, choices: list[FormChoice]) -> tuple[bool, str]:
    """Say whether the evaluator ``words`` does the same integer operations whatever the state, and why (not)."""
    if model.plan.in_floats:
        return False, f"target '{model.plan.target}' promises none"
    if model.plan.multiplies_integers:
        return True, "look-ups, products and sums only; evaluator 'words'"
    varying = sorted({choice.form.name for choice in choices if not choice.form.constant})
    if varying:
        return False, f"walks of form {', '.join(varying)} end sooner for some words"
    apart = sum(isinstance(wire, Product) and wire.method == "partial" for wire in model.plan.wires)
    if apart:
        taken = f"{counted(apart, 'products')} {'is' if apart == 1 else 'are'} taken apart"
        return False, f"{taken} into as many partial products as the words at hand need"
    forms = ", ".join(dict.fromkeys(choice.form.name for choice in choices)) or "no blocks"
    return True, f"look-ups ({forms}) and sums only; evaluator 'words'"

"""A model in words and tables: what `compile` and `info` show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.filesize import decimal
from rich.table import Table

from bddtorque.base.errors import BddTorqueError
from bddtorque.base.shown_text import bits_text, counted
from bddtorque.cli.console import plain_table
from bddtorque.plan.blocks import output_format
from bddtorque.plan.forms import FORMS, make_form
from bddtorque.plan.plan_cost import wide_operations
from bddtorque.plan.wires import Product
from bddtorque.spec.resolve import ANY_CHIP
from bddtorque.targets.tables.cost import FormChoice, choose_forms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bddtorque.bench.target_costs import TargetCost
    from bddtorque.model.model import Model
    from bddtorque.plan.plan import Plan
    from bddtorque.proof.proved_bound import TorqueRange

COLD = 0.05
"""Seconds of Numba's work from which on a start counts as cold."""


def model_lines(model: Model) -> list[tuple[str, str]]:
    """Return the summary of a model, name by name."""
    figures, plan, formats = model.summary(), model.plan, model.formats
    outputs, inputs = (
        ", ".join(f"{array.name} {bits_text(array.bits)}" for array in arrays)
        for arrays in (formats.outputs, formats.inputs)
    )
    if plan.in_floats:
        kinds, how = ["fused", "products", "sums", "sines", "lookups", "angle_sums"], f"{plan.floats.name} precision"
        summed = ""
    else:
        kinds, how = ["lookups", "products", "sums", "angle_sums"], f"blocks of at most {plan.block_bits} bits"
        if plan.multiplies_integers:
            how = f"chip {model.provenance.chip or ANY_CHIP}, {_beyond_registers(plan)}"
        summed = f"{counted(figures['summands'], 'summands')} from "
    steps = [counted(figures[name], name) for name in kinds if figures[name]]
    worst, faithful = max(model.certificate.bounds), "faithful" if figures["faithful"] else "NOT faithful"
    return [
        *_origin_lines(model),
        ("words", f"{outputs} bits, inputs {inputs} bits"),
        ("plan", f"source {plan.source}, target {plan.target}, {how}"),
        ("steps", summed + ", ".join(steps)),
        *(_block_lines(model, figures) if model.plan.blocks else ()),
        ("bound", f"{worst:.4f} units of the last bit at most: {faithful}"),
    ]


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


def _block_lines(model: Model, figures: dict[str, Any]) -> list[tuple[str, str]]:
    nodes = f"{counted(figures['nodes'], 'nodes')}, {decimal(figures['diagram_bytes'])}"
    return [
        ("blocks", f"{figures['blocks']:,} with {counted(figures['rows'], 'rows')} in total"),
        ("diagrams", nodes),
        ("tables", decimal(figures["table_bytes"])),
    ]


def _beyond_registers(plan: Plan) -> str:
    """Return what to say of products and sums that a 32-bit register does not hold."""
    wide = wide_operations(plan)
    if not wide:
        return "all in 32 bits"
    most = max(bits for _, bits in wide)
    return f"{counted(len(wide), 'products_and_sums')} of more than 32 bits, {most} at most"


def compile_lines(model: Model, report: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the summary of a compilation."""
    return [
        *model_lines(model),
        *(_time_lines(model, report) if "planning_seconds" in report else ()),
        *(("note", note) for note in report["notes"]),
        ("file", f"{report['file']}, {decimal(report['file_bytes'])}"),
        *((("spec", report["spec_file"]),) if "spec_file" in report else ()),
        ("digest", model.digest),
    ]


def _time_lines(model: Model, report: dict[str, Any]) -> list[tuple[str, str]]:
    cold, cached = report.get("numba_seconds", 0.0), report.get("blocks_from_cache", 0)
    start = (
        f"cold start: {cold:.1f} s of it for Numba's first compilation, which is kept"
        if cold > COLD
        else "warm start: nothing for Numba to compile"
    )
    planning, ready = report["planning_seconds"], report.get("start_seconds", 0.0)
    kept = f"; {counted(cached, 'blocks')} from the cache" if cached else ""
    return [
        ("time", f"{report['seconds']:.2f} s ({planning:.2f} s planning), {ready:.2f} s to start; {start}"),
        ("memory", f"{decimal(report['peak_bytes'])} peak"),
        *((("engine", f"{report['engine']}{kept}"),) if model.plan.blocks else ()),
    ]


def cost_table(costs: Sequence[TargetCost]) -> Table:
    """Return what each target costs, one per row."""
    rows = []
    for cost in costs:
        counts = (cost.look_ups, cost.sums, cost.products)
        shown = [f"{count:,}" if cost.counted or not count else f"~{_roughly(count):,}" for count in counts]
        size = f"{'≤ ' if cost.least_bytes < cost.most_bytes else ''}{decimal(cost.most_bytes)}"
        on_pc = "fastest" if cost.target == "float" else f"{max(cost.times_float, 1):.2g} × float"
        rows.append([f"{cost.target}{' *' * cost.counted}", *shown, size, on_pc, cost.chip])
    columns = ["|target", ">look-ups", ">sums", ">products", "|tables", "|on this PC", "|microcontroller"]
    return plain_table("Cost of one state by target: * compiled, others estimated", columns, rows)


def _roughly(count: int) -> int:
    """Return a number with two digits and zeros."""
    return round(count, 2 - len(str(count))) if count > 99 else count


def block_figures(model: Model) -> list[dict[str, Any]]:
    """Return what there is to know of each block, as plain data."""
    figures = []
    for k, (block, table, diagram) in enumerate(zip(model.plan.blocks, model.tables, model.diagrams, strict=True)):
        bits, signed = output_format(block)
        users = [wire.name for wire in model.plan.wires if getattr(wire, "block", None) == k]
        figures.append(
            {
                "block": k,
                "kind": block.kind,
                "used_by": users,
                "input_bits": list(block.input_widths),
                "output_bits": bits,
                "signed": signed,
                "rows": len(table.values),
                "nodes": diagram.node_count,
                "depth": diagram.depth,
                "level_widths": list(diagram.level_widths),
                "rails": list(diagram.rails),
                "order": list(diagram.order),
                "bytes": {name: _form_bytes(model, k, name) for name in FORMS},
                "digest": table.content_key,
            }
        )
    return figures


def block_table(figures: list[dict[str, Any]]) -> Table:
    """Return the blocks and their diagrams, one per row."""
    rows = []
    for block in figures:
        used = block["used_by"] or ["nothing"]
        more = f" and {len(used) - 1} more" if len(used) > 1 else ""
        widest = max(block["level_widths"], default=0)
        counts = (block["rows"], block["nodes"], widest, max(block["rails"]), block["depth"])
        words = ["+".join(map(str, block["input_bits"])), str(block["output_bits"])]
        rows.append([str(block["block"]), used[0] + more, *words, *(f"{count:,}" for count in counts)])
    columns = [">block", "of", ">inputs", ">output", ">rows", ">nodes", ">widest", ">rails", ">depth"]
    return plain_table("Blocks", columns, rows)


def bytes_table(figures: list[dict[str, Any]]) -> Table:
    """Return the bytes of each block in each form, and the digest of its table."""
    rows = []
    for block in figures:  # ten forms do not fit side by side
        known = {name.replace("_", "-"): size for name, size in block["bytes"].items() if size is not None}
        sizes = ", ".join(f"{name} {size:,}" for name, size in known.items())
        rows.append([str(block["block"]), sizes, block["digest"][:16]])
    return plain_table("Bytes of the blocks in each form", [">block", "bytes", "|digest"], rows)


def level_table(figures: list[dict[str, Any]]) -> Table:
    """Return the nodes of each level and the rails of each cut, top first."""
    names = ("level_widths", "rails")
    rows = [[str(block["block"]), *(" ".join(map(str, block[name])) for name in names)] for block in figures]
    return plain_table(
        "Levels of the diagrams, top first", [">block", "nodes at each level", "rails at each cut"], rows
    )


def word_table(model: Model) -> Table:
    """Return the words of a model, one per row: ``q:shoulder``, ..."""
    rows = []
    for array in model.formats.arrays:
        for label, word in zip(array.labels, array, strict=True):
            kind = "angle, wraps" if word.kind == "angle" else "range, saturates"
            figures = [f"{value:.6g}" for value in (word.lsb, *word.span)]
            name = f"{array.name}:{label}" if array.shape else array.name
            rows.append([name, kind, str(word.bits), *figures, word.unit])
    return plain_table("Words", ["word", "kind", ">bits", ">one unit", ">from", ">to", "unit"], rows)


def range_table(ranges: Sequence[TorqueRange]) -> Table:
    """Return range, largest torque (also within joint limits) and effective bits of each torque, one per row."""
    limited = any(torque.within_limits and str(torque.within_limits) != str(torque.extent) for torque in ranges)
    heads = [">largest torque", ">error at most", "unit", ">effective bits"]
    if limited:  # two lines, so that all fits 80 columns
        heads = [">largest\ntorque", ">within joint\nlimits", ">error\nat most", "unit", ">effective\nbits"]
    rows = []
    for torque in ranges:
        extents = [str(torque.extent), *([str(torque.within_limits)] if limited else [])]
        figures = [*extents, f"{torque.bound:.3g}", torque.unit, f"{torque.effective_bits:.1f}"]
        rows.append([torque.joint, torque.shown_range(), *figures])
    return plain_table("Torques", ["joint", ">range", *heads], rows)


def chosen_forms(model: Model, budget: int | None = None) -> list[FormChoice]:
    """Return the form of each block that the evaluator ``words`` takes: the least cost within `budget` bytes.

    By default the budget is that of the model.
    """
    orders = [diagram.order for diagram in model.diagrams]
    return choose_forms(model.tables, orders, model.memory if budget is None else budget)


def choice_figures(choices: list[FormChoice]) -> list[dict[str, Any]]:
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


def choice_table(choices: list[FormChoice]) -> Table:
    """Return the chosen form of each block, what it costs, and why it was chosen."""
    rows = []
    for k, choice in enumerate(choices):
        form, time = choice.form, "constant" if choice.form.constant else "varies"
        sizes = (f"{form.bytes:,}", str(form.loads), str(len(form.chain)))
        rows.append([str(k), form.name.replace("_", "-"), *sizes, time, choice.reason])
    columns = [">block", "|form", ">bytes", ">loads", ">dependent", "|time", "why"]
    return plain_table("Forms that the evaluator words takes", columns, rows)


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


def _form_bytes(model: Model, block: int, form: str) -> int | None:
    """Return the bytes of a block in a form, or None where the form does not fit."""
    try:
        return make_form(form, model.tables[block], model.diagrams[block]).bytes
    except BddTorqueError:
        return None

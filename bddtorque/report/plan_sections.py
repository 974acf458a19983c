"""The parts of a page about how a model is made and what it costs: the plan, the blocks, their diagrams and forms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress

from bddtorque.base.workers import Progress
from bddtorque.bench.target_costs import TargetCost, target_costs
from bddtorque.model.model import Model
from bddtorque.plan.bdd import Diagram
from bddtorque.plan.engine import MemoryLimit
from bddtorque.plan.forms import FORMS, make_form
from bddtorque.plan.plan import Plan
from bddtorque.plan.plan_cost import Candidate, wide_operations
from bddtorque.plan.table import Table
from bddtorque.report.diagram_picture import MAX_NODES, diagram_picture, drawable_part, width_bars
from bddtorque.report.markup import Markup, details, element, section, table, zoomable
from bddtorque.report.plan_picture import MAX_COLUMNS, grouped, plan_picture
from bddtorque.spec.chips import chips
from bddtorque.targets.integer.integer_cost import plan_cycles
from bddtorque.targets.tables.cost import FormChoice, candidate, choose_forms

MAX_DRAWN = 12
"""Diagrams drawn; of more blocks the first that can be."""


def plan_section(plan: Plan, chip: str | None) -> Markup:
    """Return a plan in words as a picture; with a chip, the bits that its operations take too."""
    counts = plan.counts()
    steps = ", ".join(
        f"{counts[name]:,} {one if counts[name] == 1 else many}"
        for name, one, many in (
            ("inputs", "input word", "input words"),
            ("angle_sums", "sum of angles", "sums of angles"),
            ("lookups", "look-up", "look-ups"),
            ("products", "product", "products"),
            ("sums", "sum", "sums"),
        )
        if counts[name]
    )
    alike = (
        f"Words that are made alike stand in one box, and stages in at most {MAX_COLUMNS + 1} columns; a line is as "
        "thick as many words take that way."
        if grouped(plan)
        else "Every box is one word."
    )
    return section(
        "plan",
        "Plan",
        element("p", f"How input words become output words: {steps}."),
        details("Show the plan", element("p", alike), element("figure", plan_picture(plan))),
        *([details("Show the bits of products and sums", _register_table(plan, chip))] if chip else []),
    )


def _register_table(plan: Plan, chip: str) -> Markup:
    """Return the bits of the products and sums of a plan in machine integers before they are rounded."""
    widths = Counter(max(16, 1 << (bits - 1).bit_length()) for _, bits in wide_operations(plan, 0))
    rows = [[f"up to {bits}", f"{count:,}"] for bits, count in sorted(widths.items())]
    return table(f"Products and sums by the bits that they need, planned for chip {chip}", ["bits", "count"], rows)


def operations_section(model: Model) -> Markup:
    """Return the operations of a plan in floats, counted."""
    counts = model.plan.counts()
    named = (
        ("inputs", "input words"),
        ("angle_sums", "sums of angle words"),
        ("lookups", "look-ups of friction"),
        ("sines", "sines and cosines"),
        ("products", "products"),
        ("sums", "sums and differences"),
        ("fused", "fused multiply-adds"),
    )
    rows = [[name, f"{counts[key]:,}"] for key, name in named if counts[key]]
    how = (
        "How input words become output words: in IEEE floats, with every operation rounded to nearest, so that the "
        "words are the same on every machine."
    )
    operations = table("Operations of one state", ["operation", "count"], rows)
    return section("plan", "Plan", element("p", how), details("Show the operations", operations))


def blocks_section(model: Model) -> Markup:
    """Return the blocks: figures and widths of all diagrams, and drawings of what is small enough."""
    rows = []
    for k, (block, diagram) in enumerate(zip(model.plan.blocks, model.diagrams, strict=True)):
        users = [wire.name for wire in model.plan.wires if getattr(wire, "block", None) == k]
        used = (users[0] if users else "nothing") + (f" and {len(users) - 1} more" if len(users) > 1 else "")
        rows.append(
            [
                f"b{k}",
                element("td", f"{block.kind}: {used}", class_="text"),
                "+".join(map(str, block.input_widths)),
                str(diagram.output_bits),
                f"{1 << diagram.input_bits:,}",
                f"{diagram.node_count:,}",
                f"{max(diagram.level_widths, default=0):,}",
                str(max(diagram.rails)),
                str(diagram.depth),
                element("td", width_bars(diagram, block.input_widths, f"b{k}")),
            ]
        )
    heads = ["block", element("th", "of", scope="col", class_="text"), "input bits", "output bits", "rows", "nodes"]
    heads += ["widest level", "rails", "depth", "nodes by level"]
    what = "Each block is a truth table, stored as a reduced decision diagram whose output bits share nodes."
    bars = "The bars are the nodes of each level, top first. Rails are wires across a cut between two levels."
    folded = details(
        f"Show all {len(rows)} blocks" if len(rows) > 1 else "Show the block",
        element("p", bars),
        table("Blocks and their diagrams", heads, rows),
    )
    return section("blocks", "Tables and diagrams", element("p", what), folded, _drawings(model))


def _drawings(model: Model) -> Markup:
    """Return the diagrams that are small enough to be drawn, whole or their most significant bits."""
    figures: list[Markup] = []
    for k, (block, diagram) in enumerate(zip(model.plan.blocks, model.diagrams, strict=True)):
        part = bits, nodes = drawable_part(diagram)
        if not bits or len(figures) == MAX_DRAWN:
            continue
        some = "highest output bit" if len(bits) == 1 else f"{len(bits)} highest output bits"
        what = "all of it" if len(bits) == diagram.output_bits else f"its {some} of {diagram.output_bits}"
        counted = f"{len(nodes)} of {diagram.node_count:,} nodes"
        caption = f"b{k}, {what}: {counted}"
        picture = diagram_picture(diagram, part, block.input_widths, f"Diagram of block {caption}")
        figures.append(element("figure", zoomable(picture, caption), element("figcaption", caption)))
    if not figures:
        return element("p", f"No output bit has a diagram small enough to draw (at most {MAX_NODES} nodes).")
    how = (
        f"Blocks, or their most significant output bits, that need at most {MAX_NODES} nodes. From top to bottom: "
        "output bits, then one row per tested bit (x0.3 is bit 3 of the first input word). Follow a dashed line where "
        "the bit is 0 and a solid one where it is 1; a dotted line means 1 too, and negates what lies below. Short "
        "lines end in a constant."
    )
    return details(
        f"Show {len(figures)} small {'diagram' if len(figures) == 1 else 'diagrams'}",
        element("p", how),
        element("div", *figures, class_="diagrams"),
    )


def costs_section(model: Model, progress: Progress) -> Markup:
    """Return the costs of one state: by target, by chip for a plan of machine integers, and block by block."""
    forms = []
    if model.plan.made_of_tables:
        choices = choose_forms(model.tables, [diagram.order for diagram in model.diagrams], model.memory)
        for k, (words, diagram, choice) in enumerate(zip(model.tables, model.diagrams, choices, strict=True)):
            forms.append((block_forms(words, diagram), choice))
            progress.advance(f"forms of block {k}", 1.0, False)
    cycles = [_cycles(model.plan)] if model.plan.multiplies_integers else []
    return section("costs", "Cost", *_targets(model), *cycles, *([_forms(forms)] if forms else []))


def _targets(model: Model) -> list[Markup]:
    """Return the costs of one state by target."""
    heads = ["target", "look-ups", "sums", "products", "tables (ROM)", "on a PC, × float", "microcontrollers"]
    rows = [_target_row(cost) for cost in target_costs(model)]
    how = ("Operations and tables of one state. * is what was compiled; the others are estimates. ",
           element("code", "bddtorque bench"), " measures time on this computer, and cycles with ",
           element("code", "--chip"), ".")  # fmt: skip
    return [element("p", *how), table("Cost of one state by target", heads, rows)]


def _target_row(cost: TargetCost) -> list[object]:
    mark = "" if cost.counted else "about "
    size = f"{cost.most_bytes / 1000:,.1f} kB"  # as `compile` and `info` say it
    return [
        f"{cost.target}{' *' * cost.counted}",
        *(f"{mark}{count:,}" if count else "0" for count in (cost.look_ups, cost.sums, cost.products)),
        f"{'up to ' if cost.least_bytes < cost.most_bytes else ''}{size}",
        f"{max(cost.times_float, 1.0):.1f}",
        element("td", cost.chip, class_="text"),
    ]


def _cycles(plan: Plan) -> Markup:
    """Return estimates of the cycles of a plan of machine integers, chip by chip."""
    rows = [[name, f"{plan_cycles(plan, chip):,.0f}"] for name, chip in chips().items()]
    return table("Estimated cycles of one state, by chip", ["chip", "cycles"], rows)


def block_forms(words: Table, diagram: Diagram) -> dict[str, Candidate | None]:
    """Return the cost of a block in every form; None where making it would take too much memory."""
    forms: dict[str, Candidate | None] = dict.fromkeys(FORMS)
    for name in FORMS:
        with suppress(MemoryLimit):
            forms[name] = candidate(make_form(name, words, diagram))
    return forms


def _forms(forms: Sequence[tuple[Mapping[str, Candidate | None], FormChoice]]) -> Markup:
    rows = [
        [f"b{k}", *(_form(each[name], name == choice.form.name, choice.reason) for name in FORMS)]
        for k, (each, choice) in enumerate(forms)
    ]
    taken = sum(found.bytes for each, choice in forms if (found := each[choice.form.name]) is not None)
    heads = ["block", *(name.replace("_", "-") for name in FORMS)]
    shown = table(
        "Bytes, then loads per word · estimated cycles; the form in use is marked", heads, rows, class_="forms"
    )
    return details(f"Forms of the tables: {taken:,} bytes in use", shown)


def _form(found: Candidate | None, taken: bool, reason: str) -> Markup:
    if found is None:
        return element("td", "–", title="it would take too much memory to make")
    said = [f"{found.bytes:,}", element("small", f"{found.loads} · {found.cost}")]
    inside = [element("strong", said[0]), said[1]] if taken else said
    return element("td", *inside, class_="taken" if taken else None, title=reason if taken else None)

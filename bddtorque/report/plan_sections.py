"""The parts of a page about how a model is made and what it costs: the plan, the blocks, their diagrams and forms."""

from __future__ import annotations

from collections import Counter

from bddtorque.bench.target_costs import target_costs
from bddtorque.model.model import Model
from bddtorque.plan.plan import Plan
from bddtorque.plan.plan_cost import wide_operations
from bddtorque.report.diagram_picture import MAX_NODES, diagram_picture, drawable_part, width_bars
from bddtorque.report.markup import Markup, details, element, section, table, zoomable
from bddtorque.report.model_tables import (
    BLOCK_HEADS,
    COST_HEADS,
    COSTS,
    block_figures,
    block_rows,
    cost_rows,
)
from bddtorque.report.plan_picture import MAX_COLUMNS, grouped, plan_picture

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
    rows = [
        [*row, element("td", width_bars(diagram, block.input_widths, row[0]))]
        for row, block, diagram in zip(block_rows(block_figures(model)), model.plan.blocks, model.diagrams, strict=True)
    ]
    heads = [*BLOCK_HEADS, "nodes by level"]
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


def costs_section(model: Model) -> Markup:
    """Return the costs of one state by target."""
    bench, info = element("code", "bddtorque bench"), element("code", "bddtorque info --levels")
    how = bench, " measures times here, and cycles on chips. ", info, " shows each table in every form."
    return section("costs", "Cost", element("p", *how), table(COSTS, COST_HEADS, cost_rows(target_costs(model))))

"""The parts of a page about how it is made: maps of errors, the plan, the blocks and their diagrams, what all costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bddtorque.diagrams.choosing import Choice
from bddtorque.diagrams.loads import Candidate
from bddtorque.model.model import Model
from bddtorque.report.diagram_picture import MOST_NODES, diagram_picture, drawable_part, width_bars
from bddtorque.report.error_maps import Axis, ErrorMap, map_picture
from bddtorque.report.live_section import scale_picture
from bddtorque.report.markup import Markup, element, folded, scrolling, table
from bddtorque.report.plan_picture import MOST_COLUMNS, grouped, plan_picture
from bddtorque.report.term_costs import FORM_NAMES, TermCost

MOST_DRAWN = 12
"""Diagrams drawn; of more blocks the first that can be."""
SYMBOLS = ("q", "q̇")
BlockForms = tuple[Mapping[str, Candidate | None], Choice]
"""What a block takes in each form, None where it cannot be made, and the form that the evaluator `words` takes."""


def maps_section(model: Model, maps: Sequence[ErrorMap], start: Sequence[Sequence[int]]) -> Markup:
    """Return the maps of errors, torque by torque, each with its largest error beside the bound."""
    torques = model.certificate.torques
    state = "; ".join(
        f"{symbol} {', '.join(map(str, words))}" for symbol, words in zip(("q", "q̇", "q̈"), start, strict=True)
    )
    parts: list[Markup] = []
    if len(maps) == 1:  # one picture a torque: side by side
        parts = [element("div", *(_map(model, maps[0], j, named=True) for j in range(len(torques))), class_="maps few")]
    for j, torque in enumerate(torques if len(maps) > 1 else ()):
        figures = [_map(model, each, j) for each in maps]
        largest = max(float(abs(each.errors[j]).max()) for each in maps)
        title = f"τ{j + 1} {torque.joint}: at most {largest:.3f} found here, {torque.bound:.3f} proved"
        inside = element("div", *figures, class_="maps few" if len(maps) <= 3 else "maps")
        parts.append(
            element("details", element("summary", title), inside, open=j == 0 or len(torques) * len(maps) <= 12)
        )
    return element(
        "section",
        element("h2", "Errors"),
        element(
            "p",
            "Compiled − true torque in units of the last bit, over the positions of two joints. The colours end at the "
            f"proved bound. All other words stand still, at {state}.".replace("-", "−"),
        ),
        scale_picture(),
        *parts,
        id="errors",
    )


def _map(model: Model, found: ErrorMap, torque: int, named: bool = False) -> Markup:
    errors, bound = found.errors[torque], model.certificate.bounds[torque]
    across, up = (_axis_name(model, axis) for axis in (found.across, found.up))
    largest = float(abs(errors).max())
    said = f"Error over {across} (across) and {up} (up): at most {largest:.3f} units, {bound:.3f} proved"
    name = f"τ{torque + 1} {model.certificate.torques[torque].joint}: " if named else ""
    beside = f" found, {bound:.3f} proved" if named else ""
    over = f"{across} →, {up} ↑: " if named else f"{across.split()[0]} →, {up.split()[0]} ↑ "
    caption = element("figcaption", f"{name}{over}", element("b", f"{largest:.3f}"), beside)
    return element("figure", element("img", src=map_picture(errors, bound), alt=said, title=said), caption)


def _axis_name(model: Model, axis: Axis) -> str:
    return f"{SYMBOLS[axis[0]]}{axis[1] + 1} {model.formats.joint_names[axis[1]]}"


def plan_section(model: Model) -> Markup:
    """Return the plan as a picture."""
    plan = model.word_plan("a report")
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
        f"Words that are made alike stand in one box, and stages in at most {MOST_COLUMNS + 1} columns; a line is as "
        "thick as many words take that way."
        if grouped(plan)
        else "Every box is one word."
    )
    return element(
        "section",
        element("h2", "The plan"),
        element("p", f"How input words become torques: {steps}. {alike}"),
        element("figure", plan_picture(plan)),
        id="plan",
    )


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
    return element(
        "section",
        element("h2", "The plan"),
        element(
            "p",
            "How input words become torques: in IEEE floats, every operation rounded to nearest as it stands, so that "
            "the words are the same on every machine.",
        ),
        table("Operations of one state", ["operation", "count"], rows),
        id="plan",
    )


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
    heads: list[object] = ["block", _text_head("of"), "input bits", "output bits", "rows", "nodes", "widest level"]
    heads += ["rails", "depth", "nodes by level"]
    figure = table("Blocks and their diagrams", heads, rows)
    return element(
        "section",
        element("h2", "Tables and diagrams"),
        element(
            "p",
            "Every block is a truth table, kept as a reduced decision diagram that its output bits share. The bars are "
            "the nodes of each level, top first; rails are the wires of a cascade cut between two levels.",
        ),
        folded(f"All {len(rows)} blocks", figure, len(rows)),
        _drawings(model),
        id="blocks",
    )


def _drawings(model: Model) -> Markup:
    """Return the diagrams that are small enough to be drawn, whole or their most significant bits."""
    figures: list[Markup] = []
    for k, (block, diagram) in enumerate(zip(model.plan.blocks, model.diagrams, strict=True)):
        part = bits, nodes = drawable_part(diagram)
        if not bits or len(figures) == MOST_DRAWN:
            continue
        some = "highest output bit" if len(bits) == 1 else f"{len(bits)} highest output bits"
        what = "all of it" if len(bits) == diagram.output_bits else f"its {some} of {diagram.output_bits}"
        counted = f"{len(nodes)} of {diagram.node_count:,} nodes"
        caption = f"b{k}, {what}: {counted}"
        picture = diagram_picture(diagram, part, block.input_widths, f"Diagram of block {caption}")
        figures.append(element("figure", scrolling(picture, caption), element("figcaption", caption)))
    if not figures:
        return element("p", f"No output bit has a diagram of at most {MOST_NODES} nodes, which could be drawn.")
    return Markup(
        element("h3", "Small diagrams, drawn")
        + element(
            "p",
            f"What needs at most {MOST_NODES} nodes: blocks, or their most significant output bits. From top to "
            "bottom: output bits, then one row a tested bit (x0.3 is bit 3 of the first input word). Dashed lines are "
            "followed where the bit is 0, solid ones where it is 1; dotted ones as well, and they negate what lies "
            "below. Short lines end in a constant.",
        )
        + element("div", *figures, class_="diagrams")
    )


def costs_section(
    model: Model, terms: Sequence[TermCost], torques: Sequence[tuple[float, float]], forms: Sequence[BlockForms]
) -> Markup:
    """Return what terms and blocks cost."""
    names = [torque.joint for torque in model.certificate.torques]
    longest = max((each.serial for each in terms), default=1.0) or 1.0
    rows = [
        [
            f"τ{each.torque + 1} {names[each.torque]}",
            element("td", each.name, class_="text"),
            f"{each.lookups:,}",
            f"{each.products:,}",
            f"{each.serial:,.0f}",
            f"{each.longest:,.0f}",
            element("td", _bar(each.serial / longest)),
        ]
        for each in terms
    ]
    whole = [
        [f"τ{j + 1} {names[j]}", f"{serial:,.0f}", f"{longest:,.0f}"] for j, (serial, longest) in enumerate(torques)
    ]
    heads = ["torque", _text_head("term"), "look-ups", "products", "one processor", "enough processors", ""]
    listed = table("Steps of each term", heads, rows)
    return element(
        "section",
        element("h2", "What it costs"),
        element("h3", "Time, term by term"),
        element(
            "p",
            "Counted, not timed, as ",
            element("code", "bddtorque.schedule"),
            " counts: a test of a bit and an addition of two words take a step each, products are made of look-ups and "
            "additions, and a walk through a diagram takes as many steps as its longest path has tests. What several "
            "terms share is counted with each of them. ",
            element("code", "bddtorque bench"),
            " measures seconds.",
        ),
        table("Steps of each torque, its sum included", ["torque", "one processor", "enough processors"], whole),
        folded(f"All {len(rows)} terms", listed, len(rows)),
        element("h3", "Forms of the tables"),
        element(
            "p",
            "Bytes, then loads from memory for one word and the counted cost in cycles (docs/planner.md). The form "
            "that the evaluator ",
            element("code", "words"),
            " takes is marked.",
        ),
        _forms(forms),
        id="costs",
    )


def _forms(forms: Sequence[BlockForms]) -> Markup:
    rows = [
        [f"b{k}", *(_form(each[name], name == choice.form.name, choice.reason) for name in FORM_NAMES)]
        for k, (each, choice) in enumerate(forms)
    ]
    taken = sum(found.bytes for each, choice in forms if (found := each[choice.form.name]) is not None)
    shown = table(
        "Forms of the blocks", ["block", *(name.replace("_", "-") for name in FORM_NAMES)], rows, class_="forms"
    )
    listed = folded(f"All {len(rows)} blocks", shown, len(rows))
    return Markup(listed + element("p", f"All blocks in the forms taken: {taken:,} bytes."))


def _form(found: Candidate | None, taken: bool, reason: str) -> Markup:
    if found is None:
        return element("td", "–", title="it would take too much memory to make")
    said = [f"{found.bytes:,}", element("small", f"{found.loads} · {found.cost}")]
    inside = [element("strong", said[0]), said[1]] if taken else said
    return element("td", *inside, class_="taken" if taken else None, title=reason if taken else None)


def _text_head(name: str) -> Markup:
    """Return the head of a column of text."""
    return element("th", name, scope="col", class_="text")


def _bar(share: float) -> Markup:
    return element(
        "svg",
        element("rect", x=0.0, y=0.0, width=100 * share, height=8.0),
        viewbox="0 0 100 8",
        class_="share",
        aria_hidden="true",
    )

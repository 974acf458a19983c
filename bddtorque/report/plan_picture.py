"""The plan as a picture: words from left to right, each stage of the cascade a column.

A small plan is drawn wire by wire. In a large one the wires of a column that are made alike (of one kind, from one
table or by one method) are one box with their number on it, and lines are as thick as many words take that way.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from bddtorque.base.shown_text import counted
from bddtorque.plan.blocks import output_format
from bddtorque.plan.plan import Plan
from bddtorque.plan.wires import Input, Lookup, Product, Wire
from bddtorque.report.diagram_picture import Point, depths, layout
from bddtorque.report.markup import Markup, element, legend, picture, zoomable

MAX_WIRES = 48
"""Drawn one by one; more are put together."""
MAX_COLUMNS = 12
WIDTH, HEIGHT, GAP, COLUMN, PASSING = 124.0, 34.0, 10.0, 180.0, 11.0
"""Of boxes and what is between them; `PASSING` is the room of a line that goes past a column."""
LABEL = 19
"""Letters that fit a box."""
KINDS = {
    "input": "input words",
    "angle_sum": "sums of angles, which wrap",
    "lookup": "tables",
    "product": "products",
    "sum": "sums, rounded once",
    "output": "output words",
}
SEVERAL = {
    "input": "input words",
    "angle_sum": "angle sums",
    "lookup": "look-ups",
    "product": "products",
    "sum": "sums",
}
"""Texts of boxes of several wires."""

Box = tuple[int, str, str]
"""Column, kind, and what tells it from others of that column and kind."""


Drawn = tuple[str, str, str]
"""A box: what it says, in two lines, and what a pointer that rests on it is told."""


def plan_picture(plan: Plan) -> Markup:
    """Return the plan as SVG with a legend."""
    kinds = [(kind, what) for kind, what in KINDS.items() if kind in {"output", *(wire.kind for wire in plan.wires)}]
    return Markup(zoomable(plan_svg(plan), "The plan as a picture") + legend(kinds))


def plan_svg(plan: Plan) -> Markup:
    """Return the plan as SVG."""
    boxes, drawn = _boxes(plan)
    edges: Counter[tuple[Box, Box]] = Counter()
    for place, wire in enumerate(plan.wires):
        edges.update((boxes[source], boxes[place]) for source in wire.sources if boxes[source] != boxes[place])
    for k, output in enumerate(plan.outputs):
        edges.update((boxes[wire], boxes[len(plan.wires) + k]) for wire, _ in output.parts)
    columns = [[box for box in drawn if box[0] == place] for place in range(1 + max(box[0] for box in drawn))]
    crossing = [edge for edge in edges if edge[0][0] != edge[1][0]]
    placed, routes, height = layout(columns, crossing, HEIGHT + GAP, PASSING, together=True)
    width = len(columns) * COLUMN - (COLUMN - WIDTH) + 2 * GAP
    lines = [_line(route, edge[0][1], edges[edge]) for edge, route in zip(crossing, routes, strict=True)]
    shapes = [_shape(box, drawn[box], placed[box]) for box in drawn]
    return picture([*lines, *shapes], width, height, "plan", f"The plan: {_counted(plan)}.")


def grouped(plan: Plan) -> bool:
    """Return whether the plan is too large to be drawn wire by wire."""
    return len(plan.wires) > MAX_WIRES


def _counted(plan: Plan) -> str:
    counts = plan.counts()
    names = ("inputs", "angle_sums", "lookups", "products", "sums", "blocks")
    return ", ".join(f"{counts[name]:,} {name.replace('_', ' ')}" for name in names)


def _boxes(plan: Plan) -> tuple[list[Box], dict[Box, Drawn]]:
    """Return the box of every wire and output, and what is in each box."""
    stages = depths({place: wire.sources for place, wire in enumerate(plan.wires)})
    last = 1 + max(stages.values(), default=0)
    columns = min(last, MAX_COLUMNS)
    boxes: list[Box] = []
    members: dict[Box, list[int]] = {}
    for place, wire in enumerate(plan.wires):
        # inputs keep a column of their own
        column = 0 if isinstance(wire, Input) else 1 + (stages[place] - 1) * (columns - 1) // max(last - 1, 1)
        box = (column, wire.kind, _alike(wire) if grouped(plan) else str(place))
        boxes.append(box)
        members.setdefault(box, []).append(place)
    drawn = {box: _described(plan, wires) for box, wires in members.items()}
    for k, output in enumerate(plan.outputs):
        box = (columns, "output", str(k))
        boxes.append(box)
        drawn[box] = (output.name, counted(len(output.parts), "summands"), f"{output.name}: one output word")
    return boxes, drawn


def _alike(wire: Wire) -> str:
    if isinstance(wire, Product):
        return wire.method
    return f"b{wire.block}" if isinstance(wire, Lookup) else ""


def _described(plan: Plan, wires: Sequence[int]) -> Drawn:
    first = plan.wires[wires[0]]
    low, high = min(map(plan.bits_of, wires)), max(map(plan.bits_of, wires))
    bits = f"{low} bits" if low == high else f"{low} to {high} bits"
    names = ", ".join(plan.wires[place].name for place in wires[:12]) + (", ..." if len(wires) > 12 else "")
    if isinstance(first, Lookup) or (isinstance(first, Product) and first.method == "blocks" and len(wires) == 1):
        block = plan.blocks[first.block]
        bits = f"b{first.block}: {'+'.join(map(str, block.input_widths))} → {output_format(block)[0]} bits"
    if len(wires) == 1:
        return _cut(first.name), bits, f"w{wires[0]} {first.kind.replace('_', ' ')}: {first.name}"
    return f"{len(wires):,} {_what(first)}", bits, names


def _what(wire: Wire) -> str:
    if isinstance(wire, Product):
        return f"× {wire.method}"
    return SEVERAL[wire.kind]


def _cut(text: str) -> str:
    return text if len(text) <= LABEL else f"{text[: LABEL - 1]}…"


def _line(route: Sequence[Point], kind: str, words: int) -> Markup:
    """Return a line through the middles of columns: level beside the boxes, bent between them."""
    points = [_middle(point) for point in route]
    x, y = points[0]
    path = f"M{x + WIDTH / 2:.0f},{y:.1f}"
    for x0, y0 in points[1:]:
        start, end = x + WIDTH / 2, x0 - WIDTH / 2
        bend = (end - start) / 2
        path += f"C{start + bend:.0f},{y:.1f} {end - bend:.0f},{y0:.1f} {end:.0f},{y0:.1f}"
        if (x0, y0) != points[-1]:
            path += f"H{x0 + WIDTH / 2:.0f}"
        x, y = x0, y0
    return element("path", d=path, class_=f"wire {kind}", stroke_width=1.2 + 0.9 * math.log2(words))


def _middle(point: Point) -> tuple[float, float]:
    return point[0] * COLUMN + WIDTH / 2 + GAP, point[1]


def _shape(box: Box, drawn: Drawn, point: Point) -> Markup:
    x, y = _middle(point)
    label, below, title = drawn
    return element(
        "g",
        element("title", title),
        element("rect", x=x - WIDTH / 2, y=y - HEIGHT / 2, width=WIDTH, height=HEIGHT, rx=5.0),
        element("text", label, x=x, y=y - 3.0, class_="name"),
        element("text", below, x=x, y=y + 11.0, class_="bits"),
        class_=f"box {box[1]}",
    )

"""Small diagrams drawn node by node, and the widths of all of them as bars.

A line is dashed where the tested bit is 0 and solid where it is 1; a dotted one is a 1 as well and negates what lies
below it. Short lines end in a constant.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bddtorque.plan.bdd import Diagram
from bddtorque.report.layered import Point, layout
from bddtorque.report.markup import Markup, element, picture

MAX_NODES = 40
"""Drawn in one picture."""
RADIUS, ROW, STEP, PASSING, MARGIN = 8.0, 42.0, 44.0, 16.0, 40.0
BAR, BARS_HEIGHT = 9.0, 48.0


Part = tuple[tuple[int, ...], tuple[int, ...]]
"""The output bits of a diagram that are drawn, the most significant ones, and the nodes they need."""


def drawable_part(diagram: Diagram, most: int = MAX_NODES) -> Part:
    """Return as many of the most significant output bits as can be drawn with at most so many nodes."""
    bits: list[int] = []
    nodes: set[int] = set()
    for bit in range(diagram.output_bits - 1, -1, -1):
        needed = nodes | _below(diagram, int(diagram.roots[bit]) >> 1, most)
        if len(needed) > most:
            break
        bits, nodes = [*bits, bit], needed
    return tuple(bits), tuple(sorted(nodes))


def bit_part(diagram: Diagram, bit: int, most: int) -> Part:
    """Return one output bit with its nodes; no bit at all if it needs more nodes."""
    nodes = _below(diagram, int(diagram.roots[bit]) >> 1, most)
    return ((bit,), tuple(sorted(nodes))) if len(nodes) <= most else ((), ())


def _below(diagram: Diagram, node: int, most: int) -> set[int]:
    """Return the nodes under a node, itself included, the constant not; no more than one above `most` of them."""
    found: set[int] = set()
    waiting = [node]
    while waiting and len(found) <= most:
        here = waiting.pop()
        if here and here not in found:
            found.add(here)
            waiting += [int(diagram.low[here]) >> 1, int(diagram.high[here]) >> 1]
    return found


def diagram_picture(
    diagram: Diagram, part: Part, input_widths: tuple[int, ...], label: str, words: Sequence[str] = ()
) -> Markup:
    """Return some output bits of a diagram as SVG.

    `label`: for those who cannot see it; `words`: names of the input words; x0, x1, ... unless given.
    """
    bits, nodes = part
    levels = sorted({int(diagram.level[node]) for node in nodes})
    rows = [[f"root{bit}" for bit in bits]]
    rows += [[_name(node) for node in nodes if diagram.level[node] == level] for level in levels]
    edges = [(f"root{bit}", int(diagram.roots[bit]), "") for bit in bits]
    for node in nodes:
        edges += [(_name(node), int(diagram.low[node]), "low"), (_name(node), int(diagram.high[node]), "")]
    inner = [(one, edge, kind or _kind(edge)) for one, edge, kind in edges if edge > 1]
    placed, routes, length = layout(rows, [(one, _name(edge >> 1)) for one, edge, _ in inner], STEP, PASSING)
    names = ["bit", *(_bit_name(diagram.order[level], input_widths, words) for level in levels)]
    margin = max(MARGIN, 6.5 * max(map(len, names)))

    def middle(point: Point) -> tuple[float, float]:
        return point[1] + margin, 16.0 + ROW * point[0]

    at = {each: middle(point) for each, point in placed.items()}
    height = 44.0 + ROW * (len(rows) - 1)
    shapes = [_edge([*map(middle, route)], kind) for (_, _, kind), route in zip(inner, routes, strict=True)]
    ends = [_end(*at[one], edge, kind) for one, edge, kind in edges if edge <= 1]
    shapes += [line for line, _ in ends]
    shapes += [element("text", f"{bit}", x=at[f"root{bit}"][0], y=14.0, class_="root") for bit in bits]
    shapes += [element("circle", cx=at[_name(node)][0], cy=at[_name(node)][1], r=RADIUS) for node in nodes]
    shapes += [constant for _, constant in ends]  # above the lines that pass there
    shapes += [element("text", said, x=2.0, y=18.0 + ROW * k, class_="level") for k, said in enumerate(names)]
    return picture(shapes, length + margin, height, "diagram", label)


def width_bars(diagram: Diagram, input_widths: tuple[int, ...], label: str) -> Markup:
    """Return the nodes of each level as bars, the top of the diagram to the left."""
    widths = diagram.level_widths
    most = max(max(widths, default=0), 1)
    length = len(widths) * BAR
    bars = [
        element(
            "g",
            element("title", f"{_bit_name(diagram.order[level], input_widths)}: {width:,} nodes"),
            element("rect", x=level * BAR, y=0.0, width=BAR, height=BARS_HEIGHT, class_="behind"),
            element(
                "rect",
                x=level * BAR + 1,
                y=BARS_HEIGHT * (1 - width / most),
                width=BAR - 2,
                height=max(BARS_HEIGHT * width / most, 0.6 if width else 0.0),
            ),
        )
        for level, width in enumerate(widths)
    ]
    said = f"{label}: nodes by level {', '.join(map(str, widths))}"
    return picture(bars, length, BARS_HEIGHT, "bars", said)


def _name(node: int) -> str:
    return f"node{node}"


def _kind(edge: int) -> str:
    return "negated" if edge & 1 else "high"


def _bit_name(variable: int, input_widths: tuple[int, ...], words: Sequence[str] = ()) -> str:
    """Return a variable as a bit of an input word: x0.11 is bit 11 of the first word."""
    ends = np.cumsum(input_widths)
    word = int(np.searchsorted(ends, variable, side="right"))
    return f"{words[word] if words else f'x{word}'}.{int(ends[word]) - 1 - variable}"


def _edge(points: Sequence[tuple[float, float]], kind: str) -> Markup:
    """Return a line downwards through the middles of rows."""
    side = -2.5 if kind == "low" else 2.5  # so that two lines to one node are told apart
    (x, y), last = points[0], len(points) - 1
    y += RADIUS
    path = f"M{x + side:.1f},{y:.1f}"
    for k, (x1, middle) in enumerate(points[1:], 1):
        y1 = middle - RADIUS if k == last else middle
        half = (y1 - y) / 2
        path += f"C{x + side:.1f},{y + half:.1f} {x1 + side:.1f},{y1 - half:.1f} {x1 + side:.1f},{y1:.1f}"
        x, y = x1, y1
    return element("path", d=path, class_=kind)


def _end(x: float, y: float, edge: int, kind: str) -> tuple[Markup, Markup]:
    """Return a short line to a constant, and the constant at its end."""
    side = -1.0 if kind == "low" else 1.0
    x1, y1 = x + side * 11, y + 14
    line = element("line", x1=x + side * 5, y1=y + 6, x2=x1, y2=y1, class_=kind or "high")
    return line, element("text", str(edge), x=x1 + side * 3, y=y1 + 8, class_="end")

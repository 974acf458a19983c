"""Small diagrams drawn node by node, and the widths of all of them as bars.

A line is dashed where the tested bit is 0 and solid where it is 1; a dotted one is a 1 as well and negates what lies
below it. There is one constant, 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bddtorque.diagrams.bdd import Diagram
from bddtorque.report.layered import ordered_layers, spread
from bddtorque.report.markup import Markup, element

MOST_NODES = 40
"""Drawn in one picture."""
RADIUS, ROW, STEP, MARGIN = 8.0, 36.0, 26.0, 54.0
BAR, BARS_HEIGHT = 9.0, 48.0


@dataclass(frozen=True)
class Part:
    """The output bits of a diagram that are drawn, the most significant ones, and the nodes they need."""

    bits: tuple[int, ...]
    nodes: tuple[int, ...]

    @property
    def nothing(self) -> bool:
        """Whether not even one output bit is small enough."""
        return not self.bits


def drawable_part(diagram: Diagram, most: int = MOST_NODES) -> Part:
    """Return as many of the most significant output bits as can be drawn with at most so many nodes."""
    bits: list[int] = []
    nodes: set[int] = set()
    for bit in range(diagram.output_bits - 1, -1, -1):
        needed = nodes | _below(diagram, int(diagram.roots[bit]) >> 1, most)
        if len(needed) > most:
            break
        bits, nodes = [*bits, bit], needed
    return Part(tuple(bits), tuple(sorted(nodes)))


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


def diagram_picture(diagram: Diagram, part: Part, input_widths: tuple[int, ...], label: str) -> Markup:
    """Return some output bits of a diagram as SVG, and what it is called for those who cannot see it."""
    levels = sorted({int(diagram.level[node]) for node in part.nodes})
    rows: list[list[str]] = [[f"root{bit}" for bit in part.bits]]
    rows += [[_name(node) for node in part.nodes if diagram.level[node] == level] for level in levels]
    rows.append([_name(0)])
    lines = [(f"root{bit}", _name(int(diagram.roots[bit]) >> 1), _kind(int(diagram.roots[bit]))) for bit in part.bits]
    for node in part.nodes:
        for edge, kind in ((int(diagram.low[node]), "low"), (int(diagram.high[node]), "")):
            lines.append((_name(node), _name(edge >> 1), kind or _kind(edge)))
    rows = ordered_layers(rows, [(one, other) for one, other, _ in lines])
    width = max(max(map(len, rows)) * STEP, 90.0) + 2 * MARGIN
    at = {
        name: (x, 16.0 + ROW * place)
        for place, row in enumerate(rows)
        for name, x in zip(row, spread(len(row), STEP, width), strict=True)
    }
    height = 32.0 + ROW * (len(rows) - 1)
    shapes = [_edge(at[one], at[other], kind) for one, other, kind in lines]
    shapes += [
        element("text", f"{bit}", x=at[f"root{bit}"][0], y=at[f"root{bit}"][1] + 4, class_="root") for bit in part.bits
    ]
    shapes += [element("circle", cx=at[_name(node)][0], cy=at[_name(node)][1], r=RADIUS) for node in part.nodes]
    x, y = at[_name(0)]
    shapes += [
        element("rect", x=x - 9, y=y - 9, width=18.0, height=18.0),
        element("text", "0", x=x, y=y + 4, class_="root"),
    ]
    shapes += [
        element(
            "text", _bit_name(diagram.order[level], input_widths), x=4.0, y=16.0 + ROW * (k + 1) + 4, class_="level"
        )
        for k, level in enumerate(levels)
    ]
    shapes.append(element("text", "bit", x=4.0, y=20.0, class_="level"))
    return element(
        "svg",
        *shapes,
        viewbox=f"0 0 {width:g} {height:g}",
        width=f"{width:g}",
        height=f"{height:g}",
        class_="diagram",
        role="img",
        aria_label=label,
    )


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
    return element(
        "svg",
        *bars,
        viewbox=f"0 0 {length:g} {BARS_HEIGHT:g}",
        width=f"{length:g}",
        height=f"{BARS_HEIGHT:g}",
        class_="bars",
        role="img",
        aria_label=f"{label}: nodes by level {', '.join(map(str, widths))}",
    )


def _name(node: int) -> str:
    return f"n{node}"


def _kind(edge: int) -> str:
    return "negated" if edge & 1 else "high"


def _bit_name(variable: int, input_widths: tuple[int, ...]) -> str:
    """Return a variable as a bit of an input word: x0.11 is bit 11 of the first word."""
    ends = np.cumsum(input_widths)
    word = int(np.searchsorted(ends, variable, side="right"))
    return f"x{word}.{int(ends[word]) - 1 - variable}"


def _edge(start: tuple[float, float], end: tuple[float, float], kind: str) -> Markup:
    side = -3.0 if kind == "low" else 3.0  # so that two lines to one node are told apart
    (x0, y0), (x1, y1) = (start[0] + side / 2, start[1] + RADIUS), (end[0] + side / 2, end[1] - RADIUS)
    middle = (y1 - y0) / 2
    path = f"M{x0:.1f},{y0:.1f}C{x0 + side:.1f},{y0 + middle:.1f} {x1 + side:.1f},{y1 - middle:.1f} {x1:.1f},{y1:.1f}"
    return element("path", d=path, class_=kind)

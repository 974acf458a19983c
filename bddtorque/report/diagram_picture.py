"""Small diagrams drawn node by node, and the widths of all of them as bars.

A line is dashed where the tested bit is 0 and solid where it is 1; a dotted one is a 1 as well and negates what lies
below it. Short lines end in a constant. `layout` places the nodes of layers so that few lines cross; plans are drawn by
it too.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import TypeVar

import numpy as np

from bddtorque.plan.bdd import Diagram
from bddtorque.report.markup import Markup, element, picture

Node = TypeVar("Node", bound=Hashable)
Bend = tuple[str, Hashable, int]
"""The word "bend", the line that passes (its place in the list, or the node that it comes from), and a layer."""
Point = tuple[int, float]
"""A layer, and a place along it."""

SWEEPS = 8
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


def layout(
    layers: Sequence[Sequence[Node]],
    lines: Sequence[tuple[Node, Node]],
    size: float,
    passing: float,
    together: bool = False,
) -> tuple[dict[Node, Point], list[list[Point]], float]:
    """Return places of nodes so that few lines cross, the points that each line goes through, and the longest layer.

    Parameters
    ----------
    layers
        The nodes of each layer.
    lines
        From a node to one of a later layer.
    size, passing
        Lengths of a node, and of a line that passes, along a layer.
    together
        The lines of one node pass a layer as one.
    """
    layer_of = {node: place for place, layer in enumerate(layers) for node in layer}
    filled: list[list[Node | Bend]] = [list(layer) for layer in layers]
    routes: list[list[Node | Bend]] = []
    for number, (start, end) in enumerate(lines):
        between = range(layer_of[start] + 1, layer_of[end])
        bends: list[Node | Bend] = [("bend", start if together else number, place) for place in between]
        for bend, place in zip(bends, between, strict=True):
            if bend not in filled[place]:
                filled[place].append(bend)
        routes.append([start, *bends, end])
    before: dict[Node | Bend, list[Node | Bend]] = {node: [] for layer in filled for node in layer}
    after: dict[Node | Bend, list[Node | Bend]] = {node: [] for layer in filled for node in layer}
    for route in routes:
        for upper, lower in pairwise(route):
            after[upper].append(lower)
            before[lower].append(upper)
    _reorder(filled, before, after)
    sizes = {node: size if node in layer_of else passing for layer in filled for node in layer}
    along, length = _positions(filled, {node: before[node] + after[node] for node in before}, sizes)
    at = {node: (place, along[node]) for place, layer in enumerate(filled) for node in layer}
    return {node: at[node] for node in layer_of}, [[at[node] for node in route] for route in routes], length


def _reorder(
    layers: list[list[Node | Bend]],
    before: Mapping[Node | Bend, list[Node | Bend]],
    after: Mapping[Node | Bend, list[Node | Bend]],
) -> None:
    """Put every node where its neighbours in the layer before are on average, then in the one after, and so on."""
    places = {node: (k + 0.5) / len(layer) for layer in layers for k, node in enumerate(layer)}
    for sweep in range(SWEEPS):
        neighbours = before if sweep % 2 == 0 else after
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            means = {node: _mean([places[near] for near in neighbours[node]], places[node]) for node in layer}
            layer.sort(key=means.__getitem__)
            places.update({node: (k + 0.5) / len(layer) for k, node in enumerate(layer)})


def _positions(
    layers: Sequence[Sequence[Node | Bend]],
    neighbours: Mapping[Node | Bend, list[Node | Bend]],
    sizes: Mapping[Node | Bend, float],
) -> tuple[dict[Node | Bend, float], float]:
    """Return the places of things of these sizes along their layers, and the length that the longest layer takes.

    Each is drawn to the middle of its neighbours, as far as the order and the sizes of its own layer allow.
    """
    at: dict[Node | Bend, float] = {}
    for layer in layers:
        total = sum(sizes[node] for node in layer)
        ends = [0.0, *accumulate(sizes[node] for node in layer)]
        at.update({node: end + sizes[node] / 2 - total / 2 for node, end in zip(layer, ends, strict=False)})
    for sweep in range(SWEEPS):
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            wanted = [_mean([at[near] for near in neighbours[node]], at[node]) for node in layer]
            at.update(zip(layer, _apart(wanted, [sizes[node] for node in layer]), strict=True))
    first = min(at[node] - sizes[node] / 2 for node in at)
    last = max(at[node] + sizes[node] / 2 for node in at)
    return {node: place - first for node, place in at.items()}, last - first


def _apart(wanted: Sequence[float], sizes: Sequence[float]) -> list[float]:
    """Return the places nearest to those wanted (least squares) that keep the order and leave room for all sizes.

    Without the room that those before take, places need only not fall: neighbours that do are put at their mean.
    """
    room = [0.0, *accumulate((size + following) / 2 for size, following in pairwise(sizes))]
    blocks: list[tuple[float, int]] = []  # mean and count
    for want, before in zip(wanted, room, strict=True):
        mean, count = want - before, 1
        while blocks and blocks[-1][0] > mean:
            previous, more = blocks.pop()
            mean, count = (mean * count + previous * more) / (count + more), count + more
        blocks.append((mean, count))
    levels = [mean for mean, count in blocks for _ in range(count)]
    return [level + before for level, before in zip(levels, room, strict=True)]


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def depths(sources: Mapping[Node, Sequence[Node]]) -> dict[Node, int]:
    """Return the largest number of steps before each node; sources stand before what they feed."""
    steps: dict[Node, int] = {}
    for node, before in sources.items():
        steps[node] = 1 + max((steps[near] for near in before), default=-1)
    return steps

"""Drawings in layers: places of the nodes of each layer, and of the lines between them, so that few lines cross.

A line that passes a layer gets a place of its own there, a *bend*, so that it does not run through what stands there.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)
Bend = tuple[str, Hashable, int]
"""The word "bend", the line that passes (its place in the list, or the node that it comes from), and a layer."""
Point = tuple[int, float]
"""A layer, and a place along it."""

SWEEPS = 8


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

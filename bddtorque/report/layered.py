"""Drawings in layers: where the nodes of each layer go, and the lines between them, so that few of them cross.

A line that passes a layer gets a place of its own there, a *bend*, so that it does not run through what stands there.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
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
    """Return where nodes stand so that few lines cross, the points that each line goes through, and the longest layer.

    Parameters
    ----------
    layers
        The nodes of each layer.
    lines
        From a node to one of a later layer.
    size, passing
        What a node, and a line that passes, takes along a layer.
    together
        The lines of one node pass a layer as one.
    """
    layer_of = {node: place for place, layer in enumerate(layers) for node in layer}
    found: list[list[Node | Bend]] = [list(layer) for layer in layers]
    routes: list[list[Node | Bend]] = []
    for number, (one, other) in enumerate(lines):
        between = range(layer_of[one] + 1, layer_of[other])
        bends: list[Node | Bend] = [("bend", one if together else number, place) for place in between]
        for bend, place in zip(bends, between, strict=True):
            if bend not in found[place]:
                found[place].append(bend)
        routes.append([one, *bends, other])
    _reorder(found, routes)
    along, length = _positions(
        found, routes, {node: size if node in layer_of else passing for each in found for node in each}
    )
    at = {node: (place, along[node]) for place, layer in enumerate(found) for node in layer}
    return {node: at[node] for node in layer_of}, [[at[each] for each in route] for route in routes], length


def _reorder(layers: list[list[Node | Bend]], routes: Iterable[Sequence[Node | Bend]]) -> None:
    """Put every node where its neighbours in the layer before are on average, then in the one after, and so on."""
    before: dict[Node | Bend, list[Node | Bend]] = {node: [] for layer in layers for node in layer}
    after: dict[Node | Bend, list[Node | Bend]] = {node: [] for layer in layers for node in layer}
    for route in routes:
        for one, other in pairwise(route):
            after[one].append(other)
            before[other].append(one)
    places = {node: (k + 0.5) / len(layer) for layer in layers for k, node in enumerate(layer)}
    for sweep in range(SWEEPS):
        neighbours = before if sweep % 2 == 0 else after
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            means = {node: _mean([places[each] for each in neighbours[node]], places[node]) for node in layer}
            layer.sort(key=means.__getitem__)
            places.update({node: (k + 0.5) / len(layer) for k, node in enumerate(layer)})


def _positions(
    layers: Sequence[Sequence[Node | Bend]],
    routes: Iterable[Sequence[Node | Bend]],
    sizes: Mapping[Node | Bend, float],
) -> tuple[dict[Node | Bend, float], float]:
    """Return where things of these sizes stand along their layers, and the length that the longest layer takes.

    Each is drawn to the middle of its neighbours, as far as the order and the sizes of its own layer allow.
    """
    neighbours: dict[Node | Bend, list[Node | Bend]] = {node: [] for layer in layers for node in layer}
    for route in routes:
        for one, other in pairwise(route):
            neighbours[one].append(other)
            neighbours[other].append(one)
    at: dict[Node | Bend, float] = {}
    for layer in layers:
        total = sum(sizes[node] for node in layer)
        ends = [0.0, *accumulate(sizes[node] for node in layer)]
        at.update({node: end + sizes[node] / 2 - total / 2 for node, end in zip(layer, ends, strict=False)})
    for sweep in range(SWEEPS):
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            wanted = [_mean([at[each] for each in neighbours[node]], at[node]) for node in layer]
            at.update(zip(layer, _apart(wanted, [sizes[node] for node in layer]), strict=True))
    first = min(at[node] - sizes[node] / 2 for node in at)
    last = max(at[node] + sizes[node] / 2 for node in at)
    return {node: place - first for node, place in at.items()}, last - first


def _apart(wanted: Sequence[float], sizes: Sequence[float]) -> list[float]:
    """Return the places nearest to those wanted (least squares) that keep the order and leave room for all sizes.

    Without the room that those before take, places need only not fall: neighbours that do are put at their mean.
    """
    room = [0.0, *accumulate((one + other) / 2 for one, other in pairwise(sizes))]
    blocks: list[tuple[float, int]] = []  # mean and count
    for want, before in zip(wanted, room, strict=True):
        mean, count = want - before, 1
        while blocks and blocks[-1][0] > mean:
            other, others = blocks.pop()
            mean, count = (mean * count + other * others) / (count + others), count + others
        blocks.append((mean, count))
    levels = [mean for mean, count in blocks for _ in range(count)]
    return [level + before for level, before in zip(levels, room, strict=True)]


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def depths(sources: Mapping[Node, Sequence[Node]]) -> dict[Node, int]:
    """Return how many steps come before each node at most; sources stand before what they feed."""
    found: dict[Node, int] = {}
    for node, before in sources.items():
        found[node] = 1 + max((found[each] for each in before), default=-1)
    return found

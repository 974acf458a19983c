"""Drawings in layers: where the nodes of each layer go, and the lines between them, so that few of them cross.

A line that passes a layer gets a place of its own there, a *bend*, so that it does not run through what stands there.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, TypeVar

Node = TypeVar("Node", bound=Hashable)
Bend = tuple[str, int, int]
"""The word "bend", the place of a line in the list of lines, and a layer."""

SWEEPS = 8


@dataclass(frozen=True)
class Routed(Generic[Node]):
    """A drawing in layers.

    Attributes
    ----------
    layers : nodes and bends of each layer, in order
    routes : for each line its ends and the bends between them
    """

    layers: list[list[Node | Bend]]
    routes: list[list[Node | Bend]]


def routed(layers: Sequence[Sequence[Node]], lines: Sequence[tuple[Node, Node]]) -> Routed[Node]:
    """Return the layers in an order with few crossings, and the way that every line takes; lines go to later layers."""
    layer_of = {node: place for place, layer in enumerate(layers) for node in layer}
    found: list[list[Node | Bend]] = [list(layer) for layer in layers]
    routes: list[list[Node | Bend]] = []
    for number, (one, other) in enumerate(lines):
        bends: list[Node | Bend] = [("bend", number, place) for place in range(layer_of[one] + 1, layer_of[other])]
        for bend, place in zip(bends, range(layer_of[one] + 1, layer_of[other]), strict=True):
            found[place].append(bend)
        routes.append([one, *bends, other])
    _reorder(found, routes)
    return Routed(found, routes)


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
            means = {
                node: sum(places[each] for each in neighbours[node]) / len(neighbours[node])
                if neighbours[node]
                else places[node]
                for node in layer
            }
            layer.sort(key=means.__getitem__)
            places.update({node: (k + 0.5) / len(layer) for k, node in enumerate(layer)})


def is_bend(node: object) -> bool:
    """Return whether a node of a layer is only a place that a line passes."""
    return isinstance(node, tuple) and len(node) == 3 and node[0] == "bend"


def middles(sizes: Sequence[float], length: float) -> list[float]:
    """Return the middles of things of these sizes, side by side about the middle of a length."""
    begin = (length - sum(sizes)) / 2
    found = []
    for size in sizes:
        found.append(begin + size / 2)
        begin += size
    return found


def depths(sources: Mapping[Node, Sequence[Node]]) -> dict[Node, int]:
    """Return how many steps come before each node at most; sources stand before what they feed."""
    found: dict[Node, int] = {}
    for node, before in sources.items():
        found[node] = 1 + max((found[each] for each in before), default=-1)
    return found

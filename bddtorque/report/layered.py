"""Drawings in layers: where the nodes of a layer go so that few lines between layers cross."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)

SWEEPS = 6


def ordered_layers(layers: Sequence[Sequence[Node]], edges: Iterable[tuple[Node, Node]]) -> list[list[Node]]:
    """Return the layers with their nodes in an order with few crossings.

    Each node goes where its neighbours in other layers are on average, layer after layer, down and up in turn.
    """
    neighbours: dict[Node, list[Node]] = {node: [] for layer in layers for node in layer}
    for one, other in edges:
        neighbours[one].append(other)
        neighbours[other].append(one)
    layer_of = {node: place for place, layer in enumerate(layers) for node in layer}
    found = [list(layer) for layer in layers]
    places = _places(found)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for current in range(len(found)) if down else range(len(found) - 1, -1, -1):
            means = {
                node: _mean(
                    [
                        places[each]
                        for each in neighbours[node]
                        if (layer_of[each] < current if down else layer_of[each] > current)
                    ],
                    places[node],
                )
                for node in found[current]
            }
            found[current].sort(key=means.__getitem__)
            places.update(_places([found[current]]))
    return found


def _places(layers: Sequence[Sequence[Node]]) -> dict[Node, float]:
    """Return where each node of a layer stands, from 0 to 1."""
    return {node: (k + 0.5) / len(layer) for layer in layers for k, node in enumerate(layer)}


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def spread(count: int, size: float, length: float) -> list[float]:
    """Return the middles of `count` things of one size, evenly about the middle of a length."""
    begin = (length - count * size) / 2
    return [begin + (k + 0.5) * size for k in range(count)]


def depths(sources: Mapping[Node, Sequence[Node]]) -> dict[Node, int]:
    """Return how many steps come before each node at most; sources stand before what they feed."""
    found: dict[Node, int] = {}
    for node, before in sources.items():
        found[node] = 1 + max((found[each] for each in before), default=-1)
    return found

"""Prefix networks: all of X_0, X_0∘X_1, X_0∘X_1∘X_2, ... of an associative operator in few tiers (LAT Fig. 5)."""

from __future__ import annotations

from typing import NamedTuple


class Combination(NamedTuple):
    """One node of a network: element `right` becomes element `left` ∘ element `right`."""

    left: int
    right: int


Tiers = tuple[tuple[Combination, ...], ...]
"""A network: tiers one after another, the nodes of a tier at the same time."""


def sklansky(leaves: int) -> Tiers:
    """Return the divide-and-conquer network of LAT Fig. 5: ⌈log2 leaves⌉ tiers.

    At tier s = 1, 2, 4, ... every element i in the upper half of its block of 2s is combined with the last element of
    the lower half.
    """
    tiers, s = [], 1
    while s < leaves:
        tiers.append(tuple(Combination(i // s * s - 1, i) for i in range(leaves) if i // s % 2))
        s *= 2
    return tuple(tiers)


def intervals(leaves: int, tiers: Tiers) -> list[list[tuple[int, int]]]:
    """Return, before the first tier and after each, which leaves [first, last] every element stands for."""
    spans = [(i, i) for i in range(leaves)]
    found = [spans]
    for tier in tiers:
        spans = list(spans)
        for left, right in tier:
            spans[right] = (found[-1][left][0], spans[right][1])
        found.append(spans)
    return found

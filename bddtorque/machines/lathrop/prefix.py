"""Prefix networks: all of X_0, X_0∘X_1, X_0∘X_1∘X_2, ... of an associative operator in few tiers (LAT Fig. 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

T = TypeVar("T")


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


def serial(leaves: int) -> Tiers:
    """Return the network that combines one leaf after another: the linear recursion as a prefix network."""
    return tuple((Combination(i - 1, i),) for i in range(1, leaves))


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


def prefixes(leaves: Sequence[T], combine: Callable[[T, T], T], tiers: Tiers | None = None) -> list[T]:
    """Return X_0∘..∘X_i for every i; by the Sklansky network unless another one is given."""
    values = list(leaves)
    for tier in sklansky(len(leaves)) if tiers is None else tiers:
        before = list(values)  # the nodes of a tier work at the same time
        for left, right in tier:
            values[right] = combine(before[left], before[right])
    return values


def suffixes(leaves: Sequence[T], combine: Callable[[T, T], T], tiers: Tiers | None = None) -> list[T]:
    """Return X_i∘..∘X_last for every i: the network mirrored."""
    return prefixes(leaves[::-1], lambda left, right: combine(right, left), tiers)[::-1]

"""Numbers with slopes: whatever is computed of them has its derivative as the slope, over any kind of number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from .dynamics import Load, State, World
from .robots import ZERO


class Pair:
    """A number and its slope, which is None where it is 0."""

    def __init__(self, value: Any, slope: Any = None) -> None:
        self.value, self.slope = value, slope

    def __neg__(self) -> Pair:
        return Pair(-self.value, None if self.slope is None else -self.slope)

    def __add__(self, other: Pair) -> Pair:
        return Pair(self.value + other.value, _added(self.slope, other.slope))

    def __sub__(self, other: Pair) -> Pair:
        return self + -other

    def __mul__(self, other: Pair) -> Pair:
        left = None if self.slope is None else self.slope * other.value
        right = None if other.slope is None else self.value * other.slope
        return Pair(self.value * other.value, _added(left, right))

    def scaled(self, factor: Fraction) -> Pair:
        """Return a multiple."""
        return Pair(self.value.scaled(factor), None if self.slope is None else self.slope.scaled(factor))


def _added(left: Any, right: Any) -> Any:
    return right if left is None else left if right is None else left + right


class Pairs:
    """Makes numbers with slopes of those of an algebra."""

    def __init__(self, algebra: Any) -> None:
        self.algebra = algebra

    def number(self, value: Fraction) -> Pair:
        """Return a constant."""
        return Pair(self.algebra.number(value))

    def slope(self, number: Pair) -> Any:
        """Return the slope of a number."""
        return self.algebra.number(ZERO) if number.slope is None else number.slope

    def world(self, world: World) -> World:
        """Return gravity and what is carried, which have no slope."""
        load = world.load
        if load is not None:
            load = Load(Pair(load.mass), plain(load.moments), [plain(row) for row in load.inertia])
        return replace(world, gravity=plain(world.gravity), load=load)

    def moved(self, state: State, rates: Sequence[Fraction]) -> State:
        """Return a state whose positions have slopes: the rates of all members; its motion has none."""
        own = [[each.scaled(rate) for each, rate in zip(row, rates, strict=True)] for row in (state.sine, state.cosine)]
        q = [Pair(each, self.algebra.number(rate)) for each, rate in zip(state.q, rates, strict=True)]
        sine = [Pair(each, slope) for each, slope in zip(state.sine, own[1], strict=True)]
        cosine = [Pair(each, -slope) for each, slope in zip(state.cosine, own[0], strict=True)]
        return State(q, sine, cosine, plain(state.qd), plain(state.qdd))


def plain(values: Iterable[Any]) -> list[Pair]:
    """Return numbers without a slope."""
    return [Pair(value) for value in values]

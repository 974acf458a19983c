"""Angle sums: sines and cosines of whole combinations of angles become functions of one wrapping word."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bddtorque.base.errors import BddTorqueError
from bddtorque.dynamics.graph import Graph
from bddtorque.dynamics.tracer import Number, Traced, Tracer
from bddtorque.words.argument import Argument
from bddtorque.words.formats import Format


@dataclass(frozen=True)
class Combination:
    """Σ multiplier·angle over named angles; the number type angles are traced with.

    Only an angle that stands alone has a multiplier that is no integer: sums wrap.
    """

    multipliers: tuple[tuple[str, int | Fraction], ...]
    rest: Fraction = Fraction(0)
    """A constant angle, rad."""

    __array_ufunc__ = None

    def __neg__(self) -> Combination:
        return self * -1

    def __add__(self, other: Combination | float) -> Combination:
        if isinstance(other, float):
            return Combination(self.multipliers, self.rest + Fraction(other))
        if not isinstance(other, Combination):
            raise BddTorqueError(f"plan: angles may be added to angles only, got {other!r}")
        total = dict(self.multipliers)
        for name, multiplier in other.multipliers:
            total[name] = total.get(name, 0) + multiplier
        sums = tuple(sorted((name, _whole(m)) for name, m in total.items() if m))
        found = Combination(sums, self.rest + other.rest)
        if len(found.multipliers) > 1 and found.fractional:
            raise BddTorqueError(f"plan: a fraction of an angle cannot be added to another angle: {found.name}")
        return found

    __radd__ = __add__

    def __sub__(self, other: Combination | float) -> Combination:
        return self + -other

    def __rsub__(self, other: float) -> Combination:
        return -self + other

    def __mul__(self, factor: float) -> Combination:
        if isinstance(factor, Traced | Combination):
            raise BddTorqueError(f"plan: an angle may be multiplied by constants only, got {factor!r}")
        exact = Fraction(factor)
        return Combination(tuple((name, _whole(m * exact)) for name, m in self.multipliers), self.rest * exact)

    __rmul__ = __mul__

    def __float__(self) -> float:
        raise BddTorqueError(f"plan: angles may only occur in sines and cosines, but {self.name} occurs outside")

    def argument(self, arguments: Mapping[str, Argument]) -> Argument:
        """Return what the word of the sum stands for: as many bits as the widest of its angles."""
        parts = [(arguments[name], multiplier) for name, multiplier in self.multipliers]
        centre = sum((multiplier * argument.centre for argument, multiplier in parts), self.rest)
        alone = len(parts) == 1  # no sum at all, the word of the one angle as it is
        scale = parts[0][1] * parts[0][0].scale if alone else Fraction(1)
        return Argument("angle", max(argument.bits for argument, _ in parts), scale, centre)

    @property
    def fractional(self) -> bool:
        """True if it is a fraction of an angle: of the position that the word stands for, within half a turn."""
        return any(isinstance(m, Fraction) for _, m in self.multipliers)

    @property
    def name(self) -> str:
        """``q1+q2``, ``2q1-q3``, ``q2+0.3``, ``0.5q1``."""
        shown = [f"{'+-'[m < 0]}{name}" if abs(m) == 1 else f"{float(m):+.6g}{name}" for name, m in self.multipliers]
        rest = f"{float(self.rest):+.6g}" if self.rest else ""
        return "".join(shown).removeprefix("+") + rest


def _whole(number: int | Fraction) -> int | Fraction:
    """Return an integer as one, and other rationals as they are."""
    return int(number) if number.denominator == 1 else number


class _AngleArithmetic:
    """Traces a graph again, with one input for every combination of two or more angles under a sine or cosine."""

    def __init__(self) -> None:
        self.tracer = Tracer()
        self.sums: dict[str, Combination] = {}

    @staticmethod
    def constant(value: float) -> float:
        return value

    def sin(self, angle: Any) -> Number:
        if isinstance(angle, Combination) and not angle.multipliers:  # the angles cancelled
            return math.sin(angle.rest)
        word, sign = self._word(angle)
        return sign * self.tracer.sin(word)

    def cos(self, angle: Any) -> Number:
        if isinstance(angle, Combination) and not angle.multipliers:
            return math.cos(angle.rest)
        return self.tracer.cos(self._word(angle)[0])

    def _word(self, angle: Combination) -> tuple[Number, int]:
        if not isinstance(angle, Combination):
            raise BddTorqueError("plan: sines and cosines may be taken of sums of angles only")
        sign = 1 if angle.multipliers[0][1] > 0 else -1
        angle = angle * sign
        if len(angle.multipliers) == 1 and not angle.rest and not angle.fractional:
            ((name, multiplier),) = angle.multipliers
            return multiplier * self.tracer.input(name), sign
        name = angle.name
        while self.sums.setdefault(name, angle) != angle:  # constants that differ beyond the digits shown
            name += "'"
        return self.tracer.input(name), sign


def with_angle_sums(graph: Graph, words: Mapping[str, Argument | Format]) -> tuple[Graph, dict[str, Combination]]:
    """Return the graph over inputs and angle sums, and what the sums are by name.

    `words` tells what every input is; angles may only stand under sines and cosines.
    """
    arithmetic = _AngleArithmetic()
    inputs = {
        name: Combination(((name, 1),)) if words[name].kind == "angle" else arithmetic.tracer.input(name)
        for name in graph.input_names
    }
    outputs = graph.evaluate(inputs, arithmetic)
    return arithmetic.tracer.graph(outputs, graph.output_names), arithmetic.sums

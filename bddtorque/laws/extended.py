"""Extended precision, for the few table entries that float64 cannot decide. Needs mpmath; evaluators never do."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import mpmath

from bddtorque.graph.graph import Graph
from bddtorque.laws.law import Law
from bddtorque.words.argument import Argument

DIGITS = 60
TIE = 1e-45
"""What is so close to a tie, in units, is one: nothing but an exact tie comes near."""


_precision = threading.Lock()
"""mpmath's precision belongs to the whole process: threads that make tables side by side take turns here."""


class _Arithmetic:
    """mpmath numbers; angles are pairs (turns, rest) of rationals, added and multiplied exactly."""

    @staticmethod
    def constant(value: float) -> Any:
        return mpmath.mpf(value)

    @staticmethod
    def sin(angle: _Angle) -> Any:
        base = mpmath.sinpi(2 * _real(angle.turns)), mpmath.cospi(2 * _real(angle.turns))
        if angle.rest == 0:
            return base[0]
        return base[0] * mpmath.cos(_real(angle.rest)) + base[1] * mpmath.sin(_real(angle.rest))

    @classmethod
    def cos(cls, angle: _Angle) -> Any:
        return cls.sin(_Angle(angle.turns + Fraction(1, 4), angle.rest))


class _Angle:
    def __init__(self, turns: Fraction, rest: Fraction) -> None:
        self.turns, self.rest = turns - round(turns), rest

    def __neg__(self) -> _Angle:
        return _Angle(-self.turns, -self.rest)

    def __add__(self, other: _Angle) -> _Angle:
        return _Angle(self.turns + other.turns, self.rest + other.rest)

    def __sub__(self, other: _Angle) -> _Angle:
        return self + -other

    def __mul__(self, factor: Any) -> _Angle:
        whole = int(factor)
        return _Angle(self.turns * whole, self.rest * whole)

    __rmul__ = __mul__


def _real(number: Fraction) -> Any:
    return mpmath.mpf(number.numerator) / number.denominator


def rounded_exactly(
    graph: Graph, arguments: Mapping[str, Argument], words: Sequence[Mapping[str, int]], lsb: Fraction
) -> list[int]:
    """Return the one output of the graph, in units of `lsb`, at each set of words: nearest, ties away from zero."""
    with _precision, mpmath.workdps(DIGITS):
        unit = _real(lsb)
        results = []
        for state in words:
            inputs = {name: _value(arguments[name], word) for name, word in state.items()}
            results.append(_half_away(graph.evaluate(inputs, _Arithmetic)[0] / unit))
        return results


def law_rounded_exactly(law: Law, values: Sequence[Fraction], lsb: Fraction, centre: Fraction, sign: int) -> int:
    """Return sign·law − centre at rational arguments, in units of `lsb`: nearest, ties away from zero."""
    with _precision, mpmath.workdps(DIGITS):
        return _half_away((sign * law.exact(values) - _real(centre)) / _real(lsb))


def _half_away(units: Any) -> int:
    magnitude = abs(units)
    below = int(mpmath.floor(magnitude))
    up = bool(magnitude - below >= mpmath.mpf(1) / 2 - TIE)
    return (below + up) * (-1 if units < 0 else 1)


def _value(argument: Argument, word: int) -> Any:
    if argument.kind == "angle":
        return _Angle(argument.scale * word / (1 << argument.bits), argument.centre)
    return _real(argument.centre + argument.scale * word)

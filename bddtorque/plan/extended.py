"""Extended precision, for the few table entries that float64 cannot decide. Needs mpmath; evaluators never do."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import mpmath

from bddtorque.dynamics.graph import Graph
from bddtorque.words.argument import Argument
from bddtorque.words.bounded import Turn
from bddtorque.words.law import Law

DIGITS = 60
TIE = 1e-45
"""What is so close to a tie, in units, is one: nothing but an exact tie comes near."""


_precision = threading.Lock()
"""mpmath's precision belongs to the whole process: threads that make tables side by side take turns here."""


class _Arithmetic:
    """Sines and cosines, as mpmath numbers, of exact angles."""

    @staticmethod
    def sin(angle: Turn, quarters: int = 0) -> Any:
        halves = _real(2 * Fraction(angle.numerator, 1 << angle.bits) + Fraction(quarters, 2))
        if angle.rest == 0:
            return mpmath.sinpi(halves)
        rest = _real(angle.rest)
        return mpmath.sinpi(halves) * mpmath.cos(rest) + mpmath.cospi(halves) * mpmath.sin(rest)

    @classmethod
    def cos(cls, angle: Turn) -> Any:
        return cls.sin(angle, 1)


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
            inputs = {name: _value(arguments[name], int(word)) for name, word in state.items()}
            results.append(_half_away(graph.evaluate(inputs, _Arithmetic)[0] / unit))
        return results


def law_rounded_exactly(
    law: Law, values: Sequence[Fraction], lsb: Fraction, centre: Fraction, sign: int, low: int, high: int
) -> tuple[int, float]:
    """Return sign·law − centre at rational arguments, in units of `lsb`, clamped to low..high, and its distance.

    The word is the nearest, ties away from zero; the distance from it is rounded up.
    """
    with _precision, mpmath.workdps(DIGITS):
        units = (sign * law.exact(values) - _real(centre)) / _real(lsb)
        units = min(max(units, mpmath.mpf(low)), mpmath.mpf(high))
        word = _half_away(units)
        return word, math.nextafter(float(abs(units - word)), math.inf)


def _half_away(units: Any) -> int:
    magnitude = abs(units)
    below = int(mpmath.floor(magnitude))
    up = bool(magnitude - below >= mpmath.mpf(1) / 2 - TIE)
    return (below + up) * (-1 if units < 0 else 1)


def _value(argument: Argument, word: int) -> Any:
    if argument.kind == "angle":
        return argument.bounded(word)
    return _real(argument.centre + argument.scale * word)

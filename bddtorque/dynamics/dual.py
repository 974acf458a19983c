"""`Dual`: a number with a slope, for derivatives of whatever is written over any number type.

The slope of a sum or product follows the rules of Leibniz, exactly: no difference of nearly equal numbers is taken.
Under trace, what only values need and slopes do not is dropped from the graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bddtorque.dynamics.chain import Array, Chain
from bddtorque.words.bounded import Ring


class Dual(Ring):
    """value + slope·ε with ε² = 0, over any numbers."""

    __slots__ = ("slope", "value")
    __array_ufunc__ = None  # NumPy leaves mixed arithmetic to us

    def __init__(self, value: Any, slope: Any = 0.0) -> None:
        self.value, self.slope = value, slope

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.slope)

    def __add__(self, other: Any) -> Dual:
        if not isinstance(other, Dual):
            return Dual(self.value + other, self.slope)
        return Dual(self.value + other.value, self.slope + other.slope)

    def __mul__(self, other: Any) -> Dual:
        if not isinstance(other, Dual):
            return Dual(self.value * other, self.slope * other)
        return Dual(self.value * other.value, self.value * other.slope + self.slope * other.value)


def duals(values: Any, slopes: Any = 0.0) -> Array:
    """Return an array of numbers with slopes."""
    made: Array = np.frompyfunc(Dual, 2, 1)(np.asarray(values, dtype=object), np.asarray(slopes, dtype=object))
    return made


def dual_chain(chain: Chain) -> Chain:
    """Return a chain whose numbers have no slope."""
    names = ("rotation", "translation", "body", "rotor", "base_acceleration")
    return chain._replace(**{name: duals(getattr(chain, name)) for name in names})


def slopes_of(numbers: Array) -> Array:
    """Return the slopes of an array; numbers that never met one with a slope have none."""
    slopes: Array = np.frompyfunc(lambda number: getattr(number, "slope", 0.0), 1, 1)(numbers)
    return slopes

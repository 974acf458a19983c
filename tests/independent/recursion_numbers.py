"""Plain numbers in the clothes that the independent checker's recursion asks for."""

from __future__ import annotations

from fractions import Fraction


class Number:
    """Floats or rationals in the clothes that the recursion asks for."""

    def __init__(self, value):
        self.value = value

    def __neg__(self):
        return Number(-self.value)

    def __add__(self, other):
        return Number(self.value + other.value)

    def __sub__(self, other):
        return Number(self.value - other.value)

    def __mul__(self, other):
        return Number(self.value * other.value)

    def scaled(self, factor, off=0.0):
        return Number(self.value * (factor if isinstance(self.value, Fraction) else float(factor)))


class Plain:
    @staticmethod
    def number(value: Fraction) -> Number:
        return Number(value)

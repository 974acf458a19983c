"""Plain numbers in the clothes that the independent checker's recursion asks for."""

from __future__ import annotations

from fractions import Fraction


class Number:
    """Floats in the clothes that the recursion asks for."""

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

    def scaled(self, factor):
        return Number(self.value * float(factor))


class Plain:
    @staticmethod
    def number(value: Fraction) -> Number:
        return Number(float(value))
